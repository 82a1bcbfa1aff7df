"""How are arrays made inside a traced or differentiated function?

Always as handles, because traced values may be written into them later.  While a tape is being
built they are equations of it; else they are plain and owned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from jitad.errors import JitadValueError, JitadZeroDivisionError
from jitad.structured import is_of_numbers
from jitad.values import extents
from jitad.values.active import is_traced
from jitad.values.array import ArrayHandle, wrap
from jitad.values.broadcast import BOUNDS, as_operand, cast, elementwise, require_held, shape_of
from jitad.values.extents import Int, as_int
from jitad.values.kind import check_dtype, fail, is_number, present_builder, require, type_of
from jitad.values.layout import (
    as_it_lies,
    contiguous,
    follows,
    in_c_order,
    is_spaced,
    packed,
    perhaps_of,
)
from jitad.values.number import Number, bind
from jitad.values.registry import call, of_each_part, replaces
from jitad.values.stand_ins import StandIn


def shape_tuple(shape: Any) -> tuple[Int, ...]:
    """A shape argument: an int or a sequence of them."""
    if isinstance(shape, ArrayHandle):
        shape = [shape[k] for k in range(len(shape))] if shape.ndim else [shape[()]]
    items = shape if isinstance(shape, (tuple, list, np.ndarray)) else (shape,)
    refusal = "negative dimensions are not allowed"
    return tuple(extents.number_of(as_int(n, "an extent"), refusal) for n in items)


def kind_of(dtype: Any) -> np.dtype[Any]:
    """A dtype argument; arrays of objects or text are refused."""
    found = np.dtype(dtype)
    check_dtype(np.empty(0, found))
    return found


def any_kind_of(dtype: Any) -> np.dtype[Any]:
    """The same, where it may have fields."""
    found = np.dtype(dtype)
    if found.names is None:
        return kind_of(found)
    if not all(map(is_of_numbers, (found[n] for n in found.names))):
        check_dtype(np.empty(0, found))
    return found


def of_parts(make: Callable[[Any, np.dtype[Any]], Any], re: Any, dtype: np.dtype[Any]) -> Any:
    """A complex array, by its parts, which `make(value, dtype)` makes."""
    from jitad.values.complexes.number import Complex  # which is made of handles

    part = dtype.type(0).real.dtype
    return Complex(make(re, part), make(0, part))


def made(array: np.ndarray[Any, Any]) -> Any:
    """A plain array that was made just now, as user code holds it."""
    return wrap(array) if array.dtype.kind == "c" else ArrayHandle(array, owned=True)


def filled(value: Any, shape: tuple[Int, ...], dtype: np.dtype[Any]) -> Any:
    """A new array of equal elements, which are real."""
    require_held(value, dtype.str[1:])
    if dtype.kind == "c":
        return of_parts(lambda v, part: filled(v, shape, part), value, dtype)
    builder = present_builder()
    if builder is None:
        if not shape and isinstance(value, Number):
            return ArrayHandle(cast(value, dtype))
        content = bind("full", value, *shape, dtype=dtype.str[1:])
        return ArrayHandle(content, owned=isinstance(content, np.ndarray) or content.tag > 0)
    if not isinstance(value, Number):
        value = dtype.type(value)
    if not shape:
        return ArrayHandle(cast(value, dtype))
    atoms = [builder.atom(value), *map(builder.atom, shape)]
    return ArrayHandle(builder.leaf(builder.emit("full", *atoms, dtype=dtype.str[1:])))


def _filled(value: Any, shape: tuple[Int, ...], dtype: np.dtype[Any], order: str) -> Any:
    """A new array, whose elements lie in Fortran's order if that is asked."""
    if dtype.names is not None:
        from jitad.values.numpy import structured  # which is made of what is made here

        return structured.filled(lambda n, kind: _filled(value, n, kind, "C"), shape, dtype)
    if order != "F" or len(shape) < 2:
        return filled(value, shape, dtype)
    return filled(value, shape[::-1], dtype).T


@replaces(np.zeros, plain=False)
def zeros(shape: Any, dtype: Any = float, order: str = "C", *, device: Any = None) -> Any:
    return _filled(0, shape_tuple(shape), any_kind_of(dtype), order)


@replaces(np.ones, plain=False)
def ones(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None) -> Any:
    return _filled(1, shape_tuple(shape), any_kind_of(dtype), order)


@replaces(np.empty, plain=False)
def empty(shape: Any, dtype: Any = float, order: str = "C", *, device: Any = None) -> Any:
    """Zeros: what is never written has a value, and it is the same on every run."""
    return _filled(0, shape_tuple(shape), any_kind_of(dtype), order)


@replaces(np.full, plain=False)
def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", *,
         device: Any = None) -> Any:  # fmt: skip
    value = as_operand(fill_value)
    kind = kind_of(dtype if dtype is not None else type_of(value).dtype)
    if shape_of(value):
        out = _filled(0, shape_tuple(shape), kind, order)
        out.assign(value)
        return out
    if isinstance(value, ArrayHandle):
        value = value.content
    return _filled(value, shape_tuple(shape), kind, order)


def _like(fill: int) -> Any:
    def like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *,
             device: Any = None) -> Any:  # fmt: skip
        a = as_operand(a)
        kind = any_kind_of(dtype if dtype is not None else type_of(a).dtype)
        wanted = shape_of(a) if shape is None else shape_tuple(shape)
        out = _filled(fill, wanted, kind, order)
        return out if shape is not None or order in ("C", "F") else as_it_lies(out, a)

    return like


zeros_like = replaces(np.zeros_like, plain=False)(_like(0))
ones_like = replaces(np.ones_like, plain=False)(_like(1))
empty_like = replaces(np.empty_like, plain=False)(_like(0))


@replaces(np.full_like, plain=False)
def full_like(a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True,
              shape: Any = None, *, device: Any = None) -> Any:  # fmt: skip
    a = as_operand(a)
    wanted = shape_of(a) if shape is None else shape
    out = full(wanted, fill_value, dtype if dtype is not None else type_of(a).dtype, order)
    return out if shape is not None or order in ("C", "F") else as_it_lies(out, a)


# -- from values ----------------------------------------------------------------------------------


@replaces(np.array, plain=False)
def array(value: Any, dtype: Any = None, *, copy: Any = True, order: Any = "K",
          subok: bool = False, ndmin: int = 0) -> Any:  # fmt: skip
    """A new array of a number, an array, or nested lists of them."""
    copy = getattr(copy, "value", copy)  # of `np._CopyMode`, where 2 is "if needed"
    copy = None if copy == 2 else copy
    kind = None if dtype is None else any_kind_of(dtype)
    if kind is not None and kind.names is not None:
        from jitad.values.numpy import structured  # which is made of what is made here

        return structured.array(value, kind)
    if kind is not None and kind.str[1:] in BOUNDS:
        for k in _numbers_in(value):
            require_held(k, kind.str[1:])
    if not copy and isinstance(value, ArrayHandle) and kind in (None, value.dtype):
        if (same := in_order_of(value, order)) is not value and copy is not None:
            raise fail(JitadValueError, "Unable to avoid copy while creating an array as requested")
        missing = range(ndmin - value.ndim)
        return same.with_axes(tuple(missing)) if missing else same
    if kind is not None and kind.kind == "c" and is_traced(value):
        like = array(value, kind.type(0).real.dtype, ndmin=ndmin)
        zeros = call(np.zeros_like, like)
        return of_parts(lambda v, part: like if v is like else zeros, like, kind)
    if isinstance(value, (list, tuple)) and is_traced(value):
        out = _from_list(value)
    elif isinstance(value, ArrayHandle) and not value.concrete:
        out = ArrayHandle(value.content)  # versions never change: a new handle is a copy
    elif isinstance(value, Number):
        out = ArrayHandle(_strong(value))
    elif isinstance(value, StandIn) and (whole := value.whole()) is not None:
        return array(whole, dtype, copy=copy, order=order, ndmin=ndmin)
    else:
        plain = value.peek() if isinstance(value, ArrayHandle) else _lend_list(value)
        new = np.array(plain, dtype)
        if kind_of(new.dtype).kind == "c":
            return made(np.array(new, ndmin=ndmin))
        out = ArrayHandle(new, owned=True)
    if kind is not None and out.dtype != kind:
        out = ArrayHandle(cast(out.content, kind))
    if ndmin > out.ndim:
        out = call(np.copy, out.with_axes(tuple(range(ndmin - out.ndim))))
    if not isinstance(value, (list, tuple)):
        if order in ("C", "F"):
            return in_c_order(out) if order == "C" or out.ndim < 2 else asfortranarray(out)
        follows(out, (value,))
        return packed(out)
    return asfortranarray(out) if order == "F" else out


def in_order_of(a: Any, order: Any) -> Any:
    """The array itself, if its elements lie in this order, else such a copy."""
    if order not in ("C", "F"):
        return a
    return call(np.asfortranarray if order == "F" else np.ascontiguousarray, a)


def _lend_list(value: Any) -> Any:
    if isinstance(value, ArrayHandle):
        return value.peek()
    return [_lend_list(v) for v in value] if isinstance(value, (list, tuple)) else value


def _numbers_in(value: Any) -> Iterator[Any]:
    """What is in nested lists."""
    if isinstance(value, (list, tuple)):
        for v in value:
            yield from _numbers_in(v)
    else:
        yield value


def _strong(value: Any) -> Any:
    """A scalar as a NumPy number."""
    return cast(value, np.dtype(type_of(value).dtype)) if isinstance(value, Number) else value


def _from_list(items: Any) -> ArrayHandle:
    parts = [_from_list(v) if isinstance(v, (list, tuple)) else v for v in items]
    if all(is_number(v) or (isinstance(v, ArrayHandle) and not v.ndim) for v in parts):
        scalars = [v.content if isinstance(v, ArrayHandle) else v for v in parts]
        # Unlike arithmetic, np.array takes a Python float for a float64.
        dtype = np.result_type(*(np.dtype(type_of(v).dtype) for v in scalars))
        return ArrayHandle(bind("pack", *(cast(v, dtype) for v in scalars)))
    arrays = [as_operand(v) for v in parts]
    if len({len(shape_of(a)) for a in arrays}) > 1:
        raise fail(JitadValueError, "setting an array element with a sequence: the nested lists "
                   "have unlike lengths or depths")  # fmt: skip
    return in_c_order(call(np.stack, arrays))


@replaces(np.asarray, np.asanyarray, plain=False)
def asarray(value: Any, dtype: Any = None, order: Any = None, *, device: Any = None,
            copy: Any = None) -> Any:  # fmt: skip
    if isinstance(value, StandIn):
        value = value.whole() if value.whole() is not None else value
    if isinstance(value, ArrayHandle) and (dtype is None or np.dtype(dtype) == value.dtype):
        return array(value, copy=copy, order=order)
    return array(value, dtype, order="K" if order is None else order)


@replaces(np.ascontiguousarray, plain=False)
def ascontiguousarray(value: Any, dtype: Any = None) -> Any:
    return _in_one_piece(value, dtype, isinstance(value, ArrayHandle) and is_spaced(value))


@replaces(np.asfortranarray, plain=False)
def asfortranarray(value: Any, dtype: Any = None) -> Any:
    spaced = isinstance(value, ArrayHandle) and is_spaced(value)
    return _in_one_piece(value, dtype, spaced, backwards=True)


@of_each_part(np.ascontiguousarray)
def _in_one_piece(
    value: Any, dtype: Any = None, spaced: bool | None = False, backwards: bool = False
) -> Any:
    """`spaced`: as a part of a complex array; `backwards`: in the order of Fortran."""
    out = asarray(value, dtype)
    out = out if shape_of(value) else array(out, ndmin=1, copy=None)
    if not isinstance(out, ArrayHandle):
        return out
    turned = out.T if backwards else out
    lies = contiguous(turned) if spaced is False else (False if spaced else None)
    if lies:
        return out
    made = in_c_order(turned)
    return perhaps_of(out, made.T if backwards else made, lies)


@of_each_part(np.asfortranarray)
def _backwards(value: Any, dtype: Any = None) -> Any:
    return _in_one_piece(value, dtype, backwards=True)


@replaces(np.copy, plain=False)
def copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    return array(a, order=order)


@replaces(np.astype, plain=False)
def astype(a: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """A copy with another dtype (scalars: a NumPy number)."""
    kind = kind_of(dtype)
    a = as_operand(a)
    if kind.kind == "c":
        return call(np.array, a, dtype=kind) if shape_of(a) else call(kind.type, a)
    if not isinstance(a, ArrayHandle):
        return cast(a, kind)
    if kind == a.dtype:
        return array(a) if copy else a
    if a.concrete:
        return ArrayHandle(np.array(a.peek()).astype(kind), owned=True)
    out = ArrayHandle(cast(a.content, kind))
    follows(out, (a,))
    return out


# -- ranges ---------------------------------------------------------------------------------------


def iota(n: Int, dtype: str) -> ArrayHandle:
    builder = present_builder()
    if builder is not None:
        return ArrayHandle(builder.leaf(builder.emit("iota", builder.atom(n), dtype=dtype)))
    return wrap(bind("iota", n, dtype=dtype))


@replaces(np.arange, plain=False)
def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None, *,
           device: Any = None) -> Any:  # fmt: skip
    start, stop = (0, start) if stop is None else (start, stop)
    ends = (start, stop, step)
    if not any(isinstance(x, Number) for x in ends):
        return made(np.arange(*ends, dtype=dtype))
    require(bind("ne", step, 0), JitadZeroDivisionError, "division by zero")
    integer = all(type_of(x).dtype[0] in "iub" for x in ends)
    distance = elementwise("sub", stop, start)
    if integer:
        count = distance if not isinstance(step, Number) and step == 1 else elementwise(
            "neg", elementwise("floordiv", elementwise("neg", distance), step))  # fmt: skip
    else:
        ratio = elementwise("ceil", elementwise("div", distance, step))
        count = bind("cast", ratio, dtype="i8", py=True)
    # As NumPy fills it: by the distance of the first two, which are of the result's type.
    wanted = np.dtype((np.int64 if integer else np.float64) if dtype is None else dtype)
    kind = wanted if wanted.kind in "iuf" else np.dtype(np.int64 if integer else np.float64)
    first, apart = start, step
    if not integer or kind != np.int64:
        first = elementwise("cast", start, dtype=kind.str[1:])
        second = elementwise("cast", elementwise("add", start, step), dtype=kind.str[1:])
        apart = elementwise("sub", second, first)
    out = astype(iota(extents.largest(count, 0), "i8"), kind)
    if not (not isinstance(step, Number) and step == 1 and integer):
        out = elementwise("mul", out, apart)
    if not (not isinstance(start, Number) and start == 0):
        out = elementwise("add", out, first)
    return out if kind == wanted else astype(out, wanted)


@replaces(np.linspace)
def linspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, retstep: bool = False,
             dtype: Any = None, axis: int = 0, *, device: Any = None) -> Any:  # fmt: skip
    """start + k * step along a new axis, the last one being `stop` itself."""
    num = extents.number_of(as_int(num, "num"), "the number of samples must not be negative")
    parts = extents.sub(num, 1) if endpoint else num
    one_or_more = extents.largest(parts, 1)
    # Differences of unsigned ints would be so, too.
    start, stop = (elementwise("mul", x, 1.0) if type_of(x).dtype[0] in "iub" else x
                   for x in map(as_operand, (start, stop)))  # fmt: skip
    step = elementwise("div", elementwise("sub", stop, start), one_or_more)
    ndim = len(shape_of(step))
    k = iota(num, "f8").with_axes(tuple(range(1, ndim + 1)))
    out = elementwise("add", elementwise("mul", k, step), start)
    if endpoint:
        # NumPy sets the last element, so that rounding doesn't show there.
        last = elementwise("eq", k, elementwise("mul", parts, 1.0))
        many = elementwise("gt", parts, 0)
        out = elementwise("where", elementwise("logical_and", last, many), stop, out)
    out = call(np.moveaxis, out, 0, axis) if axis not in (0, -ndim - 1) else out
    kind = type_of(step).dtype if dtype is None else dtype
    out = out if out.dtype == kind else astype(out, kind)
    return (out, step) if retstep else out


@replaces(np.logspace)
def logspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, base: Any = 10.0,
             dtype: Any = None, axis: int = 0) -> Any:  # fmt: skip
    base = as_operand(base)
    if shape_of(base):
        base = call(np.expand_dims, base, axis)
    out = elementwise("pow", base, linspace(start, stop, num, endpoint, axis=axis))
    return out if dtype is None else astype(out, dtype)


@replaces(np.geomspace)
def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None,
              axis: int = 0) -> Any:  # fmt: skip
    """By logarithms of the sizes: both ends have one sign.  float64 whatever they are."""
    start, stop = (elementwise("mul", as_operand(x), np.float64(1.0)) for x in (start, stop))
    size = elementwise("log", elementwise("div", stop, start))
    powers = elementwise("exp", linspace(0.0, size, num, endpoint, axis=axis))
    start = call(np.expand_dims, start, axis) if shape_of(start) else start
    out = elementwise("mul", start, powers)
    return out if dtype is None else astype(out, dtype)


@replaces(np.eye, plain=False)
def eye(N: Any, M: Any = None, k: int = 0, dtype: Any = float, order: Any = "C", *,
        device: Any = None) -> Any:  # fmt: skip
    n, m = shape_tuple((N, N if M is None else M))
    if present_builder() is None and not any(isinstance(x, Number) for x in (n, m)):
        return made(np.eye(n, m, k, dtype, order))
    rows = call(np.reshape, iota(n, "i8"), (n, 1))
    columns = call(np.reshape, iota(m, "i8"), (1, m))
    out = astype(elementwise("eq", elementwise("add", rows, k), columns), dtype)
    return in_order_of(out, order)


@replaces(np.identity, plain=False)
def identity(n: Any, dtype: Any = float) -> Any:
    return eye(n, dtype=dtype)


