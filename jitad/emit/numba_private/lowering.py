"""How does a function become LLVM code: from Numba's intermediate form, or from its source?"""

from __future__ import annotations

import ast
import linecache
from collections import Counter
from functools import cache, cached_property
from typing import Any

from llvmlite import binding
from numba import types
from numba.core import (
    cgutils,
    codegen,
    compiler_machinery,
    config,
    lowering,
    typed_passes,
)
from numba.core import ir as numba_ir
from numba.cpython import numbers

from jitad.emit.numba_private.arrays import reach
from jitad.emit.numba_private.body import Body
from jitad.emit.numba_private.declarations import addresses_as_written
from jitad.emit.numba_private.layout import LAYOUT_IS_KNOWN
from jitad.emit.numba_private.plan import can_be_direct, write_by_words
from jitad.emit.numba_private.straight import is_interrupted, straight_functions
from jitad.emit.numba_private.unrolling import is_long


class Untranslated:
    """What Numba's lowering asks of a function's intermediate form, where there is none."""

    generator_info = None

    def __init__(self, func_id: Any) -> None:
        self.func_id, self.arg_names = func_id, func_id.arg_names
        self.blocks = {0: None}
        self.loc = numba_ir.Loc(func_id.filename, func_id.firstlineno)


class Lower(lowering.Lower):
    """Numba's lowering, but for elements and parameters.

    Kernels have no negative indices.  Numba adds the extent to an index below zero, at run time.
    LLVM does not always see that a counter is never one, and a loop in which it does not is not
    vectorised.

    A parameter that keeps its value is the caller's, who holds it during the call.  Numba counts it
    up and down all the same, which LLVM does not always take away: in a recursion that costs more
    than the rest.

    Integers wrap.  Numba promises LLVM that they don't, and checks of overflow are none to it then.
    """

    def lower_function_body(self) -> Any:
        promise = numbers._int_arith_flags
        numbers._int_arith_flags = lambda kind: []  # under Numba's compiler lock
        try:
            return super().lower_function_body()
        finally:
            numbers._int_arith_flags = promise

    def lower_normal_function(self, fndesc: Any) -> None:
        super().lower_normal_function(fndesc)
        self.write_way()

    def write_way(self) -> None:
        """Python comes by a way that kernels share, if objects can be read."""
        if can_be_direct(self.fndesc.argtypes) and not self.flags.no_cpython_wrapper:
            write_by_words(self.function)

    @cached_property
    def _borrowed(self) -> frozenset[str]:
        """Names that stand for one parameter all the time."""
        made = [s for b in self.blocks.values() for s in b.find_insts(numba_ir.Assign)]
        times = Counter(s.target.name for s in made)
        return frozenset(
            s.target.name for s in made
            if isinstance(s.value, numba_ir.Arg) and times[s.target.name] == 1
        )  # fmt: skip

    def lower_assign(self, ty: Any, inst: Any) -> Any:
        value = inst.value
        if not (isinstance(value, numba_ir.Arg) and inst.target.name in self._borrowed):
            return super().lower_assign(ty, inst)
        kind = self.typeof(f"arg.{value.name}")
        return self.context.cast(self.builder, self.fnargs[value.index], kind, ty)

    def delvar(self, name: str) -> None:
        if name not in self._borrowed:
            super().delvar(name)

    def _place(self, a: Any, index: Any, var: Any) -> list[Any] | None:
        """The indices of one element of a plain array; None for everything else."""
        kinds = [index] if isinstance(index, types.Integer) else list(
            index if isinstance(index, types.BaseTuple) else ()
        )  # fmt: skip
        if not (isinstance(a, types.Array) and len(kinds) == a.ndim > 0):
            return None
        if not isinstance(a.dtype, (types.Number, types.Boolean)):
            return None
        if not all(isinstance(k, types.Integer) for k in kinds):
            return None
        value = self.context.cast(self.builder, self.loadvar(var.name), self.typeof(var.name),
                                  index)  # fmt: skip
        parts = [value] if isinstance(index, types.Integer) else cgutils.unpack_tuple(
            self.builder, value
        )  # fmt: skip
        return [
            self.context.cast(self.builder, v, k, types.intp)
            for v, k in zip(parts, kinds, strict=True)
        ]

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        a, at = signature.args
        place = self._place(a, at, index)
        if place is None or a != self.typeof(value.name):
            return super().lower_getitem(resty, expr, value, index, signature)
        pointer, align = reach(self.context, self.builder, a, self.loadvar(value.name), place)
        out = self.context.unpack_value(self.builder, a.dtype, pointer, align)
        return self.context.cast(self.builder, out, a.dtype, resty)

    def lower_setitem(self, target: Any, index: Any, value: Any, signature: Any) -> Any:
        a, at, _ = signature.args
        place = self._place(a, at, index)
        if place is None or a != self.typeof(target.name):
            return super().lower_setitem(target, index, value, signature)
        pointer, align = reach(self.context, self.builder, a, self.loadvar(target.name), place)
        element = self.context.cast(
            self.builder, self.loadvar(value.name), self.typeof(value.name), a.dtype
        )
        self.context.pack_value(self.builder, a.dtype, element, pointer, align)
        return None

    def create_cpython_wrapper(self, release_gil: bool = False) -> None:
        """The way is one that kernels share: see `ways`."""
        if LAYOUT_IS_KNOWN:
            self.library.is_entered = True
        else:
            super().create_cpython_wrapper(release_gil)


class KernelLibrary(codegen.JITCodeLibrary):
    """Code of a kernel, or of a function beside it."""

    is_entered = False  # from Python?

    def _finalize_specific(self) -> None:
        with addresses_as_written():
            super()._finalize_specific()


@compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(typed_passes.NativeLowering):
    _name = "kernel_lowering"

    @property
    def lowering_class(self) -> Any:
        return Lower

    def run_pass(self, state: Any) -> bool:
        if state.library is None:  # which is called from Python, as helpers are not
            name = state.func_id.func_qualname
            state.library = KernelLibrary(state.targetctx.codegen(), name)
            state.library.enable_object_caching()
        return super().run_pass(state)


class FromSourceLibrary(KernelLibrary):
    """Code that was not made from bytecode, where a variable is memory."""

    is_long = False  # see `unrolling`
    straight: frozenset[str] = frozenset()  # its functions, if they are
    is_interrupted = False

    def is_straight(self) -> bool:
        """Does the code go one way, and has nothing else been linked to it?"""
        return bool(self.straight) and all(
            f.is_declaration or f.name in self.straight or f.name.startswith("NRT_")
            for f in self._final_module.functions
        )

    def _finalize_specific(self) -> None:
        if not self.is_straight():
            return super()._finalize_specific()
        # The same code in nine tenths of the time: what LLVM does besides is for loops.
        machine = _machine_of_straight_code(self.codegen, 0 if self.is_interrupted else 1)
        made = machine.emit_object(self._final_module)
        self._compiled_object = made  # which is taken, and forgotten
        super()._finalize_specific()
        self._compiled, self._compiled_object = True, made


@cache
def _machine_of_straight_code(code: Any, opt: int) -> Any:
    options: dict[str, Any] = {"opt": min(config.OPT, opt)}
    code._customize_tm_options(options)
    return binding.Target.from_triple(binding.get_process_triple()).create_target_machine(**options)


class LowerSource(Lower):
    """Writes a function's code by a walk over its source."""

    def init(self) -> None:
        """There are no variables to look at."""

    def lower_normal_function(self, fndesc: Any) -> None:
        from jitad.emit.translate import translate  # not needed for what is found on disk

        self.setup_function(fndesc)
        self.extract_function_arguments()
        self.pre_lower()
        function = self.func_ir.func_id.func
        found = _definitions(function)
        written = found[function.__name__]
        fndesc.restype = translate(written, function.__globals__, Body(self), found)
        self.write_way()
        self.library.is_long = is_long(self.module)
        self.library.straight = straight_functions(self.module)
        if self.library.straight:  # of other code nobody asks
            self.library.is_interrupted = is_interrupted(self.module)
        self.post_lower()


def _definitions(function: Any) -> dict[str, ast.FunctionDef]:
    """The functions in a function's file: itself, what it calls, and what its threads run."""
    tree = ast.parse("".join(linecache.getlines(function.__code__.co_filename)))
    return {s.name: s for s in tree.body if isinstance(s, ast.FunctionDef)}
