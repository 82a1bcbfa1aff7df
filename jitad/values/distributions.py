"""What become `scipy.stats.norm.logpdf` and the like?

Formulas for the densities, over `scipy.special` for the rest, in standard form; then shifted by
`loc` and scaled by `scale`.  scipy.stats takes a second to import, so this file is imported where
one of its distributions is met, not before.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sp
import scipy.stats as st

from jitad.errors import JitadTypeError
from jitad.values.broadcast import as_operand, elementwise
from jitad.values.kind import fail
from jitad.values.registry import call, implementation, replaces, unsupported
from jitad.values.ufuncs import (
    add,
    div,
    exp,
    log,
    log_expit,
    logit,
    mul,
    sub,
    where,
    xlog1py,
    xlogy,
)

Formula = Callable[..., Any]


def _neg(x: Any) -> Any:
    return elementwise("neg", x)


def _e(name: str) -> Formula:
    return lambda *args: elementwise(name, *args)


_gammaln, _log1p, _expm1 = _e("lgamma"), _e("log1p"), _e("expm1")


def _ndtr(x: Any) -> Any:
    return call(sp.ndtr, x)


def _between(x: Any, low: Any, high: Any) -> Any:
    return elementwise("logical_and", elementwise("ge", x, low), elementwise("le", x, high))


def _supported(x: Any, low: Any, high: Any, inside: Formula, somewhere: float) -> Any:
    """inside(x) in the support, -inf outside; evaluated at a harmless place there."""
    known = elementwise("logical_or", _between(x, low, high), elementwise("isnan", x))
    return where(known, inside(where(known, x, somewhere)), -np.inf)


# -- continuous: logpdf, cdf, sf, logcdf, logsf, ppf in standard form -----------------------------


def _t_cdf(x: Any, df: Any) -> Any:
    return call(sp.stdtr, df, x)


def _t_logpdf(x: Any, df: Any) -> Any:
    half = mul(0.5, add(df, 1.0))
    scale = add(sub(_gammaln(half), _gammaln(mul(0.5, df))), mul(-0.5, log(mul(df, math.pi))))
    return sub(scale, mul(half, _log1p(div(mul(x, x), df))))


def _gamma_logpdf(x: Any, a: Any) -> Any:
    return sub(sub(xlogy(sub(a, 1.0), x), x), _gammaln(a))


def _beta_logpdf(x: Any, a: Any, b: Any) -> Any:
    powers = add(xlogy(sub(a, 1.0), x), xlog1py(sub(b, 1.0), _neg(x)))
    return sub(powers, call(sp.betaln, a, b))


def _half_square(x: Any) -> Any:
    x = elementwise("maximum", x, 0.0)
    return mul(-0.5, mul(x, x))


def _weibull_logsf(x: Any, c: Any) -> Any:
    return _neg(elementwise("pow", elementwise("maximum", x, 0.0), c))


def _laplace_cdf(x: Any) -> Any:
    half = mul(0.5, exp(_neg(elementwise("abs", x))))
    return where(elementwise("gt", x, 0.0), sub(1.0, half), half)


def _log_positive(x: Any) -> Any:
    """The logarithm; of what is not positive, minus infinity."""
    some = elementwise("gt", x, 0.0)
    return where(some, log(where(some, x, 1.0)), -np.inf)


def _f_part(x: Any, m: Any, n: Any) -> Any:
    return div(mul(m, x), add(n, mul(m, x)))


def _f_logpdf(x: Any, m: Any, n: Any) -> Any:
    half, other = mul(0.5, m), mul(0.5, n)
    powers = add(mul(half, log(div(m, n))), xlogy(sub(half, 1.0), x))
    rest = mul(add(half, other), _log1p(div(mul(m, x), n)))
    return sub(sub(powers, rest), call(sp.betaln, half, other))


def _derived(formulas: dict[str, Formula]) -> dict[str, Formula]:
    """With the methods that follow from others."""
    out = dict(formulas)
    cdf, ppf = out.get("cdf"), out.get("ppf")
    if cdf is not None:
        sf = out.setdefault("sf", lambda x, *p: sub(1.0, cdf(x, *p)))
        out.setdefault("logcdf", lambda x, *p: log(cdf(x, *p)))
        out.setdefault("logsf", lambda x, *p: log(sf(x, *p)))
    if ppf is not None:
        out["isf"] = lambda q, *p: ppf(sub(1.0, q), *p)
    return out


_CONTINUOUS: dict[str, tuple[Any, tuple[float, float], float, dict[str, Formula]]] = {
    # name: (distribution, support, a place in it, {method: standard form})
    "norm": (st.norm, (-np.inf, np.inf), 0.0, {
        "logpdf": lambda x: sub(mul(-0.5, mul(x, x)), 0.5 * math.log(2.0 * math.pi)),
        "cdf": _ndtr, "sf": lambda x: _ndtr(_neg(x)),
        "logcdf": _e("log_ndtr"), "logsf": lambda x: elementwise("log_ndtr", _neg(x)),
        "ppf": _e("ndtri"),
    }),
    "t": (st.t, (-np.inf, np.inf), 0.0, {
        "logpdf": _t_logpdf, "cdf": _t_cdf, "sf": lambda x, df: _t_cdf(_neg(x), df),
    }),
    "cauchy": (st.cauchy, (-np.inf, np.inf), 0.0, {
        "logpdf": lambda x: sub(-math.log(math.pi), _log1p(mul(x, x))),
        "cdf": lambda x: add(0.5, div(elementwise("atan", x), math.pi)),
        "sf": lambda x: sub(0.5, div(elementwise("atan", x), math.pi)),
        "ppf": lambda q: elementwise("tan", mul(math.pi, sub(q, 0.5))),
    }),
    "logistic": (st.logistic, (-np.inf, np.inf), 0.0, {
        "logpdf": lambda x: sub(_neg(elementwise("abs", x)),
                                mul(2.0, _log1p(exp(_neg(elementwise("abs", x)))))),
        "cdf": _e("expit"), "sf": lambda x: elementwise("expit", _neg(x)), "ppf": logit,
        "logcdf": log_expit, "logsf": lambda x: log_expit(_neg(x)),
    }),
    "laplace": (st.laplace, (-np.inf, np.inf), 0.0, {
        "logpdf": lambda x: sub(_neg(elementwise("abs", x)), math.log(2.0)),
        "cdf": lambda x: _laplace_cdf(x), "sf": lambda x: _laplace_cdf(_neg(x)),
        "ppf": lambda q: where(elementwise("lt", q, 0.5), log(mul(2.0, q)),
                               _neg(log(mul(2.0, sub(1.0, q))))),
    }),
    "uniform": (st.uniform, (0.0, 1.0), 0.5, {
        "logpdf": lambda x: mul(x, 0.0), "cdf": lambda x: call(np.clip, x, 0.0, 1.0),
        "ppf": lambda q: mul(q, 1.0),
    }),
    "expon": (st.expon, (0.0, np.inf), 1.0, {
        "logpdf": _neg, "cdf": lambda x: _neg(_expm1(_neg(elementwise("maximum", x, 0.0)))),
        "sf": lambda x: exp(_neg(elementwise("maximum", x, 0.0))),
        "logsf": lambda x: _neg(elementwise("maximum", x, 0.0)),
        "ppf": lambda q: _neg(_log1p(_neg(q))),
    }),
    "gamma": (st.gamma, (0.0, np.inf), 1.0, {
        "logpdf": _gamma_logpdf,
        "cdf": lambda x, a: elementwise("gammainc", a, elementwise("maximum", x, 0.0)),
        "sf": lambda x, a: elementwise("gammaincc", a, elementwise("maximum", x, 0.0)),
        "ppf": lambda q, a: elementwise("gammaincinv", a, q),
    }),
    "invgamma": (st.invgamma, (0.0, np.inf), 1.0, {
        "logpdf": lambda x, a: sub(sub(_neg(mul(add(a, 1.0), log(x))), _gammaln(a)), div(1.0, x)),
        "cdf": lambda x, a: elementwise("gammaincc", a, div(1.0, elementwise("maximum", x, 0.0))),
        "sf": lambda x, a: elementwise("gammainc", a, div(1.0, elementwise("maximum", x, 0.0))),
    }),
    "chi2": (st.chi2, (0.0, np.inf), 1.0, {
        "logpdf": lambda x, df: sub(_gamma_logpdf(mul(0.5, x), mul(0.5, df)), math.log(2.0)),
        "cdf": lambda x, df: elementwise(
            "gammainc", mul(0.5, df), mul(0.5, elementwise("maximum", x, 0.0))),
        "sf": lambda x, df: elementwise(
            "gammaincc", mul(0.5, df), mul(0.5, elementwise("maximum", x, 0.0))),
        "ppf": lambda q, df: mul(2.0, elementwise("gammaincinv", mul(0.5, df), q)),
    }),
    "beta": (st.beta, (0.0, 1.0), 0.5, {
        "logpdf": _beta_logpdf,
        "cdf": lambda x, a, b: elementwise("betainc", a, b, call(np.clip, x, 0.0, 1.0)),
        "sf": lambda x, a, b: elementwise("betaincc", a, b, call(np.clip, x, 0.0, 1.0)),
        "ppf": lambda q, a, b: elementwise("betaincinv", a, b, q),
    }),
    "lognorm": (st.lognorm, (0.0, np.inf), 1.0, {
        "logpdf": lambda x, s: sub(
            mul(-0.5, call(np.square, div(log(x), s))),
            add(log(mul(s, x)), 0.5 * math.log(2.0 * math.pi))),
        "cdf": lambda x, s: _ndtr(div(_log_positive(x), s)),
        "sf": lambda x, s: _ndtr(_neg(div(_log_positive(x), s))),
        "ppf": lambda q, s: exp(mul(s, elementwise("ndtri", q))),
    }),
    "halfnorm": (st.halfnorm, (0.0, np.inf), 1.0, {
        "logpdf": lambda x: sub(mul(-0.5, mul(x, x)), 0.5 * math.log(0.5 * math.pi)),
        "cdf": lambda x: elementwise("erf", mul(elementwise("maximum", x, 0.0), math.sqrt(0.5))),
        "sf": lambda x: elementwise("erfc", mul(elementwise("maximum", x, 0.0), math.sqrt(0.5))),
        "ppf": lambda q: elementwise("ndtri", mul(0.5, add(1.0, q))),
    }),
    "weibull_min": (st.weibull_min, (0.0, np.inf), 1.0, {
        "logpdf": lambda x, c: sub(add(log(c), xlogy(sub(c, 1.0), x)), elementwise("pow", x, c)),
        "cdf": lambda x, c: _neg(_expm1(_weibull_logsf(x, c))),
        "sf": lambda x, c: exp(_weibull_logsf(x, c)), "logsf": lambda x, c: _weibull_logsf(x, c),
        "ppf": lambda q, c: elementwise("pow", _neg(_log1p(_neg(q))), div(1.0, c)),
    }),
    "pareto": (st.pareto, (1.0, np.inf), 2.0, {
        "logpdf": lambda x, b: sub(log(b), mul(add(b, 1.0), log(x))),
        "cdf": lambda x, b: sub(1.0, elementwise("pow", elementwise("maximum", x, 1.0), _neg(b))),
        "sf": lambda x, b: elementwise("pow", elementwise("maximum", x, 1.0), _neg(b)),
        "ppf": lambda q, b: elementwise("pow", sub(1.0, q), div(-1.0, b)),
    }),
    "gumbel_r": (st.gumbel_r, (-np.inf, np.inf), 0.0, {
        "logpdf": lambda x: sub(_neg(x), exp(_neg(x))), "cdf": lambda x: exp(_neg(exp(_neg(x)))),
        "logcdf": lambda x: _neg(exp(_neg(x))), "sf": lambda x: _neg(_expm1(_neg(exp(_neg(x))))),
        "ppf": lambda q: _neg(log(_neg(log(q)))),
    }),
    "gumbel_l": (st.gumbel_l, (-np.inf, np.inf), 0.0, {
        "logpdf": lambda x: sub(x, exp(x)), "cdf": lambda x: _neg(_expm1(_neg(exp(x)))),
        "sf": lambda x: exp(_neg(exp(x))), "logsf": lambda x: _neg(exp(x)),
        "ppf": lambda q: log(_neg(_log1p(_neg(q)))),
    }),
    "rayleigh": (st.rayleigh, (0.0, np.inf), 1.0, {
        "logpdf": lambda x: sub(log(x), mul(0.5, mul(x, x))),
        "cdf": lambda x: _neg(_expm1(_half_square(x))), "sf": lambda x: exp(_half_square(x)),
        "ppf": lambda q: elementwise("sqrt", mul(-2.0, _log1p(_neg(q)))),
    }),
    "maxwell": (st.maxwell, (0.0, np.inf), 1.0, {
        "logpdf": lambda x: add(0.5 * math.log(2.0 / math.pi),
                                sub(mul(2.0, log(x)), mul(0.5, mul(x, x)))),
        "cdf": lambda x: elementwise("gammainc", 1.5, _neg(_half_square(x))),
    }),
    "halfcauchy": (st.halfcauchy, (0.0, np.inf), 1.0, {
        "logpdf": lambda x: sub(math.log(2.0 / math.pi), _log1p(mul(x, x))),
        "cdf": lambda x: mul(2.0 / math.pi, elementwise("atan", elementwise("maximum", x, 0.0))),
    }),
    "f": (st.f, (0.0, np.inf), 1.0, {"logpdf": _f_logpdf, "cdf": lambda x, m, n: elementwise(
        "betainc", mul(0.5, m), mul(0.5, n), _f_part(elementwise("maximum", x, 0.0), m, n))}),
    "skewnorm": (st.skewnorm, (-np.inf, np.inf), 0.0, {
        "logpdf": lambda x, a: add(elementwise("log_ndtr", mul(a, x)), sub(
            mul(-0.5, mul(x, x)), 0.5 * math.log(0.5 * math.pi)))}),
    "vonmises": (st.vonmises, (-np.inf, np.inf), 0.0, {
        "logpdf": lambda x, kappa: sub(mul(kappa, call(sp.cosm1, x)), log(
            mul(2.0 * math.pi, elementwise("i0e", kappa))))}),
}  # fmt: skip


def _place(args: Any, kwargs: dict[str, Any], shapes: tuple[str, ...]) -> tuple[Any, Any, Any]:
    """The shape parameters, loc and scale, however they were passed."""
    given = dict(zip((*shapes, "loc", "scale"), args, strict=False)) | kwargs
    missing = [s for s in shapes if s not in given]
    unknown = set(given) - {*shapes, "loc", "scale"}
    if missing or unknown or len(args) > len(shapes) + 2:
        raise fail(JitadTypeError, f"the parameters are {', '.join((*shapes, 'loc', 'scale'))}")
    return [given[s] for s in shapes], given.get("loc", 0.0), given.get("scale", 1.0)


def _enter(name: str) -> None:
    law, support, somewhere, formulas = _CONTINUOUS[name]
    shapes = tuple(law.shapes.split(", ")) if law.shapes else ()

    def of_point(method: str, standard: Formula) -> None:
        @replaces(getattr(law, method))
        def replacement(x: Any, *args: Any, **kwargs: Any) -> Any:
            parameters, loc, scale = _place(args, kwargs, shapes)
            y = div(sub(as_operand(x), loc), scale)
            if method not in ("logpdf", "pdf"):
                return standard(y, *parameters)
            found = _supported(y, *support, lambda y: standard(y, *parameters), somewhere)
            found = sub(found, log(scale))
            return exp(found) if method == "pdf" else found

    def of_probability(method: str, standard: Formula) -> None:
        @replaces(getattr(law, method))
        def replacement(q: Any, *args: Any, **kwargs: Any) -> Any:
            parameters, loc, scale = _place(args, kwargs, shapes)
            return add(loc, mul(scale, standard(as_operand(q), *parameters)))

    for method, standard in {"pdf": formulas["logpdf"], **_derived(formulas)}.items():
        if method in ("ppf", "isf"):
            of_probability(method, standard)
        else:
            of_point(method, standard)


for _name in _CONTINUOUS:
    _enter(_name)

# -- discrete: logpmf, cdf ------------------------------------------------------------------------


def _poisson(k: Any, mu: Any) -> Any:
    return sub(sub(xlogy(k, mu), _gammaln(add(k, 1.0))), mu)


def _log_choose(n: Any, k: Any) -> Any:
    return _neg(add(call(sp.betaln, add(sub(n, k), 1.0), add(k, 1.0)), _log1p(n)))


def _binomial(k: Any, n: Any, p: Any) -> Any:
    return add(_log_choose(mul(n, 1.0), k), add(xlogy(k, p), xlog1py(sub(n, k), _neg(p))))


def _negative_binomial(k: Any, n: Any, p: Any) -> Any:
    counts = sub(sub(_gammaln(add(n, k)), _gammaln(add(k, 1.0))), _gammaln(n))
    return add(counts, add(mul(n, log(p)), xlog1py(k, _neg(p))))


_DISCRETE: dict[str, tuple[Any, tuple[str, ...], Formula, Any]] = {
    # name: (distribution, parameters, logpmf, the parameter that bounds it above)
    "poisson": (st.poisson, ("mu",), _poisson, None),
    "bernoulli": (st.bernoulli, ("p",), lambda k, p: add(
        xlogy(k, p), xlog1py(sub(1.0, k), _neg(p))), 1.0),
    "binom": (st.binom, ("n", "p"), _binomial, "n"),
    "nbinom": (st.nbinom, ("n", "p"), _negative_binomial, None),
    "geom": (st.geom, ("p",), lambda k, p: add(xlog1py(sub(k, 1.0), _neg(p)), log(p)), None),
}  # fmt: skip


def _enter_discrete(name: str) -> None:
    law, shapes, logpmf, top = _DISCRETE[name]

    def of_count(method: str) -> None:
        @replaces(getattr(law, method))
        def replacement(k: Any, *args: Any, **kwargs: Any) -> Any:
            parameters, loc, _ = _place(args, kwargs, shapes)
            k = mul(sub(as_operand(k), loc), 1.0)
            first = 1.0 if name == "geom" else 0.0
            last = np.inf if top is None else parameters[0] if top == "n" else top
            whole = elementwise("eq", k, elementwise("floor", k))
            inside = elementwise("logical_and", _between(k, first, last), whole)
            found = where(inside, logpmf(where(inside, k, first), *parameters), -np.inf)
            return exp(found) if method == "pmf" else found

    of_count("logpmf")
    of_count("pmf")


for _name in _DISCRETE:
    _enter_discrete(_name)


@replaces(st.poisson.cdf)
def poisson_cdf(k: Any, mu: Any, loc: Any = 0) -> Any:
    k = elementwise("floor", mul(sub(as_operand(k), loc), 1.0))
    some = elementwise("ge", k, 0.0)
    return where(some, elementwise("gammaincc", add(where(some, k, 0.0), 1.0), mu), 0.0)


# -- vectors --------------------------------------------------------------------------------------


@replaces(st.multivariate_normal.logpdf)
def multivariate_normal_logpdf(x: Any, mean: Any = None, cov: Any = 1,
                               allow_singular: bool = False) -> Any:  # fmt: skip
    if allow_singular:
        raise fail(JitadTypeError, "allow_singular= is not supported on traced values")
    x, cov = call(np.atleast_1d, x), call(np.asarray, cov)
    if cov.ndim != 2:
        raise fail(JitadTypeError, "the covariance must be a matrix here", "Write it out.")
    y = x if mean is None else sub(x, mean)
    f = call(np.linalg.cholesky, cov)
    import scipy.linalg as sl

    columns = y.reshape(-1, cov.shape[0]).T
    turned = call(sl.solve_triangular, f, columns, lower=True)
    squares = call(np.sum, mul(turned, turned), axis=0)
    size = add(call(np.sum, log(call(np.diag, f))), mul(0.5 * math.log(2.0 * math.pi), f.shape[0]))
    found = sub(mul(-0.5, squares), size)
    return found[0] if x.ndim == 1 else found.reshape(x.shape[:-1])


@replaces(st.multivariate_normal.pdf)
def multivariate_normal_pdf(x: Any, *args: Any, **kwargs: Any) -> Any:
    return exp(multivariate_normal_logpdf(x, *args, **kwargs))


@replaces(st.dirichlet.logpdf)
def dirichlet_logpdf(x: Any, alpha: Any) -> Any:
    """Of all parts, which add up to one: SciPy's form without the last is not supported."""
    x, alpha = call(np.asarray, x), call(np.asarray, alpha)
    if x.ndim != 1:
        raise fail(JitadTypeError, "dirichlet.logpdf is supported for one point",
                   "Loop over the points.")  # fmt: skip
    norm = sub(_gammaln(call(np.sum, alpha)), call(np.sum, _gammaln(alpha)))
    return add(norm, call(np.sum, xlogy(sub(alpha, 1.0), x)))


@replaces(st.multinomial.logpmf)
def multinomial_logpmf(x: Any, n: Any, p: Any) -> Any:
    """Of one vector of counts.  As in SciPy the last probability is what the others leave."""
    x, p = call(np.asarray, x), call(np.asarray, p)
    if x.ndim != 1:
        raise fail(JitadTypeError, "multinomial.logpmf is supported for one vector of counts",
                   "Loop over the vectors.")  # fmt: skip
    last = sub(1.0, call(np.sum, p[:-1]))
    p = call(np.concatenate, [p[:-1], call(np.reshape, last, (1,))])
    terms = sub(xlogy(mul(x, 1.0), p), _gammaln(add(x, 1.0)))
    return add(_gammaln(add(mul(n, 1.0), 1.0)), call(np.sum, terms))


# -- distributions whose parameters are given first -----------------------------------------------


class Frozen:
    """What `norm(mean, deviation)` gives: methods with the parameters filled in."""

    def __init__(self, law: Any, args: Any, kwargs: dict[str, Any]) -> None:
        self._law, self._args, self._kwargs = law, args, kwargs

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._law, name)
        if implementation(method) is None:
            raise unsupported(method)
        return lambda x: call(method, x, *self._args, **self._kwargs)


for _law in [law for law, *_ in (*_CONTINUOUS.values(), *_DISCRETE.values())]:
    replaces(_law, plain=False)(lambda *args, law=_law, **kwargs: Frozen(law, args, kwargs))
