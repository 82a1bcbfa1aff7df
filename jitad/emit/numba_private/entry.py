"""How does Python call a kernel directly, past Numba's unboxing?

By machine code that is the same for all kernels: what it has to know of their types is told by a
`Plan`.  Code made for each combination of types was half of a small kernel's first call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba import _dynfunc, types
from numba.core import callconv, cgutils

from jitad.emit.numba_private.layout import (
    DATA,
    DESCR,
    FLAGS,
    ITEMS,
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
from jitad.emit.numba_private.layout import EXTENTS as EXTENTS_OF_OBJECT
from jitad.emit.numba_private.on_stack import NO_OFFER, offer
from jitad.emit.numba_private.plan import (
    ARGUMENTS,
    BOOL,
    COPIES,
    ELEMENTS,
    EXTENTS,
    FLOAT,
    GIVEN_WORDS,
    INT,
    IS_COPIED,
    IS_MUTABLE,
    IS_OUT,
    ITEMSIZE,
    KIND,
    NITEMS,
    OFFSET,
    OUT_WORDS,
    OUTS,
    OWNER,
    PARENT,
    RESULT_BYTES,
    RESULTS,
    ROW,
    ROWS,
    SIZE_OF_ITEM,
)
from jitad.emit.numba_private.plan import FLAGS as FLAGS_OF_RESULT

WORD, INTEGER, BIT = ir.IntType(64), ir.IntType(32), ir.IntType(1)
BYTES, WORDS = ir.IntType(8).as_pointer(), WORD.as_pointer()
_COUNTED = types.MemInfoPointer(types.voidptr)

# What a builtin function keeps for its own way: the kernel's address, what a shortcut relies on (or
# whom another way asks), then the plan, the dtypes and the classes that are met.
OWN = 14
_PLAN, _DTYPES, _NDARRAY, _FLOAT64, _BRIEF = range(OWN, OWN + 5)


class Way:
    """A builtin function in machine code: what Python calls with itself, a tuple, and a dict."""

    def __init__(self, context: Any, module: Any, name: str) -> None:
        """`name`: what the names of all ways of the module end with."""
        self.context, self.module, self.ending = context, module, name
        object_ = context.get_argument_type(types.pyobject)
        kind = ir.FunctionType(object_, [object_] * 3)
        self.function = ir.Function(module, kind, name=name_of(type(self), name))
        self.builder = b = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.api = context.get_python_api(b)
        closure, args, named = self.function.args
        environment = field(b, closure, _dynfunc._impl_info["offsetof_closure_body"], object_)
        consts = field(b, environment, _dynfunc._impl_info["offsetof_env_body"] + 8, object_)
        self.given = field(b, consts, LIST_ITEMS, object_.as_pointer())
        self.unfit = b.append_basic_block("unfit")
        with b.goto_block(self.unfit):
            self.decline()
        self.write(closure, args, named)

    def write(self, closure: Any, args: Any, named: Any) -> None:
        raise NotImplementedError

    def decline(self) -> None:
        """What becomes of a call that doesn't fit."""
        self.ask(*self.function.args[1:])

    def ask(self, args: Any, named: Any) -> None:
        """Python is asked."""
        self.builder.ret(self.api.call(self.known(1), args, named))

    def known(self, k: int) -> Any:
        """What the builtin function keeps."""
        return self.builder.load(self.builder.gep(self.given, [WORD(k)]))

    @property
    def plan(self) -> Any:
        return field(self.builder, self.known(_PLAN), VALUE, WORDS)

    def expect(self, holds: Any) -> None:
        after = self.builder.append_basic_block("fits")
        self.builder.cbranch(holds, after, self.unfit)
        self.builder.position_at_end(after)

    def is_declined(self, result: Any) -> Any:
        answer = self.api.get_c_object("_Py_NotImplementedStruct")
        return self.builder.icmp_unsigned("==", result, answer)


def name_of(kind: type, ending: str) -> str:
    """The name of a way of this kind."""
    return f"{kind.__name__}.{ending}"


class Direct(Way):
    """A way into a kernel for arguments of exactly the expected kinds.

    Numba's own way finds out what each argument is, and gives it an object that keeps its memory;
    here an array is looked at where it lies.  The caller's tuple keeps it, and kernels hand out
    arrays of their own only.  For anything else the answer is NotImplemented.

    There may be more arguments: an array for each array among the results, to be copied to.  A
    result that doesn't fit its array, or arrays that overlap, are left alone: then all results are
    new arrays.
    """

    def decline(self) -> None:
        answer = self.api.get_c_object("_Py_NotImplementedStruct")
        self.api.incref(answer)
        self.builder.ret(answer)

    def write(self, closure: Any, args: Any, named: Any) -> None:
        b, api = self.builder, self.api
        plan = self.plan
        count, wanted = field(b, args, SIZE, WORD), told(b, plan, ARGUMENTS)
        outs = told(b, plan, OUTS)
        is_given = b.icmp_signed("==", count, b.add(wanted, outs))
        self.expect(b.or_(is_given, b.icmp_signed("==", count, wanted)))
        is_given = b.and_(is_given, b.icmp_signed("!=", outs, WORD(0)))
        words = b.alloca(WORD, told(b, plan, GIVEN_WORDS))
        result = b.alloca(WORD, b.lshr(b.add(told(b, plan, RESULT_BYTES), WORD(7)), WORD(3)))
        targets = b.alloca(WORD, told(b, plan, OUT_WORDS))
        with b.if_then(is_given, likely=False):
            self.expect(self.inner(_targets, BIT, plan, b.gep(args_of(b, args), [wanted]),
                                   self.known(_DTYPES), self.known(_NDARRAY), targets))  # fmt: skip
        elements = self.arguments(plan, wanted, args, words)
        status = self.called(plan, words, result, elements)
        with b.if_then(status.is_ok, likely=True):
            copied = cgutils.alloca_once_value(b, BIT(0))
            with b.if_then(is_given, likely=False):
                b.store(self.inner(_copied, BIT, plan, result, targets), copied)
            theirs = b.select(b.load(copied), b.gep(args_of(b, args), [wanted]),
                              ir.Constant(args_of(b, args).type, None))  # fmt: skip
            self.results(plan, wanted, result, theirs)
        self.context.call_conv.raise_error(b, api, status)
        b.ret(api.get_null_object())

    def inner(self, write: Callable[..., None], result: Any, *given: Any) -> Any:
        return inner(self.context, self.builder, write, result, *given)

    def called(self, plan: Any, words: Any, result: Any, elements: Any) -> Any:
        """How a call of the kernel ended, whose arguments have so many elements."""
        b, conv, api = self.builder, self.context.call_conv, self.api
        with b.if_else(b.icmp_signed("!=", told(b, plan, COPIES), WORD(0))) as (small, others):
            with small:
                offer(b, result)
            with others:
                b.store(NO_OFFER, result)
        about = cgutils.alloca_once(b, ir.PointerType(callconv.excinfo_t))
        for k, place in enumerate((result, about)):
            b.store(b.ptrtoint(place, WORD), b.gep(words, [WORD(k)]))
        kernel = ir.FunctionType(INTEGER, [WORDS])
        kernel = field(b, self.known(0), VALUE, kernel.as_pointer())
        code = cgutils.alloca_once(b, INTEGER)
        is_brief = b.icmp_signed("<=", elements, field(b, self.known(_BRIEF), VALUE, WORD))
        with b.if_else(is_brief) as (brief, others):
            with brief:
                b.store(b.call(kernel, [words]), code)
            with others:
                state = api.save_thread()
                b.store(b.call(kernel, [words]), code)
                api.restore_thread(state)
        return conv._get_return_status(b, b.load(code), b.load(about))

    def arguments(self, plan: Any, count: Any, args: Any, words: Any) -> Any:
        """Put them where the kernel reads them; how many elements have those that are arrays?"""
        b = self.builder
        elements = cgutils.alloca_once_value(b, WORD(0))
        top = cgutils.alloca_once_value(b, b.gep(words, [WORD(2)]))
        with rows(b, plan, WORD(0), count) as (k, row):
            thing, place = b.load(b.gep(args_of(b, args), [k])), b.load(top)
            kind = told(b, row, KIND)
            with b.if_else(b.icmp_signed(">=", kind, WORD(0))) as (array, number):
                with array:
                    dtype = b.load(b.gep(args_of(b, self.known(_DTYPES)), [k]))
                    self.expect(self.inner(_taken, BIT, thing, self.known(_NDARRAY), dtype, kind,
                                           told(b, row, ITEMSIZE), place))  # fmt: skip
                    b.store(b.add(b.load(elements), told(b, place, NITEMS)), elements)
                    b.store(b.gep(place, [length(b, kind)]), top)
                with number:
                    self.number(thing, kind, place)
                    b.store(b.gep(place, [WORD(1)]), top)
        return b.load(elements)

    def number(self, thing: Any, kind: Any, place: Any) -> None:
        b, api = self.builder, self.api
        of = field(b, thing, TYPE, api.pyobj)
        is_float = b.icmp_signed("==", kind, WORD(FLOAT))
        with b.if_else(is_float, likely=True) as (float_, other):
            with float_:
                own = b.icmp_unsigned("==", of, api.get_c_object("PyFloat_Type"))
                self.expect(b.or_(own, b.icmp_unsigned("==", of, self.known(_FLOAT64))))
                b.store(field(b, thing, VALUE, WORD), place)
            with other:
                with b.if_else(b.icmp_signed("==", kind, WORD(INT))) as (int_, bool_):
                    with int_:
                        self.expect(b.icmp_unsigned("==", of, api.get_c_object("PyLong_Type")))
                        b.store(self.integer(thing), place)
                    with bool_:
                        true, false = (
                            b.icmp_unsigned("==", thing, api.get_c_object(f"_Py_{x}Struct"))
                            for x in ("True", "False")
                        )
                        self.expect(b.or_(true, false))
                        b.store(b.zext(true, WORD), place)

    def integer(self, thing: Any) -> Any:
        api, b = self.api, self.builder
        value = api.long_as_longlong(thing)
        too_big = b.and_(
            b.icmp_signed("==", value, value.type(-1)),
            cgutils.is_not_null(b, api.err_occurred()),
        )
        with b.if_then(too_big, likely=False):
            api.err_clear()
            b.branch(self.unfit)
        return value

    def results(self, plan: Any, first: Any, result: Any, theirs: Any) -> None:
        """Return them in a tuple; `theirs`: the arrays that were copied to, or null."""
        b, api, count = self.builder, self.api, told(self.builder, plan, RESULTS)
        make = cgutils.get_or_insert_function(
            b.module, ir.FunctionType(api.pyobj, [WORD]), "PyTuple_New"
        )
        out = b.call(make, [count])
        target = cgutils.alloca_once_value(b, theirs)
        made = cgutils.alloca_once(b, api.pyobj)
        with rows(b, plan, first, count) as (k, row):
            kind, place = told(b, row, KIND), at(b, result, told(b, row, OFFSET))
            with b.if_else(b.icmp_signed(">=", kind, WORD(0))) as (array, number):
                with array:
                    dtype = b.load(b.gep(args_of(b, self.known(_DTYPES)), [b.add(first, k)]))
                    flags = told(b, row, FLAGS_OF_RESULT)
                    is_out = b.and_(has(b, flags, IS_OUT), cgutils.is_not_null(b, b.load(target)))
                    with b.if_else(is_out, likely=False) as (given, new):
                        with given:
                            own = b.load(b.load(target))
                            api.incref(own)
                            _let_go(self.context, b, place)
                            b.store(own, made)
                            b.store(b.gep(b.load(target), [WORD(1)]), target)
                        with new:
                            b.store(self.inner(_given, api.pyobj, place, kind, flags,
                                               self.known(_NDARRAY), dtype), made)  # fmt: skip
                with number:
                    with b.if_else(b.icmp_signed("==", kind, WORD(FLOAT)), likely=True) as (
                        float_, other,
                    ):  # fmt: skip
                        with float_:
                            value = b.load(b.bitcast(place, ir.DoubleType().as_pointer()))
                            b.store(api.float_from_double(value), made)
                        with other:
                            with b.if_else(b.icmp_signed("==", kind, WORD(BOOL))) as (bool_, int_):
                                with bool_:
                                    value = b.load(b.bitcast(place, BYTES))
                                    value = b.zext(b.trunc(value, BIT), api.long)
                                    b.store(api.bool_from_long(value), made)
                                with int_:
                                    b.store(api.long_from_longlong(b.load(place)), made)
            with b.if_then(cgutils.is_null(b, b.load(made)), likely=False):
                api.decref(out)
                b.ret(api.get_null_object())
            b.store(b.load(made), b.gep(args_of(b, out), [k]))
        b.ret(out)


class Usual(Way):
    """What Numba's dispatcher calls: the direct way, and Python for what that doesn't take."""

    def write(self, closure: Any, args: Any, named: Any) -> None:
        b = self.builder
        self.expect(cgutils.is_null(b, named))
        direct = self.module.globals[name_of(Direct, self.ending)]
        result = b.call(direct, [closure, args, named])
        with b.if_then(self.is_declined(result), likely=False):
            self.api.decref(result)
            b.branch(self.unfit)
        b.ret(result)


# -- what is read of plans, objects and arrays -----------------------------------------------------


def told(b: Any, words: Any, k: int) -> Any:
    return b.load(b.gep(words, [WORD(k)]))


@contextmanager
def rows(b: Any, plan: Any, first: Any, count: Any) -> Iterator[tuple[Any, Any]]:
    """A loop over so many rows of a plan: the number of each, counted from the first, and where it
    is."""
    with cgutils.for_range(b, count) as loop:
        row = b.add(b.mul(b.add(first, loop.index), WORD(ROW)), WORD(ROWS))
        yield loop.index, b.gep(plan, [row])


def args_of(b: Any, items: Any) -> Any:
    """Where the items of a tuple are."""
    return b.bitcast(at(b, items, WORD(ITEMS)), items.type.as_pointer())


def at(b: Any, thing: Any, bytes_: Any) -> Any:
    return b.bitcast(b.gep(b.bitcast(thing, BYTES), [bytes_]), WORDS)


def has(b: Any, flags: Any, flag: int) -> Any:
    return b.icmp_unsigned("!=", b.and_(flags, WORD(flag)), WORD(0))


def length(b: Any, ndim: Any) -> Any:
    """The words of an array's structure."""
    return b.add(b.shl(ndim, WORD(1)), WORD(EXTENTS))


def inner(context: Any, b: Any, write: Callable[..., None], result: Any, *given: Any) -> Any:
    """A call of a function of the module, which is written once."""
    name = f"jitad{write.__name__}"
    if name not in b.module.globals:
        fnty = ir.FunctionType(result, [v.type for v in given])
        function = ir.Function(b.module, fnty, name)
        function.linkage = "internal"
        function.attributes.add("noinline")
        write(context, ir.IRBuilder(function.append_basic_block("entry")), *function.args)
    return b.call(b.module.globals[name], given)


# -- arrays ----------------------------------------------------------------------------------------


def _taken(
    context: Any, b: Any, thing: Any, kind: Any, dtype: Any, ndim: Any, itemsize: Any, words: Any
) -> None:
    """Is it a plain array?  If so its structure is written to where words begin."""

    def expect(holds: Any) -> None:
        with b.if_then(b.not_(holds), likely=False):
            b.ret(BIT(0))

    expect(b.icmp_unsigned("==", field(b, thing, TYPE, kind.type), kind))
    fits = b.icmp_unsigned("==", field(b, thing, DESCR, kind.type), dtype)
    axes = b.sext(field(b, thing, NDIM, INTEGER), WORD)
    fits = b.and_(fits, b.icmp_signed("==", axes, ndim))
    flags = b.and_(field(b, thing, FLAGS, INTEGER), INTEGER(PLAIN))
    expect(b.and_(fits, b.icmp_signed("==", flags, INTEGER(PLAIN))))
    extents = field(b, thing, EXTENTS_OF_OBJECT, WORDS)
    count, stride = (cgutils.alloca_once_value(b, x) for x in (WORD(1), itemsize))
    with cgutils.for_range(b, ndim) as loop:
        axis = b.sub(b.sub(ndim, WORD(1)), loop.index)
        n = b.load(b.gep(extents, [axis]))
        place = b.gep(words, [b.add(axis, WORD(EXTENTS))])
        b.store(n, place)
        b.store(b.load(stride), b.gep(place, [ndim]))
        b.store(b.mul(b.load(stride), n), stride)
        b.store(b.mul(b.load(count), n), count)
    data = field(b, thing, DATA, WORD)
    parts = {OWNER: WORD(0), PARENT: b.ptrtoint(thing, WORD), NITEMS: b.load(count),
             SIZE_OF_ITEM: itemsize, ELEMENTS: data}  # fmt: skip
    for k, x in parts.items():
        b.store(x, b.gep(words, [WORD(k)]))
    b.ret(BIT(1))


def _targets(
    context: Any, b: Any, plan: Any, things: Any, dtypes: Any, kind: Any, words: Any
) -> None:
    """Are the arrays that were given to be copied to of the results' kinds?  They are taken."""
    thing, place = (cgutils.alloca_once_value(b, x) for x in (things, words))
    first = told(b, plan, ARGUMENTS)
    with rows(b, plan, first, told(b, plan, RESULTS)) as (k, row):
        with b.if_then(has(b, told(b, row, FLAGS_OF_RESULT), IS_OUT)):
            dtype = b.load(b.gep(args_of(b, dtypes), [b.add(first, k)]))
            ndim = told(b, row, KIND)
            fits = inner(context, b, _taken, BIT, b.load(b.load(thing)), kind, dtype, ndim,
                         told(b, row, ITEMSIZE), b.load(place))  # fmt: skip
            with b.if_then(b.not_(fits), likely=False):
                b.ret(BIT(0))
            b.store(b.gep(b.load(thing), [WORD(1)]), thing)
            b.store(b.gep(b.load(place), [length(b, ndim)]), place)
    b.ret(BIT(1))


def _copied(context: Any, b: Any, plan: Any, result: Any, targets: Any) -> None:
    """Copy the results to the given arrays, if each fits and they don't overlap; was that done?"""
    count = told(b, plan, OUTS)
    spans = b.alloca(WORD, b.shl(count, WORD(1)))

    @contextmanager
    def pairs() -> Iterator[tuple[Any, Any, Any, Any]]:
        """Of results and their targets: which it is, the axes, both structures."""
        place, number = (cgutils.alloca_once_value(b, x) for x in (targets, WORD(0)))
        with rows(b, plan, told(b, plan, ARGUMENTS), told(b, plan, RESULTS)) as (_, row):
            with b.if_then(has(b, told(b, row, FLAGS_OF_RESULT), IS_OUT)):
                ndim, k = told(b, row, KIND), b.load(number)
                yield k, ndim, at(b, result, told(b, row, OFFSET)), b.load(place)
                b.store(b.gep(b.load(place), [length(b, ndim)]), place)
                b.store(b.add(k, WORD(1)), number)

    with pairs() as (k, ndim, made, out):
        with cgutils.for_range(b, ndim) as axis:
            one, other = (b.load(b.gep(x, [b.add(axis.index, WORD(EXTENTS))])) for x in (made, out))
            with b.if_then(b.icmp_signed("!=", one, other), likely=False):
                b.ret(BIT(0))
        start = told(b, out, ELEMENTS)
        size = b.mul(told(b, out, NITEMS), told(b, out, SIZE_OF_ITEM))
        span = b.gep(spans, [b.shl(k, WORD(1))])
        b.store(start, span)
        b.store(b.add(start, size), b.gep(span, [WORD(1)]))
    with b.if_then(b.not_(inner(context, b, _are_apart, BIT, spans, count)), likely=False):
        b.ret(BIT(0))
    with pairs() as (_, _, made, out):
        to, source = (b.inttoptr(told(b, x, ELEMENTS), BYTES) for x in (out, made))
        cgutils.raw_memcpy(b, to, source, told(b, made, NITEMS), told(b, made, SIZE_OF_ITEM))
    b.ret(BIT(1))


def _are_apart(context: Any, b: Any, spans: Any, n: Any) -> None:
    """Do none of n pairs of a beginning and an end overlap?"""

    def read(k: Any) -> tuple[Any, Any]:
        pair = b.gep(spans, [b.shl(k, WORD(1))])
        return b.load(pair), b.load(b.gep(pair, [WORD(1)]))

    with cgutils.for_range(b, n) as one:
        start, end = read(one.index)
        with cgutils.for_range(b, one.index) as other:
            first, last = read(other.index)
            apart = b.or_(b.icmp_unsigned(">=", start, last), b.icmp_unsigned(">=", first, end))
            with b.if_then(b.not_(apart), likely=False):
                b.ret(BIT(0))
    b.ret(BIT(1))


def _given(
    context: Any, b: Any, place: Any, ndim: Any, flags: Any, class_: Any, dtype: Any
) -> None:
    """A new array of NumPy's with a result; a small one is copied, so that no object has to keep
    the kernel's memory."""
    size = b.mul(told(b, place, NITEMS), told(b, place, SIZE_OF_ITEM))
    small = b.and_(has(b, flags, IS_COPIED), b.icmp_unsigned("<=", size, WORD(SMALL)))
    axes = b.trunc(ndim, INTEGER)
    with b.if_then(small):
        context.get_python_api(b).incref(dtype)  # which the new array takes over
        out = new_array_object(b, class_, dtype, axes, b.gep(place, [WORD(EXTENTS)]))
        with b.if_then(cgutils.is_not_null(b, out), likely=True):
            source = b.inttoptr(told(b, place, ELEMENTS), BYTES)
            cgutils.raw_memcpy(b, field(b, out, DATA, BYTES), source, size, WORD(1))
        _let_go(context, b, place)
        b.ret(out)
    kind = ir.FunctionType(class_.type, [BYTES, class_.type, INTEGER, INTEGER, dtype.type])
    name = "NRT_adapt_ndarray_to_python_acqref"
    box = cgutils.get_or_insert_function(b.module, kind, name)
    is_mutable = b.zext(has(b, flags, IS_MUTABLE), INTEGER)
    out = b.call(box, [b.bitcast(place, BYTES), class_, axes, is_mutable, dtype])
    _let_go(context, b, place)
    b.ret(out)


def _let_go(context: Any, b: Any, place: Any) -> None:
    """Of an array's memory."""
    context.nrt.decref(b, _COUNTED, b.inttoptr(told(b, place, OWNER), BYTES))


def leave_as_written(function: Any) -> None:
    """Don't optimise a function that each kernel has, and whose own time doesn't matter."""
    for attribute in ("noinline", "optnone"):
        function.attributes.add(attribute)
