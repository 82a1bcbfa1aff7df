"""Does a `match` take the cases that Python takes, whatever is traced of its subject and guards?"""

import linecache
import numbers
from dataclasses import dataclass

import numpy as np
import pytest
from numpy import ndarray

from jitad import grad, jit_value_and_grad, value_and_grad
from tests.engines import on_tape
from tests.truth import differences


@dataclass
class Scaled:
    by: float


def evaluated(e, x):
    match e:
        case bool():
            return 100.0
        case float() | int():
            return e
        case Scaled(by=float(k)):
            return k * x
        case ("+", a, b):
            return evaluated(a, x) + evaluated(b, x)
        case ("*", [*factors]):
            p = 1.0
            for f in factors:
                p *= evaluated(f, x)
            return p
        case str("x"):
            return x
        case ndarray():
            return e @ e
        case numbers.Number():
            return 7.0 * x
        case Nowhere():  # noqa: F821  # never asked
            return -1.0
    raise TypeError(e)


def expression(x, y):
    term = ("*", ["x", y, 2, Scaled(x)])
    return evaluated(("+", term, ("+", np.array([x, y]), ("+", np.float32(2), True))), x)


def by_classes(x, y):
    total = 0.0
    for v in (x, 3, np.array([y]), [y], (x, y), np.float64(2.0), 1j, None, "s"):
        match v:
            case np.floating():
                total += 2.0 * x * v
            case int(k):
                total += k * x
            case float(k):
                total += k * y
            case ndarray():
                total += v[0] ** 3
            case [p]:
                total += p
            case [p, q]:
                total += p * q
            case complex():
                total += x
            case _:
                total *= 1.1
    return total


def guards(x, y):
    p = (x, y)
    for k in range(6):
        match p:
            case (a, b) if a > b:
                p = (b, a * a)
            case (a, b) if a < 0.1:
                if k == 1:
                    break
                continue
            case (a, b):
                p = (a + b, a * b)
    match k:
        case 2 | 5 if p[0] > 1.0:
            return p[0] * p[1]
        case j if j == 1:
            return -p[0]
    return p[0] - p[1]


def states(x, y):
    """A machine whose state is a number that conditions decide."""
    state, total = 0, 0.0
    for v in (x, y, x * y, x + y, 0.3, x - y):
        match state:
            case 0 if v > 1.0:
                state = 1
            case 0 | 2:
                total += v * v
                state = 2 if total > 1.0 else 0
            case -1:
                total = 100.0
            case _:
                total += v
                state = 0
    return total + state * x


@pytest.mark.parametrize("f", [expression, by_classes, guards, states], ids=lambda f: f.__name__)
@pytest.mark.parametrize("at", [(0.5, 2.0), (2.0, 0.7), (0.05, 1.2), (1.4, 1.3)])
def test_like_python(f, at):
    for run in (on_tape, lambda g, *a: g(*a)):
        value, slopes = run(value_and_grad(f, (0, 1)), *at)
        assert value == pytest.approx(f(*at), rel=1e-13)
        for k, slope in enumerate(slopes):
            expected, _ = differences(f, at, (k,), [1.0], step=1e-3)
            assert slope == pytest.approx(expected, rel=1e-7, abs=1e-9)


def test_an_unknown_class_is_an_error_when_its_turn_comes():
    def f(x):
        match {"a": x}:
            case Nowhere():  # noqa: F821
                return x
        return -x

    for run in (on_tape, lambda g, *a: g(*a)):
        with pytest.raises(NameError, match="Nowhere"):
            run(grad(f), 2.0)


def test_a_long_chain_of_elifs_in_a_function_that_has_nothing_else():
    """CPython nests blocks no deeper than twenty."""
    tests = "\n".join(f"    {'elif' if k else 'if'} x < {k}.5:\n        y = x * {k}.0"
                      for k in range(30))  # fmt: skip
    text = f"def f(x):\n    y = 0.0\n{tests}\n    return y\n"
    linecache.cache["<elifs>"] = (len(text), None, text.splitlines(True), "<elifs>")
    space: dict = {}
    exec(compile(text, "<elifs>", "exec"), space)
    for run in (on_tape, lambda g, *a: g(*a)):
        assert run(grad(space["f"]), 25.7) == 26.0
        assert run(grad(space["f"]), 3.7) == 4.0


# -- objects from outside -------------------------------------------------------------------------


@dataclass
class Circle:
    r: float


@dataclass
class Box:
    a: float
    n: int = 1
    points: object = None


class Rod:
    __slots__ = ("long",)
    __match_args__ = ("long",)

    def __init__(self, long):
        self.long = long


SHAPES = [
    Circle(2.0), Circle(3.0), Box(2.0), Box(3.0), Box(2.0, 4), Box(2.0, 5), Box(3.0, 5), Rod(1.5),
    Box(1.0, 1, np.array([5.0])), Box(1.0, 1, np.array([6.0])), Rod(2.5), Circle(4.0),
    Box(1.0, 1, Circle(7.0)), Box(1.0, 1, Circle(8.0)), Box(1.0, 1, [Rod(2.0), Circle(3.0)]),
    Box(1.0, 1, [Rod(4.0), Circle(5.0)]), Box(1.0, 1, {"in": Rod(3.0)}),
    Box(1.0, 1, {"in": Rod(4.0), "more": 1}),
]  # fmt: skip
there = SHAPES[0]


def size(s, x):
    match s:
        case Circle(r=r):
            return r * x
        case Box(a, n) if n > 1:
            return a * n * x * 10.0
        case Box(points=Circle(r) as inner):
            return (r + inner.r) * x
        case Box(a=a, points=ndarray() as p):
            return a * x * p[0]
        case Box(points=[Rod(u), *rest]) | Box(points={"in": Rod(u), **rest}):
            return u * x * (1.0 + len(rest))
        case Box() as b:
            return b.a * x * 0.5
        case Rod(long):
            return x**long
    return x


OVER = {
    "itself": lambda x: size(there, x),
    "in a list": lambda x: in_a_list([there, x]),
    "in a tuple": lambda x: in_a_list((there, x)),
}


def in_a_list(pair):
    match pair:
        case [Circle(r) | Rod(r), y]:
            return r * y
        case [shape, *rest]:
            return size(shape, rest[0])


@pytest.mark.parametrize("how", OVER)
def test_objects_from_outside_are_seen_to_change(how):
    global there
    f = OVER[how]
    compiled, eager = jit_value_and_grad(f, fallback=False), value_and_grad(f)
    for shape in SHAPES:
        there = shape
        for engine in (compiled, eager):
            value, slope = engine(1.25)
            assert value == f(1.25)
            h = 1e-6
            assert slope == pytest.approx((f(1.25 + h) - f(1.25 - h)) / (2 * h), rel=1e-7)
    there = SHAPES[0]
    for r in (5.0, 6.0):  # changed in place
        there.r = r
        assert compiled(1.25)[0] == f(1.25)
    there.r = 2.0


def test_arguments_that_are_objects():
    compiled = jit_value_and_grad(lambda x, s: size(s, x), fallback=False)
    for s in SHAPES[:-6]:
        assert compiled(1.25, s)[0] == size(s, 1.25)


def test_names_are_bound_to_the_things_themselves():
    inner, outer = Circle(2.0), Box(1.0)
    outer.points = inner
    held = [Rod(1.0), inner]
    table = {"box": outer, "rod": held[0]}

    def f(x):
        match outer:
            case Box(points=Circle() as c) as b:
                same = c is inner and b is outer
                c.r = 3.0 * x
        match held:
            case [Rod(_), *rest] as whole:
                same = same and whole is held and rest[0] is inner
        match table:
            case {"box": Box(a=_) as b, **others}:
                same = same and b is outer and others["rod"] is held[0] and len(others) == 1
        return x * inner.r if same else -x

    for engine in (jit_value_and_grad(f, fallback=False), value_and_grad(f)):
        inner.r = 2.0
        assert engine(1.5) == (3.0 * 1.5**2, 6.0 * 1.5)
        assert inner.r == 4.5
