"""Do comparisons of square roots come out the same without the root?

The truth is the comparison as it is written, in Python, at numbers around where it changes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitad import jit, jit_grad
from jitad.specialise.roots import threshold

BOUNDS = [1e-5, 1.0, 0.1, 3.0, math.pi, 1e-8, 2.0**-20, 1e100, 1e-100, 12345.678]


@settings(max_examples=300, derandomize=True)
@given(st.floats(1e-149, 1e149))
def test_the_threshold_is_where_the_comparison_changes(c: float) -> None:
    first, last = threshold(c, True), threshold(c, False)
    assert math.sqrt(first) >= c > math.sqrt(math.nextafter(first, 0.0))
    assert math.sqrt(last) <= c < math.sqrt(math.nextafter(last, math.inf))


def around(c: float) -> list[float]:
    """Numbers whose roots are close to the bound, and special ones."""
    x = c * c
    near = [x]
    for direction in (0.0, math.inf):
        at = x
        for _ in range(6):
            at = math.nextafter(at, direction)
            near.append(at)
    return [*near, 0.0, -0.0, math.inf, math.nan, 0.5 * x, 2.0 * x]


@pytest.mark.parametrize("c", BOUNDS)
def test_all_comparisons_agree_with_those_of_the_root(c: float) -> None:
    scope: dict[str, Any] = {"np": np}
    text = f"""
def f(a):
    r = np.sqrt(a)
    return (r < {c!r}, r <= {c!r}, r > {c!r}, r >= {c!r}, {c!r} < r, {c!r} >= r)
def g(a):
    r = np.sqrt(np.abs(a))
    return (r < {c!r}, r <= {c!r}, r > {c!r}, r >= {c!r}, {c!r} < r, {c!r} >= r)
"""
    import linecache

    file = f"<roots {c}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), scope)
    f, g = jit(scope["f"]), jit(scope["g"])
    with np.errstate(invalid="ignore"):
        for x in around(c):
            assert g(x) == tuple(bool(b) for b in scope["g"](np.float64(x))), x
            for sign in (x, -x):
                assert f(sign) == tuple(bool(b) for b in scope["f"](np.float64(sign))), sign


def test_the_root_is_gone() -> None:
    def steps(x):
        n = 0
        while np.sqrt(x[0] * x[0] + x[1] * x[1]) > 1e-3:
            x = [0.5 * x[0], 0.7 * x[1]]
            n += 1
        return n, x[0]

    g = jit(steps)
    assert g([1.0, 2.0]) == pytest.approx(steps([1.0, 2.0]), rel=1e-15)
    assert "sqrt(" not in g.source


def test_where_it_must_stay() -> None:
    """Numbers that may be negative have no root, and what is used has one."""
    g = jit(lambda x: (np.sqrt(x) <= 2.0, 1.0))
    with np.errstate(invalid="ignore"):
        assert g(-1.0) == (False, 1.0) and g(4.0) == (True, 1.0)
    h = jit_grad(lambda x: np.sqrt(x * x + 1.0) if np.sqrt(x * x + 1.0) < 2.0 else x)
    assert h(1.0) == pytest.approx(1.0 / math.sqrt(2.0), rel=1e-15) and h(2.0) == 1.0
    single = jit(lambda x: np.sqrt(x) >= np.float32(0.1))
    for x in (np.float32(0.01), np.nextafter(np.float32(0.01), np.float32(1.0))):
        assert single(x) == bool(np.sqrt(x) >= np.float32(0.1))


def test_elements_of_arrays() -> None:
    f = jit_grad(lambda a: np.sum(np.where(np.sqrt(a * a) < 0.3, a * a, a)))
    a = np.array([0.1, -0.1, 0.3, math.nextafter(0.3, 0.0), 2.0])
    expected = np.where(np.sqrt(a * a) < 0.3, 2.0 * a, 1.0)
    assert np.array_equal(f(a), expected)
    b = np.ones((2, 2)) * 0.1
    assert np.array_equal(f(b), 0.2 * np.ones((2, 2)))
