"""What is a number that is being traced or differentiated, as user code meets it?

`Number` gives Python's operators; every operation goes through `apply`, which evaluates where all
operands are plain and otherwise asks the operand with the newest tag.  Leaves of a tape
(`jitad.trace`) and tagged numbers (`jitad.runtime`) are the kinds of Number there are; this is
the one dispatch that both engines and all nested derivatives share.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ContextDecorator
from typing import Any

import numpy as np

from jitad.primitives import TABLE, Primitive
from jitad.primitives.unloaded import loaded
from jitad.values.active import Active

NO_PARAMS: dict[str, Any] = {}  # never written


def newest(args: tuple[Any, ...]) -> Number | None:
    """The operand whose tag is the newest, or None where all are plain."""
    top: Number | None = None
    for a in args:
        if isinstance(a, Number) and (top is None or a.tag > top.tag):
            top = a
    return top


def apply(row: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Apply a primitive to numbers of any kind."""
    top: Number | None = None  # as `newest` has it
    for a in args:
        if isinstance(a, Number) and (top is None or a.tag > top.tag):
            top = a
    if top is not None:
        return top._apply(row, args, params)
    out = row.evaluate(*args, **params)
    if type(out) is not np.float64 or not row.elementwise or params:
        return out
    for a in args:
        if type(a) not in _PYTHON:
            return out
    return float(out)  # functions of Python numbers are Python numbers


def bind(name: str, *args: Any, **params: Any) -> Any:
    """`apply` by the primitive's name."""
    return apply(TABLE[name], args, params)


def update(name: str, *args: Any, **params: Any) -> Any:
    """`bind` of a primitive with an `update`, where the buffers of the first operand are reused.

    The caller owns them: no one else may read the first operand afterwards.  The result's buffers
    are the caller's again; so are those of the pure `bind` of the same primitives, but not of
    others: the tangent of `x + 1.0` is that of x.
    """
    row = TABLE[name]
    top = newest(args)
    if top is not None:
        return top._store_in_place(row, args, params)
    if row.update is None:
        raise ValueError(f"primitive {name} does not work in place")
    row.update(*args, **params)
    return args[0]


class _Rules(ContextDecorator, threading.local):
    """How deep this thread is in derivative rules, where arrays are contents and not handles."""

    depth = 0

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *exception: Any) -> None:
        self.depth -= 1


in_rules = _Rules()


class Operations:
    """`o.exp(x)` is `bind("exp", x)`: what derivative rules are written against.

    A rule may ask `o.wanted(k)` and give None for an operand whose part nobody wants.
    """

    def __init__(self, active: tuple[bool, ...] = ()) -> None:
        self.active = active

    def wanted(self, k: int) -> bool:
        """False where operand k is known to have no derivative."""
        return not self.active or self.active[k]

    def __getattr__(self, name: str) -> Any:
        if name not in TABLE:
            raise AttributeError(name)
        row = TABLE[name]

        def operation(*args: Any, **params: Any) -> Any:
            return apply(row, args, params)

        operation.__name__ = name
        setattr(self, name, operation)
        return operation


o = Operations()

_PYTHON = frozenset((float, int, bool))
_PLAIN = frozenset((float, int, bool))
_COMPLEX = (complex, np.complexfloating)
_STRANGE = (np.float16, np.longdouble)

Operator = Callable[[Any, Any], Any]


def _binary(name: str) -> tuple[Operator, Operator]:
    """The operator and its reflection; other kinds of operand (arrays) are asked instead."""
    row = TABLE[name]

    def operator(self: Number, other: Any) -> Any:
        if type(other) in _PLAIN:
            return self._apply(row, (self, other), NO_PARAMS)
        if isinstance(other, _COMPLEX):
            return _complex(name, self, other)
        if isinstance(other, Number):
            return apply(row, (self, other), NO_PARAMS)
        if isinstance(other, np.generic):
            return apply(row, (self, _usual(other)), NO_PARAMS)
        if isinstance(other, (int, float)):  # an IntEnum, say
            return self._apply(row, (self, other.real), NO_PARAMS)
        return _elements(row, self, self, other)

    def reflected(self: Number, other: Any) -> Any:
        if type(other) in _PLAIN:
            return self._apply(row, (other, self), NO_PARAMS)
        if isinstance(other, _COMPLEX):
            return _complex(name, other, self)
        if isinstance(other, Number):
            return apply(row, (other, self), NO_PARAMS)
        if isinstance(other, np.generic):
            return apply(row, (_usual(other), self), NO_PARAMS)
        if isinstance(other, (int, float)):
            return self._apply(row, (other.real, self), NO_PARAMS)
        return _elements(row, self, other, self)

    return operator, reflected


def _usual(number: np.generic) -> np.generic:
    """A number of NumPy's that tapes have; not one of 16 bits, in which rules would be rounded."""
    if isinstance(number, _STRANGE):
        from jitad.values.kind import check_dtype  # which knows where the user's program is

        check_dtype(number)
    return number


def _elements(row: Primitive, number: Number, a: Any, b: Any) -> Any:
    """An operator between a number and a list: by its elements, if the number is one of NumPy's.

    A product is none of NumPy's: it repeats the list.
    """
    kinds = range if row.name == "mul" else (list, tuple, range)
    if not isinstance(b if a is number else a, kinds) or number._type().py:
        return NotImplemented
    from jitad.values.functions import implementation  # above this file

    return implementation(row.numpy)(a, b)  # type: ignore[misc]


def _complex(name: str, a: Any, b: Any) -> Any:
    """An operator between a real number and a plain complex one."""
    from jitad.values.complexes.operators import operated  # which is made of numbers

    return operated(name, a, b)


def _unary(name: str) -> Callable[[Any], Any]:
    row = TABLE[name]

    def operator(self: Number) -> Any:
        return self._apply(row, (self,), NO_PARAMS)

    return operator


class Number(Active):
    """Base of all traced and tagged values, scalars and array contents alike."""

    __slots__ = ()
    tag: int = 0  # 0: a leaf of a tape; tagged numbers have positive tags, newest largest
    __hash__ = None  # type: ignore[assignment]

    def __init_subclass__(cls) -> None:
        cls.__name__ = "number"  # as which Python's own messages speak of it

    def _apply(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        raise NotImplementedError

    def _store_in_place(
        self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]
    ) -> Any:
        return self._apply(primitive, args, params)

    __add__, __radd__ = _binary("add")
    __sub__, __rsub__ = _binary("sub")
    __mul__, __rmul__ = _binary("mul")
    __truediv__, __rtruediv__ = _binary("div")
    __floordiv__, __rfloordiv__ = _binary("floordiv")
    __mod__, __rmod__ = _binary("mod")
    __pow__, __rpow__ = _binary("pow")
    __and__, __rand__ = _binary("bitand")
    __or__, __ror__ = _binary("bitor")
    __xor__, __rxor__ = _binary("bitxor")
    __lshift__, __rlshift__ = _binary("lshift")
    __rshift__, __rrshift__ = _binary("rshift")
    __lt__, _ = _binary("lt")
    __le__, _ = _binary("le")
    __gt__, _ = _binary("gt")
    __ge__, _ = _binary("ge")
    __eq__, _ = _binary("eq")
    __ne__, _ = _binary("ne")
    __neg__ = _unary("neg")
    __abs__ = _unary("abs")
    __invert__ = _unary("invert")
    del _

    def __pos__(self) -> Any:
        return 0 - (-self) if self._type().dtype == "b1" else self  # +True is 1; NumPy's have none

    @property
    def real(self) -> Any:
        return +self if getattr(self._type(), "py", False) else self

    @property
    def imag(self) -> Any:
        return 0.0 if self._type().dtype[0] == "f" else 0

    def conjugate(self) -> Any:
        return self.real

    def _type(self) -> Any:
        from jitad.values.kind import type_of  # which asks numbers

        return type_of(self)

    def item(self) -> Any:
        """A NumPy number as one of Python's."""
        from jitad.values.functions import implementation  # which knows of types

        kind = implementation(type)(self)  # type: ignore[misc]
        convert = {"f": float, "i": int, "u": int, "b": bool}[np.dtype(kind).kind]
        return implementation(convert)(self)  # type: ignore[misc]

    def is_integer(self) -> Any:
        return bind("eq", self - bind("trunc", self), 0.0)  # an infinity is none

    def outlived(self) -> Any:
        """The number without tags whose application has returned."""
        return self

    def __divmod__(self, other: Any) -> Any:
        return (self // other, self % other)

    def __rdivmod__(self, other: Any) -> Any:
        return (other // self, other % self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if in_rules.depth:  # a rule has multiplied an ndarray by a tagged array
            return apply(_row_of(ufunc), inputs, NO_PARAMS)
        from jitad.values.functions import call_unknown, implementation  # above this file

        found = implementation(ufunc)
        if found is None or method != "__call__":
            return call_unknown(ufunc, method, inputs, kwargs)
        return found(*inputs, **kwargs)


_rows: dict[Any, Primitive] = {}


def _row_of(ufunc: Any) -> Primitive:
    """The primitive that a NumPy function is."""
    if ufunc not in _rows:
        named = [row for row in TABLE.values() if row.numpy is not None]
        _rows.update((row.numpy, row) for row in named)
        if ufunc not in _rows:  # SciPy's, which has been imported then
            _rows.update((loaded(row.numpy), row) for row in named)
    return _rows[ufunc]
