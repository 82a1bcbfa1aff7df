"""How does Python call a kernel directly, past Numba's unboxing?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import _dynfunc, types
from numba.core import callwrapper, cgutils
from numba.np import numpy_support

from jitad.emit.numba_private.arrays import Parts, _made, copy
from jitad.emit.numba_private.layout import (
    ARRAYS_ARE_MADE,
    DATA,
    DESCR,
    EXTENTS,
    FLAGS,
    ITEMS,
    LAYOUT_IS_KNOWN,
    LIST_ITEMS,
    NDIM,
    PLAIN,
    SIZE,
    SMALL,
    TYPE,
    VALUE,
    field,
    new_array_object,
)  # fmt: skip
from jitad.emit.numba_private.on_stack import offer


def is_direct(fndesc: Any) -> bool:
    """Are all arguments of kinds that `Direct` knows?"""
    scalars = (types.float64, types.int64, types.boolean)
    return LAYOUT_IS_KNOWN and all(
        t in scalars or is_plain(t) for t in fndesc.argtypes
    )


# What a builtin function keeps for its own way, before what the code wants to have of Python: the
# kernel's address, and for a shortcut what that relies on.
OWN = 11


class FromNumba(callwrapper.PyCallWrapper):
    """Numba's own way into a kernel; which one that is, the builtin function knows."""

    def build(self) -> Any:
        object_ = self.context.get_argument_type(types.pyobject)
        kind = ir.FunctionType(object_, [object_] * 3)
        function = ir.Function(self.module, kind, name=self.fndesc.name_of(type(self)))
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.build_wrapper(self.context.get_python_api(builder), builder, *function.args)
        return function

    def get_env(self, api: Any, builder: Any) -> Any:
        closure = builder.function.args[0]
        at = _dynfunc._impl_info["offsetof_closure_body"]
        environment = field(builder, closure, at, api.pyobj)
        body = self.context.get_env_body(builder, environment)
        manager = api.get_env_manager(self.env, body, environment)
        first = field(builder, body.consts, LIST_ITEMS, api.pyobj.as_pointer())
        address = field(builder, builder.load(first), VALUE, ir.IntType(64))
        of = self.fndesc
        kind = self.context.call_conv.get_function_type(of.restype, of.argtypes)
        self.func = builder.inttoptr(address, kind.as_pointer())
        return manager


class Direct(FromNumba):
    """A way into a kernel for arguments of exactly the expected kinds.

    Numba's own way finds out what each argument is, and gives it an object that keeps its memory;
    here an array is looked at where it lies.  The caller's tuple keeps it, and kernels hand out
    arrays of their own only.  For anything else the answer is NotImplemented.

    There may be more arguments: an array for each array among the results, to be copied to.  A
    result that doesn't fit its array, or arrays that overlap, are left alone: then all results are
    new arrays.
    """

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
        count, wanted = self.field(args, SIZE, word), len(self.fndesc.argtypes)
        results = self.fndesc.restype
        results = results if isinstance(results, types.BaseTuple) else ()
        places = [t for t in results if is_plain(t)]
        self.given = builder.icmp_signed("==", count, word(wanted + len(places)))
        self.expect(builder.or_(self.given, builder.icmp_signed("==", count, word(wanted))))
        self.outs = self.targets(args, wanted, places)
        native = [
            self.argument(self.field(args, ITEMS + 8 * k, api.pyobj), t)
            for k, t in enumerate(self.fndesc.argtypes)
        ]
        state = api.save_thread() if self.release_gil else None
        status, result = self.called(native)
        if state is not None:
            api.restore_thread(state)
        with builder.if_then(status.is_ok, likely=True):
            self.copied = self.copy_out(result)
            builder.ret(self.boxed(self.fndesc.restype, result))
        self.context.call_conv.raise_error(builder, api, status)
        builder.ret(api.get_null_object())

    def called(self, native: list[Any]) -> tuple[Any, Any]:
        """How a call of the kernel ended, and where its result is: nothing that has hundreds of
        parts is read as a whole."""
        b, context, conv = self.builder, self.context, self.context.call_conv
        kinds, kind = self.fndesc.argtypes, self.fndesc.restype
        place = self.room(context.get_return_type(kind))
        if self.copies_results:
            offer(b, place)
        about = cgutils.alloca_once(b, self.func.function_type.args[1].pointee)
        given = list(context.get_arg_packer(kinds).as_arguments(b, native))
        code = b.call(self.func, [place, about, *given], attrs=("noinline",))
        return conv._get_return_status(b, code, b.load(about)), place

    @property
    def copies_results(self) -> bool:
        """Are small results copied, whatever they are?"""
        results = self.fndesc.restype
        parts = results if isinstance(results, types.BaseTuple) else ()
        arrays = [t for t in parts if isinstance(t, types.Array)]
        return ARRAYS_ARE_MADE and bool(arrays) and all(map(_is_copied, arrays)) and all(
            isinstance(t, (types.Array, types.Number, types.Boolean)) for t in parts
        )

    def room(self, kind: Any) -> Any:
        with self.builder.goto_entry_block():
            return self.builder.alloca(kind)

    def targets(self, args: Any, first: int, kinds: list[Any]) -> list[tuple[Any, Any, Any]]:
        """The type, object and array of each that is to be copied to, if they are given."""
        found = [(self.room(self.api.pyobj), self.room(self.context.get_value_type(t)))
                 for t in kinds]  # fmt: skip
        with self.builder.if_then(self.given, likely=False):
            for k, (t, (thing, array)) in enumerate(zip(kinds, found, strict=True)):
                given = self.field(args, ITEMS + 8 * (first + k), self.api.pyobj)
                self.builder.store(given, thing)
                self.read_array(given, t, array)
        return [(t, thing, array) for t, (thing, array) in zip(kinds, found, strict=True)]

    def copy_out(self, result: Any) -> Any:
        """Copy the results to the given arrays; whether that was done."""
        b, word, n = self.builder, ir.IntType(64), len(self.outs)
        done = cgutils.alloca_once_value(b, self.given)
        if not n:
            return done
        places = [k for k, t in enumerate(self.fndesc.restype) if is_plain(t)]
        mades = [_part(b, result, k) for k in places]
        spans = self.room(ir.ArrayType(word, 2 * n))
        with b.if_then(self.given, likely=False):
            fits = self.given
            for k, (made, (t, _, out)) in enumerate(zip(mades, self.outs, strict=True)):
                span = b.gep(spans, [word(0), word(2 * k)])
                fits = b.and_(fits, self.of_kind("fits", t, _fits, made, out, span))
            first = b.gep(spans, [word(0), word(0)])
            fits = b.and_(fits, self.function("apart", _are_apart, first, word(n)))
            b.store(fits, done)
            with b.if_then(fits):
                for made, (t, _, out) in zip(mades, self.outs, strict=True):
                    self.of_kind("copied", t, _copied, made, out)
        return done

    def of_kind(self, name: str, t: Any, write: Callable[..., None], *given: Any) -> Any:
        """A call of a function for arrays of this type."""
        context = self.context

        def written(b: Any, *values: Any) -> None:
            write(context, b, t, *values)

        return self.function(f"{name}_{t.dtype}_{t.ndim}", written, *given)

    def function(self, name: str, write: Callable[..., None], *given: Any) -> Any:
        """A call of a function of the module that gives a truth."""
        if (name := f"jitad_{name}") not in self.module.globals:
            fnty = ir.FunctionType(ir.IntType(1), [v.type for v in given])
            function = ir.Function(self.module, fnty, name)
            function.linkage = "internal"
            leave_as_written(function)  # for `out=`: it takes some tests and a copy
            write(ir.IRBuilder(function.append_basic_block("entry")), *function.args)
        return self.builder.call(self.module.globals[name], given)

    def field(self, thing: Any, at: int, kind: Any) -> Any:
        return field(self.builder, thing, at, kind)

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
                items = self.field(manager.env_body.consts, LIST_ITEMS, pointer.as_pointer())
                self.constants[thing] = self.field(items, 8 * number, pointer)
        return self.constants[thing]

    def is_a(self, thing: Any, *kinds: Any) -> Any:
        kind = self.field(thing, TYPE, self.api.pyobj)
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
            return self.field(thing, VALUE, ir.DoubleType())
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
        place = self.room(self.context.get_value_type(t))
        self.read_array(thing, t, place)
        return self.builder.load(place)

    def read_array(self, thing: Any, t: Any, place: Any) -> None:
        """By a function, which arrays of one kind share."""
        b, object_ = self.builder, self.api.pyobj
        kind = self.context.get_value_type(t)
        name = f"jitad_taken_{t.dtype}_{t.ndim}"
        if name not in self.module.globals:
            fnty = ir.FunctionType(ir.IntType(1), [object_] * 3 + [kind.as_pointer()])
            _apart(ir.Function(self.module, fnty, name), lambda *given: self.take(t, *given))
        given = [thing, self.constant(np.ndarray),
                 self.constant(numpy_support.as_dtype(t.dtype)), place]  # fmt: skip
        self.expect(b.call(self.module.globals[name], given))

    def take(self, t: Any, b: Any, thing: Any, kind: Any, dtype: Any, out: Any) -> None:
        """Is it a plain array?  If so it is written to `out`."""
        whole, word = ir.IntType(32), ir.IntType(64)

        def expect(holds: Any) -> None:
            with b.if_then(b.not_(holds)):
                b.ret(ir.IntType(1)(0))

        expect(b.icmp_unsigned("==", field(b, thing, TYPE, kind.type), kind))
        fits = b.icmp_unsigned("==", field(b, thing, DESCR, kind.type), dtype)
        fits = b.and_(fits, b.icmp_signed("==", field(b, thing, NDIM, whole), whole(t.ndim)))
        flags = b.and_(field(b, thing, FLAGS, whole), whole(PLAIN))
        expect(b.and_(fits, b.icmp_signed("==", flags, whole(PLAIN))))
        where = field(b, thing, EXTENTS, word.as_pointer())
        extents = [b.load(b.gep(where, [word(k)])) for k in range(t.ndim)]
        data = field(b, thing, DATA, ir.IntType(8).as_pointer())
        b.store(_made(self.context, b, t, data, extents, parent=thing).value, out)
        b.ret(ir.IntType(1)(1))

    def boxed(self, t: Any, place: Any) -> Any:
        """As Numba's, but that the class of an array is looked up once a process."""
        api, b = self.api, self.builder
        if isinstance(t, types.BaseTuple):
            out = api.tuple_new(t.count)
            outs = iter(self.outs if t is self.fndesc.restype else ())
            for k, part in enumerate(t):
                target = next(outs, None) if is_plain(part) else None
                own = _part(b, place, k)
                api.tuple_setitem(out, k, self.boxed(part, own) if target is None
                                  else self.array_object(part, own, target[1]))  # fmt: skip
            return out
        if isinstance(t, types.Array) and t.box_type is np.ndarray:
            return self.array_object(t, place, None)
        return api.from_native_return(t, b.load(place), self.environment)

    def array_object(self, t: Any, place: Any, target: Any) -> Any:
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
        return b.call(
            self.module.globals[name], [place, theirs, self.constant(np.ndarray), dtype]
        )

    def give(self, t: Any, b: Any, place: Any, theirs: Any, class_: Any, dtype: Any) -> None:
        whole, byte = ir.IntType(32), ir.IntType(8).as_pointer()
        with b.if_then(cgutils.is_not_null(b, theirs)):
            self.context.get_python_api(b).incref(theirs)
            self.context.nrt.decref(b, t, b.load(place))
            b.ret(theirs)
        if ARRAYS_ARE_MADE and _is_copied(t):
            self.copied_to_new(t, b, place, class_, dtype)
        kind = ir.FunctionType(theirs.type, [byte, class_.type, whole, whole, dtype.type])
        name = "NRT_adapt_ndarray_to_python_acqref"
        box = cgutils.get_or_insert_function(b.module, kind, name)
        out = b.call(box, [b.bitcast(place, byte), class_, whole(t.ndim),
                           whole(int(t.mutable)), dtype])  # fmt: skip
        self.context.nrt.decref(b, t, b.load(place))
        b.ret(out)

    def copied_to_new(self, t: Any, b: Any, place: Any, class_: Any, dtype: Any) -> None:
        """A small array is copied to one of NumPy's: no object has to keep the kernel's memory."""
        made = self.context.make_array(t)(self.context, b, b.load(place))
        size = b.mul(made.nitems, made.itemsize)
        with b.if_then(b.icmp_unsigned("<=", size, size.type(SMALL))):
            self.context.get_python_api(b).incref(dtype)  # which the new array takes over
            at, whole = made._datamodel.get_field_position("shape"), ir.IntType(32)
            extents = b.gep(place, [whole(0), whole(at)])
            out = new_array_object(b, class_, dtype, t.ndim, extents)
            with b.if_then(cgutils.is_not_null(b, out), likely=True):
                target = field(b, out, DATA, ir.IntType(8).as_pointer())
                cgutils.raw_memcpy(b, target, made.data, made.nitems, made.itemsize)
            self.context.nrt.decref(b, t, b.load(place))
            b.ret(out)


def _is_copied(t: Any) -> bool:
    return bool(t.layout == "C" and t.mutable and t.box_type is np.ndarray)


def _fits(context: Any, b: Any, t: Any, made: Any, out: Any, span: Any) -> None:
    """Have two arrays the same extents?  The beginning and end of the second are noted."""
    word = ir.IntType(64)
    made, out = (Parts(context, b, t, b.load(x)) for x in (made, out))
    fits: Any = ir.IntType(1)(1)
    size: Any = word(context.get_abi_sizeof(context.get_data_type(t.dtype)))
    for axis in range(t.ndim):
        fits = b.and_(fits, b.icmp_signed("==", made.extent(axis), out.extent(axis)))
        size = b.mul(size, out.extent(axis))
    start = b.ptrtoint(out.data, word)
    b.store(start, span)
    b.store(b.add(start, size), b.gep(span, [word(1)]))
    b.ret(fits)


def _copied(context: Any, b: Any, t: Any, made: Any, out: Any) -> None:
    arrays = [context.make_array(t)(context, b, b.load(x)) for x in (made, out)]
    copy(b, arrays[1], arrays[0])
    b.ret(ir.IntType(1)(1))


def _are_apart(b: Any, spans: Any, n: Any) -> None:
    """Do none of n pairs of a beginning and an end overlap?"""
    word = ir.IntType(64)

    def read(k: Any) -> tuple[Any, Any]:
        at = b.gep(spans, [b.shl(k, word(1))])
        return b.load(at), b.load(b.gep(at, [word(1)]))

    with cgutils.for_range(b, n) as one:
        start, end = read(one.index)
        with cgutils.for_range(b, one.index) as other:
            first, last = read(other.index)
            apart = b.or_(b.icmp_unsigned(">=", start, last), b.icmp_unsigned(">=", first, end))
            with b.if_then(b.not_(apart), likely=False):
                b.ret(ir.IntType(1)(0))
    b.ret(ir.IntType(1)(1))


def _part(b: Any, place: Any, k: int) -> Any:
    return b.gep(place, [ir.IntType(32)(0), ir.IntType(32)(k)], inbounds=True)


def _apart(function: Any, write: Callable[..., None]) -> None:
    """Write a function that is not inlined: it is called in many places and takes little time."""
    function.linkage = "internal"
    function.attributes.add("noinline")
    write(ir.IRBuilder(function.append_basic_block("entry")), *function.args)


def leave_as_written(function: Any) -> None:
    """Don't optimise a function that each kernel has, and whose own time doesn't matter."""
    for attribute in ("noinline", "optnone"):
        function.attributes.add(attribute)


def is_plain(t: Any) -> bool:
    """Is it an array that `Direct` can look at where it lies?"""
    return bool(
        isinstance(t, types.Array) and t.layout == "C" and t.mutable and t.aligned
        and isinstance(t.dtype, (types.Float, types.Integer))
    )  # fmt: skip
