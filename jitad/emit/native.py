"""How does emitted source text become fast native code, without compiling the same text twice?

`compile(source, name)` gives a Numba dispatcher.  The text is kept as a file under a name made
from its content, so that tracebacks and debuggers show it, and so are the compiled objects, in

    $JITAD_CACHE_DIR (empty: nothing is kept), else the user's cache folder, else one in temp.

The key of a compiled object is the content of everything that it is made from: the source, the
preamble with all that it may use, the versions of the tools, the processor.  No paths, no times.
Where nothing can be written, kernels are compiled in memory and nothing else changes; what is in a
folder that was chosen is found all the same.
"""

from __future__ import annotations

import builtins
import hashlib
import importlib
import linecache
import os
import re
import sys
import threading
from collections.abc import Callable, Sequence
from functools import cache
from types import ModuleType
from typing import Any

import numba
import numpy as np

from jitad.emit import cachefiles, numba_private
from jitad.emit.capi import address
from jitad.emit.libraries import MODULES, libm
from jitad.emit.numba_private import IN_CELL, ITSELF, NOT_THERE, Form, Relied
from jitad.emit.pages import keep_what_is_freed
from jitad.emit.surroundings import surroundings
from jitad.tape.ir import Var
from jitad.tape.types import Array, Scalar

__all__ = [
    "IN_CELL", "ITSELF", "NOT_THERE", "Form", "Relied", "address", "call", "compile", "direct",
    "shortcut",
]  # fmt: skip

_DEFINITION = re.compile(r"^def (\w+)\(", re.MULTILINE)
_IMPORT = re.compile(r"^from jitad\.emit\.preamble import (\([^)]*\)|[^\n]*)$", re.MULTILINE)
_HEAD = re.compile(r"^def (\w+)\(([\w, ]*)\):(?:  #[^\n]*)?\n", re.MULTILINE)

_loaded: dict[str, Any] = {}
_lock = threading.RLock()


def _new_lock() -> None:
    """A child must not wait for a thread that it doesn't have."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)


def compile(source: str, name: str, brief: int = -1) -> Any:
    """A Numba dispatcher of the function `name` in this module text; equal texts share one.

    `brief`: with up to so many elements in its arguments it keeps Python's lock.
    """
    key = hashlib.sha256(f"{surroundings()}\n{name}\n{brief}\n{source}".encode()).hexdigest()
    with _lock:
        if key not in _loaded:
            keep_what_is_freed()
            _loaded[key] = _compile(source, name, key, brief)
        return _loaded[key]


def _compile(source: str, name: str, key: str, brief: int) -> Any:
    # The module's name is part of every symbol that Numba makes: equal symbols, equal content.
    module_name = f"jitad_{re.sub(r'[^0-9A-Za-z_]', '_', name)}_{key[:16]}"
    folder = cachefiles.folder()
    file = f"<{module_name}>"
    if folder is not None:
        path = folder / f"{module_name}.py"
        if cachefiles.read(path) == source.encode() or cachefiles.write(path, source.encode()):
            file = str(path)
    # for tracebacks, even where there is no file; no time: never checked against the disk
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    module = ModuleType(module_name)
    module.__file__ = file
    sys.modules[module_name] = module  # cached code finds its module by name
    module.__dict__[numba_private.BRIEF] = brief
    run = _headed(source, name)
    run, later = (source, "") if run is None else _without_imports(run)
    exec(builtins.compile(run, file, "exec"), module.__dict__)
    if run is not source:
        module.__dict__[numba_private.IN_FULL] = cache(lambda: _in_full(source, file, module, name))
    imported = cache(lambda: exec(later, module.__dict__))
    objects = numba_private.ContentCache(folder, module_name, imported)
    for other in _DEFINITION.findall(source):
        made = numba_private.dispatcher(getattr(module, other), objects if other == name else None)
        setattr(module, other, made)  # what a call finds
    return getattr(module, name)


def _headed(source: str, name: str) -> str | None:
    """The source with no more than the head of its function; None if it has others, or recurs.

    Machine code is made of the text, or found on disk.  Bytecode for thousands of lines, which
    nobody runs, would take longer than the latter.
    """
    head = _HEAD.search(source)
    if head is None or head[1] != name or len(_DEFINITION.findall(source)) > 1:
        return None
    if len(re.findall(rf"\b{name}\(", source)) > 1:
        return None
    return f"{source[: head.end()]}    return {numba_private.IN_FULL}()({head[2]})\n"


def _without_imports(head: str) -> tuple[str, str]:
    """The same without what it takes from the preamble, if code on disk can do without, and that.

    It can where all that it calls is there without, or is handed out by a module of these.
    """
    found = list(_IMPORT.finditer(head))
    names = {name for m in found for name in re.findall(r"\w+", m[1])}
    if not names <= _LINKED | MODULES.keys():
        return head, ""
    for module in {MODULES[name] for name in names & MODULES.keys()}:
        importlib.import_module(f"jitad.emit.libraries.{module}")
    rest = _IMPORT.sub(lambda m: "\n" * m[0].count("\n"), head)  # lines keep their numbers
    return rest, "\n".join(m[0] for m in found)


# Names of the preamble that become instructions, and functions of the C library or Numba's.
_LINKED = frozenset((
    "abs", "accum", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "bool_", "cbrt",
    "ceil", "copysign", "cos", "cosh", "deep", "empty", "erf", "erfc", "exp", "exp2", "expit",
    "expm1", "fadd", "float32", "float64", "floor", "fmax", "fmin", "fmod", "gamma", "grown",
    "handed", "highest", "hypot", "inf", "inside", "int32", "int64", "isfinite", "isinf", "isnan",
    "load", "local", "log", "log10", "log1p", "log2", "logaddexp", "lowest", "maximum", "minimum",
    "nan", "opaque", "plus", "pow", "product_fits", "quotient", "reciprocal", "rescale", "rint",
    "room", "row_of", "run_of", "sech2", "sign", "sin", "sinh", "sqrt", "square", "store", "tan",
    "tanh", "touched", "trunc", "unit", "unsigned", "where", "zeros",
    *(("lgamma",) if libm.available("lgamma_r") else ()),
))  # fmt: skip


def _in_full(source: str, file: str, module: ModuleType, name: str) -> Any:
    """The function as it is written, for whoever does run its bytecode."""
    space = dict(module.__dict__)
    exec(builtins.compile(source, file, "exec"), space)
    return space[name]


def direct(dispatcher: Any, params: Sequence[Var]) -> Any:
    """A quick way into a kernel for arguments of exactly these types, if it is compiled for them.

    Arrays are NumPy's own class, C-contiguous, aligned and writable; floats and NumPy's are not
    told apart.  What it gives for anything else is NotImplemented.
    """
    return numba_private.direct(dispatcher, _signature(params))


def shortcut(
    dispatcher: Any, params: Sequence[Var], relied: Relied, general: Callable[..., Any],
    misses: tuple[type[BaseException], ...], form: Form, into: Form,
    whole: tuple[Any, ...] | None = None,
) -> Any:  # fmt: skip
    """A builtin function that does all of a call, while `relied` holds: see `numba_private`."""
    sure = relied, general, misses, form, into, whole
    return numba_private.shortcut(dispatcher, _signature(params), *sure)


def call(dispatcher: Any, params: Sequence[Var], values: Sequence[Any]) -> Any:
    """What a kernel gives for these arguments; compiled for them, if it wasn't yet.

    Where they are of the kinds that `direct` takes, the types are those of the tape: Numba, which
    imports `numpy.ma` to find out, isn't asked.
    """
    if hasattr(dispatcher, "overloads") and all(map(_is_usual, values, params)):
        dispatcher.compile(_signature(params))
        way = direct(dispatcher, params)
        out = way(*values) if way is not None else NotImplemented
        if out is not NotImplemented:
            return out
    return dispatcher(*values)


def _is_usual(value: Any, v: Var) -> bool:
    """Is it of a kind that `direct` takes for this parameter?"""
    if isinstance(v.type, Array):
        return (type(value) is np.ndarray and value.flags.carray and value.ndim == v.type.ndim
                and value.dtype == v.type.dtype and v.type.dtype[0] in "fiu")  # fmt: skip
    kinds = {"f8": (float, np.float64), "i8": (int,), "b1": (bool,)}
    assert isinstance(v.type, Scalar)
    usual = type(value) in kinds.get(v.type.dtype, ())
    return usual and (type(value) is not int or -(2**63) <= value < 2**63)


def _signature(params: Sequence[Var]) -> tuple[Any, ...]:
    """What Numba calls the types of plain arguments for these parameters."""
    kinds = []
    for v in params:
        assert isinstance(v.type, (Array, Scalar))
        element = numba.from_dtype(np.dtype(v.type.dtype))
        kinds.append(numba.types.Array(element, v.type.ndim, "C") if isinstance(v.type, Array)
                     else element)  # fmt: skip
    return tuple(kinds)


def vector_widths(dispatcher: Any) -> dict[int, int]:
    """How many lanes the vectors have in loops of a compiled kernel, by the line of its source."""
    return numba_private.vector_widths(dispatcher)
