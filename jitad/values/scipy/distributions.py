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
from jitad.primitives.special import student_log_density
from jitad.values.broadcast import as_operand, elementwise
from jitad.values.kind import fail, type_of
from jitad.values.numpy.ufuncs import (
    add,
    div,
    exp,
    log,
    log_expit,
    logit,
    mul,
    numpy_number,
    sub,
    where,
    xlog1py,
    xlogy,
)
from jitad.values.registry import call, replaces

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


def double(x: Any) -> Any:
    """SciPy computes distributions in double precision, whatever it is given."""
    x = as_operand(x)
    return elementwise("cast", x, dtype="f8") if type_of(x).dtype == "f4" else x


def _supported(x: Any, low: Any, high: Any, inside: Formula, somewhere: float) -> Any:
    """inside(x) in the support, -inf outside; evaluated at a harmless place there."""
    known = elementwise("logical_or", _between(x, low, high), elementwise("isnan", x))
    return where(known, inside(where(known, x, somewhere)), -np.inf)


# -- continuous: logpdf, cdf, sf, logcdf, logsf, ppf in standard form -----------------------------


class _EachElement:
    """What rules of the table are given, here of handles and numbers."""

    def __getattr__(self, name: str) -> Formula:
        return lambda *args: elementwise(name, *args)


def _t_logpdf(x: Any, df: Any) -> Any:
    return student_log_density(_EachElement(), df, x)


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
    above = elementwise("gt", x, 0.0)  # each side by itself: |x| has a kink where this has none
    right = sub(1.0, mul(0.5, exp(_neg(where(above, x, 0.0)))))
    return where(above, right, mul(0.5, exp(where(above, 0.0, x))))


def _laplace_ppf(q: Any) -> Any:
    below = elementwise("lt", q, 0.5)
    left = log(mul(2.0, where(below, q, 0.5)))
    return where(below, left, _neg(log(mul(2.0, sub(1.0, where(below, 0.5, q))))))


def _angle(x: Any) -> Any:
    """The share of a half circle that is left beyond x, exact where it is small."""
    return div(elementwise("atan2", 1.0, x), math.pi)


def _cauchy_ppf(q: Any) -> Any:
    """The tangent; near its poles by how far away they are."""
    middle = elementwise("lt", elementwise("abs", sub(q, 0.5)), 0.25)
    below = elementwise("lt", q, 0.5)
    inside = elementwise("tan", mul(math.pi, sub(where(middle, q, 0.5), 0.5)))
    distance = mul(math.pi, where(below, where(middle, 0.25, q), sub(1.0, where(middle, 0.25, q))))
    outside = div(where(below, -1.0, 1.0), elementwise("tan", distance))
    return where(middle, inside, outside)


def _log_circle(x: Any, factor: float) -> Any:
    """log(factor / (1 + x**2)), whose square would overflow."""
    return sub(math.log(factor), mul(2.0, log(elementwise("hypot", 1.0, x))))


def _from_zero(formula: Formula, before: float) -> Formula:
    """What is a constant up to zero, where its formula has no value or no slope."""

    def of_point(x: Any, *p: Any) -> Any:
        none = elementwise("le", x, 0.0)
        return where(none, before, formula(where(none, 1.0, x), *p))

    return of_point


def _unless_endless(formula: Formula) -> Formula:
    """Of a logarithm that is -inf at inf, where its formula is a difference of infinities."""

    def logpdf(x: Any) -> Any:
        endless = elementwise("isinf", x)
        return where(endless, -np.inf, formula(where(endless, 1.0, x)))

    return logpdf


def _never_zero(formula: Formula) -> Formula:
    """Of a density that is zero at zero, where its formula has no value."""

    def logpdf(x: Any, *p: Any) -> Any:
        none = elementwise("eq", x, 0.0)
        return where(none, -np.inf, formula(where(none, 1.0, x), *p))

    return logpdf


def _f_logpdf(x: Any, m: Any, n: Any) -> Any:
    half, other = mul(0.5, m), mul(0.5, n)
    powers = add(mul(half, log(div(m, n))), xlogy(sub(half, 1.0), x))
    rest = mul(add(half, other), _log1p(div(mul(m, x), n)))
    return sub(sub(powers, rest), call(sp.betaln, half, other))


def _f_ppf(q: Any, m: Any, n: Any) -> Any:
    """By the quantile of the beta distribution, and near one by that of what it leaves."""
    half, other = mul(0.5, m), mul(0.5, n)
    part = elementwise("betaincinv", half, other, q)
    rest = elementwise("betainccinv", other, half, q)
    return _f_place(part, rest, m, n)


def _f_isf(q: Any, m: Any, n: Any) -> Any:
    half, other = mul(0.5, m), mul(0.5, n)
    part = elementwise("betainccinv", half, other, q)
    rest = elementwise("betaincinv", other, half, q)
    return _f_place(part, rest, m, n)


def _f_place(part: Any, rest: Any, m: Any, n: Any) -> Any:
    small = elementwise("lt", part, 0.5)
    low, high = where(small, part, 0.25), where(small, 0.75, rest)
    ratio = where(small, div(low, sub(1.0, low)), div(sub(1.0, high), high))
    return mul(div(n, m), ratio)


def log_of(formula: Formula, rest: Formula) -> Formula:
    """The logarithm of a probability; near one by what is missing, which is small there."""

    def logarithm(x: Any, *p: Any) -> Any:
        missing = rest(x, *p)
        near = elementwise("lt", missing, 0.5)
        return where(near, _log1p(_neg(where(near, missing, 0.0))),
                     log(where(near, 1.0, formula(x, *p))))  # fmt: skip

    return logarithm


def _derived(formulas: dict[str, Formula]) -> dict[str, Formula]:
    """With the methods that follow from others."""
    out = dict(formulas)
    if "cdf" in out:
        out.setdefault("logcdf", log_of(out["cdf"], out["sf"]))
        out.setdefault("logsf", log_of(out["sf"], out["cdf"]))
    return out


_CONTINUOUS: dict[str, tuple[Any, tuple[float, float], float, dict[str, Formula]]] = {
    # name: (distribution, support, a place in it, {method: standard form})
    "norm": (st.norm, (-np.inf, np.inf), 0.0, {
        "logpdf": lambda x: sub(mul(-0.5, mul(x, x)), 0.5 * math.log(2.0 * math.pi)),
        "cdf": _ndtr, "sf": lambda x: _ndtr(_neg(x)),
        "logcdf": _e("log_ndtr"), "logsf": lambda x: elementwise("log_ndtr", _neg(x)),
        "ppf": _e("ndtri"), "isf": lambda q: _neg(elementwise("ndtri", q)),
    }),
    "t": (st.t, (-np.inf, np.inf), 0.0, {
        "logpdf": _t_logpdf, "cdf": lambda x, df: elementwise("stdtr", df, x),
        "sf": lambda x, df: elementwise("stdtr", df, _neg(x)),
        "ppf": lambda q, df: elementwise("stdtrit", df, q),
        "isf": lambda q, df: _neg(elementwise("stdtrit", df, q)),
    }),
    "cauchy": (st.cauchy, (-np.inf, np.inf), 0.0, {
        "logpdf": lambda x: _log_circle(x, 1.0 / math.pi),
        "cdf": lambda x: _angle(_neg(x)), "sf": _angle,
        "ppf": _cauchy_ppf, "isf": lambda q: _neg(_cauchy_ppf(q)),
    }),
    "logistic": (st.logistic, (-np.inf, np.inf), 0.0, {
        "logpdf": lambda x: add(log_expit(x), log_expit(_neg(x))),
        "cdf": _e("expit"), "sf": lambda x: elementwise("expit", _neg(x)), "ppf": logit,
        "isf": lambda q: _neg(logit(q)), "logcdf": log_expit, "logsf": lambda x: log_expit(_neg(x)),
    }),
    "laplace": (st.laplace, (-np.inf, np.inf), 0.0, {
        "logpdf": lambda x: sub(_neg(elementwise("abs", x)), math.log(2.0)),
        "cdf": lambda x: _laplace_cdf(x), "sf": lambda x: _laplace_cdf(_neg(x)),
        "ppf": _laplace_ppf, "isf": lambda q: _neg(_laplace_ppf(q)),
    }),
    "uniform": (st.uniform, (0.0, 1.0), 0.5, {
        "logpdf": lambda x: mul(x, 0.0), "cdf": lambda x: call(np.clip, x, 0.0, 1.0),
        "sf": lambda x: sub(1.0, call(np.clip, x, 0.0, 1.0)),
        "ppf": lambda q: mul(q, 1.0), "isf": lambda q: sub(1.0, q),
    }),
    "expon": (st.expon, (0.0, np.inf), 1.0, {
        "logpdf": _neg, "cdf": lambda x: _neg(_expm1(_neg(elementwise("maximum", x, 0.0)))),
        "sf": lambda x: exp(_neg(elementwise("maximum", x, 0.0))),
        "logsf": lambda x: _neg(elementwise("maximum", x, 0.0)),
        "ppf": lambda q: _neg(_log1p(_neg(q))), "isf": lambda q: _neg(log(q)),
    }),
    "gamma": (st.gamma, (0.0, np.inf), 1.0, {
        "logpdf": _gamma_logpdf,
        "cdf": lambda x, a: elementwise("gammainc", a, elementwise("maximum", x, 0.0)),
        "sf": lambda x, a: elementwise("gammaincc", a, elementwise("maximum", x, 0.0)),
        "ppf": lambda q, a: elementwise("gammaincinv", a, q),
        "isf": lambda q, a: elementwise("gammainccinv", a, q),
    }),
    "invgamma": (st.invgamma, (0.0, np.inf), 1.0, {
        "logpdf": _never_zero(lambda x, a: sub(
            sub(_neg(mul(add(a, 1.0), log(x))), _gammaln(a)), div(1.0, x))),
        "cdf": _from_zero(lambda x, a: elementwise("gammaincc", a, div(1.0, x)), 0.0),
        "sf": _from_zero(lambda x, a: elementwise("gammainc", a, div(1.0, x)), 1.0),
        "ppf": lambda q, a: div(1.0, elementwise("gammainccinv", a, q)),
        "isf": lambda q, a: div(1.0, elementwise("gammaincinv", a, q)),
    }),
    "chi2": (st.chi2, (0.0, np.inf), 1.0, {
        "logpdf": lambda x, df: sub(_gamma_logpdf(mul(0.5, x), mul(0.5, df)), math.log(2.0)),
        "cdf": lambda x, df: elementwise(
            "gammainc", mul(0.5, df), mul(0.5, elementwise("maximum", x, 0.0))),
        "sf": lambda x, df: elementwise(
            "gammaincc", mul(0.5, df), mul(0.5, elementwise("maximum", x, 0.0))),
        "ppf": lambda q, df: mul(2.0, elementwise("gammaincinv", mul(0.5, df), q)),
        "isf": lambda q, df: mul(2.0, elementwise("gammainccinv", mul(0.5, df), q)),
    }),
    "beta": (st.beta, (0.0, 1.0), 0.5, {
        "logpdf": _beta_logpdf,
        "cdf": lambda x, a, b: elementwise("betainc", a, b, call(np.clip, x, 0.0, 1.0)),
        "sf": lambda x, a, b: elementwise("betaincc", a, b, call(np.clip, x, 0.0, 1.0)),
        "ppf": lambda q, a, b: elementwise("betaincinv", a, b, q),
        "isf": lambda q, a, b: elementwise("betainccinv", a, b, q),
    }),
    "lognorm": (st.lognorm, (0.0, np.inf), 1.0, {
        "logpdf": _never_zero(lambda x, s: sub(
            mul(-0.5, call(np.square, div(log(x), s))),
            add(log(mul(s, x)), 0.5 * math.log(2.0 * math.pi)))),
        "cdf": _from_zero(lambda x, s: _ndtr(div(log(x), s)), 0.0),
        "sf": _from_zero(lambda x, s: _ndtr(_neg(div(log(x), s))), 1.0),
        "logcdf": _from_zero(lambda x, s: elementwise("log_ndtr", div(log(x), s)), -np.inf),
        "logsf": _from_zero(lambda x, s: elementwise("log_ndtr", _neg(div(log(x), s))), 0.0),
        "ppf": lambda q, s: exp(mul(s, elementwise("ndtri", q))),
        "isf": lambda q, s: exp(_neg(mul(s, elementwise("ndtri", q)))),
    }),
    "halfnorm": (st.halfnorm, (0.0, np.inf), 1.0, {
        "logpdf": lambda x: sub(mul(-0.5, mul(x, x)), 0.5 * math.log(0.5 * math.pi)),
        "cdf": lambda x: elementwise("erf", mul(elementwise("maximum", x, 0.0), math.sqrt(0.5))),
        "sf": lambda x: elementwise("erfc", mul(elementwise("maximum", x, 0.0), math.sqrt(0.5))),
        "ppf": lambda q: elementwise("ndtri", mul(0.5, add(1.0, q))),
        "isf": lambda q: _neg(elementwise("ndtri", mul(0.5, q))),
    }),
    "weibull_min": (st.weibull_min, (0.0, np.inf), 1.0, {
        "logpdf": lambda x, c: sub(add(log(c), xlogy(sub(c, 1.0), x)), elementwise("pow", x, c)),
        "cdf": lambda x, c: _neg(_expm1(_weibull_logsf(x, c))),
        "sf": lambda x, c: exp(_weibull_logsf(x, c)), "logsf": lambda x, c: _weibull_logsf(x, c),
        "ppf": lambda q, c: elementwise("pow", _neg(_log1p(_neg(q))), div(1.0, c)),
        "isf": lambda q, c: elementwise("pow", _neg(log(q)), div(1.0, c)),
    }),
    "pareto": (st.pareto, (1.0, np.inf), 2.0, {
        "logpdf": lambda x, b: sub(log(b), mul(add(b, 1.0), log(x))),
        "cdf": lambda x, b: _neg(_expm1(_neg(mul(b, log(elementwise("maximum", x, 1.0)))))),
        "sf": lambda x, b: elementwise("pow", elementwise("maximum", x, 1.0), _neg(b)),
        "ppf": lambda q, b: exp(_neg(div(_log1p(_neg(q)), b))),
        "isf": lambda q, b: elementwise("pow", q, div(-1.0, b)),
    }),
    "gumbel_r": (st.gumbel_r, (-np.inf, np.inf), 0.0, {
        "logpdf": lambda x: sub(_neg(x), exp(_neg(x))), "cdf": lambda x: exp(_neg(exp(_neg(x)))),
        "logcdf": lambda x: _neg(exp(_neg(x))), "sf": lambda x: _neg(_expm1(_neg(exp(_neg(x))))),
        "ppf": lambda q: _neg(log(_neg(log(q)))),
        "isf": lambda q: _neg(log(_neg(_log1p(_neg(q))))),
    }),
    "gumbel_l": (st.gumbel_l, (-np.inf, np.inf), 0.0, {
        "logpdf": lambda x: sub(x, exp(x)), "cdf": lambda x: _neg(_expm1(_neg(exp(x)))),
        "sf": lambda x: exp(_neg(exp(x))), "logsf": lambda x: _neg(exp(x)),
        "ppf": lambda q: log(_neg(_log1p(_neg(q)))), "isf": lambda q: log(_neg(log(q))),
    }),
    "rayleigh": (st.rayleigh, (0.0, np.inf), 1.0, {
        "logpdf": _unless_endless(lambda x: sub(log(x), mul(0.5, mul(x, x)))),
        "cdf": lambda x: _neg(_expm1(_half_square(x))), "sf": lambda x: exp(_half_square(x)),
        "logsf": _half_square, "ppf": lambda q: elementwise("sqrt", mul(-2.0, _log1p(_neg(q)))),
        "isf": lambda q: elementwise("sqrt", mul(-2.0, log(q))),
    }),
    "maxwell": (st.maxwell, (0.0, np.inf), 1.0, {
        "logpdf": _unless_endless(lambda x: add(
            0.5 * math.log(2.0 / math.pi), sub(mul(2.0, log(x)), mul(0.5, mul(x, x))))),
        "cdf": lambda x: elementwise("gammainc", 1.5, _neg(_half_square(x))),
        "sf": lambda x: elementwise("gammaincc", 1.5, _neg(_half_square(x))),
        "ppf": lambda q: elementwise("sqrt", mul(2.0, elementwise("gammaincinv", 1.5, q))),
        "isf": lambda q: elementwise("sqrt", mul(2.0, elementwise("gammainccinv", 1.5, q))),
    }),
    "halfcauchy": (st.halfcauchy, (0.0, np.inf), 1.0, {
        "logpdf": lambda x: _log_circle(x, 2.0 / math.pi),
        "cdf": lambda x: mul(2.0 / math.pi, elementwise("atan", elementwise("maximum", x, 0.0))),
        "sf": lambda x: mul(2.0, _angle(elementwise("maximum", x, 0.0))),
        "ppf": lambda q: elementwise("tan", mul(0.5 * math.pi, q)),
        "isf": lambda q: div(1.0, elementwise("tan", mul(0.5 * math.pi, q))),
    }),
    "f": (st.f, (0.0, np.inf), 1.0, {
        "logpdf": _f_logpdf,
        "cdf": lambda x, m, n: call(sp.fdtr, m, n, elementwise("maximum", x, 0.0)),
        "sf": lambda x, m, n: call(sp.fdtrc, m, n, elementwise("maximum", x, 0.0)),
        "ppf": _f_ppf, "isf": _f_isf,
    }),
    "skewnorm": (st.skewnorm, (-np.inf, np.inf), 0.0, {
        "logpdf": lambda x, a: add(elementwise("log_ndtr", mul(a, x)), sub(
            mul(-0.5, mul(x, x)), 0.5 * math.log(0.5 * math.pi)))}),
    "vonmises": (st.vonmises, (-np.inf, np.inf), 0.0, {
        "logpdf": lambda x, kappa: sub(mul(kappa, call(sp.cosm1, x)), log(
            mul(2.0 * math.pi, elementwise("i0e", kappa))))}),
}  # fmt: skip


def place(args: Any, kwargs: dict[str, Any], shapes: tuple[str, ...]) -> tuple[Any, Any, Any]:
    """The shape parameters, loc and scale, however they were passed."""
    given = dict(zip((*shapes, "loc", "scale"), args, strict=False)) | kwargs
    missing = [s for s in shapes if s not in given]
    unknown = set(given) - {*shapes, "loc", "scale"}
    if missing or unknown or len(args) > len(shapes) + 2:
        raise fail(JitadTypeError, f"the parameters are {', '.join((*shapes, 'loc', 'scale'))}")
    loc, scale = double(given.get("loc", 0.0)), double(given.get("scale", 1.0))
    return [double(given[s]) for s in shapes], loc, scale


_OF_ANY_SIGN = frozenset({("skewnorm", "a")})


def _where_valid(found: Any, name: str, shapes: Any, parameters: Any, scale: Any) -> Any:
    """nan where a parameter is out of its range, as SciPy has it."""
    named = [p for s, p in zip(shapes, parameters, strict=True) if (name, s) not in _OF_ANY_SIGN]
    for p in (*named, scale):
        if type(p) not in (int, float) or not p > 0:
            found = where(elementwise("gt", as_operand(p), 0.0), found, np.nan)
    return numpy_number(found)


def _enter(name: str) -> None:
    law, support, somewhere, formulas = _CONTINUOUS[name]
    shapes = tuple(law.shapes.split(", ")) if law.shapes else ()

    def of_point(method: str, standard: Formula) -> None:
        @replaces(getattr(law, method))
        def replacement(x: Any, *args: Any, **kwargs: Any) -> Any:
            parameters, loc, scale = place(args, kwargs, shapes)
            y = double(div(sub(as_operand(x), loc), scale))
            if method in ("logpdf", "pdf"):
                found = _supported(y, *support, lambda y: standard(y, *parameters), somewhere)
                found = sub(found, log(scale))
                found = exp(found) if method == "pdf" else found
            else:
                found = standard(y, *parameters)
            return _where_valid(found, name, shapes, parameters, scale)

    def of_probability(method: str, standard: Formula) -> None:
        @replaces(getattr(law, method))
        def replacement(q: Any, *args: Any, **kwargs: Any) -> Any:
            parameters, loc, scale = place(args, kwargs, shapes)
            q = double(q)
            found = add(loc, mul(scale, standard(q, *parameters)))
            found = where(_between(q, 0.0, 1.0), found, np.nan)
            return _where_valid(found, name, shapes, parameters, scale)

    for method, standard in {"pdf": formulas["logpdf"], **_derived(formulas)}.items():
        if method in ("ppf", "isf"):
            of_probability(method, standard)
        else:
            of_point(method, standard)


for _name in _CONTINUOUS:
    _enter(_name)
