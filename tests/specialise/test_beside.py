"""Does a row that a loop writes by another name cost an element for each element written?

Plain Python gives the values; differences of it the derivatives.  Where a row is not what the array
beside it holds, be it in one iteration, it must stay itself.
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
from jitad.specialise.beside import beside
from jitad.specialise.pipeline import specialise
from jitad.structures import flatten, unflatten
from jitad.tape.ir import walk
from jitad.trace.trace import trace
from tests.specialise.passes import keeps
from tests.truth import differences

Program = Callable[..., Any]
N = 24


def start(x: Any, y: Any) -> Any:
    return [[x * (i + 1) + y * math.sin(i * j + 0.3) for j in range(N)] for i in range(N)]


def shortest_paths(x: Any, y: Any) -> Any:
    d = [[x * abs(i - j) ** 1.5 + y * (i + j) for j in range(N)] for i in range(N)]
    for k in range(N):
        over = d[k]
        for i in range(N):
            row = d[i]
            for j in range(N):
                if row[k] + over[j] < row[j]:
                    row[j] = row[k] + over[j]
    return sum(map(sum, d))


def sweep(x: Any, y: Any) -> Any:
    t = start(x, y)
    for _ in range(3):
        for i in range(1, N):
            row, above = t[i], t[i - 1]
            for j in range(1, N):
                row[j] = 0.5 * row[j - 1] + 0.3 * above[j] + 0.1 * math.sin(row[j])
    return sum(map(sum, t))


def least_cost(x: Any, y: Any) -> Any:
    d = [[0.0] * (N + 1) for _ in range(N + 1)]
    for i in range(1, N + 1):
        row, up = d[i], d[i - 1]
        for j in range(1, N + 1):
            c = math.tanh(x * (i - j) + y) ** 2
            row[j] = c + min(up[j], row[j - 1], up[j - 1])
    return d[N][N]


def by_both_names(x: Any, y: Any) -> Any:
    t = start(x, y)
    for i in range(1, N):
        row = t[i]
        for j in range(N):
            t[i][j] *= 1.01
            row[j] += 0.1 * t[i - 1][j] * y
            t[i - 1][j] = row[j] + t[i][j - 1]
    return sum(map(sum, t))


def perhaps_the_same_row(x: Any, y: Any) -> Any:
    t = start(x, y)
    for i in range(N):
        for k in range(N):
            a, b = t[i], t[k]
            for j in range(1, N):
                a[j] = 0.9 * a[j] + 0.01 * b[j - 1]
                b[j - 1] = 0.5 * b[j - 1] + 0.01 * a[j] * y
    return sum(map(sum, t))


def under_conditions(x: Any, y: Any) -> Any:
    t = start(x, y)
    for i in range(1, N):
        row, above = t[i], t[i - 1]
        for j in range(N):
            if row[j] > above[j]:
                row[j] = 0.5 * above[j]
                if j % 2:
                    above[j] += 0.1
            elif row[j] > 0.0:
                above[j - 1] -= 0.2 * row[j]
    return sum(map(sum, t))


def nested_loops(x: Any, y: Any) -> Any:
    t = start(x, y)
    for i in range(1, N):
        row = t[i]
        for k in range(i):
            other = t[k]
            for j in range(k, N):
                row[j] -= 0.01 * other[j] * row[k]
    return sum(map(sum, t))


def exchanged_in_the_loop(x: Any, y: Any) -> Any:
    """After the exchange the name is that of a row elsewhere."""
    t = start(x, y)
    for i in range(1, N - 1):
        row = t[i]
        for j in range(N):
            row[j] += 0.1 * y
            if j == N // 2:
                t[i], t[i + 1] = t[i + 1], t[i]
    return sum(k * sum(r) for k, r in enumerate(t))


def another_row_in_its_place(x: Any, y: Any) -> Any:
    t = start(x, y)
    total = 0.0
    for i in range(1, N - 1):
        row = t[i]
        for j in range(N):
            total += row[j] * t[i][j - 1]
        t[i] = [0.1 * v for v in row]
        for j in range(N):
            total += row[j] * t[i][j - 1]
    return total


def as_it_was_before(x: Any, y: Any) -> Any:
    t = start(x, y)
    total = 0.0
    for i in range(1, N):
        row, old = t[i], list(t[i])
        for j in range(1, N):
            row[j] = y * old[j] + old[j - 1]
            total += row[j - 1] * old[j]
    return total


def the_last_row(x: Any, y: Any) -> Any:
    t = start(x, y)
    last = t[0]
    for i in range(1, N):
        row = t[i]
        for j in range(N):
            row[j] += 0.1 * last[j]
        last = row
    return sum(last)


ROWS = [shortest_paths, sweep, least_cost, by_both_names, perhaps_the_same_row, under_conditions,
        nested_loops]  # fmt: skip
OTHERS = [exchanged_in_the_loop, another_row_in_its_place, as_it_was_before, the_last_row]


@pytest.mark.parametrize("f", [*ROWS, *OTHERS], ids=lambda f: f.__name__)
def test_values_and_derivatives(f: Program) -> None:
    for point in ((0.0731, 0.0417), (0.3113, -0.2171)):
        assert jitad.jit(f)(*point) == pytest.approx(f(*point), rel=1e-11)
        gradient, along = jitad.jit_grad(f, (0, 1))(*point), np.array([0.6, -1.1])
        want, error = differences(f, point, (0, 1), along, 1e-4)
        assert abs(np.dot(gradient, along) - want) <= 1e-6 * max(1.0, abs(want)) + 10.0 * error


def traced(f: Program) -> Any:
    leaves, structure = flatten((as_numbers((0.0731, 0.0417)), {}))
    args, kwargs = unflatten(structure, map(abstract, leaves))
    return trace(f, args, kwargs)


@pytest.mark.parametrize("f", [f for f in ROWS if f is not under_conditions],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_no_row_is_copied_for_an_element(f: Program) -> None:
    """In neither sweep is there an operation on a row in an innermost loop."""
    tape = specialise(traced(jitad.grad(f, (0, 1))).tape)
    inside: Counter[str] = Counter()
    for e in walk(tape.body):
        if e.op == "for" and not any(x.op == "for" for b in e.blocks for x in walk(b)):
            inside += Counter(x.op for b in e.blocks for x in walk(b))
    assert inside["load"] > 0
    assert inside["full"] <= 1  # where the lists are made
    assert inside["store_slice"] + inside["accum_slice"] == 0


@pytest.mark.parametrize("f", [*ROWS, *OTHERS], ids=lambda f: f.__name__)
def test_the_pass_alone_changes_no_value(f: Program) -> None:
    found = traced(f)
    given = found.arguments(f, (0.0731, 0.0417))
    values = [64 if type(v) is int else v for v in given]  # rooms
    keeps(beside, found.tape, tuple(values))
