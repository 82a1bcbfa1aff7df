"""What are the densities of several variables at once, and of matrices?  Plain Python, rewritten as
user code is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl
import scipy.special as sp


def log_det(c: Any) -> Any:
    """Of a positive definite matrix."""
    return 2.0 * np.sum(np.log(np.diagonal(np.linalg.cholesky(c))))


def squares(d: Any, c: Any) -> Any:
    """Of each row of d, its square by the inverse of c."""
    rows = np.reshape(d, (-1, np.shape(d)[-1]))
    white = sl.solve_triangular(np.linalg.cholesky(c), rows.T, lower=True)
    return np.reshape(np.sum(white * white, axis=0), np.shape(d)[:-1])


def spread_matrix(given: Any, n: Any) -> Any:
    """A matrix, from a number, a diagonal or one."""
    c = np.asarray(given, float)
    if c.ndim == 0:
        return c * np.eye(n)
    return np.diag(c) if c.ndim == 1 else c


def t_logpdf(x: Any, loc: Any = None, shape: Any = 1, df: Any = 1,
             allow_singular: Any = False) -> Any:  # fmt: skip
    x = np.asarray(x, float)
    if x.ndim == 0:
        raise NotImplementedError("multivariate_t of a number; take scipy.stats.t")
    n = np.shape(x)[-1]
    c = spread_matrix(shape, n)
    centre = np.zeros(n) if loc is None else np.asarray(loc, float)
    half = 0.5 * (df + n)
    scale = sp.gammaln(half) - sp.gammaln(0.5 * df) - 0.5 * n * np.log(df * np.pi)
    return scale - 0.5 * log_det(c) - half * np.log1p(squares(x - centre, c) / df)


def t_pdf(x: Any, loc: Any = None, shape: Any = 1, df: Any = 1, allow_singular: Any = False) -> Any:
    return np.exp(t_logpdf(x, loc, shape, df))


def of_one_matrix(x: Any) -> Any:
    x = np.asarray(x, float)
    if x.ndim != 2:
        raise NotImplementedError("the density of several matrices at once; take a loop over them")
    return x


def wishart_logpdf(x: Any, df: Any, scale: Any) -> Any:
    x = of_one_matrix(x)
    n = len(x)
    c = spread_matrix(scale, n)
    outside = 0.5 * df * (n * np.log(2.0) + log_det(c)) + sp.multigammaln(0.5 * df, n)
    inside = 0.5 * (df - n - 1) * log_det(x) - 0.5 * np.trace(np.linalg.solve(c, x))
    return inside - outside


def wishart_pdf(x: Any, df: Any, scale: Any) -> Any:
    return np.exp(wishart_logpdf(x, df, scale))


def invwishart_logpdf(x: Any, df: Any, scale: Any) -> Any:
    x = of_one_matrix(x)
    n = len(x)
    c = spread_matrix(scale, n)
    outside = 0.5 * df * (n * np.log(2.0) - log_det(c)) + sp.multigammaln(0.5 * df, n)
    inside = -0.5 * (df + n + 1) * log_det(x) - 0.5 * np.trace(np.linalg.solve(x, c))
    return inside - outside


def invwishart_pdf(x: Any, df: Any, scale: Any) -> Any:
    return np.exp(invwishart_logpdf(x, df, scale))


def matrix_normal_logpdf(X: Any, mean: Any = None, rowcov: Any = 1, colcov: Any = 1) -> Any:
    x = of_one_matrix(X)
    n, m = np.shape(x)
    x = x if mean is None else x - np.asarray(mean, float)
    rows, columns = spread_matrix(rowcov, n), spread_matrix(colcov, m)
    half = sl.solve_triangular(np.linalg.cholesky(rows), x, lower=True)
    scale = n * m * np.log(2.0 * np.pi) + m * log_det(rows) + n * log_det(columns)
    return -0.5 * (scale + np.sum(squares(half, columns)))


def matrix_normal_pdf(X: Any, mean: Any = None, rowcov: Any = 1, colcov: Any = 1) -> Any:
    return np.exp(matrix_normal_logpdf(X, mean, rowcov, colcov))


def normal_entropy(mean: Any = None, cov: Any = 1) -> Any:
    c = np.asarray(cov, float)
    c = np.diag(c) if c.ndim == 1 else np.atleast_2d(c)
    return 0.5 * (len(c) * (1.0 + np.log(2.0 * np.pi)) + log_det(c))


def dirichlet_pdf(x: Any, alpha: Any) -> Any:
    alpha = np.asarray(alpha, float)
    scale = sp.gammaln(np.sum(alpha)) - np.sum(sp.gammaln(alpha))
    return np.exp(scale + np.sum(sp.xlogy(alpha - 1.0, np.asarray(x).T).T, 0))


def dirichlet_mean(alpha: Any) -> Any:
    return alpha / np.sum(alpha)


def dirichlet_var(alpha: Any) -> Any:
    whole = np.sum(alpha)
    return alpha * (whole - alpha) / (whole * whole * (whole + 1.0))


def dirichlet_entropy(alpha: Any) -> Any:
    alpha = np.asarray(alpha)
    whole = np.sum(alpha)
    scale = np.sum(sp.gammaln(alpha)) - sp.gammaln(whole)
    digammas = np.sum((alpha - 1.0) * sp.digamma(alpha))
    return scale + (whole - len(alpha)) * sp.digamma(whole) - digammas


def dirichlet_multinomial_logpmf(x: Any, alpha: Any, n: Any) -> Any:
    x, alpha = np.asarray(x), np.asarray(alpha, float)
    whole = np.sum(alpha, axis=-1)
    out = sp.gammaln(whole) + sp.gammaln(n + 1.0) - sp.gammaln(n + whole)
    each = sp.gammaln(x + alpha) - sp.gammaln(alpha) - sp.gammaln(x + 1.0)
    return np.where(np.sum(x, axis=-1) == n, out + np.sum(each, axis=-1), -np.inf)[()]


def betabinom_logpmf(k: Any, n: Any, a: Any, b: Any, loc: Any = 0) -> Any:
    k = np.asarray(k) - loc
    inside = np.logical_and(np.logical_and(k >= 0, k <= n), k == np.floor(k))
    k = np.where(inside, k, 0)
    choices = -np.log(n + 1.0) - sp.betaln(n - k + 1.0, k + 1.0)
    found = choices + sp.betaln(k + a, n - k + b) - sp.betaln(a, b)
    return np.where(inside, found, -np.inf)[()]


def betabinom_pmf(k: Any, n: Any, a: Any, b: Any, loc: Any = 0) -> Any:
    return np.exp(betabinom_logpmf(k, n, a, b, loc))
