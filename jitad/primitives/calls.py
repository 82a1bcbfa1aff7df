"""What is a call of a tape's function?  An equation like any other, whose types it says itself.

`function` names one of the tape's functions, `results` are the types of its results, whose extents
are read off.  A call is `act` where the function checks or prints.  A `quiet` call leaves that
out: it has happened already.  While a function is open, `around` says what its calls find around
them (`tape.copy`).  The derivatives are functions, too: see `sweeps.calls`.
"""

from __future__ import annotations

from typing import Any

from jitad.primitives.table import Inferred, Primitive, register
from jitad.tape.ir import Atom
from jitad.tape.types import Type


def _results(
    *_: Atom, function: str, results: tuple[Type, ...], quiet: bool = False, around: Any = None
) -> Inferred:
    return tuple((t, ()) for t in results)


def _evaluate(*_: Any, function: str, **__: Any) -> Any:
    raise NotImplementedError(f"{function} is for the interpreter to look up")


for _name in ("call", "act"):
    register(Primitive(
        _name, _evaluate, _results, linear=(), dear=True, effect=_name == "act",
        jvp=_evaluate, vjp=_evaluate,
    ))  # fmt: skip
