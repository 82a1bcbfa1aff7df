"""Lists of a length that only the kernel knows, spread out by stars in lists and tuples.

The truth is the function itself, run by Python; gradients are checked by differences.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from jitad import JitadError, grad, jit, jit_grad


def squares(x: Any) -> Any:
    out = []
    for v in x:
        if v > 0.0:
            out.append(v * v)
    return out


def in_a_list(x: Any) -> Any:
    out = squares(x)
    both = [1.0, *out, x[0], *out[::-1]]
    return sum(both) + len(both) * both[-1]


def a_tuple_that_grows(x: Any) -> Any:
    out: tuple[Any, ...] = ()
    for v in x:
        if v > 0.0:
            out = (*out, v * v)
    return sum(out) + len(out)


def of_all_kinds(x: Any) -> Any:
    items = [*x]
    longer = (*items, 1.0)
    return sum([*range(3), *longer]) * x[0]


def turned_by_one(x: Any) -> Any:
    items = list(x)
    others = [*items[1:], *items[:1]]
    return sum(p * q for p, q in zip(items, others, strict=True))


def chosen(x: Any) -> Any:
    few = (x[0], 2.0) if x[1] > 0.0 else [x[0]]
    more = [*few, *squares(x), 3.0]
    return sum(more) * more[0]


def rows(x: Any) -> Any:
    return [(v, k, v * v) for k, v in enumerate(x) if v > 0.0]


def columns(x: Any) -> Any:
    a, numbers, b = zip(*rows(x))
    return sum(p * q for p, q in zip(a, b, strict=True)) + numbers[-1] * a[0] + len(b)


def columns_as_lists_and_arrays(x: Any) -> Any:
    a, _, b = map(list, zip(*rows(x)))
    b.append(a[-1])
    by_number = [np.array(c) for c in zip(*rows(x))]
    return sum(b) * len(b) + by_number[0] @ by_number[2] + sum(sum(c) for c in zip(*rows(x)))


def in_a_call(x: Any) -> Any:
    return sum(itertools.chain(*rows(x))) * max(*[*squares(x), 0.1])


def part_of_an_array(x: Any) -> Any:
    some = [*x[x > 0.2], 1.0]
    return sum(v * (k + 1) for k, v in enumerate(some)) * len(some)


def first_and_rest(first: Any, *rest: Any) -> Any:
    return first - sum(rest) / (1 + len(rest)) + (rest[-1] if rest else 0.0)


def scaled(a: Any, *rest: Any, by: Any = 2.0) -> Any:
    return a * by + sum(v * (k + 1) for k, v in enumerate(rest))


def joined(*values: Any) -> Any:
    return max(*values, 0.5) * len(values) + sum(scaled(*values) for _ in range(2))


class Held:
    def __init__(self, *values: Any) -> None:
        self.values = values

    def total(self, *more: Any) -> Any:
        return sum(self.values) + 2.0 * sum(more)


def arguments_of_calls(x: Any) -> Any:
    out = squares(x)
    first = first_and_rest(*out) + first_and_rest(1.0, *out) + first_and_rest(x[0], 2.0, *out, x[1])
    return first + scaled(*out, by=x[0]) + joined(*out, *out) + Held(*out, x[0]).total(3.0, *out)


def three(p: Any, q: Any, r: Any) -> Any:
    return p + 2.0 * q + 3.0 * r


@pytest.mark.parametrize(
    "f", [arguments_of_calls, in_a_list, a_tuple_that_grows, of_all_kinds, turned_by_one, chosen,
          columns, columns_as_lists_and_arrays, in_a_call,
          part_of_an_array]
)  # fmt: skip
def test_spread_out(f: Any) -> None:
    compiled, slope = jit(f), jit_grad(f)
    for x in (np.array([0.5, -1.0, 2.0]), np.array([0.5, 1.5]), np.array([0.3, -0.2, 0.1, 0.7])):
        assert compiled(x) == pytest.approx(f(x), rel=1e-14)
        differences = [(f(x + 1e-6 * d) - f(x - 1e-6 * d)) / 2e-6 for d in np.eye(len(x))]
        np.testing.assert_allclose(slope(x), differences, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(grad(f)(x), differences, rtol=1e-6, atol=1e-9)


def deeper(x: Any, path: tuple[int, ...] = ()) -> Any:
    return x * len(path) if x < 0.5 else deeper(0.7 * x, (*path, len(path)))


def test_through_a_recursion() -> None:
    assert jit_grad(lambda x: deeper(x), fallback=False)(3.0) == pytest.approx(6 * 0.7**6)


def test_columns_of_nothing() -> None:
    with pytest.raises(JitadError, match=r"zip\(\*values\) of an empty list"):
        jit(columns)(np.array([-1.0, -2.0]))


def test_the_number_of_arguments_is_checked() -> None:
    def f(x: Any) -> Any:
        return three(x[0], *squares(x))

    compiled = jit(f, fallback=False)
    assert compiled(np.array([1.0, 2.0, -1.0])) == pytest.approx(1.0 + 2.0 + 12.0)
    for wrong in (np.array([1.0, -2.0]), np.array([1.0, 2.0, 3.0])):
        with pytest.raises(TypeError):
            f(wrong)
        with pytest.raises(TypeError, match="three got another number of arguments"):
            compiled(wrong)
