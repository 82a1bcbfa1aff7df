"""Does what was traced once serve calls with other numbers and other extents?

Conditions go other ways then, and what a path has found out of extents holds on it alone.  NumPy is
the truth for values and errors, the eager engine for derivatives.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.engines import emitted_once
from tests.properties.arrays.running import fresh
from tests.properties.check import Wrong

Args = dict[str, Any]
KINDS = ("numbers", "numbers", "mapped", "mapped", "apart", "apart", "one", "one")
LARGEST = 1e6


def others(args: Args, number: int) -> Iterator[tuple[str, Args]]:
    """Arguments of the same types: with other numbers, with each extent mapped to another, with
    extents that have nothing to do with each other, with one array of other extents."""
    draw = random.Random(number)
    values = np.random.default_rng(number + 3 * 10**6)
    for kind in KINDS:
        out = fresh(args)
        if kind != "mapped" or draw.random() < 0.5:
            out["s"] = float(values.uniform(-1, 1))
            out["n"], out["k"] = int(values.integers(0, 5)), int(values.integers(-3, 4))
        arrays = [name for name, v in out.items() if isinstance(v, np.ndarray)]
        changed = [draw.choice(arrays)] if kind == "one" else arrays
        mapped = {n: draw.randint(2, 7) for n in range(2, 10)}
        for name in changed:
            shape = out[name].shape
            if kind == "mapped":
                shape = tuple(mapped.get(n, n) for n in shape)
            elif kind != "numbers":
                shape = tuple(1 if n == 1 else draw.randint(2, 6) for n in shape)
            out[name] = _laid(draw, _array(values, out[name].dtype, shape))
        yield kind, out


def _laid(draw: random.Random, a: np.ndarray) -> np.ndarray:
    """The array in some order in memory."""
    match draw.choice(("C", "C", "C", "F", "gaps", "backwards")):
        case "F":
            return np.asfortranarray(a)
        case "gaps" if a.ndim:
            return np.repeat(a, 2, axis=-1)[..., ::2]
        case "backwards" if a.ndim:
            return a[::-1].copy()[::-1]
    return a


def _array(values: np.random.Generator, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    match dtype.kind:
        case "b":
            return values.integers(0, 2, shape).astype(bool)
        case "i" | "u":
            return values.integers(-2 if dtype.kind == "i" else 0, 2, shape).astype(dtype)
        case "c":
            parts = values.uniform(-1, 1, (2, *shape))
            return np.asarray(parts[0] + 1j * parts[1]).astype(dtype)
    return np.asarray(values.uniform(-1, 1, shape)).astype(dtype)


def check_again(
    f: Any, apart: Any, args: Args, number: int, rounding: float,
    derivatives: tuple[Callable[..., Any], Callable[..., Any]], active: list[str],
    is_complex: bool,
) -> None:  # fmt: skip
    """Run the program of these arguments, then of others, by what the first call has traced.

    `apart` is the program with what is stored copied first: NumPy reads what it has just written
    now and then.  `derivatives` give values and tangents, or adjoints, of all arguments.
    """
    primal = emitted_once(f)
    slopes = [emitted_once(d) for d in derivatives]
    for kind, given in (("these", fresh(args)), *others(args, number)):
        theirs, mine = fresh(given), fresh(given)
        try:
            want = f(**theirs)
        except Exception as error:
            _raises(primal, mine, f"{kind}: {type(error).__name__}")
            continue
        if not _alike((want,), (apart(**fresh(given)),), 0.0):
            continue
        if is_complex and not _is_small(want):
            continue  # a part that is always zero is left out, and zero times infinity with it
        found = primal(*mine.values())
        if not _alike((found, mine), (want, theirs), rounding):
            raise Wrong(f"again, values ({kind}): {found!r} instead of {want!r}")
        if not _is_small(want):
            continue
        for way, once, eager in zip(("forward", "reverse"), slopes, derivatives, strict=True):
            some = tuple(given[name] for name in active)
            seeds = _ones(some if way == "forward" else want)
            want_slopes = eager(some, seeds, *fresh(given).values())
            found_slopes = once(some, seeds, *fresh(given).values())
            if _is_small(want_slopes) and not _alike(
                found_slopes, want_slopes, 100 * rounding, kinds=False  # zero may be 0 of an int
            ):
                raise Wrong(f"again, {way} ({kind}): {found_slopes!r} instead of {want_slopes!r}")


def _raises(primal: Any, given: Args, what: str) -> None:
    try:
        primal(*given.values())
    except Exception:
        return
    raise Wrong(f"again, no error: NumPy raises ({what})")


def _leaves(x: Any) -> list[np.ndarray]:
    if isinstance(x, dict):
        x = tuple(x.values())
    if isinstance(x, (tuple, list)):
        return [leaf for part in x for leaf in _leaves(part)]
    return [np.asarray(x)]


def _greatest(y: np.ndarray) -> float:
    return float(np.max(np.abs(y), initial=0.0, where=np.isfinite(y)))


def _alike(found: Any, want: Any, rounding: float, kinds: bool = True) -> bool:
    """Widths may differ: a number of float32 on one path is one of float64 on another."""
    a, b = _leaves(found), _leaves(want)
    return len(a) == len(b) and all(
        x.shape == y.shape and (x.dtype.kind == y.dtype.kind or not kinds) and np.allclose(
            x, y, rounding, rounding * (1 + _greatest(y)), equal_nan=True
        ) for x, y in zip(a, b, strict=True)
    )  # fmt: skip


def _is_small(x: Any) -> bool:
    return all(
        np.all(np.isfinite(leaf)) and np.max(np.abs(leaf), initial=0.0) < LARGEST
        for leaf in _leaves(x) if leaf.dtype.kind in "fc"
    )  # fmt: skip


def _ones(x: tuple[Any, ...]) -> tuple[Any, ...]:
    """A direction, or sensitivities: of ints they are zero."""
    out = []
    for v in x:
        floats = np.asarray(v).dtype.kind in "fc"
        one = np.asarray(1.0 if floats else 0.0, np.asarray(v).dtype if floats else float)
        out.append(np.full(np.shape(v), one) if isinstance(v, np.ndarray) else one[()])
    return tuple(out)
