"""Are the library functions right, in value, forward, reverse and second order, on every engine?

Every case runs on ndarrays (the truth), eagerly, and as the tape that is compiled; those marked
`native` are compiled too.  Derivatives are compared with extrapolated differences.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import jitad
from tests.breadth.all import CASES
from tests.breadth.case import Case
from tests.engines import ENGINES

IDS = [f"{k}-{c.covers}" for k, c in enumerate(CASES)]
every = pytest.mark.parametrize("case", CASES, ids=IDS)


def flat(out: Any) -> list[Any]:
    if isinstance(out, (tuple, list)):
        return [x for part in out for x in flat(part)]
    return [out]


def actives(case: Case) -> tuple[int, ...]:
    return tuple(k for k, a in enumerate(case.args) if np.asarray(a).dtype.kind == "f")


def loss_of(case: Case) -> Any:
    """A number that depends on every element of every result, not linearly."""
    f = case.function

    def loss(*args):
        total = 0.0
        for x in flat(f(*args)):
            y = np.reshape(x, (-1,))
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
    return [random.uniform(-1, 1, np.shape(case.args[k])) for k in actives(case)]


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
    return float(sum(np.sum(x * y) for x, y in zip(a, b, strict=True)))


@every
def test_value(case: Case) -> None:
    want = flat(plain(case.function, *case.args))
    wide = [case.args, *([narrowed(case.args)] if case.narrow else [])]
    for args in wide:
        want = flat(plain(case.function, *args))
        for name in ("eager", "tape"):
            run = jitad.jvp if name == "eager" else None
            if run is not None:
                active = actives(case)
                with np.errstate(all="ignore"):
                    found = flat(_primal(case, args, active))
            else:
                found = flat(ENGINES["tape"](jitad.jit(case.function), *args))
            assert len(found) == len(want), name
            for x, y in zip(found, want, strict=True):
                x = np.asarray(x)
                assert x.shape == np.shape(y), name
                assert x.dtype == np.asarray(y).dtype, name
                tolerance = 3e-5 if args is not case.args else 1e-11
                np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance, err_msg=name)


def narrowed(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a.astype(np.float32) if isinstance(a, np.ndarray) and a.dtype.kind == "f" else a
                 for a in args)  # fmt: skip


def _primal(case: Case, args: tuple[Any, ...], active: tuple[int, ...]) -> Any:
    def f(*some: Any) -> Any:
        full = list(args)
        for k, a in zip(active, some, strict=True):
            full[k] = a
        return tuple(flat(case.function(*full)))

    given = tuple(args[k] for k in active)
    tangents = tuple(np.ones_like(a) if isinstance(a, np.ndarray) else 1.0 for a in given)
    return jitad.jvp(f, given, tangents)[0]


@every
def test_first_order(case: Case) -> None:
    loss, d = loss_of(case), directions(case, 1)
    want = difference(lambda *args: plain(loss, *args), case, d)
    active = actives(case)
    scale = abs(want) + 1.0
    with np.errstate(all="ignore"):
        eager = jitad.grad(loss, argnums=active)(*case.args)
    assert dot(eager, d) == pytest.approx(want, rel=case.rtol, abs=case.rtol * scale * 0.1)
    if case.zero:
        assert all(not np.any(g) for g in eager)
    else:
        assert any(np.any(g) for g in eager), "marked as differentiable"

    def along(*some):
        full = list(case.args)
        for k, a in zip(active, some, strict=True):
            full[k] = a
        return loss(*full)

    given = tuple(case.args[k] for k in active)
    with np.errstate(all="ignore"):
        _, forward = jitad.jvp(along, given, tuple(d))
    assert forward == pytest.approx(dot(eager, d), rel=1e-9, abs=1e-9 * scale)
    engines = ["tape", *(["native"] if case.native else [])]
    for name in engines:
        f = jitad.grad(loss, argnums=active)
        found = ENGINES[name](f, *case.args)
        for x, y in zip(found, eager, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9 * scale, err_msg=name)


@pytest.mark.parametrize("case", [c for c in CASES if c.order > 1 and not c.zero],
                         ids=[i for i, c in zip(IDS, CASES, strict=True)
                              if c.order > 1 and not c.zero])  # fmt: skip
def test_second_order(case: Case) -> None:
    """The derivative of the gradient's component along one direction, along another."""
    loss, d, e = loss_of(case), directions(case, 1), directions(case, 2)
    active = actives(case)

    def slope(*args):
        return jitad.grad(loss, argnums=active)(*args)

    with np.errstate(all="ignore"):
        want = difference(lambda *args: dot(slope(*args), e), case, d)

        def component(*args):
            total = 0.0
            for g, t in zip(jitad.grad(loss, argnums=active)(*args), e, strict=True):
                total = total + np.sum(g * t)
            return total

        second = jitad.grad(component, argnums=active)(*case.args)
    scale = abs(want) + 1.0
    assert dot(second, d) == pytest.approx(want, rel=case.rtol, abs=case.rtol * scale)
