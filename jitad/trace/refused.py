"""Which constructs of Python can't be traced, and what does the user do instead?"""

from __future__ import annotations

import ast
import datetime
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from jitad.errors import JitadError, UnrepeatableError
from jitad.tape.ir import Pos

# construct -> (what it is called, remedy)
REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.AsyncFunctionDef: ("an async function", "Use an ordinary function."),
    ast.Await: ("await", "Await outside the traced function and pass the value in."),
    ast.AsyncFor: ("async for", "Collect the values first and pass them in."),
    ast.AsyncWith: ("async with", "Enter the context outside the traced function."),
    ast.TryStar: ("except*", "Use an ordinary except."),
}

# builtins that look at the frame that calls them, which tracing has changed
REFUSED_CALLS: dict[str, str] = {
    "globals": "Name the variables.",
    "locals": "Name the variables.",
    "vars": "Name the attributes, or pass the object: vars(obj).",
    "dir": "Ask for the attributes: hasattr(obj, name).",
    "eval": "Write the expression out.",
    "exec": "Write the statements out.",
    "breakpoint": "Debug the plain Python function, or the eager gradient.",
}

# modules whose functions give something else at every call: a trace would freeze the first answer
UNREPEATABLE = frozenset({"random", "time", "secrets", "uuid", "numpy.random"})
_CLOCK = frozenset({"now", "utcnow", "today"})  # of datetime, whose other methods compute

# modules whose functions act on the world, or read of it: a trace would once, and a kernel never
ACTING = frozenset({
    "logging", "warnings", "_io", "io", "os", "posix", "subprocess", "socket", "glob",
    "shutil", "tempfile", "mmap", "gzip", "bz2", "lzma", "zipfile", "tarfile", "urllib.request",
    "http.client", "sqlite3", "linecache", "fileinput", "_contextvars", "numpy.lib.npyio",
    "numpy.lib.format", "scipy.io", "pandas.io",
})  # fmt: skip
# others of the kind, by module
_OF_MODULES = {
    "genericpath": {"exists", "isfile", "isdir", "getsize", "getmtime", "getatime", "getctime",
                    "samefile"},
    "posixpath": {"lexists", "realpath", "abspath", "expanduser", "expandvars", "ismount"},
    "ntpath": {"lexists", "realpath", "abspath", "expanduser", "expandvars", "ismount"},
    "numpy": {"load", "loadtxt", "genfromtxt", "fromfile", "fromregex", "memmap", "save", "savez",
              "savez_compressed", "savetxt", "geterr", "seterr", "getbufsize"},
    "sys": {"getrecursionlimit", "setrecursionlimit", "getrefcount", "getswitchinterval"},
}  # fmt: skip


def check_refused(nodes: Iterable[ast.AST], file: str, shadowed: frozenset[str]) -> None:
    """Raise for the first of these constructs that is in the tables."""
    for n in nodes:
        entry = REFUSED.get(type(n))
        if entry is not None:
            what, remedy = entry
            raise JitadError(f"{what} can't be traced", _pos(n, file), remedy)
        if type(n) is ast.Call and isinstance(n.func, ast.Name) and n.func.id in REFUSED_CALLS:
            name = n.func.id
            if name not in shadowed and not (name == "vars" and n.args):
                raise JitadError(f"{name}() can't be traced", _pos(n, file), REFUSED_CALLS[name])


def _pos(node: ast.AST, file: str) -> Pos:
    return Pos(file, node.lineno, node.col_offset)  # type: ignore[attr-defined]


def check_called(f: Any, module: str, pos: Pos | None) -> None:
    """Raise for a library function that would not be the same at every call of a kernel."""
    name = getattr(f, "__qualname__", repr(f))
    if is_from(ACTING, f, module) or _is_acting(f, module):
        raise UnrepeatableError(
            f"{name} acts on the world, or reads of it, which a trace would do once", pos,
            "Do it outside, and pass what it gives as an argument.",
        )  # fmt: skip
    clock = getattr(f, "__name__", "") in _CLOCK and is_of_datetime(f)
    if clock or is_from(UNREPEATABLE, f, module):
        raise UnrepeatableError(
            f"{name} gives something else at every call, which a trace can't", pos,
            "Call it outside, and pass the value as an argument.",
        )  # fmt: skip


def _is_acting(f: Any, module: str) -> bool:
    name = getattr(f, "__name__", "")
    if module == "pathlib" and not isinstance(f, type):  # methods of pure paths only compute
        owner = getattr(f, "__qualname__", "").partition(".")[0]
        return owner in ("Path", "PosixPath", "WindowsPath") and not name.startswith("__")
    return name in _OF_MODULES.get(module, ())


def is_of_datetime(f: Any) -> bool:
    owner = getattr(f, "__self__", None)
    return isinstance(owner, type) and issubclass(owner, datetime.date)


def is_from(modules: frozenset[str], f: Any, module: str) -> bool:
    """Is it a function of these modules, or a method of what is theirs?"""
    if isinstance(f, type) or isinstance(f, ModuleType):
        return False
    owner = type(getattr(f, "__self__", None)).__module__
    return any(
        m == name or m.startswith(name + ".")
        for m in (module, owner)
        for name in modules
        if m
    )
