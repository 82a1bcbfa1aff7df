"""What is a number that is being traced or differentiated, as user code meets it?

`Number` gives Python's operators; every operation goes through `bind`, which evaluates where all
operands are plain and otherwise asks the operand with the newest tag.  Leaves of a tape
(`jitad.trace`) and tagged numbers (`jitad.runtime`) are the kinds of Number there are; this is
the one dispatch that both engines and all nested derivatives share.
"""

from __future__ import annotations

from typing import Any

from jitad.primitives.table import TABLE, Primitive


def bind(name: str, *args: Any, **params: Any) -> Any:
    """Apply a primitive to numbers of any kind."""
    top: Number | None = None
    for a in args:
        if isinstance(a, Number) and (top is None or a.tag > top.tag):
            top = a
    if top is None:
        return TABLE[name].evaluate(*args, **params)
    return top._apply(TABLE[name], args, params)


class Operations:
    """`o.exp(x)` is `bind("exp", x)`: what derivative rules are written against."""

    def __getattr__(self, name: str) -> Any:
        if name not in TABLE:
            raise AttributeError(name)

        def apply(*args: Any, **params: Any) -> Any:
            return bind(name, *args, **params)

        apply.__name__ = name
        setattr(self, name, apply)
        return apply


o = Operations()


class Number:
    """Base of all traced and tagged values, scalars and array contents alike."""

    __slots__ = ()
    tag: int = 0  # 0: a leaf of a tape; tagged numbers have positive tags, newest largest
    __hash__ = None  # type: ignore[assignment]

    def _apply(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        raise NotImplementedError

    def __add__(self, other: Any) -> Any:
        return bind("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return bind("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return bind("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return bind("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        return bind("mul", self, other)

    def __rmul__(self, other: Any) -> Any:
        return bind("mul", other, self)

    def __truediv__(self, other: Any) -> Any:
        return bind("div", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return bind("div", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return bind("floordiv", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return bind("floordiv", other, self)

    def __mod__(self, other: Any) -> Any:
        return bind("mod", self, other)

    def __rmod__(self, other: Any) -> Any:
        return bind("mod", other, self)

    def __divmod__(self, other: Any) -> Any:
        return (self // other, self % other)

    def __rdivmod__(self, other: Any) -> Any:
        return (other // self, other % self)

    def __pow__(self, other: Any) -> Any:
        return bind("pow", self, other)

    def __rpow__(self, other: Any) -> Any:
        return bind("pow", other, self)

    def __neg__(self) -> Any:
        return bind("neg", self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return bind("abs", self)

    def __invert__(self) -> Any:
        return bind("invert", self)

    def __and__(self, other: Any) -> Any:
        return bind("bitand", self, other)

    def __rand__(self, other: Any) -> Any:
        return bind("bitand", other, self)

    def __or__(self, other: Any) -> Any:
        return bind("bitor", self, other)

    def __ror__(self, other: Any) -> Any:
        return bind("bitor", other, self)

    def __xor__(self, other: Any) -> Any:
        return bind("bitxor", self, other)

    def __rxor__(self, other: Any) -> Any:
        return bind("bitxor", other, self)

    def __lshift__(self, other: Any) -> Any:
        return bind("lshift", self, other)

    def __rlshift__(self, other: Any) -> Any:
        return bind("lshift", other, self)

    def __rshift__(self, other: Any) -> Any:
        return bind("rshift", self, other)

    def __rrshift__(self, other: Any) -> Any:
        return bind("rshift", other, self)

    def __lt__(self, other: Any) -> Any:
        return bind("lt", self, other)

    def __le__(self, other: Any) -> Any:
        return bind("le", self, other)

    def __gt__(self, other: Any) -> Any:
        return bind("gt", self, other)

    def __ge__(self, other: Any) -> Any:
        return bind("ge", self, other)

    def __eq__(self, other: Any) -> Any:
        return bind("eq", self, other)

    def __ne__(self, other: Any) -> Any:
        return bind("ne", self, other)
