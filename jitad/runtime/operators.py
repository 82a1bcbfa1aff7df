"""What do grad, value_and_grad, derivative, jvp and vjp do when they are called eagerly?

Each call is an application with a fresh tag.  `prepare` turns a function into one whose library
calls reach jitad; `operators/api.py` gives `trace.rewrite`.  It is also applied to functions in
results.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from jitad.errors import JitadError, JitadTypeError, JitadValueError
from jitad.runtime import aliases, leaves
from jitad.runtime.closures import as_records, opened
from jitad.runtime.forward import Bundle
from jitad.runtime.reverse import Cell, input_cell
from jitad.runtime.sweep import Adjoints
from jitad.runtime.tagged import shape_of
from jitad.runtime.tags import Application, alive
from jitad.runtime.unknown import refuse_unknown
from jitad.structured import WithFields
from jitad.structures import (
    ZERO,
    Structure,
    conform,
    flatten,
    is_complex,
    is_node,
    map_structure,
    sensitivities,
    unflatten,
)
from jitad.values.number import Number, in_rules
from jitad.where import caller

Argnums = int | tuple[int, ...]
Function = Callable[..., Any]
Prepare = Callable[[Any], Any]
Pointwise = Callable[[Function, int, tuple[Any, ...], tuple[Any, ...]], Function]


def _as_is(f: Function) -> Function:
    return f


# -- arguments ------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Argument:
    """An argument that is differentiated: its leaves as the caller gave them, and tagged.

    Of a function they are what it closes over.
    """

    structure: Structure
    leaves: list[Any]
    numbers: list[Any]  # Bundle or Cell, None for data

    def derivative(self, of: Callable[[Any], Any]) -> Any:
        """The structure with `of(number)` in place of every real leaf."""
        return unflatten(
            self.structure,
            (
                leaves.zero_of(leaf) if number is None else of(number)
                for leaf, number in zip(self.leaves, self.numbers, strict=True)
            ),
        )


def positions_of(argnums: Argnums, count: int, operator: str) -> tuple[int, ...]:
    chosen = argnums if isinstance(argnums, tuple) else (argnums,)
    out = tuple(k + count if k < 0 else k for k in chosen)
    if len(set(out)) < len(out):
        raise JitadValueError(
            f"{operator}: argnums={argnums} names one of {count} arguments twice", caller(),
            "Give each position once.",
        )  # fmt: skip
    for k in out:
        if not 0 <= k < count:
            raise JitadValueError(
                f"{operator}: argnums={argnums} with {count} positional arguments", caller(),
                "Pass the differentiated arguments by position.",
            )  # fmt: skip
    return out


def place(f: Function, k: int, path: str) -> str:
    try:
        name = f" ({list(inspect.signature(f).parameters)[k]})"
    except (TypeError, ValueError, IndexError):
        name = ""
    return f"argument {k}{name}" + (f" at {path}" if path else "")


def _take(
    f: Function,
    operator: str,
    args: tuple[Any, ...],
    positions: tuple[int, ...],
    tagged: Callable[[Any], Any],
    all_data: bool = False,
    given: tuple[Any, ...] | None = None,
) -> tuple[list[Any], list[_Argument]]:
    """The arguments that `f` is called with, and the differentiated ones among them.

    `given`: the caller's, of which these are copies.
    """
    inside: list[Any] = list(args)
    callers, opened_leaves = args if given is None else given, list[tuple[Any, Any]]()
    taken: dict[int, _Argument] = {}
    for k, arg in enumerate(args):
        if k not in positions:
            inside[k] = _passive(arg)
            continue
        flat, structure = leaves.of_argument(opened(arg))
        real = [leaves.is_real(leaf) for leaf in flat]
        for leaf, path in zip(flat, structure.paths(), strict=True) if not all(real) else ():
            leaves.check_argument(leaf, operator, place(f, k, path))
        if not any(real) and not all_data:
            what = type(arg).__name__ if is_node(arg) else f"{type(arg).__name__}, {arg!r}"
            raise JitadTypeError(
                f"{operator}: {place(f, k, '')} has no floats to differentiate with respect to "
                f"(it is of type {what})", caller(),
                "Pass a float (3.0 instead of 3), or choose other argnums.",
            )  # fmt: skip
        got: list[Any] = []
        numbers: list[Any] = []

        def put(content: Any, numbers: list[Any] = numbers) -> Any:
            numbers.append(tagged(content))
            return numbers[-1]

        for leaf, is_active in zip(flat, real, strict=True):
            if is_active:
                got.append(leaves.active(leaf, put))
            else:
                got.append(leaves.passive(leaf))
                numbers.append(None)
        inside[k] = unflatten(structure, got)
        if (whole := opened(callers[k])) is not callers[k]:
            opened_leaves += zip(flatten(whole)[0], got, strict=True)
        taken[k] = _Argument(sensitivities(as_records(structure)), flat, numbers)
    aliases.take(callers, inside, opened_leaves)
    return inside, [taken[k] for k in positions]


# -- results --------------------------------------------------------------------------------------


def _own(leaf: Any, tag: int) -> Any:
    """A result's content, newer tags (which have returned) taken off."""
    value = alive(leaves.content(leaf))
    if isinstance(value, Number) and value.tag > tag:
        raise JitadError(
            "a derivative inside this one has not returned yet (a generator, or another thread)",
            caller(), "Let inner derivatives finish before the function returns.",
        )  # fmt: skip
    return value


def _is_function(leaf: Any) -> bool:
    return callable(leaf) and not isinstance(leaf, (Number, type))


def _pair(leaf: Any, tag: int) -> Any:
    """The tagged number that a result's leaf is, or None where it doesn't depend on arguments."""
    if not leaves.is_array(leaf) and not isinstance(leaf, Number):
        return None
    value = _own(leaf, tag)
    return value if isinstance(value, Number) and value.tag == tag else None


def _primal(leaf: Any) -> Any:
    """A leaf of the result as the caller gets it, once the application has returned."""
    if leaves.is_array(leaf) or isinstance(leaf, (Number, np.float64)):
        return leaves.leave(alive(leaves.content(leaf)))
    return leaf


def matching(derivative: Any, leaf: Any, what: str, path: str) -> Any:
    """A tangent or sensitivity that the caller gave for a leaf, as a content."""
    value = leaves.content(derivative)
    have = shape_of(value) if leaves.is_number(value) else None
    if have != shape_of(leaf):
        place = what + (f" at {path}" if path else "")
        shown = f"a {type(derivative).__name__}" if have is None else f"of shape {have}"
        raise JitadValueError(f"{place} must have shape {shape_of(leaf)}, but is {shown}", caller())
    return value if isinstance(value, Number) else leaves.floating(value, leaf)


# -- forward mode ---------------------------------------------------------------------------------


def jvp(
    f: Function, primals: tuple[Any, ...], tangents: tuple[Any, ...], *, prepare: Prepare = _as_is,
    pointwise: Pointwise | None = None,
) -> tuple[Any, Any]:
    """`(f(*primals), the derivative of f there in the direction tangents)`.

    Each tangent has the structure of its primal.  Leaves that are data (ints, bools, strings) have
    no derivative; their tangents are ignored.  A function in the result is differentiated when it
    is called: `pointwise(f, k, primals, tangents)` is the derivative of leaf k of the result.
    """
    return _jvp(prepare(f), primals, tangents, prepare, pointwise)


def _jvp(
    f: Function, primals: tuple[Any, ...], tangents: tuple[Any, ...], prepare: Prepare,
    pointwise: Pointwise | None = None,
) -> tuple[Any, Any]:
    _same_count(primals, tangents)
    directions: list[Any] = []
    for k, (p, t) in enumerate(zip(primals, tangents, strict=True)):
        flat, structure = leaves.of_argument(opened(p))
        ts = conform(t, as_records(structure), f"jvp: tangent {k}", f"primal {k}")
        for leaf, d, path in zip(flat, ts, structure.paths(), strict=True):
            if leaves.is_real(leaf):
                what = f"jvp: tangent {k}"
                directions.append(ZERO if d is ZERO else matching(d, leaf, what, path))
    with Application() as run:
        tag = run.tag
        ahead = iter(directions)

        def moved(p: Any) -> Any:
            d = next(ahead)
            none = d is ZERO or (type(d) is float and d == 0.0)
            return p if none else Bundle(tag, p, d)  # zero is symbolic

        inside, _ = _take(f, "jvp", tuple(primals), tuple(range(len(primals))), moved,
                          all_data=True)  # fmt: skip
        flat, structure = flatten(f(*inside))
        leaves.results(flat, structure, "jvp")
        pairs = [_pair(leaf, tag) for leaf in flat]

    if any(map(_is_function, flat)):  # it will be called later
        primals = map_structure(leaves.snapshot, primals)
        tangents = map_structure(leaves.snapshot, tangents)

    def again(k: int) -> Function:
        """The derivative of the function that is leaf k of the result: f anew, a fresh tag."""
        if pointwise is not None:
            return pointwise(f, k, primals, tangents)

        def differentiated(*args: Any, **kwargs: Any) -> Any:
            def call(*ps: Any) -> Any:
                return prepare(flatten(f(*ps))[0][k])(*args, **kwargs)

            return _jvp(call, primals, tangents, prepare)[1]

        return differentiated

    return _finish(structure, flat, pairs, again)


def _bundle(tag: int, primal: Any, tangent: Any) -> Any:
    return primal if tangent is ZERO else Bundle(tag, primal, tangent)


def _finish(
    structure: Structure, flat: list[Any], pairs: list[Any],
    again: Callable[[int], Function],
) -> tuple[Any, Any]:  # fmt: skip
    """Value and tangent, leaf by leaf."""
    refuse_unknown(pair.tangent for pair in pairs if pair is not None)
    values: list[Any] = []
    tangents: list[Any] = []
    for k, (leaf, pair) in enumerate(zip(flat, pairs, strict=True)):
        if pair is not None:
            values.append(leaves.leave(pair.primal))
            tangents.append(leaves.as_derivative(pair.tangent, pair.primal))
        else:
            values.append(_primal(leaf))
            tangents.append(again(k) if _is_function(leaf) else _zero_tangent(leaf))
    return unflatten(structure, values), unflatten(structure, tangents)


def _zero_tangent(leaf: Any) -> Any:
    """A constant's derivative; numbers of any type get a float."""
    if isinstance(leaf, (bool, int)):
        return 0.0
    return leaves.zero_of(leaf)


def derivative(
    f: Function, *, prepare: Prepare = _as_is, pointwise: Pointwise | None = None
) -> Function:
    """The derivative of a function of a real number, by forward mode.

    `f` may return anything: numbers, arrays, structures of them, and functions, which are
    differentiated pointwise: `derivative(f)(x)(y)` is the derivative of `f(x)(y)` by x.  Further
    arguments are held constant.
    """

    def differentiated(x: Any, /, *args: Any, **kwargs: Any) -> Any:
        if leaves.is_array(x) or not leaves.is_real(x):
            kind = "an array" if leaves.is_array(x) else f"of type {type(x).__name__}"
            raise JitadTypeError(
                f"derivative: {place(f, 0, '')} is {kind}, not a float", caller(),
                "Pass a float (3.0 instead of 3); for arrays use grad or jvp.",
            )  # fmt: skip

        prepared = prepare(f)

        def along(t: Any) -> Any:
            return prepared(t, *_passives(dict(enumerate(args))).values(), **_passives(kwargs))

        return _jvp(along, (x,), (1.0,), prepare, pointwise)[1]

    return _named(differentiated, "derivative", f)


# -- reverse mode ---------------------------------------------------------------------------------


def vjp(f: Function, *args: Any, prepare: Prepare = _as_is) -> tuple[Any, Function]:
    """`(f(*args), pullback)`; `pullback(sensitivity)` gives one sensitivity an argument.

    The sensitivity has the structure of the value.  Leaves that are data get a zero of their kind.
    Arrays are copied, since the caller may change his before he calls the pullback; those that are
    captured by the caller of this one (`trace/outside.py`).
    """
    own = tuple(map_structure(leaves.snapshot, opened(a)) for a in args)
    return _vjp("vjp", f, own, tuple(range(len(args))), {}, prepare, all_data=True, given=args)


def _vjp(
    operator: str, f: Function, args: tuple[Any, ...], positions: tuple[int, ...],
    kwargs: dict[str, Any], prepare: Prepare, all_data: bool = False,
    given: tuple[Any, ...] | None = None,
) -> tuple[Any, Function]:  # fmt: skip
    prepared = prepare(f)
    with Application() as run:
        tag, tape = run.tag, run.tape
        inside, taken = _take(f, operator, args, positions,
                              lambda p: input_cell(tag, tape, p), all_data, given)  # fmt: skip
        kwargs = _passives(kwargs)
        flat, structure = flatten(prepared(*inside, **kwargs))
        leaves.results(flat, structure, operator)
        outs = [_pair(leaf, tag) for leaf in flat]
    value = unflatten(structure, map(_primal, flat))
    likes = [leaf if cell is None else cell.primal for leaf, cell in zip(flat, outs, strict=True)]

    def pullback(sensitivity: Any) -> tuple[Any, ...]:
        what = "the sensitivity"
        seeds = conform(sensitivity, sensitivities(structure), what, "the output")
        adjoints = Adjoints(tape)
        for seed, like, out, path in zip(seeds, likes, outs, structure.paths(), strict=True):
            if seed is not ZERO and leaves.is_real(like):
                ct = matching(seed, like, what, path)
                if out is not None:
                    adjoints.add(out.id, ct)
        with np.errstate(all="ignore"), in_rules:
            adjoints.sweep()

        wanted = (n for a in taken for n in a.numbers if n is not None)
        refuse_unknown(adjoints.values[n.id] for n in wanted)

        def result(cell: Cell) -> Any:
            ct = adjoints.values[cell.id]
            return leaves.as_derivative(0.0 if ct is None else ct, cell.primal)

        return tuple(a.derivative(result) for a in taken)

    return value, pullback


def value_and_grad(
    f: Function, argnums: Argnums = 0, has_aux: bool = False, *, prepare: Prepare = _as_is
) -> Function:
    """`f`'s value together with its gradient; see `grad`."""

    def differentiated(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        positions = positions_of(argnums, len(args), "grad")
        result, pullback = _vjp("grad", f, args, positions, kwargs, prepare)
        if has_aux and not (isinstance(result, tuple) and len(result) == 2):
            raise not_a_pair(f, caller())
        value = result[0] if has_aux else result
        if is_node(value) or not leaves.is_number(value) or shape_of(value):
            what = f"an array of shape {shape_of(value)}" if leaves.is_array(value) else (
                "a complex value" if is_complex(value) else f"a {type(value).__name__}")
            raise JitadTypeError(
                f"grad: non-scalar output: {_name(f)} returned {what}, not a number", caller(),
                "Return one number, or use vjp, jvp or derivative for other results.",
            )  # fmt: skip
        gradients = pullback((1.0, ZERO) if has_aux else 1.0)
        return result, gradients if isinstance(argnums, tuple) else gradients[0]

    return _named(differentiated, "value_and_grad", f)


def not_a_pair(f: Function, where: Any) -> JitadTypeError:
    return JitadTypeError(
        f"grad: {_name(f)} returned no pair, as has_aux=True says", where,
        "Return (number, anything), or leave has_aux out.",
    )  # fmt: skip


def grad(
    f: Function, argnums: Argnums = 0, has_aux: bool = False, *, prepare: Prepare = _as_is
) -> Function:
    """The gradient of a function with a scalar result, by reverse mode.

    It has the structure of the chosen argument; a tuple of `argnums` gives a tuple.  Ints, bools
    and strings inside structured arguments are data: ints get a zero, others stay as they are.
    With `has_aux` the function returns a pair, and so does this: the gradient of its first part,
    and the second as it is.
    """
    both = value_and_grad(f, argnums, has_aux, prepare=prepare)

    def differentiated(*args: Any, **kwargs: Any) -> Any:
        value, gradient = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return _named(differentiated, "grad", f)


# -- small things ---------------------------------------------------------------------------------


def _same_count(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> None:
    if len(primals) != len(tangents):
        raise JitadValueError(
            f"jvp: {len(primals)} primals with {len(tangents)} tangents", caller(),
            "Give one tangent a primal.",
        )  # fmt: skip


def _passives(values: dict[Any, Any]) -> dict[Any, Any]:
    """Arguments that are not differentiated."""
    own = {k: _passive(v) for k, v in values.items()}
    aliases.take([*values.values()], [*own.values()])
    return own


def _passive(value: Any) -> Any:
    """A list, a dict or an object is the caller's: what is written to it stays there."""
    flat, structure = leaves.of_argument(value)
    own = [leaves.passive(leaf) for leaf in flat]
    return unflatten(structure, own) if structure.kind in (None, complex, WithFields) else value


def _name(f: Function) -> str:
    return getattr(f, "__name__", type(f).__name__)


def _named(differentiated: Function, operator: str, f: Function) -> Function:
    differentiated.__name__ = differentiated.__qualname__ = f"{operator}({_name(f)})"
    return differentiated
