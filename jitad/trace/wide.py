"""Do Python's integers stay within the kernel's 64 bits?

Python's are exact, so what the user's arithmetic makes of them is checked, unless its size is known
to be small: literals, extents and the indices of loops are.  An integer argument or capture is not;
yet inside a loop, where a check of every result would cost, it is enough that all of them are
below 2**31, which is checked once, outside.  Integers of NumPy wrap, as they do in NumPy.
"""

from __future__ import annotations

from typing import Any

from jitad.errors import JitadIntegerError
from jitad.tape.build import Builder, Leaf
from jitad.tape.ir import Atom, Lit, Var
from jitad.tape.types import INT
from jitad.values.broadcast import in_bounds
from jitad.values.kind import require
from jitad.values.number import bind

LIMIT = 2.0**63
_EXTENT = 2.0**40  # no array has more elements
_INPUT = 2.0**31  # what an integer input is taken to be below, where that is checked
_DEPTH = 24  # equations looked through

_TEXT = "an integer gets larger than 64 bits here"
_REMEDY = "Kernels compute with 64-bit integers: compute with floats."


def checked(name: str, a: Any, b: Any, out: Any) -> Any:
    """The result of the user's `a <name> b` (b is None for unary ones), exact or an error."""
    if type(out) is not Leaf or out.type != INT or name not in _TESTS:
        return in_bounds(out, (a, b)) if isinstance(out, Leaf) else out
    builder = out.builder
    inputs: set[Var] = set()
    if _bound(builder, out.atom, inputs, _DEPTH, name) < LIMIT:
        if not inputs:
            return out
        if len(builder.blocks) > 1:
            for v in inputs:
                n = builder.leaf(v)
                small = bind("logical_and", bind("lt", n, 2**31), bind("gt", n, -(2**31)))
                require(small, JitadIntegerError,
                        "an integer of more than 31 bits is multiplied or added up in a loop",
                        _REMEDY)  # fmt: skip
            return out
    require(_TESTS[name](a, b, out), JitadIntegerError, _TEXT, _REMEDY)
    return out


# -- tests of one result --------------------------------------------------------------------------


def _float(x: Any) -> Any:
    return bind("cast", x, dtype="f8", py=True) if isinstance(x, Leaf) else float(x)


def _agree(out: Any, by_floats: Any) -> Any:
    """What wraps is off by a multiple of 2**64, what floats round by much less than 2**62."""
    return bind("lt", bind("abs", bind("sub", _float(out), by_floats)), 2.0**62)


def _sum_fits(a: Any, b: Any, out: Any) -> Any:
    """Not where both operands have one sign and the wrapped result has the other."""
    return bind("ge", bind("bitand", bind("bitxor", a, out), bind("bitxor", b, out)), 0)


def _difference_fits(a: Any, b: Any, out: Any) -> Any:
    return bind("ge", bind("bitand", bind("bitxor", a, b), bind("bitxor", a, out)), 0)


_TESTS: dict[str, Any] = {
    "add": _sum_fits,
    "sub": _difference_fits,
    "mul": lambda a, b, out: bind("product_fits", a, b),
    "pow": lambda a, b, out: _agree(out, bind("pow", _float(a), _float(b))),
    "lshift": lambda a, b, out: _agree(
        out, bind("mul", _float(a), bind("pow", 2.0, _float(bind("minimum", b, 64))))
    ),
    "abs": lambda a, b, out: bind("ne", a, -(2**63)),
    "neg": lambda a, b, out: bind("ne", a, -(2**63)),
}

# -- how large can it be? -------------------------------------------------------------------------


def _bound(b: Builder, atom: Atom, inputs: set[Var], depth: int, name: str = "") -> float:
    """More than the magnitude of an integer; `inputs` gathers those taken to be below 2**31."""
    if isinstance(atom, Lit):
        return abs(float(atom.value)) + 1.0
    dtype = atom.type.dtype  # type: ignore[union-attr]
    if dtype[0] in "iu" and dtype[1] != "8":
        return 2.0 ** (8 * int(dtype[1]))
    if dtype[0] not in "bi":
        return LIMIT
    if dtype == "b1":
        return 2.0
    if atom in b.loops:
        start, stop, _ = b.loops[atom]
        return max(_bound(b, x, inputs, depth - 1) for x in (start, stop))
    e = b.sources.get(atom)
    if e is None:
        if atom in b.blocks[0].params:
            inputs.add(atom)
            return _INPUT
        return LIMIT
    if e.op == "dim":  # an array's elements don't matter to its extents
        return _EXTENT
    if depth <= 0:
        return LIMIT
    sizes = [_bound(b, a, inputs, depth - 1) for a in e.ins] if e.op in _SIZES else []
    return _SIZES[e.op](*sizes) if e.op in _SIZES else LIMIT


def _power(x: float, y: float) -> float:
    try:
        return x**y
    except OverflowError:
        return 2 * LIMIT


_SIZES: dict[str, Any] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x + y,
    "mul": lambda x, y: x * y,
    "pow": _power,
    "lshift": lambda x, y: x * _power(2.0, y),
    "neg": lambda x: x,
    "abs": lambda x: x,
    "floordiv": lambda x, y: x,
    "mod": lambda x, y: y,
    "where": lambda c, x, y: max(x, y),
    "maximum": max,
    "minimum": max,
    "cast": lambda x: x,
}
