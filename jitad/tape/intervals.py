"""Between which bounds does a float lie, wherever it is a number at all?  Interval arithmetic.

What Python checks is often plain to see: `1.0 + x * x` is no divisor of zero, `exp(-x * x)` does
not overflow, `sin` of a sine is not one of infinity.  A condition that is decided in this way needs
no check, no derivative of its operands, no branch.

Bounds are of all values but NaN, which may come in addition; of arrays, those of all elements.
Zeros may have either sign.  Each operation widens its bounds by far more than rounding moves its
result, also where sums and products are fused or put in other order; near what underflows or
overflows nothing is claimed (`_wide`), whatever the precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from jitad.tape.ir import Atom, Equation, Lit

Bounds = tuple[float, float]

_ALL: Bounds = (-math.inf, math.inf)
_NOT_NEGATIVE: Bounds = (0.0, math.inf)
_SLACK = 1e-5
_TINY, _HUGE = 1e-30, 1e30
_DEEP = 40  # operations between a value and what is still looked at
_FACTORS = 8  # of a product, that are told apart


class Intervals:
    """Bounds of variables; `sources`: the equations that define them."""

    def __init__(self, sources: Mapping[Any, Equation]) -> None:
        self._sources = sources
        self._known: dict[Atom, Bounds] = {}

    def of(self, a: Atom, depth: int = _DEEP) -> Bounds:
        if type(a) is Lit:
            v = a.value
            if not -_HUGE < v < _HUGE:
                return _ALL
            return (float(v), float(v)) if _is_told(v) else (min(float(v), 0.0), max(float(v), 0.0))
        known = self._known.get(a)
        if known is not None:
            return known
        e = self._sources.get(a)
        if e is None or not depth or not _is_float(a):
            return _ALL
        rule = _RULES.get(e.op)
        found = _ALL if rule is None else _wide(rule(self, e, depth - 1))
        self._known[a] = found
        return found

    def never_negative(self, a: Atom) -> bool:
        return self.of(a)[0] >= 0.0

    def decided(self, op: str, ins: tuple[Atom, ...]) -> bool | None:
        """The truth of a comparison with a number, or of `isinf`, if it is the same always."""
        x, *others = ins
        if op == "isinf":
            low, high = self.of(x)
            return False if -math.inf < low and high < math.inf else None
        y = others[0]
        if type(x) is Lit:
            op, x, y = _MIRRORED[op], y, x
        if type(y) is not Lit or not _is_told(y.value) or not _is_float(x):
            return None
        low, high = self.of(x)
        # NaN makes all comparisons false, but `ne`
        match op:
            case "lt" if low >= y.value:
                return False
            case "le" if low > y.value:
                return False
            case "gt" if high <= y.value:
                return False
            case "ge" if high < y.value:
                return False
            case "eq" | "ne" if low > y.value or high < y.value:
                return op == "ne"
        return None


_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
DECIDED = frozenset((*_MIRRORED, "isinf"))  # of these `decided` may know


def _is_float(a: Atom) -> bool:
    return getattr(a.type, "dtype", "") in ("f8", "f4")


def _is_told(v: float) -> bool:
    """Is it a number that is none else in single precision, but for rounding?"""
    return v == 0 or _TINY < abs(v) < _HUGE


def _wide(x: Bounds) -> Bounds:
    low, high = x
    low = 0.0 if 0.0 <= low < _TINY else min(low - abs(low) * _SLACK, _HUGE)
    high = 0.0 if -_TINY < high <= 0.0 else max(high + abs(high) * _SLACK, -_HUGE)
    return low if -_HUGE < low else -math.inf, high if high < _HUGE else math.inf


def _sum(x: Bounds, y: Bounds) -> Bounds:
    low, high = x[0] + y[0], x[1] + y[1]  # never of infinities of two signs
    # of what cancels little is left, but not of its rounding
    return (low - _SLACK * max(abs(x[0]), abs(y[0])) if low > -math.inf else low,
            high + _SLACK * max(abs(x[1]), abs(y[1])) if high < math.inf else high)  # fmt: skip


def _times(p: float, q: float) -> float:
    return p * q if p and q else 0.0  # zero times infinity is NaN


def _product(x: Bounds, y: Bounds) -> Bounds:
    ends = [_times(p, q) for p in x for q in y]
    return min(ends), max(ends)


def _negated(x: Bounds) -> Bounds:
    return -x[1], -x[0]


def _hull(*of: Bounds) -> Bounds:
    return min(x[0] for x in of), max(x[1] for x in of)


def _add(of: Intervals, e: Equation, depth: int) -> Bounds:
    return _sum(of.of(e.ins[0], depth), of.of(e.ins[1], depth))


def _sub(of: Intervals, e: Equation, depth: int) -> Bounds:
    return _sum(of.of(e.ins[0], depth), _negated(of.of(e.ins[1], depth)))


def _mul(of: Intervals, e: Equation, depth: int) -> Bounds:
    low, high = _product(of.of(e.ins[0], depth), of.of(e.ins[1], depth))
    if low < 0.0 < high:  # the sign of a product is the product of the signs
        sign = _sign(of, e, depth)
        return (max(low, 0.0), high) if sign > 0 else (low, min(high, 0.0)) if sign else (low, high)
    return low, high


def _sign(of: Intervals, e: Equation, depth: int) -> int:
    """1 or -1 of a product whose factors are there twice, or have this sign, or none is known."""
    sign, todo = 1, list(e.ins)
    odd: set[Atom] = set()  # those met an odd number of times
    for _ in range(_FACTORS):
        if not todo:
            break
        a = todo.pop()
        inner = of._sources.get(a)
        if inner is not None and inner.op in ("mul", "neg") and _is_float(a):
            todo += inner.ins
            sign = -sign if inner.op == "neg" else sign
        else:
            odd ^= {a}
    for a in (*odd, *todo):
        low, high = of.of(a, depth)
        if low < 0.0 < high:
            return 0
        sign = -sign if low < 0.0 else sign
    return sign


def _div(of: Intervals, e: Equation, depth: int) -> Bounds:
    low, high = of.of(e.ins[1], depth)
    if low <= 0.0 <= high:  # a zero of either sign
        return _ALL
    return _product(of.of(e.ins[0], depth), (1.0 / high, 1.0 / low))


def _pow(of: Intervals, e: Equation, depth: int) -> Bounds:
    power = e.ins[1]
    even = type(power) is Lit and power.value % 2 == 0
    return _NOT_NEGATIVE if even or of.of(e.ins[0], depth)[0] > 0.0 else _ALL


def _abs(of: Intervals, e: Equation, depth: int) -> Bounds:
    low, high = of.of(e.ins[0], depth)
    least = 0.0 if low <= 0.0 <= high else min(abs(low), abs(high))
    return least, max(abs(low), abs(high))


def _exp(of: Intervals, e: Equation, depth: int) -> Bounds:
    low, high = (min(max(x, -100.0), 100.0) for x in of.of(e.ins[0], depth))
    return (math.exp(low) if low > -100.0 else 0.0), math.exp(high)


def _root(of: Intervals, e: Equation, depth: int) -> Bounds:
    low, high = of.of(e.ins[0], depth)
    return math.sqrt(max(low, 0.0)), math.sqrt(max(high, 0.0))


def _within(low: float, high: float) -> Callable[..., Bounds]:
    return lambda of, e, depth: (low, high)


def _as_sign(bound: float) -> Callable[..., Bounds]:
    """Of a function that has its operand's sign."""

    def rule(of: Intervals, e: Equation, depth: int) -> Bounds:
        low, high = of.of(e.ins[0], depth)
        return (0.0 if low >= 0.0 else -bound), (0.0 if high <= 0.0 else bound)

    return rule


def _either(start: int) -> Callable[..., Bounds]:
    """Of what is one of its operands, or one of their elements."""
    return lambda of, e, depth: _hull(*(of.of(a, depth) for a in e.ins[start:]))


def _first(of: Intervals, e: Equation, depth: int) -> Bounds:
    return of.of(e.ins[0], depth)


def _larger(of: Intervals, e: Equation, depth: int) -> Bounds:
    x, y = (of.of(a, depth) for a in e.ins)
    return max(x[0], y[0]), max(x[1], y[1])


def _lesser(of: Intervals, e: Equation, depth: int) -> Bounds:
    x, y = (of.of(a, depth) for a in e.ins)
    return min(x[0], y[0]), min(x[1], y[1])


_RULES: dict[str, Callable[[Intervals, Equation, int], Bounds]] = {
    "add": _add, "sub": _sub, "mul": _mul, "div": _div, "pow": _pow, "abs": _abs,
    "neg": lambda of, e, depth: _negated(of.of(e.ins[0], depth)),
    "exp": _exp, "sqrt": _root, "maximum": _larger, "minimum": _lesser,
    "fmax": _either(0), "fmin": _either(0), "where": _either(1),
    "sum": _as_sign(math.inf),
    **dict.fromkeys(("square", "exp2", "hypot", "acosh"), _within(0.0, math.inf)),
    **dict.fromkeys(("expit", "sech2"), _within(0.0, 1.0)),
    **dict.fromkeys(("sin", "cos"), _within(-1.0, 1.0)),
    "erfc": _within(0.0, 2.0), "cosh": _within(1.0, math.inf),
    **dict.fromkeys(("tanh", "erf"), _as_sign(1.0)), "atan": _as_sign(1.6),
    **dict.fromkeys(("sinh", "asinh", "cbrt", "log1p", "expm1"), _as_sign(math.inf)),
    **dict.fromkeys(("amax", "amin", "cast", "copy", "slice", "load", "broadcast", "reshape",
                     "transpose", "full"), _first),
}  # fmt: skip
