"""What is measured: the kernels' names, and the check that two gradients are the same."""

from typing import Any

import numpy as np

import kernels


def kernel_names() -> tuple[str, ...]:
    """All kernels, without importing any: one that fails to import must not hide the others."""
    return tuple(kernels.NAMES)


def array_names() -> tuple[str, ...]:
    """The scientific programs over whole arrays."""
    return tuple(kernels.arrays.NAMES)


def fresh_names() -> tuple[str, ...]:
    """Functions that were written only after the engine's passes."""
    return tuple(kernels.fresh.NAMES)


def as_parts(gradient: Any) -> tuple[np.ndarray, ...]:
    """One array for each differentiated argument, whether or not there are several."""
    parts = gradient if isinstance(gradient, tuple) else (gradient,)
    return tuple(np.asarray(part, dtype=float) for part in parts)


def check_same(found: tuple[Any, Any], expected: tuple[Any, Any], tolerance: float = 1e-8) -> None:
    """Raise unless values and gradients agree; no time of a wrong gradient is worth printing."""
    if not np.allclose(found[0], expected[0], rtol=tolerance, atol=0.0):
        raise AssertionError(f"the values differ: {found[0]!r} against {expected[0]!r}")
    ours, theirs = as_parts(found[1]), as_parts(expected[1])
    if [part.shape for part in ours] != [part.shape for part in theirs]:
        raise AssertionError("the gradients differ in shape")
    scale = max(float(np.max(np.abs(part), initial=0.0)) for part in theirs)
    apart = [np.max(np.abs(a - b), initial=0.0) for a, b in zip(ours, theirs, strict=True)]
    if not max(apart) <= tolerance * scale:
        raise AssertionError(
            f"the gradients differ by {max(apart):.1e}, the largest is {scale:.1e}"
        )
