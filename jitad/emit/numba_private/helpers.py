"""What becomes of functions that Numba compiles because a kernel calls them?

They are linked into the kernel, where they are inlined and optimised with it.  Numba would first
run all of LLVM over each by itself, generate its machine code and a wrapper for calls from Python,
and nobody would call them.  Here that is left until somebody does.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from numba.core import codegen, cpu, dispatcher, typed_passes

from jitad.emit.numba_private.layout import LAYOUT_IS_KNOWN
from jitad.emit.numba_private.lowering import KernelLibrary, KernelLowering
from jitad.emit.numba_private.ways import executable as by_ways


class HelperLibrary(codegen.JITCodeLibrary):
    """Code to be linked into other code; it is machine code only once that is asked for."""

    _linked_only = False

    def _optimize_final_module(self) -> None:
        """Done where it is linked to."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = self._linked_only = True

    def get_pointer_to_function(self, name: str) -> Any:
        self._ensure_finalized()
        if self._linked_only:
            self._linked_only = False
            super()._optimize_final_module()
            super()._finalize_final_module()
        return super().get_pointer_to_function(name)


class _FromPython:
    """What a helper's dispatcher calls for Python: a dispatcher of its own, for just that."""

    def __init__(self, keep: Any) -> None:
        self._keep = keep  # the environment, which Numba knows by a weak reference only
        self.dispatcher: Any = None

    @cached_property
    def own(self) -> Any:
        of = self.dispatcher
        options = {k: v for k, v in of.targetoptions.items() if k != "no_cpython_wrapper"}
        return type(of)(of.py_func, of.locals, options, of._compiler.pipeline_class)

    def __call__(self, *args: Any) -> Any:
        return self.own(*args)


def _is_ours(module: str) -> bool:
    """Is it a helper of jitad's or Numba's own?  Others are called from Python as well."""
    return module.startswith(("jitad.", "numba."))


@contextmanager
def linked() -> Iterator[None]:
    """Compile what a kernel calls for being linked to.  Runs under Numba's compiler lock."""
    generator, lowering = codegen.Codegen, typed_passes.BaseNativeLowering
    context, base = cpu.CPUContext, dispatcher._DispatcherBase
    create, lower = generator.create_library, lowering.run_pass
    executable, add = context.get_executable, base.add_overload

    def create_library(self: Any, name: str, **options: Any) -> Any:
        return HelperLibrary(self, name, **options)

    def run_pass(self: Any, state: Any) -> bool:
        if not isinstance(self, KernelLowering) and _is_ours(state.func_id.modname):
            state.flags.no_cpython_wrapper = state.flags.no_cfunc_wrapper = True
        return lower(self, state)

    def get_executable(self: Any, library: Any, fndesc: Any, env: Any) -> Any:
        if isinstance(library, KernelLibrary) and LAYOUT_IS_KNOWN:
            library._ensure_finalized()
            return by_ways(self, library, fndesc, env) if library.is_entered else _FromPython(env)
        if not (isinstance(library, HelperLibrary) and _is_ours(fndesc.modname)):
            return executable(self, library, fndesc, env)
        library._ensure_finalized()
        name = self.get_env_name(fndesc)
        if str(library._final_module).count(name) > 1:  # its code asks for what it holds
            library.get_pointer_to_function(fndesc.llvm_func_name)
            library.codegen.set_env(name, env)
        return _FromPython(env)

    def add_overload(self: Any, made: Any) -> None:
        if isinstance(made.entry_point, _FromPython):
            made.entry_point.dispatcher = self
            self.overloads[tuple(made.signature.args)] = made
        else:
            add(self, made)

    generator.create_library, lowering.run_pass = create_library, run_pass
    context.get_executable = get_executable
    base.add_overload = add_overload  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        generator.create_library, lowering.run_pass = create, lower
        context.get_executable = executable
        base.add_overload = add  # type: ignore[method-assign]
