"""Which functions of complex arrays are those of their parts?

*Linear* ones: `f(x + iy) = f(x) + i f(y)`, all their array operands taken together, so that
`concatenate` is one of them.  *Multilinear* ones, in one operand after the other: products.
The rows of `LINEAR` and `PRODUCTS` say where array operands stand.  What a function does to the
parts is what the registry has for it, so keywords, axes and views are as those of real arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from jitad.errors import JitadTypeError
from jitad.values.broadcast import shape_of
from jitad.values.complexes.number import Complex, pair, parts, plus, together
from jitad.values.complexes.parts import part_of
from jitad.values.kind import fail, is_python, type_of
from jitad.values.registry import call, call_of_part, is_complex, of_complex, write_out

Places = tuple[int | str, ...]  # positions, names of keywords, or "*": all from here on

_EACH: Places = ("*",)
_FIRST: Places = (0, "a", "m", "x", "ary", "array", "A")

LINEAR: dict[Any, Places] = {
    **dict.fromkeys((
        np.reshape, np.ravel, np.transpose, np.matrix_transpose, np.swapaxes, np.moveaxis,
        np.rollaxis, np.squeeze, np.expand_dims, np.broadcast_to, np.flip, np.fliplr, np.flipud,
        np.rot90, np.roll, np.repeat, np.tile, np.split, np.array_split, np.hsplit, np.vsplit,
        np.dsplit, np.unstack, np.tril, np.triu, np.diag, np.diagonal, np.diagflat, np.trace,
        np.take, np.take_along_axis, np.delete, np.resize, np.mean, np.cumsum,
        np.cumulative_sum, np.gradient, np.copy, np.asarray,
        np.ascontiguousarray, np.asanyarray, np.asfortranarray, np.negative, np.positive,
        np.linalg.trace, np.linalg.diagonal, np.linalg.matrix_transpose, np.permute_dims,
        np.round, np.around, np.rint, np.nan_to_num, np.fft.fftshift, np.fft.ifftshift,
        np.require,
    ), _FIRST),
    np.sum: (*_FIRST, 5, "initial"),
    **dict.fromkeys((np.concatenate, np.concat, np.stack, np.hstack, np.vstack, np.dstack,
                     np.column_stack, np.block), (0, "arrays", "tup")),
    **dict.fromkeys((np.atleast_1d, np.atleast_2d, np.atleast_3d, np.broadcast_arrays,
                     np.meshgrid), _EACH),
    np.diff: (0, 3, 4, "a", "prepend", "append"),
    np.ediff1d: (0, 1, 2, "ary", "to_end", "to_begin"),
    np.add.reduce: (0, 5, "initial"), np.add.accumulate: (0,),
    np.add.outer: (0, 1), np.subtract.outer: (0, 1),
    np.append: (0, 1, "arr", "values"), np.where: (1, 2),
    np.select: (1, 2, "choicelist", "default"), np.choose: (1, "choices"),
    np.compress: (1, "a"), np.extract: (1, "arr"), np.insert: (0, 2, "arr", "values"),
    np.pad: (0, "array", "constant_values", "end_values"),
    np.interp: (2, 3, 4, "fp", "left", "right"), np.linspace: (0, 1, "start", "stop"),
    np.average: (0, "a"), np.polyadd: (0, 1), np.polysub: (0, 1), np.polyder: (0, "p"),
    np.polyint: (0, 2, "p", "k"),
}  # fmt: skip

# These write to their first operand, which has to be complex itself.
WRITING: dict[Any, Places] = {
    np.add.at: (0, 2), np.subtract.at: (0, 2), np.copyto: (0, 1, "src"),
    np.fill_diagonal: (0, 1, "val"), np.put: (0, 2, "v"), np.putmask: (0, 2, "values"),
    np.put_along_axis: (0, 2, "values"),
}

PRODUCTS: dict[Any, Places] = {
    **dict.fromkeys((np.matmul, np.dot, np.inner, np.outer, np.tensordot, np.kron, np.convolve,
                     np.cross, np.multiply.outer, np.linalg.matmul, np.linalg.outer,
                     np.linalg.cross, np.linalg.tensordot), (0, 1)),
    np.polymul: (0, 1), np.einsum: (1, "*"), np.trapezoid: (0, 1, "y", "x"),
}

# As products, the first (of `correlate`, the second) operand conjugated.
CONJUGATING: dict[Any, int] = {
    np.vdot: 0, np.vecdot: 0, np.linalg.vecdot: 0, np.correlate: 1,
}


# Where a dtype is given by position.  It is that of the result, and so tells that of its parts.
_DTYPE: dict[Any, int] = {
    **dict.fromkeys((np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray,
                     np.require), 1),
    **dict.fromkeys((np.sum, np.mean, np.cumsum, np.add.reduce, np.add.accumulate), 2),
    np.trace: 4, np.linspace: 5,
}  # fmt: skip


def _by_parts(original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The arguments of the call for a part."""
    at = _DTYPE.get(original, len(args))
    place: Any = "dtype" if at >= len(args) else at
    dtype = kwargs.get("dtype") if place == "dtype" else args[at]
    return (args, kwargs) if dtype is None else _with(args, kwargs, {place: part_of(dtype)})


def _data(places: Places, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[int | str]:
    """The keys of the array operands that were given."""
    start = len(args)
    numbers = [p for p in places if isinstance(p, int)]
    if "*" in places:
        start = max(numbers, default=0)
    given: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
    for k, value in given:
        chosen = k in numbers or k >= start if isinstance(k, int) else k in places
        if chosen and value is not None and value is not np._NoValue:
            yield k


def _with(args: tuple[Any, ...], kwargs: dict[str, Any], new: dict[Any, Any]) -> Any:
    return (tuple(new.get(k, a) for k, a in enumerate(args)),
            {k: new.get(k, v) for k, v in kwargs.items()})  # fmt: skip


def real_part(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [real_part(v) for v in value]
    re, im = parts(value)
    return _zeros(im) if re is None else re


def imaginary_part(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [imaginary_part(v) for v in value]
    re, im = parts(value)
    return _zeros(re) if im is None else im


def _zeros(like: Any) -> Any:
    # the parts of what small ints are beside complex64 are of single precision
    if not shape_of(like):
        kind = type_of(like)
        return 0.0 if is_python(like) else np.result_type(kind.dtype, np.float32).type(0)
    if isinstance(like, np.ndarray):
        return np.zeros(like.shape, np.result_type(like, np.float32))
    dtype = np.result_type(like.dtype, np.float32)
    return call(np.zeros_like, like, dtype=dtype)


def combined(re: Any, im: Any) -> Any:
    """re + i im, where functions give arrays, numbers, or tuples and lists of them."""
    if re is None:
        return None
    if isinstance(re, (tuple, list)):
        both = [combined(x, y) for x, y in zip(re, im, strict=True)]
        return type(re)(*both) if hasattr(re, "_fields") else type(re)(both)
    if isinstance(re, Complex) or isinstance(im, Complex):
        (a, b), (c, d) = parts(re), parts(im)
        return plus(pair(a, b), pair(None if d is None else call(np.negative, d), c))
    return together(re, im)


def check_initial(array: Any, initial: Any, dtype: Any) -> None:
    """What is real is not added to, or multiplied with, what is complex at first."""
    of_complex_numbers = is_complex(array) or (dtype is not None and np.dtype(dtype).kind == "c")
    if is_complex(initial) and not of_complex_numbers:
        raise TypeError("float() argument must be a string or a real number, not 'complex'")


_ORDERING = {"maximum", "minimum", "median"}  # modes of np.pad


def _linear(original: Any, places: Places) -> Callable[..., Any]:
    ufunc = original if isinstance(original, np.ufunc) else None

    def replacement(*args: Any, **kwargs: Any) -> Any:
        if original in (np.sum, np.add.reduce):
            values = dict(zip(("a", "axis", "dtype", "out", "keepdims", "initial"), args,
                              strict=False)) | kwargs  # fmt: skip
            array = values.get("a", values.get("array"))
            check_initial(array, values.get("initial"), values.get("dtype"))
        args, kwargs = _by_parts(original, args, kwargs)
        if original is np.pad and _ORDERING.intersection(map(str, (*args[2:], *kwargs.values()))):
            raise fail(JitadTypeError, "np.pad in a mode that puts elements into order is not "
                       "supported on complex numbers here", "Pad the parts.")  # fmt: skip
        where: Any = True
        if ufunc is not None:
            args, out, where = taken_out(ufunc, args, kwargs)
        else:
            out = _take_out(kwargs)
        keys = list(_data(places, args, kwargs))
        given = {k: args[k] if isinstance(k, int) else kwargs[k] for k in keys}
        _refuse_others(original, args, kwargs, given)
        if original in WRITING and not isinstance(args[0], Complex):
            raise fail(JitadTypeError, "a complex value can't be stored in an array of "
                       f"{args[0].dtype}", "Make the array a complex one.")  # fmt: skip
        results = []
        for part in (real_part, imaginary_part):
            some, named = _with(args, kwargs, {k: part(v) for k, v in given.items()})
            results.append(call_of_part(original, *some, **named))
        if original is np.average and isinstance(results[0], tuple):  # and the sum of the weights
            total = pair(results[0][1], call(np.zeros_like, results[0][1]))
            return combined(results[0][0], results[1][0]), total
        both = combined(*results)
        if places == _EACH and len(args) > 1:  # a result for each operand, real if that is
            both = type(both)(z if is_complex(a) else x
                              for z, x, a in zip(both, results[0], args, strict=True))  # fmt: skip
        return finished(both, out, ufunc, where)

    return replacement


def _products(original: Any, places: Places) -> Callable[..., Any]:
    ufunc = original if isinstance(original, np.ufunc) else None

    def replacement(*args: Any, **kwargs: Any) -> Any:
        out, dtype = _take_out(kwargs), kwargs.pop("dtype", None)
        if dtype is not None:
            return finished(call(np.asarray, replacement(*args, **kwargs), dtype), out)
        keys = list(_data(places, args, kwargs))
        given = {k: args[k] if isinstance(k, int) else kwargs[k] for k in keys}
        _refuse_others(original, args, kwargs, given)
        k = next(k for k in keys if is_complex(given[k]))
        re, im = parts(given[k])
        done = []
        for p in (re, im):
            some, named = _with(args, kwargs, {k: p})
            done.append(None if p is None else call(original, *some, **named))
        if done[0] is None:
            return finished(times_i(done[1]), out, ufunc)
        both = done[0] if done[1] is None else combined(*done)
        return finished(both, out, ufunc)

    return replacement


def times_i(z: Any) -> Any:
    re, im = parts(z)
    return pair(None if im is None else call(np.negative, im), re)


def _conjugating(original: Any, which: int) -> Callable[..., Any]:
    product = _products(original, (0, 1))

    def replacement(*args: Any, **kwargs: Any) -> Any:
        """The operand that is conjugated comes first, so that the products are of a real one."""
        if not is_complex(args[which]):
            return product(*args, **kwargs)
        re, im = parts(call(np.conj, args[which]))
        done = [None if p is None else replacement(*args[:which], p, *args[which + 1 :], **kwargs)
                if is_complex(args[1 - which]) else
                call(original, *args[:which], p, *args[which + 1 :], **kwargs) for p in (re, im)]
        return times_i(done[1]) if done[0] is None else (
            done[0] if done[1] is None else combined(*done))  # fmt: skip

    return replacement


def _take_out(kwargs: dict[str, Any]) -> Any:
    out = kwargs.pop("out", None)
    return out[0] if isinstance(out, tuple) and len(out) == 1 else out


def finished(result: Any, out: Any, ufunc: Any = None, where: Any = True) -> Any:
    """What is written to `out`, if there is one; a ufunc spreads it, and may leave some out."""
    if where is not True:
        if out is None:
            raise fail(JitadTypeError, f"where= of np.{ufunc.__name__} without out= leaves "
                       "elements that have no value", "Use np.where.")  # fmt: skip
        result = call(np.where, where, result, out)
    return result if out is None else write_out(out, result, ufunc is not None)


def taken_out(ufunc: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, Any, Any]:
    """The operands of a ufunc, its `out` and its `where`."""
    if len(args) > ufunc.nin:
        kwargs["out"] = args[ufunc.nin]
    return args[: ufunc.nin], _take_out(kwargs), kwargs.pop("where", True)


def _refuse_others(original: Any, args: Any, kwargs: Any, given: dict[Any, Any]) -> None:
    """Only array operands may be complex: not an axis, not a weight."""
    for k, value in (*enumerate(args), *kwargs.items()):
        if k not in given and is_complex(value):
            name = original.__name__
            place = f"argument {k}" if isinstance(k, int) else f"{k}="
            raise fail(JitadTypeError, f"{place} of np.{name} can't be complex here")


for _f, _places in {**LINEAR, **WRITING}.items():
    of_complex(_f)(_linear(_f, _places))
for _f, _places in PRODUCTS.items():
    of_complex(_f)(_products(_f, _places))
for _f, _k in CONJUGATING.items():
    of_complex(_f)(_conjugating(_f, _k))
