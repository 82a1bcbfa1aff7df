"""Which rows are one of the results of a function of scipy.special that gives several?

Each result is a row of its own.  In kernels all rows of a function call it through the address that
SciPy hands out, and take theirs.  Formulas: Abramowitz & Stegun, *Handbook of Mathematical
Functions* (5.2, 7.1, 7.3, 10.4, 16.16).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.immutable import immutable
from jitad.primitives.special import ANY, UNIT, series
from jitad.primitives.table import TABLE, Primitive, floating, register
from jitad.primitives.unloaded import Unloaded


@immutable
class Part:
    """Result number `index` of `count`; both of "wofz", which takes and gives a complex number."""

    function: str
    index: int
    count: int
    operands: int


PARTS: dict[str, Part] = {}
WOFZ = "wofz"


def _evaluate(part: Part) -> Callable[..., Any]:
    f = Unloaded("scipy.special", part.function)

    def evaluate(*args: Any) -> Any:
        if part.function == WOFZ:
            x, y = args
            found = f(x + 1j * np.asarray(y))
            out = found.imag if part.index else found.real
        else:
            out = f(*args)[part.index]
        return np.asarray(out).astype(np.result_type(*args))[()]

    return evaluate


def _rows(function: str, rules: dict[str, Any], *domain: tuple[float, float]) -> None:
    """A row for each result: its name, and its slopes by the operands and by all results."""
    operands = ", ".join(f"{{{k}}}" for k in range(len(domain)))
    for k, (name, rule) in enumerate(rules.items()):
        part = PARTS[name] = Part(function, k, len(rules), len(domain))

        def slopes(o: Any, *args: Any, name: str = name, rule: Any = rule) -> Any:
            *ins, own = args
            return rule(o, *ins, lambda n: own if n == name else getattr(o, n)(*ins))

        register(Primitive(
            name, _evaluate(part), floating, slopes, emit=f"{name}({operands})",
            elementwise=True, dear=True, domain=domain,
        ))  # fmt: skip


def _over_itself(o: Any, x: Any, sign: float, elsewhere: Any) -> Any:
    """sin(x) / x or, with sign 1, sinh(x) / x: by the series about zero, where it has no gap."""
    near = o.lt(o.abs(x), 1.0)
    inside, outside = o.where(near, x, 0.0), o.where(near, 1.0, x)
    terms = [sign**k / math.factorial(2 * k + 1) for k in range(10)]
    return o.where(near, series(o, inside * inside, terms), elsewhere(outside) / outside)


def _angle(x: Any) -> Any:
    return (0.5 * math.pi) * x * x


def _turned(o: Any, u: Any, m: Any, r: Any) -> Any:
    """The amplitude's slope by m: u = F(am u | m) stays, where F is the elliptic integral."""
    by_partials: Any = TABLE["ellipkinc"].partials
    return -r("ellipj_dn") * by_partials(o, r("ellipj_am"), m, u)[1]


def _sn(o: Any, u: Any, m: Any, r: Any) -> Any:
    cn = r("ellipj_cn")
    return cn * r("ellipj_dn"), cn * _turned(o, u, m, r)


def _cn(o: Any, u: Any, m: Any, r: Any) -> Any:
    sn = r("ellipj_sn")
    return -sn * r("ellipj_dn"), -sn * _turned(o, u, m, r)


def _dn(o: Any, u: Any, m: Any, r: Any) -> Any:
    sn, both = r("ellipj_sn"), r("ellipj_sn") * r("ellipj_cn")
    return -m * both, -(sn * sn + 2.0 * m * both * _turned(o, u, m, r)) / (2.0 * r("ellipj_dn"))


# w'(z) = -2 z w + 2 i / sqrt(pi) cancels far out; its expansion in 1 / z**2 doesn't.
_TERMS = [math.prod(range(1, 2 * k + 2, 2)) / 2.0**k for k in range(18)]


def _faddeeva(o: Any, x: Any, y: Any, r: Any) -> Any:
    """The derivative, by its parts."""
    re, im = r("wofz_re"), r("wofz_im")
    size = x * x + y * y
    far = o.logical_and(o.gt(size, 144.0), o.ge(y, 0.0))
    divisor = o.where(far, size * size, 1.0)
    a, b = (x * x - y * y) / divisor, -2.0 * x * y / divisor  # 1 / z**2
    *rest, top = _TERMS
    a, b = o.where(far, a, 0.0), o.where(far, b, 0.0)
    p, q = top + 0.0 * a, 0.0 * a
    for c in reversed(rest):
        p, q = p * a - q * b + c, p * b + q * a
    p, q = p * a - q * b, p * b + q * a
    root = 1.0 / math.sqrt(math.pi)
    by_re = o.where(far, root * q, -2.0 * (x * re - y * im))  # -i / sqrt(pi) times the sum
    by_im = o.where(far, -root * p, 2.0 * root - 2.0 * (x * im + y * re))
    return by_re, by_im


def _wofz_re(o: Any, x: Any, y: Any, r: Any) -> Any:
    re, im = _faddeeva(o, x, y, r)
    return re, -im


def _wofz_im(o: Any, x: Any, y: Any, r: Any) -> Any:
    re, im = _faddeeva(o, x, y, r)
    return im, re


_rows("fresnel", {
    "fresnel_s": lambda o, x, r: (o.sin(_angle(x)),),
    "fresnel_c": lambda o, x, r: (o.cos(_angle(x)),)}, ANY)  # fmt: skip
_rows("sici", {
    "sici_s": lambda o, x, r: (_over_itself(o, x, -1.0, o.sin),),
    "sici_c": lambda o, x, r: (o.cos(x) / x,)}, (0.2, 5.0))  # fmt: skip
_rows("shichi", {
    "shichi_s": lambda o, x, r: (_over_itself(o, x, 1.0, o.sinh),),
    "shichi_c": lambda o, x, r: (o.cosh(x) / x,)}, (0.2, 5.0))  # fmt: skip
_rows("airy", {
    "airy_a": lambda o, x, r: (r("airy_ap"),), "airy_ap": lambda o, x, r: (x * r("airy_a"),),
    "airy_b": lambda o, x, r: (r("airy_bp"),), "airy_bp": lambda o, x, r: (x * r("airy_b"),)},
    ANY)  # fmt: skip
_rows("ellipj", {
    "ellipj_sn": _sn, "ellipj_cn": _cn, "ellipj_dn": _dn,
    "ellipj_am": lambda o, u, m, r: (r("ellipj_dn"), _turned(o, u, m, r))}, ANY, UNIT)  # fmt: skip
_rows(WOFZ, {"wofz_re": _wofz_re, "wofz_im": _wofz_im}, ANY, (0.1, 3.0))
