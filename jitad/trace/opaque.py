"""How does a kernel call a function that only Python can run?

By a `callback` equation.  Of the arguments, what is traced are its operands; the rest is kept and
handed over as it is.  What kinds of values come back must be known before: the trace takes what
was seen last time.  What was never seen is guessed to be a float; so the first call is made in
Python, where it is seen (`learning`), unless the call doesn't get there.  When something else
comes back than a kernel was made for, that is remembered and the kernel misses.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import numpy as np

from jitad.errors import GuardMiss, JitadError, JitadTypeError
from jitad.immutable import immutable
from jitad.late import late
from jitad.structures import LEAF, Structure, flatten, unflatten
from jitad.tape.build import Leaf
from jitad.tape.ir import Atom
from jitad.tape.types import Array, Scalar, type_of_constant
from jitad.trace.around.paths import Guard, Path, Root
from jitad.trace.context import Trace
from jitad.trace.ongoing import current
from jitad.trace.operators import dress
from jitad.values.active import any_traced
from jitad.values.array import ArrayHandle


@immutable
class Answer:
    """What a function gives: a structure of numbers and arrays, and of what kinds they are."""

    structure: Structure
    kinds: tuple[str, ...]


FLOAT = Answer(LEAF, ("f8p",))

# What has come back so far, by function (its code, where closures come and go) and operands.
class _Seen(dict[Any, Answer]):
    def __missing__(self, key: Any) -> Answer:
        return FLOAT


_seen = _Seen()


def call(f: Any, args: tuple[Any, ...], like: Any = None, idle: bool = False) -> Any:
    """The value of f(*args) in the function that is being traced; `like` shows what it gives.

    An `idle` function does nothing but give it.
    """
    trace = current()
    assert trace is not None
    b = trace.builder
    name = getattr(f, "__name__", type(f).__name__)
    _check_closure(trace, f, name)
    leaves, structure = flatten(args)
    traced = [isinstance(leaf, (Leaf, ArrayHandle)) for leaf in leaves]
    atoms = [b.atom(leaf.content if isinstance(leaf, ArrayHandle) else leaf)
             for leaf, is_traced in zip(leaves, traced, strict=True) if is_traced]  # fmt: skip
    operands = tuple(map(_kind, atoms))
    key = _key(f, leaves)
    answer = answer_of(like, name) if like is not None else _expected(trace, key, name)
    static = [None if t else leaf for leaf, t in zip(leaves, traced, strict=True)]

    def make(values: Sequence[Any]) -> list[Any]:
        supply = iter(values)
        given = unflatten(structure, [
            _python(next(supply), operands[sum(traced[:k])]) if t else static[k]
            for k, t in enumerate(traced)
        ])  # fmt: skip
        flat, form = _flat(f(*given))
        found = Answer(form, tuple(kind_of(leaf, name) for leaf in flat))
        if found != answer:
            _disagree(key, name, answer, found, like is not None)
        return [_native(leaf, kind) for leaf, kind in zip(flat, answer.kinds, strict=True)]

    shown = unflatten(structure, [f"<{_kind_name(a)}>" for a in leaves])
    # equal keys must mean the same function and the same static arguments
    same = (id(f), answer, tuple(map(id, (x for x in static if x is not None))))
    found = late(f"{name}{shown}", same, make)
    more = {"idle": True} if idle else {}
    outs = b.emit("callback", *atoms, late=found, kinds=answer.kinds, **more)
    outs = outs if isinstance(outs, tuple) else (outs,)
    return unflatten(answer.structure, [dress(b, out) for out in outs])


def _check_closure(trace: Trace, f: Any, name: str) -> None:
    """What Python runs later can't see the values of the trace."""
    path = trace.captures.path_of(f)
    if path is not None:
        trace.captures.guards.append(Guard(path, "is", f))
    for cell in (f.__closure__ or ()) if isinstance(f, FunctionType) else ():
        try:
            inside = cell.cell_contents
        except ValueError:  # not bound yet
            continue
        if any_traced(flatten(inside)[0]):
            raise JitadError(
                f"{name} is opaque, and closes over a value that is traced", trace.builder.pos,
                "Pass the value to it as an argument.",
            )  # fmt: skip


def _key(f: Any, leaves: Sequence[Any]) -> Any:
    """The function (by its code, where closures come and go) and the axes of its arguments."""
    return getattr(f, "__code__", f), tuple(len(getattr(x, "shape", ())) for x in leaves)


def _expected(trace: Trace, key: Any, name: str) -> Answer:
    """What came back last time; the kernel is for that only."""
    if key not in _seen:
        trace.guessed[key] = name
    answer = _seen.get(key, FLOAT)
    trace.captures.guards.append(Guard(Path(Root(_seen), (("item", key),)), "value", answer))
    return answer


class _Learning(threading.local):
    on = False


_learning = _Learning()


@contextmanager
def learning() -> Iterator[None]:
    """Opaque functions that are called in Python meanwhile show what they give."""
    before, _learning.on = _learning.on, True
    try:
        yield
    finally:
        _learning.on = before


def saw(f: Any, args: Any, value: Any) -> None:
    """f has given this value."""
    if _learning.on:
        name = getattr(f, "__name__", type(f).__name__)
        _seen[_key(f, flatten(args)[0])] = answer_of(value, name)


def _disagree(key: Any, name: str, answer: Answer, found: Answer, declared: bool) -> None:
    """Something else came back than was expected."""
    if declared:
        raise JitadTypeError(
            f"{name} gave {_described(found)}, but is declared to give {_described(answer)}", None,
            "Correct what `like` shows.",
        )  # fmt: skip
    _seen[key] = found
    raise GuardMiss(f"{name} gives {_described(answer)}")


def _described(answer: Answer) -> str:
    kinds = {"f8p": "a float", "i8p": "an int", "b1p": "a bool"}
    return str(unflatten(answer.structure, [kinds.get(k, k) for k in answer.kinds]))


def _flat(value: Any) -> tuple[list[Any], Structure]:
    """A function made in traced code has handles for arrays."""
    flat, form = flatten(value)
    return [x.peek() if isinstance(x, ArrayHandle) else x for x in flat], form


def answer_of(like: Any, name: str) -> Answer:
    flat, form = _flat(like)
    return Answer(form, tuple(kind_of(leaf, name) for leaf in flat))


def kind_of(leaf: Any, name: str) -> str:
    """As in the parameters of `callback`."""
    if isinstance(leaf, np.ndarray) and leaf.ndim and leaf.dtype.kind in "fiub":
        return f"{leaf.dtype.str[1:]}:{leaf.ndim}"
    if isinstance(leaf, np.ndarray) and not leaf.ndim:
        leaf = leaf[()]
    if isinstance(leaf, (bool, int, float, np.floating, np.integer, np.bool_)):
        return str(type_of_constant(leaf))
    raise JitadTypeError(
        f"{name} gave a {type(leaf).__name__}, which compiled code can't hold", None,
        "Let it return numbers, arrays or structures of them.",
    )  # fmt: skip


def _kind(a: Atom) -> str:
    t = a.type
    assert isinstance(t, (Scalar, Array))
    return f"{t.dtype}:{t.ndim}" if isinstance(t, Array) else str(t)


def _kind_name(leaf: Any) -> str:
    return str(leaf.type) if isinstance(leaf, (Leaf, ArrayHandle)) else repr(leaf)


def _python(value: Any, kind: str) -> Any:
    """An operand as Python code expects it: its own array, a Python number."""
    if ":" in kind:
        return np.array(value)
    if kind.endswith("p"):
        return {"f": float, "i": int, "b": bool}[kind[0]](value)
    return np.dtype(kind).type(value)


def _native(leaf: Any, kind: str) -> Any:
    if ":" in kind:
        return np.array(leaf, order="C")  # Python code may keep the one that it gave
    return _python(leaf, kind)
