"""What do derivative operators do inside a traced function?  They are recorded.

The function is traced into a block with parameters of its own, one for every real leaf of the
differentiated arguments; the block becomes a `vjp` or `jvp` equation under a fresh tag.  What
it writes to arrays ends with it: a derivative changes no array of its caller.  What else it writes
(a counter, an attribute) lives on with its primal value.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any

from jitad.closures import is_function
from jitad.errors import JitadExtentError, JitadTypeError, JitadValueError, unknown_functions
from jitad.immutable import immutable
from jitad.runtime.closures import as_records, opened
from jitad.runtime.leaves import results
from jitad.runtime.operators import Argnums, not_a_pair, place, positions_of
from jitad.structures import ZERO, Structure, conform, flatten, sensitivities, unflatten
from jitad.tape.build import Builder, Leaf
from jitad.tape.copy import Env, copy_block, renew, zero
from jitad.tape.ir import Atom, Block, Var, lit, shape_outside
from jitad.tape.types import Array, Scalar, element, is_float, type_of_constant
from jitad.trace.around import distinct
from jitad.trace.containers.lists import refused
from jitad.trace.containers.stretch import Stretch
from jitad.trace.context import Region, Trace, assign
from jitad.trace.flow.attempts import raise_
from jitad.trace.flow.boundaries import Boundary, handed_on, wanted
from jitad.trace.joins.forms import Form
from jitad.trace.joins.join import build, extract
from jitad.trace.joins.optional import present
from jitad.trace.joins.snapshot import snapshot
from jitad.trace.joins.unset import Among, Perhaps, is_optional
from jitad.trace.ongoing import current
from jitad.trace.pointwise import Anew, Fixed, Pointwise
from jitad.trace.results import Leaving, constant_tangent, result_form, there_before
from jitad.trace.texts import Text
from jitad.values.array import ArrayHandle
from jitad.values.broadcast import require_same, shape_text
from jitad.values.journal import Write
from jitad.values.kind import type_of
from jitad.values.layout import is_one_of

_tags = itertools.count(1)

Function = Callable[..., Any]


@immutable
class _Application:
    """A function traced into a block, and what its parameters and results are."""

    trace: Trace
    f: Function  # of the positional arguments `given`
    given: tuple[Any, ...]
    block: Block
    primals: tuple[Atom, ...]  # one a parameter
    arguments: tuple[tuple[Structure, tuple[Any, ...]], ...]  # per argument: its leaves
    numbers: tuple[Var | None, ...]  # per leaf of all arguments: its parameter, None for data
    structure: Structure  # of the result
    results: tuple[Any, ...]  # its leaves, as the function gave them
    places: tuple[int | None, ...]  # per leaf of the result: which result of the block it is
    writes: tuple[tuple[Write, Form], ...]  # what else it wrote; the block's results from `own` on
    raised: Form  # what it raised, the last results
    own: int

    def value(self, outs: tuple[Atom, ...]) -> Any:
        """The function's result, given the block's results in the surrounding tape."""
        b = self.trace.builder
        leaves = [
            self._static(given, n) if k is None else dress(b, outs[k], given)
            for n, (given, k) in enumerate(zip(self.results, self.places, strict=True))
        ]
        supply, made = iter(outs[self.own :]), dict[int, Any]()
        note = self.trace.journal.joiner()  # of what is made
        for write, form in self.writes:
            assign(write, build(b, form, supply, made, note))
        handed_on(self.trace, build(b, self.raised, supply, made, note))
        return unflatten(self.structure, leaves)

    def _static(self, given: Any, place: int) -> Any:
        """A leaf of the result that is no number; a function may know the block's variables."""
        return Anew(self.f, place, self.given) if is_function(given) else given


def inner(differentiated: Any) -> Function:
    """The function that a derivative operator was given; found again at the next call."""
    trace = current()
    assert trace is not None
    path = trace.captures.path_of(differentiated)
    if path is None:
        return differentiated.f
    trace.captures.read(path.then("attr", "manner"), differentiated.manner)
    return trace.captures.read(path.then("attr", "f"), differentiated.f)


def _read_inside(thing: Any, name: str, content: Any) -> Any:
    """What a function closes over, or an object holds; found again at the next call."""
    trace = current()
    assert trace is not None
    path = trace.captures.path_of(thing)
    if path is None:
        return content
    kind = "cell" if isinstance(thing, FunctionType) else "attr"
    return trace.captures.read(path.then(kind, name), content)


def dress(b: Builder, atom: Atom, like: Any = None) -> Any:
    """An atom as user code meets it: a number, or a handle."""
    if isinstance(atom.type, Array) or isinstance(like, ArrayHandle):
        return ArrayHandle(b.leaf(atom))
    return b.leaf(atom)


def is_real(leaf: Any) -> bool:
    if isinstance(leaf, (Leaf, ArrayHandle)):
        return is_float(leaf.type)
    try:
        return is_float(type_of_constant(leaf))
    except TypeError:
        return getattr(getattr(leaf, "dtype", None), "kind", "") == "f"


def _apply(f: Function, args: tuple[Any, ...], kwargs: dict[str, Any], operator: str,
           positions: tuple[int, ...], all_data: bool = False) -> _Application:  # fmt: skip
    from jitad.trace import hooks  # hooks know of operators through the call hook

    trace = current()
    assert trace is not None
    b, made = trace.builder, trace.journal.fresh[-1]
    before, inside = len(made), list(args)
    params: list[Var] = []
    primals: list[Atom] = []
    numbers: list[Var | None] = []
    arguments, taken = [], []
    for k in positions:
        leaves, structure = flatten(opened(args[k], _read_inside))
        got: list[Any] = []
        found = False
        for leaf, path in zip(leaves, structure.paths(), strict=True):
            if not is_real(leaf):
                check_data(leaf, operator, place(f, k, path), b)
                got.append(leaf)
                numbers.append(None)
                continue
            found = True
            content = leaf.content if isinstance(leaf, ArrayHandle) else leaf
            atom = b.atom(content)
            var = Var(atom.type, atom.shape, getattr(atom, "name", ""))
            params.append(var)
            primals.append(atom)
            numbers.append(var)
            got.append(is_one_of(dress(b, var, leaf), (leaf,)))
            taken.append((leaf, got[-1]))
        if not found and not all_data:
            raise JitadTypeError(
                f"{operator}: {place(f, k, '')} has no floats to differentiate with respect to",
                b.pos, "Pass a float (3.0 instead of 3), or choose other argnums.",
            )  # fmt: skip
        inside[k] = unflatten(structure, got)
        arguments.append((as_records(structure), tuple(leaves)))
    region, new = Region(trace, params), {*list(made)[before:]}
    region.open()
    trace.operators += 1
    outer_pos, trace.orders = b.pos, trace.orders + 1
    try:
        whole = Boundary(trace, wanted(trace))
        with whole:
            whole.leave((present(hooks.call(f, *inside, **kwargs)),))
        result, raised = whole.ended()
        if raised is not None and not is_optional(raised):
            raise_(raised)
        leaves, structure = flatten(result)
        results(leaves, structure, operator)
        if _has_stretch(structure):  # how long it is, only the block knows
            raise refused("differentiated, or what a derivative is taken of")
        atoms: list[Atom] = []
        places: list[int | None] = []
        for leaf in leaves:
            if isinstance(leaf, (Leaf, ArrayHandle)):
                places.append(len(atoms))
                atoms.append(b.atom(leaf.content if isinstance(leaf, ArrayHandle) else leaf))
            else:
                places.append(None)
        own, writes = len(atoms), []
        leaving, known = Leaving(), there_before(trace, args, new)
        distinct.scratched(trace, args, inside, taken)
        for w in trace.journal.written():
            if w.slot == "_lost" and not isinstance(w.target, ArrayHandle):
                trace.refuse_lost(w.target)
            if w.slot not in ("content", "_lost"):  # a derivative changes no array of its caller
                trace.keep_outside(w.read())
                writes.append((w, leaving.extract(b, w.read(), atoms, known(w.target))))
        what = snapshot(raised)
        extract(b, result_form(what), what, atoms)
    except BaseException:
        region.drop()
        raise
    finally:
        trace.orders -= 1
        trace.operators -= 1
    region.close()
    if trace.refused:
        (_, why), where = next(iter(trace.refused.items()))
        raise unknown_functions(tuple(f for f, _ in trace.refused), where, why)
    b.pos = outer_pos
    region.block.results = atoms
    return _Application(
        trace, Fixed(f, (), kwargs) if kwargs else f, args, region.block, tuple(primals),
        tuple(arguments), tuple(numbers), structure, tuple(leaves), tuple(places), tuple(writes),
        result_form(what), own,
    )  # fmt: skip


def _has_stretch(structure: Structure) -> bool:
    return structure.kind is Stretch or any(map(_has_stretch, structure.children))


def check_data(leaf: Any, operator: str, where: str, b: Builder) -> None:
    kind = getattr(leaf, "type", None)
    if isinstance(leaf, (bool, int, str, bytes)) or (
        isinstance(kind, (Scalar, Array)) and kind.dtype[0] in "iub"
    ):
        return
    if getattr(getattr(leaf, "dtype", None), "kind", "") in "iub":
        return
    what = "a function" if callable(leaf) else f"a {type(leaf).__name__}"
    raise JitadTypeError(
        f"{operator}: {where} is {what}", b.pos,
        "Pass the numbers inside as arguments, or choose other argnums.",
    )  # fmt: skip


def _twin(b: Builder, block: Block) -> Block:
    """A copy of the block with variables of its own."""
    env: Env = {}
    params = [renew(p, p, env) for p in block.params]
    with b.block(*params, isolated=True) as new:
        new.results = copy_block(b, block, env, effects=False)
    return new


def _operator(
    run: _Application, op: str, given: Sequence[dict[int, Atom]], block: Block
) -> tuple[Var, ...]:
    """Append the equation; gives the block's results, then the derivatives.

    `given`: seeds by result (vjp); tangents by parameter (jvp), for each direction.
    """
    b = run.trace.builder
    results = block.results
    outs = [Var(a.type, shape_outside(a.shape, block)) for a in results]
    params: dict[str, Any] = {"tag": next(_tags)}
    if op == "vjp":
        (seeds,) = given
        ins = list(seeds.values())
        outs += [Var(p.type, p.shape) for p in block.params]
        params |= {"active": tuple(range(len(block.params))), "seeded": tuple(seeds)}
        if run.trace.memory is not None:
            params["memory"] = run.trace.memory
    else:
        ins = [a for along in given for a in along.values()]
        outs += [
            Var(a.type, shape_outside(a.shape, block))
            for _ in given for a in results if is_float(a.type)
        ]  # fmt: skip
        moved = tuple(map(tuple, given))
        params["active"] = tuple(sorted({k for active in moved for k in active}))
        if len(given) > 1:
            params["directions"] = moved
    return b.structured(op, (*run.primals, *ins), tuple(outs), (block,), params)


def value_and_grad(
    f: Function, argnums: Argnums, args: tuple[Any, ...], kwargs: dict[str, Any],
    has_aux: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """The recorded form of `value_and_grad(f, argnums, has_aux)(*args, **kwargs)`."""
    positions = positions_of(argnums, len(args), "grad")
    run = _apply(f, args, kwargs, "grad", positions)
    b, value = run.trace.builder, run.structure
    if has_aux:
        if value.kind is not tuple or len(value.children) != 2:
            raise not_a_pair(f, b.pos)
        value = value.children[0]
    if value.kind is not None:
        what = "a complex value" if value.kind is complex else "a structure"
        raise _not_scalar(f, what, b)
    result = run.results[0]
    if not isinstance(result, (Leaf, bool, int, float)) and getattr(result, "shape", None) != ():
        what = "an array" if hasattr(result, "shape") else f"a {type(result).__name__}"
        raise _not_scalar(f, what, b)
    if run.places[0] is None or not is_float(run.block.results[run.places[0]].type):
        return run.value(tuple(_inline(run))), _gradients(run, argnums, None)
    seeds = {run.places[0]: _one(run.block.results[run.places[0]])}
    outs = _operator(run, "vjp", [seeds], run.block)
    count = len(run.block.results)
    return run.value(outs[:count]), _gradients(run, argnums, outs[count:])


def _one(a: Atom) -> Atom:
    import numpy as np

    t = element(a.type)  # type: ignore[arg-type]
    return lit(1.0) if t.dtype == "f8" else lit(np.dtype(t.dtype).type(1))


def _not_scalar(f: Function, what: str, b: Builder) -> JitadTypeError:
    name = getattr(f, "__name__", type(f).__name__)
    return JitadTypeError(
        f"grad: non-scalar output: {name} returned {what}, not a number", b.pos,
        "Return one number, or use vjp, jvp or derivative for other results.",
    )  # fmt: skip


def _inline(run: _Application) -> list[Atom]:
    env: Env = dict(zip(run.block.params, run.primals, strict=True))
    return copy_block(run.trace.builder, run.block, env)


def _gradients(run: _Application, argnums: Argnums, adjoints: tuple[Var, ...] | None) -> Any:
    arguments = _adjoints(run, adjoints)
    return arguments if isinstance(argnums, tuple) else arguments[0]


def _adjoints(run: _Application, adjoints: tuple[Var, ...] | None) -> tuple[Any, ...]:
    """Per argument its structure with derivatives in place of the real leaves."""
    b = run.trace.builder
    of = dict(zip(run.block.params, adjoints, strict=True)) if adjoints is not None else {}
    numbers = iter(run.numbers)
    out = []
    for structure, leaves in run.arguments:
        got = []
        for leaf in leaves:
            var = next(numbers)
            if var is None:
                got.append(_zero_of_data(leaf))
            else:
                got.append(dress(b, of[var] if of else zero(b, var), leaf))
        out.append(unflatten(sensitivities(structure), got))
    return tuple(out)


def _zero_of_data(leaf: Any) -> Any:
    if isinstance(leaf, (bool, int)):
        return type(leaf)(0)
    if isinstance(leaf, (Leaf, ArrayHandle)):
        return leaf & False if type_of(leaf).dtype == "b1" else leaf * 0
    return leaf


def vjp(f: Function, args: tuple[Any, ...]) -> tuple[Any, Function]:
    """The recorded form of `vjp(f, *args)`."""
    run = _apply(f, args, {}, "vjp", tuple(range(len(args))), all_data=True)
    b = run.trace.builder
    value = run.value(tuple(_inline(run)))
    template = flatten(value)[0]  # whose extents are known out here

    def pullback(sensitivity: Any) -> tuple[Any, ...]:
        if any(choosing(run.structure)):
            raise JitadTypeError(
                "a condition on traced values chose what kind of thing is differentiated here: "
                "None, or an array of other axes", b.pos,
                "Pull back under the condition, or return one kind of thing.",
            )  # fmt: skip
        structure = sensitivities(run.structure)
        seeds = conform(sensitivity, structure, "the sensitivity", "the output")
        of: dict[int, Atom] = {}
        for seed, like, k in zip(seeds, template, run.places, strict=True):
            if seed is not ZERO and k is not None and is_float(run.block.results[k].type):
                of[k] = conformed(b, seed, like, "the sensitivity")
        # Traced anew by the sweep; what it shares with the value is computed once.
        block = _twin(b, run.block)
        outs = _operator(run, "vjp", [of], block)
        return _adjoints(run, outs[len(block.results) :])

    return value, pullback


def choosing(structure: Structure, flag: bool = False) -> Iterator[bool]:
    """Of each leaf, whether it says which of several things there is, or is part of a text."""
    if structure.kind is None:
        yield flag
    for k, child in enumerate(structure.children):
        chooses = k == 0 and structure.kind in (Among, Perhaps)
        yield from choosing(child, flag or chooses or structure.kind is Text)


def conformed(b: Builder, given: Any, like: Any, what: str) -> Atom:
    content = given.content if isinstance(given, ArrayHandle) else given
    atom = b.atom(content)
    shape = getattr(like, "shape", ())
    if len(atom.shape) != len(shape):
        # of an extent that only the kernel knows, np.squeeze keeps the axis
        what = f"{what} must have {len(shape)} axes, but has {len(atom.shape)}"
        raise JitadExtentError(what, b.pos)
    for n, m in zip(map(b.leaf, atom.shape), shape, strict=True):
        require_same(
            n, m, lambda: f"{what} must have shape {shape_text(shape)}, but has shape "
            f"{shape_text(tuple(map(b.leaf, atom.shape)))}",
        )  # fmt: skip
    dtype, python = like.type.dtype, getattr(like.type, "py", False)  # which is as wide as it meets
    if atom.type.dtype != dtype or (not shape and atom.type.py != python):  # type: ignore[union-attr]
        atom = b.emit("cast", atom, dtype=dtype, py=python)
    return atom


def jvp(f: Function, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    """The recorded form of `jvp(f, primals, tangents)`."""
    value, (tangent,) = pushed(f, primals, (tangents,))
    return value, tangent


def pushed(
    f: Function, primals: tuple[Any, ...], directions: Sequence[tuple[Any, ...]],
    twin: bool = False,
) -> tuple[Any, list[Any]]:  # fmt: skip
    """The value of f, and its tangents in several directions, which one equation gives.

    A twin of a run that has given the value prints, checks and writes nothing.
    """
    given = [_along(primals, tangents) for tangents in directions]
    run = _apply(f, tuple(primals), {}, "jvp", tuple(range(len(primals))), all_data=True)
    block = _twin(run.trace.builder, run.block) if twin else run.block
    outs = _operator(run, "jvp", given, block)
    count = len(run.block.results)
    value = None if twin else run.value(outs[:count])
    floats = [k for k, a in enumerate(run.block.results) if is_float(a.type)]
    found = []
    for d, tangents in enumerate(directions):
        of = dict(zip(floats, outs[count + d * len(floats) :], strict=False))
        flat: list[Any] = []
        says = choosing(run.structure)
        for leaf, at, chooses in zip(run.results, run.places, says, strict=True):
            if chooses:  # a tangent is of the thing that the value is
                flat.append(leaf if at is None else dress(run.trace.builder, outs[at], leaf))
            elif at is not None and at in of:
                flat.append(dress(run.trace.builder, of[at], leaf))
            elif is_function(leaf):
                flat.append(Pointwise(f, len(flat), primals, tangents))
            else:  # its extents are known in here only
                seen = leaf if at is None else dress(run.trace.builder, outs[at], leaf)
                flat.append(constant_tangent(seen))
        found.append(unflatten(run.structure, flat))
    return value, found


def _along(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> dict[int, Atom]:
    """The tangents of the real leaves of the primals, but for those that are `ZERO`."""
    trace = current()
    assert trace is not None
    b = trace.builder
    if len(primals) != len(tangents):
        raise JitadValueError(
            f"jvp: {len(primals)} primals with {len(tangents)} tangents", b.pos,
            "Give one tangent a primal.",
        )  # fmt: skip
    given: dict[int, Atom] = {}
    at = itertools.count()
    for k, (p, t) in enumerate(zip(primals, tangents, strict=True)):
        leaves, structure = flatten(opened(p, _read_inside))
        ts = conform(t, as_records(structure), f"jvp: tangent {k}", f"primal {k}")
        for leaf, d in zip(leaves, ts, strict=True):
            if is_real(leaf):
                param = next(at)
                if d is not ZERO:
                    given[param] = conformed(b, d, _typed(b, leaf), f"jvp: tangent {k}")
    return given


def _typed(b: Builder, leaf: Any) -> Any:
    return b.leaf(b.atom(leaf)) if not isinstance(leaf, (Leaf, ArrayHandle, float)) else (
        _Float() if isinstance(leaf, float) else leaf
    )


class _Float:
    """What a Python float looks like to `conformed`."""

    type = Scalar("f8", py=True)
    shape = ()


def derivative(f: Function, x: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The recorded form of `derivative(f)(x, *args, **kwargs)`."""
    trace = current()
    assert trace is not None
    if isinstance(x, ArrayHandle) or not is_real(x):
        raise JitadTypeError(
            f"derivative: {place(f, 0, '')} is not a float", trace.builder.pos,
            "Pass a float (3.0 instead of 3); for arrays use grad or jvp.",
        )  # fmt: skip

    along = Fixed(f, args, kwargs) if args or kwargs else f
    return jvp(along, (x,), (1.0,))[1]
