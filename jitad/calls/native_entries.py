"""How does a call from `@njit` code get into a kernel?

The entry is typed by Numba.  What the function captures is read as it is now, and what the trace
relied on is checked, by entering Python; then the kernel is called natively.
"""

from __future__ import annotations

from collections.abc import Callable
from types import BuiltinFunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba import types

from jitad.calls.entries import LOOKUP, Source, is_fixed, parameters
from jitad.calls.results import result_expression
from jitad.emit import numba_private
from jitad.errors import JitadError, JitadTypeError
from jitad.structures import Structure, flatten
from jitad.tape.types import Array, Scalar, Type
from jitad.trace.around.paths import Guard, Path
from jitad.trace.traced import Shaped, Traced, Valued

_LIBRARY = (ModuleType, BuiltinFunctionType, np.ufunc)  # as in all @njit code, np stays np


def of_types(kinds: tuple[Any, ...]) -> tuple[list[Array | Scalar], Structure]:
    """The abstract leaves of `(args, {})` for arguments of these Numba types, and its structure."""
    leaves: list[Array | Scalar] = []

    def part(t: Any) -> Any:
        if isinstance(t, types.BaseTuple):
            parts = [part(x) for x in t]
            made = getattr(t, "instance_class", None)
            return made(*parts) if made is not None else tuple(parts)
        if isinstance(t, types.Complex):
            leaves.extend([_of_type(t.underlying_float)] * 2)
            return 0j
        if isinstance(t, types.Array) and isinstance(t.dtype, types.Complex):
            real = np.dtype(str(t.dtype.underlying_float)).str[1:]
            leaves.extend([Array(real, t.ndim)] * 2)
            return np.zeros((1,) * t.ndim, complex)
        leaves.append(_of_type(t))
        return 0.0

    return leaves, flatten((tuple(map(part, kinds)), {}))[1]


def _of_type(t: Any) -> Array | Scalar:
    match t:
        case types.Array():
            return Array(np.dtype(str(t.dtype)).str[1:], t.ndim)
        case types.Boolean():
            return Scalar("b1", True)
        case types.Integer() if t.bitwidth == 64 and t.signed:
            return Scalar("i8", True)
        case types.Float() if t == types.float64:
            return Scalar("f8", True)
        case types.Integer() | types.Float():
            return Scalar(np.dtype(str(t)).str[1:])
    raise JitadTypeError(
        f"a compiled function is called from @njit code with a {t}", None,
        "Numbers, arrays and tuples of them can be passed from native code.",
    )  # fmt: skip


def native_entry(traced: Traced, kernel: Any, function: Any, kinds: tuple[Any, ...]) -> Any:
    """The function that `@njit` callers with arguments of these types are linked to."""
    if traced.commits:
        raise JitadError(
            f"{traced.tape.name} writes to Python objects, which native code can't", None,
            "Call it from Python, or return the values.",
        )  # fmt: skip
    result = result_expression(traced.output.form)
    if result is None:
        raise JitadError(
            f"{traced.tape.name} returns something other than numbers, arrays and tuples", None,
            "Return tuples where @njit code is to call the function.",
        )  # fmt: skip
    for guard in traced.guards:
        if guard.kind == "order":
            _check_order(guard.path, kinds)
    names = [f"a{k}" for k in range(len(kinds))]
    outside = [
        g for g in traced.guards
        if not isinstance(g.path.root, tuple)
        and not is_fixed(g.path, function)  # its code, too, is taken to stay what it is
        and not (g.kind == "is" and isinstance(g.expected, _LIBRARY))
        and not (g.kind == "missing" and g.path.steps[-1][0] == "global")  # a builtin
    ]  # fmt: skip
    captured = {c.var: f"c[{k}]" for k, c in enumerate(traced.captures)}
    flat = [
        captured[v] if v in captured else _nested(path)
        for v, path in zip(traced.tape.body.params, parameters(traced), strict=True)
    ]
    s = Source(function, kernel=kernel)
    lines = [f"def entry({', '.join(names)}):"]
    if captured or outside:
        # What was captured is read as it is now: never stale, at the price of entering Python.
        kinds = tuple(_numba_type(c.type) for c in traced.captures)
        read = numba_private.reader(_present(traced, outside, function), kinds)
        lines.append(f"    c = {s.name('read', read)}()")
    lines += [f"    r = kernel({', '.join(flat)})", f"    return {result}"]
    return numba.njit(s.run(lines, traced.tape.name), nogil=True, error_model="numpy")


def _check_order(path: Path, kinds: tuple[Any, ...]) -> None:
    """Refuse an argument whose type doesn't say that it lies in C order, where NumPy looks."""
    match path.root:
        case ("arg", k):
            t = kinds[k]
        case _:  # what is captured is brought in order
            return
    for _, key in path.steps:
        t = t[t.fields.index(key) if hasattr(t, "fields") else key]
    if t.layout != "C":
        raise JitadTypeError(
            f"{path} is reshaped, one of the two is written, and the type of the argument, {t}, "
            "doesn't say that it lies in C order", None,
            "Pass np.ascontiguousarray(a), or copy it in the function first: a.copy().",
        )  # fmt: skip


def _present(traced: Traced, outside: list[Guard], function: Any) -> Callable[[], tuple[Any, ...]]:
    """A function that gives the captured values as they are now, if what is relied on holds."""

    def changed() -> JitadError:
        where = next((str(g.path) for g in outside if not g.holds(function)), "something")
        return JitadError(
            f"{traced.tape.name} relies on {where}, which has changed since it was compiled", None,
            "Call it from Python once, then compile the @njit function that calls it anew.",
        )  # fmt: skip

    s = Source(function, LOOKUP=LOOKUP, changed=changed, whole=np.ascontiguousarray, F=function)
    tests = [s.test(g).replace("holds(F, args)", "holds(F)") for g in outside]
    values = [
        f"whole({s.values[c.path]})" if isinstance(c.type, Array)
        else s.values.get(c.path) or s.at(c.path)  # of a room nothing is guarded
        for c in traced.captures
    ]
    lines = [
        "def entry():",
        "    try:",
        f"        if {' and '.join(tests) or 'True'}:",
        f"            return ({''.join(f'{v}, ' for v in values)})",
        "    except LOOKUP:",  # what is looked for may be gone altogether
        "        pass",
        "    raise changed()",
    ]
    return s.run(lines, traced.tape.name)


def _nested(path: Path) -> str:
    return f"a{path.root[1]}" + "".join(
        f".{key}" if kind == "attr" and key in ("real", "imag") else f"[{key}]"
        for kind, key in path.steps)


def _numba_type(t: Type) -> Any:
    assert isinstance(t, (Array, Scalar))
    element = numba.from_dtype(np.dtype(t.dtype))
    return types.Array(element, t.ndim, "C") if isinstance(t, Array) else element


def as_numba_type(a: Any) -> Any:
    return a if isinstance(a, types.Type) else numba.typeof(a)


def with_value(t: Any, given: Any) -> Any:
    """An abstract argument together with the value that a caller gives for it, if one does."""
    if isinstance(given, types.Literal):
        given = given.literal_value
    if isinstance(t, Scalar) and isinstance(given, (int, np.integer, np.bool_)):
        return Valued(t, given)
    if isinstance(t, Array) and isinstance(given, np.ndarray):
        return Shaped(t, given.shape)
    return t


def serves(traced: Traced, function: Any, args: tuple[Any, ...]) -> bool:
    """May a caller with these arguments be linked to it?  The kernel checks what isn't known."""
    known = {Path(("arg", k)): a.value for k, a in enumerate(args) if isinstance(a, Valued)}
    outside = (g for g in traced.guards if not isinstance(g.path.root, tuple))
    return all(known.get(path, v) == v for path, v in traced.relied) and all(
        g.holds(function) for g in outside
    )
