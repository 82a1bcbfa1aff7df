"""How does Numba find the machine code of a kernel on disk?"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from numba.core import caching, compiler, serialize, sigutils
from numba.core.runtime import nrt

from jitad.emit import cachefiles
from jitad.emit.numba_private.ways import entered_by_ways, keep


class ContentCache(caching._Cache):
    """Numba's cache protocol over one sealed file for each (module, argument types).

    The module's name carries the key of its content; so a file is never stale, needs no index
    and is written once.
    """

    def __init__(self, folder: Path | None, module: str, missed: Callable[[], None]) -> None:
        self._folder, self._module, self._missed = folder, module, missed
        self._on = folder is not None

    @property
    def cache_path(self) -> str:
        return str(self._folder)

    def enable(self) -> None:
        self._on = self._folder is not None

    def disable(self) -> None:
        self._on = False

    def flush(self) -> None:
        """Nothing is out of date here."""

    def _file(self, sig: Any) -> Path:
        assert self._folder is not None
        argument_types, _ = sigutils.normalize_signature(sig)
        name = hashlib.sha256(repr(argument_types).encode()).hexdigest()[:16]
        return self._folder / f"{self._module}-{name}.bin"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = self._found(sig, target_context)
        if found is None:
            self._missed()  # Numba compiles it now
        return found

    def _found(self, sig: Any, target_context: Any) -> Any:
        if not self._on:
            return None
        content = cachefiles.unseal(cachefiles.read(self._file(sig)))
        if content is None:
            return None
        _prepare(target_context)  # all that code needs to run; a refresh is slow
        try:
            with entered_by_ways():
                return compiler.CompileResult._rebuild(target_context, *pickle.loads(content))
        except Exception:  # whatever is wrong with it, compiling again is right
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if not self._on or data.lifted or data.library.has_dynamic_globals:
            return
        # Functions that call each other are linked by the process that compiles them only.
        if b".numba.unresolved$" in data.library._get_compiled_object():
            return
        assert self._folder is not None
        keep(data.fndesc, self._folder)
        cachefiles.write(self._file(sig), cachefiles.seal(serialize.dumps(data._reduce())))


@cache
def _prepare(target_context: Any) -> None:
    """Let loaded code find the functions that Numba's runtime has in C.

    Those that Numba compiles for its runtime are part of the code that was kept.  So they are left
    until something is compiled, which asks for them: that takes as long as all the rest of loading.
    """
    if nrt.config.NRT_STATS:
        nrt.rtsys.initialize(target_context)
        return
    for name, address in nrt._nrt.c_helpers.items():
        llvm.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)
