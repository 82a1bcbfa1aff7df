"""How do two real values become the parts of a complex one, and how are parts added and multiplied?

A part is a real number or a handle; None is an exact zero, which takes no part in anything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.errors import JitadTypeError
from jitad.tape.types import promote
from jitad.values import extents
from jitad.values.array import ArrayHandle
from jitad.values.broadcast import cast, common_shape, elementwise, shape_of, stretch
from jitad.values.kind import fail, is_python, type_of
from jitad.values.layout import follows, in_c_order
from jitad.values.registry import call

Part = Any  # a real number or handle; None: zero


def part_of(dtype: Any) -> np.dtype[Any]:
    """The dtype of the parts of complex numbers that are to be of this one."""
    if np.dtype(dtype).kind != "c":
        raise fail(JitadTypeError, "a cast of complex numbers to real ones discards a part",
                   "Take .real, or .imag.")  # fmt: skip
    return np.dtype(dtype).type(0).real.dtype


def zero(like: Any) -> Any:
    if shape_of(like):
        return call(np.zeros_like, like)
    dtype = type_of(like).dtype
    return 0.0 if is_python(like) or dtype[0] != "f" else np.dtype(dtype).type(0)


def scalar(x: Any) -> Any:
    """A real part as a float; what a handle without axes holds."""
    if isinstance(x, ArrayHandle):
        x = x.content
    if isinstance(x, np.ndarray):
        x = x[()]
    return x if type_of(x).dtype[0] == "f" else elementwise("mul", x, 1.0)


def handled(x: Any) -> Any:
    x = x if isinstance(x, ArrayHandle) else call(np.array, x)
    return x if x.dtype.kind == "f" else call(np.multiply, x, 1.0)


def alike(re: ArrayHandle, im: ArrayHandle) -> tuple[ArrayHandle, ArrayHandle]:
    """Both with the extents and the dtype that they have in common."""
    if re.dtype != im.dtype:
        wide = np.promote_types(re.dtype, im.dtype)
        re, im = (h if h.dtype == wide else h.astype(wide) for h in (re, im))
    if not _same(re.shape, im.shape):
        common = common_shape((re.shape, im.shape))
        re, im = (h if _same(h.shape, common) else in_c_order(
            ArrayHandle(stretch(h.content, common))) for h in (re, im))  # fmt: skip
    return re, im


def _same(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    return len(a) == len(b) and all(map(extents.same, a, b))


def anew(a: Part) -> Part:
    """The part as one of another array, to which writes are not seen in this one."""
    if not isinstance(a, ArrayHandle):
        return a
    out = ArrayHandle(a.content)
    follows(out, (a,))
    return out


def add(a: Part, b: Part) -> Part:
    if a is None or b is None:
        return anew(b if a is None else a)
    return elementwise("add", a, b)


def sub(a: Part, b: Part) -> Part:
    return anew(a) if b is None else neg(b) if a is None else elementwise("sub", a, b)


def mul(a: Part, b: Part) -> Part:
    return None if a is None or b is None else elementwise("mul", a, b)


def neg(a: Part) -> Part:
    if a is not None and type_of(a).dtype == "b1":
        return elementwise("sub", 0.0, a)  # of truth, NumPy has no negative
    return None if a is None else elementwise("neg", a)


def div(a: Part, b: Part) -> Part:
    return None if a is None else elementwise("div", a, b)


def weak(x: Any, like: Any) -> Any:
    """A Python number beside a NumPy one takes its dtype, also where it meets another one."""
    dtype = np.dtype(type_of(like).dtype)
    takes = dtype.kind == "f" and is_python(x) and not is_python(like)
    return cast(x, dtype) if takes else x


def as_float(x: Any, *others: Any) -> Any:
    """A part that is no Python number as a float, of the precision that it and others ask for."""
    if type_of(x).dtype[0] not in "biu" or is_python(x):
        return x
    kind = promote(*map(type_of, (x, *others)))[0]
    return elementwise("cast", x, dtype=kind if kind[0] == "f" else "f8")


def chooser(condition: Any) -> Callable[[Any, Any], Any]:
    return lambda x, y: elementwise("where", condition, x, y)
