"""Which operations need no equation, because their result is there already?

The builder asks before it appends: literals are folded, neutral operands dropped, what was just
stored is not loaded again.  A store of a sum with the old element becomes an accumulation, whose
adjoint is a mere load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jitad.primitives import Primitive
from jitad.tape.intervals import DECIDED
from jitad.tape.ir import Atom, Equation, Lit, Var, lit
from jitad.tape.types import Array, Scalar, type_of_constant

if TYPE_CHECKING:
    from jitad.tape.build import Builder


def _is(atom: Atom, value: float) -> bool:
    return type(atom) is Lit and atom.value == value and not isinstance(atom.value, bool)


FOLDED = frozenset((
    "ident", "dim", "mul", "div", "pow", "sub", "add", "neg", "where", "logical_and", "logical_or",
    "cast", "load", "slice", "store", "store_slice", "accum_slice", "check",
))  # fmt: skip
BY_LITERALS = frozenset(("mul", "add", "div", "pow"))  # nothing is known of two variables


def simplify(b: Builder, row: Primitive, ins: tuple[Atom, ...], params: dict[str, Any]) -> Any:
    """The result as an atom that is already there, or None."""
    if row.elementwise and ins and type(ins[0]) is Lit and all(type(a) is Lit for a in ins):
        return fold(row, ins, params)
    if row.name in DECIDED:
        return _decided(b, row, ins)
    if row.name not in FOLDED or (
        row.name in BY_LITERALS and type(ins[1]) is Var and type(ins[0]) is Var
    ):
        return None
    match row.name:
        case "ident":
            return ins[0]
        case "dim":
            shape = ins[0].shape
            return shape[params["axis"]] if shape else None
        case "mul":
            for x, y in (ins, ins[::-1]):
                if _is(y, 1) and _same_result(row, ins, x):
                    return x
                if _is(y, 0) and x.type.dtype[0] in "iu" and y.type.dtype[0] == "i":  # type: ignore[union-attr]
                    return _zero(row, ins)
                if (p := _doubled(b, x, y)) is not None:
                    return b.emit("mul", *((p[0], p[1]) if x is ins[0] else (p[1], p[0])))
        case "div" | "pow" if _is(ins[1], 1) and _same_result(row, ins, ins[0]):
            return ins[0]
        case "sub" if _is(ins[1], 0) and _same_result(row, ins, ins[0]):
            # x - 0.0 is x, but -0.0 - -0.0 is 0.0
            return ins[0] if not np.signbit(ins[1].value) else None  # type: ignore[union-attr]
        case "sub" if ins[0] is ins[1] and ins[0].type in (Scalar("i8", True), Scalar("i8")):
            return Lit(0, ins[0].type)
        case "add":
            for x, y in (ins, ins[::-1]):
                if _is(y, 0) and x.type.dtype[0] in "iu" and _same_result(row, ins, x):  # type: ignore[union-attr]
                    return x
            return _constant_sum(b, ins)
        case "neg":
            source = b.sources.get(ins[0])  # type: ignore[arg-type]
            if source is not None and source.op == "neg" and source.ins[0].type == ins[0].type:
                return source.ins[0]  # -(-True) is 1
        case "where" if isinstance(ins[0], Lit):
            chosen = ins[1] if ins[0].value else ins[2]
            return chosen if _same_result(row, ins, chosen) else None
        case "where" if (again := _chosen_before(b, ins)) is not None:
            return b.emit("where", *again)
        case "where" if ins[1] == ins[2] and _same_result(row, ins, ins[1]):
            return ins[1]
        case "logical_and" | "logical_or" if ins[0] is ins[1] and ins[0].type.dtype == "b1":  # type: ignore[union-attr]
            return ins[0]
        case "logical_and" | "logical_or" if all(isinstance(a.type, Scalar) for a in ins):
            absorbing = row.name == "logical_or"
            for x, y in (ins, ins[::-1]):
                if isinstance(y, Lit):
                    if bool(y.value) == absorbing:
                        return lit(absorbing)
                    return x if x.type.dtype == "b1" else None  # type: ignore[union-attr]
        case "cast" if ins[0].type.dtype == params["dtype"]:  # type: ignore[union-attr]
            if isinstance(ins[0].type, Array) or ins[0].type.py == params.get("py", False):  # type: ignore[union-attr]
                return ins[0]
        case "load":
            return _forward_store(b, ins)
        case "slice" if set(params["kinds"]) == {"i"}:  # a slice that leaves no axis is an element
            return b.emit("load", *ins)
        case "store":
            return _as_accumulation(b, ins)
        case "pow" if _is(ins[1], 2) and ins[0].type.dtype[0] == "f":  # type: ignore[union-attr]
            square = b.emit("mul", ins[0], ins[0])
            return square if square.type == row.infer(*ins)[0][0] else None
        case "store_slice" if (v := _stored_before(b, ins)) is not None:
            return b.emit("store_slice", ins[0], v, *ins[2:], **params)
        case "store_slice" | "accum_slice":
            known = _literal_counts(b, row.name, ins, params["kinds"])
            if known is None and row.name == "store_slice":
                return _as_slice_accumulation(b, ins, params["kinds"])
            return known
        case "check" if isinstance(ins[0], Lit) and ins[0].value:
            return ()
    return None


def _decided(b: Builder, row: Primitive, ins: tuple[Atom, ...]) -> Lit | None:
    """The truth of a condition on one float that is never otherwise."""
    truth = b.intervals.decided(row.name, ins)
    if truth is None:
        return None
    ((t, _),) = row.infer(*ins)
    return Lit(truth if t.py else np.bool_(truth), t) if isinstance(t, Scalar) else None


def _same_result(row: Primitive, ins: tuple[Atom, ...], out: Atom) -> bool:
    ((t, shape),) = row.infer(*ins)
    return t == out.type and len(shape) == len(out.shape)


def _doubled(b: Builder, x: Atom, y: Atom) -> tuple[Atom, Lit] | None:
    """(p + p) * c is p * 2c to the last bit, also where a sum overflows, unless c is below one."""
    if not (isinstance(x, Var) and isinstance(y, Lit)):
        return None
    source, dtype = b.sources.get(x), x.type.dtype  # type: ignore[union-attr]
    if source is None or source.op != "add" or source.ins[0] is not source.ins[1]:
        return None
    if dtype[0] != "f" or y.type.dtype != dtype:
        return None
    with np.errstate(over="ignore"):
        twice = y.value + y.value
    exact = abs(y.value) >= 1.0 and np.isfinite(twice)
    return (source.ins[0], Lit(twice, y.type)) if exact else None


def _chosen_before(b: Builder, ins: tuple[Atom, ...]) -> tuple[Atom, ...] | None:
    """Where a choice is made of what was chosen by the same condition, only one side is taken."""
    out = list(ins)
    for k in (1, 2):
        side = ins[k]
        source = b.sources.get(side) if isinstance(side, Var) else None
        if source is not None and source.op == "where" and source.ins[0] is ins[0]:
            if source.ins[k].type == side.type and source.ins[k].shape == side.shape:
                out[k] = source.ins[k]
    return tuple(out) if any(x is not y for x, y in zip(out, ins, strict=True)) else None


def _zero(row: Primitive, ins: tuple[Atom, ...]) -> Lit | None:
    """Zero as the scalar that this operation of integers gives."""
    ((t, _),) = row.infer(*ins)
    if not isinstance(t, Scalar):
        return None
    return Lit(0 if t.py else np.dtype(t.dtype).type(0), t)


def _constant_sum(b: Builder, ins: tuple[Atom, ...]) -> Atom | None:
    """(i + 1) + 2 is i + 3, for Python integers."""
    x, y = ins
    if isinstance(y, Lit) and y.type == Scalar("i8", True) and isinstance(x, Var):
        source = b.sources.get(x)
        if source is not None and source.op == "add" and x.type == Scalar("i8", True):
            p, q = source.ins
            if isinstance(q, Lit) and q.type == y.type:
                total = q.value + y.value
                if abs(total) < 2**63:
                    return p if total == 0 else b.emit("add", p, lit(total))
    return None


def _apart(i: tuple[Atom, ...], k: tuple[Atom, ...]) -> bool:
    """True of two indices that certainly name different elements."""
    return any(
        isinstance(p, Lit) and isinstance(q, Lit) and p.value != q.value
        for p, q in zip(i, k, strict=True)
    )


def _stored(b: Builder, a: Atom, index: tuple[Atom, ...]) -> Equation | Atom:
    """The store that last wrote this element of an array version; else the array before it all.

    Stores and accumulations at other places are passed over.
    """
    while isinstance(a, Var):
        source = b.sources.get(a)
        if source is None or source.op not in ("store", "accum"):
            break
        at = source.ins[2:]
        if at == index:
            return source
        if not _apart(at, index):
            break
        a = source.ins[0]
    return a


def _forward_store(b: Builder, ins: tuple[Atom, ...]) -> Atom | None:
    """load(store(a, v, i), i) is v."""
    a, *rest = ins
    found = _stored(b, a, tuple(rest))
    if isinstance(found, Equation) and found.op == "store":
        return as_element(b, found.ins[1], a.type.dtype)  # type: ignore[union-attr]
    return None if isinstance(found, Equation) else _element_of_made(b, found, rest)


def _stored_before(b: Builder, ins: tuple[Atom, ...]) -> Atom | None:
    """In a[i] = v; a[j] = a[i] the second value is v: no copy is made of what was just stored."""
    a, part, *_ = ins
    read, wrote = (b.sources.get(x) if isinstance(x, Var) else None for x in (part, a))
    if read is None or read.op != "slice" or wrote is None or wrote.op != "store_slice":
        return None
    if read.ins[0] is not a or read.ins[1:] != wrote.ins[2:] or read.params != wrote.params:
        return None
    v = wrote.ins[1]
    return v if v.type == part.type and v.shape == part.shape else None


def as_element(b: Builder, v: Atom, dtype: str) -> Atom | None:
    """What a load gives where the number v of this dtype was stored: NumPy's, never Python's.

    They promote differently, and 1 / a[i] must not raise because a Python zero was stored there.
    """
    t = Scalar(dtype)
    if v.type == t:
        return v
    if not isinstance(v.type, Scalar) or v.type.dtype != dtype:
        return None
    if isinstance(v, Lit):
        return Lit(np.dtype(dtype).type(v.value), t)
    return b.emit("cast", v, dtype=dtype)


def _as_accumulation(b: Builder, ins: tuple[Atom, ...]) -> Atom | None:
    """a[i] = a[i] + e, and a[i] = a[i] - e, are accumulations: their adjoint is a mere load."""
    a, v, *rest = ins
    index = tuple(rest)
    source = b.sources.get(v) if isinstance(v, Var) else None
    if source is None or source.op not in ("add", "sub"):
        return None
    if v.type.dtype[0] != "f" or v.type.dtype != a.type.dtype:  # type: ignore[union-attr]
        return None
    for old, e in (source.ins, source.ins[::-1]):
        if source.op == "sub" and old is not source.ins[0]:
            continue
        read = b.sources.get(old) if isinstance(old, Var) else None
        if read is None or read.op != "load" or read.ins[1:] != index or e is old:
            continue
        before = _stored(b, a, index)
        if isinstance(before, Equation) or before is not _stored(b, read.ins[0], index):
            continue
        if e.type.dtype[0] != "f":  # type: ignore[union-attr]
            continue
        return b.emit("accum", a, b.emit("neg", e) if source.op == "sub" else e, *index)
    return None


def _as_slice_accumulation(b: Builder, ins: tuple[Atom, ...], kinds: str) -> Atom | None:
    """a[r] = a[r] + e, and a[r] = a[r] - e, for a slice r."""
    a, v, *operands = ins
    source = b.sources.get(v) if isinstance(v, Var) else None
    if source is None or source.op not in ("add", "sub") or not isinstance(v.type, Array):
        return None
    if v.type.dtype[0] != "f" or v.type.dtype != a.type.dtype:  # type: ignore[union-attr]
        return None
    for old, e in (source.ins, source.ins[::-1]):
        if (source.op == "sub" and old is not source.ins[0]) or e is old:
            continue
        read = b.sources.get(old) if isinstance(old, Var) else None
        if read is None or read.op != "slice" or read.params["kinds"] != kinds:
            continue
        if read.ins[0] is not a or e.type.dtype[0] != "f":  # type: ignore[union-attr]
            continue
        if not all(x == y or k % 3 == 2 for k, (x, y) in _numbered(kinds, read.ins[1:], operands)):
            continue
        if len(e.shape) not in (0, len(v.shape)):
            continue
        e = b.emit("neg", e) if source.op == "sub" else e
        return b.emit("accum_slice", a, e, *operands, kinds=kinds)
    return None


def _numbered(kinds: str, one: tuple[Atom, ...], other: list[Atom]) -> list:
    """Pairs of operands of two slices; the counts, which may be known differently, as 2 mod 3."""
    numbers: list[int] = []
    for kind in kinds:
        numbers += [0] if kind == "i" else [0, 1, 2]
    return list(zip(numbers, zip(one, other, strict=True), strict=True))


def _literal_counts(b: Builder, op: str, ins: tuple[Atom, ...], kinds: str) -> Atom | None:
    """The counts of a slice are the extents of what is stored there: where those are literal."""
    a, v, *operands = ins
    extents = list(v.shape)
    if len(extents) != kinds.count("r"):
        return None
    at, changed = 0, False
    for kind in kinds:
        if kind == "i":
            at += 1
            continue
        n = extents.pop(0)
        if isinstance(n, Lit) and isinstance(operands[at + 2], Var):
            operands[at + 2], changed = n, True
        at += 3
    return b.emit(op, a, v, *operands, kinds=kinds) if changed else None


def _element_of_made(b: Builder, a: Atom, index: list[Atom]) -> Atom | None:
    """The element of an array that was filled or packed, or is a view: of what it is made of."""
    source = b.sources.get(a) if isinstance(a, Var) else None
    match source.op if source is not None else "", source.ins if source is not None else ():
        case (("full" | "pack") as op, ins):
            k = index[0]
            if op == "pack" and not (isinstance(k, Lit) and 0 <= k.value < len(ins)):
                return None
            v = ins[0] if op == "full" else ins[k.value]  # type: ignore[union-attr]
            return v if v.type == Scalar(a.type.dtype) else None  # type: ignore[union-attr]
        case "broadcast", (inner, *_):  # an element of a view is one of what is looked at
            assert source is not None
            axes = source.params["axes"]
            inside = [index[k] for k in axes]
            if any(n != a.shape[k] for n, k in zip(inner.shape, axes, strict=True)):
                return None
            if not inside:
                return as_element(b, inner, a.type.dtype)  # type: ignore[union-attr]
            return b.emit("load", inner, *inside)
        case "transpose", (inner,):
            assert source is not None
            places = {axis: index[k] for k, axis in enumerate(source.params["perm"])}
            turned = (places[axis] for axis in range(len(places)))
            return b.emit("load", inner, *turned)
    return None


def fold(row: Primitive, ins: tuple[Atom, ...], params: dict[str, Any]) -> Lit | None:
    ((t, _),) = row.infer(*ins, **params)
    assert isinstance(t, Scalar)
    try:
        with np.errstate(all="ignore"):
            value = row.evaluate(*(a.value for a in ins), **params)  # type: ignore[union-attr]
    except (ArithmeticError, ValueError, TypeError):
        return None  # left for run time, which reports it with the user's line
    if t.py:
        value = value.item() if isinstance(value, (np.generic, np.ndarray)) else value
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**63:
            return None
    else:
        value = np.dtype(t.dtype).type(value)
    return Lit(value, t) if type_of_constant(value) == t else None
