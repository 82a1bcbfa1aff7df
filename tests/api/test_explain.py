"""Is what `.explain()` says of loops what they are?

The functions are such that it is plain by hand what must be kept, and whether iterations can be
taken several at a time.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jitad import jit, jit_grad, jit_value_and_grad
from jitad.calls.looking import _counted
from jitad.emit import numba_private
from jitad.emit.libraries import libm

X = np.linspace(0.1, 0.9, 40)


def told(f: Any, *args: Any, argnums: Any = 0) -> list[str]:
    g = jit_value_and_grad(f, argnums=argnums)
    g(*args)
    kernel, *lines = g.explain().splitlines()
    assert kernel == "kernel 1: first call"
    return [line.strip() for line in lines]


def line_of(f: Any, offset: int) -> str:
    return f"{__file__.rsplit('/', 1)[-1]}:{f.__code__.co_firstlineno + offset}: "


def sum_of_squares(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += x[i] * x[i]
    return total


def test_iterations_that_commute_run_in_one_pass_and_abreast() -> None:
    (line,) = told(sum_of_squares, X)
    assert line.startswith(line_of(sum_of_squares, 2) + "one pass for the function and its deriv")
    assert line.endswith(" iterations at a time") and "keeps" not in line


def test_lanes_are_those_of_the_machine() -> None:
    width = int(told(sum_of_squares, X)[0].split()[-5])
    assert width in (2, 4, 8)
    assert width == 2 or "avx2" in numba_private.host_features()


def recurrence(r: Any, x: Any) -> Any:
    z = 0.5
    for i in range(len(x)):
        z = r * z * (1.0 - z) + x[i]
    return z


def test_a_recurrence_keeps_its_state() -> None:
    forward, backward = told(recurrence, 0.3, X)
    assert forward == line_of(recurrence, 2) + (
        "the function's own loop; keeps 8 bytes an iteration (z); one iteration at a time: "
        "an iteration needs z of the one before"
    )
    assert backward.startswith(line_of(recurrence, 2) + "the reverse sweep; computes ")
    assert "an iteration needs z_bar of the one before" in backward


def two_kept(r: Any, x: Any) -> Any:
    z = 0.5
    for i in range(len(x)):
        z = r * math.sin(z) * x[i]
    return z


def test_dear_results_are_kept_too() -> None:
    assert "keeps 16 bytes an iteration" in told(two_kept, 0.3, X, argnums=(0, 1))[0]


def test_a_while_loop() -> None:
    def halved(x: Any, y: Any) -> Any:
        while x > 1.0:
            x = 0.5 * x * y * y
        return x

    lines = told(halved, 9.0, 1.01, argnums=(0, 1))
    assert any("how often it runs isn't known before" in line for line in lines)


def test_loops_in_loops_are_indented_and_the_inner_ones_judged() -> None:
    def rows(a: Any) -> Any:
        total = 0.0
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                total += np.exp(a[i, j])
        return total

    g = jit_grad(rows)
    g(np.ones((3, 4)))
    _, outer, inner = g.explain().splitlines()
    assert outer.startswith("  test_explain.py") and "there are loops in it" in outer
    assert inner.startswith("    test_explain.py")
    if libm.HAS_LIBMVEC:
        assert inner.endswith(" iterations at a time")


def test_functions_without_a_vector_form() -> None:
    def gammas(x: Any) -> Any:
        return np.sum(np.array([math.lgamma(e) for e in x]))

    lines = told(gammas, X)
    assert any("digamma has no vector form" in line for line in lines)
    assert not any("iterations at a time" in line and "digamma" in line for line in lines)


def test_an_iteration_that_may_raise() -> None:
    def roots(x: Any) -> Any:
        total = 0.0
        for e in x:
            if e < 0.0:
                raise ValueError(f"{e} is negative")
            total += math.sqrt(e)
        return total

    assert any("an iteration may raise" in line for line in told(roots, X))


def test_a_function_without_derivative_and_without_loops() -> None:
    f = jit(sum_of_squares)
    f(X)
    _, line = f.explain().splitlines()
    assert line.strip().startswith(line_of(sum_of_squares, 2))
    assert "pass" not in line and "sweep" not in line
    g = jit_grad(lambda x: x * x)
    g(2.0)
    assert g.explain() == "kernel 1: first call"


def test_each_kernel_has_its_loops() -> None:
    g = jit_grad(sum_of_squares)
    g(X)
    g(X.astype("f4"))
    lines = g.explain().splitlines()
    heads = [k for k, line in enumerate(lines) if line.startswith("kernel")]
    assert len(heads) == 2 and heads[0] == 0 and heads[1] > 1 and heads[1] < len(lines) - 1


def test_looking_changes_nothing() -> None:
    g = jit_grad(recurrence)
    before = g(0.3, X)
    assert g.explain() == g.explain()
    assert g(0.3, X) == before and g.specialisations == ["first call"]


def grouped(x: Any, groups: Any) -> Any:
    sums = {}
    for e, k in zip(x, groups, strict=True):
        sums[k] = sums.get(k, 0.0) + e * e
    return max(sums.values())


def test_loops_of_a_dict_stand_where_the_user_asks_it() -> None:
    x = np.arange(1.0, 6.0)
    lines = told(grouped, x, np.array([0, 1, 0, 2, 1]))
    assert all(line.startswith(__file__.rsplit("/", 1)[-1]) for line in lines)
    assert any(line.startswith(line_of(grouped, 4)) for line in lines)  # the largest value


def test_loops_that_read_alike_are_told_once() -> None:
    loop, outer, inner = "a:1: scalar", "a:2: nest", "  a:3: scalar"
    assert _counted([loop, loop, outer, inner, outer, inner, loop]) == [
        f"{loop} (2 such loops)", f"{outer} (2 such loops)", inner, loop,
    ]  # fmt: skip
    assert _counted([outer, inner, outer]) == [outer, inner, outer]
