"""What becomes of a call that is given a list whose length only the kernel knows?

Functions of NumPy take it for an array; what builtins and `itertools` do with it is a loop, and
traced as such (`plain/as_written.py`); a user's function is called.  All else is refused: a library
would find one element in the list, and no error.
"""

from __future__ import annotations

import bisect
import copy
import functools
import itertools
import math
import operator
from collections import Counter
from collections.abc import Callable
from types import BuiltinMethodType, FunctionType, MethodType, MethodWrapperType
from typing import Any

import numpy as np

from jitad.errors import JitadValueError
from jitad.plain import as_written, passed_on
from jitad.tape.build import Leaf
from jitad.trace.around.libraries import is_library
from jitad.trace.comparisons import compares
from jitad.trace.containers.as_arrays import as_array, as_typed, rows
from jitad.trace.containers.iterables import Counted, part_of, sequence
from jitad.trace.containers.lists import (
    _new,
    _of,
    _trace,
    call_tuple,
    copied,
    extend,
    frozen,
    length,
    method,
    refused,
    run,
)
from jitad.trace.containers.spread_out import Spread, called
from jitad.trace.containers.steady import is_changing
from jitad.trace.containers.stretch import stretched
from jitad.trace.joins.forms import Form, Handle, Number, Record
from jitad.values import extents
from jitad.values.active import any_traced
from jitad.values.array import ArrayHandle
from jitad.values.journal import made
from jitad.values.kind import is_number, require
from jitad.values.layout import in_c_order, loosen
from jitad.values.number import Number as Traced
from jitad.values.number import bind
from jitad.values.registry import handing, implementation


def function(f: Any, args: tuple[Any, ...]) -> Any:
    """What stands in for a function that is called with such lists; None: nothing needs to."""
    if any(type(a) is Spread for a in args):
        return functools.partial(called, f)
    owner: Any = getattr(f, "__self__", None)
    if isinstance(owner, ArrayHandle) and f.__name__ == "tolist" and _is_long(owner):
        kind = type(np.dtype(owner.dtype).type(0).item())
        return functools.partial(run, as_written.mapped, kind, owner)
    if isinstance(f, (BuiltinMethodType, MethodWrapperType)):
        if stretched(owner) is not None or compares(owner, f.__name__, args):
            return method(owner, f.__name__)
    if not any(map(_is_stretched, args)):
        return None
    inside = all(stretched(a) is None for a in args)  # lists of known length that hold such lists
    try:
        if inside and f in _PYTHON:
            return None
        if f in _FUNCTIONS or f in STAND_INS:
            return _FUNCTIONS.get(f) or STAND_INS[f]
        if f in _AS_WRITTEN:
            return functools.partial(run, _AS_WRITTEN[f])
        if f in FINE:
            return None
    except TypeError:  # it has no hash
        return None
    found = implementation(f)
    if found is not None:
        return functools.partial(_lending, found, handing.get(f))
    if isinstance(f, BuiltinMethodType) and isinstance(owner, list):
        return functools.partial(extend, owner) if f.__name__ == "extend" else None
    if isinstance(f, BuiltinMethodType) and isinstance(owner, dict):
        return None
    if getattr(f, "__func__", None) is Counter.update:
        return None
    if is_users(f):
        return None
    raise refused(f"given to {getattr(f, '__name__', type(f).__name__)}")


def _is_long(array: ArrayHandle) -> bool:
    """Is it a vector of which only the kernel knows how long it is?"""
    n = array.shape[0] if array.ndim == 1 else 0
    return isinstance(n, Leaf) and _trace().builder.example(n.atom) is None


def is_users(f: Any) -> bool:
    """Will its code be traced, or is it an operator of jitad's?"""
    f = getattr(f, "users", f)  # see `calls.callback`
    if isinstance(f, FunctionType):
        return not is_library(f) or f.__module__ == "jitad.operators.api"
    if isinstance(f, MethodType):
        return is_users(f.__func__)
    if isinstance(f, functools.partial):
        return is_users(f.func)
    if isinstance(f, type):
        return f.__module__ != "builtins" and not f.__module__.startswith(("itertools", "coll"))
    kind = type(f)
    if kind.__module__ in ("jitad.operators.api", "jitad.calls.compiled") or hasattr(f, "py_func"):
        return True
    return isinstance(vars(kind).get("__call__"), FunctionType)


def _is_stretched(value: Any) -> bool:
    if stretched(value) is not None:
        return True
    return type(value) in (tuple, list) and any(stretched(v) is not None for v in value)


def _lending(found: Callable[..., Any], at: int | None, *args: Any, **kwargs: Any) -> Any:
    """The call with arrays in the place of such lists."""
    handed = (*args[at : at + 1], kwargs.get("args")) if at is not None else ()
    if any(stretched(a) is not None for a in handed):
        raise refused("spread out as the arguments of a function")
    return found(*map(_lent, args), **{n: _lent(v) for n, v in kwargs.items()})


def _lent(value: Any) -> Any:
    if stretched(value) is not None:
        return as_array(value)
    if type(value) in (tuple, list) and any(stretched(v) is not None for v in value):
        return type(value)(map(_lent, value))
    return value


# -- builtins and itertools -----------------------------------------------------------------------


def sorted_(values: Any, key: Any = None, reverse: Any = False) -> Any:
    stretch = _of(values)
    if key is None and isinstance(stretch.element, Number):
        sort = implementation(np.sort)
        assert sort is not None
        array = sort(as_array(values))
        if reverse:
            array = array[::-1]
        return _new(stretch, lambda _: ArrayHandle(array.content), stretch.count, 0)
    keys = values if key is None else run(as_written.mapped, key, values)
    order = _order(keys, bool(reverse))
    return _new(stretch, lambda s: ArrayHandle(rows(s, stretch.count)[order].content),
                stretch.count, 0)  # fmt: skip


def _is_number(f: Form) -> bool:
    return isinstance(f, Number) or (isinstance(f, Handle) and not f.type.ndim)


_BY_NUMBERS = "sorted, unless by numbers or tuples of numbers"


def _columns(keys: Any) -> tuple[list[Any], Any]:
    """The numbers that are sorted by, the first of each element first, and how many elements."""
    by = stretched(keys)
    if by is None:  # the loop that made it was written out
        each = [k if isinstance(k, tuple) else (k,) for k in keys]
        if not all(is_number(part) for k in each for part in k):
            raise refused(_BY_NUMBERS)
        made_of: Any = implementation(np.array)
        return [made_of(list(column)) for column in zip(*each, strict=True)], len(each)
    numbers = _is_number(by.element) or (
        isinstance(by.element, Record) and isinstance(by.element.of.value, tuple)
        and all(map(_is_number, by.element.parts))
    )  # fmt: skip
    if not numbers:
        raise refused(_BY_NUMBERS)
    return [rows(s, by.count) for s in by.stores], by.count


def _order(keys: Any, reverse: bool) -> Any:
    """Where the elements are that come first, second and so on; equals stay in their order."""
    columns, count = _columns(keys)
    if reverse:
        columns = [c[::-1] for c in columns]
    order: Any = implementation(np.lexsort)(columns[::-1])  # type: ignore[misc]
    return (extents.sub(count, 1) - order)[::-1] if reverse else order


def _extreme(name: str) -> Callable[..., Any]:
    plain = as_written.least_of if name == "min" else as_written.greatest_of
    by_key = as_written.least if name == "min" else as_written.greatest

    def function(values: Any, *others: Any, key: Any = None, **default: Any) -> Any:
        if others:
            raise refused(f"one of several things given to {name}")
        if default:
            search = as_written.least_or if name == "min" else as_written.greatest_or
            return run(search, values, key, default["default"])
        text = f"{name}() arg is an empty sequence"
        require(bind("gt", length(values), 0), JitadValueError, text)
        return run(plain, values) if key is None else run(by_key, values, key)

    return function


def _reduce(f: Any, values: Any, *initial: Any) -> Any:
    return run(as_written.reduced_from if initial else as_written.reduced, f, values, *initial)


def _passing_on(each: Callable[..., Any]) -> Callable[..., Any]:
    """An iterator that goes over its arguments as it is gone over itself."""

    def replacement(*args: Any) -> Any:
        from jitad.trace.flow import generators  # which call

        return generators.written(each, *args)

    return replacement


_mapped = _passing_on(as_written.each_mapped)
_mapped_over = _passing_on(as_written.each_mapped_over)
_each = _passing_on(as_written.each)
_each_of = _passing_on(as_written.each_of)


def _map(f: Any, *values: Any) -> Any:
    return _mapped(f, *values) if len(values) == 1 else _mapped_over(f, values)


def _product(*values: Any, repeat: int = 1) -> Any:
    values = tuple(map(_taken, values)) * repeat
    if len(values) != 2:
        raise refused("combined other than in pairs")
    return _each(run(as_written.pairs_of_both, *values))


def _taken(values: Any) -> Any:
    """What is gone over more than once, which no iterator can be."""
    once = type(values) is Counted and values.begun is not None
    return run(as_written.listed, values) if once else values


def _islice(values: Any, *bounds: Any) -> Any:
    if stretched(values) is not None or any(isinstance(b, Leaf) for b in bounds):
        for b in bounds:
            if isinstance(b, Leaf):
                extents.number_of(b, "the bounds of islice() must not be negative")
        counted, part = sequence(values), slice(*bounds)
        known = counted is None and type(values) in (list, tuple)  # but for the bounds
        if known or (stretched(values) is not None and is_changing()):
            start, step = (d if b is None else b for d, b in ((0, part.start), (1, part.step)))
            return _sliced(values, start, part.stop, step)
        if counted is not None:
            return part_of(counted, part)
        bounds = tuple(int(b) if isinstance(b, Leaf) else b for b in bounds)
    return _native(itertools.islice, values, *bounds)


_sliced = _passing_on(passed_on.each_between)


def _combinations(values: Any, r: Any) -> Any:
    if r != 2:
        raise refused("combined other than in pairs")
    return _each(run(as_written.pairs_of, _taken(values)))


def _deepcopied(target: Any) -> Any:
    if stretched(target) is not None:
        return copied(target)
    from jitad.trace.calls import call  # which asks here first

    out = type(target)([call(copy.deepcopy, v) for v in target])
    made(out)
    return out


# -- NumPy ----------------------------------------------------------------------------------------


def _array(values: Any, dtype: Any = None) -> Any:
    if stretched(values) is None:  # a list of such lists, and of arrays
        array = implementation(np.array)(_lent(values), dtype)  # type: ignore[misc]
        return array
    array = as_typed(values) if dtype is None else as_array(values)
    return array if dtype is None else array.astype(dtype)


def _some(target: Any, what: str = "concatenate") -> None:
    """An array can be made of no elements, but none of no arrays."""
    require(bind("gt", length(target), 0), JitadValueError, f"need at least one array to {what}")


def _stack(target: Any, axis: int = 0) -> Any:
    if stretched(target) is None:
        return implementation(np.stack)(_lent(target), axis)  # type: ignore[misc]
    _some(target, "stack")
    return _made(implementation(np.moveaxis)(_array(target), 0, axis))  # type: ignore[misc]


def _made(array: ArrayHandle) -> ArrayHandle:
    """A result as NumPy makes it: in C order, if the elements are; of rows nobody can tell."""
    array = in_c_order(array)
    return loosen(array) if len(array.shape) > 2 else array


def _concatenate(target: Any, axis: int = 0) -> Any:
    if stretched(target) is None:  # a tuple of arrays and such lists
        return implementation(np.concatenate)(_lent(target), axis)  # type: ignore[misc]
    _some(target)
    array = as_array(target)
    n = len(array.shape) - 1
    if not isinstance(axis, int) or not -n <= axis < n:
        raise refused("concatenated, unless its elements are arrays that have the axis")
    axis %= n
    array = implementation(np.moveaxis)(array, 0, axis)  # type: ignore[misc]
    first, second = array.shape[axis : axis + 2]
    shape = (*array.shape[:axis], extents.mul(first, second), *array.shape[axis + 2 :])
    return loosen(in_c_order(array.reshape(*shape)))


def _vstack(target: Any) -> Any:
    if stretched(target) is None:
        return implementation(np.vstack)(_lent(target))  # type: ignore[misc]
    _some(target)
    array = as_array(target)
    if len(array.shape) == 1:
        return array.reshape(array.shape[0], 1)
    return array if len(array.shape) == 2 else _concatenate(target)


def _hstack(target: Any) -> Any:
    if stretched(target) is None:
        return implementation(np.hstack)(_lent(target))  # type: ignore[misc]
    _some(target)
    axes = len(as_array(target).shape)
    return as_array(target) if axes == 1 else _concatenate(target, 0 if axes == 2 else 1)


def _column_stack(target: Any) -> Any:
    if stretched(target) is None:
        return implementation(np.column_stack)(_lent(target))  # type: ignore[misc]
    _some(target)
    array = as_array(target)
    if len(array.shape) == 1:
        return array.reshape(1, array.shape[0])
    return in_c_order(array.T) if len(array.shape) == 2 else _concatenate(target, 1)


_PYTHON: dict[Any, Callable[..., Any]] = {
    len: length, sorted: sorted_, min: _extreme("min"), max: _extreme("max"),
    bool: lambda target: bind("gt", length(target), 0),
    copy.copy: lambda target: target if isinstance(target, tuple) else copied(target),
    list: copied, tuple: frozen,
    functools.reduce: _reduce, itertools.combinations: _combinations,
}  # fmt: skip
_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **_PYTHON, copy.deepcopy: _deepcopied, map: _map, iter: _each,
    itertools.product: _product, itertools.pairwise: _passing_on(passed_on.each_pair),
    itertools.compress: _passing_on(passed_on.each_flagged),
    itertools.chain: lambda *values: _each_of(values), itertools.chain.from_iterable: _each_of,
    np.stack: _stack, np.concatenate: _concatenate, np.vstack: _vstack, np.hstack: _hstack,
    np.column_stack: _column_stack,
    np.array: _array, np.asarray: _array,
}  # fmt: skip
_AS_WRITTEN: dict[Any, Callable[..., Any]] = {
    any: as_written.any_of, all: as_written.all_of, operator.contains: as_written.contains,
}  # fmt: skip
FINE = {sum, math.prod, bisect.insort, bisect.insort_left, enumerate, zip, reversed, isinstance,
        type, id, callable, Counter, itertools.accumulate, itertools.groupby, itertools.cycle,
        getattr, setattr, hasattr, object.__setattr__,
        operator.getitem, operator.setitem}  # fmt: skip


# -- functions that make such lists ---------------------------------------------------------------


def _native(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    from jitad.trace.library import native  # which calls

    return native(f, *args, **kwargs)


def _starmap(f: Any, values: Any) -> Any:
    counted = sequence(values)
    known = not hasattr(values, "__next__") if counted is None else counted.static is not None
    if known:
        return _native(itertools.starmap, f, values)
    return _passing_on(passed_on.each_applied)(f, values)


def _reduced(f: Any, values: Any, *initial: Any) -> Any:
    counted = sequence(values)
    if counted is None or counted.static is not None or isinstance(values, ArrayHandle):
        return _native(functools.reduce, f, values, *initial)
    return _reduce(f, values if initial else run(as_written.listed, values), *initial)


def _next(values: Any, *default: Any) -> Any:
    """The first of what can't be gone on with afterwards."""
    if type(values) is not Counted:
        return _native(next, values, *default)
    first = as_written.first_yielded_or if default else as_written.first_yielded
    return run(first, values, *default)


def _list(values: Any = ()) -> Any:
    counted = sequence(values)
    if counted is None or counted.static is not None:
        return _native(list, values)
    return run(as_written.listed, values)


def _tuple(values: Any = ()) -> Any:
    counted = sequence(values)
    if counted is None or counted.static is not None:
        return _native(tuple, values)
    return call_tuple(run(as_written.listed, values))


def _bisect(written: Callable[..., Any], original: Any) -> Callable[..., Any]:
    def replacement(values: Any, x: Any, *bounds: Any, key: Any = None, **more: Any) -> Any:
        keys = values if key is None else run(as_written.mapped, key, values)
        traced = stretched(keys) is not None or isinstance(keys, ArrayHandle)
        if bounds or more or not (traced or isinstance(x, Traced) or any_traced(keys)):
            return _native(original, keys, x, *bounds, **more)
        return run(written, keys, x)

    return replacement


_left = _bisect(as_written.bisected_left, bisect.bisect_left)
_right = _bisect(as_written.bisected_right, bisect.bisect_right)
_FUNCTIONS.update({bisect.bisect_left: _left, bisect.bisect_right: _right})
STAND_INS: dict[Any, Any] = {
    filter: _passing_on(passed_on.each_kept),
    itertools.filterfalse: _passing_on(passed_on.each_not_kept),
    itertools.takewhile: _passing_on(passed_on.each_while),
    itertools.dropwhile: _passing_on(passed_on.each_after),
    itertools.starmap: _starmap, itertools.islice: _islice, functools.reduce: _reduced,
    next: _next, list: _list, tuple: _tuple,
    bisect.bisect_left: _left,
    bisect.bisect_right: _right,
}
