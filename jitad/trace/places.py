"""What do reads and writes of names, attributes and items do in a rewritten function?

What lies outside the trace is read through the captures, and written after a note in the journal.
"""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable
from types import BuiltinMethodType, ModuleType
from typing import Any

import numpy as np

from jitad.errors import (
    JitadAttributeError,
    JitadError,
    JitadIndexError,
    JitadUnboundLocalError,
    JitadValueError,
)
from jitad.primitives import TABLE
from jitad.tape.build import Leaf
from jitad.tape.types import BOOL, INT
from jitad.trace import protocols
from jitad.trace.around import modules, outside
from jitad.trace.around.libraries import is_library_file
from jitad.trace.around.unseen import read_item, untouched
from jitad.trace.calls import HERE, WHILE_TRACING, call, special
from jitad.trace.containers import in_rows, keyed, lists, partial, put_in, tabled
from jitad.trace.containers.iterables import Counted, pick
from jitad.trace.containers.listed import subscripted
from jitad.trace.containers.stretch import stretched
from jitad.trace.containers.writing import MUTABLE, note
from jitad.trace.containers.writtenback import writing
from jitad.trace.joins.optional import present
from jitad.trace.joins.selected import among_parts, asked, spread
from jitad.trace.joins.unset import UNSET, Perhaps, is_among, is_optional
from jitad.trace.noting import note_attr
from jitad.trace.ongoing import current
from jitad.values.array import ArrayHandle, wrap
from jitad.values.complexes.number import Complex
from jitad.values.extents import add, as_int, mul
from jitad.values.functions import implementation
from jitad.values.journal import made as note_made
from jitad.values.journal import made_if_new, record
from jitad.values.kind import fail, is_python, missing, primal, require, type_of, wrong_type
from jitad.values.number import Number, bind
from jitad.values.numpy.structured import Element, Structured
from jitad.values.python_functions import hasattr_, python_type
from jitad.values.stand_ins import adopt

# -- names ----------------------------------------------------------------------------------------


def local(value: Any) -> Any:
    """A local variable that may have got its value on some paths only."""
    if isinstance(value, Perhaps) and not value.none:
        trace = current()
        if trace is not None:
            trace.step(sys._getframe(1))
        name = f"local variable '{value.name}'"
        text = f"cannot access {name} where it is not associated with a value"
        require(value.flag, JitadUnboundLocalError, text)
        return value.value
    return value


def free(value: Any, thunk: Any, whole: bool = True) -> Any:
    """A variable of a function around this one."""
    trace = current()
    if trace is None:
        return outside.met(value)
    cell = thunk.__closure__[0]
    path = trace.captures.path_of(cell)
    if path is not None and not trace.journal.touched(cell, ("cell", *thunk.__code__.co_freevars)):
        return trace.captures.read(path, value, whole)
    return local(value)


def glob(value: Any, name: str, whole: bool = True) -> Any:
    """A global variable, or a builtin."""
    trace = current()
    if trace is None:
        return outside.met(value)
    frame = sys._getframe(1)
    module = frame.f_globals
    path = trace.captures.path_of(module)
    if path is None or trace.journal.touched(module, ("global", name)):
        return value
    if name not in module:  # a builtin, until there is a global variable of the name
        if not is_library_file(frame.f_code.co_filename):
            trace.captures.rely_on_none(path.then("global", name))
        return value
    trace.step(frame)
    return trace.captures.read(path.then("global", name), value, whole)


def pick_locals(variables: dict[str, Any], names: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(variables.get(n, UNSET) for n in names)


def append(target: Any, item: Any) -> None:
    """target.append(item): of a list from outside that is never looked into, only this is known."""
    trace = current()
    if is_among((target,)):
        spread(lambda t: append(t, item), target)
        return
    target = present(target, JitadAttributeError) if is_optional(target) else target
    if trace is None or type(target) is not list:
        call(target.append, item)
        return
    trace.step(sys._getframe(1))
    captures = trace.captures
    if stretched(target) is not None:
        with writing(target):
            lists.append(target, item)
        return
    if captures.path_of(target) is None or captures.looks_into(target):
        with writing(target):
            note(target)
            target.append(item)
        return
    start = captures.length_of(target)

    def assign(content: Any) -> None:
        target[start:] = content

    record(target, "appended", target[start:], lambda: target[start:], assign)
    target.append(item)


METHODS: dict[str, Any] = {}  # of numbers, which `stand_ins` adds: `x.__mul__` and the like

# -- attributes and items -------------------------------------------------------------------------


def get_attr(owner: Any, name: str, whole: bool = True) -> Any:
    trace = current()
    if is_among((owner,)):
        return spread(get_attr, owner, name, whole)
    if is_optional(owner) and hasattr(None, name):
        return asked(get_attr, owner, name, whole)
    owner = adopt(present(owner, JitadAttributeError))
    if isinstance(owner, (Number, ArrayHandle, Complex)):
        if trace is not None:
            trace.step(sys._getframe(1))
            if name in METHODS and isinstance(owner, Leaf):
                return functools.partial(METHODS[name], owner)
        return _attribute_of_number(owner, name)
    if trace is not None:
        trace.step(sys._getframe(1))
    if isinstance(owner, (Structured, Element)):
        return owner[name] if _is_field(owner, name) else getattr(owner, name)
    value = protocols.attribute(trace, owner, name)
    if value is not protocols.NOTHING:
        return value
    if trace is None:
        return outside.met(getattr(owner, name))
    value = getattr(owner, name)
    if name == "__dict__" and trace.journal.is_fresh(owner):
        note_made(value)
    captures = trace.captures
    if isinstance(owner, (ModuleType, type)) and modules.is_librarys(trace, owner):
        return adopt(value)
    path, holder = captures.path_of(owner), protocols.written_in(trace, owner, name)
    if isinstance(owner, type) and holder not in (None, owner):
        return get_attr(holder, name, whole)
    if path is None or holder is not None:
        return attributes.certain(owner, name, value)
    if isinstance(value, BuiltinMethodType) and value.__self__ is owner:
        return value  # made anew at each read; the class of its owner says which it is
    if getattr(value, "__self__", None) is owner and hasattr(value, "__func__"):
        captures.read(path.then("attr", name).then("attr", "__func__"), value.__func__)
        return value
    return captures.read(path.then("attr", name), value, whole)


def _attribute_of_number(owner: Any, name: str) -> Any:
    if name == "__class__":
        return python_type(owner)
    if not hasattr_(owner, name) and not isinstance(owner, Complex):
        kind = str(python_type(owner)).split("'")[1]
        raise JitadAttributeError(f"{kind!r} object has no attribute {name!r}")
    try:
        return getattr(owner, name)
    except AttributeError as e:
        if isinstance(e, JitadError):
            raise
        python = isinstance(owner, Number) and is_python(owner)
        if isinstance(owner, Number) and not python and name not in _OF_ARRAYS_ONLY:
            found = getattr(ArrayHandle(owner), name, owner)  # as of an array without axes
            if found is not owner:
                return _giving_numbers(found) if callable(found) else _number_of(found)
        if isinstance(owner, Number) and not python and name == "sort":
            return _without_axes
        if python and type_of(owner) == INT and isinstance(owner, Leaf):
            return getattr(int(owner.known(f"an int whose {name} is asked for")), name)
        kinds = {"f": "a float", "i": "an int", "b": "a bool"}
        kind = kinds[type_of(owner).dtype[0]] if python else "a NumPy array or number"
        raise missing(f"{kind} has no attribute {name!r} that jitad knows") from None


def _without_axes(*_: Any, **__: Any) -> Any:
    """A method of NumPy's numbers that orders elements along an axis."""
    raise fail(JitadValueError, "axis -1 is out of bounds for array of dimension 0")


# What would be written is not there any more, or nothing that a number has.
_OF_ARRAYS_ONLY = {"fill", "sort", "partition", "put", "base", "peek", "content", "choice"}


def _giving_numbers(method: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: _number_of(method(*args, **kwargs))


def _number_of(value: Any) -> Any:
    return value[()] if isinstance(value, ArrayHandle) and not value.ndim else value


def set_attr(value: Any, owner: Any, name: str) -> None:
    if is_among((owner,)):
        spread(lambda o: set_attr(value, o, name), owner)
        return
    owner = present(owner, JitadAttributeError)
    if isinstance(owner, (Structured, Element)) and _is_field(owner, name):
        owner[name] = present(value)
        return
    if isinstance(owner, (Complex, Structured, Element)):
        setattr(owner, name, present(value))  # a write to the array that the part is
        return
    trace = current()
    if trace is not None:
        trace.step(sys._getframe(1))
    found = protocols.write(owner, name)
    if found is not None:
        call(*found, value)
        return
    with writing(owner):
        note_attr(owner, name)
        setattr(owner, name, value)


def _is_field(owner: Structured | Element, name: str) -> bool:
    """Is it none of NumPy's own attributes?"""
    return name in owner.dtype.names and not hasattr(np.recarray, name)


def del_attr(owner: Any, name: str) -> None:
    if is_among((owner,)):
        spread(del_attr, owner, name)
        return
    attributes.needed(owner, name)
    note_attr(owner, name)
    delattr(owner, name)


def _set_past(owner: Any, name: str, value: Any) -> None:
    """object.__setattr__, which frozen dataclasses need."""
    with writing(owner):
        note_attr(owner, name)
        object.__setattr__(owner, name, value)


HERE.update({
    setattr: lambda owner, name, value: set_attr(value, owner, name),
    delattr: lambda owner, name: del_attr(owner, name),
    object.__setattr__: _set_past,
    operator.setitem: lambda owner, index, value: set_item(value, owner, index),
    operator.delitem: lambda owner, index: del_item(owner, index),
})  # fmt: skip
WHILE_TRACING.update({vars: lambda owner: get_attr(owner, "__dict__"), type: modules.class_of})


_ARRAYS = (ArrayHandle, Complex, Structured, Element)
_MAKERS = type(np.r_).__module__  # of objects that make arrays from what stands between brackets


def get_item(owner: Any, index: Any) -> Any:
    if is_among((owner, index)):
        return spread(get_item, owner, index)
    owner, index = present(subscripted(owner)), present(index)
    if isinstance(owner, Number) and isinstance(index, tuple) and not index:
        return owner  # as of a NumPy scalar
    if isinstance(owner, Number) and not is_python(owner):
        return wrap(call(np.array, owner)[index])  # new axes
    if type(owner).__module__ == _MAKERS and (made := implementation(owner.__getitem__)):
        own = outside.as_numpys_own(owner.__getitem__, (index,), {})
        return owner[index] if own and current() is None else made(index)
    trace = current()
    if trace is not None:
        trace.step(sys._getframe(1))
    elif type(owner) in (list, tuple, dict):
        return outside.met(owner[index])
    if stretched(owner) is not None:
        return lists.get(owner, index)
    index = keyed.as_index(owner, index)
    if isinstance(index, slice) and (found := keyed.part(owner, index)) is not None:
        return found
    if isinstance(index, Leaf) and isinstance(owner, (list, tuple, str, range)):
        if type_of(index) == BOOL and is_python(index):  # `(a, b)[x > 0.0]`
            index = bind("cast", index, dtype="i8", py=True)
        return _traced_item(owner, as_int(index, f"the index of a {type(owner).__name__}"))
    if type(owner) in keyed.DICTS:
        index = keyed.plain(index, owner)
        if tabled.is_tabled(owner):
            return tabled.get(owner, index)
        if keyed.is_traced(index):
            return keyed.get(owner, index)
    if not (of_python := type(owner) in (list, tuple, dict, *_ARRAYS)):
        found = special(owner, "__getitem__")
        if found is not None:
            return call(found, owner, index)
        if isinstance(owner, dict) and not isinstance(index, Number) and index not in owner:
            return read_item(trace, keyed.missing, owner, index)
    if isinstance(owner, Counted):
        return owner.item(index)
    if partial.slot(owner, index):
        return partial.get(owner, index)
    try:
        found = owner[index] if of_python else read_item(trace, operator.getitem, owner, index)
    except KeyError:
        tabled.may_have_come(owner)
        raise
    return partial.certain(made_if_new(found) if isinstance(index, slice) else found, owner)


def _traced_item(owner: Any, index: Leaf) -> Any:
    if in_rows.want_rows(owner, index, reading=True):
        return lists.get(owner, index)
    n = len(owner)
    at = bind("where", bind("lt", index, 0), bind("add", index, n), index)
    inside = bind("logical_and", bind("ge", at, 0), bind("lt", at, n))
    require(inside, JitadIndexError, f"{type(owner).__name__} index out of range")
    if isinstance(owner, range):
        return add(owner.start, mul(at, owner.step))
    return pick([*owner], at)


def set_item(value: Any, owner: Any, index: Any) -> None:
    if is_among((owner, index)):
        spread(lambda o, i: set_item(value, o, i), owner, index)
        return
    owner, index = present(subscripted(owner)), present(index)
    if isinstance(owner, _ARRAYS):
        value = present(value)
        if is_among((value,)):
            spread(lambda v: set_item(v, owner, index), value)
            return
    trace = current()
    if trace is not None:
        trace.step(sys._getframe(1))
        if stretched(owner) is not None:
            with writing(owner):
                lists.put(owner, index, value)
            return
        if type(owner) in keyed.DICTS:
            index = keyed.plain(index, owner)
        if tabled.is_tabled(owner):
            tabled.put(owner, index, value)
            return
        if isinstance(index, Leaf) or (type(owner) in keyed.DICTS and keyed.is_traced(index)):
            with writing(owner):
                if keyed.put(owner, index, value):
                    return
        if isinstance(index, slice) and keyed.by_rows(owner, index):
            with writing(owner):
                lists.put(owner, index, value)
            return
    if not isinstance(owner, _ARRAYS):
        index, found = keyed.as_index(owner, index), special(owner, "__setitem__")
        if found is not None:
            call(found, owner, index, value)
            return
        if partial.slot(owner, index):
            partial.put(owner, index, value)
            return
        if isinstance(owner, MUTABLE):
            if isinstance(index, slice):
                value = among_parts(value)
                protocols.check_taken("extend", (value,))
                if trace is not None and put_in.put_slice(owner, index, value):
                    return
            with writing(owner):
                note(owner)
                owner[index] = value  # type: ignore[index]
            return
        if isinstance(owner, Number):
            error = wrong_type("a number can't be written to; nor can what is one here, where "
                               "NumPy has an array without axes", "Give it an axis.")  # fmt: skip
            error.of_program = trace is None or is_python(owner) or is_scalar(owner)
            raise error
        if trace is None:
            outside.check_writable(owner)
    untouched(trace, (owner,), "this assignment", operator.setitem, owner, index, value)


def is_scalar(owner: Number) -> bool:
    """Is a number of NumPy's one in NumPy, too?  What arithmetic gives is no array without axes."""
    leaf = primal(owner)
    made = leaf.builder.sources.get(leaf.atom) if isinstance(leaf, Leaf) else None
    row = None if made is None else TABLE.get(made.op)
    return row is not None and row.elementwise and row.name not in _NO_ARITHMETIC


_NO_ARITHMETIC = ("where", "cast", "stop", "polygamma")


def del_item(owner: Any, index: Any) -> None:
    if is_among((owner, index)):
        spread(del_item, owner, index)
        return
    if current() is not None and stretched(owner := subscripted(owner)) is not None:
        lists.delete(owner, index)
        return
    if tabled.is_tabled(owner):
        tabled.delete(owner, index)
        return
    if (found := special(owner, "__delitem__")) is not None:
        call(found, owner, index)
        return
    if keyed.by_rows(owner, index):
        lists.delete(owner, index)
        return
    if partial.slot(owner, index):
        partial.delete(owner, index)
        return
    if isinstance(owner, MUTABLE):
        note(owner)
    untouched(current(), (owner,), "this `del`", operator.delitem, owner, index)


from jitad.trace.joins import attributes  # noqa: E402  (which reads)
