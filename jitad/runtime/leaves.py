"""How do leaves of arguments and results change between the caller's world and the function's?

Going in, floats and float arrays that are differentiated get a tag, and arrays become handles, so
that nothing the function writes reaches the caller's arrays.  Coming out, plain contents become
Python floats and new ndarrays; inside another application arrays stay handles, which that
application's function may go on writing to.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from types import ModuleType
from typing import Any

import numpy as np

import jitad.values.functions  # noqa: F401  handles find NumPy's functions in its registry
from jitad.closures import BUILTIN, is_function
from jitad.errors import JitadTypeError
from jitad.runtime.tagged import Tagged, dtype_of, shape_of
from jitad.runtime.tags import alive, nested
from jitad.structures import Structure, flatten
from jitad.values.array import ArrayHandle
from jitad.values.number import Number, bind
from jitad.where import caller

_CONTAINERS = (list, dict, set, frozenset)  # subclasses too: they may hide numbers


def is_array(leaf: Any) -> bool:
    return isinstance(leaf, (ArrayHandle, np.ndarray))


def _has_own_arithmetic(leaf: Any) -> bool:
    """True of masked arrays, np.matrix and the like."""
    return isinstance(leaf, np.ndarray) and type(leaf) not in (np.ndarray, np.memmap)


def is_real(leaf: Any) -> bool:
    """True of floats and float arrays of any kind: what has a derivative."""
    if type(leaf) is float:
        return True
    if _has_own_arithmetic(leaf):
        return False
    if isinstance(leaf, (Number, ArrayHandle, np.ndarray, np.floating)):
        return np.dtype(dtype_of(leaf)).kind == "f"
    return isinstance(leaf, float)


def is_data(leaf: Any) -> bool:
    """True of leaves that have no derivative and are handed on as they are."""
    if isinstance(leaf, (bool, int, str, bytes, np.integer, np.bool_)):
        return True
    return is_array(leaf) and np.dtype(dtype_of(leaf)).kind in "iubSU"


_SEEN = (bool, int, float, complex, str, bytes, range, slice, type, ModuleType, Enum, np.ndarray,
         np.generic, np.dtype, *BUILTIN)  # fmt: skip


def results(flat: list[Any], structure: Structure, operator: str) -> None:
    """Refuse leaves of a result that may hold numbers out of sight, which would have no derivative.

    Such are deques, iterators, and instances of classes that are not registered.  A pullback takes
    the latter for objects that the function has made, and asks nothing of what is in them.
    """
    structure.check_fields()
    for leaf in flat:
        kind = type(leaf)
        ours = kind.__module__.partition(".")[0] == "jitad"
        made = operator == "vjp" and hasattr(leaf, "__dict__") and not isinstance(leaf, _CONTAINERS)
        if not (ours or made or isinstance(leaf, _SEEN) or is_function(leaf)):
            raise JitadTypeError(
                f"{operator}: the result holds a {kind.__name__}, whose numbers jitad can't see",
                caller(),
                "Return tuples, lists, dicts or dataclasses, or see register_structure.",
            )


def of_argument(value: Any) -> tuple[list[Any], Structure]:
    """The leaves of an argument, and its structure; parts of complex arrays lie as these do."""
    flat, structure = flatten(value)
    if any(isinstance(x, np.ndarray) and x.ndim and not x.flags.c_contiguous for x in flat):
        flat = [_apart(leaf) if is_part and isinstance(leaf, np.ndarray) else leaf
                for leaf, is_part in zip(flat, structure.parts_of_complex(), strict=True)]
    return flat, structure


def _apart(part: np.ndarray) -> np.ndarray:
    """The real or imaginary part of an array in memory of its own, which is in the order of C, has
    gaps or goes backwards where the array's is, and does: NumPy reshapes both alike."""
    width, steps = part.itemsize, part.strides
    if not part.size or any(s % (2 * width) for s in steps):
        return part
    ends = [s // 2 * (n - 1) for s, n in zip(steps, part.shape, strict=True)]
    first = sum(-e for e in ends if e < 0)
    memory = np.empty((first + sum(e for e in ends if e > 0)) // width + 1, part.dtype)
    out = np.ndarray(part.shape, part.dtype, memory, first, [s // 2 for s in steps])
    out[...] = part
    return out


def content(leaf: Any) -> Any:
    """The number or array inside a leaf, which no later write changes."""
    if isinstance(leaf, ArrayHandle):
        return leaf.content
    return leaf


def is_number(value: Any) -> bool:
    """True of numbers and arrays, plain or not; False of strings and other objects."""
    return isinstance(value, (Number, ArrayHandle, np.ndarray, np.generic, int, float))


def floating(value: Any, like: Any) -> Any:
    """A plain tangent or sensitivity in the dtype of the number that it belongs to."""
    return np.asarray(value, dtype_of(like)) if shape_of(like) else float(value)


def passive(leaf: Any) -> Any:
    """An argument that is not differentiated."""
    if _has_own_arithmetic(leaf):
        raise JitadTypeError(f"an argument is a {type(leaf).__name__}, whose arithmetic is its own",
                             caller(), "Make it an ordinary array: np.asarray(a).")  # fmt: skip
    return ArrayHandle(content(leaf)) if is_array(leaf) else leaf


def active(leaf: Any, tagged: Callable[[Any], Any]) -> Any:
    """An argument that is; `tagged` puts the tag on."""
    if is_array(leaf):
        return ArrayHandle(tagged(content(leaf)))
    return tagged(leaf)


def snapshot(leaf: Any) -> Any:
    """The leaf as it is now, whatever the caller does to his arrays later."""
    return np.array(leaf) if isinstance(leaf, np.ndarray) else passive(leaf)


def own(leaf: Any) -> Any:
    """What a function takes or gives in passing, as it is now: it may write to its argument, and
    may give the same array each time."""
    if isinstance(leaf, np.ndarray):
        now = np.array(leaf)
        return ArrayHandle(now, owned=True) if now.dtype.kind in "biuf" else now
    return ArrayHandle(content(leaf)) if isinstance(leaf, ArrayHandle) else leaf


def leave(value: Any) -> Any:
    """A content as the caller's: a float, a new array, or what carries outer tags."""
    if isinstance(value, Number):
        return ArrayHandle(value) if shape_of(value) else value
    if isinstance(value, np.ndarray):
        if nested():
            return ArrayHandle(value)
        return np.array(value)
    return float(value) if type(value) is np.float64 else value


def as_derivative(value: Any, like: Any) -> Any:
    """A tangent or cotangent of `like`, in its dtype."""
    value = alive(value)
    dtype = np.dtype(dtype_of(like))
    if isinstance(value, Number):
        if dtype_of(value) != dtype:
            value = bind("cast", value, dtype=dtype.str[1:])
        return leave(value)
    if shape_of(like):
        array = np.full(shape_of(like), value, dtype)
        return ArrayHandle(array, owned=True) if nested() else array
    return float(value) if dtype == np.float64 else dtype.type(value)


def zero_of(leaf: Any) -> Any:
    """The derivative where nothing depends: zeros of its own kind; other data unchanged."""
    if is_array(leaf):
        zeros = np.zeros(shape_of(leaf), dtype_of(leaf))
        return ArrayHandle(zeros, owned=True) if nested() else zeros
    if isinstance(leaf, Tagged) or type(leaf) is float:
        return 0.0
    if isinstance(leaf, Number):  # of a tape
        return 0.0 if is_real(leaf) else 0
    if isinstance(leaf, (bool, int, float, np.generic)):
        return type(leaf)(0)
    return leaf


def check_argument(leaf: Any, operator: str, place: str) -> None:
    """Refuse what hides numbers from us or has no derivative we know."""
    own = _has_own_arithmetic(leaf)
    if not own and (is_real(leaf) or is_data(leaf)):
        return
    if own:
        what = f"a {type(leaf).__name__}, whose arithmetic is its own"
        remedy = "Make it an ordinary array: np.asarray(a)."
    elif is_array(leaf):
        what = f"a {np.dtype(dtype_of(leaf))} array"
        remedy = "Derivatives are of float64, float32 and complex128."
    elif callable(leaf):
        what, remedy = "a function", "Pass the numbers that it closes over as arguments."
    else:
        what = f"a {type(leaf).__name__}"
        remedy = "Register it with register_structure, or choose other argnums."
        if isinstance(leaf, _CONTAINERS):
            remedy = "Use a plain tuple, list or dict, or register it with register_structure."
    raise JitadTypeError(f"{operator}: {place} is {what}", caller(), remedy)
