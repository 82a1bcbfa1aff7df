"""What does jitad know of a primitive?  One row of this table, used by every engine and mode.

A row gives the result's type, how concrete values are evaluated, the derivative and the scalar
code that is emitted.  Derivative rules are written against `o`, the operations over whatever the
leaves are (`o.exp(x)`, and Python's operators): plain numbers in the runtime, tape variables in
the sweeps.  That is why one rule serves eager and compiled code, and nested derivatives.

Rules (Griewank & Walther, *Evaluating Derivatives*, ch. 3; Giles 2008 for matrices):
  partials  elementwise primitives: one factor an operand; both modes follow from it.
  linear    the operand positions in which the primitive is jointly linear: its tangent is itself.
  vjp       the transpose, for primitives that are not elementwise; may give `Into` for
            contributions that touch a part of an adjoint only, so that they cost O(part).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from typing import Any

import numpy as np

from jitad.errors import JitadError
from jitad.immutable import immutable
from jitad.tape.ir import Atom, Equation, Lit
from jitad.tape.types import Array, Scalar, Type, element, is_float, promote

Inferred = tuple[tuple[Type, tuple[Atom, ...]], ...]


@immutable
class Into:
    """A contribution `adjoint <- op(adjoint, *args)`, such as `accum` at one index."""

    op: str
    args: tuple[Any, ...]
    params: dict[str, Any]


@immutable
class Unknown:
    """A partial derivative without a known formula: an error where it is asked for."""

    what: str

    def __mul__(self, other: Any) -> Any:
        raise JitadError(f"{self.what} is not known here", remedy="Keep that operand data, or "
                         "write the function as a sum or an integral.")  # fmt: skip

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Unknown:
        return self

    __radd__ = __add__


@immutable
class Chain:
    """A partial derivative of two factors, of which a tangent is multiplied with the inner first.

    The derivative of 1 / x is -(1 / x) * (1 / x), which overflows below x = 1e-154; a tangent there
    is as small as x, and 1 / x times the tangent is a number.
    """

    outer: Any
    inner: Any

    @property
    def product(self) -> Any:
        return self.outer * self.inner

    def __mul__(self, other: Any) -> Any:
        return (self.inner * other) * self.outer

    def __add__(self, other: Any) -> Any:
        return self.product + other

    __radd__ = __add__


@immutable
class Primitive:
    """A row of the table."""

    name: str
    evaluate: Callable[..., Any]
    infer: Callable[..., Inferred]
    partials: Callable[..., tuple[Any, ...]] | None = None
    linear: tuple[int, ...] = ()
    jvp: Callable[..., Any] | None = None
    vjp: Callable[..., tuple[Any, ...]] | None = None
    emit: str = ""  # code, "{0} + {1}", of whole arrays "cholesky({0})"; names: emit/preamble
    elementwise: bool = False
    flat: bool = False  # the derivative is zero wherever there is one
    tame: bool = False  # finite operands give finite values and derivatives (as `linear` ones do)
    chooses: bool = False  # among its operands: a factor of zero is of one that was not taken
    dear: bool = False  # costs more than storing and loading its result
    constant: bool = False  # the equations that use it know how it varies: no tangent of its own
    effect: bool = False  # keeps its order, is never dropped or repeated
    fresh: bool = False  # makes a buffer of its own that stores may write: never shared by CSE
    domain: tuple[tuple[float, float], ...] = ()  # where tests may draw operands from
    numpy: Any = None  # the NumPy callable this row differentiates, if it has one
    update: Callable[..., None] | None = None  # does in the first operand what evaluate gives anew

    @cached_property
    def differentiable(self) -> bool:
        return bool(self.partials or self.linear or self.jvp or self.vjp)


TABLE: dict[str, Primitive] = {}


def register(row: Primitive) -> Primitive:
    if row.name in TABLE:
        raise ValueError(f"primitive {row.name} is registered twice")
    TABLE[row.name] = row
    return row


SMALL_POWERS = frozenset(k / 2 for k in range(-8, 9))
"""Exponents of powers that are products, and one square root."""


# What makes or moves arrays, and takes no longer than to load what was stored
CHEAP_ON_ARRAYS = frozenset((
    "slice", "broadcast", "reshape", "transpose", "full", "iota", "copy", "pack",
))  # fmt: skip


def costly(e: Equation) -> bool:
    """Does it take longer to compute this again than to store the result and load it?

    A root of all elements of an array does not: it waits for memory, not for the root.  What a
    loop does with one number often waits for just that.
    """
    power = None
    if e.op == "pow" and isinstance(e.ins[1], Lit) and float(e.ins[1].value) in SMALL_POWERS:
        power = float(e.ins[1].value)
    if e.op == "sqrt" or power is not None:
        whole = power is not None and power.is_integer()
        return not (whole or isinstance(e.outs[0].type, Array))
    return TABLE[e.op].dear


_PARTIAL = frozenset({"floordiv", "mod", "pow", "lshift", "rshift"})


def partial(e: Equation) -> bool:
    """Does it raise, or end the process, for some integers?"""
    if e.op not in _PARTIAL or is_float(e.outs[0].type):
        return False
    by = e.ins[1]
    return not (e.op in ("floordiv", "mod") and isinstance(by, Lit) and by.value != 0)


def tame(e: Equation) -> bool:
    """Are value and derivative finite where the operands are?  Sums and products are said to be."""
    row = TABLE[e.op]
    if row.tame or row.linear:
        return True
    if e.op in ("div", "pow") and isinstance(e.ins[1], Lit):
        by = float(e.ins[1].value)
        return by != 0 if e.op == "div" else by >= 1 and by.is_integer()
    return not any(is_float(a.type) for a in e.ins) and not row.effect


# -- type rules shared by many rows ---------------------------------------------------------------


def _extents(ins: tuple[Atom, ...]) -> tuple[Atom, ...]:
    """The extents of the array operands, which are equal; a literal one says most."""
    shapes = [a.shape for a in ins if isinstance(a.type, Array)]
    return tuple(
        next((n for n in axis if isinstance(n, Lit)), axis[0]) for axis in zip(*shapes, strict=True)
    )


def like(ins: tuple[Atom, ...], dtype: str, py: bool = False) -> Inferred:
    """Elementwise result: the extents of the first array among the operands, or a scalar."""
    arrays = [a.type for a in ins if type(a.type) is Array]
    if not arrays:
        return _number(dtype, py)
    return ((Array(dtype, max(t.ndim for t in arrays)), _extents(ins)),)


@cache
def _number(dtype: str, py: bool) -> Inferred:
    return ((Scalar(dtype, py), ()),)


def dtype_of(a: Any) -> str:
    """The dtype of a number or array of any kind, for rules that make constants of that width."""
    while hasattr(a, "primal"):
        a = a.primal
    if hasattr(a, "type"):
        return a.type.dtype
    return a.dtype.str[1:] if hasattr(a, "dtype") else "f8"


def arithmetic(*ins: Atom, **_: Any) -> Inferred:
    dtype, py = promote(*[a.type for a in ins])
    return like(ins, "i8" if py and dtype == "b1" else dtype, py)  # True + True is 2


def signed(*ins: Atom, **_: Any) -> Inferred:
    """As arithmetic, which of NumPy's bools has neither differences nor negatives."""
    if promote(*[a.type for a in ins]) == ("b1", False):
        raise TypeError("the - operator is not for NumPy's bools; use ~, ^ or np.logical_not")
    return arithmetic(*ins)


def shifted(*ins: Atom, **_: Any) -> Inferred:
    """As arithmetic, of what has bits."""
    dtype, _py = promote(*[a.type for a in ins])
    if dtype[0] not in "iub":
        raise TypeError(f"operators of bits are for integers and bools, not for {np.dtype(dtype)}")
    return arithmetic(*ins)


def bitwise(*ins: Atom, **_: Any) -> Inferred:
    """As arithmetic, of what has bits, bools staying bools."""
    shifted(*ins)
    return like(ins, *promote(*(a.type for a in ins)))


def floating(*ins: Atom, **_: Any) -> Inferred:
    """As arithmetic, integers becoming float64."""
    dtype, py = promote(*(a.type for a in ins))
    if dtype[0] not in "fc":
        dtype = "f8"
    return like(ins, dtype, py)


def boolean(*ins: Atom, **_: Any) -> Inferred:
    return like(ins, "b1", all(isinstance(a.type, Scalar) and a.type.py for a in ins))


def same_as_first(*ins: Atom, **_: Any) -> Inferred:
    return ((ins[0].type, ins[0].shape),)


def element_of_first(*ins: Atom, **_: Any) -> Inferred:
    return ((element(ins[0].type), ()),)  # type: ignore[arg-type]
