"""What become `scipy.stats.poisson.logpmf` and the like, and the distributions of vectors?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sp
import scipy.stats as st

from jitad.errors import JitadTypeError, JitadValueError
from jitad.values.broadcast import as_operand, elementwise
from jitad.values.kind import fail, require
from jitad.values.numpy.ufuncs import add, exp, log, mul, numpy_number, sub, where, xlog1py, xlogy
from jitad.values.registry import call, replaces
from jitad.values.scipy.distributions import double, log_of, place

Formula = Callable[..., Any]


def _neg(x: Any) -> Any:
    return elementwise("neg", x)


def _e(name: str) -> Formula:
    return lambda *args: elementwise(name, *args)


_gammaln, _log1p = _e("lgamma"), _e("log1p")


def _between(x: Any, low: Any, high: Any) -> Any:
    return elementwise("logical_and", elementwise("ge", x, low), elementwise("le", x, high))


# -- counts: logpmf, cdf and sf between the first and the last ------------------------------------


def _poisson(k: Any, mu: Any) -> Any:
    return sub(sub(xlogy(k, mu), _gammaln(add(k, 1.0))), mu)


def _log_choose(n: Any, k: Any) -> Any:
    return _neg(add(call(sp.betaln, add(sub(n, k), 1.0), add(k, 1.0)), _log1p(n)))


def _binomial(k: Any, n: Any, p: Any) -> Any:
    return add(_log_choose(mul(n, 1.0), k), add(xlogy(k, p), xlog1py(sub(n, k), _neg(p))))


def _negative_binomial(k: Any, n: Any, p: Any) -> Any:
    counts = sub(sub(_gammaln(add(n, k)), _gammaln(add(k, 1.0))), _gammaln(n))
    return add(counts, add(mul(n, log(p)), xlog1py(k, _neg(p))))


def _one_minus(p: Any) -> Any:
    return sub(1.0, p)


_DISCRETE: dict[str, tuple[Any, tuple[str, ...], Any, Formula, Formula, Formula]] = {
    # name: (distribution, parameters, the last count or the parameter that is it, logpmf, cdf, sf)
    "poisson": (st.poisson, ("mu",), np.inf, _poisson,
        lambda k, mu: elementwise("gammaincc", add(k, 1.0), mu),
        lambda k, mu: elementwise("gammainc", add(k, 1.0), mu)),
    "bernoulli": (st.bernoulli, ("p",), 1.0,
        lambda k, p: add(xlogy(k, p), xlog1py(sub(1.0, k), _neg(p))),
        lambda k, p: _one_minus(p), lambda k, p: mul(p, 1.0)),
    "binom": (st.binom, ("n", "p"), "n", _binomial,
        lambda k, n, p: elementwise("betainc", sub(n, k), add(k, 1.0), _one_minus(p)),
        lambda k, n, p: elementwise("betainc", add(k, 1.0), sub(n, k), p)),
    "nbinom": (st.nbinom, ("n", "p"), np.inf, _negative_binomial,
        lambda k, n, p: elementwise("betainc", mul(n, 1.0), add(k, 1.0), p),
        lambda k, n, p: elementwise("betainc", add(k, 1.0), mul(n, 1.0), _one_minus(p))),
    "geom": (st.geom, ("p",), np.inf,
        lambda k, p: add(xlog1py(sub(k, 1.0), _neg(p)), log(p)),
        lambda k, p: _neg(elementwise("expm1", xlog1py(k, _neg(p)))),
        lambda k, p: exp(xlog1py(k, _neg(p)))),
}  # fmt: skip


def _where_valid(found: Any, shapes: tuple[str, ...], parameters: Any) -> Any:
    """nan where a probability is none, or another parameter negative, as SciPy has it."""
    for name, p in zip(shapes, parameters, strict=True):
        top = 1.0 if name == "p" else np.inf
        if type(p) not in (int, float) or not 0.0 <= p <= top:
            found = where(_between(as_operand(p), 0.0, top), found, np.nan)
    return numpy_number(found)


def _geom_logsf(k: Any, p: Any) -> Any:
    return xlog1py(k, elementwise("neg", p))


def _unless_nan(k: Any, found: Any) -> Any:
    return where(elementwise("isnan", k), np.nan, found)


def _enter(name: str) -> None:
    law, shapes, top, logpmf, cdf, sf = _DISCRETE[name]
    first = 1.0 if name == "geom" else 0.0

    def given(k: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, Any, Any]:
        if "scale" in kwargs or len(args) > len(shapes) + 1:
            raise fail(JitadTypeError, f"the parameters are {', '.join((*shapes, 'loc'))}")
        parameters, loc, _ = place(args, kwargs, shapes)
        k = mul(double(sub(as_operand(k), loc)), 1.0)
        return k, parameters, parameters[0] if top == "n" else top

    def of_count(method: str) -> None:
        @replaces(getattr(law, method))
        def replacement(k: Any, *args: Any, **kwargs: Any) -> Any:
            k, parameters, last = given(k, args, kwargs)
            whole = elementwise("eq", k, elementwise("floor", k))
            inside = elementwise("logical_and", _between(k, first, last), whole)
            found = where(inside, logpmf(where(inside, k, first), *parameters), -np.inf)
            found = exp(found) if method == "pmf" else found
            return _where_valid(_unless_nan(k, found), shapes, parameters)

    def up_to(method: str, formula: Formula, below: float, beyond: float) -> None:
        @replaces(getattr(law, method))
        def replacement(k: Any, *args: Any, **kwargs: Any) -> Any:
            k, parameters, last = given(k, args, kwargs)
            k = elementwise("floor", k)
            early, late = elementwise("lt", k, first), elementwise("ge", k, last)
            somewhere = where(elementwise("logical_or", early, late), first, k)
            found = where(late, beyond, where(early, below, formula(somewhere, *parameters)))
            return _where_valid(_unless_nan(k, found), shapes, parameters)

    of_count("logpmf")
    of_count("pmf")
    up_to("cdf", cdf, 0.0, 1.0)
    up_to("sf", sf, 1.0, 0.0)
    up_to("logcdf", log_of(cdf, sf), -np.inf, 0.0)
    up_to("logsf", _geom_logsf if name == "geom" else log_of(sf, cdf), 0.0, -np.inf)


for _name in _DISCRETE:
    _enter(_name)

# -- vectors --------------------------------------------------------------------------------------


@replaces(st.multivariate_normal.logpdf)
def multivariate_normal_logpdf(x: Any, mean: Any = None, cov: Any = 1,
                               allow_singular: bool = False) -> Any:  # fmt: skip
    if allow_singular:
        raise fail(JitadTypeError, "allow_singular= is not supported on traced values")
    x, cov = call(np.atleast_1d, x).astype(float), call(np.asarray, cov, dtype=float)
    mean = None if mean is None else call(np.atleast_1d, mean).astype(float)
    if cov.ndim < 2:  # the same for all, or a diagonal
        d = cov.shape[0] if cov.ndim else 1 if mean is None else mean.shape[0]
        cov = mul(call(np.eye, d), cov)
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
    for known, what in (
        (call(np.all, elementwise("gt", alpha, 0.0)), "parameters that are not positive"),
        (call(np.all, _between(x, 0.0, 1.0)), "parts that are not between 0 and 1"),
        (elementwise("le", elementwise("abs", sub(call(np.sum, x), 1.0)), 1e-9),
         "parts that do not add up to 1"),
    ):  # fmt: skip
        require(known, JitadValueError, f"dirichlet.logpdf has no value for {what}",
                "Check the arguments before.")  # fmt: skip
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
    x = mul(x, 1.0)
    whole = call(np.all, elementwise("eq", x, elementwise("floor", x)))
    possible = elementwise("logical_and", whole, elementwise("eq", call(np.sum, x), n))
    terms = sub(xlogy(x, p), _gammaln(add(x, 1.0)))
    found = add(_gammaln(add(mul(n, 1.0), 1.0)), call(np.sum, terms))
    return numpy_number(where(possible, found, -np.inf))
