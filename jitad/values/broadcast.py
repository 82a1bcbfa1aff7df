"""How do operands of unlike shapes meet in an elementwise operation?

As in NumPy, with traced extents: equal extents go together, a literal 1 stretches, a traced
extent is taken not to be 1, and two traced extents that are not known to be equal get a check.
Where a call has failed it, another kernel is made, which stretches whatever it finds to be 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jitad.errors import (
    JitadError,
    JitadExtentError,
    JitadOverflowError,
    JitadTypeError,
    JitadValueError,
)
from jitad.tape.build import Leaf
from jitad.tape.types import INT
from jitad.values import extents
from jitad.values.extents import Int
from jitad.values.kind import check_dtype, fail, is_number, present_builder, require, type_of
from jitad.values.number import Number, bind
from jitad.values.registry import any_complex, call

Shape = tuple[Int, ...]


def shape_of(value: Any) -> Shape:
    return tuple(getattr(value, "shape", ()))


def common_shape(shapes: Sequence[Shape]) -> Shape:
    """The shape that all of these stretch to."""
    ndim = max(map(len, shapes), default=0)
    out = []
    for axis in range(-ndim, 0):
        met = [s[axis] for s in shapes if len(s) >= -axis]
        out.append(_common_extent(met, shapes))
    return tuple(out)


def _common_extent(met: list[Int], shapes: Sequence[Shape]) -> Int:
    wide = [n for n in met if isinstance(n, Number) or n != 1]
    if not wide:
        return 1
    chosen = next((n for n in wide if not isinstance(n, Number)), wide[0])
    for n in wide:
        if _stretches() and isinstance(chosen, Number) and not extents.same(n, chosen):
            chosen = bind("where", bind("eq", chosen, 1), n, chosen)
    for n in wide:
        _require_stretch(n, chosen, lambda: "operands could not be broadcast together with shapes "
                         + " ".join(map(shape_text, shapes)))  # fmt: skip
    return chosen


def _stretches() -> bool:
    builder = present_builder()
    return builder is not None and builder.stretches


def _require_stretch(n: Int, m: Int, what: Any) -> None:
    """An axis of extent n, not known to be 1, must be m long, or stretched to that."""
    if not _stretches():
        require_same(n, m, what)
    elif not extents.same(n, m):
        fits = bind("logical_or", bind("eq", n, m), bind("eq", n, 1))
        require(fits, JitadValueError, what())


def require_same(n: Int, m: Int, what: Any, error: type[JitadError] = JitadValueError) -> None:
    """Two extents must be equal: proved, relied on behind a guard, or checked."""
    for a, b in ((n, m), (m, n)):
        if isinstance(b, int) and extents.rely_on(a, b):
            return
    if not extents.same(n, m):
        equal, remedy, builder = bind("eq", n, m), _remedy(n, m), present_builder()
        if builder is not None and builder.catches(error):
            # The program may go by the error: it must be NumPy's, who stretches what is 1.
            one = bind("logical_or", bind("eq", n, 1), bind("eq", m, 1))
            fits = bind("logical_or", equal, bind("logical_not", one))
            require(fits, JitadExtentError, what(), remedy)
        elif error is JitadValueError and (isinstance(n, Number) or isinstance(m, Number)):
            error = JitadExtentError
        require(equal, error, what(), remedy)


def _remedy(*sizes: Int) -> str:
    """What to do where a trace from types alone can't know that an extent is 1."""
    unknown = any(isinstance(n, Leaf) and n.builder.example(n.atom) is None for n in sizes)
    return (
        "Where an extent is 1 to be stretched, call the function from Python with such arrays "
        "before, or give them to compile()."
    ) if unknown else ""


def shape_text(shape: Shape) -> str:
    parts = ["?" if isinstance(n, Number) else str(n) for n in shape]
    return f"({parts[0]},)" if len(parts) == 1 else f"({','.join(parts)})"


def stretch(content: Any, shape: Shape) -> Any:
    """The array content repeated along axes of extent 1 and new leading ones, to this shape."""
    content = _repeated(content, shape) if _stretches() else content
    own = shape_of(content)
    lead = len(shape) - len(own)
    dropped = [
        k for k, n in enumerate(own)
        if not isinstance(n, Number) and n == 1
        and (isinstance(shape[lead + k], Number) or shape[lead + k] != 1)
    ]  # fmt: skip
    if not dropped and not lead:
        return content
    if dropped:
        kept = [n for k, n in enumerate(own) if k not in dropped]
        content = (bind("reshape", content, *kept) if kept
                   else bind("load", content, *(0 for _ in own)))  # fmt: skip
    axes = tuple(lead + k for k in range(len(own)) if k not in dropped)
    return bind("broadcast", content, *shape, axes=axes)


def _repeated(content: Any, shape: Shape) -> Any:
    """The content, its one element taken again along axes that turn out to have extent 1."""
    lead = len(shape) - len(shape_of(content))
    for k, n in enumerate(shape_of(content)):
        m = shape[lead + k]
        if (isinstance(n, Number) or n != 1) and not extents.same(n, m):
            several = bind("cast", bind("ne", n, 1), dtype="i8")
            index = elementwise("mul", call(np.arange, m), several)
            content = bind("take", content, index.content, axis=k)
    return content


# -- operands -------------------------------------------------------------------------------------


def as_operand(value: Any) -> Any:
    """What arithmetic takes: a handle, a number, an ndarray; lists become arrays."""
    if hasattr(value, "peek") or is_number(value):
        if isinstance(value, np.generic):
            check_dtype(value)
        return value
    if isinstance(value, np.ndarray):
        _refuse_objects(value)
        return value
    if isinstance(value, (list, tuple)):
        return call(np.array, value)
    from jitad.values.ranges import Range  # which knows of indices

    if isinstance(value, (range, Range)):
        return call(np.arange, value.start, value.stop, value.step)
    what = getattr(type(value), "called", f"a {type(value).__name__}")
    raise fail(JitadTypeError, f"{what} can't take part in array arithmetic")


def _refuse_objects(value: np.ndarray[Any, Any]) -> None:
    if type(value) not in (np.ndarray, np.memmap):
        raise fail(JitadTypeError, f"a {type(value).__name__} has arithmetic of its own, which is "
                   "not supported", "Make it an ordinary array: np.asarray(a).")  # fmt: skip
    check_dtype(value)


def contents(args: Sequence[Any]) -> list[Any]:
    """The contents of operands: lent if all are plain, else versions that never change."""
    args = [as_operand(a) for a in args]
    if any_complex(args):
        raise fail(JitadTypeError, "complex numbers are not supported here",
                   "Compute with their real and imaginary parts.")  # fmt: skip
    plain = all(a.concrete if hasattr(a, "peek") else not isinstance(a, Number) for a in args)
    return [(a.peek() if plain else a.content) if hasattr(a, "peek") else a for a in args]


def aligned(args: Sequence[Any]) -> list[Any]:
    """Contents as an elementwise primitive takes them: scalars, and arrays of one shape."""
    given = contents(args)
    if not any(isinstance(c, Number) for c in given):
        return given  # NumPy does it
    arrays = [shape_of(c) for c in given if shape_of(c)]
    if not arrays:
        return given
    shape = arrays[0]
    if all(type(n) is int for n in shape) and not any(_traced(s) or s != shape for s in arrays):
        return given
    shape = common_shape(arrays)
    return [stretch(c, shape) if shape_of(c) else c for c in given]


def _traced(shape: Shape) -> bool:
    return any(isinstance(n, Number) for n in shape)


def elementwise(name: str, *args: Any, **params: Any) -> Any:
    """An elementwise primitive with broadcasting: a number, or a handle onto a new array."""
    from jitad.values.array import wrap
    from jitad.values.layout import follows

    given = aligned(args)
    out = bind(name, *given, **params)
    out = wrap(out if name == "where" else in_bounds(out, given))  # np.where takes their last bits
    if len(shape_of(out)) > 1:
        follows(out, args)
    return out


BOUNDS = {d: np.iinfo(d) for d in ("i1", "i2", "i4", "u1", "u2", "u4", "u8")}


def in_bounds(out: Any, operands: Sequence[Any]) -> Any:
    """The result; Python's ints beside ints of NumPy's that do not hold them are an error there."""
    if isinstance(out, Leaf):
        for k in operands:
            require_held(k, type_of(out).dtype)
    return out


def require_held(k: Any, dtype: str) -> None:
    """A Python int, if it is one, must not be beyond what integers of NumPy's hold."""
    bounds = BOUNDS.get(dtype)
    if bounds is None or not is_number(k) or type_of(k) != INT:
        return
    low, high = bind("ge", k, int(bounds.min)), True
    if bounds.bits < 64:
        high = bind("le", k, int(bounds.max))
    require(bind("logical_and", low, high), JitadOverflowError,
            f"Python integer out of bounds for {np.dtype(dtype)}")  # fmt: skip


# -- storing --------------------------------------------------------------------------------------


def fit(value: Any, dtype: np.dtype[Any], shape: Shape, traced: bool) -> Any:
    """The value as a store into an array of this dtype and shape takes it."""
    value = as_operand(value)
    if any_complex((value,)):
        raise fail(JitadTypeError, f"a complex value can't be stored in an array of {dtype}",
                   "Make the array a complex one.")  # fmt: skip
    content = value.content if hasattr(value, "peek") else value
    if isinstance(content, np.ndarray) and not content.ndim:
        content = content[()]
    own = shape_of(content)
    if not own:
        require_held(content, dtype.str[1:])
    if not own and not shape and not isinstance(content, Number) and not traced:
        return dtype.type(content)
    while len(own) > len(shape):  # NumPy drops leading axes of extent 1 here
        one = bind("eq", own[0], 1) if isinstance(own[0], Number) else own[0] == 1
        require(one, JitadValueError, _no_fit(own, shape))
        own = own[1:]
        content = bind("reshape", content, *own) if own else bind("load", content, *(
            0 for _ in shape_of(content)))  # fmt: skip
    if own:
        require_fit(own, shape, lambda: _no_fit(own, shape))
        content = stretch(content, shape)
    if traced or isinstance(content, Leaf):
        content = cast(content, dtype)
    elif isinstance(content, Number) and type_of(content).dtype != dtype.str[1:]:
        content = cast(content, dtype)
    return content


def require_fit(own: Shape, shape: Shape, what: Any) -> None:
    """Refuse what is not stretched to just this shape, with a message that `what()` gives."""
    if len(own) > len(shape):
        raise fail(JitadValueError, what())
    for n, m in zip(own, shape[len(shape) - len(own) :], strict=True):
        if isinstance(n, Number) or n != 1:
            _require_stretch(n, m, what)


def one_element(value: Any, dtype: np.dtype[Any]) -> Any:
    """What is written to the one element of an array without axes."""
    if not isinstance(value, Number):
        return dtype.type(np.asarray(value).reshape(())[()])
    shape = getattr(value, "shape", ())
    return bind("load", value, *[0] * len(shape)) if shape else value


def _no_fit(own: Shape, shape: Shape) -> str:
    return (f"could not broadcast input array from shape {shape_text(own)} "
            f"into shape {shape_text(shape)}")  # fmt: skip


def cast(content: Any, dtype: np.dtype[Any]) -> Any:
    """The content with this dtype, as NumPy numbers."""
    t = type_of(content)
    if t.dtype == dtype.str[1:] and not getattr(t, "py", False):
        return content
    return bind("cast", content, dtype=dtype.str[1:])
