"""Which kernel serves the arguments of a call, and what does a trace see of them?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

import numpy as np

from jitad.errors import JitadIntegerError, JitadTypeError
from jitad.structures import Structure, flatten, step, unflatten
from jitad.tape.types import DTYPES, Array, Scalar, type_of_constant
from jitad.trace.around.paths import PLAIN_ARRAYS, as_number
from jitad.trace.around.rows import Rows
from jitad.trace.traced import Shaped, Valued


def stand_in(leaf: Any) -> Any:
    """Something of the same kind, which holds no memory."""
    if type(leaf) is np.ndarray:
        return np.empty((0,) * leaf.ndim, leaf.dtype)
    if isinstance(leaf, Rows):
        return Rows([], leaf.kind)
    numbers = isinstance(leaf, (float, int, np.number)) and not isinstance(leaf, Enum)
    return type(leaf)() if numbers else leaf


def as_numbers(leaves: Iterable[Any]) -> list[Any]:
    """Leaves of arguments, with arrays without axes as the numbers that they are."""
    return list(map(as_number, leaves))


def key_of(leaf: Any) -> Any:
    """Equal for leaves that one trace serves (what it relies on besides is guarded)."""
    if type(leaf) in PLAIN_ARRAYS and leaf.dtype.isnative:
        return (leaf.dtype.str[1:], leaf.ndim)
    if isinstance(leaf, np.ndarray):
        return (type(leaf), leaf.dtype.str, leaf.ndim)
    if isinstance(leaf, Rows):
        return leaf.kind
    if type(leaf) is int and not -(2**63) <= leaf < 2**63:
        return leaf  # it will be refused
    if isinstance(leaf, (str, Enum)):
        return (type(leaf), leaf)
    if isinstance(leaf, (bool, int, float, np.generic)):
        return type_of_constant(leaf)
    return type(leaf)  # others are guarded


def key_of_type(t: Array | Scalar) -> Any:
    return (t.dtype, t.ndim) if isinstance(t, Array) else t


def abstract(leaf: Any) -> Any:
    """What stands for a leaf of the arguments in a trace: its type, or its value if static."""
    if isinstance(leaf, Enum):
        return leaf
    if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "biuf":
        return Shaped(Array(leaf.dtype.str[1:], leaf.ndim), leaf.shape, leaf)
    if isinstance(leaf, (float, np.floating)):
        return type_of_constant(leaf)
    if isinstance(leaf, (bool, int, np.integer, np.bool_)):
        return Valued(type_of_constant(leaf), leaf)
    return leaf


def abstracts(f: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What stands for arguments in a trace."""
    leaves, structure = flatten((args, {}))
    out: tuple[Any, ...] = unflatten(structure, abstract_leaves(f, leaves, structure))[0]
    return out


def abstract_leaves(f: Callable[..., Any], leaves: list[Any], structure: Structure) -> list[Any]:
    """What stands for the leaves of `(args, kwargs)`; refuses those that no kernel takes."""
    leaves = as_numbers(leaves)
    for k, leaf in enumerate(leaves):
        if isinstance(leaf, np.ndarray) and leaf.dtype.str[1:] not in DTYPES:
            what = f"an array of dtype {leaf.dtype}"
        elif isinstance(leaf, np.ndarray) and type(leaf) not in PLAIN_ARRAYS:
            what = f"a {type(leaf).__name__}, whose arithmetic is its own"
        elif isinstance(leaf, np.ndarray) and not leaf.dtype.isnative:
            what = f"an array in the byte order of another machine ({leaf.dtype})"
        elif isinstance(leaf, np.generic) and leaf.dtype.str[1:] not in DTYPES:
            what = f"a NumPy value of dtype {leaf.dtype}"
        elif isinstance(leaf, int) and not -(2**63) <= leaf < 2**63:
            raise JitadIntegerError(
                f"{_place(f, structure, k)} is an int that needs more than 64 bits", None,
                "Kernels compute with 64-bit integers: pass a float.",
            )  # fmt: skip
        else:
            continue
        remedy = "Kernels take floats, ints, bools, complex numbers and arrays of them."
        if isinstance(leaf, np.ma.MaskedArray):
            remedy = "Pass filled(...) and the mask, or let the function take it from around it."
        raise JitadTypeError(f"{_place(f, structure, k)} is {what}", None, remedy)
    return list(map(abstract, leaves))


def _place(f: Callable[..., Any], structure: Structure, leaf: int) -> str:
    """What the user calls leaf number `leaf` of `(args, kwargs)`: `argument 0 (x) at ['w']`."""
    at = structure
    keys: list[tuple[type | None, Any]] = []
    while at.kind is not None:
        for key, child in zip(at.keys, at.children, strict=True):
            if leaf < child.size:
                keys.append((at.kind, key))
                at = child
                break
            leaf -= child.size
    (_, where), (_, name), *inside = keys
    path = "".join(step(kind, key) for kind, key in inside if kind is not None)
    if where == 0:
        from jitad.runtime.operators import place  # not needed where nothing is the matter

        return place(f, name, path)
    return f"argument {name}" + (f" at {path}" if path else "")
