"""How does a call of a Python function become a tape?

`trace` runs the function's twin on traced arguments and gives the tape with all that a call of it
needs: which values to read, which guards to check, how to put the results together, and which
writes to commit afterwards.  `trace_block` does the same into a block of the trace that runs.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, MutableSequence, Sequence
from dataclasses import dataclass
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from jitad.errors import Guessed, JitadError, UnknownDepthError
from jitad.primitives.schedules import Memory
from jitad.structured import field_names
from jitad.structures import is_node, map_structure, registered
from jitad.tape.build import Builder, Leaf
from jitad.tape.ir import Atom, Block, Pos, Tape, Var, walk
from jitad.tape.types import Array, Scalar, Type, type_of_constant
from jitad.trace import context, ongoing, stand_ins
from jitad.trace.around import distinct
from jitad.trace.around.captures import Captures, TooManyInputs
from jitad.trace.around.longlists import row_list
from jitad.trace.around.paths import Guard, Input, Path, shape_of
from jitad.trace.around.rows import Rows
from jitad.trace.calls import call
from jitad.trace.commits import commits_of
from jitad.trace.context import Again, DeadPath, Insight, Region, Trace, Written, assign
from jitad.trace.flow.attempts import diverted, would_catch
from jitad.trace.flow.observe import Decisions
from jitad.trace.flow.raising import is_mistake, raises_for_the_user
from jitad.trace.joins.forms import Form, Handle, Record
from jitad.trace.joins.join import build, extract, kinds
from jitad.trace.joins.snapshot import snapshot
from jitad.trace.joins.state import Arr, Rec, Snapshot
from jitad.trace.joins.unset import UNSET
from jitad.trace.places import local
from jitad.trace.results import Leaving, handed_on, output_of, result_form
from jitad.trace.traced import Shaped, Traced, Valued
from jitad.values.array import ArrayHandle
from jitad.values.complexes.number import Complex
from jitad.values.copies import note_copy
from jitad.values.kind import building
from jitad.values.numpy.structured import Element, Structured, of_parts
from jitad.where import caller

__all__ = ["leaves", "stand_ins", "trace", "trace_block"]

_FLOATS = 64  # numbers from outside that may have to be known: all are compared at each call
_MOST = 10_000  # the same of those that would be inputs otherwise, and are too many for that


def trace(
    f: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: dict[str, Any] | None = None,
    dynamic: frozenset[Path] = frozenset(),
    decisions: Decisions | None = None,
    memory: Memory | None = None,
    exact: bool = False,
    tabled: frozenset[Pos] = frozenset(),
) -> Traced:
    """Trace f; leaves of the arguments are types (Scalar, Array, Shaped) or static values.

    `dynamic` are paths of numbers that are inputs although they could be static, because they have
    been seen to change.  `decisions`: the path to follow where a trace can't tell.
    `memory`: for the records of loops, in derivatives that say nothing else.
    `exact`: for these extents, ints, and numbers in arrays of ints only.
    `tabled`: where dicts are made into which keys came that were not foreseen.
    """
    relied: frozenset[Pos] = frozenset() if decisions is None else decisions.places
    insight = Insight(relied=relied, contents=exact, tabled=tabled)
    start, first, instead = insight, None, None
    while True:
        found: set[Any] = set()  # loops and lists that could do with known lengths
        ints: set[Any] = set()  # arrays that could do with known numbers, or extents
        floats: set[Path] = set()  # numbers that could be known
        could = found, ints, floats
        try:
            with np.errstate():  # generators of the function's may leave it as they like
                return _trace(
                    f, args, kwargs or {}, dynamic, insight, decisions, could, memory, exact
                )
        except Again as again:
            insight, instead = again.insight, again.instead or instead
        except JitadError as error:
            if raises_for_the_user(error):
                raise
            if instead is not None:
                insight, instead = instead, None
                continue
            first = first or error
            if isinstance(error, TooManyInputs) and 0 < len(floats) <= _MOST:
                start = insight = dataclasses.replace(insight, floats=True)
            elif new := found - insight.written_out:
                # Loops first: long lists that come apart are as many inputs as they have numbers.
                new = {x for x in new if isinstance(x, Pos)} or new
                known = insight.contents
                insight = dataclasses.replace(
                    start, written_out=insight.written_out | new, contents=known
                )
            elif ints and not (insight.contents or isinstance(first, UnknownDepthError)):
                insight = dataclasses.replace(start, contents=True)
            elif 0 < len(floats) <= _FLOATS and not isinstance(first, UnknownDepthError):
                start = insight = dataclasses.replace(start, floats=True)
            else:
                raise first from None


def _trace(
    f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any],
    dynamic: frozenset[Path], insight: Insight, decisions: Decisions | None,
    could: tuple[set[Any], set[Any], set[Path]], memory: Memory | None, stretches: bool,
) -> Traced:  # fmt: skip
    builder = Builder()
    builder.stretches = stretches
    builder.pos = caller()  # until a rewritten function runs
    captures = Captures(builder, dynamic, names=_parameter_names(f))
    builder._constant = captures.constant
    running = Trace(builder, captures)
    builder.on_check = partial(diverted, running)
    builder.catches = partial(would_catch, running)
    running.insight, running.decisions = insight, decisions
    running.needless, captures.ints, captures.floats = could
    running.memory = memory
    captures.came_apart, captures.needless = insight.written_out, running.needless
    captures.contents, captures.known_floats = insight.contents, insight.floats
    captures.orders = dict(insight.orders)
    inputs: list[Input] = []
    captures.register(f, Path("function"))
    if isinstance(f, FunctionType):  # which may get other code, when its file is loaded again
        captures.guards.append(Guard(Path("function"), "code", f.__code__))
    python = _python_function(f)
    context.enter(running)
    try:
        given = [_argument(captures, inputs, a, Path(("arg", k))) for k, a in enumerate(args)]
        named = {k: _argument(captures, inputs, a, Path(("kwarg", k))) for k, a in kwargs.items()}
        with building(builder):
            running.journal.open()
            try:
                result = local(call(f, *given, **named))
            except DeadPath:
                raise JitadError(
                    f"{_name(f)} raises on every path", builder.pos, "Nothing is left to compute."
                ) from None
            except Exception as error:
                if running.guessed:
                    raise Guessed(running.guessed, str(error)) from error
                if is_mistake(error):
                    raise JitadError(
                        f"jitad made a mistake in tracing this ({error})", builder.pos,
                        "The eager engine runs it (jitad.grad, fallback=True). Please report it.",
                    ) from error
                raise
            result = None if result is UNSET else result  # every path raises, at run time
            outputs: list[Atom] = []
            written: list[Atom] = []
            leaving = Leaving()
            commits = commits_of(running, written, leaving)
            output = output_of(builder, result, outputs, handed_on(captures), leaving)
            commits = [c.after(len(outputs)) for c in commits]
            for thing in captures.scratch.values():
                if captures.path_of(thing) is not None:
                    running.may_be_copied(thing)
            distinct.memories_differ(captures, inputs)
            distinct.keys_differ(captures)
            if orders := captures.keep_in_order():
                raise Again(dataclasses.replace(insight, orders=insight.orders | orders))
    finally:
        while len(running.journal.frames) > 1:
            running.journal.close()
        captures.restore()
        context.leave()
    body = builder.blocks[0]
    body.results = outputs + written
    if decisions is not None and any(e.op == "print" for e in walk(body)):
        raise UnknownDepthError(
            f"{_name(f)} prints on a path that depends on numbers", None,
            "A kernel that finds itself on another path can't take back what it printed.",
        )  # fmt: skip
    if running.rooms and any(e.op == "print" for e in walk(body)):
        raise JitadError(
            f"{_name(f)} prints, and lists get longer in it that a kernel may have no room for",
            None, "It can't take back what it printed: return it, or use arrays.",
        )  # fmt: skip
    pos = None
    if python is not None:
        pos = Pos(python.__code__.co_filename, python.__code__.co_firstlineno)
    return Traced(
        Tape(_name(f), body, pos, running.functions.closed(body)),
        tuple(inputs), tuple(captures.inputs), tuple(captures.guards), output, tuple(commits),
        running.guessed,
        tuple((i.path, builder.relied[i.var]) for i in inputs if i.var in builder.relied),
        tuple(room for _, room in running.rooms.values()), running.new_keys,
        tuple(running.ran.values()),
    )  # fmt: skip


def _name(f: Any) -> str:
    return getattr(f, "__name__", type(f).__name__)


def _parameter_names(f: Any) -> tuple[str, ...]:
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return ()
    return tuple(p.name for p in parameters if p.kind is not p.VAR_POSITIONAL)


def _python_function(f: Any) -> FunctionType | None:
    at: Any = f
    for name in ("func", "__func__", "py_func"):
        at = getattr(at, name, at)
    return at if isinstance(at, FunctionType) else None


def _abstract(leaf: Any) -> Any:
    if isinstance(leaf, np.ndarray):
        return Shaped(Array(leaf.dtype.str[1:], leaf.ndim), leaf.shape, leaf)
    t = type_of_constant(leaf)
    return t if isinstance(leaf, float) else Valued(t, leaf)


def _lengths(value: Any, path: Path) -> Iterator[Guard]:
    """Guards of a list that comes apart, and of those in it."""
    if isinstance(value, MutableSequence):  # Numba's, too
        yield Guard(path, "keys", shape_of(value))
    parts: Any = value.items() if isinstance(value, dict) else ()
    for k, part in enumerate(value) if isinstance(value, (MutableSequence, tuple)) else parts:
        yield from _lengths(part, path.then("item", k))


def _argument(captures: Captures, inputs: list[Input], a: Any, path: Path) -> Any:
    """An argument with its abstract leaves as inputs."""
    if isinstance(a, (Scalar, Array, Shaped, Valued)):
        return _leaf_argument(captures, inputs, a, path)
    if isinstance(a, Rows):
        if path not in captures.came_apart:
            return row_list(captures, [], a.value, a.kind, path, inputs)
        captures.guards += _lengths(a.value, path)
        a = map_structure(_abstract, list(a.value))
    kind: Any = type(a)
    if isinstance(a, Complex):  # abstract parts
        first = _argument(captures, inputs, a.re, path.then("attr", "real"))
        real, second = (a.re.content, a.im.type) if isinstance(a.re, Shaped) else (None, a.im)
        imaginary = _argument(captures, inputs, second, path.then("attr", "imag"))
        return captures.whole(Complex(first, imaginary), path, real)
    if isinstance(a, (Structured, Element)):  # abstract parts
        named = zip(field_names(a.dtype), a.held, strict=True)
        parts = [_argument(captures, inputs, x, path.then("item", n)) for n, x in named]
        whole = of_parts(parts, a.layout, True)
        captures.register(whole, path, whole=True)
        return whole
    if a is None or not is_node(a):
        return a if isinstance(a, (str, type(None))) else captures.read(path, a)

    def part(value: Any, step: str, key: Any) -> Any:
        return _argument(captures, inputs, value, path.then(step, key))

    node = registered(kind)
    if node is not None:
        children, rest = node.parts(a)
        given = tuple(part(x, "part", k) for k, x in enumerate(children))
        out = node.whole(given, rest)
    elif isinstance(a, (list, tuple)):
        parts = [part(x, "item", k) for k, x in enumerate(a)]
        out = kind(parts) if isinstance(a, list) else tuple.__new__(kind, parts)
        if isinstance(out, tuple):
            note_copy(out)
    elif isinstance(a, dict):
        out = kind((k, part(x, "item", k)) for k, x in a.items())
    else:  # a dataclass
        out = object.__new__(kind)
        for field in dataclasses.fields(a):
            value = part(getattr(a, field.name), "attr", field.name)
            object.__setattr__(out, field.name, value)
            captures._known[path.then("attr", field.name)] = value
    captures.register(out, path, whole=True)
    return out


def _leaf_argument(captures: Captures, inputs: list[Input], a: Any, path: Path) -> Any:
    t = a.type if isinstance(a, (Shaped, Valued)) else a
    extents = a.extents if isinstance(a, Shaped) else None
    content = a.content if isinstance(a, Shaped) else None
    if content is not None and captures.must_be_known(path, content):
        return captures.known_array(path, content)
    name = next((str(k) for _, k in path.steps[::-1] if isinstance(k, str)), "")
    if not name:
        name = path.root[1] if isinstance(path.root[1], str) else captures.name_of(path.root[1])
    var = captures.add_input(t, name, extents)
    inputs.append(Input(path, t, var))
    leaf = Leaf(captures.builder, var)
    if isinstance(a, Valued):
        captures.builder.examples[var] = a.value
        if captures.contents:
            captures.builder.rely(var)
            return a.value
    if isinstance(t, Scalar):
        return leaf
    handle = captures.given(ArrayHandle(leaf), path, content)
    captures.register(handle, path)
    return handle


# -- blocks ---------------------------------------------------------------------------------------


@dataclass(eq=False)
class Inner:
    """A function traced into a block.

    The block's results are those of the function and then, from `own` on, what it wrote to
    things around it: `finish(outs)` gives the function's value and repeats the writes.
    """

    trace: Trace
    block: Block
    form: Form
    own: int
    places: list[Written]
    place_forms: list[Form]

    def finish(self, outs: Sequence[Atom]) -> Any:
        """Given the atoms that stand for the block's results in the surrounding block."""
        b = self.trace.builder
        supply = iter(outs)
        made: dict[int, Any] = {}
        value = build(b, self.form, supply, made, lambda new, sides: None)
        for w, f in zip(self.places, self.place_forms, strict=True):
            assign(w.write, build(b, f, supply, made, lambda new, sides: None))
        return value


def trace_block(
    f: Callable[..., Any], args: Sequence[Any], params: Sequence[Var] | None = None
) -> Inner:
    """Trace f(*args) into a new block of the running trace.

    Every number and array in args becomes a parameter of the block: those given, or new ones of
    the same types, in the order of `leaves(args)`.
    """
    running = ongoing.current()
    assert running is not None, "trace_block needs a running trace"
    b = running.builder
    s = snapshot(tuple(args))
    form = _parameter_form(s)
    needed: list[tuple[Type, tuple[Atom, ...]]] = kinds(form, [], set())
    if params is None:
        params = [Var(t, shape) for t, shape in needed]
    region = Region(running, list(params))
    region.open()
    try:
        given = build(b, form, iter(params), {}, lambda new, sides: running.journal.made(new))
        result = local(call(f, *given))
        results: list[Atom] = []
        end = snapshot(result)
        output = result_form(end)
        extract(b, output, end, results)
        own = len(results)
        written = [Written(w, snapshot(w.read())) for w in running.journal.written()]
        place_forms = [result_form(w.value) for w in written]
        for w, pf in zip(written, place_forms, strict=True):
            extract(b, pf, w.value, results)
    except BaseException:
        region.drop()
        raise
    region.close()
    region.block.results = results
    return Inner(running, region.block, output, own, written, place_forms)


def leaves(args: Sequence[Any]) -> list[Atom]:
    """The numbers and array contents in args, as atoms of the running trace."""
    running = ongoing.current()
    assert running is not None
    s = snapshot(tuple(args))
    return extract(running.builder, _parameter_form(s), s, [])


def _parameter_form(s: Snapshot) -> Form:
    """As `result_form`, with extents: a parameter's are those of its argument."""
    from jitad.trace.joins.unify import _shape

    match s:
        case Arr(h, _):
            return Handle(h.type, _shape(s), (h,), h.or_number)
        case Rec():
            return Record(s, tuple(map(_parameter_form, s.parts)))
    return result_form(s)
