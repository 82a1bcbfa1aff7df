"""Where does jitad touch names of Numba and llvmlite that are not public?  Only here.

Written against Numba 0.68 and llvmlite 0.50.
"""

from __future__ import annotations

import ast
import bisect
import ctypes
import hashlib
import linecache
import math
import pickle
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite
import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import _dynfunc, njit, types
from numba.core import (
    analysis,
    caching,
    callconv,
    callwrapper,
    cgutils,
    codegen,
    compiler,
    compiler_machinery,
    config,
    errors,
    imputils,
    lowering,
    postproc,
    rewrites,
    serialize,
    sigutils,
    transforms,
    typed_passes,
    typing,
    untyped_passes,
)
from numba.core import ir as numba_ir
from numba.core.runtime import nrt
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.cpython import numbers
from numba.extending import intrinsic, lower_builtin
from numba.np import numpy_support

from jitad.emit import cachefiles
from jitad.undisturbed import undisturbed


class _Attributes(ir.values.FunctionAttributes):
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
        ir.Function(module, type, name).attributes = _Attributes(list(attributes))
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
        content = cachefiles.unseal(cachefiles.read(self._file(sig)))
        if content is None:
            return None
        nrt.rtsys.initialize(target_context)  # all that code needs to run; a refresh is slow
        try:
            return compiler.CompileResult._rebuild(target_context, *pickle.loads(content))
        except Exception:  # whatever is wrong with it, compiling again is right
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if not self._on or data.lifted or data.library.has_dynamic_globals:
            return
        # Functions that call each other are linked by the process that compiles them only.
        if b".numba.unresolved$" in data.library._get_compiled_object():
            return
        cachefiles.write(self._file(sig), cachefiles.seal(serialize.dumps(data._reduce())))


# Flags of floating point operations.  `contract` is given to all operations without flags of their
# own (a product and a sum that both have it may be fused); so a sum that must not have it has a
# flag instead that means nothing to it: `afn` speaks of library functions.
FUSED = {"contract"}
ROUNDED = ("afn",)
ANY_ORDER = ("reassoc", "contract")


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


class _Lines:
    """Makes the compiler attach lines to instructions, and nothing else of debug information."""

    alone = False  # no array that the function writes is another of its operands

    def define_pipelines(self) -> list[Any]:
        flags = self.state.flags  # type: ignore[attr-defined]
        flags.dbg_directives_only, flags.noalias = True, self.alone
        return super().define_pipelines()  # type: ignore[misc]


_LABEL = re.compile(r"^([\w.\"$-]+):")
_AT = re.compile(r"^(!\d+) = !DILocation\(line: (\d+)", re.MULTILINE)
_LANES = re.compile(r"<(\d+) x (?:double|float|i\d+)>")


def taken_as_numbers(gufunc: Any) -> list[bool]:
    """Which operands the function behind `guvectorize` takes as numbers, not as arrays."""
    declared = gufunc.gufunc_builder._sigs
    if declared:
        return [not isinstance(t, types.Array) for t in declared[0].args]
    return [not core for core in gufunc.gufunc_builder.sin]


def vector_widths(dispatcher: Any) -> dict[int, int]:
    """The lanes of the widest vectors in loops, by the line of the source; none if Numba is off."""
    if not getattr(dispatcher, "signatures", None):
        return {}
    widths = _widths_of(dispatcher.py_func, dispatcher.signatures[0])
    for part in dispatcher.py_func.__globals__.values():  # what threads run is compiled apart
        if (kinds := getattr(part, "kinds_of_parts", None)) is not None:
            widths |= _widths_of(part.py_func, kinds, alone=True)
    return widths


def _widths_of(function: Any, kinds: Any, alone: bool = False) -> dict[int, int]:
    """`alone`: no array that it writes is another of its operands."""
    pipeline = type("LineCompiler", (_Lines, KernelCompiler), {"alone": alone})
    lined = njit(
        nogil=True, error_model="numpy", boundscheck=False, no_cfunc_wrapper=True, fastmath=FUSED,
        pipeline_class=pipeline, debug=True,
    )(function)  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lined.compile(kinds)
        text = lined.inspect_llvm(lined.signatures[0])
    lines = {name: int(line) for name, line in _AT.findall(text)}
    widths: dict[int, int] = {}
    block = ""
    for line in text.splitlines():
        if match := _LABEL.match(line):
            block = match.group(1)
        name = re.search(r"!dbg (!\d+)", line)
        if "vector.body" in block and name is not None and name.group(1) in lines:
            at = lines[name.group(1)]
            for lanes in _LANES.findall(line):
                widths[at] = max(widths.get(at, 1), int(lanes))
    return widths


# -- elements of arrays ---------------------------------------------------------------------------


class _Parts:
    """The parts of an array's structure, taken out where they are asked for."""

    def __init__(self, context: Any, builder: Any, type: Any, value: Any) -> None:
        self._at, self._builder = context.data_model_manager[type].get_field_position, builder
        self._value = value

    @property
    def data(self) -> Any:
        return self._builder.extract_value(self._value, self._at("data"))

    def extent(self, axis: int) -> Any:
        return self._builder.extract_value(self._value, [self._at("shape"), axis])

    def stride(self, axis: int) -> Any:
        return self._builder.extract_value(self._value, [self._at("strides"), axis])


def _address(builder: Any, a: Any, array: _Parts, index: list[Any]) -> Any:
    """A pointer to an element; no intermediate result overflows, by the contract."""
    strict = ["nsw"]
    if a.layout == "C":
        place = index[0]
        for k, i in enumerate(index[1:], 1):
            place = builder.add(builder.mul(place, array.extent(k), flags=strict), i, flags=strict)
        return builder.gep(array.data, [place], inbounds=True)
    place = ir.Constant(ir.IntType(64), 0)
    for k, i in enumerate(index):
        place = builder.add(place, builder.mul(i, array.stride(k), flags=strict), flags=strict)
    byte, data = ir.IntType(8).as_pointer(), array.data
    at = builder.gep(builder.bitcast(data, byte), [place], inbounds=True)
    return builder.bitcast(at, data.type)


def reach(context: Any, builder: Any, a: Any, value: Any, index: list[Any]) -> Any:
    """A pointer to an element whose indices are in bounds and not negative, and its alignment."""
    pointer = _address(builder, a, _Parts(context, builder, a, value), index)
    return pointer, None if a.aligned else 1


# -- arrays ---------------------------------------------------------------------------------------

# A function that returns its first operand, under a name that means nothing to LLVM; declared to
# give a pointer that nothing else holds, it tells LLVM that a new array overlaps no other.  (The
# allocator can't say so: Numba reads the data pointer back from the memory of its header.)
_FRESH = "jitad_fresh"
llvm.add_symbol(_FRESH, ctypes.cast(ctypes.memmove, ctypes.c_void_p).value)


def _fresh(builder: Any, data: Any) -> Any:
    size = ir.IntType(64)
    fnty = ir.FunctionType(data.type, [data.type, data.type, size])
    function = declare(builder.module, fnty, _FRESH, ("nounwind", "willreturn", "memory(none)"))
    function.return_value.add_attribute("noalias")
    return builder.call(function, [data, data, ir.Constant(size, 0)])


class Made(NamedTuple):
    """A C-contiguous array: its structure, and what was put in there."""

    value: Any
    data: Any
    nitems: Any
    itemsize: Any


def _made(
    context: Any, builder: Any, type: Any, data: Any, extents: list[Any], meminfo: Any = None,
    parent: Any = None,
) -> Made:  # fmt: skip
    """The structure of a C-contiguous array."""
    model, word = context.data_model_manager[type], ir.IntType(64)
    itemsize = ir.Constant(word, context.get_abi_sizeof(context.get_data_type(type.dtype)))
    out = ir.Constant(context.get_value_type(type), None)
    place = model.get_field_position
    data = builder.bitcast(data, out.type.elements[place("data")])
    strides: list[Any] = [itemsize]
    for n in reversed(extents[1:]):
        strides.insert(0, builder.mul(strides[0], n, flags=["nsw"]))
    count: Any = ir.Constant(word, 1)
    for k, n in enumerate(extents):
        count = n if k == 0 else builder.mul(count, n, flags=["nsw"])
        out = builder.insert_value(out, n, [place("shape"), k])
        out = builder.insert_value(out, strides[k], [place("strides"), k])
    given = {"data": data, "nitems": count, "itemsize": itemsize, "meminfo": meminfo,
             "parent": parent}  # fmt: skip
    for name, value in given.items():
        if value is not None:
            out = builder.insert_value(out, value, place(name))
    return Made(out, data, count, itemsize)


def new_array(
    context: Any, builder: Any, type: Any, extents: list[Any], prepare: Callable[..., None]
) -> Made:
    """A fresh C-contiguous array; `prepare(builder, data, bytes)` is written where it is made.

    The memory comes from a function of the module, which is not inlined: what can go wrong there
    takes much more code than a kernel's loops.
    """
    word, byte = ir.IntType(64), ir.IntType(8).as_pointer()
    module, conv = builder.module, context.call_conv
    errors_ = conv._get_excinfo_argument(builder.function)
    name = f"jitad_memory_{len(extents)}"
    if name not in module.globals:
        fnty = ir.FunctionType(byte, [errors_.type, word, *(word for _ in extents)])
        function = ir.Function(module, fnty, name)
        function.linkage = "internal"
        function.attributes = _Attributes(["noinline", "nounwind"])
        function.return_value.add_attribute("noalias")
        _write_memory(context, function, prepare)
    itemsize = ir.Constant(word, context.get_abi_sizeof(context.get_data_type(type.dtype)))
    meminfo = builder.call(module.globals[name], [errors_, itemsize, *extents])
    with builder.if_then(cgutils.is_null(builder, meminfo), likely=False):
        conv._return_errcode_raw(builder, callconv.RETCODE_USEREXC)
    data = _fresh(builder, context.nrt.meminfo_data(builder, meminfo))
    return _made(context, builder, type, data, extents, meminfo)


def _write_memory(context: Any, function: Any, prepare: Callable[..., None]) -> None:
    """The function that gives memory, or null and says why."""
    b = ir.IRBuilder(function.append_basic_block("entry"))
    api = context.get_python_api(b)
    place, total, *extents = function.args
    word, none = ir.IntType(64), ir.Constant(function.type.pointee.return_type, None)

    def unless(wrong: Any, exception: type, *args: str) -> None:
        with b.if_then(wrong, likely=False):
            b.store(api.serialize_object((exception, args, None)), place)
            b.ret(none)

    negative = too_big = ir.Constant(ir.IntType(1), 0)
    for n in extents:
        negative = b.or_(negative, b.icmp_signed("<", n, word(0)))
        product = b.smul_with_overflow(total, n)
        total = b.extract_value(product, 0)
        too_big = b.or_(too_big, b.extract_value(product, 1))
    unless(negative, ValueError, "negative dimensions are not allowed")
    unless(too_big, ValueError, "array is too big")
    meminfo = context.nrt.meminfo_alloc_aligned_unchecked(b, total, 64)
    unless(cgutils.is_null(b, meminfo), MemoryError, "Allocation failed")
    prepare(b, context.nrt.meminfo_data(b, meminfo), total)
    b.ret(meminfo)


def stack_array(context: Any, builder: Any, type: Any, extents: list[int]) -> Any:
    """An array in the stack frame of the function that is compiled: it owns no memory."""
    element = context.get_data_type(type.dtype)
    data = cgutils.alloca_once(builder, ir.ArrayType(element, math.prod(extents)))
    dims = [ir.Constant(ir.IntType(64), n) for n in extents]
    return _made(context, builder, type, data, dims).value


def contiguous(context: Any, builder: Any, type: Any, wanted: Any, value: Any) -> Any:
    """The array itself under the wanted type if it is C-contiguous and aligned, else a copy."""
    if type.layout == "C" and type.aligned:
        context.nrt.incref(builder, type, value)
        return value
    copy = np.copy if type.layout == "C" else np.ascontiguousarray
    return context.compile_internal(builder, lambda a: copy(a), wanted(type), [value])


def run_of(
    context: Any, builder: Any, a: Any, value: Any, kind: Any, index: list[Any], count: Any
) -> Any:
    """Elements that follow each other in a C-contiguous array, as an array in the same memory."""
    array = _Parts(context, builder, a, value)
    owner = [builder.extract_value(value, array._at(name)) for name in ("meminfo", "parent")]
    out = _made(context, builder, kind, _address(builder, a, array, index), [count], *owner).value
    context.nrt.incref(builder, kind, out)
    return out


def clear(builder: Any, array: Any) -> None:
    """Set every byte to zero."""
    size = builder.mul(array.itemsize, array.nitems)
    cgutils.memset(builder, array.data, size, 0)


def copy(builder: Any, to: Any, source: Any) -> None:
    """Set the first bytes of an array to those of another."""
    cgutils.raw_memcpy(builder, to.data, source.data, source.nitems, source.itemsize)


# -- calls ----------------------------------------------------------------------------------------


def call_type(dispatcher: Any, context: Any, argument_types: tuple[Any, ...]) -> Any:
    """The signature of a call, compiling for it."""
    template, _, args, kws = dispatcher.get_call_template(argument_types, {})
    return template(context).apply(args, kws)


def result_type(dispatcher: Any, argument_types: tuple[Any, ...]) -> Any:
    """What a call with these types gives, compiling for it."""
    dispatcher.compile(argument_types)
    return dispatcher.overloads[argument_types].signature.return_type


def call(
    dispatcher: Any, context: Any, builder: Any, result: Any, argument_types: Any, args: Any
) -> Any:
    """A native call of what `dispatcher` was compiled to; its library is linked."""
    plain = tuple(types.unliteral(t) for t in argument_types)
    function = context.get_function(types.Dispatcher(dispatcher), result(*plain))
    args = [
        context.cast(builder, a, t, p) for a, t, p in zip(args, argument_types, plain, strict=True)
    ]
    out = function(builder, args)
    context.add_linking_libs(getattr(function, "libs", ()))
    return out


def call_python(
    context: Any, builder: Any, function: Any, kinds: Any, args: Any, result: Any = None
) -> Any:
    """Call an importable Python function; its exception is the kernel's.

    `result`: the type of the tuple that it gives, or None where that is ignored.
    """
    api = context.get_python_api(builder)
    environment = context.get_env_manager(builder)
    failed = cgutils.alloca_once_value(builder, cgutils.false_bit)
    lock = api.gil_ensure()
    found = api.unserialize(api.serialize_object(function))
    boxed = []
    for t, value in zip(kinds, args, strict=True):
        if context.enable_nrt:
            context.nrt.incref(builder, t, value)
        boxed.append(api.from_native_value(t, value, environment))
    given = api.call_function_objargs(found, boxed)
    out = None
    if result is None:
        builder.store(cgutils.is_null(builder, given), failed)
    else:
        out = cgutils.alloca_once(builder, context.get_value_type(result))
        with builder.if_else(cgutils.is_null(builder, given)) as (wrong, right):
            with wrong:
                builder.store(cgutils.true_bit, failed)
            with right:
                builder.store(_unboxed(context, builder, api, given, result, failed), out)
    for thing in (*boxed, found, given):
        api.decref(thing)
    api.gil_release(lock)
    with builder.if_then(builder.load(failed), likely=False):
        context.call_conv.return_exc(builder)
    return None if out is None else builder.load(out)


def _unboxed(
    context: Any, builder: Any, api: Any, given: Any, result: Any, failed: Any
) -> Any:
    """The native form of a Python tuple; sets `failed` where it isn't of that type."""
    parts = []
    for k, t in enumerate(result.types):
        native = api.to_native_value(t, api.tuple_getitem(given, k))
        with builder.if_then(native.is_error, likely=False):
            builder.store(cgutils.true_bit, failed)
        parts.append(native.value)
    return context.make_tuple(builder, result, parts)


def reader(function: Callable[[], tuple[Any, ...]], kinds: tuple[Any, ...]) -> Any:
    """A function of compiled code that gives what a Python function returns, of these types.

    The Python function is called at its present address, so the code can't be kept on disk.
    """
    result = types.Tuple(kinds)

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        api = context.get_python_api(builder)
        out = cgutils.alloca_once(builder, context.get_value_type(result))
        failed = cgutils.alloca_once_value(builder, cgutils.false_bit)
        lock = api.gil_ensure()
        address = context.add_dynamic_addr(builder, id(function), info="jitad")
        found = api.call_function_objargs(address, ())
        with builder.if_else(cgutils.is_null(builder, found)) as (wrong, right):
            with wrong:
                builder.store(cgutils.true_bit, failed)
            with right:
                builder.store(_unboxed(context, builder, api, found, result, failed), out)
                api.decref(found)
        api.gil_release(lock)
        with builder.if_then(builder.load(failed), likely=False):
            context.call_conv.return_exc(builder)
        return builder.load(out)

    @intrinsic
    def read(typing_context):  # type: ignore[no-untyped-def]
        return result(), lower

    return read


def uncacheable(context: Any, builder: Any, obj: Any) -> Any:
    """The object's address, as a value whose presence keeps the code out of Numba's disk cache."""
    address = id(obj)
    pointer = context.add_dynamic_addr(builder, address, info="jitad")
    keep_name = f"numba.dynamic.globals.{address:x}"
    keep(builder.module.globals[keep_name])
    return pointer


# -- calls from Python ----------------------------------------------------------------------------

# Where CPython and NumPy keep what an object is made of, in bytes (their binary interfaces).
_TYPE, _VALUE = 8, 16  # of any object; of a float, of a NumPy number
_SIZE, _ITEMS = 16, 24  # of a tuple
_LIST_ITEMS = 24  # of a list: where its items are
_DATA, _NDIM, _EXTENTS, _DESCR, _FLAGS = 16, 24, 32, 56, 64  # of an array
_PLAIN = 0x0501  # C-contiguous, aligned, writable


def _layout_is_known() -> bool:
    """Are they really there?  An interpreter built otherwise has them elsewhere."""
    def read(thing: object, at: int, kind: Any) -> Any:
        return kind.from_address(id(thing) + at).value

    word, whole = ctypes.c_void_p, ctypes.c_int
    a = np.zeros((3, 5))
    extents = (ctypes.c_ssize_t * 2).from_address(read(a, _EXTENTS, word))
    return (
        ctypes.sizeof(word) == 8
        and read(a, _TYPE, word) == id(np.ndarray)
        and read(a, _DATA, word) == a.ctypes.data
        and read(a, _NDIM, whole) == 2
        and tuple(extents) == a.shape
        and read(a, _DESCR, word) == id(np.dtype("f8"))
        and read(a, _FLAGS, whole) & 0x0503 == 0x0501
        and read(a.T, _FLAGS, whole) & 0x0503 == 0x0502
        and read((a, 1.0), _SIZE, ctypes.c_ssize_t) == 2
        and read((1.0, a), _ITEMS + 8, word) == id(a)
        and word.from_address(read([1.0, a], _LIST_ITEMS, word) + 8).value == id(a)
        and all(read(v, _VALUE, ctypes.c_double) == 2.5 for v in (2.5, np.float64(2.5)))
        and read(np.int64(7), _VALUE, ctypes.c_int64) == 7
    )


_LAYOUT_IS_KNOWN = _layout_is_known()


def _is_direct(fndesc: Any) -> bool:
    """Are all arguments of kinds that `_Direct` knows?"""
    scalars = (types.float64, types.int64, types.boolean)
    return _LAYOUT_IS_KNOWN and all(
        t in scalars or _is_plain(t) for t in fndesc.argtypes
    )


class _Direct(callwrapper.PyCallWrapper):
    """A way into a kernel for arguments of exactly the expected kinds.

    Numba's own way finds out what each argument is, and gives it an object that keeps its memory;
    here an array is looked at where it lies.  The caller's tuple keeps it, and kernels hand out
    arrays of their own only.  For anything else the answer is NotImplemented.

    There may be more arguments: an array for each array among the results, to be copied to.  A
    result that doesn't fit its array, or arrays that overlap, are left alone: then all results are
    new arrays.
    """

    def build(self) -> None:
        object_ = self.context.get_argument_type(types.pyobject)
        kind = ir.FunctionType(object_, [object_] * 3)
        wrapper = ir.Function(self.module, kind, name=_direct_name(self.fndesc))
        builder = ir.IRBuilder(wrapper.append_basic_block("entry"))
        api = self.context.get_python_api(builder)
        self.build_wrapper(api, builder, *wrapper.args)

    def build_wrapper(self, api: Any, builder: Any, closure: Any, args: Any, kws: Any) -> None:
        self.api, self.builder = api, builder
        self.unfit = builder.append_basic_block("unfit")
        with builder.goto_block(self.unfit):
            answer = api.get_c_object("_Py_NotImplementedStruct")
            api.incref(answer)
            builder.ret(answer)
        self.environment = self.get_env(api, builder)
        self.constants: dict[object, Any] = {}
        word = ir.IntType(64)
        count, wanted = self.field(args, _SIZE, word), len(self.fndesc.argtypes)
        results = self.fndesc.restype
        results = results if isinstance(results, types.BaseTuple) else ()
        places = [t for t in results if _is_plain(t)]
        self.given = builder.icmp_signed("==", count, word(wanted + len(places)))
        self.expect(builder.or_(self.given, builder.icmp_signed("==", count, word(wanted))))
        self.outs = self.targets(args, wanted, places)
        native = [
            self.argument(self.field(args, _ITEMS + 8 * k, api.pyobj), t)
            for k, t in enumerate(self.fndesc.argtypes)
        ]
        state = api.save_thread() if self.release_gil else None
        status, result = self.context.call_conv.call_function(
            builder, self.func, self.fndesc.restype, self.fndesc.argtypes, native,
            attrs=("noinline",),
        )  # fmt: skip
        if state is not None:
            api.restore_thread(state)
        with builder.if_then(status.is_ok, likely=True):
            self.copied = self.copy_out(result)
            builder.ret(self.boxed(self.fndesc.restype, result))
        self.context.call_conv.raise_error(builder, api, status)
        builder.ret(api.get_null_object())

    def targets(self, args: Any, first: int, kinds: list[Any]) -> list[tuple[Any, Any, Any]]:
        """The type, object and array of each that is to be copied to, if they are given."""
        found = [(cgutils.alloca_once_value(self.builder, self.api.get_null_object()),
                  cgutils.alloca_once(self.builder, self.context.get_value_type(t), zfill=True))
                 for t in kinds]  # fmt: skip
        with self.builder.if_then(self.given, likely=False):
            for k, (t, (thing, array)) in enumerate(zip(kinds, found, strict=True)):
                given = self.field(args, _ITEMS + 8 * (first + k), self.api.pyobj)
                self.builder.store(given, thing)
                self.builder.store(self.array(given, t), array)
        return [(t, thing, array) for t, (thing, array) in zip(kinds, found, strict=True)]

    def copy_out(self, result: Any) -> Any:
        """Copy the results to the given arrays; whether that was done."""
        b, context, word = self.builder, self.context, ir.IntType(64)
        done = cgutils.alloca_once_value(b, self.given)
        if not self.outs:
            return done
        places = [k for k, t in enumerate(self.fndesc.restype) if _is_plain(t)]
        with b.if_then(self.given, likely=False):
            fits, copies = self.given, []
            spans: list[tuple[Any, Any]] = []
            for k, (t, _, at) in zip(places, self.outs, strict=True):
                made = context.make_array(t)(context, b, b.extract_value(result, k))
                out = context.make_array(t)(context, b, b.load(at))
                for axis in range(t.ndim):
                    same = b.icmp_signed("==", b.extract_value(made.shape, axis),
                                         b.extract_value(out.shape, axis))  # fmt: skip
                    fits = b.and_(fits, same)
                start = b.ptrtoint(out.data, word)
                end = b.add(start, b.mul(made.nitems, made.itemsize))
                for other, other_end in spans:
                    apart = b.or_(b.icmp_unsigned(">=", start, other_end),
                                  b.icmp_unsigned(">=", other, end))  # fmt: skip
                    fits = b.and_(fits, apart)
                spans.append((start, end))
                copies.append((out, made))
            b.store(fits, done)
            with b.if_then(fits):
                for out, made in copies:
                    copy(b, out, made)
        return done

    def field(self, thing: Any, at: int, kind: Any) -> Any:
        return _field(self.builder, thing, at, kind)

    def expect(self, holds: Any) -> None:
        after = self.builder.append_basic_block("fits")
        self.builder.cbranch(holds, after, self.unfit)
        self.builder.position_at_end(after)

    def constant(self, thing: object) -> Any:
        """Read from what the machine code keeps of Python, once a call."""
        if thing not in self.constants:
            manager, pointer = self.environment, self.api.pyobj
            number = manager.add_const(thing)
            with self.builder.goto_entry_block():
                items = self.field(manager.env_body.consts, _LIST_ITEMS, pointer.as_pointer())
                self.constants[thing] = self.field(items, 8 * number, pointer)
        return self.constants[thing]

    def is_a(self, thing: Any, *kinds: Any) -> Any:
        kind = self.field(thing, _TYPE, self.api.pyobj)
        first, *rest = (self.builder.icmp_unsigned("==", kind, k) for k in kinds)
        for other in rest:
            first = self.builder.or_(first, other)
        return first

    def argument(self, thing: Any, t: Any) -> Any:
        api, b = self.api, self.builder
        if t == types.boolean:
            yes, no = (api.get_c_object(f"_Py_{which}Struct") for which in ("True", "False"))
            true, false = (b.icmp_unsigned("==", thing, x) for x in (yes, no))
            self.expect(b.or_(true, false))
            return true
        if t == types.float64:
            kinds = api.get_c_object("PyFloat_Type"), self.constant(np.float64)
            self.expect(self.is_a(thing, *kinds))
            return self.field(thing, _VALUE, ir.DoubleType())
        if t == types.int64:
            return self.integer(thing)
        return self.array(thing, t)

    def integer(self, thing: Any) -> Any:
        api, b = self.api, self.builder
        self.expect(self.is_a(thing, api.get_c_object("PyLong_Type")))
        value = api.long_as_longlong(thing)
        too_big = b.and_(
            b.icmp_signed("==", value, value.type(-1)),
            cgutils.is_not_null(b, api.err_occurred()),
        )
        with b.if_then(too_big, likely=False):
            api.err_clear()
            b.branch(self.unfit)
        return value

    def array(self, thing: Any, t: Any) -> Any:
        """What is told by a function, which arrays of one kind share."""
        b, object_ = self.builder, self.api.pyobj
        kind = self.context.get_value_type(t)
        name = f"jitad_taken_{t.dtype}_{t.ndim}"
        if name not in self.module.globals:
            fnty = ir.FunctionType(ir.IntType(1), [object_] * 3 + [kind.as_pointer()])
            _apart(ir.Function(self.module, fnty, name), lambda *given: self.take(t, *given))
        place = cgutils.alloca_once(b, kind)
        given = [thing, self.constant(np.ndarray),
                 self.constant(numpy_support.as_dtype(t.dtype)), place]  # fmt: skip
        self.expect(b.call(self.module.globals[name], given))
        return b.load(place)

    def take(self, t: Any, b: Any, thing: Any, kind: Any, dtype: Any, out: Any) -> None:
        """Is it a plain array?  If so it is written to `out`."""
        whole, word = ir.IntType(32), ir.IntType(64)

        def expect(holds: Any) -> None:
            with b.if_then(b.not_(holds)):
                b.ret(ir.IntType(1)(0))

        expect(b.icmp_unsigned("==", _field(b, thing, _TYPE, kind.type), kind))
        fits = b.icmp_unsigned("==", _field(b, thing, _DESCR, kind.type), dtype)
        fits = b.and_(fits, b.icmp_signed("==", _field(b, thing, _NDIM, whole), whole(t.ndim)))
        flags = b.and_(_field(b, thing, _FLAGS, whole), whole(_PLAIN))
        expect(b.and_(fits, b.icmp_signed("==", flags, whole(_PLAIN))))
        where = _field(b, thing, _EXTENTS, word.as_pointer())
        extents = [b.load(b.gep(where, [word(k)])) for k in range(t.ndim)]
        data = _field(b, thing, _DATA, ir.IntType(8).as_pointer())
        b.store(_made(self.context, b, t, data, extents, parent=thing).value, out)
        b.ret(ir.IntType(1)(1))

    def boxed(self, t: Any, value: Any) -> Any:
        """As Numba's, but that the class of an array is looked up once a process."""
        api, b = self.api, self.builder
        if isinstance(t, types.BaseTuple):
            out = api.tuple_new(t.count)
            outs = iter(self.outs if t is self.fndesc.restype else ())
            for k, part in enumerate(t):
                target = next(outs, None) if _is_plain(part) else None
                own = b.extract_value(value, k)
                api.tuple_setitem(out, k, self.boxed(part, own) if target is None
                                  else self.array_object(part, own, target[1]))  # fmt: skip
            return out
        if isinstance(t, types.Array) and t.box_type is np.ndarray:
            return self.array_object(t, value, None)
        return api.from_native_return(t, value, self.environment)

    def array_object(self, t: Any, value: Any, target: Any) -> Any:
        """A new array, or the one that was copied to; by a function that results share."""
        b, object_ = self.builder, self.api.pyobj
        kind = self.context.get_value_type(t)
        name = f"jitad_given_{t.dtype}_{t.ndim}_{t.layout}{t.mutable}"
        if name not in self.module.globals:
            fnty = ir.FunctionType(object_, [kind.as_pointer()] + [object_] * 3)
            _apart(ir.Function(self.module, fnty, name), lambda *given: self.give(t, *given))
        none = ir.Constant(object_, None)
        theirs = none if target is None else (
            b.select(b.load(self.copied), b.load(target), none)
        )  # fmt: skip
        dtype = self.constant(numpy_support.as_dtype(t.dtype))
        place = cgutils.alloca_once_value(b, value)
        return b.call(
            self.module.globals[name], [place, theirs, self.constant(np.ndarray), dtype]
        )

    def give(self, t: Any, b: Any, place: Any, theirs: Any, class_: Any, dtype: Any) -> None:
        whole, byte = ir.IntType(32), ir.IntType(8).as_pointer()
        with b.if_then(cgutils.is_not_null(b, theirs)):
            self.context.get_python_api(b).incref(theirs)
            self.context.nrt.decref(b, t, b.load(place))
            b.ret(theirs)
        kind = ir.FunctionType(theirs.type, [byte, class_.type, whole, whole, dtype.type])
        name = "NRT_adapt_ndarray_to_python_acqref"
        box = cgutils.get_or_insert_function(b.module, kind, name)
        out = b.call(box, [b.bitcast(place, byte), class_, whole(t.ndim),
                           whole(int(t.mutable)), dtype])  # fmt: skip
        self.context.nrt.decref(b, t, b.load(place))
        b.ret(out)


def _field(b: Any, thing: Any, at: int, kind: Any) -> Any:
    """What lies so many bytes from where an object begins."""
    place = b.gep(b.bitcast(thing, ir.IntType(8).as_pointer()), [ir.IntType(64)(at)], inbounds=True)
    return b.load(b.bitcast(place, kind.as_pointer()))


def _apart(function: Any, write: Callable[..., None]) -> None:
    """Write a function that is not inlined: it is called in many places and takes little time."""
    function.linkage = "internal"
    function.attributes.add("noinline")
    write(ir.IRBuilder(function.append_basic_block("entry")), *function.args)


def _is_plain(t: Any) -> bool:
    """Is it an array that `_Direct` can look at where it lies?"""
    return bool(
        isinstance(t, types.Array) and t.layout == "C" and t.mutable and t.aligned
        and isinstance(t.dtype, (types.Float, types.Integer))
    )  # fmt: skip


def _direct_name(fndesc: Any) -> str:
    return f"direct.{fndesc.llvm_cpython_wrapper_name}"


def direct(dispatcher: Any, signature: tuple[Any, ...]) -> Any:
    """The direct way into a kernel that is compiled for these types; None if there is none.

    What is called so gives NotImplemented where an argument is of another kind.
    """
    made = getattr(dispatcher, "overloads", {}).get(signature)
    if made is None or not _is_direct(made.fndesc):
        return None
    name = _direct_name(made.fndesc)
    address = made.library.get_pointer_to_function(name)
    if not address:
        return None
    return _dynfunc.make_function(
        made.fndesc.lookup_module(), made.fndesc.qualname.split(".")[-1], name, address,
        made.environment, (made.library,),
    )  # fmt: skip


# -- the compiler ---------------------------------------------------------------------------------


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
def _optimising_once() -> Iterator[None]:
    """Run LLVM's pipeline over a module once.

    Numba runs it over each function as it comes, then over the module without and with all its
    passes.  A kernel is one function; to clean it up beforehand, as loops with branches need it to
    be vectorised, the short form of the pipeline will do, and what is translated from source is
    clean.  Runs under Numba's compiler lock.
    """
    library = codegen.CPUCodeLibrary
    functions, module = library._optimize_functions, library._optimize_final_module

    def cleaned(self: Any, made: Any) -> None:
        made.data_layout = self._codegen._data_layout
        if isinstance(self, _FromSourceLibrary):
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
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)

    library._optimize_functions, library._optimize_final_module = cleaned, once
    try:
        yield
    finally:
        library._optimize_functions, library._optimize_final_module = functions, module


_OF_A_KERNEL = re.compile(r"_ZN\d+jitad_")  # mangled names in the modules that `native` makes


# -- the source of a kernel -----------------------------------------------------------------------


class NotTranslated(errors.NumbaError):
    """The source of a function has something that `translate` doesn't know."""

    def __init__(self, what: str) -> None:
        super().__init__(what, highlighting=False)


class Typed(NamedTuple):
    """A value of LLVM's and its Numba type."""

    value: Any
    type: Any


class Body:
    """What the body of a function is written with: operations as Numba types and lowers them."""

    def __init__(self, lower: Any) -> None:
        self.builder = lower.builder
        self.arguments = [
            Typed(v, t) for v, t in zip(lower.fnargs, lower.fndesc.argtypes, strict=True)
        ]
        self._lower, self._context = lower, lower.context
        self._typing = self._context.typing_context
        self._known: dict[Any, Any] = {}
        self._exceptions: list[bytes] = []
        self._raised: list[tuple[int, Any]] = []  # number of an exception, block that raises it
        self._failing: Any = None

    def line(self, number: int) -> None:
        self._lower.debuginfo.mark_location(self.builder, number)

    # -- values --

    def constant(self, value: Any) -> Typed:
        """A number, a text, a class of numbers."""
        kind = types.literal(value) if type(value) in (int, bool, str) else (
            self._typing.resolve_value_type(value)
        )  # fmt: skip
        return Typed(self._context.get_constant_generic(self.builder, kind, value), kind)

    def is_int(self, x: Typed) -> bool:
        return types.unliteral(x.type) == types.int64

    def common(self, a: Any, b: Any) -> Any:
        """The type of what may be either."""
        a, b = types.unliteral(a), types.unliteral(b)
        both = a if a == b else self._typing.unify_types(a, b)
        if both is None or self.is_counted(both):
            raise NotTranslated(f"either {a} or {b}")
        return both

    def cast(self, x: Typed, kind: Any) -> Any:
        if x.type == kind:
            return x.value
        return self._context.cast(self.builder, x.value, x.type, kind)

    def together(self, parts: list[Typed]) -> Typed:
        """A tuple."""
        kinds = [types.unliteral(x.type) for x in parts]
        kind = types.BaseTuple.from_types(kinds)
        values = [self.cast(x, t) for x, t in zip(parts, kinds, strict=True)]
        return Typed(self._context.make_tuple(self.builder, kind, values), kind)

    # -- operations --

    def apply(self, function: Any, args: list[Typed]) -> Typed:
        """A call of something that Numba knows."""
        return self._call(function, None, args)

    def wrapping(self, number: Typed) -> Typed:
        """A number that was just computed, without the promise that it does not overflow."""
        made = number.value
        if isinstance(made, ir.Instruction) and made.opname in ("add", "sub", "mul"):
            made.flags = ()
        return number

    def method(self, owner: Typed, name: str, args: list[Typed]) -> Typed:
        return self._call(name, owner, args)

    def attribute(self, owner: Typed, name: str) -> Typed:
        kind = self._typing.resolve_getattr(owner.type, name)
        if kind is None:
            raise NotTranslated(f"{name} of {owner.type}")
        run = self._context.get_getattr(owner.type, name)
        return Typed(run(self._context, self.builder, owner.type, owner.value, name), kind)

    def _call(self, function: Any, owner: Typed | None, args: list[Typed]) -> Typed:
        of = None if owner is None else owner.type
        key = (function, of, *(x.type for x in args))
        if key not in self._known:
            self._known[key] = self._resolve(*key)
        signature, run = self._known[key]
        given = self._folded(signature, args)
        if owner is not None:
            given = [owner.value, *given]
        return Typed(run(self.builder, given), signature.return_type)

    def _resolve(self, function: Any, of: Any, *kinds: Any) -> tuple[Any, Any]:
        name = of is not None
        what = (self._typing.resolve_getattr(of, function) if name
                else self._typing.resolve_value_type(function))  # fmt: skip
        signature = what and self._typing.resolve_function_type(what, kinds, {})
        if not signature or name != bool(signature.recvr):
            raise NotTranslated(f"a call of {function}")
        return signature, self._context.get_function(what, signature)

    def _folded(self, signature: Any, args: list[Typed]) -> list[Any]:
        """The values that are handed over: defaults filled in, those of `*args` in a tuple."""
        if signature.pysig is None:
            return [self.cast(x, t) for x, t in zip(args, signature.args, strict=True)]

        def given(k: int, _: Any, x: Typed) -> Any:
            return self.cast(x, signature.args[k])

        def default(k: int, _: Any, value: Any) -> Any:
            return self._context.get_constant_generic(self.builder, signature.args[k], value)

        def starred(k: int, _: Any, values: list[Typed]) -> Any:
            parts = [self.cast(x, t) for x, t in zip(values, signature.args[k], strict=True)]
            return cgutils.make_anonymous_struct(self.builder, parts)

        return list(typing.fold_arguments(signature.pysig, args, {}, given, default, starred))

    def _place(self, array: Typed, index: list[Typed]) -> Any:
        """A pointer to an element of an array of numbers, its alignment."""
        a = array.type
        plain = isinstance(a, types.Array) and isinstance(a.dtype, (types.Number, types.Boolean))
        if not plain or len(index) != a.ndim or a.ndim == 0:
            raise NotTranslated(f"an index into {a}")
        if not all(isinstance(i.type, types.Integer) for i in index):
            raise NotTranslated("an index that is no int")
        at = [self.cast(i, types.intp) for i in index]
        return reach(self._context, self.builder, a, array.value, at)

    def load(self, array: Typed, index: list[Typed]) -> Typed:
        place, align = self._place(array, index)
        value = self._context.unpack_value(self.builder, array.type.dtype, place, align)
        return Typed(value, array.type.dtype)

    def store(self, array: Typed, index: list[Typed], value: Typed) -> None:
        if not getattr(array.type, "mutable", False):
            raise NotTranslated("a store to what is read only")
        place, align = self._place(array, index)
        kind = array.type.dtype
        self._context.pack_value(self.builder, kind, self.cast(value, kind), place, align)

    def extent(self, array: Typed, axis: int) -> Typed:
        if not isinstance(array.type, types.Array):
            raise NotTranslated(f"the shape of {array.type}")
        parts = _Parts(self._context, self.builder, array.type, array.value)
        return Typed(parts.extent(axis), types.intp)

    # -- memory and references --

    def memory(self, kind: Any) -> Any:
        """Room for a value of this type; it holds no reference at first."""
        place = self._context.get_value_type(kind)
        return cgutils.alloca_once(self.builder, place, zfill=self.is_counted(kind))

    def clear(self, place: Any) -> None:
        self.builder.store(ir.Constant(place.type.pointee, None), place)

    def is_counted(self, kind: Any) -> bool:
        return self._context.data_model_manager[kind].contains_nrt_meminfo()

    def incref(self, x: Typed) -> None:
        self._context.nrt.incref(self.builder, x.type, x.value)

    def decref(self, x: Typed) -> None:
        self._context.nrt.decref(self.builder, x.type, x.value)

    # -- ends --

    def fail(self, exception: Any, args: list[Any], line: int) -> None:
        """Raise; `args` are what they are in Python, or values of the function."""
        name = self._lower.func_ir.func_id.func_name
        where = (name, self._lower.func_ir.loc.filename, line)
        b, conv = self.builder, self._context.call_conv
        if self._failing is None:
            self._failing = b.append_basic_block("failing"), b.append_basic_block("ending")
        known, ending = self._failing
        if not any(isinstance(a, Typed) for a in args):
            self._raised.append((len(self._exceptions), b.block))
            self._exceptions.append(pickle.dumps((exception, tuple(args), where), 4))
            b.branch(known)
            return
        for a in args:
            if isinstance(a, Typed) and self.is_counted(a.type):
                self.incref(a)
        values = tuple(a.value if isinstance(a, Typed) else a for a in args)
        kinds = tuple(a.type if isinstance(a, Typed) else None for a in args)
        loc = numba_ir.Loc(where[1], line)
        conv.set_dynamic_user_exc(b, exception, values, kinds, loc=loc, func_name=name)
        b.branch(ending)

    def finish(self, x: Typed) -> Any:
        """Return this; gives its type."""
        kind, context, b = types.unliteral(x.type), self._context, self.builder
        made = context.get_return_value(b, kind, self.cast(x, kind))
        b.store(made, b.bitcast(b.function.args[0], made.type.as_pointer()))
        context.call_conv._return_errcode_raw(b, callconv.RETCODE_OK)
        return kind

    def close(self, owners: list[tuple[Any, Any]]) -> None:
        """Where the function fails, say why, and let go of all that is held."""
        if self._failing is None:
            return
        b, conv = self.builder, self._context.call_conv
        known, ending = self._failing
        b.position_at_end(known)
        if self._raised:
            number = b.phi(ir.IntType(64))
            for k, block in self._raised:
                number.add_incoming(number.type(k), block)
            table = self._table()
            b.store(b.gep(table, [number.type(0), number]), conv._get_excinfo_argument(b.function))
            b.branch(ending)
        else:
            b.unreachable()
        b.position_at_end(ending)
        for place, kind in owners:
            self.decref(Typed(b.load(place), kind))
        conv._return_errcode_raw(b, callconv.RETCODE_USEREXC)

    def _table(self) -> Any:
        """What Numba reads to raise each exception.

        Numba has three globals for each, which cost LLVM more than the rest of a function that
        checks every line.
        """
        word, byte = ir.IntType(32), ir.IntType(8).as_pointer()
        texts = [hashlib.sha1(made).digest() + made for made in self._exceptions]
        all_ = _constant(self.builder.module, cgutils.make_bytearray(b"".join(texts)))
        rows, at = [], 0
        for text in texts:
            start, data = (all_.gep([word(0), word(k)]) for k in (at, at + 20))
            rows.append(ir.Constant.literal_struct(
                [data, word(len(text) - 20), start, ir.Constant(byte, None), word(0)]
            ))  # fmt: skip
            at += len(text)
        kind = ir.ArrayType(callconv.excinfo_t, len(rows))
        return _constant(self.builder.module, ir.Constant(kind, rows))


def _constant(module: Any, value: Any) -> Any:
    out = ir.GlobalVariable(module, value.type, module.get_unique_name("jitad_constant"))
    out.linkage, out.global_constant, out.initializer = "internal", True, value
    return out


class _Untranslated:
    """What Numba's lowering asks of a function's intermediate form, where there is none."""

    generator_info = None

    def __init__(self, func_id: Any) -> None:
        self.func_id, self.arg_names = func_id, func_id.arg_names
        self.blocks = {0: None}
        self.loc = numba_ir.Loc(func_id.filename, func_id.firstlineno)


class _Lower(lowering.Lower):
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
        """Numba's own is for what the direct way doesn't take: it is not worth being optimised."""
        made = [callwrapper.PyCallWrapper]
        if _is_direct(self.fndesc):
            made.append(_Direct)
        module = self.context.create_module("wrapper")
        kind = self.context.call_conv.get_function_type(self.fndesc.restype, self.fndesc.argtypes)
        callee = ir.Function(module, kind, self.fndesc.llvm_func_name)
        for wrapper in made:
            wrapper(self.context, module, callee, self.fndesc, self.env, self.call_helper,
                    release_gil).build()  # fmt: skip
        if len(made) > 1:
            slow = module.globals[self.fndesc.llvm_cpython_wrapper_name]
            slow.attributes.add("noinline")
            slow.attributes.add("optnone")
        self.library.add_ir_module(module)


@compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)
class _KernelLowering(typed_passes.NativeLowering):
    _name = "kernel_lowering"

    @property
    def lowering_class(self) -> Any:
        return _Lower


class _FromSourceLibrary(codegen.JITCodeLibrary):
    """Code that was not made from bytecode, where a variable is memory."""


class _LowerSource(_Lower):
    """Writes a function's code by a walk over its source."""

    def init(self) -> None:
        """There are no variables to look at."""

    def lower_normal_function(self, fndesc: Any) -> None:
        from jitad.emit.translate import translate  # not needed for what is found on disk

        self.setup_function(fndesc)
        self.extract_function_arguments()
        self.pre_lower()
        function = self.func_ir.func_id.func
        fndesc.restype = translate(_definition(function), function.__globals__, Body(self))
        self.post_lower()


def _definition(function: Any) -> ast.FunctionDef:
    """The source of a function; others in its file are what its threads run, or that of others."""
    tree = ast.parse("".join(linecache.getlines(function.__code__.co_filename)))
    found = {s.name: s for s in tree.body if isinstance(s, ast.FunctionDef)}
    called = (n.func for n in ast.walk(tree) if isinstance(n, ast.Call))
    if any(isinstance(f, ast.Name) and f.id in found for f in called):
        raise NotTranslated("functions that call each other")
    return found[function.__name__]


@compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)
class _FromSource(_KernelLowering):
    """Types and code at once; what it doesn't know is left to the next pipeline."""

    _name = "kernel_from_source"

    @property
    def lowering_class(self) -> Any:
        return _LowerSource

    def run_pass(self, state: Any) -> bool:
        state.cr = None
        before, codes = state.library, state.targetctx.codegen()
        if before is None:  # or the function goes where its caller is
            state.library = _FromSourceLibrary(codes, state.func_id.func_qualname)
            state.library.enable_object_caching()
        state.func_ir = _Untranslated(state.func_id)
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
        p.add_pass(untyped_passes.TranslateByteCode, "analyzing bytecode")
        p.add_pass(untyped_passes.FixupArgs, "fix up args")
        p.add_pass(_Blocks, "blocks")
        p.add_pass(_Rewrites, "static indices, raise, print")
        p.add_pass(untyped_passes.RewriteDynamicRaises, "rewrite dynamic raises")
        p.add_pass(typed_passes.NopythonTypeInference, "type inference")
        p.add_pass(_Lifetimes, "delete what is dead")
        p.add_pass(typed_passes.AnnotateTypes, "annotate types")
        p.add_pass(_KernelLowering, "lowering")
        p.add_pass(typed_passes.NoPythonBackend, "backend")
        p.finalize()
        around = self.state.library  # of a caller, who knows in which way it is made
        if around is not None:
            return [quick] if isinstance(around, _FromSourceLibrary) else [p]
        return [quick, p]

    def _compile_core(self) -> Any:
        with undisturbed(), _remembering(), _brief(), _optimising_once():
            return super()._compile_core()


# -- threads --------------------------------------------------------------------------------------


class Spread:
    """The code that runs a compiled function for each part of a loop, on the threads of the team.

    A thread gets the address of a structure: the number of parts, the operands, and for each part
    a place for how its call ended.  The function is compiled into the module of its caller, who
    sees to it that no array that it writes is another of its operands.
    """

    def __init__(
        self, context: Any, builder: Any, dispatcher: Any, kinds: tuple[Any, ...], most: int
    ) -> None:
        self.context, self.builder, self.kinds, self.most = context, builder, kinds, most
        options = dispatcher.targetdescr.options
        flags = compiler.Flags()
        options.parse_as_flags(flags, dispatcher.targetoptions)
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.noalias = True
        flags.debuginfo = False
        dispatcher.kinds_of_parts = kinds  # for `vector_widths`
        run = KernelCompiler(dispatcher.targetdescr.typing_context, context,
                             context.active_code_library, kinds, None, flags, {})  # fmt: skip
        made = run.compile_extra(dispatcher.py_func)
        self.result = made.signature.return_type
        self.callee = context.declare_function(builder.module, made.fndesc)

    def all(self, parts: Any, operands: Any, summed: int, late: int, team: str) -> None:
        """Run them, and raise what the first of those that raise has raised."""
        b, word, byte = self.builder, ir.IntType(64), ir.IntType(8).as_pointer()
        call_conv = self.context.call_conv
        number = self.callee.ftype.return_type
        self.ends = ir.LiteralStructType([number, self.callee.args[1].type.pointee])
        values = [v.type for v in operands]
        self.data = ir.LiteralStructType([word, ir.ArrayType(self.ends, self.most), *values])
        with b.goto_entry_block():
            data = b.alloca(self.data)  # as it comes: Numba's own would be cleared, field by field
        b.store(parts, self.field(b, data, 0))
        for k, v in enumerate(operands):
            b.store(v, self.field(b, data, 2 + k))
        thunk = self.thunk(summed)
        kind = ir.FunctionType(ir.VoidType(), [thunk.type, byte, word])
        b.call(declare(b.module, kind, team, ()), [thunk, b.bitcast(data, byte), parts])
        with cgutils.for_range(b, parts) as loop:
            end = b.load(self.end_of(b, data, loop.index))
            self.propagate(b.extract_value(end, 0), b.extract_value(end, 1))
            if late:
                arguments = self.arguments(b, data, b.add(parts, loop.index), summed, False)
                status, _ = call_conv.call_function(
                    b, self.callee, self.result, self.kinds, arguments
                )
                with b.if_then(status.is_error, likely=False):
                    call_conv.return_status_propagate(b, status)

    def propagate(self, code: Any, about: Any) -> None:
        b, call_conv = self.builder, self.context.call_conv
        status = call_conv._get_return_status(b, code, about)
        with b.if_then(status.is_error, likely=False):
            call_conv.return_status_propagate(b, status)

    def field(self, b: Any, data: Any, k: int) -> Any:
        return b.gep(data, [ir.IntType(32)(0), ir.IntType(32)(k)], inbounds=True)

    def end_of(self, b: Any, data: Any, part: Any) -> Any:
        zero = ir.IntType(32)(0)
        return b.gep(data, [zero, ir.IntType(32)(1), part], inbounds=True)

    def thunk(self, summed: int) -> Any:
        """The function that the team calls with the structure and the number of a part."""
        word, byte = ir.IntType(64), ir.IntType(8).as_pointer()
        module = self.builder.module
        kind = ir.FunctionType(ir.VoidType(), [byte, word])
        name = module.get_unique_name(f"{self.callee.name}.part")
        thunk = ir.Function(module, kind, name)
        thunk.linkage = "internal"
        b = ir.IRBuilder(thunk.append_basic_block("entry"))
        data = b.bitcast(thunk.args[0], self.data.as_pointer())
        part = thunk.args[1]
        arguments = self.arguments(b, data, part, summed, True)
        status, _ = self.context.call_conv.call_function(
            b, self.callee, self.result, self.kinds, arguments
        )
        end = self.end_of(b, data, part)
        for k, v in enumerate((status.code, status.excinfoptr)):
            b.store(v, self.field(b, end, k))
        b.ret_void()
        return thunk

    def arguments(self, b: Any, data: Any, part: Any, summed: int, private: bool) -> list[Any]:
        """What a part is called with; `private`: with copies of its own, but for the first."""
        word = ir.IntType(64)
        values = [b.load(self.field(b, data, 2 + k)) for k in range(len(self.data.elements) - 2)]
        arrays, own, others = values[:summed], values[summed : 2 * summed], values[2 * summed :]
        if private:
            first = b.icmp_signed("==", part, word(0))
            for k, (a, copies) in enumerate(zip(arrays, own, strict=True)):
                t = self.kinds[2 + k]
                target = self.context.make_array(t)(self.context, b, a)
                many = self.context.make_array(t.copy(ndim=t.ndim + 1))(self.context, b, copies)
                at = b.mul(b.sub(part, word(1)), target.nitems)
                mine = b.gep(many.data, [at])
                target.data = b.select(first, target.data, mine)
                arrays[k] = target._getvalue()
        return [part, b.load(self.field(b, data, 0)), *arrays, *others]
