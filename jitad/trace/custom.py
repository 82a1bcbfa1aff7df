"""How is a call of a function with derivative rules of its own recorded?

As a `custom` equation: the function and its rules are traced into blocks, which are closed, that
is, what they use from around them becomes an operand.  Only where a derivative of the call may be
taken: elsewhere the function's own code is all that counts.  A rule stands for one order of
derivatives, so inside it there is one order less to come; that also ends the tracing of rules
that call their own function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from jitad.errors import JitadError
from jitad.immutable import immutable
from jitad.primitives.custom import Rule
from jitad.runtime import leaves
from jitad.runtime.custom import Rules, conforming, pair
from jitad.structures import (
    ZERO,
    Structure,
    conform,
    flatten,
    map_structure,
    sensitivities,
    unflatten,
)
from jitad.tape.build import Builder, Leaf
from jitad.tape.copy import zero
from jitad.tape.ir import Atom, Block, Var, free_vars, shape_outside
from jitad.tape.types import is_float
from jitad.trace.context import Region, Trace
from jitad.trace.ongoing import current
from jitad.trace.operators import check_data, conformed, dress, is_real
from jitad.values.array import ArrayHandle
from jitad.values.layout import is_one_of


def part(custom: Any, name: str) -> Any:
    """A function that `custom` was given; found again at the next call."""
    trace = current()
    value = getattr(custom, name)
    path = trace.captures.path_of(custom) if trace is not None else None
    if trace is None or path is None:
        return value
    return trace.captures.read(path.then("attr", name), value)


def call(rules: Rules, args: tuple[Any, ...]) -> Any:
    """The value of a function with rules, in the function that is being traced."""
    trace = current()
    assert trace is not None
    if not trace.orders:
        return rules.f(*args)
    return _Call(trace, rules, args).value()


def stopped(value: Any) -> Any:
    """The value, which derivatives are to take for a constant."""
    trace = current()
    assert trace is not None
    if not trace.orders:
        return value

    def stop(leaf: Any) -> Any:
        if not isinstance(leaf, (Leaf, ArrayHandle)) or not is_real(leaf):
            return leaf
        b = trace.builder
        return dress(b, b.emit("stop", b.atom(_content(leaf))), leaf)

    return map_structure(stop, value)


@immutable
class _Like:
    """What a number must be like."""

    type: Any
    shape: tuple[Any, ...]


class _Call:
    """One call while it is recorded."""

    def __init__(self, trace: Trace, rules: Rules, args: tuple[Any, ...]) -> None:
        self.trace, self.rules, self.args = trace, rules, args
        self.b = trace.builder
        self.leaves, self.structure = flatten(args)
        for leaf, path in zip(self.leaves, self.structure.paths(), strict=True):
            if not is_real(leaf):
                check_data(leaf, rules.name, f"its argument{path}", self.b)
        self.real = [leaf for leaf in self.leaves if is_real(leaf)]
        self.primals = [self.b.atom(_content(leaf)) for leaf in self.real]
        self.results: list[Any] = []  # the leaves of the function's value, in its own block
        self.form: Structure | None = None
        self.atoms: list[Atom] = []  # of the results that are numbers or arrays

    def value(self) -> Any:
        b, rules = self.b, self.rules
        pos = b.pos
        with self.orders(0 if rules.backward or rules.jvp else self.trace.orders):
            function = self.block(self.like_primals(), self.run)
        self.inside = {v for e in function.equations for v in e.outs}
        floats = [a for a in self.atoms if is_float(a.type)]
        jvp = forward = backward = None
        takes: tuple[int | None, ...] = ()
        with self.orders(self.trace.orders - 1):
            if rules.jvp is not None:
                both = [*self.like_primals(), *self.like_primals()]
                jvp = self.block(both, self.pushed)
            if rules.forward is not None:
                forward = self.block(self.like_primals(), self.kept)
                keeps = [_like(b, a, forward) for a in forward.results[len(self.atoms) :]]
                given = [_like(b, a, function) for a in floats]
                backward = self.block([*keeps, *given], self.pulled)
                takes = tuple(self.takes)
        blocks = [x for x in (function, jvp, forward, backward) if x is not None]
        others = _lifted(b, blocks)
        n = len(self.primals)
        if rules.jvp is None and rules.forward is None:  # a checkpoint
            n += _close(function, others)
        else:
            for x in (function, jvp, forward):
                if x is not None:
                    x.params += others
            if backward is not None:
                at = len(backward.params) - len(floats)
                backward.params[at:at] = others
        rule = Rule(rules.name, n, function, jvp, forward, backward, takes, rules.refused)
        b.pos = pos
        outs = b.emit("custom", *self.primals, *others, rule=rule)
        outs = outs if isinstance(outs, tuple) else (outs,)
        supply = iter(outs)
        made = [dress(b, next(supply), r) if _is_number(r) else r for r in self.results]
        assert self.form is not None
        return unflatten(self.form, made)

    @contextmanager
    def orders(self, n: int) -> Iterator[None]:
        before, self.trace.orders = self.trace.orders, n
        try:
            yield
        finally:
            self.trace.orders = before

    # -- blocks -----------------------------------------------------------------------------------

    def block(self, likes: Sequence[tuple[Var, Any]], run: Callable[..., list[Any]]) -> Block:
        """A block with these parameters and the results of `run(*parameters)`."""
        trace, b = self.trace, self.b
        params = [v for v, _ in likes]
        # They are older than the region: writes show.
        given = [is_one_of(dress(b, v, like), (like,)) for v, like in likes]
        region = Region(trace, params)
        region.open()
        try:
            for v in params:
                b.measure(v)
            results = [b.atom(_content(r)) for r in run(*given)]
            written = trace.journal.written()
            if written:
                raise JitadError(
                    f"{self.rules.name} has derivative rules, and writes to "
                    + ("an array that it was given" if written[0].slot == "content" else
                       "things outside"), b.pos,
                    "Let it return what is new: a rule tells nothing of other effects.",
                )  # fmt: skip
        except BaseException:
            region.drop()
            raise
        region.close()
        region.block.results = results
        return region.block

    def like_primals(self) -> list[tuple[Var, Any]]:
        return [(Var(a.type, a.shape, getattr(a, "name", "")), leaf)
                for a, leaf in zip(self.primals, self.real, strict=True)]  # fmt: skip

    def with_reals(self, numbers: Sequence[Any], data: bool) -> Any:
        """The arguments with these in the place of their real leaves; else data, or its zeros."""
        supply = iter(numbers)
        return unflatten(self.structure, [
            next(supply) if is_real(leaf) else leaf if data else _zero_of(leaf)
            for leaf in self.leaves
        ])  # fmt: skip

    def run(self, *numbers: Any) -> list[Any]:
        value = self.rules.f(*self.with_reals(numbers, True))
        self.results, self.form = flatten(value)
        out = [r for r in self.results if _is_number(r)]
        self.atoms = [self.b.atom(_content(r)) for r in out]
        return out

    def values(self, value: Any) -> list[Any]:
        """The numbers in a value that a rule gave, typed as those of the function."""
        assert self.form is not None
        what = f"{self.rules.name}: the value that its rule gives"
        flat = conform(value, self.form, what, "that of the function")
        return [self.typed(x, r, what) for x, r in zip(flat, self.results, strict=True)
                if _is_number(r)]  # fmt: skip

    def typed(self, x: Any, like: Any, what: str) -> Any:
        """A number of a rule with the type, and the extents, of the one that it belongs to."""
        b = self.b
        atom = b.atom(_content(like))
        if x is ZERO:
            return b.leaf(zero(b, atom))
        given = getattr(b.atom(_content(x)), "shape", ())
        if len(given) == len(atom.shape):  # extents that another block has computed are not known
            pairs = zip(atom.shape, given, strict=True)
            shape = tuple(n if d in self.inside else d for d, n in pairs)
            atom = Var(atom.type, shape) if shape else atom
        return b.leaf(conformed(b, x, _Like(atom.type, tuple(map(b.leaf, atom.shape))), what))

    def pushed(self, *numbers: Any) -> list[Any]:
        assert self.rules.jvp is not None and self.form is not None
        n = len(self.real)
        primals = self.with_reals(numbers[:n], True)
        tangents = self.with_reals(numbers[n:], False)
        name = self.rules.name
        value, tangent = pair(name, "jvp", self.rules.jvp(primals, tangents), "(value, tangent)")
        what = f"{name}: the tangent that its rule gives"
        flat = conform(tangent, self.form, what, "the value")
        values = self.values(value)
        supply = iter(values)
        likes = [next(supply) if _is_number(r) else None for r in self.results]
        return values + [
            self.typed(t, like, what) for t, r, like in zip(flat, self.results, likes, strict=True)
            if _is_number(r) and is_real(r)
        ]  # fmt: skip

    def kept(self, *numbers: Any) -> list[Any]:
        assert self.rules.forward is not None
        args = self.with_reals(numbers, True)
        out = self.rules.forward(*args)
        value, kept = pair(self.rules.name, "forward", out, "(value, what to keep)")
        self.keeps, self.kept_form = flatten(kept)
        return self.values(value) + [k for k in self.keeps if isinstance(k, (Leaf, ArrayHandle))]

    def pulled(self, *numbers: Any) -> list[Any]:
        assert self.rules.backward is not None and self.form is not None
        supply = iter(numbers)
        kept = unflatten(self.kept_form, [
            next(supply) if isinstance(k, (Leaf, ArrayHandle)) else k for k in self.keeps
        ])  # fmt: skip
        sensitivity = unflatten(sensitivities(self.form), [
            next(supply) if _is_number(r) and is_real(r) else _zero_of(r) for r in self.results
        ])  # fmt: skip
        name = self.rules.name
        cts = conforming(name, self.rules.backward(kept, sensitivity), self.args, self.structure)
        what = f"{name}: the sensitivity that its rule gives"
        out: list[Any] = []
        self.takes: list[int | None] = []
        for ct, leaf in zip(cts, self.leaves, strict=True):
            if not is_real(leaf):
                continue
            self.takes.append(None if ct is ZERO else len(out))
            if ct is not ZERO:
                out.append(self.typed(ct, leaf, what))
        return out


def _content(leaf: Any) -> Any:
    return leaf.content if isinstance(leaf, ArrayHandle) else leaf


def _is_number(leaf: Any) -> bool:
    """True of what becomes a result of the block: traced, or with a derivative."""
    return isinstance(leaf, (Leaf, ArrayHandle)) or is_real(leaf)


def _zero_of(leaf: Any) -> Any:
    """The zero of a leaf that is data."""
    return 0 if isinstance(leaf, (Leaf, ArrayHandle)) else leaves.zero_of(leaf)


def _like(b: Builder, a: Atom, block: Block) -> tuple[Var, Any]:
    """A parameter for what is a result of a block, with the extents that are known outside."""
    shape = shape_outside(a.shape, block)
    return Var(a.type, shape, getattr(a, "name", "")), None


def _lifted(b: Builder, blocks: Sequence[Block]) -> list[Var]:
    """What closed blocks must be given from around them."""
    found: dict[Var, None] = {}
    for block in blocks:
        found.update(dict.fromkeys(free_vars(block)))
    return list(found)


def _close(function: Block, others: list[Var]) -> int:
    """Let a checkpoint's floats from outside be differentiated as well; gives their number."""
    floats = [v for v in others if is_float(v.type)]
    others[:] = floats + [v for v in others if not is_float(v.type)]
    function.params += others
    return len(floats)
