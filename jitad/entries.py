"""How does a call get into a kernel, from Python and from `@njit` code?

An entry is a small generated function for one specialisation: it takes what the user passes,
reads the captured values as they are now, calls the kernel, and puts the result together.  That
of Python checks the types first; that of native code is typed by Numba.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numba.core import types

from jitad.errors import GuardMiss, JitadError, JitadTypeError
from jitad.structures import LEAF, Structure
from jitad.tape.types import Array, Scalar, Type
from jitad.trace.tracer import Traced

_serial = itertools.count()


@dataclass(frozen=True)
class Argument:
    """A leaf of the arguments: of an abstract type, or a static value (type None)."""

    type: Type | None
    value: Any = None


def _execute(text: str, env: dict[str, Any], name: str) -> None:
    """Run generated source so that tracebacks can show it."""
    file = f"<jitad entry {next(_serial)} of {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), env)


def python_entry(
    traced: Traced, kernel: Any, args: tuple[Any, ...], slow: Callable[..., Any]
) -> Callable[..., Any]:
    """A function that takes arguments of exactly these types, and hands all others to `slow`."""
    names = [f"a{k}" for k in range(len(args))]
    env: dict[str, Any] = {
        "ndarray": np.ndarray, "slow": slow, "GuardMiss": GuardMiss, "kernel": kernel,
        "finish": traced.finish, "holds": traced.holds,
    }  # fmt: skip
    tests = []
    for name, a in zip(names, args, strict=True):
        if type(a) is np.ndarray:
            env[f"{name}_dtype"] = a.dtype
            tests.append(
                f"type({name}) is ndarray and {name}.dtype is {name}_dtype "
                f"and {name}.ndim == {a.ndim}"
            )
        else:
            env[f"{name}_type"] = type(a)
            tests.append(f"type({name}) is {name}_type")
    if traced.guards:
        tests.append("holds()")
    reads = []
    for k, c in enumerate(traced.captures):
        env[f"read{k}"] = c.read
        reads.append(f"read{k}()")
    call = f"kernel({', '.join(names + reads)})"
    simple = None if traced.commits else python_result(traced.result)
    lines = [
        f"def entry({', '.join([*names, '*more'])}):",
        f"    if not more and {' and '.join(tests) or 'True'}:",
        "        try:",
    ]
    if simple is None:
        lines.append(f"            return finish({call})")
    else:
        lines += [f"            r = {call}", f"            return {simple}"]
    lines += [
        "        except GuardMiss:",
        "            pass",
        f"    return slow({', '.join([*names, '*more'])})",
    ]
    _execute("\n".join(lines) + "\n", env, traced.tape.name)
    return env["entry"]  # type: ignore[no-any-return]


def python_result(result: Any) -> str | None:
    """The expression that makes a result of tuples from the kernel's tuple `r`.

    `result`: (structure, leaves), a leaf being the number of a kernel result or `Static`.
    None where it takes more than an expression.
    """
    structure, leaves = result
    rest = iter(leaves)

    def build(s: Structure) -> str | None:
        if s.kind is None:
            leaf = next(rest)
            return f"r[{leaf}]" if isinstance(leaf, int) else None
        if s.kind is not tuple:
            return None
        parts = [build(c) for c in s.children]
        if any(p is None for p in parts):
            return None
        return f"({', '.join(parts)},)" if parts else "()"  # type: ignore[arg-type]

    return build(structure)


# -- native callers -------------------------------------------------------------------------------


def of_types(kinds: tuple[Any, ...]) -> tuple[Structure, list[Argument]]:
    """The structure of arguments of these Numba types, and their leaves."""
    leaves: list[Argument] = []

    def visit(t: Any) -> Structure:
        if isinstance(t, types.BaseTuple):
            kind = getattr(t, "instance_class", tuple)
            keys = getattr(t, "fields", None) or tuple(range(len(t)))
            return Structure(kind, tuple(keys), tuple(visit(x) for x in t))
        leaves.append(Argument(_abstract(t)))
        return LEAF

    return Structure(tuple, tuple(range(len(kinds))), tuple(map(visit, kinds))), leaves


def _abstract(t: Any) -> Type:
    match t:
        case types.Array():
            return Array(np.dtype(str(t.dtype)).str[1:], t.ndim)
        case types.Boolean():
            return Scalar("b1", True)
        case types.Integer() if t.bitwidth == 64:
            return Scalar("i8", True)
        case types.Integer() | types.Float() if t != types.float64:
            return Scalar(np.dtype(str(t)).str[1:])
        case types.Float():
            return Scalar("f8", True)
    raise JitadTypeError(
        f"a compiled function is called from @njit code with a {t}", None,
        "Numbers, arrays and tuples of them can be passed from native code.",
    )  # fmt: skip


def native_entry(traced: Traced, kernel: Any, structure: Structure) -> Any:
    """The function that `@njit` callers are linked to."""
    if traced.commits:
        raise JitadError(
            f"{traced.tape.name} writes to Python objects, which native code can't", None,
            "Call it from Python, or return the values.",
        )  # fmt: skip
    result = python_result(traced.result)
    if result is None:
        raise JitadError(
            f"{traced.tape.name} returns something other than numbers, arrays and tuples", None,
            "Return tuples where @njit code is to call the function.",
        )  # fmt: skip
    names = [f"a{k}" for k in range(len(structure.children))]
    flat: list[str] = []

    def visit(s: Structure, text: str) -> None:
        if s.kind is None:
            flat.append(text)
        for k, c in enumerate(s.children):
            visit(c, f"{text}[{k}]")

    for name, child in zip(names, structure.children, strict=True):
        visit(child, name)
    env: dict[str, Any] = {"kernel": kernel, "objmode": numba.objmode, "holds": _checked(traced)}
    lines = [f"def entry({', '.join(names)}):"]
    if traced.captures or traced.guards:
        # What was captured is read as it is now: never stale, at the price of entering Python.
        got = [f"c{k}" for k in range(len(traced.captures))]
        kinds = ", ".join(f"{c}='{_numba_name(x.type)}'"
                          for c, x in zip(got, traced.captures, strict=True))  # fmt: skip
        lines.append(f"    with objmode({kinds}):")
        lines.append("        holds()")
        for k, (c, x) in enumerate(zip(got, traced.captures, strict=True)):
            env[f"read{k}"] = x.read
            lines.append(f"        {c} = read{k}()")
        flat += got
    lines += [f"    r = kernel({', '.join(flat)})", f"    return {result}"]
    _execute("\n".join(lines) + "\n", env, traced.tape.name)
    return numba.njit(env["entry"], nogil=True, error_model="numpy")


def _checked(traced: Traced) -> Callable[[], None]:
    def holds() -> None:
        if not traced.holds():
            raise JitadError(
                f"{traced.tape.name} relied on values that have changed since it was compiled",
                None, "Call it from Python once, then compile the caller again.",
            )  # fmt: skip

    return holds




def _numba_name(t: Type) -> str:
    if isinstance(t, Array):
        dims = ",".join(":" * t.ndim)
        return f"{np.dtype(t.dtype).name}[{dims}]"
    return np.dtype(t.dtype).name
