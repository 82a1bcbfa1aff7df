"""A number of NumPy's beside a list or tuple: an operator works by elements, as with an array.

One of Python's does not, which a comparison says without an error.
"""

import operator
from collections import namedtuple

import numpy as np
import pytest

from jitad import jit, jit_value_and_grad, value_and_grad
from jitad.errors import JitadTypeError

Pair = namedtuple("Pair", "first second")
X = np.array([1.3, 2.1, 0.7])

ARITHMETIC = {
    "+": operator.add, "-": operator.sub, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "divmod": lambda a, b: divmod(a, b)[1],
}  # fmt: skip
COMPARISONS = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
LISTS = {
    "numbers": lambda x: [1.5, 2.0],
    "a tuple": lambda x: (2, 1.25),
    "one": lambda x: [1.25],
    "rows": lambda x: [[1.5, 2.0], [0.4, x[2]]],
    "traced": lambda x: [x[1], 0.5],
    "all traced": lambda x: (x[1], x[0]),
    "a named tuple": lambda x: Pair(x[2], 1.25),
    "a range": lambda x: range(1, 4),
}
TRACED = ("rows", "traced", "all traced", "a named tuple")
NUMBERS = {
    "an element": lambda x: x[0],
    "a sum": lambda x: x.sum(),
    "of a ufunc": lambda x: np.exp(x[0]),
    "without axes": lambda x: x[0, ...],
    "an index": lambda x: x.argmax(),
}
SIDES = {"left": lambda f, number, of: f(number, of), "right": lambda f, number, of: f(of, number)}


def differences(f, h=1e-6):
    def at(t, k):
        moved = X.copy()
        moved[k] += t
        return f(moved)

    return [(at(h, k) - at(-h, k)) / (2 * h) for k in range(len(X))]


@pytest.mark.parametrize("engine", [jit_value_and_grad, value_and_grad], ids=["jit", "eager"])
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("made", LISTS)
@pytest.mark.parametrize("name", [*ARITHMETIC, *COMPARISONS])
def test_operators(name, made, side, engine):
    apply = (ARITHMETIC | COMPARISONS)[name]
    for called, number in NUMBERS.items():
        if engine is value_and_grad and called == "an index" and made in TRACED:
            continue  # plain numbers of NumPy's are in NumPy's hands there, which says so

        def f(x, number=number):
            found = SIDES[side](apply, number(x), LISTS[made](x))
            return np.sum(found * np.arange(1.0, 1.0 + found.shape[-1])) * x[0]

        value, gradient = engine(f)(X)
        assert value == pytest.approx(f(X), rel=1e-14)
        true = [f(X) / X[0], 0.0, 0.0] if name in COMPARISONS else differences(f)
        np.testing.assert_allclose(gradient, true, rtol=1e-6, atol=1e-7)


def in_place(x):
    a = [1.0, 2.0]
    a += x[0]
    c = x[1]
    c -= [1.0, x[2]]
    return np.sum(a) + np.sum(c * c)


def in_a_loop(x):
    r = 0.0
    for k in range(len(x)):
        d = x[k] - [1.5, x[0]]
        r += (d**2).sum()
    return r


def said_of_pythons(x):
    return x[1] if float(x[0]) == [1.3] or float(x[0]) != (1.3,) else x[2]


@pytest.mark.parametrize("engine", [jit_value_and_grad, value_and_grad], ids=["jit", "eager"])
@pytest.mark.parametrize("f", [in_place, in_a_loop, said_of_pythons], ids=lambda f: f.__name__)
def test_programs(f, engine):
    value, gradient = engine(f)(X)
    assert value == pytest.approx(f(X), rel=1e-14)
    np.testing.assert_allclose(gradient, differences(f), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("f", [
    lambda x: x[0] * [1.0, 2.0], lambda x: float(x[0]) + [1.0], lambda x: (1.0,) - float(x[0]),
    lambda x: float(x[0]) < [1.0],
])  # fmt: skip
def test_what_python_refuses(f):
    with pytest.raises(TypeError):
        f(X)
    with pytest.raises(JitadTypeError):
        jit(f)(X)
