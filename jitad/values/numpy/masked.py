"""What are NumPy's masked arrays, where their numbers are traced?

An array and, beside it, an array that says which elements don't count.  What is there of an element
that doesn't count is not looked at, and has no part in a derivative.  Views share both arrays, so
that what is stored through one is seen by all; an array that was made without a mask lends it to
none of its views, as in NumPy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.ma as ma

from jitad.errors import JitadError, JitadTypeError
from jitad.values.kind import fail, require
from jitad.values.numpy.reductions import deviation
from jitad.values.numpy.shaping import handle
from jitad.values.registry import call, replaces
from jitad.values.stand_ins import Read, StandIn, adopt, stands_for


def _or(a: Any, b: Any) -> Any:
    return call(np.logical_or, a, b)


class Masked(StandIn):
    """`mask` is true where an element doesn't count."""

    _what = "masked array"
    __array_priority__ = 15.0
    __array_ufunc__ = None  # so that arrays leave their operators to it

    def __init__(self, data: Any, mask: Any, fill_value: Any = None) -> None:
        self.data = handle(data)
        self._bare = mask is False or mask is ma.nomask  # has it been made without a mask?
        self._lent = False  # may a view have the mask for which NumPy makes another?
        self._outside = False  # is it the user's own, or a view of that?
        shape = self.data.shape
        self._mask = handle(
            call(np.zeros, shape, bool) if self._bare
            else call(np.copy, call(np.broadcast_to, call(np.asarray, mask, bool), shape))
        )  # fmt: skip
        self._fill = fill_value

    def _view(self, data: Any, mask: Any) -> Masked:
        """Of the same elements: what is stored in the one is stored in the other."""
        view = Masked(data, False, self._fill)
        view._mask, view._bare = handle(mask), self._bare
        self._lent = view._lent = self._bare
        view._outside = self._outside
        return view

    @property
    def mask(self) -> Any:
        return self._mask

    @mask.setter
    def mask(self, mask: Any) -> None:
        self._own()
        self._hides()
        self._mask[...] = mask

    def _own(self) -> None:
        if self._outside:
            raise fail(JitadTypeError, "a masked array from outside can't be changed here",
                       "Change a copy of it: a = a.copy().")  # fmt: skip

    def _hides(self) -> None:
        if self._lent:
            raise fail(JitadTypeError, "elements of an array that was made without a mask can't be "
                       "masked once there are views of it",
                       "Make it with mask=np.zeros(shape, bool).")  # fmt: skip

    shape = property(lambda self: self.data.shape)
    ndim = property(lambda self: self.data.ndim)
    size = property(lambda self: self.data.size)
    dtype = property(lambda self: self.data.dtype)
    T = property(lambda self: self._view(self.data.T, self.mask.T))

    def __len__(self) -> Any:
        return len(self.data)

    def __getitem__(self, key: Any) -> Any:
        key = key.filled(False) if isinstance(key, Masked) else key
        found, hidden = self.data[key], self.mask[key]
        if getattr(found, "ndim", 0):
            return self._view(found, hidden)
        require(call(np.logical_not, hidden), JitadError, "this element is masked",
                "Ask for filled(...), or for the elements that count: compressed().")  # fmt: skip
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        key = key.filled(False) if isinstance(key, Masked) else key
        self._own()
        if value is ma.masked:
            self._hides()
            self._mask[key] = True
            return
        value, hidden = parts(value)
        self.data[key] = value
        if hidden is not False:
            self._hides()
        if hidden is not False or not self._bare or not self._lent:
            self._mask[key] = hidden

    def _takes(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        """A function of NumPy's: of elements, or the method of its name."""
        name = getattr(original, "__name__", "")
        if isinstance(original, np.ufunc) and original.nout == 1 and not kwargs:
            return _elementwise(original, *args, domain=_DOMAINS.get(original))
        name = {"amax": "max", "amin": "min"}.get(name, name)
        if original is getattr(np, name, None) and name in _METHODS and args[0] is self:
            return getattr(self, name)(*args[1:], **kwargs)
        raise fail(JitadTypeError, f"{name} of a masked array is not supported on traced or "
                   "differentiated values", "Ask for filled(...), or compressed().")  # fmt: skip

    # -- elements that count ----------------------------------------------------------------------

    def filled(self, fill_value: Any = None) -> Any:
        value = self._fill if fill_value is None else fill_value
        value = ma.default_fill_value(np.zeros((), self.dtype)) if value is None else value
        return call(np.where, self.mask, np.asarray(value, self.dtype)[()], self.data)

    def compressed(self) -> Any:
        return call(np.ravel, self.data)[call(np.logical_not, call(np.ravel, self.mask))]

    def count(self, axis: Any = None, keepdims: Any = False) -> Any:
        there = call(np.logical_not, self.mask)
        return call(np.sum, there, axis=axis, keepdims=bool(keepdims))

    def copy(self) -> Any:
        return Masked(call(np.copy, self.data), self.mask, self._fill)

    def astype(self, dtype: Any) -> Any:
        return Masked(self.data.astype(dtype), self.mask, self._fill)

    def reshape(self, *shape: Any) -> Any:
        return self._view(self.data.reshape(*shape), self.mask.reshape(*shape))

    def ravel(self) -> Any:
        return self.reshape(-1)

    def _with(self, value: Any) -> Any:
        return call(np.where, self.mask, value, self.data)

    def _reduced(self, found: Any, axis: Any, count: Any, least: int = 1) -> Any:
        """Masked where too few count; of all elements, a number."""
        few = call(np.less, count, least)
        if getattr(found, "ndim", 0):
            return Masked(found, few)
        require(call(np.logical_not, few), JitadError, "all elements are masked",
                "See that one counts: a.count() > 0.")  # fmt: skip
        return found

    def sum(self, axis: Any = None, keepdims: Any = False) -> Any:
        found = call(np.sum, self._with(0), axis=axis, keepdims=bool(keepdims))
        return self._reduced(found, axis, self.count(axis, keepdims))

    def prod(self, axis: Any = None, keepdims: Any = False) -> Any:
        found = call(np.prod, self._with(1), axis=axis, keepdims=bool(keepdims))
        return self._reduced(found, axis, self.count(axis, keepdims))

    def mean(self, axis: Any = None, keepdims: Any = False) -> Any:
        count = self.count(axis, keepdims)
        total = call(np.sum, self._with(0), axis=axis, keepdims=bool(keepdims))
        found = call(np.true_divide, total, call(np.maximum, count, 1))
        return self._reduced(found, axis, count)

    def var(self, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
        count = self.count(axis, True)
        total = call(np.sum, self._with(0), axis=axis, keepdims=True)
        mean = call(np.true_divide, total, call(np.maximum, count, 1))
        apart = call(np.where, self.mask, 0.0, call(np.subtract, self._with(0), mean))
        squares = call(np.sum, call(np.square, apart), axis=axis, keepdims=bool(keepdims))
        free = call(np.subtract, self.count(axis, keepdims), ddof)
        found = call(np.true_divide, squares, call(np.maximum, free, 1))
        return self._reduced(found, axis, free)

    def std(self, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
        found = self.var(axis, ddof, keepdims)
        if isinstance(found, Masked):
            return Masked(deviation(found.data), found.mask)
        return deviation(found)

    def min(self, axis: Any = None, keepdims: Any = False) -> Any:
        found = call(np.min, self._with(self._extreme(1)), axis=axis, keepdims=bool(keepdims))
        return self._reduced(found, axis, self.count(axis, keepdims))

    def max(self, axis: Any = None, keepdims: Any = False) -> Any:
        found = call(np.max, self._with(self._extreme(-1)), axis=axis, keepdims=bool(keepdims))
        return self._reduced(found, axis, self.count(axis, keepdims))

    def _extreme(self, sign: int) -> Any:
        """What no element is above, or below."""
        if self.dtype.kind == "f":
            return sign * np.inf
        limits = np.iinfo(self.dtype)
        return limits.max if sign > 0 else limits.min

    def anom(self, axis: Any = None) -> Any:
        return self - self.mean(axis, keepdims=axis is not None)


# -- operators and functions of elements ----------------------------------------------------------


def parts(value: Any) -> tuple[Any, Any]:
    value = adopt(value)
    return (value.data, value.mask) if isinstance(value, Masked) else (value, False)


def _elementwise(f: Any, *operands: Any, domain: Callable[..., Any] | None = None) -> Any:
    """A function of elements; what it has no value for is masked."""
    values, masks = zip(*map(parts, operands), strict=True)
    mask: Any = masks[0]
    for m in masks[1:]:
        mask = _or(mask, m)
    if domain is not None:
        mask = _or(mask, domain(*values))
    shaped = [call(np.where, mask, 1, v) if domain is not None else v for v in values]
    found = call(f, *shaped)
    return Masked(found, mask) if getattr(found, "ndim", 0) else found


def _too_small(a: Any, b: Any) -> Any:
    """Where NumPy's masked arrays take a quotient for none."""
    tiny = np.finfo(float).tiny
    return call(np.greater_equal, call(np.multiply, call(np.abs, a), tiny), call(np.abs, b))


_DOMAINS: dict[Any, Callable[..., Any]] = {
    np.true_divide: _too_small, np.floor_divide: _too_small, np.remainder: _too_small,
    np.log: lambda x: call(np.less_equal, x, 0.0), np.log10: lambda x: call(np.less_equal, x, 0.0),
    np.log2: lambda x: call(np.less_equal, x, 0.0), np.sqrt: lambda x: call(np.less, x, 0.0),
}  # fmt: skip
_BINARY: dict[str, Any] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide,
    "pow": np.power, "floordiv": np.floor_divide, "mod": np.remainder, "lt": np.less,
    "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal,
    "ne": np.not_equal, "and": np.logical_and, "or": np.logical_or,
}  # fmt: skip


def _operator(name: str, f: Any) -> None:
    domain = _DOMAINS.get(f)
    setattr(Masked, f"__{name}__", lambda a, b: _elementwise(f, a, b, domain=domain))
    if hasattr(operator, name) and name not in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(Masked, f"__r{name}__", lambda a, b: _elementwise(f, b, a, domain=domain))


def _in_place(name: str, f: Any, neutral: int) -> None:
    domain, into = _DOMAINS.get(f), getattr(operator, f"i{name}")

    def change(a: Masked, b: Any) -> Masked:
        a._own()
        value, hidden = parts(b)
        if domain is not None:
            hidden = _or(hidden, domain(a.data, value))
        if hidden is not False:
            a._hides()
            a._mask[...] = _or(a._mask, hidden)
        into(a.data, call(np.where, a._mask, neutral, value))
        return a

    setattr(Masked, f"__i{name}__", change)


for _name, _f in _BINARY.items():
    _operator(_name, _f)
for _name, _neutral in {"add": 0, "sub": 0, "mul": 1, "truediv": 1, "floordiv": 1}.items():
    _in_place(_name, _BINARY[_name], _neutral)


def _refused(name: str) -> None:
    def change(a: Masked, b: Any) -> Masked:
        raise fail(JitadTypeError, "this assignment to a masked array in place is not supported on "
                   "traced or differentiated values", "Write a = a ... b.")  # fmt: skip

    setattr(Masked, f"__i{name}__", change)


for _name in "pow mod and or xor matmul".split():
    _refused(_name)
for _name in ("and", "or"):
    setattr(Masked, f"__r{_name}__", lambda a, b, f=_BINARY[_name]: _elementwise(f, b, a))
_UNARY: dict[str, Any] = {"neg": np.negative, "abs": np.abs, "invert": np.logical_not}
for _name, _f in _UNARY.items():
    setattr(Masked, f"__{_name}__", lambda a, f=_f: _elementwise(f, a))
Masked.__hash__ = None  # type: ignore[assignment]


def sqrt(a: Any) -> Any:
    return _elementwise(np.sqrt, a, domain=_DOMAINS[np.sqrt])


def _function(name: str) -> None:
    f = getattr(np, name)

    @replaces(getattr(ma, name), plain=False)
    def replacement(*operands: Any) -> Any:
        return _elementwise(f, *operands, domain=_DOMAINS.get(f))


for _name in ("exp log log10 log2 sqrt abs sin cos tan tanh sinh cosh arctan negative add subtract "
              "multiply true_divide divide power maximum minimum hypot arctan2").split():
    _function(_name)

# -- made and asked -------------------------------------------------------------------------------


@replaces(ma.array, ma.MaskedArray, plain=False)
def array(data: Any, dtype: Any = None, copy: Any = False, order: Any = None, mask: Any = False,
          fill_value: Any = None, keep_mask: Any = True, hard_mask: Any = False,
          shrink: Any = True, subok: Any = True, ndmin: Any = 0) -> Any:  # fmt: skip
    if hard_mask or not keep_mask or ndmin or mask is None:
        raise fail(JitadTypeError, "hard_mask=, keep_mask=, ndmin= and mask=None of np.ma.array "
                   "are not supported on traced or differentiated values",
                   "Leave them out.")  # fmt: skip
    given = adopt(data)
    data, hidden = parts(given)
    if isinstance(given, Masked) and not copy and (mask is False or mask is ma.nomask):
        return given._view(call(np.asarray, data, dtype), hidden)
    own = call(np.array, data, dtype) if copy else call(np.asarray, data, dtype)
    if mask is False or mask is ma.nomask:
        return Masked(own, hidden, fill_value)
    out = _masked_by(own, mask if hidden is False else _or(hidden, mask), copy, fill_value)
    out._outside = not copy and isinstance(given, Masked) and given._outside
    return out


def _masked_by(data: Any, mask: Any, copy: Any, fill_value: Any) -> Masked:
    """With the mask itself, if it is an array of the same shape."""
    out = Masked(data, mask, fill_value)
    mask = call(np.asarray, mask, bool)
    same = getattr(mask, "ndim", 0) == out.ndim and all(
        m is n or m == n for m, n in zip(mask.shape, out.shape, strict=True)
    )
    if same and not copy:
        out._mask = handle(mask)
    return out


@replaces(ma.masked_where, plain=False)
def masked_where(condition: Any, a: Any, copy: Any = True) -> Any:
    data, hidden = parts(a)
    condition, unknown = parts(condition)
    data = call(np.array, data) if copy else call(np.asarray, data)
    return Masked(data, _or(hidden, _or(condition, unknown)))


def _where(original: Any, test: Callable[..., Any]) -> None:
    @replaces(original, plain=False)
    def replacement(x: Any, *limits: Any, copy: Any = True) -> Any:
        return masked_where(test(parts(x)[0], *limits), x, copy)


for _name, _f in (("less", np.less), ("less_equal", np.less_equal), ("greater", np.greater),
                  ("greater_equal", np.greater_equal), ("equal", np.equal),
                  ("not_equal", np.not_equal)):  # fmt: skip
    _where(getattr(ma, f"masked_{_name}"), lambda x, v, f=_f: call(f, x, v))
_where(ma.masked_invalid, lambda x: call(np.logical_not, call(np.isfinite, x)))
_where(ma.masked_inside, lambda x, a, b: call(np.logical_and, call(
    np.greater_equal, x, call(np.minimum, a, b)), call(np.less_equal, x, call(np.maximum, a, b))))
_where(ma.masked_outside, lambda x, a, b: _or(
    call(np.less, x, call(np.minimum, a, b)), call(np.greater, x, call(np.maximum, a, b))))


_METHODS = "sum prod mean var std min max count compressed filled anom copy ravel".split()


def _of_array(name: str) -> None:
    @replaces(getattr(ma, name), plain=False)
    def replacement(a: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(Masked(*parts(a)), name)(*args, **kwargs)


for _name in _METHODS[:-2]:
    _of_array(_name)


@replaces(ma.getdata, plain=False)
def getdata(a: Any, subok: Any = True) -> Any:
    return parts(a)[0]


@replaces(ma.getmaskarray, ma.getmask, plain=False)
def getmaskarray(arr: Any) -> Any:
    return Masked(*parts(arr)).mask


@replaces(ma.average, plain=False)
def average(a: Any, axis: Any = None, weights: Any = None) -> Any:
    a = Masked(*parts(a))
    if weights is None:
        return a.mean(axis)
    weights = Masked(*parts(weights))
    if weights.ndim != a.ndim:
        raise fail(JitadTypeError, "weights of another shape are not supported in np.ma.average",
                   "Broadcast them.")  # fmt: skip
    counting = Masked(weights.data, _or(weights.mask, a.mask))
    return _elementwise(np.true_divide, (a * weights).sum(axis), counting.sum(axis))


@replaces(ma.median, plain=False)
def median(a: Any, axis: Any = None) -> Any:
    a = Masked(*parts(a))
    if axis is not None:
        raise fail(JitadTypeError, "axis= of np.ma.median is not supported on traced or "
                   "differentiated values", "Take a loop over rows.")  # fmt: skip
    return call(np.median, a.compressed())


@stands_for(ma.MaskedArray)
def of_outside(value: Any, read: Read) -> Masked:
    out = Masked(read("data"), read("mask"), read("fill_value"))
    out._outside = True
    return out
