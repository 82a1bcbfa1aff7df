"""Do loops over points give the same in strips, and which loops are left as they are?

The truth is the function run by Python and its complex steps; where numbers are small integers,
whose sums are exact in any order, results must be equal bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import jit, jit_grad, jit_value_and_grad
from jitad.specialise.abreast import abreast
from jitad.tape.types import INT
from jitad.values.number import o
from tests.specialise.passes import keeps
from tests.specialise.tapes import M, V, for_, if_, ops, tape_of

COUNTS = [0, 1, 5, 63, 64, 65, 128, 150]  # of iterations: whole strips, a part of one, both


def strips(block: Any) -> int:
    """A loop in strips has the width of its lanes."""
    return len(ops(block, "minimum"))


def matrices(m: int = 4) -> Any:
    for n in COUNTS:
        x = np.random.default_rng(n).integers(-3, 4, (n, m)).astype(float)
        yield x, np.arange(1.0, m + 1), n


def points(body: Callable[..., list[Any]], *init: Callable[[Any, Any], Any]) -> Any:
    """A loop over the rows of x, with weights w: `body(b, p, x, w, *carried)`."""
    def f(b: Any, x: Any, w: Any, n: Any) -> Any:
        start = [make(x, w) for make in init]
        out = for_(b, 0, 1, n, start, lambda p, *c: body(b, p, x, w, *c))
        return tuple(out)

    return tape_of([("x", M), ("w", V), ("n", INT)], f)


def triangle(b: Any, p: Any, x: Any, w: Any) -> Any:
    """The sum over rows i of (sum over j <= i of w[j] x[p, j])²."""
    def row(i: Any, total: Any) -> list[Any]:
        (u,) = for_(b, 0, 1, i + 1, [0.0], lambda j, u: [u + w_(j) * o.load(x, p, j)])
        return [total + u * u]

    def w_(j: Any) -> Any:
        return o.load(w, j)

    return for_(b, 0, 1, 4, [0.0], row)[0]


def zero(x: Any, w: Any) -> float:
    return 0.0


def zeros(*which: int) -> Callable[[Any, Any], Any]:
    return lambda x, w: o.full(0.0, *[(x.shape[0], w.shape[0])[k] for k in which], dtype="f8")


SUITED = {
    "a sum": points(lambda b, p, x, w, s: [s + triangle(b, p, x, w)], zero),
    "taken off": points(lambda b, p, x, w, s: [s - triangle(b, p, x, w)], zero),
    "added from the right": points(lambda b, p, x, w, s: [triangle(b, p, x, w) + s], zero),
    "the same for all": points(
        lambda b, p, x, w, s, t: [s + triangle(b, p, x, w), t + o.load(w, 1)], zero, zero
    ),
    "a place each": points(
        lambda b, p, x, w, y: [o.store(y, triangle(b, p, x, w), p)], zeros(0)
    ),
    "a place that is read": points(
        lambda b, p, x, w, y: [
            o.store(o.store(y, triangle(b, p, x, w), p), o.load(y, p) * 2.0 + p, p)
        ],
        zeros(0),
    ),
    "a column each": points(
        lambda b, p, x, w, y: [o.accum(y, triangle(b, p, x, w), 2, p)], zeros(1, 0)
    ),
    "a row each": points(
        lambda b, p, x, w, y: [
            for_(b, 0, 1, 4, [y], lambda j, y: [o.store(y, triangle(b, p, x, w), p, j)])[0]
        ],
        zeros(0, 1),
    ),
    "sums in an array": points(
        lambda b, p, x, w, y: [
            for_(b, 0, 1, 4, [y], lambda j, y: [
                o.accum(y, triangle(b, p, x, w) * o.load(x, p, j), j)])[0]
        ],
        zeros(1),
    ),
    "the index as a number": points(
        lambda b, p, x, w, s: [s + triangle(b, p, x, w) * p], zero
    ),
    "an array within": points(
        lambda b, p, x, w, s: [
            s + o.amax(
                for_(b, 0, 1, 4, [o.full(0.0, 4, dtype="f8")], lambda j, y: [
                    o.store(y, triangle(b, p, x, w) + j, j)])[0] + w, axes=(0,))
        ],
        zero,
    ),
    "a row as an array": points(
        lambda b, p, x, w, s: [
            s + triangle(b, p, x, w)
            + o.sum(o.slice(x, p, 0, 1, 4, kinds="ir") * w, axes=(0,))
        ],
        zero,
    ),
    "lanes that differ": points(
        lambda b, p, x, w, s: [
            s + if_(b, o.gt(t := triangle(b, p, x, w), 9.0),
                    lambda: [t * 2.0], lambda: [p * 1.0])[0]
        ],
        zero,
    ),
    "a decision for all": points(
        lambda b, p, x, w, s: [
            if_(b, o.gt(o.load(w, 0), 0.0), lambda: [s + triangle(b, p, x, w)], lambda: [s])[0]
        ],
        zero,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SUITED)
def test_strips(name: str) -> None:
    assert strips(keeps(abreast, SUITED[name], *matrices()))


def recurrent(b: Any, p: Any, x: Any, w: Any, s: Any) -> list[Any]:
    return [s * 0.5 + triangle(b, p, x, w)]


UNSUITED = {
    "a recurrence": points(recurrent, zero),
    "a sum that is read": points(
        lambda b, p, x, w, s, t: [s + triangle(b, p, x, w), t + s], zero, zero
    ),
    "neighbours' places": points(
        lambda b, p, x, w, y: [
            o.store(y, triangle(b, p, x, w) + o.load(y, o.maximum(p - 1, 0)), p)
        ],
        zeros(0),
    ),
    "a place for two": points(
        lambda b, p, x, w, y: [o.store(y, triangle(b, p, x, w), o.floordiv(p, 2))], zeros(0)
    ),
    "an array that is replaced": points(
        lambda b, p, x, w, y: [
            if_(b, o.gt(o.load(w, 0), 0.0),
                lambda: [o.full(0.0, x.shape[0], dtype="f8")],
                lambda: [o.store(y, triangle(b, p, x, w), p)])[0]
        ],
        zeros(0),
    ),
    "long loops": points(
        lambda b, p, x, w, s: [
            s + for_(b, 0, 1, w.shape[0], [0.0], lambda i, t: [
                t + for_(b, 0, 1, w.shape[0], [0.0], lambda j, u: [u + o.load(x, p, j)])[0]])[0]
        ],
        zero,
    ),
    "its own trips": points(
        lambda b, p, x, w, s: [
            s + triangle(b, p, x, w)
            + for_(b, 0, 1, o.minimum(p, 4), [0.0], lambda j, u: [u + o.load(w, j)])[0]
        ],
        zero,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSUITED)
def test_others_stay(name: str) -> None:
    tape = UNSUITED[name]
    before = strips(tape.body)
    assert strips(keeps(abreast, tape, *matrices())) == before


# -- programs -------------------------------------------------------------------------------------


def mixture(theta: Any, mu: Any, x: Any) -> Any:
    n, d = x.shape
    k = len(mu)
    beta = np.zeros(k, dtype=theta.dtype)
    total = 0.0
    for p in range(n):
        for c in range(k):
            square = 0.0
            for i in range(d):
                u = 0.0
                for j in range(i + 1):
                    u += theta[c, i, j] * (x[p, j] - mu[c, j])
                square += u * u
            beta[c] = theta[c, 0, 0] - 0.5 * square
        top = np.max(beta)
        total += np.log(np.sum(np.exp(beta - top))) + top
    return total


def data(n: int, k: int = 3, d: int = 3) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(n)
    return rng.normal(size=(k, d, d)), rng.normal(size=(k, d)), rng.normal(size=(n, d))


def in_strips(g: Any) -> bool:
    stages = (g.tape(name).count(" = minimum ") for name in ("decided again", "abreast"))
    return next(stages) < next(stages)


def complex_steps(f: Callable[..., Any], args: tuple[Any, ...], k: int) -> np.ndarray:
    out = np.zeros(args[k].shape)
    for at in np.ndindex(*args[k].shape):
        changed = [a.astype(complex) for a in args]
        changed[k][at] += 1e-30j
        out[at] = f(*changed).imag / 1e-30
    return out


def plain_mixture(theta: Any, mu: Any, x: Any) -> Any:
    """The same in NumPy, for complex numbers as well."""
    away = x[:, None, :] - mu[None]
    u = np.einsum("cij,pcj->pci", np.tril(np.ones(theta.shape[1:])) * theta, away)
    beta = theta[:, 0, 0] - 0.5 * np.sum(u * u, axis=2)
    return np.sum(np.log(np.sum(np.exp(beta), axis=1)))


@pytest.mark.parametrize("n", [2, 64, 70, 200])
def test_a_mixture(n: int) -> None:
    args = data(n)
    g = jit_value_and_grad(mixture, argnums=(0, 1, 2))
    value, slopes = g(*args)
    assert in_strips(g)
    np.testing.assert_allclose(value, plain_mixture(*args), rtol=1e-12)
    for k, slope in enumerate(slopes):
        want = complex_steps(plain_mixture, args, k)
        np.testing.assert_allclose(slope, want, rtol=1e-9, atol=1e-9)


def checked(x: Any, w: Any) -> Any:
    """The check of a square root differs from lane to lane."""
    import math

    total = 0.0
    for p in range(x.shape[0]):
        for i in range(x.shape[1]):
            u = 1.0
            for j in range(i + 1):
                u += w[j] * x[p, j]
            total += math.sqrt(u)
    return total


def test_checks_of_lanes() -> None:
    x, w = np.abs(data(100)[2]), np.ones(3)
    g = jit(checked)
    np.testing.assert_allclose(g(x, w), checked(x, w), rtol=1e-13)
    assert in_strips(g)
    x[77, 1] = -10.0
    with pytest.raises(ValueError, match="math domain error"):
        g(x, w)


def short_rows(x: Any, flag: Any, n: Any) -> Any:
    """x may have fewer rows than the loop has iterations, if nobody reads them."""
    total = 0.0
    for p in range(n):
        for i in range(3):
            for j in range(i + 1):
                if flag > 0.0:
                    total += x[p, j] * x[p, i]
    return total


def test_rows_that_nobody_reads() -> None:
    x = data(100)[2]
    g = jit_grad(short_rows)
    np.testing.assert_allclose(jit(short_rows)(x, 1.0, 100), short_rows(x, 1.0, 100), rtol=1e-12)
    assert g(x, -1.0, 10**6).tolist() == np.zeros_like(x).tolist()
    with pytest.raises(IndexError):
        g(x, 1.0, 10**6)


def test_other_numbers() -> None:
    """float32 data, a view with steps, a caller's arrays unchanged."""
    theta, mu, x = data(150)
    wide = np.repeat(x, 2, axis=0)
    for given in (x.astype("f4"), wide[::2], np.asfortranarray(x), x[::-1]):
        kept = given.copy()
        slope = jit_grad(mixture, argnums=2)(theta, mu, given)
        want = complex_steps(plain_mixture, (theta, mu, given.astype(float)), 2)
        rtol = 1e-4 if given.dtype == "f4" else 1e-9
        np.testing.assert_allclose(slope, want, rtol=rtol, atol=1e-5)
        np.testing.assert_array_equal(given, kept)
