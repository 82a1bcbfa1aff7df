"""How does one compute with extents and indices that may be traced, and what is known of them?

Plain ints stay plain; traced ones become integer equations.  `at_least(a, b)` proves a >= b from
the tape where that is cheap: both sides are written as linear forms in variables, loop indices
are replaced by the bound that makes the difference smallest, and what is left must have
non-negative coefficients on non-negative variables.  False means "not proved".
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from jitad.errors import GuardMiss, JitadExtentError, JitadTypeError, JitadValueError
from jitad.tape.build import Builder, Leaf
from jitad.tape.ir import Atom, Lit, Var
from jitad.tape.types import Scalar, named
from jitad.values.kind import fail, primal, require, type_of, wrong_type
from jitad.values.number import Number, bind

Int = Any  # an int, or a Leaf of integer type


def as_int(value: Any, what: str = "an index") -> Int:
    """An int or an integer Leaf of 64 bits; floats and other objects are refused."""
    value = primal(value)
    if isinstance(value, Leaf):
        if not isinstance(value.type, Scalar) or value.type.dtype[0] not in "iu":
            raise wrong_type(f"{what} must be an integer, not {named(type_of(value))}",
                             "Convert it with int(...).")  # fmt: skip
        # Of a small int of NumPy's, what is computed for it would have its few bits.
        return value if value.type.dtype == "i8" else bind("cast", value, dtype="i8", py=True)
    if isinstance(value, (bool, np.bool_)):
        raise fail(JitadTypeError, f"{what} must be an integer, not a bool")
    try:
        return operator.index(value)
    except TypeError:
        name = type(value).__name__
        raise wrong_type(f"{what} must be an integer, not a {name}") from None


def number_of(n: Int, refusal: str) -> Int:
    """So many elements, which may be none; `refusal` is said of fewer."""
    if at_least(n, 0):
        return n
    require_at_least(n, 0, refusal)
    return largest(n, 0)  # as which later proofs have it


def require_at_least(n: Int, least: int, refusal: str, remedy: str = "") -> None:
    """Fewer are an error, be it that a kernel finds out."""
    if not at_least(n, least):
        require(bind("ge", n, least), JitadValueError, refusal, remedy)


def add(a: Int, b: Int) -> Int:
    if isinstance(a, Number) or isinstance(b, Number):
        # Constants go last and are folded there, so that equal extents are equal atoms.
        if isinstance(b, Number) and not isinstance(a, Number):
            a, b = b, a
        return bind("add", a, b)
    return a + b


def sub(a: Int, b: Int) -> Int:
    if isinstance(b, Number):
        known = constant_difference(a, b)
        return known if known is not None else bind("sub", a, b)
    return add(a, -b)


def mul(a: Int, b: Int) -> Int:
    return bind("mul", a, b) if isinstance(a, Number) or isinstance(b, Number) else a * b


def floordiv(a: Int, b: Int) -> Int:
    if isinstance(a, Number) or isinstance(b, Number):
        return a if not isinstance(b, Number) and b == 1 else bind("floordiv", a, b)
    return a // b


def mod(a: Int, b: Int) -> Int:
    return bind("mod", a, b) if isinstance(a, Number) or isinstance(b, Number) else a % b


def largest(a: Int, b: Int) -> Int:
    if at_least(a, b):
        return a
    if at_least(b, a):
        return b
    return bind("maximum", _unclipped(a) if not isinstance(b, Number) and b == 0 else a, b)


def _unclipped(a: Int) -> Int:
    """y - k for a = max(y, 0) - k, which is the same once a is clipped at zero itself.

    So the extent of `d[1:]` is that of `u[2:]` where d is as long as `u[1:]`.
    """
    terms, constant = _difference(a, 0)
    if constant <= 0 and list(terms.values()) == [1]:
        (v,) = terms
        source = a.builder.sources.get(v)
        match source.op if source is not None else "", source.ins if source is not None else ():
            case ("maximum", (y, Lit() as zero)) if zero.value == 0:
                return add(a.builder.leaf(y), constant)
    return a


def smallest(a: Int, b: Int) -> Int:
    if at_least(a, b):
        return b
    if at_least(b, a):
        return a
    return bind("minimum", a, b)


def assume_at_least(n: Int, k: Int) -> bool:
    """True where n >= k is known, or may be relied on because a guard of the kernel checks it.

    Only an extent that is read off an argument is relied on, and only if the trace's example has
    it so: `x[0:3]` then has 3 elements in this specialisation.
    """
    if at_least(n, k):
        return True
    if not isinstance(n, Leaf) or isinstance(k, Number):
        return False
    b = n.builder
    source = b.sources.get(n.atom)
    if source is None or source.op != "dim" or source.ins[0] not in b.blocks[0].params:
        return False
    if b.examples.get(n.atom, k) < k:
        return False
    require(bind("ge", n, k), GuardMiss, f"an extent is at least {k}")
    return True


def assume_none(n: Int) -> bool:
    """The same of n == 0."""
    return same(n, 0) or rely_on(n, 0)


def may_be_one(n: Int) -> bool:
    """Extents of arguments are 1 where a trace knows it; a guard says so of each."""
    if not isinstance(n, Number):
        return bool(n == 1)
    if at_least(n, 2):
        return False
    source = n.builder.sources.get(n.atom) if isinstance(n, Leaf) else None
    params = n.builder.blocks[0].params if isinstance(n, Leaf) else ()
    return source is None or source.op != "dim" or source.ins[0] not in params


def checked_not_one(extents: list[Int], what: str, remedy: str) -> bool:
    """Does a check say that none of them is 1?  If one is, the call is traced for its extents.

    There is none in loops and branches, of extents that no trace knows.
    """
    unknown = [n for n in extents if isinstance(n, Leaf) and may_be_one(n)]
    if any(len(n.builder.blocks) > 1 and n.builder.example(n.atom) is None for n in unknown):
        return False
    for n in unknown:
        require(bind("ne", n, 1), JitadExtentError, what, remedy)
    return True


def rely_on(n: Int, k: int) -> bool:
    """Rely on a traced extent being k, if it is read off an argument and is k in this call.

    The guard stands in the root block of the tape, so that all of the tape may know.
    """
    if not isinstance(n, Leaf):
        return False
    b = n.builder
    source = b.sources.get(n.atom)
    if source is None or source.op != "dim" or b.examples.get(n.atom) != k:
        return False
    with b.at_root():
        require(bind("eq", n, k), GuardMiss, f"an extent is {k}")
    return True


def known_to_be(n: Any, k: int) -> bool:
    """Is it Python's int k?  Of an argument a guard of the kernel sees to it that it is as in this
    call."""
    n = primal(n)
    if not isinstance(n, Leaf):
        return type(n) is int and n == k
    b, kind = n.builder, type_of(n)
    if not (isinstance(kind, Scalar) and kind.py and kind.dtype == "i8"):
        return False
    if n.atom not in b.blocks[0].params or n.atom not in b.examples:
        return False
    same = bool(b.examples[n.atom] == k)
    with b.at_root():
        require(bind("eq" if same else "ne", n, k), GuardMiss,
                f"{n.atom.name or 'an int'} is {'' if same else 'not '}{k}")  # fmt: skip
    return same


def signed(n: Int) -> Int:
    """An extent that was given: a negative one as the number that it is, others of any size.

    A guard sees to it that another call has the same sign, or is traced for.
    """
    if not isinstance(n, Leaf) or at_least(n, 0):
        return n
    example = n.builder.example(n.atom)
    if example is None:
        return n
    if example < 0:
        return int(n)
    require(bind("ge", n, 0), GuardMiss, "an extent is not negative")
    return n


def product(extents: Any) -> Int:
    out: Int = 1
    for n in extents:
        out = mul(out, n) if not (isinstance(out, int) and out == 1) else n
    return out


def same(a: Int, b: Int) -> bool:
    """True where two extents are known to be equal."""
    return constant_difference(a, b) == 0


def constant_difference(a: Int, b: Int) -> int | None:
    """a - b where it is the same on every run, else None."""
    if not isinstance(a, Number) and not isinstance(b, Number):
        return int(a - b)
    terms, constant = _difference(a, b)
    return constant if not terms else None


# -- what is known --------------------------------------------------------------------------------

_Linear = tuple[dict[Var, int], int]


def _builder(*values: Int) -> Builder:
    return next(v.builder for v in values if isinstance(v, Leaf))


def _difference(a: Int, b: Int) -> _Linear:
    builder = _builder(a, b)
    terms: dict[Var, int] = {}
    constant = _gather(builder, builder.atom(a), 1, terms)
    constant += _gather(builder, builder.atom(b), -1, terms)
    return {v: c for v, c in terms.items() if c}, constant


def _gather(b: Builder, atom: Atom, factor: int, terms: dict[Var, int], depth: int = 12) -> int:
    """Add factor * atom to the terms; gives the constant part."""
    if isinstance(atom, Lit):
        return factor * int(atom.value)
    source = b.sources.get(atom)
    match source.op if source is not None and depth else "", source.ins if source else ():
        case ("add", (x, y)):
            first = _gather(b, x, factor, terms, depth - 1)
            return first + _gather(b, y, factor, terms, depth - 1)
        case ("sub", (x, y)):
            first = _gather(b, x, factor, terms, depth - 1)
            return first + _gather(b, y, -factor, terms, depth - 1)
        case ("neg", (x,)):
            return _gather(b, x, -factor, terms, depth - 1)
        case ("mul", (x, Lit() as y)) | ("mul", (Lit() as y, x)):
            return _gather(b, x, factor * int(y.value), terms, depth - 1)
    terms[atom] = terms.get(atom, 0) + factor
    return 0


def at_least(a: Int, b: Int) -> bool:
    """True where a >= b is known."""
    if not isinstance(a, Number) and not isinstance(b, Number):
        return bool(a >= b)
    if not isinstance(a, (Leaf, int)) or not isinstance(b, (Leaf, int)):
        return False
    builder = _builder(a, b)
    terms, constant = _difference(a, b)
    return _provable(builder, terms, constant, 8)


def _provable(b: Builder, terms: dict[Var, int], constant: int, depth: int) -> bool:
    """True where constant + sum of coefficient * variable >= 0 is known."""
    bounds = {v: _bounds(b, v) for v in terms}
    if constant >= 0 and all(c > 0 and _nonnegative(b, v) for v, c in terms.items()):
        return True
    if not depth:
        return False
    for v, c in terms.items():
        for bound in bounds[v][0 if c > 0 else 1]:
            rest = {w: k for w, k in terms.items() if w is not v}
            shift = _gather(b, bound[0], c, rest) + c * bound[1]
            rest = {w: k for w, k in rest.items() if k}
            if _provable(b, rest, constant + shift, depth - 1):
                return True
    return False


_Bounds = tuple[list[tuple[Atom, int]], list[tuple[Atom, int]]]


def _bounds(b: Builder, v: Var) -> _Bounds:
    """Lower and upper bounds (atom, plus constant) of a variable, each of them inclusive."""
    loop = b.loops.get(v)
    if loop is not None:
        start, stop, step = loop
        if isinstance(step, Lit):
            first, last = (start, 0), (stop, -1 if step.value > 0 else 1)
            return ([first], [last]) if step.value > 0 else ([last], [first])
    source = b.sources.get(v)
    match source.op if source is not None else "", source.ins if source is not None else ():
        case ("maximum", (x, y)):
            return [(x, 0), (y, 0)], []
        case ("minimum", (x, y)):
            return [], [(x, 0), (y, 0)]
        case ("mod", (_, n)):
            if _positive(b, n):
                return [(Lit(0, n.type), 0)], [(n, -1)]  # type: ignore[arg-type]
        case ("floordiv", (x, Lit() as n)):
            if n.value >= 1 and _nonnegative(b, x):
                return [(Lit(0, n.type), 0)], [(x, 0)]
    return [], []


def _nonnegative(b: Builder, atom: Atom, depth: int = 8) -> bool:
    if isinstance(atom, Lit):
        return bool(atom.value >= 0)
    if not depth:
        return False
    source = b.sources.get(atom)
    match source.op if source is not None else "", source.ins if source is not None else ():
        case ("dim", _):
            return True
        case ("if", _):  # an extent of what was chosen
            assert source is not None
            k = next(k for k, v in enumerate(source.outs) if v is atom)
            return all(_nonnegative(b, way.results[k], depth - 1) for way in source.blocks)
        case ("maximum", ins):
            return any(_nonnegative(b, x, depth - 1) for x in ins)
        case ("minimum" | "mul" | "add", ins):
            return all(_nonnegative(b, x, depth - 1) for x in ins)
        case ("floordiv" | "mod", (x, n)):
            wraps = source is not None and source.op == "mod"
            return _positive(b, n) and (wraps or _nonnegative(b, x, depth - 1))
        case ("cast", (x,)):
            t = x.type
            return isinstance(t, Scalar) and t.dtype == "b1"
    loop = b.loops.get(atom)
    if loop is not None:
        start, _, step = loop
        return isinstance(step, Lit) and step.value > 0 and _nonnegative(b, start, depth - 1)
    return False


def _positive(b: Builder, atom: Atom) -> bool:
    return isinstance(atom, Lit) and atom.value > 0
