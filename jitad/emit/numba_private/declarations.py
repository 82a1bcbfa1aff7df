"""What is LLVM told about functions and operations that are not the kernel's own?

External functions, functions that Numba learns, flags, the machine that code is generated for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite
import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import codegen, config, imputils
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import lower_builtin


class Attributes(ir.values.FunctionAttributes):
    """Function attributes as text: llvmlite's set knows no string attributes."""

    def __init__(self, texts: list[str]) -> None:
        super().__init__()
        self._texts = texts

    def __bool__(self) -> bool:
        return True  # an empty set would not be printed

    def _to_list(self, ret_type: ir.Type) -> list[str]:
        return super()._to_list(ret_type) + self._texts


# of functions without any effect that may also be called where the program does not
PURE = ("nounwind", "willreturn", "nosync", "speculatable", "memory(none)")


def declare(
    module: ir.Module, type: ir.FunctionType, name: str, attributes: tuple[str, ...] = PURE
) -> ir.Function:
    """An external function, declared once a module."""
    if name not in module.globals:
        ir.Function(module, type, name).attributes = Attributes(list(attributes))
    return module.globals[name]


def keep(value: Any) -> None:
    """Append a global to `llvm.compiler.used`: the optimiser won't drop it."""
    module, name = value.parent, "llvm.compiler.used"
    kept = [value.bitcast(ir.IntType(8).as_pointer())]
    used = module.globals.get(name)
    if used is None:
        used = ir.GlobalVariable(module, ir.ArrayType(kept[0].type, 1), name)
        used.linkage = "appending"
        used.section = "llvm.metadata"
    else:
        kept = [*used.initializer.constant, *kept]
    used.value_type = ir.ArrayType(kept[0].type, len(kept))
    used.type = used.value_type.as_pointer()
    used.initializer = ir.Constant(used.value_type, kept)


def host_features() -> frozenset[str]:
    """Names of the instruction sets that Numba generates code for."""
    text = _features()
    return frozenset(f[1:] for f in text.split(",") if f.startswith("+"))


def host() -> tuple[str, str, str]:
    """What the generated code depends on: triple, CPU name, CPU features."""
    return llvm.get_process_triple(), config.CPU_NAME or llvm.get_host_cpu_name(), _features()


def _features() -> str:
    return config.CPU_FEATURES if config.CPU_FEATURES is not None else (
        codegen.get_host_cpu_features()
    )


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
lower_constant = imputils.lower_constant


def settings() -> list[str]:
    """Environment settings of Numba that change the code which it generates."""
    names = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "CPU_NAME", "CPU_FEATURES",
             "DEBUGINFO_DEFAULT", "LLVM_REFPRUNE_PASS", "DISABLE_INTEL_SVML")  # fmt: skip
    return [f"{name}={getattr(config, name, None)}" for name in names]


# Flags of floating point operations.  `contract` is given to all operations without flags of their
# own (a product and a sum that both have it may be fused); so a sum that must not have it has a
# flag instead that means nothing to it: `afn` speaks of library functions.
FUSED = {"contract"}
ROUNDED = ("afn",)
ANY_ORDER = ("reassoc", "contract")


@contextmanager
def addresses_as_written() -> Iterator[None]:
    """Generate code without LLVM's search for cheaper addresses in loops.

    It takes up to half of the time of generating code, and kernels are as fast without: what they
    index is affine in the counters, and processors add and scale in an address for nothing.  Runs
    under Numba's compiler lock: the option is everybody's.
    """
    # an option that is not known ends the process
    known = llvm.llvm_version_info[0] in _WITH_STRENGTH_REDUCTION
    if known:
        llvm.set_option("jitad", "-disable-lsr=true")
    try:
        yield
    finally:
        if known:
            llvm.set_option("jitad", "-disable-lsr=false")


_WITH_STRENGTH_REDUCTION = range(15, 23)  # versions of LLVM that have the option
