"""Are exceptions caught that a recursion raises, or a function of which a derivative is taken?

Plain Python says what is right, on each side of every condition.
"""

import math

import numpy as np
import pytest

import jitad
from jitad.errors import JitadError
from tests.engines import on_tape
from tests.trace import two_numbers


class TooDeep(Exception):
    def __init__(self, value, depth):
        super().__init__(value)
        self.value, self.depth = value, depth


class Missing(Exception):
    pass


# -- recursion ------------------------------------------------------------------------------------


def logarithm_below(x, y):
    def down(v, k):
        if v < 0.5:
            return math.log(v) * y
        return down(v - y, k + 1) * v

    try:
        return down(x, 0)
    except ValueError:
        return 3.0 * x * y


def caught_at_each_level(x, y):
    def down(v, k):
        if k == 0:
            return math.sqrt(v)
        try:
            return 2.0 * down(v - y, k - 1)
        except ValueError:
            return v * k

    return down(x, int(4.0 * y) + 1)


def caught_at_some_levels(x, y):
    def down(v, k):
        if v < 0.0:
            raise Missing
        if k == 0:
            return v * y
        if k > 2:
            return down(v - y, k - 1) * v
        try:
            return down(v - 0.5, k - 1) + v
        except Missing:
            return v * v

    try:
        return down(x, 5)
    except Missing:
        return x - y


def carries_values(x, y):
    def down(v, k):
        if v > 10.0 * y:
            raise TooDeep(v * x, k)
        if k > 6:
            return v
        return down(v * 1.5 + y, k + 1) * 0.9 + x

    try:
        return down(x, 0)
    except TooDeep as e:
        return e.value * (e.depth + 1.0)


def one_of_several(x, y):
    def down(v, k):
        if v > 6.0:
            raise TooDeep(v * y, k)
        if k > 5:
            raise Missing("no more")
        if v < 0.0:
            return math.sqrt(v)
        return down(v * 1.5 - y, k + 1) + x

    try:
        return down(x, 0)
    except TooDeep as e:
        return e.value * e.depth
    except Missing as e:
        return x * len(e.args[0])
    except ValueError:
        return y * y * x


def rethrown_on_the_way(x, y):
    def down(v, k):
        if v < 0.0:
            raise TooDeep(v, k)
        try:
            return down(v - y, k + 1)
        except TooDeep as e:
            if e.depth > 4:
                return e.value * v
            raise TooDeep(e.value * v, e.depth) from e

    try:
        return down(x, 0)
    except TooDeep as e:
        return e.value * x


def ends_by_an_exception_only(x, y):
    def down(v, k):
        w = math.sqrt(v) + k
        return down(v - y * y - 0.1, w)

    try:
        return down(x, y)
    except ValueError:
        return x * y


def writes_before_it_stay(x, y):
    seen = np.zeros(12)

    def down(v, k):
        seen[k] = v * x
        if v < 0.0:
            raise Missing
        return y if k > 7 else down(v - 0.3, k + 1) * v

    try:
        s = down(x, 0)
    except Missing:
        s = x
    return s + seen @ np.arange(1.0, 13.0)


def two_that_call_each_other(x, y):
    def even(v, k):
        if v < 0.0:
            raise Missing
        return odd(v - y, k + 1) * v

    def odd(v, k):
        try:
            return even(v * 0.9, k + 1) + v
        except Missing:
            if k > 3:
                raise
            return v * k

    try:
        return even(x, 0)
    except Missing:
        return x * y


def cleaned_up(x, y):
    closed = [0.0]

    def down(v, k):
        try:
            if v < 0.0:
                raise Missing
            return v if k > 4 else down(v - y, k + 1) * v
        finally:
            closed[0] += v

    try:
        s = down(x, 0)
    except Missing:
        s = x
    return s + closed[0]


def of_a_list(x, y):
    a = np.array([x, y, x * y, 1.0])

    def walk(k, s):
        return walk(k + 1, s * 1.1 + a[k])

    try:
        return walk(0, x)
    except IndexError:
        return a.sum() * y


# -- derivatives ----------------------------------------------------------------------------------


def slope_of_a_root(x, y):
    try:
        return jitad.grad(lambda t: math.sqrt(t - 1.0) * y)(x)
    except ValueError:
        return 0.5 * x * y


def value_of_a_forward_derivative(x, y):
    try:
        v, t = jitad.jvp(lambda t: math.log(t - y) * t, (x,), (y,))
    except ValueError:
        v, t = x, y
    return v * t


def pullback(x, y):
    try:
        v, back = jitad.vjp(lambda t, u: (math.sqrt(t - u), t * u), x, y)
        a, b = back((x, 1.0))
        return v[0] * a + b
    except ValueError:
        return x + y


def raised_by_hand_inside(x, y):
    def f(t):
        s = t
        for k in range(5):
            if s > 3.0 * y + 1.0:
                raise TooDeep(s * t, k)
            s = s * t + 0.5
        return s

    try:
        return jitad.value_and_grad(f)(x)[1]
    except TooDeep as e:
        return e.value * e.depth


def derivative_of_a_derivative(x, y):
    def slope(u):
        try:
            return jitad.derivative(lambda t: math.sqrt(t - y) * u)(u)
        except ValueError:
            return u * u * y

    return jitad.derivative(slope)(x)


def caught_inside_and_outside(x, y):
    def f(t):
        try:
            s = math.sqrt(t - 1.0)
        except ValueError:
            s = t * y
        if s > 1.2:
            raise Missing
        return s * t

    try:
        return jitad.grad(f)(x)
    except Missing:
        return x


def gradient_of_a_recursion(x, y):
    def down(v, k):
        if v < 0.0:
            raise Missing
        return v * v if k > 2 else down(v - y, k + 1) * v

    try:
        return jitad.grad(lambda t: down(t, 0))(x)
    except Missing:
        return x * y


def what_it_wrote_stays(x, y):
    class Log:
        total = 0.0

    log = Log()

    def f(t):
        log.total = log.total + 2.0 * y
        if t > 1.0:
            raise Missing
        return t * t

    try:
        s = jitad.grad(f)(x)
    except Missing:
        s = x
    return s + log.total * x


def in_a_loop(x, y):
    s = 0.0
    for k in range(8):
        try:
            s += jitad.derivative(lambda t, k=k: math.log(t - 0.3 * k))(x)
        except ValueError:
            s += k * y
    return s


# -- what changes places in a loop ----------------------------------------------------------------


def arrays_that_change_places(x, y):
    """Where the inner loop raises, what the outer one has exchanged is of no importance."""
    a, b = np.array([x, 0.3]), np.array([0.4, y])
    try:
        c = b
        if x < y:
            raise ValueError
        for i in range(6, 1, -1):
            if x > 0.3 * i:
                c += 0.2 * x
                for v in b:
                    if math.sqrt(v - 0.1) > 0.7:
                        break
            elif y > 0.2 * i:
                c, a = a, c
            else:
                y = 0.3 * y
    except ValueError:
        y = y * y
    return x + y + np.sum(a * a) * y


def one_of_two_lists(x, y):
    a, b, total = [x, 1.0], [y, 2.0], 0.0
    try:
        for i in range(4):
            if x > 0.5 * i:
                a, b = b, a
                for v in a:
                    total += math.log(v - 0.3)
            elif y > 0.2 * i:
                a[0] = a[0] * y
    except ValueError:
        total = total + y
    return total * a[0] + b[0]


def returned_by_a_generator(x, y):
    try:
        for v in (x, y):
            if v > 1.0:
                raise StopIteration(v * y)
    except StopIteration as e:
        return e.value * x + len(e.args)
    return y


def a_function_made_in_it_that_sees_what_the_handler_writes(x, y):
    """The function's variables are read in the handler's block, after what it wrote."""
    a = np.array([x, y, x * y, 2.0])
    v = a[3:0:-1]
    try:

        def seen(k):
            return v[k] if k < 3 else seen(k - 1)

        if x > 1.0:
            raise ValueError(y)
    except ValueError:
        a[1:] += 0.2 * a[0:3]
    return x + np.sum(v * np.arange(1.0, 3.5)) + a[1] * x


PROGRAMS = two_numbers.programs(globals())
POINTS = [(1.31, 0.4), (0.6, 1.7), (-0.53, 0.2), (2.6, 1.1), (3.7, 0.35)]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_derivatives(f):
    two_numbers.check(f, POINTS, 0.001)


@pytest.mark.parametrize("f", PROGRAMS[::5], ids=lambda f: f.__name__)
def test_natively_to_second_order(f):
    two_numbers.check_natively(f, POINTS[:3])


def test_what_this_caller_does_not_catch_is_raised():
    def down(v, k):
        if v < 0.0:
            raise TooDeep(v * k, k)
        return v if k > 4 else down(v - 1.0, k + 1)

    def f(x):
        try:
            first = down(x, 0)
        except TooDeep:
            first = 0.0
        try:
            return first + down(x - 2.0, 1)
        except Missing:
            return 0.0

    compiled = jitad.jit(f)
    assert compiled(7.5) == 2.5 + 1.5
    with pytest.raises(TooDeep) as caught:
        compiled(3.5)
    assert (caught.value.value, caught.value.depth) == (-0.5 * 3, 3)


def test_outside_of_a_function_with_rules():
    root = jitad.custom_jvp(lambda x: math.sqrt(x))
    root.defjvp(lambda p, t: (root(*p), t[0] / (2.0 * root(*p))))

    def f(x):
        try:
            return root(x)
        except ValueError:
            return 0.0

    assert on_tape(f, -2.0) == 0.0
    with pytest.raises(JitadError, match="can't be caught outside of a function with derivative"):
        on_tape(jitad.grad(f), 2.0)
