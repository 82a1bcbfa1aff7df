"""How are prints and exceptions recorded, so that they happen when the kernel runs?

Their traced parts become operands of the equation; `jitad.late` keeps the rest.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jitad.errors import JitadError
from jitad.late import late
from jitad.tape.build import Builder
from jitad.tape.ir import Atom
from jitad.tape.types import Scalar
from jitad.trace.around.objects import attributes
from jitad.trace.context import Trace
from jitad.trace.results import output_of
from jitad.trace.texts import PERCENT, Shown, Text, is_late
from jitad.values.array import ArrayHandle
from jitad.values.kind import is_python, type_of
from jitad.values.number import Number


def record(
    trace: Trace, f: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """f(*args, **kwargs), once a run, with the values of that run."""
    b = trace.builder
    atoms, rebuild = _taken_apart(b, (args, kwargs))

    def make(values: Sequence[Any]) -> None:
        given, options = rebuild(values)
        f(*given, **options)

    options = [f"{k}={_described(v)}" for k, v in kwargs.items()]
    described = ", ".join([*map(_described, args), *options])
    every = (*args, *kwargs.values())
    kept = [id(x) for x in every if not isinstance(x, (str, int, float)) and not is_late(x)]
    same = (getattr(f, "place", None), kept)
    b.emit("print", *atoms, late=late(f"{name}({described})", same, make))


def record_raise(b: Builder, ok: Atom, error: BaseException) -> None:
    """Raise this exception where `ok` is false, with the values of that run."""
    kind = type(error)
    args, state = error.args, dict(vars(error))
    simple = len(args) == 1 and type(args[0]) is str and not state
    if (simple and kind.__module__ == "builtins") or isinstance(error, JitadError):
        b.emit("check", ok, exception=kind, message=str(args[0]))
        return
    atoms, rebuild = _taken_apart(b, (args, state))
    own: Any = next(c for c in kind.__mro__ if c.__module__ == "builtins")

    def make(values: Sequence[Any]) -> BaseException:
        args, state = rebuild(values)
        try:
            out = BaseException.__new__(kind, *args)
        except TypeError:  # OSError and the like insist on their own
            out = kind.__new__(kind, *args)
        with contextlib.suppress(TypeError):
            own.__init__(out, *args)  # SystemExit has a code, StopIteration a value
        out.args = args
        vars(out).update(state)
        out.__cause__, out.__suppress_context__ = error.__cause__, error.__suppress_context__
        return out

    described = f"{kind.__qualname__}({', '.join(map(_described, args))})"
    found = late(described, (kind, {k: _described(v) for k, v in state.items()}), make)
    b.emit("check", ok, *atoms, exception=kind, message=described, late=found)


def _taken_apart(b: Builder, value: Any) -> tuple[list[Atom], Any]:
    """The traced parts of a value as atoms, and what puts it together again."""
    atoms: list[Atom] = []
    output = output_of(b, value, atoms)
    kinds = [a.type for a in atoms]

    def rebuild(values: Sequence[Any]) -> Any:
        flat = [
            v if not isinstance(t, Scalar) or t.py else np.dtype(t.dtype).type(v)
            for v, t in zip(values, kinds, strict=True)
        ]
        return output.rebuild(flat)

    return atoms, rebuild


def _described(x: Any, depth: int = 8) -> str:
    """What it is made of; where that differs, something else is made of a kernel's values."""
    if isinstance(x, Text):
        return repr("".join(p if isinstance(p, str) else _hole(p, depth) for p in x.parts))
    if isinstance(x, Number):
        return "{}" if is_python(x) else f"{{{type_of(x).dtype}}}"
    if isinstance(x, ArrayHandle):
        return f"{{{x.dtype}, {x.ndim}}}"
    if not is_late(x):
        return repr(x)
    if not depth:
        return "{}"
    match x:
        case list() | tuple():
            parts = ", ".join(_described(v, depth - 1) for v in x)
            return f"[{parts}]" if type(x) is list else f"{_name(x)}({parts})"
        case dict():
            parts = ", ".join(f"{k!r}: {_described(v, depth - 1)}" for k, v in x.items())
            return f"{_name(x)}{{{parts}}}"
    parts = ", ".join(f"{k}={_described(v, depth - 1)}" for k, v in attributes(x).items())
    return f"{_name(x)}({parts})"


def _name(x: Any) -> str:
    return "" if type(x) in (tuple, dict) else type(x).__qualname__


def _hole(p: Shown, depth: int) -> str:
    of = _described(p.value, depth)
    of = "" if of == "{}" else of
    if p.conversion == PERCENT:
        return p.format + of
    conversion = {114: "!r", 97: "!a"}.get(p.conversion, "")
    return "{" + of + conversion + (f":{p.format}" if p.format else "") + "}"
