"""What is a number in forward mode, and how do primitives act on it?

`Bundle(tag, primal, tangent)`: primal and tangent carry strictly older tags, so applying a
primitive to them is an operation one level down.  A missing tangent is a symbolic zero: there is
no Bundle then.
"""

from __future__ import annotations

from typing import Any

from jitad.errors import JitadError
from jitad.primitives import Primitive
from jitad.runtime.masks import among, either, replaces, taken
from jitad.runtime.rules import factors_of, without_rule
from jitad.runtime.tagged import Tagged, fit, inside, is_floating, shape_of, zeros_like
from jitad.runtime.tags import LIVE, alive
from jitad.values.number import apply, bind, in_rules, o, update
from jitad.where import caller

Params = dict[str, Any]


class Bundle(Tagged):
    """A primal with its tangent."""

    __slots__ = ("mask", "primal", "tag", "tangent")

    def __init__(self, tag: int, primal: Any, tangent: Any, mask: Any = None) -> None:
        self.tag = tag
        self.primal = primal
        self.tangent = tangent
        # where a tangent is not known to be zero because another operand was chosen: elsewhere the
        # factors of rules may be infinite or nan
        self.mask = mask

    def inside(self) -> str:
        primal, tangent = map(inside, (self.primal, self.tangent))
        return f"Bundle(tag={self.tag}, primal={primal}, tangent={tangent})"

    def _apply(self, row: Primitive, args: tuple[Any, ...], params: Params) -> Any:
        tag = self.tag
        if tag not in LIVE:
            return apply(row, tuple(map(alive, args)), params)
        primals, tangents, masks = [], [], []
        for a in args:
            if type(a) is Bundle and a.tag == tag:
                primals.append(a.primal)
                tangents.append(a.tangent)
                masks.append(a.mask)
            else:
                primals.append(a)
                tangents.append(None)
                masks.append(False)
        y = apply(row, tuple(primals), params)
        mask = None
        if row.partials is not None and type(y) is float:
            d, mask = _sum_of_parts(row, primals, tangents, masks, y, params)
        elif row.differentiable:
            with in_rules:
                if row.partials is not None:
                    d, mask = _sum_of_parts(row, primals, tangents, masks, y, params)
                elif row.name == "where":
                    d, mask = _of_choice(row, primals, tangents, masks, y, params)
                else:
                    d = _tangent(row, primals, tangents, y, params)
        else:
            return without_rule(row, y)
        return y if d is None else Bundle(tag, y, d if type(y) is float else fit(d, y), mask)

    def _store_in_place(self, row: Primitive, args: tuple[Any, ...], params: Params) -> Any:
        tag = self.tag
        if tag not in LIVE:
            return update(row.name, *map(alive, args), **params)
        (array, darray), (value, dvalue) = (self._split(a) for a in args[:2])
        rest = args[2:]
        y = update(row.name, array, value, *rest, **params)
        if dvalue is None and replaces(row, y, rest, params):
            darray = None
        if not is_floating(y) or (darray is None and dvalue is None):
            return y
        d = update(row.name, zeros_like(y) if darray is None else darray,
                   0.0 if dvalue is None else dvalue, *rest, **params)  # fmt: skip
        return Bundle(tag, y, d)

    def _split(self, a: Any) -> tuple[Any, Any]:
        return (a.primal, a.tangent) if type(a) is Bundle and a.tag == self.tag else (a, None)


def _sum_of_parts(
    row: Primitive, primals: list[Any], tangents: list[Any], masks: list[Any], y: Any,
    params: Params,
) -> tuple[Any, Any]:  # fmt: skip
    """The tangent of an elementwise primitive, and its mask: partial derivatives times tangents."""
    d, mask = None, False
    active = [t is not None for t in tangents] if len(tangents) > 1 else ()
    factors = factors_of(row, primals, y, params, active)
    for factor, t, within in zip(factors, tangents, masks, strict=True):
        if t is None or factor is None:
            continue
        if row.chooses:
            within = among(taken(factor), within)
        if within is False:
            continue
        part = t if type(factor) is float and factor == 1.0 else factor * t
        if within is not None:
            part = bind("where", within, part, 0.0)
        d = part if d is None else d + part
        mask = either(mask, within)
    return d, mask


def _of_choice(
    row: Primitive, primals: list[Any], tangents: list[Any], masks: list[Any], y: Any,
    params: Params,
) -> tuple[Any, Any]:  # fmt: skip
    """The tangent of `where`, and its mask: it has none where what has none was chosen."""
    mask: Any = False
    for k, truth in ((1, True), (2, False)):
        if tangents[k] is not None:
            mask = either(mask, among(taken(primals[0], truth), masks[k]))
    return (None, None) if mask is False else (_tangent(row, primals, tangents, y, params), mask)


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
    if replaces(row, y, primals[2:], params) and tangents[1] is None:
        return None
    ins = list(primals)
    for k in row.linear:
        ins[k] = tangents[k]
        if ins[k] is None:
            # an update and a choice between branches take a scalar zero for an array
            scalar = row.elementwise or (row.update is not None and k > 0)
            ins[k] = 0.0 if scalar or not shape_of(primals[k]) else zeros_like(primals[k])
    return apply(row, tuple(ins), params)
