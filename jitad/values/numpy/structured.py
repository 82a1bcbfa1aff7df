"""What are arrays with fields (structured arrays, np.recarray), where their numbers are traced?

One array for each field.  Views of the whole have views of each, so that what is stored through one
is seen by all; an element is looked up in its array whenever one of its fields is read or written,
as in NumPy, where it is a view, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from jitad.errors import (
    JitadAttributeError,
    JitadIndexError,
    JitadTypeError,
    JitadValueError,
)
from jitad.structured import TRACED, Layout, field_names, has_fields
from jitad.tape.types import Scalar
from jitad.values import extents, registry
from jitad.values.array import ArrayHandle
from jitad.values.complexes.number import Complex
from jitad.values.kind import fail, is_number, missing, type_of
from jitad.values.number import Number
from jitad.values.registry import call, replaces

_OTHER = "Take its fields one by one: a['x']."


class Structured:
    """An array with fields, `parts` holding one array for each of numbers."""

    __array_priority__ = 15.0
    __array_ufunc__ = None  # so that arrays leave their operators to it

    def __init__(self, parts: Sequence[Any], layout: Layout) -> None:
        self.parts = tuple(parts)
        self.layout = layout

    # -- what it is -------------------------------------------------------------------------------

    dtype = property(lambda self: self.layout.dtype)
    held = property(lambda self: self.parts)
    ndim = property(lambda self: len(self.shape))
    T = property(lambda self: self.transpose())

    @property
    def shape(self) -> tuple[Any, ...]:
        first, inner = self.parts[0], self._inner(0)
        shape: tuple[Any, ...] = first.shape
        return shape[: len(shape) - inner]

    size = property(lambda self: extents.product(self.shape))

    def _inner(self, k: int) -> int:
        """The number of axes that the elements of a field have."""
        return self.dtype[field_names(self.dtype)[k]].ndim

    def __len__(self) -> Any:
        if not self.shape:
            raise fail(JitadTypeError, "len() of unsized object")
        return self.shape[0]

    # -- fields and elements ----------------------------------------------------------------------

    def field(self, name: str) -> Any:
        names = field_names(self.dtype)
        if name in names:
            return self.parts[names.index(name)]
        if name in self.dtype.names:
            raise fail(JitadTypeError, f"the field {name!r} is of {self.dtype[name]}, which is not "
                       "supported on traced or differentiated values",
                       "Use it outside, and pass the result.")  # fmt: skip
        raise fail(JitadValueError, f"no field of name {name}")

    def _some(self, names: list[str]) -> Structured:
        parts = [self.field(n) for n in names]
        return Structured(parts, Layout(self.dtype[names], self.layout.kind))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self.field(key)
        if type(key) is list and key and all(isinstance(k, str) for k in key):
            return self._some(key)
        key = key if isinstance(key, tuple) else (key,)
        if len(key) == len(self.shape) and all(map(_is_index, key)):
            self.parts[0][key]  # which must be there
            return Element(self, key)
        return Structured([p[self._key(k, key)] for k, p in enumerate(self.parts)], self.layout)

    def _key(self, k: int, key: tuple[Any, ...]) -> tuple[Any, ...]:
        """The same elements of field number k, whose own axes come last."""
        return (*key, *(slice(None),) * self._inner(k)) if any(x is ... for x in key) else key

    row = __getitem__  # as loops over arrays ask for their items

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str):
            self.field(key)[...] = value
            return
        if type(key) is list and key and all(isinstance(k, str) for k in key):
            self._some(key)[...] = value
            return
        key = key if isinstance(key, tuple) else (key,)
        given = _in_order(value, self.dtype)
        if len(given) != len(self.parts):
            raise fail(JitadValueError, f"could not assign {len(given)} fields to "
                       f"{len(self.dtype.names)}")  # fmt: skip
        for k, (part, v) in enumerate(zip(self.parts, given, strict=True)):
            part[self._key(k, key)] = v

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") and name in self.dtype.names:
            return self.field(name)
        raise _missing(name, self)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("parts", "layout"):
            object.__setattr__(self, name, value)
        elif name in self.dtype.names:
            self.field(name)[...] = value
        else:
            raise _missing(name, self)

    # -- of each field ----------------------------------------------------------------------------

    def _each(self, f: Callable[[Any], Any]) -> Structured:
        """Where a function of NumPy's gives the same elements of all fields."""
        if any(map(self._inner, range(len(self.parts)))):
            raise fail(JitadTypeError, "this is not supported of an array with fields of arrays",
                       _OTHER)  # fmt: skip
        return Structured([p._each(f) if isinstance(p, Structured) else f(p) for p in self.parts],
                      self.layout)  # fmt: skip

    def copy(self, order: str = "C") -> Structured:
        return Structured([p.copy() for p in self.parts], self.layout)

    def reshape(self, *shape: Any, order: str = "C") -> Structured:
        return self._each(lambda p: p.reshape(*shape, order=order))

    def ravel(self, order: str = "C") -> Structured:
        return self._each(lambda p: p.ravel(order))

    def flatten(self, order: str = "C") -> Structured:
        return self._each(lambda p: p.flatten(order))

    def transpose(self, *axes: Any) -> Structured:
        return self._each(lambda p: p.transpose(*axes))

    def squeeze(self, axis: Any = None) -> Structured:
        return self._each(lambda p: p.squeeze(axis))

    def take(self, indices: Any, axis: Any = None) -> Structured:
        return self._each(lambda p: call(np.take, p, indices, axis))

    def view(self, dtype: Any = None, type: Any = None) -> Structured:
        kind = type or dtype
        if kind in (np.recarray, np.ndarray):
            return Structured(self.parts, Layout(self.dtype, kind))
        raise fail(JitadTypeError, "this view of an array with fields is not supported on traced "
                   "or differentiated values", _OTHER)  # fmt: skip

    def argsort(self, axis: int = -1, kind: Any = None, order: Any = None) -> Any:
        wanted = [order] if isinstance(order, str) else list(order or ())
        keys = [self.field(n) for n in (*wanted, *(n for n in self.dtype.names if n not in wanted))]
        if self.ndim != 1:
            raise fail(JitadTypeError, "arrays with fields are sorted along one axis only", _OTHER)
        return call(np.lexsort, tuple(keys[::-1]))

    def sort(self, axis: int = -1, kind: Any = None, order: Any = None) -> None:
        self[...] = self[self.argsort(axis, kind, order)]

    def __eq__(self, other: object) -> Any:
        raise _uncompared()

    __ne__ = __eq__
    __hash__ = None  # type: ignore[assignment]

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return call(func, *args, **kwargs)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise fail(JitadTypeError, "an array with fields can't become a NumPy array here", _OTHER)

    def _takes(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        """A function of NumPy's, of the array."""
        found = FUNCTIONS.get(original)
        if found is not None and (args[0] is self or original in _JOINING):
            return found(*args, **kwargs)
        name = getattr(original, "__name__", "this")
        raise fail(JitadTypeError, f"{name} of an array with fields is not supported on traced or "
                   "differentiated values", _OTHER)  # fmt: skip


class Element:
    """An element of an array with fields."""

    __array_ufunc__ = None

    def __init__(self, of: Structured, key: tuple[Any, ...], given: bool = False) -> None:
        self.of = of
        self.key = key
        self.given = given  # is it one from outside, whose array is not known?

    held = property(lambda self: self.of.parts)
    shape = ()
    ndim = 0
    dtype = property(lambda self: self.of.dtype)

    @property
    def layout(self) -> Layout:
        kind = np.record if issubclass(self.dtype.type, np.record) else np.void
        return Layout(self.dtype, kind)

    @property
    def parts(self) -> tuple[Any, ...]:
        return tuple(p[self.key] for p in self.of.parts)

    def __len__(self) -> int:
        return len(self.dtype.names)

    def __iter__(self) -> Iterator[Any]:
        return (self[n] for n in self.dtype.names)

    def __getitem__(self, key: Any) -> Any:
        if type(key) is list:
            return Element(self.of[key], self.key, self.given)
        found = self.of.field(self._name(key))[self.key]
        return Element(found.of, found.key, self.given) if isinstance(found, Element) else found

    def __setitem__(self, key: Any, value: Any) -> None:
        if self.given:
            raise fail(JitadTypeError, "an element of an array from outside is written here, which "
                       "would not reach the array", "Pass the array, and its index.")  # fmt: skip
        if type(key) is list:
            self.of[key][self.key] = value
            return
        self.of.field(self._name(key))[self.key] = value

    def _name(self, key: Any) -> str:
        if isinstance(key, str):
            return key
        names = self.dtype.names
        if not isinstance(key, int) or not -len(names) <= key < len(names):
            raise fail(JitadIndexError, "invalid index")
        name: str = names[key]
        return name

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") and name in self.dtype.names:
            return self[name]
        raise _missing(name, self)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("of", "key", "given"):
            object.__setattr__(self, name, value)
        elif name in self.dtype.names:
            self[name] = value
        else:
            raise _missing(name, self)

    def item(self) -> tuple[Any, ...]:
        return tuple(v.item() if isinstance(v, Element) else call(np.ndarray.item, v)
                     if isinstance(v, ArrayHandle) and not v.ndim else v for v in self)  # fmt: skip

    tolist = item

    def __eq__(self, other: object) -> Any:
        raise _uncompared()

    __ne__ = __eq__
    __hash__ = None  # type: ignore[assignment]

    def copy(self) -> Element:
        whole = [call(np.array, p[self.key]) for p in self.of.parts]
        return Element(Structured(whole, Layout(self.dtype, np.ndarray)), ())


# -- made and asked -------------------------------------------------------------------------------


def of_parts(parts: Sequence[Any], layout: Layout, given: bool = False) -> Any:
    """An array with fields, or an element of one, that has these parts; `given`: by the caller."""
    held = [_held(p) for p in parts]
    if layout.is_element:
        return Element(Structured(held, Layout(layout.dtype, np.ndarray)), (), given)
    return Structured(held, layout)


TRACED.update((Structured, Element))
registry.matrices.add(Structured)


def _held(value: Any) -> Any:
    """What an element holds under a name, in memory of its own."""
    if isinstance(value, Element):
        parts = value.parts if value.key else value.held
        return Structured([_held(p) for p in parts], Layout(value.dtype, np.ndarray))
    first = value.re if isinstance(value, Complex) else value
    return call(np.array, value) if is_number(first) else value


def filled(make: Callable[[Any, Any], Any], shape: Any, dtype: np.dtype[Any]) -> Structured:
    """A new array with fields, each of which `make(shape, dtype)` makes."""
    parts = []
    for name in field_names(dtype):
        inner = dtype[name]
        whole = (*shape, *inner.shape)
        kind = inner.base
        parts.append(make(whole, kind) if kind.names is None else filled(make, whole, kind))
    return Structured(parts, Layout(dtype, np.ndarray))


def array(value: Any, dtype: np.dtype[Any]) -> Any:
    """A new array of tuples, in nested lists."""
    outer, at = [], value
    while isinstance(at, list):
        outer.append(len(at))
        at = at[0] if at else ()
    out = filled(lambda s, d: call(np.zeros, s, d), tuple(outer), dtype)
    if all(outer):
        out[...] = value
    return out


def _is_index(key: Any) -> bool:
    """Is it the number of an element, known or traced?"""
    t = type_of(key) if isinstance(key, (int, np.integer, Number)) else None
    return isinstance(t, Scalar) and t.dtype[0] in "iu"


def _in_order(value: Any, dtype: np.dtype[Any]) -> Sequence[Any]:
    """What is stored in each field of numbers, by their order."""
    names = field_names(dtype)
    if isinstance(value, (Structured, Element)):
        return value.parts
    if has_fields(value):
        return [value[n] for n in field_names(value.dtype)]
    if isinstance(value, list):
        rows = [_in_order(v, dtype) for v in value]
        return [call(np.array, [row[k] for row in rows]) for k in range(len(names))]
    if not isinstance(value, tuple):
        return [value] * len(names)
    if len(value) != len(dtype.names or ()):
        raise fail(JitadValueError, f"could not assign tuple of length {len(value)} to structure "
                   f"with {len(dtype.names or ())} fields.")  # fmt: skip
    return [v for n, v in zip(dtype.names or (), value, strict=True) if n in names]


def _missing(name: str, thing: Any) -> JitadAttributeError:
    text = f"{name!r} of an array with fields is not supported on traced or differentiated values"
    return missing(text, _OTHER)


def _uncompared() -> JitadTypeError:
    return fail(JitadTypeError, "comparing arrays with fields as a whole is not supported on "
                "traced or differentiated values", _OTHER)  # fmt: skip


def _joined(how: Any) -> Callable[..., Any]:
    def joined(arrays: Any, *args: Any, **kwargs: Any) -> Structured:
        first = arrays[0]
        for a in arrays:
            if not isinstance(a, Structured) or a.dtype != first.dtype:
                raise fail(JitadTypeError, f"{how.__name__} of arrays with other fields is not "
                           "supported on traced or differentiated values", _OTHER)  # fmt: skip
        if args or kwargs:
            first._each(lambda p: p)  # axes are those of all fields
        columns = zip(*(a.parts for a in arrays), strict=True)
        return Structured([call(how, list(c), *args, **kwargs) for c in columns], first.layout)

    return joined


def _like(fill: int) -> Callable[..., Any]:
    make = np.ones if fill else np.zeros
    return lambda a: filled(lambda shape, dtype: call(make, shape, dtype), a.shape, a.dtype)


def _copied(a: Structured, dtype: Any = None, copy: Any = True, **kwargs: Any) -> Structured:
    if dtype is not None and np.dtype(dtype) != a.dtype:
        raise fail(JitadTypeError, "arrays with fields keep their fields here", _OTHER)
    return a.copy() if copy else a


def _sorted(a: Structured, axis: int = -1, kind: Any = None, order: Any = None) -> Any:
    return a[a.argsort(axis, kind, order)]


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    len: Structured.__len__, np.copy: _copied, np.array: _copied,
    np.asarray: lambda a, dtype=None: a,
    np.zeros_like: _like(0), np.empty_like: _like(0), np.ones_like: _like(1),
    np.shape: lambda a: a.shape, np.ndim: lambda a: a.ndim, np.size: lambda a: a.size,
    np.argsort: Structured.argsort, np.sort: _sorted, np.reshape: Structured.reshape,
    np.ravel: Structured.ravel, np.squeeze: Structured.squeeze, np.take: Structured.take,
    np.flip: lambda a, axis=None: a._each(lambda p: call(np.flip, p, axis)),
    np.roll: lambda a, shift, axis=None: a._each(lambda p: call(np.roll, p, shift, axis)),
}  # fmt: skip


_JOINING = (np.concatenate, np.stack, np.hstack)
FUNCTIONS.update({f: _joined(f) for f in _JOINING})


@replaces(np.rec.fromarrays, plain=False)
def fromarrays(arrayList: Any, dtype: Any = None, shape: Any = None, formats: Any = None,
               names: Any = None) -> Any:  # fmt: skip
    parts = [call(np.array, a) for a in arrayList]
    if formats is not None or (dtype is None) == (names is None):
        raise fail(JitadTypeError, "np.rec.fromarrays takes dtype=, or names=, here")
    if dtype is None:
        names = [n.strip() for n in names.split(",")] if isinstance(names, str) else names
        dtype = [(n, p.dtype) for n, p in zip(names, parts, strict=True)]
    whole = filled(lambda s, d: call(np.zeros, s, d), parts[0].shape, np.dtype(dtype))
    whole[...] = tuple(parts)
    return whole.view(np.recarray)
