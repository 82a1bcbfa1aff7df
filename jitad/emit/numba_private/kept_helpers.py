"""Which helpers need no typing and no lowering, since an earlier process has done it?

Numba takes a fifth of a second for the helpers of one `solve`.  What a kernel's source calls is
kept on disk as LLVM's code, with all that it calls in turn, and is linked into the kernel like code
that was just made.  It has a name made of the key, and all else in it, but Numba's runtime, is
nobody else's (`internal`): Numba's names count what was compiled in one process, and equal ones are
equal code there only.

The key is all that a helper is made from: what the machine code of kernels is made from, too
(`surroundings`), its code and what it closes over, its options and those of its caller, the types
of the arguments.  What can't be told by its content is not kept.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.core import caching, compiler, dispatcher, serialize, sigutils, targetconfig, types

from jitad.emit import cachefiles


class _Untold(Exception):
    """It is not what its content says."""


class HelperCache(caching.NullCache):
    """Numba's cache protocol for one helper."""

    def __init__(self, of: Any, folder: Path, outermost: bool) -> None:
        self._of, self._folder, self._outermost = of, folder, outermost

    def _key(self, sig: Any) -> str | None:
        from jitad.emit.surroundings import surroundings  # which asks here first

        given, _ = sigutils.normalize_signature(sig)
        flags = targetconfig.ConfigStack.top_or_none()
        try:
            parts = [surroundings(), *_told(self._of.py_func), *map(_type, given)]
            parts.append(repr(sorted(self._of.targetoptions.items(), key=lambda i: i[0])))
        except _Untold:
            return None
        parts.append("" if flags is None else flags.summary())
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]

    def _file(self, key: str) -> Path:
        return self._folder / f"jitad_helper_{key}.bin"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        key = self._key(sig)
        content = key and cachefiles.unseal(cachefiles.read(self._file(key)))
        if not content:
            return None
        try:
            return compiler.CompileResult._rebuild(target_context, *pickle.loads(content))
        except Exception:  # whatever is wrong with it, compiling again is right
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        key = self._key(sig) if self._outermost else None
        library = data.library
        if key is None or data.lifted or data.reload_init or library.has_dynamic_globals:
            return
        if not _by_itself(library, data.fndesc, f"jitad_helper_{key}"):
            return
        fndesc, typemap, calltypes = data.fndesc, data.fndesc.typemap, data.fndesc.calltypes
        fndesc.typemap = fndesc.calltypes = None
        parts = (library.serialize_using_bitcode(), fndesc, data.environment, data.signature,
                 data.objectmode, (), "", (), ())  # fmt: skip
        try:
            content = serialize.dumps(parts)
        except (TypeError, AttributeError, pickle.PicklingError):  # of something it refers to
            return
        finally:
            fndesc.typemap, fndesc.calltypes = typemap, calltypes
        cachefiles.write(self._file(key), cachefiles.seal(content))


def _by_itself(library: Any, fndesc: Any, name: str) -> bool:
    """Rename the helper, and let nobody else share what it consists of, if that can be done."""
    module, old = library._final_module, fndesc.llvm_func_name
    text = str(module)
    if ".numba.unresolved$" in text:
        return False
    for g in module.global_variables:
        if g.name.startswith("_ZN08NumbaEnv") and text.count(g.name) > 1:
            return False  # it asks for what it holds of Python
    for f in module.functions:
        if f.name == old:
            f.name, f.linkage = name, "linkonce_odr"
        elif not f.is_declaration and not f.name.startswith("NRT_"):
            f.linkage = "internal"
    fndesc.mangled_name = name
    return True


def _told(thing: Any) -> Iterator[str]:
    """A constant, function or module, by content."""
    match thing:
        case dispatcher.Dispatcher():
            yield repr(sorted(thing.targetoptions.items(), key=lambda i: i[0]))
            yield from _told(thing.py_func)
        case FunctionType():
            yield f"{thing.__module__}.{thing.__qualname__}"
            yield from _told(thing.__code__)
            for x in (*(thing.__defaults__ or ()), *(thing.__kwdefaults__ or {}).items()):
                yield from _told(x)
            for cell in thing.__closure__ or ():
                yield from _told(cell.cell_contents)
        case CodeType():
            yield repr((thing.co_code.hex(), thing.co_names, thing.co_varnames, thing.co_freevars))
            yield from _told(thing.co_consts)
        case tuple():
            yield f"{len(thing)}"
            for x in thing:
                yield from _told(x)
        case bool() | int() | float() | complex() | str() | bytes() | None | np.generic():
            yield f"{type(thing)} {thing!r}"
        case ModuleType():
            yield thing.__name__
        case type():
            yield f"{thing.__module__}.{thing.__qualname__}"
        case types.Type():
            yield _type(thing)
        case np.dtype():
            yield thing.str
        case _:
            raise _Untold


def _type(kind: Any) -> str:
    """By its name, if there is no address in that."""
    name = repr(kind)
    if " at 0x" in name:
        raise _Untold
    return name


@contextmanager
def kept() -> Iterator[None]:
    """Look for helpers on disk, and keep those that a kernel calls itself.  Runs under Numba's
    compiler lock."""
    folder = cachefiles.folder()
    if folder is None:
        yield
        return
    compile_, depth = dispatcher.Dispatcher.compile, 0

    def compile(self: Any, sig: Any) -> Any:
        nonlocal depth
        ours = self.py_func.__module__.startswith("jitad.emit.")  # which `surroundings` knows
        before = self._cache
        if ours and type(before) is caching.NullCache:
            self._cache = HelperCache(self, folder, not depth)
        depth += 1
        try:
            return compile_(self, sig)
        finally:
            depth -= 1
            self._cache = before

    dispatcher.Dispatcher.compile = compile  # type: ignore[method-assign]
    try:
        yield
    finally:
        dispatcher.Dispatcher.compile = compile_  # type: ignore[method-assign]
