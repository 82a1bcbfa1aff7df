"""Are tangents of several directions in one sweep those of one direction each?

Truth: by hand; and what a function does besides (prints, checks, records) is done once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jitad import checkpoint, custom_jvp, custom_vjp, fixed_point, grad, jacfwd, jit, jvp
from kernels import ba
from tests.engines import natively, on_tape

engines = pytest.mark.parametrize("run", [on_tape, natively])

X = np.array([0.3, -0.7, 1.1, 0.9, -0.2])  # more elements than directions in a sweep


def minor(x: Any, n: int, sign: float) -> Any:
    """A recursion on a traced condition."""
    if n <= 0:
        return sign * x
    return x * minor(x * 0.5, n - 1, -sign)


@engines
def test_recursion(run: Any) -> None:
    """x * x/2 * x/4 ... : the derivative of c x^(n+1)."""

    def f(x: Any, n: int) -> Any:
        out = np.zeros(len(x))
        for i in range(len(x)):
            out[i] = minor(x[i], n, 1.0)
        return out

    n = 3
    factor = (-1.0) ** n * 0.5 ** (n * (n + 1) // 2)
    np.testing.assert_allclose(run(jacfwd(f), X, n), np.diag((n + 1) * factor * X**n), rtol=1e-12)


@custom_jvp
def doubled(x: Any) -> Any:
    return x * x


@doubled.defjvp
def doubled_rule(primals: Any, tangents: Any) -> Any:
    return primals[0] ** 2, 20.0 * primals[0] * tangents[0]  # ten times too much, to be seen


@custom_vjp
def cubed(x: Any) -> Any:
    return x * x * x


cubed.defvjp(lambda x: (x * x * x, x), lambda x, ct: (30.0 * x * x * ct,))


@engines
def test_functions_with_rules(run: Any) -> None:
    exact = 20.0 * X + 30.0 * X**2
    np.testing.assert_allclose(
        run(jacfwd(lambda x: doubled(x) + cubed(x)), X), np.diag(exact), rtol=1e-12
    )


def test_a_function_with_rules_prints_once(capfd: pytest.CaptureFixture[str]) -> None:
    @checkpoint
    def loud(x: Any) -> Any:
        print("met", x[0])
        return x * x

    g = jit(jacfwd(loud))
    g(X[:3])
    capfd.readouterr()
    np.testing.assert_allclose(g(X[:3]), np.diag(2.0 * X[:3]))
    assert capfd.readouterr().out == "met 0.3\n"


@engines
def test_solutions(run: Any) -> None:
    """The square root by Heron's rule."""

    def roots(a: Any) -> Any:
        return fixed_point(lambda y: 0.5 * (y + a / y), np.ones(len(a)))

    a = np.abs(X) + 0.5
    np.testing.assert_allclose(run(jacfwd(roots), a), np.diag(0.5 / np.sqrt(a)), rtol=1e-9)


@engines
def test_over_records(run: Any) -> None:
    """Forward over reverse of a recurrence: records have tangents for each direction."""

    def f(x: Any) -> Any:
        s = 1.0
        for i in range(len(x)):
            s = s * x[i] * x[i]
        return s

    product = np.prod(X) ** 2
    exact = 4.0 * product / np.outer(X, X)
    exact[np.arange(5), np.arange(5)] = 2.0 * product / X**2
    np.testing.assert_allclose(run(jacfwd(grad(f)), X), exact, rtol=1e-12)


@engines
def test_zero_directions_stay_symbolic(run: Any) -> None:
    """An infinite slope by one number leaks into no column of another."""

    def f(a: float, b: float, c: float) -> Any:
        return np.sqrt(a) + b * c

    with np.errstate(divide="ignore"):
        by_a, by_b, by_c = run(jacfwd(f, (0, 1, 2)), 0.0, 2.0, 3.0)
    assert (by_a, by_b, by_c) == (np.inf, 3.0, 2.0)


def test_directions_that_are_arrays_of_zeros() -> None:
    """Bundle adjustment along zeros: elements of arrays that are never in memory."""
    cams, points, weights, feats, obs = ba.inputs("small")

    def along(cams: Any, points: Any) -> Any:
        return jvp(
            lambda c, p: ba.residuals(c, p, weights, feats, obs)[0], (cams, points),
            (np.zeros_like(cams), np.ones_like(points)),
        )[1]  # fmt: skip

    h = 1e-6
    there, back = (ba.residuals(cams, points + d, weights, feats, obs)[0] for d in (h, -h))
    np.testing.assert_allclose(jit(along)(cams, points), (there - back) / (2.0 * h), rtol=1e-5)
