"""How does a call come to a kernel's direct way without any Python in between?

What a call relies on, beside its arguments, are functions, modules and the like, that are looked up
in namespaces and cells: machine code can look whether they are the very objects that were found
last time.  Where anything is otherwise, Python finds out what the matter is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CellType, FunctionType
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils

from jitad.emit.numba_private.declarations import declare
from jitad.emit.numba_private.entry import (
    OWN,
    Direct,
    Way,
    has,
    leave_as_written,
    name_of,
    rows,
    told,
)
from jitad.emit.numba_private.layout import (
    CODE,
    CONTENTS,
    DATA,
    DEFAULTS,
    ITEMS,
    SIZE,
    TYPE,
    VERSION,
    VERSIONS_ARE_TOLD,
    field,
)
from jitad.emit.numba_private.plan import ARGUMENTS, FLAGS, IS_OUT, KIND, OUTS, RESULTS

_WORD, _INT = ir.IntType(64), ir.IntType(32)


class Relied(NamedTuple):
    """What a call relies on: everything is the very object that is named here."""

    classes: Sequence[type]  # of the kernel's arguments that are numbers; of arrays, `Direct` knows
    functions: Sequence[tuple[FunctionType, Any, Any]] = ()  # what they do, and their defaults
    items: Sequence[tuple[dict[str, Any], str, Any]] = ()  # what namespaces hold, or `NOT_THERE`
    cells: Sequence[tuple[CellType, Any]] = ()  # what variables of closures hold
    reads: Sequence[tuple[Any, Any]] = ()
    """What the kernel takes beside the arguments: an item of a namespace by its name, what is in a
    cell now (`IN_CELL`), or the object itself (`ITSELF`)."""


Form = None | bool | tuple["Form", ...]
"""What results are put together to: None, the next one; a tuple of such.  What `out=` is taken
apart to: None, an array; False, nothing."""

IN_CELL, ITSELF = None, NotImplemented
NOT_THERE = NotImplemented

# what the machine code finds with a shortcut, in this order, after the kernel's address
(_GENERAL, _FORM, _OUT, _INTO, _MISSES, _WHOLE, _SPACES, _SEEN, _CLASSES, _FUNCTIONS, _ITEMS,
 _CELLS, _READS) = range(1, OWN)  # fmt: skip


class Shortcut(Way):
    """A way into `Direct`: it tests what is relied on, takes `out=` apart, puts results together.

    Where something isn't as expected, or the kernel finds that (one of `misses` is raised), the
    call goes to a function in Python.
    """

    def write(self, closure: Any, args: Any, named: Any) -> None:
        # To optimise it takes longer than all the rest, and gains each call some nanoseconds.
        leave_as_written(self.function)
        b, api, object_ = self.builder, self.api, self.api.pyobj
        self.each(_FUNCTIONS, 3, self.code)
        self.each(_CELLS, 2, lambda cell, now: self.same(field(b, cell, CONTENTS, object_), now))
        self.namespaces()
        whole, out = self.operands(args, named)
        way = b.module.globals[name_of(Direct, self.ending)]
        result = b.call(way, [closure, whole, api.get_null_object()])
        with b.if_then(cgutils.is_null(b, result), likely=False):
            api.decref(whole)
            missed = declare(b.module, ir.FunctionType(_INT, [object_]),
                             "PyErr_ExceptionMatches", ())  # fmt: skip
            with b.if_then(b.icmp_signed("!=", b.call(missed, [self.known(_MISSES)]), _INT(0))):
                api.err_clear()
                b.branch(self.unfit)
            b.ret(result)
        fits = cgutils.alloca_once_value(b, b.icmp_unsigned(
            "!=", result, api.get_c_object("_Py_NotImplementedStruct")))  # fmt: skip
        with b.if_then(b.and_(b.load(fits), cgutils.is_not_null(b, out)), likely=False):
            first = told(b, self.plan, ARGUMENTS)
            target = cgutils.alloca_once_value(b, first)
            with rows(b, self.plan, first, told(b, self.plan, RESULTS)) as (k, row):
                with b.if_then(has(b, told(b, row, FLAGS), IS_OUT)):
                    given, made = b.load(self.at(whole, b.load(target))), self.at(result, k)
                    written = b.icmp_unsigned("==", given, b.load(made))
                    b.store(b.and_(b.load(fits), written), fits)
                    b.store(b.add(b.load(target), _WORD(1)), target)
        api.decref(whole)
        self.unless(b.load(fits), result)
        form = self.known(_FORM)
        with b.if_then(b.icmp_unsigned("!=", form, api.get_c_object("_Py_TrueStruct"))):
            start = cgutils.alloca_once_value(b, _WORD(0))
            made = b.call(self.helper(_put_together, object_, object_, object_, start.type),
                          [form, result, start])  # fmt: skip
            api.decref(result)
            b.ret(made)
        b.ret(result)

    def code(self, f: Any, code: Any, defaults: Any) -> None:
        self.same(field(self.builder, f, CODE, self.api.pyobj), code)
        given = field(self.builder, f, DEFAULTS, self.api.pyobj)
        none = self.api.get_c_object("_Py_NoneStruct")
        self.same(self.builder.select(cgutils.is_null(self.builder, given), none, given), defaults)

    def namespaces(self) -> None:
        """Do they hold what they did?  A dict that wasn't changed since need not be asked."""
        if not VERSIONS_ARE_TOLD:
            return self.each(_ITEMS, 3, self.held)
        b, spaces = self.builder, self.known(_SPACES)
        seen = field(b, self.known(_SEEN), DATA, _WORD.as_pointer())
        count, changed = field(b, spaces, SIZE, _WORD), cgutils.alloca_once_value(b, _WORD(0))

        def now(k: Any) -> Any:
            return field(b, b.load(self.at(spaces, k)), VERSION, _WORD)

        with cgutils.for_range(b, count) as loop:
            differs = b.xor(now(loop.index), b.load(b.gep(seen, [loop.index])))
            b.store(b.or_(b.load(changed), differs), changed)
        with b.if_then(b.icmp_signed("!=", b.load(changed), _WORD(0)), likely=False):
            self.each(_ITEMS, 3, self.held)
            with cgutils.for_range(b, count) as loop:
                b.store(now(loop.index), b.gep(seen, [loop.index]))

    def held(self, space: Any, key: Any, expected: Any) -> None:
        b, api = self.builder, self.api
        nothing = b.icmp_unsigned("==", expected, api.get_c_object("_Py_NotImplementedStruct"))
        self.same(self.item(space, key), b.select(nothing, api.get_null_object(), expected))

    def operands(self, args: Any, named: Any) -> tuple[Any, Any]:
        """A tuple of what `Direct` takes, to be given up, and what `out=` gives, or null.

        That is the caller's own where nothing is to be added.
        """
        b, api, object_ = self.builder, self.api, self.api.pyobj
        out = cgutils.alloca_once_value(b, api.get_null_object())
        with b.if_then(cgutils.is_not_null(b, named), likely=False):
            self.expect(self.is_there(_OUT))
            count = declare(b.module, ir.FunctionType(_WORD, [object_]), "PyDict_Size", ())
            self.expect(b.icmp_signed("==", b.call(count, [named]), _WORD(1)))
            found = self.item(named, self.known(_OUT))
            self.expect(cgutils.is_not_null(b, found))
            b.store(found, out)
        own, reads = field(b, args, SIZE, _WORD), self.known(_READS)
        more = b.sdiv(field(b, reads, SIZE, _WORD), _WORD(2))
        wanted = told(b, self.plan, ARGUMENTS)
        self.expect(b.icmp_signed("==", b.add(own, more), wanted))
        with_out = cgutils.is_not_null(b, b.load(out))
        longer = b.or_(with_out, b.icmp_signed("!=", more, _WORD(0)))
        whole = cgutils.alloca_once_value(b, args)
        with b.if_else(longer, likely=False) as (new, same):
            with same:
                api.incref(args)
            with new:
                make = declare(b.module, ir.FunctionType(object_, [_WORD]), "PyTuple_New", ())
                end = b.add(wanted, told(b, self.plan, OUTS))
                made = b.call(make, [b.select(with_out, end, wanted)])

                def put(k: Any, thing: Any) -> None:
                    self.unless(cgutils.is_not_null(b, thing), made)
                    api.incref(thing)
                    b.store(thing, self.at(made, k))

                with cgutils.for_range(b, own) as loop:
                    put(loop.index, b.load(self.at(args, loop.index)))
                with cgutils.for_range(b, more) as loop:
                    place = b.mul(loop.index, _WORD(2))
                    owner = b.load(self.at(reads, place))
                    key = b.load(self.at(reads, b.add(place, _WORD(1))))
                    put(b.add(own, loop.index), self.read(owner, key))
                with b.if_then(with_out):
                    place = cgutils.alloca_once_value(b, wanted)
                    apart = self.helper(_taken_apart, ir.IntType(1), *[object_] * 3, place.type,
                                        _WORD)  # fmt: skip
                    fits = b.call(apart, [self.known(_INTO), b.load(out), made, place, end])
                    complete = b.icmp_signed("==", b.load(place), end)
                    self.unless(b.and_(fits, complete), made)
                b.store(made, whole)
        operands = b.load(whole)
        with rows(b, self.plan, _WORD(0), wanted) as (k, row):
            with b.if_then(b.icmp_signed("<", told(b, row, KIND), _WORD(0))):
                class_ = b.load(self.at(self.known(_CLASSES), k))
                now = field(b, b.load(self.at(operands, k)), TYPE, object_)
                self.unless(b.icmp_unsigned("==", now, class_), operands)
        return operands, b.load(out)

    def read(self, owner: Any, key: Any) -> Any:
        """What the kernel takes beside the arguments; null where it is gone."""
        b, object_ = self.builder, self.api.pyobj
        found = cgutils.alloca_once_value(b, owner)
        none = b.icmp_unsigned("==", key, self.api.get_c_object("_Py_NoneStruct"))
        itself = b.icmp_unsigned("==", key, self.api.get_c_object("_Py_NotImplementedStruct"))
        with b.if_then(none):
            b.store(field(b, owner, CONTENTS, object_), found)
        with b.if_then(b.not_(b.or_(none, itself))):
            b.store(self.item(owner, key), found)
        return b.load(found)

    def at(self, things: Any, k: Any) -> Any:
        return _item(self.builder, things, k)

    def helper(self, write: Callable[..., None], result: Any, *kinds: Any) -> Any:
        """A function of the module, which calls itself."""
        name = f"jitad{write.__name__}"
        if name not in self.module.globals:
            function = ir.Function(self.module, ir.FunctionType(result, kinds), name)
            function.linkage = "internal"
            leave_as_written(function)
            b = ir.IRBuilder(function.append_basic_block("entry"))
            write(self.context.get_python_api(b), b, function)
        return self.module.globals[name]

    def is_there(self, k: int) -> Any:
        return self.builder.icmp_unsigned("!=", self.known(k), self.api.get_c_object(
            "_Py_NoneStruct"))  # fmt: skip

    def item(self, space: Any, key: Any) -> Any:
        object_ = self.api.pyobj
        kind = ir.FunctionType(object_, [object_, object_])
        find = declare(self.builder.module, kind, "PyDict_GetItem", ())
        return self.builder.call(find, [space, key])

    def each(self, k: int, width: int, test: Callable[..., None]) -> None:
        """Test what lies in a tuple, so many objects at a time."""
        b, things = self.builder, self.known(k)
        end = b.sdiv(field(b, things, SIZE, _WORD), _WORD(width))
        with cgutils.for_range(b, end) as loop:
            start = b.mul(loop.index, _WORD(width))
            test(*(b.load(self.at(things, b.add(start, _WORD(j)))) for j in range(width)))

    def same(self, thing: Any, expected: Any) -> None:
        self.expect(self.builder.icmp_unsigned("==", thing, expected))

    def unless(self, holds: Any, held: Any) -> None:
        """Python is asked where this isn't so; `held` is given up."""
        b = self.builder
        with b.if_then(b.not_(holds), likely=False):
            self.api.decref(held)
            b.branch(self.unfit)


class Bound(Shortcut):
    """The way for one call, again and again: what `Direct` takes lies in a tuple already."""

    def operands(self, args: Any, named: Any) -> tuple[Any, Any]:
        b, api, reads = self.builder, self.api, self.known(_READS)
        self.expect(cgutils.is_null(b, named))
        self.expect(b.icmp_signed("==", field(b, args, SIZE, _WORD), _WORD(0)))
        whole, wanted = self.known(_WHOLE), told(b, self.plan, ARGUMENTS)
        more = b.sdiv(field(b, reads, SIZE, _WORD), _WORD(2))
        with cgutils.for_range(b, more) as loop:
            place = b.mul(loop.index, _WORD(2))
            key = b.load(self.at(reads, b.add(place, _WORD(1))))
            now = self.read(b.load(self.at(reads, place)), key)
            self.same(now, b.load(self.at(whole, b.add(b.sub(wanted, more), loop.index))))
        api.incref(whole)
        return whole, b.select(self.is_there(_OUT), whole, api.get_null_object())


def _put_together(api: Any, b: Any, function: Any) -> None:
    """What is of this form, made of a tuple of results, from the next one on."""
    form, results, place = function.args
    with b.if_then(b.icmp_unsigned("==", form, api.get_c_object("_Py_NoneStruct"))):
        k = b.load(place)
        only = b.load(_item(b, results, k))
        b.store(b.add(k, _WORD(1)), place)
        api.incref(only)
        b.ret(only)
    count = field(b, form, SIZE, _WORD)
    make = declare(b.module, ir.FunctionType(form.type, [_WORD]), "PyTuple_New", ())
    out = b.call(make, [count])
    with b.if_then(cgutils.is_null(b, out), likely=False):
        b.ret(out)
    with cgutils.for_range(b, count) as loop:
        part = b.call(function, [b.load(_item(b, form, loop.index)), results, place])
        with b.if_then(cgutils.is_null(b, part), likely=False):
            api.decref(out)
            b.ret(part)
        b.store(part, _item(b, out, loop.index))
    b.ret(out)


def _taken_apart(api: Any, b: Any, function: Any) -> None:
    """Put what is of this form into a tuple, at the next place and before its end; is it?"""
    form, thing, into, place, end = function.args
    yes, no = ir.IntType(1)(1), ir.IntType(1)(0)
    with b.if_then(b.icmp_unsigned("==", form, api.get_c_object("_Py_FalseStruct"))):
        b.ret(yes)  # a number, which is not looked at
    k = b.load(place)
    with b.if_then(b.icmp_unsigned("==", form, api.get_c_object("_Py_NoneStruct"))):
        with b.if_then(b.icmp_signed(">=", k, end)):
            b.ret(no)
        api.incref(thing)
        b.store(thing, _item(b, into, k))
        b.store(b.add(k, _WORD(1)), place)
        b.ret(yes)
    kind = field(b, thing, TYPE, form.type)
    with b.if_then(b.icmp_unsigned("!=", kind, api.get_c_object("PyTuple_Type"))):
        b.ret(no)
    count = field(b, form, SIZE, _WORD)
    with b.if_then(b.icmp_signed("!=", count, field(b, thing, SIZE, _WORD))):
        b.ret(no)
    with cgutils.for_range(b, count) as loop:
        parts = [b.load(_item(b, x, loop.index)) for x in (form, thing)]
        with b.if_then(b.not_(b.call(function, [*parts, into, place, end]))):
            b.ret(no)
    b.ret(yes)


def _item(b: Any, things: Any, k: Any) -> Any:
    """Where the k-th of a tuple is."""
    pointer = things.type.as_pointer()
    items = b.gep(b.bitcast(things, ir.IntType(8).as_pointer()), [_WORD(ITEMS)])
    return b.gep(b.bitcast(items, pointer), [k])


def own_constants(
    relied: Relied, general: Callable[..., Any], misses: tuple[type[BaseException], ...],
    form: Form, into: Form, whole: tuple[Any, ...] | None,
) -> list[Any]:  # fmt: skip
    """What the machine code finds with a shortcut."""
    flat = isinstance(form, tuple) and all(f is None for f in form)
    spaces = tuple({id(space): space for space, _, _ in relied.items}.values())
    return [
        general, True if flat else form, None if into is False else "out", into, misses, whole,
        spaces, np.zeros(len(spaces), np.int64), tuple(relied.classes),
        *(tuple(x for group in groups for x in group)
          for groups in relied[1:]),
    ]  # fmt: skip
