"""Do loops that count in lists of lists of numbers stay loops, however long the lists are?

Dynamic programs as they are written without NumPy: of constant lengths, so that the loops could be
written out.  The truth is plain Python, and differences of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitad
from jitad.calls.arguments import abstract
from jitad.structures import flatten, unflatten
from jitad.tape.ir import walk
from jitad.trace.trace import trace
from tests.truth import differences

Program = Callable[..., Any]


def letters(n: int, seed: int) -> list[int]:
    return [int(v) for v in np.random.default_rng(seed).integers(0, 4, n)]


def edit_distance(n: int) -> Program:
    first, second = letters(n, 0), letters(n - 2, 1)

    def f(insertion: Any, deletion: Any) -> Any:
        d = [[0.0] * (len(second) + 1) for _ in range(len(first) + 1)]
        for i in range(1, len(first) + 1):
            d[i][0] = d[i - 1][0] + deletion
        for j in range(1, len(second) + 1):
            d[0][j] = d[0][j - 1] + insertion
        for i in range(1, len(first) + 1):
            for j in range(1, len(second) + 1):
                change = 0.0 if first[i - 1] == second[j - 1] else insertion * deletion
                d[i][j] = min(
                    d[i - 1][j] + deletion, d[i][j - 1] + insertion, d[i - 1][j - 1] + change)
        return d[-1][-1]

    return f


def soft_alignment(n: int) -> Program:
    def f(gap: Any, weight: Any) -> Any:
        table = []
        for _ in range(n):
            table.append([1.0 for _ in range(n)])
        for i in range(1, n):
            for j in range(1, n):
                parts = (table[i - 1][j] + gap, table[i][j - 1] + gap, table[i - 1][j - 1])
                least = min(parts)
                table[i][j] = least - weight * math.log(
                    sum(math.exp((least - p) / weight) for p in parts))
        return table[n - 1][n - 1]

    return f


def diffusion(n: int) -> Program:
    def f(x: Any, k: Any) -> Any:
        now = [[0.1 * i * j for j in range(n)] for i in range(n)]
        now[n // 2][n // 2] = x
        for _ in range(3):
            new = [[0.0] * n for _ in range(n)]
            for i in range(1, n - 1):
                for j in range(1, n - 1):
                    around = now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1]
                    new[i][j] = now[i][j] + k * (around - 4.0 * now[i][j])
            now = new
        return sum(sum(row) for row in now)

    return f


def rows_of_one(n: int) -> Program:
    """All rows are one list: a write to one is a write to all."""

    def f(x: Any, y: Any) -> Any:
        table = [[0.0] * n] * n
        for i in range(n):
            for j in range(n):
                table[i][j] = table[i][j] * y + x * math.sin(i + j * y) * math.exp(-x * i)
        return sum(sum(row) for row in table)

    return f


def row_by_another_name(n: int) -> Program:
    def f(x: Any, y: Any) -> Any:
        table = [[0.5] * n for _ in range(n)]
        row = table[2]
        for i in range(1, n):
            for j in range(1, n):
                table[i][j] = table[i - 1][j - 1] * y + x * math.sin(i + j * y) * math.exp(-x * i)
        row[1] = row[1] * x
        return sum(sum(r) for r in table) + row[3] * y

    return f


def elimination(n: int) -> Program:
    """With the largest pivot: rows change places."""

    def f(x: Any, y: Any) -> Any:
        a = [[math.sin(x * (i + 1) * (j + 2)) + y * i for j in range(n)] for i in range(n)]
        b = [x + i for i in range(n)]
        for c in range(n):
            p = max(range(c, n), key=lambda r: abs(a[r][c]))
            a[c], a[p] = a[p], a[c]
            b[c], b[p] = b[p], b[c]
            for r in range(c + 1, n):
                factor = a[r][c] / a[c][c]
                b[r] -= factor * b[c]
                for k in range(c, n):
                    a[r][k] -= factor * a[c][k]
        return math.log(abs(math.prod(a[k][k] for k in range(n)))) + b[n - 1]

    return f


def elimination_by_a_search(n: int) -> Program:
    def f(x: Any, y: Any) -> Any:
        a = [[math.sin(x * (i + 1) * (j + 2)) + y * i for j in range(n)] for i in range(n)]
        sign = 1.0
        for c in range(n):
            p = c
            for r in range(c + 1, n):
                if abs(a[r][c]) > abs(a[p][c]):
                    p = r
            if p != c:
                a[p], a[c] = a[c], a[p]
                sign = -sign
            for r in range(c + 1, n):
                factor = a[r][c] / a[c][c]
                for k in range(c, n):
                    a[r][k] = a[r][k] - factor * a[c][k]
        return sign * math.prod(a[k][k] for k in range(n))

    return f


def rows_in_order(n: int) -> Program:
    """A row that was read before goes on to be the same row."""

    def f(x: Any, y: Any) -> Any:
        rows = [[math.cos(x * k), x * k, y] for k in range(n)]
        for _ in range(n):
            for j in range(n - 1):
                if rows[j][0] > rows[j + 1][0]:
                    rows[j], rows[j + 1] = rows[j + 1], rows[j]
        rows[0][1] += 3.0 * y
        return sum((k + 1) * row[1] * row[0] + row[2] for k, row in enumerate(rows))

    return f


def made_by_each_iteration(n: int) -> Program:
    def f(x: Any, y: Any) -> Any:
        total = 0.0
        for i in range(5 * n):
            few = [0.0] * 5
            few[i % 5] = x * i
            table = [[0.0] * 3 for _ in range(4)]
            for j in range(3):
                table[i % 4][j] = few[2] + y * i
            for j in range(1, 3):
                table[3][j] += table[2][j - 1] * math.cos(y * i)
            total += math.sin(few[3]) * math.exp(-few[1]) + table[3][2] * table[1][0]
        return total

    return f


PROGRAMS = [edit_distance, soft_alignment, diffusion, rows_of_one, row_by_another_name, elimination,
            elimination_by_a_search, rows_in_order, made_by_each_iteration]  # fmt: skip
TABLES = PROGRAMS[:2]  # whose length is in no equation but those that make the list


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("n", [5, 12])
def test_values_and_derivatives(make: Callable[[int], Program], n: int) -> None:
    f = make(n)
    for point in ((0.7, 0.4), (0.3, 1.1)):
        assert jitad.jit(f)(*point) == pytest.approx(f(*point), rel=1e-12)
        gradient = jitad.jit_grad(f, (0, 1))(*point)
        along = np.array([0.6, -1.1])
        want, error = differences(f, point, (0, 1), along, 1e-3)
        assert abs(np.dot(gradient, along) - want) <= 1e-6 * max(1.0, abs(want)) + 10.0 * error
        np.testing.assert_allclose(jitad.grad(f, (0, 1))(*point), gradient, rtol=1e-9, atol=1e-12)


def equations(f: Program) -> int:
    leaves, structure = flatten(((0.7, 0.4), {}))
    args, kwargs = unflatten(structure, map(abstract, leaves))
    tape = trace(f, args, kwargs).tape
    return sum(1 for _ in walk(tape.body))


@pytest.mark.parametrize("make", TABLES, ids=lambda make: make.__name__)
def test_the_tape_does_not_grow_with_the_cells(make: Callable[[int], Program]) -> None:
    """A row more is a few equations more, which make the row."""
    few, more, most = (equations(make(n)) for n in (20, 40, 60))
    assert more - few <= 20 * 12 and most - more <= 20 * 12


LONG = 60


def copied_down(first: Any) -> Any:
    table = [list(first) for _ in range(LONG)]
    for i in range(1, LONG):
        for j in range(1, LONG):
            table[i][j] = table[i - 1][j]
    return table


def mixed(x: Any) -> Any:
    table = copied_down([2**53 + 1, 0.5, True] * (LONG // 3))
    return table[LONG - 1][0] - 2**53, table[LONG - 1][3] - 2**53, table[2][5], table[0][1] * x


def an_int_put_later(x: Any) -> Any:
    table = copied_down([0.25] * LONG)
    table[4][4] = 2**53 + 1
    table[5][5] = x
    return table[4][2:6], table[5][4:6], table[4][4] - 2**53


def a_row_of_ints_put_later(x: Any) -> Any:
    table = copied_down([0.25] * LONG)
    table[4] = [1, 2, 3]
    return table[4][1], table[4][:2], len(table[4]), table[5][5] * x


@pytest.mark.parametrize("f", [mixed, an_int_put_later, a_row_of_ints_put_later],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_numbers_keep_their_kinds(f: Program) -> None:
    assert repr(jitad.jit(f)(0.7)) == repr(f(0.7))


def test_beside_a_large_argument() -> None:
    """What has to be written out after all is, whatever else there is."""

    def f(x: Any, unused: Any) -> Any:
        table = [[0.0] * LONG for _ in range(LONG)]
        before = table[2]
        for i in range(1, LONG):
            table[i] = [0.0] * LONG
            for j in range(1, LONG):
                table[i][j] = 0.5 * table[i - 1][j] + x
        return before[3], table[2][3]

    assert jitad.jit(f)(0.7, [[1.0] * 70 for _ in range(70)]) == f(0.7, None)


def ints_that_got_a_float(x: Any) -> Any:
    numbers: list[Any] = [0] * LONG
    numbers[3] = x
    numbers[int(10.0 * x)] = 1.5 * x
    return sum(numbers) * numbers[3]


def a_minus_zero_among_zeros(x: Any) -> Any:
    numbers: list[Any] = [0.0] * LONG
    numbers[5], numbers[6] = -0.0, x
    numbers[int(10.0 * x)] = 1.5 * x
    return math.copysign(x, numbers[5]) + numbers[6] * math.copysign(2.0, numbers[4])


def one_number_many_times(x: Any) -> Any:
    numbers: list[Any] = [2.5] * LONG
    numbers[1] = numbers[4] = x
    numbers[int(10.0 * x)] *= x
    return math.prod(numbers)


@pytest.mark.parametrize(
    "f", [ints_that_got_a_float, a_minus_zero_among_zeros, one_number_many_times],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_a_list_of_known_numbers_and_a_place_only_a_run_knows(f: Program) -> None:
    """The first write there makes an array of the list, in few equations."""
    x = 0.73
    value, gradient = jitad.jit_value_and_grad(f)(x)
    assert value == pytest.approx(f(x), rel=1e-14)
    assert math.copysign(1.0, value) == math.copysign(1.0, f(x))
    true, error = differences(f, [x], (0,), [1.0], 1e-3)
    assert gradient == pytest.approx(true, abs=1e-7 + 10.0 * error)
