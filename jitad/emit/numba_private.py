"""Where does jitad touch names of Numba and llvmlite that are not public?  Only here.

Written against Numba 0.68 and llvmlite 0.50.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm
from llvmlite import ir
from numba import njit, types
from numba.core import caching, codegen, compiler, config, serialize, sigutils
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import lower_builtin

from jitad.emit import store


class _Attributes(ir.values.FunctionAttributes):
    """Function attributes as text: llvmlite's set knows no string attributes."""

    def __init__(self, texts: list[str]) -> None:
        super().__init__()
        self._texts = texts

    def __bool__(self) -> bool:
        return True  # an empty set would not be printed

    def _to_list(self, ret_type: ir.Type) -> list[str]:
        return super()._to_list(ret_type) + self._texts


def set_attributes(function: ir.Function, texts: list[str]) -> None:
    function.attributes = _Attributes(texts)


def host_features() -> frozenset[str]:
    """Names of the instruction sets that Numba generates code for."""
    text = codegen.get_host_cpu_features()
    return frozenset(f[1:] for f in text.split(",") if f.startswith("+"))


def host() -> tuple[str, str, str]:
    """What the generated code depends on: triple, CPU name, CPU features."""
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), codegen.get_host_cpu_features()


def define(
    function: Any, typer: Callable[..., Any], lower: Callable[[Any, Any, Any, Any], Any]
) -> None:
    """Make a Python function known to Numba: `typer(*types)` gives a signature or None.

    What `numba.extending.type_callable` does, without its `inspect.signature` at every call.
    """

    class Template(AbstractTemplate):
        key = function

        def generic(self, args: Any, kws: Any) -> Any:
            return None if kws else typer(*args)

    Template.__name__ = f"{function.__name__}_template"
    infer_global(function)(Template)
    lower_builtin(function, types.VarArg(types.Any))(lower)


LLVMLITE = llvmlite.__version__


def settings() -> list[str]:
    """Environment settings of Numba that change the code which it generates."""
    names = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "CPU_NAME", "CPU_FEATURES",
             "DEBUGINFO_DEFAULT", "LLVM_REFPRUNE_PASS", "DISABLE_INTEL_SVML")  # fmt: skip
    return [f"{name}={getattr(config, name, None)}" for name in names]


class ContentCache(caching._Cache):
    """Numba's cache protocol over one sealed file for each (module, argument types).

    The module's name carries the key of its content; so a file is never stale, needs no index
    and is written once.
    """

    def __init__(self, folder: Path | None, module: str) -> None:
        self._folder, self._module = folder, module
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
        if not self._on:
            return None
        content = store.unseal(store.read(self._file(sig)))
        if content is None:
            return None
        target_context.refresh()
        try:
            return compiler.CompileResult._rebuild(target_context, *pickle.loads(content))
        except Exception:  # whatever is wrong with it, compiling again is right
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if not self._on or data.lifted or data.library.has_dynamic_globals:
            return
        store.write(self._file(sig), store.seal(serialize.dumps(data._reduce())))


def dispatcher(function: Any, cache: ContentCache) -> Any:
    """Numba's dispatcher with the options that kernels are compiled with."""
    out = njit(nogil=True, error_model="numpy", boundscheck=False)(function)
    if hasattr(out, "_cache"):  # a plain function where Numba is switched off
        out._cache = cache
    return out
