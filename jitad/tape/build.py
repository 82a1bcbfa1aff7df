"""How are tapes made?  By appending equations; easy ones are folded or shared on the way.

A `Builder` holds the open blocks.  `emit` infers the type of the result from the primitive's row,
folds literals, applies identities that are exact in IEEE arithmetic, and reuses an equal pure
equation of the same or a surrounding block (hash-consing: common subexpressions never exist).
A `Leaf` is a tape variable dressed as a `Number`: rules and user code compute with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from jitad.errors import GuardMiss, JitadTypeError
from jitad.primitives import TABLE, Primitive
from jitad.tape.ir import Atom, Block, Equation, Lit, Pos, Var, lit
from jitad.tape.types import Array, Scalar, Type, type_of_constant
from jitad.values.number import Number

_FAR = 200  # operations between an input and a value that must be known


class Builder:
    """Open blocks, innermost last; `constant` turns an array from outside into an atom."""

    def __init__(self, constant: Callable[[np.ndarray], Atom] | None = None) -> None:
        self.blocks: list[Block] = [Block()]
        self._known: list[dict[Any, tuple[Var, ...]]] = [{}]
        self.pos: Pos | None = None
        self._constant = constant
        self.sources: dict[Var, Equation] = {}  # the defining equation of every variable
        # (start, stop, step) of the range that a loop's index runs over, for proofs of bounds
        self.loops: dict[Var, tuple[Atom, Atom, Atom]] = {}
        self.examples: dict[Atom, Any] = {}  # ints and extents in the call being traced for

    # -- blocks ---------------------------------------------------------------------------------

    @contextmanager
    def block(self, *params: Var, isolated: bool = False) -> Iterator[Block]:
        """Equations emitted inside go to a new block with these parameters.

        An isolated block shares no equation with the blocks around it.
        """
        inner = Block(list(params))
        self.blocks.append(inner)
        self._known.append({})
        outer = self._known
        if isolated:
            self._known = [{}]
        try:
            yield inner
        finally:
            popped = self.blocks.pop()
            self._known = outer
            self._known.pop()
            assert popped is inner

    @contextmanager
    def reopen(self, block: Block) -> Iterator[None]:
        """Append to a block that was closed already."""
        self.blocks.append(block)
        self._known.append({})
        try:
            yield
        finally:
            self.blocks.pop()
            self._known.pop()

    @contextmanager
    def at_root(self) -> Iterator[None]:
        """Append to the root block, whatever blocks are open."""
        blocks, known, pos = self.blocks, self._known, self.pos
        self.blocks, self._known, self.pos = blocks[:1], known[:1], None
        try:
            yield
        finally:
            self.blocks, self._known, self.pos = blocks, known, pos

    def input(self, type: Type, name: str = "") -> Var:
        """A new parameter of the innermost block; an array's extents are read off it."""
        var = self.var(type, name)
        self.blocks[-1].params.append(var)
        self.measure(var)
        return var

    def var(self, type: Type, name: str = "", shape: tuple[Atom, ...] = ()) -> Var:
        return Var(type, shape, name)

    def measure(self, var: Var) -> None:
        """Give an array parameter extents of its own: `dim` equations."""
        if isinstance(var.type, Array) and len(var.shape) != var.type.ndim:
            var.shape = tuple(
                self._append("dim", (var,), {"axis": k})[0] for k in range(var.type.ndim)
            )

    def first_time(self, key: Any) -> bool:
        """False where this was asked before, in this block or one around it."""
        if any(key in known for known in self._known):
            return False
        self._known[-1][key] = ()
        return True

    # -- equations ------------------------------------------------------------------------------

    def emit(self, op: str, *ins: Atom, **params: Any) -> Any:
        """Apply a primitive; gives its result atom, or a tuple of them where it has several."""
        row = TABLE[op]
        folded = _simplify(self, row, ins, params)
        if folded is not None:
            return folded
        outs = self._append(op, ins, params)
        return outs[0] if len(outs) == 1 else outs

    def _append(self, op: str, ins: tuple[Atom, ...], params: dict[str, Any]) -> tuple[Var, ...]:
        row = TABLE[op]
        key = None
        if not (row.effect or row.fresh):
            key = (op, ins, tuple(sorted(params.items())))
            for known in reversed(self._known):
                if key in known:
                    return known[key]
        outs = tuple(Var(t, shape) for t, shape in row.infer(*ins, **params))
        self.append(Equation(op, ins, outs, params, (), self.pos))
        if key is not None:
            self._known[-1][key] = outs
        return outs

    def append(self, eqn: Equation) -> None:
        """Add a finished (structured) equation to the innermost block."""
        self.blocks[-1].equations.append(eqn)
        for v in eqn.outs:
            self.sources[v] = eqn

    def structured(
        self,
        op: str,
        ins: tuple[Atom, ...],
        outs: tuple[Var, ...],
        blocks: tuple[Block, ...],
        params: dict[str, Any] | None = None,
    ) -> tuple[Var, ...]:
        """Add an equation that owns blocks; gives its outs."""
        self.append(Equation(op, ins, outs, params or {}, blocks, self.pos))
        for v in outs:
            self.measure(v)
        return outs

    # -- values that must be known ----------------------------------------------------------------

    def rely(self, atom: Atom) -> Any:
        """The value of an atom in the call being traced for, or None where it isn't known.

        It is known of ints, bools and extents of arguments, and of what is computed from them;
        guards see to it that the kernel runs for these values only.
        """
        origins: dict[Atom, Any] = {}
        value = self._example(atom, origins, {}, 0)
        if value is None:
            return None
        with self.at_root():
            for origin, expected in origins.items():
                test = self.emit("eq", origin, lit(expected))
                if self.first_time(("relied", test)):
                    what = f"{getattr(origin, 'name', '') or 'an extent'} is {expected}"
                    self.emit("check", test, exception=GuardMiss, message=what)
        return value

    def _example(self, atom: Atom, origins: dict[Atom, Any], seen: dict[Atom, Any], depth: int):
        if isinstance(atom, Lit):
            return atom.value
        if atom in self.examples:
            origins[atom] = self.examples[atom]
            return origins[atom]
        source = self.sources.get(atom)
        if atom in seen or source is None or depth > _FAR or source.op not in TABLE:
            return seen.get(atom)
        row = TABLE[source.op]
        if not row.elementwise or len(source.outs) > 1 or not isinstance(atom.type, Scalar):
            return None
        args = [self._example(a, origins, seen, depth + 1) for a in source.ins]
        if not any(a is None for a in args):
            folded = _fold(row, tuple(map(lit, args)), source.params)
            seen[atom] = folded.value if isinstance(folded, Lit) else None
        return seen.get(atom)

    # -- numbers --------------------------------------------------------------------------------

    def atom(self, value: Any) -> Atom:
        """The atom of a Leaf of this builder, of a plain number or of a constant array."""
        if isinstance(value, Leaf):
            return value.atom
        if isinstance(value, (Var, Lit)):
            return value
        if isinstance(value, np.ndarray):
            if value.ndim == 0:
                return lit(value[()])
            return self._constant(value) if self._constant is not None else self._made(value)
        if isinstance(value, (bool, int, float, complex, np.generic)):
            return lit(value)
        raise JitadTypeError(
            f"a {type(value).__name__} can't take part in traced arithmetic", self.pos
        )

    def _made(self, value: np.ndarray) -> Atom:
        """Zeros and ranges of literal extents, which derivative rules make of plain operands."""
        dtype, dims = value.dtype.str[1:], tuple(map(lit, value.shape))
        first = value.flat[0] if value.size else value.dtype.type(0)
        if np.all(value == first):
            return self.emit("full", lit(first), *dims, dtype=dtype)  # type: ignore[no-any-return]
        if value.ndim == 1 and np.array_equal(value, np.arange(len(value))):
            return self.emit("iota", *dims, dtype=dtype)  # type: ignore[no-any-return]
        raise JitadTypeError("an array constant can't be used here")

    def leaf(self, atom: Atom) -> Any:
        """A literal as the plain number that it is, a variable as a Leaf."""
        return atom.value if isinstance(atom, Lit) else Leaf(self, atom)


class Leaf(Number):
    """A tape variable as a number; it refuses to become a plain one."""

    __slots__ = ("atom", "builder")

    def __init__(self, builder: Builder, atom: Var) -> None:
        self.builder = builder
        self.atom = atom

    def _apply(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        b = self.builder
        out = b.emit(primitive.name, *(b.atom(a) for a in args), **params)
        return tuple(map(b.leaf, out)) if isinstance(out, tuple) else b.leaf(out)

    @property
    def type(self) -> Type:
        return self.atom.type

    @property
    def shape(self) -> tuple[Any, ...]:
        return tuple(self.builder.leaf(a) for a in self.atom.shape)

    @property
    def ndim(self) -> int:
        return len(self.atom.shape)

    def __repr__(self) -> str:
        return f"<traced {self.atom!r}: {self.atom.type}>"

    def known(self, what: str) -> Any:
        """The plain number that this is, where the kernel's guards can see to that."""
        value = self.builder.rely(self.atom)
        if value is None:
            raise self._refuse(what)
        return value

    def _refuse(self, what: str) -> JitadTypeError:
        return JitadTypeError(
            f"a traced number can't become {what} here: its value is not known while tracing",
            self.builder.pos,
            "Keep to if, while, for, arithmetic and arrays, or read it from outside the arguments.",
        )

    def __bool__(self) -> bool:
        return bool(self.known("a bool"))

    def __str__(self) -> str:
        raise self._refuse("a text")

    def __format__(self, spec: str) -> str:
        raise self._refuse("a text")

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self.known("a key of a dict or an element of a set"))

    def __float__(self) -> float:
        return float(self.known("a float"))

    def __int__(self) -> int:
        return int(self.known("an int"))

    def __index__(self) -> int:
        if self.type not in _INTEGERS:
            raise self._refuse("an index")
        return int(self.known("an index"))

    def __complex__(self) -> complex:
        return complex(self.known("a complex"))

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise self._refuse("a NumPy array")


_INTEGERS = tuple(Scalar(d, py) for d in ("i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1")
                  for py in (True, False))  # fmt: skip


# -- simplification -------------------------------------------------------------------------------


def _is(atom: Atom, value: float) -> bool:
    return isinstance(atom, Lit) and atom.value == value and not isinstance(atom.value, bool)


def _simplify(b: Builder, row: Primitive, ins: tuple[Atom, ...], params: dict[str, Any]) -> Any:
    """The result as an atom that is already there, or None."""
    if row.elementwise and ins and all(isinstance(a, Lit) for a in ins):
        return _fold(row, ins, params)
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
        case "div" | "pow" if _is(ins[1], 1) and _same_result(row, ins, ins[0]):
            return ins[0]
        case "sub" if _is(ins[1], 0) and _same_result(row, ins, ins[0]):
            return None if np.signbit(ins[1].value) else ins[0]  # -0.0 - -0.0 is 0.0
        case "sub" if ins[0] is ins[1] and ins[0].type in (Scalar("i8", True), Scalar("i8")):
            return Lit(0, ins[0].type)  # type: ignore[arg-type]
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
        case "where" if ins[1] == ins[2] and _same_result(row, ins, ins[1]):
            return ins[1]
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
        case "store":
            return _as_accumulation(b, ins)
        case "pow" if _is(ins[1], 2) and ins[0].type.dtype[0] == "f":  # type: ignore[union-attr]
            square = b.emit("mul", ins[0], ins[0])
            return square if square.type == row.infer(*ins)[0][0] else None
        case "store_slice" | "accum_slice":
            known = _literal_counts(b, row.name, ins, params["kinds"])
            if known is None and row.name == "store_slice":
                return _as_slice_accumulation(b, ins, params["kinds"])
            return known
        case "check" if isinstance(ins[0], Lit) and ins[0].value:
            return ()
    return None


def _same_result(row: Primitive, ins: tuple[Atom, ...], out: Atom) -> bool:
    ((t, shape),) = row.infer(*ins)
    return t == out.type and len(shape) == len(out.shape)


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
    return b.emit("cast", v, dtype=dtype)  # type: ignore[no-any-return]


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
    """The element of an array that was filled or packed: small arrays are held by element."""
    source = b.sources.get(a) if isinstance(a, Var) else None
    match source.op if source is not None else "", source.ins if source is not None else ():
        case (("full" | "pack") as op, ins):
            k = index[0]
            if op == "pack" and not (isinstance(k, Lit) and 0 <= k.value < len(ins)):
                return None
            v = ins[0] if op == "full" else ins[k.value]  # type: ignore[union-attr]
            return v if v.type == Scalar(a.type.dtype) else None  # type: ignore[union-attr]
    return None


def _fold(row: Primitive, ins: tuple[Atom, ...], params: dict[str, Any]) -> Lit | None:
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
