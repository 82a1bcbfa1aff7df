"""Do programs that call themselves have the right derivatives, in both modes and to second order?

Each is taken along a line through a point.  The truth is from differences of the plain function;
that of second derivatives from differences of the eager engine's first ones, which are checked.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import jitad
from jitad.structures import flatten, unflatten
from tests.engines import natively, on_tape
from tests.truth import differences

PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}


def program(*args):
    def note(f):
        PROGRAMS[f.__name__] = (f, args)
        return f

    return note


# -- structures -----------------------------------------------------------------------------------


@dataclass
class Tree:
    value: float
    children: list


class Node(NamedTuple):
    op: str
    args: tuple


TREE = Tree(0.5, [Tree(1.5, []), Tree(0.3, [Tree(0.7, []), Tree(2.0, [])]), Tree(1.1, [])])


@program(TREE, 0.7)
def tree_of_dataclasses(tree, x):
    def total(t, w):
        return math.sin(t.value * w) + sum(total(c, w * x) for c in t.children)

    return total(tree, 1.0)


@program((1.0, (2.0, (0.5, 0.25)), 3.0))
def tuples_in_tuples(t):
    if isinstance(t, tuple):
        return math.sin(sum(tuples_in_tuples(p) for p in t))
    return t * t


@program({"a": 1.0, "b": {"c": 2.0, "d": [0.5, {"e": 0.1}]}})
def dicts_and_lists(d):
    if isinstance(d, dict):
        return sum(k * dicts_and_lists(v) for k, v in zip((1.0, 2.0), d.values(), strict=False))
    if isinstance(d, list):
        out = 1.0
        for v in d:
            out = out * dicts_and_lists(v)
        return out
    return math.exp(d)


@program(0.6)
def expressions_as_named_tuples(x):
    leaf = Node("x", ())
    tree = Node("mul", (leaf, Node("add", (leaf, Node("sin", (leaf,))))))

    def value(n):
        parts = [value(a) for a in n.args]
        if n.op == "mul":
            return parts[0] * parts[1]
        if n.op == "add":
            return parts[0] + parts[1]
        return math.sin(parts[0]) if n.op == "sin" else x

    return value(tree)


class Evaluator:
    def __init__(self, x, y):
        self.variables = {"x": x, "y": y}

    def eval(self, node):
        match node:
            case ("add", a, b):
                return self.eval(a) + self.eval(b)
            case ("mul", a, b):
                return self.eval(a) * self.eval(b)
            case ("sin", a):
                return math.sin(self.eval(a))
            case str():
                return self.variables[node]
            case _:
                return node


EXPRESSION = ("add", ("mul", "x", ("sin", ("mul", "x", "y"))), ("mul", 3.0, ("add", "y", 1.5)))


@program(0.7, 1.9)
def expressions_by_a_method(x, y):
    return Evaluator(x, y).eval(EXPRESSION)


OPERATIONS = np.array([0, 1, 2, 3, 3, 3])
LEFT, RIGHT = np.array([1, 2, 3, -1, -1, -1]), np.array([5, 4, -1, -1, -1, -1])


@program(np.array([0.0, 0.0, 0.0, 0.8, 1.7, 0.3]))
def expressions_in_arrays(values):
    def value(k):
        if OPERATIONS[k] == 0:
            return value(LEFT[k]) + value(RIGHT[k])
        if OPERATIONS[k] == 1:
            return value(LEFT[k]) * value(RIGHT[k])
        return math.sin(value(LEFT[k])) if OPERATIONS[k] == 2 else values[k]

    return value(0)


class Polynomial:
    def __init__(self, coefficients):
        self.coefficients = coefficients

    def eval(self, k, x):
        if k == len(self.coefficients) - 1:
            return self.coefficients[k]
        return self.coefficients[k] + x * self.eval(k + 1, x)


@program(np.array([1.0, 2.0, -0.5, 0.3]), 0.7)
def horner_by_a_method(c, x):
    return Polynomial(c).eval(0, x) ** 2


# -- numbers --------------------------------------------------------------------------------------


@program(6.3)
def fibonacci(x):
    def term(n):
        return x if n < 2 else term(n - 1) * 0.5 + math.sin(term(n - 2))

    return term(int(x))


@program(1.7, 9.0)
def bisection(a, target):
    def f(z):
        return z * z * z + a * z - target

    def go(lo, hi, n):
        mid = 0.5 * (lo + hi)
        if n == 0:  # steps of Newton's make it smooth
            for _ in range(3):
                mid = mid - f(mid) / (3.0 * mid * mid + a)
            return mid
        return go(lo, mid, n - 1) if f(mid) > 0.0 else go(mid, hi, n - 1)

    return go(0.0, 5.0, 20)


@program(0.3, 1.0)
def adaptive_simpson(a, b):
    def f(x):
        return math.exp(-x) * math.sin(4.0 * x) / (0.1 + x)

    def panel(lo, hi, eps, whole, fa, fb, fm, depth):
        m = 0.5 * (lo + hi)
        fl, fr = f(0.5 * (lo + m)), f(0.5 * (m + hi))
        left = (m - lo) / 6.0 * (fa + 4.0 * fl + fm)
        right = (hi - m) / 6.0 * (fm + 4.0 * fr + fb)
        delta = left + right - whole
        if depth <= 0 or abs(delta) <= 15.0 * eps:
            return left + right + delta / 15.0
        return panel(lo, m, eps / 2.0, left, fa, fm, fl, depth - 1) + panel(
            m, hi, eps / 2.0, right, fm, fb, fr, depth - 1
        )

    fa, fb, fm = f(a), f(b), f(0.5 * (a + b))
    return panel(a, b, 1e-4, (b - a) / 6.0 * (fa + 4.0 * fm + fb), fa, fb, fm, 12)


@program(1.3, 5)
def towers_of_hanoi(x, n):
    def moved(k, w):
        if k == 0:
            return 0.0
        return moved(k - 1, w * 0.9) + w * x + moved(k - 1, w * w)

    return moved(n, x)


@program(0.4, 2, 2)
def ackermann_of_floats(x, m, n):
    def ackermann(m, n):
        if m == 0:
            return n + x
        if n < 1.0:
            return ackermann(m - 1, 1.0) * x
        return ackermann(m - 1, ackermann(m, n - 1.0))

    return ackermann(m, float(n))


@program(1.3, 9)
def remembered_in_a_dict(x, n):
    known = {}

    def term(k):
        if k < 2:
            return x
        if k not in known:
            known[k] = math.sin(term(k - 1)) + 0.3 * term(k - 2)
        return known[k]

    return term(n)


@program(1.3, 7)
def gathered_in_a_list(x, n):
    seen = []

    def go(k, z):
        seen.append(z)
        if k > 0:
            go(k - 1, math.sin(z) * x)

    go(n, x)
    return sum(s * s for s in seen)


@program(2.7)
def a_loop_in_every_call(x):
    def go(z):
        if z < 0.3:
            return z
        n = 0
        while z > 1.0:
            z = z * 0.7
            n += 1
        return math.sin(go(z * 0.5)) + n * z

    return go(x)


# -- arrays ---------------------------------------------------------------------------------------


@program(np.linspace(0.1, 2.0, 4), np.linspace(1.0, -1.0, 4))
def fourier_by_halves(re, im):
    def fft(re, im):
        n = len(re)
        if n == 1:
            return re, im
        er, ei = fft(re[0::2], im[0::2])
        dr, di = fft(re[1::2], im[1::2])
        k = np.arange(n // 2)
        c, s = np.cos(-2.0 * np.pi * k / n), np.sin(-2.0 * np.pi * k / n)
        tr, ti = c * dr - s * di, s * dr + c * di
        return np.concatenate([er + tr, er - tr]), np.concatenate([ei + ti, ei - ti])

    a, b = fft(re, im)
    return np.sum((a * a + b * b) ** 2 * np.arange(1.0, len(re) + 1))


@program(np.array([3.0, 1.0, 2.5, 0.5, 2.2]))
def merge_sort(x):
    def sort(a):
        n = len(a)
        if n <= 1:
            return a
        left, right = sort(a[: n // 2]), sort(a[n // 2 :])
        out = np.empty(n)
        i = j = 0
        for k in range(n):
            if j >= len(right) or (i < len(left) and left[i] <= right[j]):
                out[k] = left[i]
                i += 1
            else:
                out[k] = right[j]
                j += 1
        return out

    return np.sum(sort(x) ** 2 * np.arange(1.0, len(x) + 1))


@program(np.linspace(0.2, 1.2, 7))
def parallel_resistors(x):
    def between(lo, hi):
        if hi - lo == 1:
            return x[lo]
        mid = (lo + hi) // 2
        a, b = between(lo, mid), between(mid, hi)
        return a * b / (a + b)

    return between(0, len(x))


@program(np.linspace(0.2, 1.2, 5))
def one_another_over_an_array(x):
    def even(k, w):
        return w if k >= len(x) else math.sin(odd(k + 1, w * x[k]))

    def odd(k, w):
        return w * w if k >= len(x) else even(k + 1, w + x[k]) * x[k]

    return even(0, 1.0)


@program(np.linspace(0.2, 1.2, 4), 1.5)
def what_is_around_is_written(x, s):
    total = 0.0
    counts = np.zeros(len(x))

    def visit(k, scale):
        nonlocal total
        if k >= len(x):
            return scale
        counts[k] += scale * x[k]
        total += math.exp(-x[k]) * scale
        return visit(k + 2, scale * s) + visit(k + 1, scale * math.sin(total))

    return visit(0, 1.0) + total + np.sum(counts * counts)


@program(np.linspace(0.1, 1.0, 5), 3)
def calls_in_a_loop(x, k):
    def go(start, left):
        if left == 0:
            return 1.0
        total = 0.0
        for i in range(start, len(x)):
            total += math.sin(x[i] * go(i + 1, left - 1))
        return total

    return go(0, k)


@program(np.array([[2.0, 0.3, 0.1], [0.2, 1.5, 0.4], [0.3, 0.1, 1.8]]))
def permanent(a):
    n = len(a)
    used = np.zeros(n, dtype=bool)

    def go(row):
        if row == n:
            return 1.0
        total = 0.0
        for j in range(n):
            if not used[j]:
                used[j] = True
                total += a[row, j] * go(row + 1)
                used[j] = False
        return total

    return math.log(go(0))


@program(np.array([[2.0, 0.3, 0.1], [0.2, 1.5, 0.4], [0.3, 0.1, 1.8]]))
def minors_in_a_scratch_array(a):
    def determinant(a):
        n = a.shape[0]
        if n == 1:
            return a[0, 0]
        total, sign = 0.0, 1.0
        minor = np.empty((n - 1, n - 1))
        for j in range(n):
            minor[:, :j] = a[1:, :j]
            minor[:, j:] = a[1:, j + 1 :]
            total += sign * a[0, j] * determinant(minor)
            sign = -sign
        return total

    return math.log(determinant(a))


# -- tests ----------------------------------------------------------------------------------------

NATIVE = (
    "fibonacci", "merge_sort", "what_is_around_is_written", "calls_in_a_loop",
    "minors_in_a_scratch_array",
)  # fmt: skip


def along(name):
    """The program on a line through its point."""
    f, args = PROGRAMS[name]
    leaves, structure = flatten(args)
    rng = np.random.default_rng(1)
    ways = [
        rng.normal(size=np.shape(leaf)) if isinstance(leaf, np.ndarray)
        else float(rng.normal()) if isinstance(leaf, float) else 0 for leaf in leaves
    ]  # fmt: skip

    def line(t):
        moved = [a if isinstance(a, int) else a + t * v for a, v in zip(leaves, ways, strict=True)]
        return f(*unflatten(structure, moved))

    return line


def slope(f):
    value, error = differences(f, (0.0,), (0,), [1.0])
    return pytest.approx(value, rel=1e-6, abs=1e-7 + 20.0 * error)


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives(name):
    f = along(name)
    expected, second = slope(f), slope(jitad.grad(f))
    assert jitad.grad(f)(0.0) == expected
    assert on_tape(jitad.grad(f), 0.0) == expected
    assert on_tape(jitad.derivative(f), 0.0) == expected
    for g in (jitad.derivative(jitad.grad(f)), jitad.grad(jitad.derivative(f))):
        assert on_tape(g, 0.0) == second
    assert on_tape(jitad.grad(jitad.grad(f)), 0.0) == second


@pytest.mark.parametrize("name", NATIVE)
def test_native_gradients(name):
    f = along(name)
    assert natively(jitad.grad(f), 0.0) == slope(f)


@pytest.mark.parametrize("name", ["fibonacci", "one_another_over_an_array"])
def test_native_second_derivatives(name):
    f = along(name)
    assert natively(jitad.derivative(jitad.grad(f)), 0.0) == slope(jitad.grad(f))


@pytest.mark.parametrize("run", [on_tape, natively])
@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_an_array_that_is_two_operands_of_a_call(run, n):
    """One is written and given back, the other is read: both have a part in the adjoint."""

    def f(x, a, n):
        z = 1.0 * a

        def down(p, k):
            z[k] = p
            return p if k < 1 else down(p - a[k], k - 1)

        return down(x, n) + np.sum(z * np.arange(1.0, 5.0))

    a = np.array([0.5, 0.1, -0.3, 0.7])
    value, (slope, gradient) = run(jitad.value_and_grad(f, (0, 1)), 0.3, a, n)
    assert value == pytest.approx(f(0.3, a, n), rel=1e-14)
    assert slope == pytest.approx(1.0 + sum(range(1, n + 2)))
    for unit, got in zip(np.eye(4), gradient, strict=True):  # f is linear in a
        assert got == pytest.approx(f(0.3, a + unit, n) - f(0.3, a, n), abs=1e-12)
