"""How is a kernel called from C?

    int f(arguments..., results...)

A scalar argument is passed by value (double, float, int64_t, ...; bool as one byte).  An array
argument is a pointer to its first element, C-contiguous, followed by its extents, each an int64_t.
Results come in the order in which the kernel returns them, nested tuples flattened: a scalar is a
pointer to where it goes; an array is a pointer to memory of the caller's, followed by the extents
that the caller expects.  Returned are

    0  done
    1  the kernel raised (which exception is not told)
    2  a result has other extents than the caller expects; nothing was written to it

So for `def k(x, s): return value, gradient` with x a float64 array of one axis and s a float:

    int k(double *x, int64_t n, double s, double *value, double *gradient, int64_t n_gradient);
"""

from __future__ import annotations

import itertools
from typing import Any

from numba import carray, cfunc, types

from jitad.emit import numba_private
from jitad.errors import JitadTypeError

_alive: dict[tuple[int, tuple[Any, ...]], tuple[Any, Any]] = {}  # (C function, kernel)


def address(dispatcher: Any, signature: tuple[Any, ...]) -> int:
    """The address of the kernel's C function for these Numba argument types; stays valid."""
    key = (id(dispatcher), tuple(signature))
    if key not in _alive:
        _alive[key] = _build(dispatcher, tuple(signature)), dispatcher
    return int(_alive[key][0].address)


def _build(dispatcher: Any, signature: tuple[Any, ...]) -> Any:
    result = numba_private.result_type(dispatcher, signature)
    names = (f"a{k}" for k in itertools.count())
    parameters: list[tuple[str, Any]] = []
    before: list[str] = []
    arguments: list[str] = []
    for t in signature:
        name = next(names)
        if isinstance(t, types.Array):
            extents = _extents(parameters, name, t)
            before.append(f"{name}_array = carray({name}, {extents})")
            name = f"{name}_array"
        else:
            parameters.append((name, _scalar(t)))
        arguments.append(name)
    after: list[str] = []
    for t, place in _flat(result, "result"):
        name = next(names)
        if isinstance(t, types.Array):
            extents = _extents(parameters, name, t)
            after += [
                f"if {place}.shape != {extents}: return 2",
                f"carray({name}, {extents})[...] = {place}",
            ]
        else:
            parameters.append((name, types.CPointer(_scalar(t))))
            after.append(f"{name}[0] = {place}")
    lines = [
        f"def entry({', '.join(name for name, _ in parameters)}):",
        *(f"    {line}" for line in before),
        "    try:",
        f"        result = kernel({', '.join(arguments)})",
        "    except Exception:",
        "        return 1",
        *(f"    {line}" for line in after),
        "    return 0",
    ]
    scope: dict[str, Any] = {"kernel": dispatcher, "carray": carray}
    exec("\n".join(lines), scope)
    return cfunc(types.int32(*(t for _, t in parameters)))(scope["entry"])


def _extents(parameters: list[tuple[str, Any]], name: str, t: Any) -> str:
    """Add an array's parameters; gives its extents as text."""
    parameters.append((name, types.CPointer(_scalar(t.dtype))))
    extents = [f"{name}_{axis}" for axis in range(t.ndim)]
    parameters += [(extent, types.int64) for extent in extents]
    return f"({', '.join(extents)},)"


def _scalar(t: Any) -> Any:
    if not isinstance(t, (types.Float, types.Integer, types.Boolean)):
        raise JitadTypeError(
            f"a value of type {t} can't cross into C",
            remedy="Functions called from C take and give numbers, arrays of them, and tuples.",
        )
    return types.unliteral(t)


def _flat(t: Any, place: str) -> list[tuple[Any, str]]:
    """(type, expression) of each leaf of the result."""
    if isinstance(t, types.NoneType):
        return []
    if isinstance(t, types.BaseTuple):
        return [leaf for k, part in enumerate(t) for leaf in _flat(part, f"{place}[{k}]")]
    return [(t, place)]
