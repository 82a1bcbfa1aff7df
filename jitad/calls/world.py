"""What might a trace of a function read besides its arguments, as content?

All that its code names is looked at, and what that names in turn: functions (code and the text of
their source, defaults, closure cells, the globals that they name), containers, arrays, modules.
Equal worlds have equal digests, in whichever process; which things are one and the same is part of
that.  At the places of a kernel's inputs only the type counts.  What can't be told as content is
`Unstated`: objects of classes, user's classes, functions without source, code that finds things by
other means than names.  Library functions are told by their name, if jitad knows what they do;
which ones a trace has run is looked at afterwards (`is_told`).
"""

from __future__ import annotations

import builtins
import functools
import hashlib
import linecache
import sys
from collections.abc import Iterator
from dis import opmap
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from jitad.structured import field_names, has_fields
from jitad.trace.around.libraries import is_library, is_library_module, is_ours
from jitad.trace.around.paths import Path, Root, cell_of
from jitad.trace.around.rows import kind_of
from jitad.trace.syntax.source import nested_codes

MOST = 1 << 20  # bytes of an array, or letters of a text, that is no input
MOST_LINES = 50_000  # that say all
_PLAIN = (int, float, complex, str, bytes, bool, type(None), type(...))
# By these a function finds more than it names, or what no content tells.
_SEEING = frozenset((
    "open", "input", "eval", "exec", "globals", "locals", "vars", "dir", "id", "hash", "compile",
    "__import__", "breakpoint", "memoryview", "getattr", "setattr", "delattr", "hasattr",
    "attrgetter", "methodcaller",
))  # fmt: skip
_IMPORTING = {opmap[name] for name in ("IMPORT_NAME", "LOAD_BUILD_CLASS")}
_NUMBAS = "numba.core.registry.CPUDispatcher"
_OPERATOR, _COMPILED = "jitad.operators.api.Derivative", "jitad.calls.compiled.Compiled"


class Unstated(Exception):
    """Something whose content can't be told."""


class World:
    """What is found from a function; `inputs` are the paths of which only the types count."""

    def __init__(self, function: Any, inputs: tuple[Path, ...]) -> None:
        self.things: list[Any] = []  # in the order in which they were found
        self.numbers: dict[int, int] = {}
        self.codes: set[CodeType] = set()
        self.lines: list[str] = []
        self.names: dict[str, None] = {}  # that any code has
        self.modules: dict[int, tuple[ModuleType, set[str]]] = {}  # and the names looked up in them
        self.globals: set[tuple[int, str]] = set()
        self.marks = {_place(function, path) for path in inputs}
        self.met: set[Any] = set()
        self.columns: dict[Any, list[Any]] = {}  # of lists that are inputs
        for owner, kind, key in self.marks:
            if kind == "column":
                self.columns.setdefault(owner, []).append((owner, kind, key))
        self.value(("root",), function)
        while self._look_into_modules():
            pass
        if self.marks != self.met:
            raise Unstated("an input that is found some other way")
        self.digest = hashlib.sha256("\n".join(self.lines).encode()).digest()

    def told(self, *words: Any) -> None:
        self.lines.append(" ".join(map(str, words)))
        if len(self.lines) > MOST_LINES:
            raise Unstated("too much")

    def new(self, thing: Any) -> bool:
        """Is it met for the first time?  If not, which one it is says everything."""
        known = self.numbers.get(id(thing))
        if known is not None:
            self.told("again", known)
            return False
        self.numbers[id(thing)] = len(self.things)
        self.things.append(thing)
        return True

    def value(self, place: tuple[Any, ...], value: Any) -> None:
        """What is at a place."""
        typed = place in self.marks
        if typed:
            self.met.add(place)
        kind = type(value)
        if kind in (str, bytes) and len(value) > MOST:
            raise Unstated("a long text")
        if kind in _PLAIN or isinstance(value, (np.number, np.bool_)):
            self.told("input" if typed else repr(value), kind.__name__)
        elif not self.new(value):
            return
        elif has_fields(value):
            self.told(kind.__name__, value.dtype)
            for name in field_names(value.dtype):
                self.value((id(value), "item", name), value[name])
        elif kind is np.ndarray:
            self.array(value, typed)
        elif kind in (tuple, list, dict):
            self.container(value)
        elif kind is FunctionType:
            self.function(value)
        elif kind is ModuleType:
            self.module(value)
        elif kind is functools.partial:
            self.parts(value, "func", "args", "keywords")
        elif (name := f"{kind.__module__}.{kind.__qualname__}") == _OPERATOR:
            self.told(value.operator, value.manner)
            self.parts(value, "f")
        elif name == _COMPILED:
            self.told("compiled", repr(value.memory), value.threads)
            self.parts(value, "f")
        elif name == _NUMBAS:
            from jitad.emit.numba_private import signatures  # for such a function alone

            self.told(str(signatures(value)))
            self.parts(value, "py_func")
        else:
            self.library(value)

    def parts(self, value: Any, *names: str) -> None:
        self.told(type(value).__name__)
        for name in names:
            self.value((id(value), "attr", name), getattr(value, name))

    def array(self, value: Any, typed: bool) -> None:
        shape = tuple(n == 1 for n in value.shape) if typed else value.shape
        if not typed and (value.nbytes > MOST or value.dtype.kind not in "biufc"):
            raise Unstated("a large array, or one of objects")
        content = b"" if typed else value.tobytes()
        self.told("array", value.dtype.str, shape, hashlib.sha256(content).hexdigest())

    def container(self, value: Any) -> None:
        if columns := self.columns.get(id(value)):
            self.met.update(columns)
            self.told("rows", kind_of(value))
            return
        self.told(type(value).__name__, len(value))
        for k, v in value.items() if isinstance(value, dict) else enumerate(value):
            if type(k) not in _PLAIN:
                raise Unstated("a key")
            self.told(type(k).__name__, repr(k))
            self.value((id(value), "item", k), v)

    # -- functions and what they name -------------------------------------------------------------

    def function(self, f: FunctionType) -> None:
        if is_library(f):
            self.library(f)
            return
        if getattr(f, "__builtins__", None) is not vars(builtins):
            raise Unstated("builtins of its own")
        self.codes.update(nested_codes(f.__code__))
        names: dict[str, None] = {}
        self.lines += source(f)
        for code in nested_codes(f.__code__):
            if not _IMPORTING.isdisjoint(code.co_code[::2]):
                raise Unstated("an import, or a class")
            self.lines += content(code)
            names.update(dict.fromkeys(code.co_names))
        self.names.update(names)
        for name in names:
            if name in _SEEING or name.startswith("__"):
                raise Unstated(name)
        self.told("function", f.__name__, f.__module__, len(f.__dict__))
        for k, v in enumerate(f.__defaults__ or ()):
            self.value((id(f), "default", k), v)
        for part, kind in ((f.__kwdefaults__ or {}, "kwdefault"), (f.__dict__, "attr")):
            for name, v in part.items():
                self.told(name)
                self.value((id(f), kind, name), v)
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            self.cell(name, cell)
        if self.new(f.__globals__):
            self.told("globals", f.__globals__.get("__name__"))
        for name in names:
            self.named(f.__globals__, name)

    def cell(self, name: str, cell: CellType) -> None:
        self.told("cell", name)
        if not self.new(cell):
            return
        try:
            inside = cell.cell_contents
        except ValueError:
            self.told("empty")
            return
        self.value((id(cell), "cell", None), inside)

    def named(self, space: dict[str, Any], name: str) -> None:
        """What a global or a builtin of this name is; names of attributes come here, too."""
        if (id(space), name) in self.globals:
            return
        self.globals.add((id(space), name))
        if name in space:
            self.told("global", name)
            self.value((id(space), "global", name), space[name])
        elif hasattr(builtins, name):
            found = getattr(builtins, name)
            self.told("builtin", name)
            theirs = isinstance(found, (type, BuiltinFunctionType))
            if theirs and found.__module__ == "builtins" and found.__name__ == name:
                self.numbers.setdefault(id(found), -1)
            else:
                self.value((id(builtins), "attr", name), found)

    def module(self, m: ModuleType) -> None:
        if sys.modules.get(m.__name__) is not m:
            raise Unstated("a module made by hand")
        self.told("module", m.__name__)
        self.modules[id(m)] = (m, set())

    def _look_into_modules(self) -> bool:
        """Anything in modules that some code may name; True if there was something new."""
        new = False
        for m, seen in list(self.modules.values()):
            names = self.names.keys() - seen
            seen |= names
            for name in sorted(names & vars(m).keys()):
                new = True
                self.told("in", m.__name__, name)
                self.value((id(m), "attr", name), vars(m)[name])
        return new

    def library(self, value: Any) -> None:
        """What is told by its name, which must lead back to it."""
        name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
        if not isinstance(name, str) or not _is_librarys(value):
            raise Unstated(f"an object of class {type(value).__name__}")
        self.told("library", type(value).__name__, getattr(value, "__module__", None), name)

    # -- what a trace has met ---------------------------------------------------------------------

    def covers(self, path: Path, function: Any) -> bool:
        """Was everything on this path met?"""
        at = function if path.root == "function" else path.root.thing
        for kind, key in (("", None), *path.steps):
            if kind == "column":
                return True
            at = Path(Root(at), ((kind, key),)).get(None) if kind else at
            plain = type(at) in _PLAIN or isinstance(at, (np.number, np.bool_))
            if not plain and id(at) not in self.numbers:
                return False
            if has_fields(at):
                return True  # each read of a field gives another view
        return True

    def is_told(self, f: Any) -> bool:
        """Is what this function does, which a trace has run, part of what was told?"""
        from jitad.trace.rewrite import is_rewritten  # not needed for what is found on disk
        from jitad.values.registry import implementation

        if isinstance(f, FunctionType) and not is_library(f):
            return f.__code__ in self.codes or is_rewritten(f) or is_ours(f.__code__)
        module = getattr(f, "__module__", None) or ""
        if (isinstance(f, FunctionType) and is_ours(f.__code__)) or module.startswith("jitad."):
            return True
        if f"{type(f).__module__}.{type(f).__qualname__}" in (_OPERATOR, _COMPILED):
            return True
        owner = getattr(f, "__self__", None)
        if owner is not None and type(owner) in (*_PLAIN, tuple, list, dict, range):
            return True
        if module == "builtins" and isinstance(f, (type, BuiltinFunctionType)):
            return f.__name__ not in _SEEING
        computes = module.partition(".")[0].lstrip("_") in _COMPUTING
        functions = (type, FunctionType, BuiltinFunctionType)
        return (computes and isinstance(f, functions)) or implementation(f) is not None


# Libraries of which all that a trace may run gives the same for the same arguments.
_COMPUTING = frozenset((
    "math", "cmath", "operator", "itertools", "functools", "collections", "statistics", "bisect",
    "heapq", "copy", "dataclasses", "fractions", "numbers", "string", "re", "typing", "enum",
    "numpy", "scipy",
))  # fmt: skip


def source(f: FunctionType) -> Iterator[str]:
    """The text that a function was made from, and where it stands: messages say both."""
    code = f.__code__
    ends = [line for c in nested_codes(code) for *_, line in c.co_lines() if line is not None]
    lines = linecache.getlines(code.co_filename, f.__globals__)
    text = lines[code.co_firstlineno - 1 : max(ends)]
    if not text:
        raise Unstated("a function without source")
    yield f"{code.co_filename} {code.co_firstlineno}"
    yield from text


def content(code: CodeType) -> Iterator[str]:
    """What a code object does; `marshal` would tell equal ones apart."""
    yield f"{code.co_name} {code.co_qualname} {code.co_flags} {code.co_firstlineno}"
    yield f"{code.co_argcount} {code.co_posonlyargcount} {code.co_kwonlyargcount}"
    yield f"{code.co_names} {code.co_varnames} {code.co_freevars} {code.co_cellvars}"
    yield code.co_code.hex()
    yield code.co_linetable.hex()
    yield code.co_exceptiontable.hex()
    yield from map(_constant, code.co_consts)


def _constant(value: Any) -> str:
    if isinstance(value, CodeType):
        return f"code {value.co_name}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_constant, value))})"
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(_constant, value)))}}}"
    if type(value) not in _PLAIN:
        raise Unstated("a constant")
    return f"{type(value).__name__} {value!r}"


def _is_librarys(value: Any) -> bool:
    """Is it a function or class of a library, and no object that somebody has made?"""
    if isinstance(value, (type, FunctionType, BuiltinFunctionType, type(np.sum))):
        module = sys.modules.get(value.__module__ or "")
        found: Any = module
        for name in value.__qualname__.split("."):  # what closes over something has no such name
            found = getattr(found, name, None)
        return module is not None and found is value and _is_library(module)
    if isinstance(value, np.ufunc):  # which knows nothing of its module
        modules = (np, sys.modules.get("scipy.special"))
        if any(getattr(m, value.__name__, None) is value for m in modules):
            return True
    from jitad.values.registry import implementation  # which knows the others

    return implementation(value) is not None and "__self__" not in dir(value)


def _is_library(module: ModuleType) -> bool:
    return is_library_module(module) or module.__name__.partition(".")[0] == "jitad"


def _place(function: Any, path: Path) -> tuple[Any, ...]:
    """Which place a path leads to, whichever path that is."""
    *before, (kind, key) = path.steps
    owner = Path(path.root, tuple(before)).get(function)
    match kind:
        case "global":
            return id(owner.__globals__), "global", key
        case "cell":
            return id(cell_of(owner, key)), "cell", None
    return id(owner), kind, key
