"""Does an element of a row of a list of lists cost an element, in derivatives, too?

Plain Python gives the values; differences of it the derivatives.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitad
from jitad.calls.arguments import abstract, as_numbers
from jitad.specialise.pipeline import specialise
from jitad.structures import flatten, unflatten
from jitad.tape.ir import walk
from jitad.trace.trace import trace
from tests.truth import differences

Program = Callable[..., Any]
N = 24


def product(x: Any, y: Any) -> Any:
    a = [[x * (i + 1) + 0.01 * j for j in range(N)] for i in range(N)]
    b = [[y * (j + 1) - 0.01 * i for j in range(N)] for i in range(N)]
    c = [[0.0] * N for _ in range(N)]
    for i in range(N):
        for j in range(N):
            s = 0.0
            for k in range(N):
                s += a[i][k] * b[k][j]
            c[i][j] = math.sin(s)
    return c[1][2] * c[N - 1][N - 2]


def in_place(x: Any, y: Any) -> Any:
    """Each element is read, added to, multiplied and read again."""
    t = [[x + 0.1 * i * j for j in range(N)] for i in range(N)]
    for i in range(1, N):
        for j in range(N):
            t[i][j] += 0.5 * t[i - 1][j] * y
            t[i][j] *= math.cos(t[i][j])
    return t[N - 1][3] + t[N - 1][N - 1]


def a_row_as_it_was(x: Any, y: Any) -> Any:
    t = [[x + 0.1 * i * j for j in range(N)] for i in range(N)]
    total = 0.0
    for i in range(N):
        old, row = t[i][:], t[i]
        for j in range(N):
            row[j] = y * old[j] + old[j - 1]
            t[i][j] += 0.1 * row[j]
        total += old[i] * t[i][i] - t[i - 1][0]
    return total


def three_deep(x: Any, y: Any) -> Any:
    t = [[[x * k - y * j + i for k in range(5)] for j in range(6)] for i in range(N)]
    for i in range(1, N):
        for j in range(6):
            for k in range(1, 5):
                t[i][j][k] = math.sin(t[i - 1][j][k] + t[i][j][k - 1])
    return t[N - 1][5][4] * t[N - 1][0][1]


def left_as_it_is(x: Any, y: Any) -> Any:
    """Some elements are put back where they were."""
    t = [[x + 0.1 * i * j for j in range(N)] for i in range(N)]
    for i in range(N):
        for j in range(N):
            t[i][j] = t[i][j] if (i + j) % 3 else t[i][j] * y
            t[j][i] = t[j][i]
    return sum(sum(row) for row in t)


PROGRAMS = [product, in_place, a_row_as_it_was, three_deep, left_as_it_is]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_derivatives(f: Program) -> None:
    for point in ((0.07, 0.04), (0.3, -0.2)):
        assert jitad.jit(f)(*point) == pytest.approx(f(*point), rel=1e-12)
        gradient, along = jitad.jit_grad(f, (0, 1))(*point), np.array([0.6, -1.1])
        want, error = differences(f, point, (0, 1), along, 1e-3)
        assert abs(np.dot(gradient, along) - want) <= 1e-6 * max(1.0, abs(want)) + 10.0 * error


@pytest.mark.parametrize("f", [product, in_place], ids=lambda f: f.__name__)
def test_no_row_is_made_for_an_element(f: Program) -> None:
    """In neither sweep is there an operation on a row but where the lists are made."""
    leaves, structure = flatten((as_numbers((0.07, 0.04)), {}))
    args, kwargs = unflatten(structure, map(abstract, leaves))
    tape = specialise(trace(jitad.grad(f, (0, 1)), args, kwargs).tape)
    inside: Counter[str] = Counter()
    for e in walk(tape.body):
        if e.op == "for":
            inside += Counter(x.op for b in e.blocks for x in b.equations if not x.blocks)
    assert inside["accum"] + inside["load"] > 0
    assert inside["accum_slice"] == 0
    assert inside["full"] <= 4  # where rows are made, and their adjoints taken apart
