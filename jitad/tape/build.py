"""How are tapes made?  By appending equations; easy ones are folded or shared on the way.

A `Builder` holds the open blocks.  `emit` infers the type of the result from the primitive's row,
folds literals, applies identities that are exact in IEEE arithmetic, and reuses an equal pure
equation of the same or a surrounding block (hash-consing: common subexpressions never exist).
A `Leaf` is a tape variable dressed as a `Number`: rules and user code compute with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from jitad.errors import GuardMiss, JitadIntegerError, JitadTypeError
from jitad.primitives import TABLE, Primitive
from jitad.primitives.table import Inferred
from jitad.tape.fold import BY_LITERALS, FOLDED, fold, simplify
from jitad.tape.intervals import Intervals
from jitad.tape.ir import CALLS, STRUCTURED, Atom, Block, Equation, Lit, Pos, Var, lit
from jitad.tape.types import Array, Scalar, Type
from jitad.values.number import Number

_of_numbers: dict[tuple[Any, ...], Inferred] = {}


def _inferred(row: Primitive, ins: tuple[Atom, ...], params: dict[str, Any]) -> Inferred:
    """What a primitive gives; that of numbers depends on their types alone, and is kept."""
    if params or not row.elementwise:
        return row.infer(*ins, **params)
    key = (row.name, *[a.type for a in ins])
    known = _of_numbers.get(key)
    if known is None:
        known = row.infer(*ins)
        if all(isinstance(a.type, Scalar) for a in ins):
            _of_numbers[key] = known
    return known


# Operations of which nothing folds but what has literal operands: all of them, or (True) any.
_PLAIN = {
    name: name in BY_LITERALS or name == "sub" for name, row in TABLE.items()
    if row.elementwise and not row.effect and name not in ("frozen", "stop")
    and (name not in FOLDED or name in BY_LITERALS or name == "sub")
}  # fmt: skip
_INT, _NUMPY_INT = Scalar("i8", True), Scalar("i8")  # of which sums fold, too
_SPECIAL = (0, 1, 2)  # literals that most of what folds is about
_FAR = 200  # operations between an input and a value that must be known


class Builder:
    """Open blocks, innermost last; `constant` turns an array from outside into an atom."""

    def __init__(self, constant: Callable[[np.ndarray], Atom] | None = None) -> None:
        self.blocks: list[Block] = [Block()]
        self._known: list[dict[Any, tuple[Any, ...]]] = [{}]
        self._unshared: set[Var] = set()
        self.pos: Pos | None = None
        # True where it sees to a check itself, which is then not made
        self.on_check: Callable[[tuple[Atom, ...], dict[str, Any]], bool] | None = None
        self.catches: Callable[[type[Exception]], bool] = lambda kind: False  # does the program?
        self.stretches = False  # axes that turn out to have extent 1, where operands meet
        self.unknown = False  # may derivatives that nobody knows be asked for?
        self._constant = constant
        self.sources: dict[Var, Equation] = {}  # the defining equation of every variable
        self.intervals = Intervals(self.sources)
        # (start, stop, step) of the range that a loop's index runs over, for proofs of bounds
        self.loops: dict[Var, tuple[Atom, Atom, Atom]] = {}
        self.relied: dict[Atom, Any] = {}  # those of the examples that guards ask for
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
        outer, pos = self._known, self.pos
        if isolated:
            self._known = [{}]
        try:
            yield inner
        finally:
            popped = self.blocks.pop()
            self._known, self.pos = outer, pos  # what owns the block stands where it began
            self._known.pop()
            assert popped is inner

    @contextmanager
    def reopen(self, block: Block, isolated: bool = False) -> Iterator[None]:
        """Append to a block that was closed already.

        An isolated one shares no equation: what owns it may stand before what is there by now.
        """
        self.blocks.append(block)
        known, self._known = self._known, [{}] if isolated else [*self._known, {}]
        try:
            yield
        finally:
            self.blocks.pop()
            self._known = known

    @contextmanager
    def unshared(self, variables: set[Var]) -> Iterator[None]:
        """Share no equation that has one of these results."""
        was, self._unshared = self._unshared, variables
        try:
            yield
        finally:
            self._unshared = was

    def at_root(self) -> AbstractContextManager[None]:
        """Append to the root block, whatever blocks are open."""
        return self.at(0)

    @contextmanager
    def at(self, level: int) -> Iterator[None]:
        """Append to one of the open blocks, whatever others are open in it; the root is 0."""
        blocks, known, pos = self.blocks, self._known, self.pos
        self.blocks, self._known = blocks[: level + 1], known[: level + 1]
        self.pos = None
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

    def known(self, key: Any) -> tuple[Var, ...] | None:
        """What was remembered under this key, in this block or one around it."""
        return next((known[key] for known in reversed(self._known) if key in known), None)

    def remember(self, key: Any, outs: tuple[Var, ...]) -> None:
        self._known[-1][key] = outs

    def alike(self, key: Any) -> list[Equation]:
        """What was remembered as alike, in this block or one around it; nothing of no key."""
        found = () if key is None else (known.get(key, ()) for known in reversed(self._known))
        return [e for there in found for e in there]

    def remember_alike(self, key: Any) -> None:
        """The last equation of the innermost block."""
        if key is not None:
            there = self._known[-1].get(key, ())
            self._known[-1][key] = (*there, self.blocks[-1].equations[-1])

    # -- equations ------------------------------------------------------------------------------

    def emit(self, op: str, *ins: Atom, **params: Any) -> Any:
        """Apply a primitive; gives its result atom, or a tuple of them where it has several."""
        return self._emit(op, ins, params)

    def _emit(self, op: str, ins: tuple[Atom, ...], params: dict[str, Any]) -> Any:
        row = TABLE[op]
        if op == "check" and self.on_check is not None and self.on_check(ins, params):
            return ()
        folded = simplify(self, row, ins, params)
        if folded is not None:
            return folded
        outs = self._append(op, ins, params)
        return outs[0] if len(outs) == 1 and op not in CALLS else outs

    def again(self, e: Equation, env: dict[Var, Atom]) -> bool:
        """An equation once more, on what `env` says, where its result is entered; False where
        `emit` is to see what becomes of it.

        Most of what passes copy is arithmetic of floats, of the types that it had.  There is
        nothing then to fold, infer or measure: the equation is shared, or it is appended.  What
        has a literal operand was looked at when that became one, unless it is a special one.
        """
        op = e.op
        two = _PLAIN.get(op)
        if two is None or e.params or self._unshared:
            return False
        out = e.outs[0]
        if type(out.type) is not Scalar or len(e.outs) > 1:
            return False
        given: list[Atom] = []
        some = False
        for old in e.ins:
            new = env.get(old, old) if type(old) is Var else old
            kind = new.type
            if kind is not old.type or kind is _INT or kind is _NUMPY_INT:  # each is there once
                return False
            if type(new) is Var:
                some = True
            elif two and (new is not old or new.value in _SPECIAL):  # type: ignore[union-attr]
                return False
            given.append(new)
        if not some:
            return False
        ins = tuple(given)
        key = (op, ins, ())
        for known in reversed(self._known):
            there = known.get(key)
            if there is not None:
                v = there[0]
                break
        else:
            v = Var(out.type)
            outs = (v,)
            made = self.sources[v] = Equation(op, ins, outs, {}, (), e.pos)
            self.blocks[-1].equations.append(made)
            self._known[-1][key] = outs
        if not v.name:
            v.name = out.name
        env[out] = v
        return True

    def _append(self, op: str, ins: tuple[Atom, ...], params: dict[str, Any]) -> tuple[Var, ...]:
        row = TABLE[op]
        key = None
        if not (row.effect or row.fresh):
            key = (op, ins, tuple(sorted(params.items())) if params else ())
            for known in reversed(self._known):
                there = known.get(key)
                if there is not None:
                    if self._unshared and self._unshared.intersection(there):
                        continue
                    return there
        outs = tuple([Var(t, shape) for t, shape in _inferred(row, ins, params)])
        self.append(Equation(op, ins, outs, params, (), self.pos))
        for v in outs:  # extents that operands don't tell are read off
            if type(v.type) is Array:
                self.measure(v)
        if key is not None:
            self._known[-1][key] = outs
        return outs

    def append(self, eqn: Equation) -> None:
        """Add a finished equation to the innermost block."""
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
                self.relied[origin] = expected
                test = self.emit("eq", origin, lit(expected))
                if self.first_time(("relied", test)):
                    what = f"{getattr(origin, 'name', '') or 'an extent'} is {expected}"
                    self.emit("check", test, exception=GuardMiss, message=what)
        return value

    def inputs_of(self, atom: Atom) -> str:
        """The names of the inputs that an integer is computed from, if nothing else is."""
        names: dict[str, None] = {}
        todo, seen = [atom], set()
        while todo:
            a = todo.pop()
            if isinstance(a, Lit) or a in seen:
                continue
            seen.add(a)
            source = self.sources.get(a)
            if source is not None and source.op == "dim":
                names[f"an extent of {getattr(source.ins[0], 'name', '')}"] = None
            elif a in self.blocks[0].params:
                if a.type not in _INTEGERS:
                    return ""
                names[a.name] = None
            elif source is None or source.op in STRUCTURED:
                return ""
            else:
                todo += source.ins
        return ", ".join(names)

    def example(self, atom: Atom) -> Any:
        """As `rely`, without relying on it."""
        return self._example(atom, {}, {}, 0)

    def _example(
        self, atom: Atom, origins: dict[Atom, Any], seen: dict[Atom, Any], depth: int
    ) -> Any:
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
            folded = fold(row, tuple(map(lit, args)), source.params)
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
        if isinstance(value, (complex, np.complexfloating)):
            raise JitadTypeError(
                "a complex number can't take part in traced arithmetic", self.pos,
                "Compute with the real and the imaginary part.",
            )  # fmt: skip
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise JitadIntegerError(
                "an int of more than 64 bits can't take part in traced arithmetic", self.pos,
                "Make it a float: float(n).",
            )  # fmt: skip
        if isinstance(value, (bool, int, float, np.generic)):
            return lit(value)
        if isinstance(value, Number):
            raise JitadTypeError(
                "a number that is differentiated outside of this trace can't take part in it",
                self.pos, "Make it an argument of the function, or differentiate inside.",
            )  # fmt: skip
        raise JitadTypeError(
            f"a {type(value).__name__} can't take part in traced arithmetic", self.pos
        )

    def _made(self, value: np.ndarray) -> Atom:
        """Zeros and ranges of literal extents, which derivative rules make of plain operands."""
        dtype, dims = value.dtype.str[1:], tuple(map(lit, value.shape))
        first = value.flat[0] if value.size else value.dtype.type(0)
        if np.all(value == first):
            return self.emit("full", lit(first), *dims, dtype=dtype)
        if value.ndim == 1 and np.array_equal(value, np.arange(len(value))):
            return self.emit("iota", *dims, dtype=dtype)
        raise JitadTypeError("an array constant can't be used here")

    def leaf(self, atom: Atom) -> Any:
        """A literal as the plain number that it is, a variable as a Leaf."""
        return atom.value if isinstance(atom, Lit) else Leaf(self, atom)


# What to write where Python asks a traced number to be something.
_CONVERSION = "Leave the conversion out, or make it in code of your own: library code can't."
_INSTEAD = {
    "a bool": "Ask with if, while, and, or in code of your own: library code can't branch on it.",
    "a key of a dict or an element of a set": "Index a list or an array by it, give a dict that "
    "has all keys, or compare (`if k == 1:`).",
    "an index": "Index an array by it: np.array(values)[k].",
    "a text": "Use an f-string, and print, raise or return it.",
    **dict.fromkeys(("a float", "an int", "a complex", "a NumPy array"), _CONVERSION),
}
_OTHERWISE = ("Let it depend on ints, lengths and shapes of the arguments, "
              "or write the loop over a range or an array.")  # fmt: skip


class Leaf(Number):
    """A tape variable as a number; it refuses to become a plain one."""

    __slots__ = ("atom", "builder")

    def __init__(self, builder: Builder, atom: Var) -> None:
        self.builder = builder
        self.atom = atom

    def _apply(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        b = self.builder
        ins = tuple([a.atom if type(a) is Leaf else b.atom(a) for a in args])
        out = b.emit(primitive.name, *ins, **params)
        if type(out) is Var:
            return Leaf(b, out)
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
        named = self.builder.inputs_of(self.atom)
        if named and self.builder.example(self.atom) is None and not self.builder.examples:
            return JitadTypeError(
                f"{what} must be known when the function is compiled; it depends on {named}", None,
                "From @njit code pass a literal, or call the function from Python (or give "
                "compile() the value) before.",
            )  # fmt: skip
        text = f"a traced number can't become {what} here: its value is not known while tracing"
        if what not in _INSTEAD:
            text = f"{what} is not known while tracing: it depends on traced values"
        return JitadTypeError(text, None, _INSTEAD.get(what, _OTHERWISE))

    def __copy__(self) -> Leaf:
        return self

    def __deepcopy__(self, memo: Any) -> Leaf:
        return self

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
        if self.type not in _INTEGERS:  # as of Python's own floats
            raise self._refuse("an index")
        return int(self.known("an index"))

    def __complex__(self) -> complex:
        return complex(self.known("a complex"))

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return np.array(self.known("a NumPy array"))


_INTEGERS = tuple(Scalar(d, py) for d in ("b1", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1")
                  for py in (True, False))  # fmt: skip
