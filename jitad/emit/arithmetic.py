"""What is the Python text of an elementwise primitive, with NumPy's types under Numba?

Numba promotes in its own way (float32 times a Python float is float64 there, two int32 add to an
int64), so operands and results outside of float64, int64 and bool are cast to what the tape says.
"""

from __future__ import annotations

import re
from functools import cache

from jitad.emit.access import linear, linear_sum
from jitad.emit.libraries import MODULES
from jitad.emit.print_python import COMPARE, Expr, apply, cast, literal
from jitad.emit.scope import Scope
from jitad.primitives import TABLE
from jitad.tape.ir import Atom, Equation, Lit
from jitad.tape.types import Array, Scalar, promote

_NEGATIVE = re.compile(r"-[\d.e+-]+")
_CALLED = re.compile(r"(\w+)\(")
# what is worth neither a branch of the processor nor the basic blocks that a branch costs Numba
_STEPS = {"where", "plus", "fadd", "float32", "not", "and", "or", "if", "else"}
STANDARD = ("f8", "i8", "b1", "c16")
_STANDARD = frozenset(STANDARD)
_INTS = frozenset(("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"))


def _as(a: Atom, e: Expr, dtype: str) -> Expr:
    """An operand as another type."""
    return literal(Lit(a.value, Scalar(dtype))) if isinstance(a, Lit) else cast(e, dtype)


def compute(s: Scope, e: Equation, operands: list[Expr]) -> Expr:
    """One element of an elementwise equation."""
    out = e.outs[0].type.dtype  # type: ignore[union-attr]
    if e.op == "cast":
        source = e.ins[0].type.dtype  # type: ignore[union-attr]
        return operands[0] if source == out else cast(operands[0], out)
    row = TABLE[e.op]
    types = [a.type for a in e.ins]
    dtypes = [t.dtype for t in types]  # type: ignore[union-attr]
    if e.op.startswith("logical_"):  # of truths, whatever the operands are
        operands = [
            x if d == "b1" else Expr(f"{x.within(COMPARE + 1)} != 0", COMPARE)
            for x, d in zip(operands, dtypes, strict=True)
        ]
        dtypes = ["b1"] * len(dtypes)
    strange = not _STANDARD.issuperset((out, *dtypes))
    if e.op == "where":
        operands = operands[:1] + [
            x if d == out else _as(a, x, out)
            for a, x, d in zip(e.ins[1:], operands[1:], dtypes[1:], strict=True)
        ]
        if out in ("f8", "f4") and all(_is_cheap(x) for x in operands):
            return apply("where({0}, {1}, {2})", *operands)
        strange = False
    elif strange and not (out == "b1" and _INTS.issuperset(dtypes)):  # which are compared exactly
        common, _ = promote(*(t for t in types if isinstance(t, (Scalar, Array))))
        if common in _INTS and out[0] == "f" and len(set(dtypes)) > 1:
            common = "f8"  # a function of floats, each int of which is made one as it is
        operands = [
            x if d == common or d == "b1" else _as(a, x, common)
            for a, x, d in zip(e.ins, operands, dtypes, strict=True)
        ]
    elif "b1" in dtypes and out == "b1" and e.op in ("add", "mul"):  # as NumPy: or, and
        return apply("{0} or {1}" if e.op == "add" else "{0} and {1}", *operands)
    if e in s.analysis.loose or e in s.analysis.rounded:
        x, y = operands
        if e.op == "sub":
            y = apply("-{0}", cast(y, out) if dtypes[1] == "b1" else y)  # truth has no negative
        name = "fadd" if e in s.analysis.loose else "plus"
        text = apply(name + "({0}, {1})", x, y)
    elif e.op in ("add", "sub") and out == "i8" and operands[1].text.isdecimal():
        name, number = linear(operands[0])  # (n - 1) - 1 is n - 2
        return linear_sum(name, number + int(operands[1].text) * (1 if e.op == "add" else -1))
    elif e.op == "add" and _NEGATIVE.fullmatch(operands[1].text):
        text = apply("{0} - {1}", operands[0], Expr(operands[1].text[1:]))
    elif e.op == "invert" and dtypes[0] == "b1":  # of Python's bool an int: ~True is -2
        (x,) = operands
        text = apply("not {0}", x) if out == "b1" else apply("~{0}", cast(x, out))
    else:
        text = apply(row.emit, *operands)
    return cast(text, out) if strange and out not in STANDARD else text


def _is_cheap(e: Expr) -> bool:
    """Without loads (which may be there only on a condition) and functions of more than a step."""
    return "[" not in e.text and set(_CALLED.findall(e.text)) <= _STEPS


def functions() -> set[str]:
    """All names that emitted code may take from the preamble."""
    return {*_functions(len(TABLE))} - {"abs"}  # a builtin


@cache
def _functions(rows: int) -> frozenset[str]:
    """With the table as long as this: rows are never taken out."""
    names: set[str] = set()
    for row in TABLE.values():
        names.update(re.findall(r"([A-Za-z_]\w*)\(", row.emit))
    names |= {"fadd", "plus", "where", "maximum", "minimum", "deep", "handed", "room"}
    names |= {"highest", "lowest"}
    names |= {"accum", "empty", "ask", "gram", "grown", "load", "opaque", "show", "store"}
    names |= {"run_of", "spread", "times", "zeros", *MODULES}
    return frozenset(names)
