"""Which of Numba's passes compile a kernel, and what does Numba do once instead of many times?"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import Any

from llvmlite import binding
from numba import njit, types
from numba.core import (
    analysis,
    bytecode,
    codegen,
    compiler,
    compiler_machinery,
    config,
    errors,
    postproc,
    rewrites,
    transforms,
    typed_passes,
    untyped_passes,
)
from numba.core import ir as numba_ir

from jitad.emit.numba_private.declarations import FUSED
from jitad.emit.numba_private.disk import ContentCache
from jitad.emit.numba_private.helpers import linked
from jitad.emit.numba_private.kept_helpers import kept
from jitad.emit.numba_private.lowering import (
    FromSourceLibrary,
    KernelLowering,
    LowerSource,
    Untranslated,
)
from jitad.emit.numba_private.moved import may_have_moved
from jitad.emit.numba_private.registries import briefly, load_all
from jitad.emit.numba_private.texts import written_at_once
from jitad.emit.sides import MARK
from jitad.emit.undisturbed import undisturbed

IN_FULL = "__in_full__"  # global of a kernel: gives it with its bytecode


def dispatcher(function: Any, cache: ContentCache | None) -> Any:
    """Numba's dispatcher with the options that kernels are compiled with.

    Without a cache it is for functions that others link: those keep the machine code.
    """
    out = njit(
        nogil=True, error_model="numpy", boundscheck=False, no_cfunc_wrapper=True,
        fastmath=FUSED, pipeline_class=KernelCompiler,
    )(function)
    if cache is not None and hasattr(out, "_cache"):  # a plain function if Numba is off
        out._cache = cache
    return out



@contextmanager
def _remembering() -> Iterator[None]:
    """Type each operation on numbers once a process, not once an occurrence.

    Numba asks a dozen templates for the type of every `a * b`.  For numbers the answer depends on
    the operands' types alone.  Runs under Numba's compiler lock, so no other thread sees it.
    """
    slow = types.Function.get_call_type

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws or not all(isinstance(t, (types.Number, types.Boolean)) for t in args):
            return slow(self, context, args, kws)
        key = (self, args)
        if key not in _call_types:
            _call_types[key] = slow(self, context, args, kws)
        return _call_types[key]

    types.Function.get_call_type = get_call_type
    try:
        yield
    finally:
        types.Function.get_call_type = slow


_call_types: dict[tuple[Any, Any], Any] = {}


@contextmanager
def _brief() -> Iterator[None]:
    """Find the heads of functions once a source, not once a `raise`, line by line upwards.

    Numba wants the name of the function for each.  It also quotes the source in errors that it
    makes to catch them again: whether what is raised is a constant is found out in this way.  Runs
    under Numba's compiler lock.
    """
    quoted, searched = numba_ir.Loc.strformat, numba_ir.Loc._find_definition
    heads: dict[str, list[tuple[int, str]]] = {}

    def find(self: Any) -> str | None:
        if self.filename not in heads:
            heads[self.filename] = [
                (k, line) for k, line in enumerate(self.get_lines())
                if line.strip().startswith("def ")
            ]  # fmt: skip
        known = heads[self.filename]
        above = bisect.bisect_left(known, self.line - 1, key=lambda head: head[0])
        return known[above - 1][1] if above else None

    numba_ir.Loc.strformat = lambda self, nlines_up=2: str(self)
    numba_ir.Loc._find_definition = find
    try:
        yield
    finally:
        numba_ir.Loc.strformat, numba_ir.Loc._find_definition = quoted, searched


@contextmanager
def _optimising_once(sides: bool) -> Iterator[None]:
    """Run LLVM's pipeline over a module once.

    Numba runs it over each function as it comes, then over the module without and with all its
    passes.  A kernel is one function; to clean it up beforehand, as loops with branches need it to
    be vectorised, the short form of the pipeline will do, and what is translated from source is
    clean.  With `sides`, straight-line code is searched for vectors.  Runs under Numba's compiler
    lock.
    """
    library = codegen.CPUCodeLibrary
    functions, module = library._optimize_functions, library._optimize_final_module

    def cleaned(self: Any, made: Any) -> None:
        made.data_layout = self._codegen._data_layout
        if isinstance(self, FromSourceLibrary):
            return
        for function in made.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager(
                    opt=min(config.OPT, 1), loop_vectorize=False, slp_vectorize=False
                )
                passes.run(function, builder)

    def once(self: Any) -> None:
        # A kernel's functions are called from it alone, so their calling convention is nobody
        # else's: fields of arrays that they have no use for stay away, and what all calls share.
        for function in self._final_module.functions:
            if function.linkage.name == "linkonce_odr" and _OF_A_KERNEL.match(function.name):
                function.linkage = "internal"
        if not sides and isinstance(self, FromSourceLibrary) and self.is_straight():
            passes, builder = _of_straight_code(self)
            passes.run(self._final_module, builder)
            return
        before = self._final_module.as_bitcode()
        passes, builder = _of_a_module(self, sides)
        passes.run(self._final_module, builder)
        if may_have_moved(self._final_module):
            self._final_module = binding.parse_bitcode(before)
            passes, builder = _of_a_module(self, sides, vectors=False)
            passes.run(self._final_module, builder)

    library._optimize_functions, library._optimize_final_module = cleaned, once
    try:
        yield
    finally:
        library._optimize_functions, library._optimize_final_module = functions, module


def _of_a_module(library: Any, sides: bool, vectors: bool = True) -> tuple[Any, Any]:
    """LLVM's passes as Numba asks for them; in a long function they unroll those loops only that
    are marked (`Unrolling`).  Without `vectors` loops are not made to take several iterations at
    a time."""
    tuning = binding.create_pipeline_tuning_options(speed_level=config.OPT)
    tuning.loop_vectorization = vectors and bool(config.LOOP_VECTORIZE)
    tuning.slp_vectorization = sides or bool(config.SLP_VECTORIZE)
    tuning.loop_unrolling = not getattr(library, "is_long", False)
    builder = binding.create_pass_builder(library._codegen._tm, tuning)
    passes = builder.getModulePassManager()
    if config.LLVM_REFPRUNE_PASS:
        passes.add_refprune_pass(codegen._parse_refprune_flags())
    return passes, builder


def _of_straight_code(library: Any) -> tuple[Any, Any]:
    """Those passes that it has a use for."""
    tuning = binding.create_pipeline_tuning_options(speed_level=config.OPT)
    builder = binding.create_pass_builder(library._codegen._tm, tuning)
    passes = binding.create_new_module_pass_manager()
    if not library.is_interrupted:  # or else they gain nothing
        passes.add_sroa_pass()
        passes.add_simplify_cfg_pass()
        passes.add_instruction_combine_pass()
    if config.LLVM_REFPRUNE_PASS:
        passes.add_refprune_pass(codegen._parse_refprune_flags())
    passes.add_global_dead_code_eliminate_pass()
    return passes, builder


_OF_A_KERNEL = re.compile(r"_ZN\d+jitad_")  # mangled names in the modules that `native` makes


@compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)
class _FromSource(KernelLowering):
    """Types and code at once; what it doesn't know is left to the next pipeline."""

    _name = "kernel_from_source"

    @property
    def lowering_class(self) -> Any:
        return LowerSource

    def run_pass(self, state: Any) -> bool:
        state.cr = None
        before, codes = state.library, state.targetctx.codegen()
        if before is None:  # or the function goes where its caller is
            state.library = FromSourceLibrary(codes, state.func_id.func_qualname)
            state.library.enable_object_caching()
        state.func_ir = Untranslated(state.func_id)
        state.typemap = {
            f"arg.{n}": t for n, t in zip(state.func_id.arg_names, state.args, strict=True)
        }
        state.calltypes, state.return_type, state.type_annotation = {}, types.none, ""
        try:
            super().run_pass(state)
        except (errors.NumbaError, NotImplementedError):
            # Nothing is raised, as that would hold on to the arguments of the call.
            state.func_ir = state.typemap = state.calltypes = state.return_type = None
            state.library = before
            return False
        state.return_type = state["cr"].fndesc.restype
        return True


@compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)
class _Backend(typed_passes.NoPythonBackend):
    """Hands over what was translated, if it was."""

    _name = "kernel_backend"

    def run_pass(self, state: Any) -> bool:
        return state.cr is not None and super().run_pass(state)


@compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)
class _ByteCode(untyped_passes.TranslateByteCode):
    """Bytecode is read here, where it is needed; Numba reads it before the first pipeline."""

    _name = "kernel_bytecode"

    def run_pass(self, state: Any) -> bool:
        load_all(state.targetctx)
        in_full = state.func_id.func.__globals__.get(IN_FULL)
        if in_full is not None:
            state.func_id = bytecode.FunctionIdentity.from_function(in_full())
        state.bc = bytecode.ByteCode(state.func_id)
        return super().run_pass(state)


@compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)
class _Blocks(untyped_passes.IRProcessing):
    """Basic blocks as Numba wants them; when variables die is found out once, by `_Lifetimes`."""

    _name = "kernel_blocks"

    def run_pass(self, state: Any) -> bool:
        state.func_ir.blocks = transforms.canonicalize_cfg(state.func_ir.blocks)
        return True


@compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)
class _Rewrites(untyped_passes.GenericRewrites):
    """Numba's rewrites before types are known, without finding out anew when variables die."""

    _name = "kernel_rewrites"

    def run_pass(self, state: Any) -> bool:
        for kind in rewrites.rewrite_registry.rewrites["before-inference"]:
            rewrite = kind(state)
            for at in list(state.func_ir.blocks):
                blocks = state.func_ir.blocks
                while rewrite.match(state.func_ir, blocks[at], state.typemap, state.calltypes):
                    blocks[at] = rewrite.apply()
        return True


class _HoldersLives(postproc.VariableLifetime):
    """Lifetimes of the variables that hold references; the others need no end."""

    def __init__(self, blocks: Any, holders: set[str]) -> None:
        super().__init__(blocks)
        self._holders = holders

    @cached_property
    def usedefs(self) -> Any:
        of_all = analysis.compute_use_defs(self._blocks)
        return type(of_all)(*({at: names & self._holders for at, names in of_one.items()}
                              for of_one in of_all))  # fmt: skip


@compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)
class _Lifetimes(typed_passes.IRLegalization):
    """Say where each variable that holds a reference dies.

    Numba says it of every variable.  A block that raises is the end of all that were alive there,
    so that a function with n checks and n numbers had n * n ends, each with code of its own.
    """

    _name = "kernel_lifetimes"

    def run_pass(self, state: Any) -> bool:
        models = state.targetctx.data_model_manager
        counted = {t: models[t].contains_nrt_meminfo() for t in set(state.typemap.values())}
        holders = {name for name, t in state.typemap.items() if counted[t]}
        run = postproc.PostProcessor(state.func_ir)
        state.func_ir.blocks = transforms.canonicalize_cfg(state.func_ir.blocks)
        state.func_ir.variable_lifetime = _HoldersLives(state.func_ir.blocks, holders)
        run._insert_var_dels()
        return True


class KernelCompiler(compiler.CompilerBase):
    """Numba's compiler less the passes that emitted code gives nothing to do.

    It has no closures, comprehensions, `with`, literal unrolling, array expressions or branches
    that could be pruned; and no name stands for values of two types, so that static single
    assignment has nothing to tell apart (LLVM makes its own).
    """

    def define_pipelines(self) -> list[Any]:
        quick = compiler.PassManager("source")
        quick.add_pass(_FromSource, "from source")
        quick.add_pass(_Backend, "backend")
        quick.finalize()
        p = compiler.PassManager("kernel")
        p.add_pass(_ByteCode, "analyzing bytecode")
        p.add_pass(untyped_passes.FixupArgs, "fix up args")
        p.add_pass(_Blocks, "blocks")
        p.add_pass(_Rewrites, "static indices, raise, print")
        p.add_pass(untyped_passes.RewriteDynamicRaises, "rewrite dynamic raises")
        p.add_pass(typed_passes.NopythonTypeInference, "type inference")
        p.add_pass(_Lifetimes, "delete what is dead")
        p.add_pass(typed_passes.AnnotateTypes, "annotate types")
        p.add_pass(KernelLowering, "lowering")
        p.add_pass(typed_passes.NoPythonBackend, "backend")
        p.finalize()
        around = self.state.library  # of a caller, who knows in which way it is made
        if around is not None:
            return [quick] if isinstance(around, FromSourceLibrary) else [p]
        return [quick, p]

    def __init__(self, *args: Any) -> None:
        with briefly():
            super().__init__(*args)

    def compile_extra(self, func: Any) -> Any:
        """As Numba's, but that no bytecode is read yet."""
        self.state.func_id = bytecode.FunctionIdentity.from_function(func)
        self.state.lifted, self.state.lifted_from = (), None
        return self._compile_bytecode()

    def _compile_core(self) -> Any:
        sides = MARK in self.state.func_id.func.__globals__
        quick = undisturbed(), briefly(), _remembering(), _brief(), written_at_once()
        with ExitStack() as around:
            for context in (*quick, _optimising_once(sides), linked(), kept()):
                around.enter_context(context)
            return super()._compile_core()
