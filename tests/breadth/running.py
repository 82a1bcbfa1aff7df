"""How is a case run, and what is the truth of its derivatives?"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import jitad
from tests.breadth.case import Case


def flat(out: Any) -> list[Any]:
    if isinstance(out, (tuple, list)):
        return [x for part in out for x in flat(part)]
    return [out]


def actives(case: Case) -> tuple[int, ...]:
    return tuple(k for k, a in enumerate(case.args) if np.asarray(a).dtype.kind in "fc")


def loss_of(case: Case) -> Any:
    """A number that depends on every element of every result, not linearly."""
    f = case.function

    def loss(*args):
        total = 0.0
        for x in flat(f(*args)):
            y = np.reshape(x, (-1,))
            if np.iscomplexobj(y):
                y = np.concatenate([np.real(y), np.imag(y)])
            w = np.cos(np.arange(np.size(y)) + 1.0)
            total = total + np.sum(y * (0.3 * y + w))
        return total

    return loss


def plain(f: Any, *args: Any) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return f(*(np.array(a) if isinstance(a, np.ndarray) else a for a in args))


def directions(case: Case, seed: int) -> list[Any]:
    random = np.random.default_rng(seed)
    out = []
    for k in actives(case):
        d = random.uniform(-1, 1, np.shape(case.args[k]))
        if np.iscomplexobj(case.args[k]):
            d = d + 1j * random.uniform(-1, 1, d.shape)
        out.append(d)
    return out


def moved(case: Case, d: list[Any], h: float) -> tuple[Any, ...]:
    args = list(case.args)
    for k, t in zip(actives(case), d, strict=True):
        args[k] = args[k] + h * t
    return tuple(args)


def difference(f: Any, case: Case, d: list[Any]) -> Any:
    """The derivative along d, by central differences extrapolated twice."""

    def central(h: float) -> Any:
        return (f(*moved(case, d, h)) - f(*moved(case, d, -h))) / (2 * h)

    h = 4e-3
    a, b, c = central(h), central(h / 2), central(h / 4)
    a, b = (4 * b - a) / 3, (4 * c - b) / 3
    return (16 * b - a) / 15


def dot(a: Any, b: Any) -> float:
    """How much a function with gradient a changes along b: as in JAX, nothing is conjugated."""
    return float(sum(np.real(np.sum(x * y)) for x, y in zip(a, b, strict=True)))


def narrowed(args: tuple[Any, ...]) -> tuple[Any, ...]:
    narrow = {"f": np.float32, "c": np.complex64}
    return tuple(a.astype(narrow.get(a.dtype.kind, a.dtype)) if isinstance(a, np.ndarray) else a
                 for a in args)  # fmt: skip


def primal(case: Case, args: tuple[Any, ...], active: tuple[int, ...]) -> Any:
    def f(*some: Any) -> Any:
        full = list(args)
        for k, a in zip(active, some, strict=True):
            full[k] = a
        return tuple(flat(case.function(*full)))

    given = tuple(args[k] for k in active)
    tangents = tuple(np.ones_like(a) if isinstance(a, np.ndarray) else 1.0 for a in given)
    return jitad.jvp(f, given, tangents)[0]


def assert_same(found: list[Any], want: list[Any], tolerance: float, name: str) -> None:
    """Of NumPy's shapes and dtypes, and its values but for rounding."""
    assert len(found) == len(want), name
    for x, y in zip(found, want, strict=True):
        x = np.asarray(x)
        assert x.shape == np.shape(y), name
        assert x.dtype == np.asarray(y).dtype, name
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance, err_msg=name)
