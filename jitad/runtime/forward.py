"""What is a number in forward mode, and how do primitives act on it?

`Bundle(tag, primal, tangent)`: primal and tangent carry strictly older tags, so applying a
primitive to them is an operation one level down.  A missing tangent is a symbolic zero: there is
no Bundle then.
"""

from __future__ import annotations

from typing import Any

from jitad.errors import JitadError
from jitad.primitives import Primitive
from jitad.runtime.rules import factors_of, without_rule
from jitad.runtime.tagged import Tagged, fit, inside, is_floating, shape_of, zeros_like
from jitad.runtime.tags import LIVE, alive
from jitad.values.number import apply, in_rules, o, update
from jitad.where import caller

Params = dict[str, Any]


class Bundle(Tagged):
    """A primal with its tangent."""

    __slots__ = ("primal", "tag", "tangent")

    def __init__(self, tag: int, primal: Any, tangent: Any) -> None:
        self.tag = tag
        self.primal = primal
        self.tangent = tangent

    def inside(self) -> str:
        primal, tangent = map(inside, (self.primal, self.tangent))
        return f"Bundle(tag={self.tag}, primal={primal}, tangent={tangent})"

    def _apply(self, row: Primitive, args: tuple[Any, ...], params: Params) -> Any:
        tag = self.tag
        if tag not in LIVE:
            return apply(row, tuple(map(alive, args)), params)
        primals, tangents = [], []
        for a in args:
            if type(a) is Bundle and a.tag == tag:
                primals.append(a.primal)
                tangents.append(a.tangent)
            else:
                primals.append(a)
                tangents.append(None)
        y = apply(row, tuple(primals), params)
        if row.partials is not None and type(y) is float:
            d = _sum_of_parts(row, primals, tangents, y, params)
        elif row.differentiable:
            how = _tangent if row.partials is None else _sum_of_parts
            with in_rules:
                d = how(row, primals, tangents, y, params)
        else:
            return without_rule(row, y)
        return y if d is None else Bundle(tag, y, d if type(y) is float else fit(d, y))

    def _store_in_place(self, row: Primitive, args: tuple[Any, ...], params: Params) -> Any:
        tag = self.tag
        if tag not in LIVE:
            return update(row.name, *map(alive, args), **params)
        (array, darray), (value, dvalue) = (self._split(a) for a in args[:2])
        rest = args[2:]
        y = update(row.name, array, value, *rest, **params)
        if not is_floating(y) or (darray is None and dvalue is None):
            return y
        d = update(row.name, zeros_like(y) if darray is None else darray,
                   0.0 if dvalue is None else dvalue, *rest, **params)  # fmt: skip
        return Bundle(tag, y, d)

    def _split(self, a: Any) -> tuple[Any, Any]:
        return (a.primal, a.tangent) if type(a) is Bundle and a.tag == self.tag else (a, None)


def _sum_of_parts(
    row: Primitive, primals: list[Any], tangents: list[Any], y: Any, params: Params
) -> Any:
    """The tangent of an elementwise primitive: partial derivatives times tangents."""
    d = None
    active = [t is not None for t in tangents] if len(tangents) > 1 else ()
    for factor, t in zip(factors_of(row, primals, y, params, active), tangents, strict=True):
        if t is None or factor is None:
            continue
        part = t if type(factor) is float and factor == 1.0 else factor * t
        d = part if d is None else d + part
    return d


def _tangent(
    row: Primitive, primals: list[Any], tangents: list[Any], y: Any, params: Params
) -> Any:
    """The tangent by a linear row or by a rule of its own; None for zero."""
    if row.jvp is not None:
        return row.jvp(o, tuple(primals), tuple(tangents), y, **params)
    if not row.linear:
        raise JitadError(f"{row.name} has no forward rule", caller(), "Use reverse mode.")
    if all(tangents[k] is None for k in row.linear) or not is_floating(y):
        return None
    ins = list(primals)
    for k in row.linear:
        ins[k] = tangents[k]
        if ins[k] is None:
            # an update and a choice between branches take a scalar zero for an array
            scalar = row.elementwise or (row.update is not None and k > 0)
            ins[k] = 0.0 if scalar or not shape_of(primals[k]) else zeros_like(primals[k])
    return apply(row, tuple(ins), params)
