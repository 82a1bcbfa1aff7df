"""How does compiled code call other compiled code, and Python?"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from jitad.emit.numba_private.declarations import keep
from jitad.immutable import immutable


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


def taken_as_numbers(gufunc: Any) -> list[bool]:
    """Which operands the function behind `guvectorize` takes as numbers, not as arrays."""
    declared = gufunc.gufunc_builder._sigs
    if declared:
        return [not isinstance(t, types.Array) for t in declared[0].args]
    return [not core for core in gufunc.gufunc_builder.sin]


def is_closed(function: Any) -> bool:
    """Was it compiled for the types of its signatures, and is for no others?"""
    return getattr(function, "_frozen", not getattr(function, "_can_compile", True))


def signatures(function: Any) -> list[Any]:
    """What it makes of numbers: types of variables, and signatures, if it is for no others."""
    kinds = sorted(map(str, function.locals.items()))
    return [kinds, *(function.nopython_signatures if is_closed(function) else ())]


def declared(function: Any, given: list[Any]) -> Any:
    """The signature by which Numba calls such a function with arguments of these types, or None."""
    cases = [c for c in function.nopython_signatures if len(c.args) == len(given)]
    if len(cases) < 2:
        return cases[0] if cases else None
    try:
        return function.typingctx.resolve_overload(function, cases, tuple(given), {})
    except TypeError:  # several would do
        return None


@immutable
class Stencil:
    """A kernel, which of its operands it sees from an element, and how far it looks along each axis
    before and after it; what is at the border, None where that is not said, and the result's dtype.
    """

    kernel: FunctionType
    near: tuple[bool, ...]
    first: tuple[int, ...]
    last: tuple[int, ...]
    border: Any
    dtype: np.dtype[Any]


@functools.lru_cache(maxsize=256)
def stencil_of(stencil: Any, kinds: tuple[tuple[int, str] | type, ...]) -> Stencil:
    """What Numba makes of a stencil whose operands are arrays of these axes and dtypes, or numbers
    of these classes.  It finds out when it compiles it, for arrays too small to have anything
    computed.
    """
    given = [k(1) if isinstance(k, type) else np.zeros((1,) * k[0], k[1]) for k in kinds]
    dtype = stencil(*given).dtype
    apart = stencil.options.get("standard_indexing", ())
    first, last = zip(*((max(-a, 0), max(b, 0)) for a, b in stencil.neighborhood), strict=True)
    return Stencil(
        stencil.kernel_ir.func_id.func, tuple(n not in apart for n in stencil.kernel_ir.arg_names),
        first, last, stencil.options.get("cval"), dtype,
    )  # fmt: skip


def jitclass_of(cls: Any) -> Any:
    """What Numba has made of a jitclass; given is that class, or the one of its objects."""
    return cls.class_type if hasattr(cls, "class_type") else cls._numba_type_.class_type


def jitclass_parts(made: Any) -> tuple[tuple[str, ...], dict[str, str], dict[str, Any]]:
    """The names of the fields; of the types of those that are numbers; and the methods and
    properties, as they were written.
    """
    numbers = {name: kind.name for name, kind in made.struct.items()
               if isinstance(kind, (types.Number, types.Boolean))}  # fmt: skip
    content: dict[str, Any] = {name: f.py_func for name, f in made.jit_methods.items()}
    content |= {name: staticmethod(f.py_func) for name, f in made.jit_static_methods.items()}
    for name, by in made.jit_props.items():
        content[name] = property(*(by[k].py_func if k in by else None for k in ("get", "set")))
    return tuple(made.struct), numbers, content


def place(thing: Any) -> int:
    """Where the content is of a list, a dict or an object of a jitclass."""
    if hasattr(thing, "_numba_type_") and not hasattr(thing, "_opaque"):
        from numba.experimental.jitclass._box import box_dataptr_offset  # not needed by others

        return ctypes.c_size_t.from_address(id(thing) + box_dataptr_offset).value
    held = getattr(thing, "_opaque", None)  # None until it is known of which type it is
    return id(thing) if held is None else int(held.data)
