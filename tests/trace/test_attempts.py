"""Are exceptions that depend on traced values caught as in Python?

Plain Python says what is right, on each side of every condition.
"""

import contextlib
import math

import numpy as np
import pytest

import jitad
from jitad.errors import JitadError
from tests.engines import natively, on_tape
from tests.trace import two_numbers
from tests.trace.running import check


class TooLarge(Exception):
    def __init__(self, value, place):
        super().__init__(value)
        self.value, self.place = value, place


def division(x, y):
    try:
        z = 1.0 / max(x - y, 0.0)
    except ZeroDivisionError:
        z = 5.0 * x
    return z * y


def returned_from_within(x, y):
    try:
        return math.log(x - y) * y
    except ValueError:
        return x * y


def raised_by_hand(x, y):
    try:
        if x > y:
            raise ValueError("large")
        z = x * x
    except ValueError as e:
        z = 3.0 * x + len(e.args[0])
    return z + y


def with_else(x, y):
    try:
        z = math.sqrt(x - y)
    except ValueError:
        z = y
    else:
        z = z * x + 1.0
    return z


def one_of_several(x, y):
    try:
        if x > 1.5:
            raise KeyError("k")
        if x > 1.0:
            raise ValueError("v")
        z = math.sqrt(x + 1.0) * y
    except KeyError:
        z = 2.0 * x
    except (ValueError, TypeError) as e:
        z = 3.0 * x * y if "v" in str(e) else 4.0 * x
    return z


def what_it_carries(x, y):
    def total(values, most):
        s = 0.0
        for k in range(len(values)):
            if s > most:
                raise TooLarge(s * x, k)
            s += values[k] * x
        return s

    values = np.linspace(0.5, 3.0, 9)
    try:
        s = total(values, 4.0 * y)
    except TooLarge as e:
        s = 10.0 * e.value + e.place
    return s


def variables_as_they_were(x, y):
    z, w = y, x
    try:
        z = x * 2.0
        if x > y:
            z = z * 3.0
            w = math.sqrt(1.2 - x)
            z = z + 1.0
        w = w + z
    except ValueError:
        w = 7.0 * w
    return z * w


def writes_before_it_stay(x, y):
    out, n = np.zeros(8), 0
    try:
        for i in range(8):
            out[i] = x * i
            out[i] += math.sqrt(2.0 - x * i) * y
            n = i
    except ValueError:
        out[n] *= 10.0
    return out @ np.arange(1.0, 9.0) + n


def inside_a_loop(x, y):
    s = y
    for i in range(12):
        try:
            s += math.log(x - 0.2 * i)
        except ValueError:
            s += 0.3 * i * x
            continue
        s *= 1.1
    return s


def left_by_a_break(x, y):
    k, v = 0, x
    while True:
        try:
            if v > 4.0:
                raise StopIteration
            if v < -4.0:
                raise TooLarge(v, k)
            v = v * 1.7 - 0.1 * y
            k += 1
        except StopIteration:
            break
        except TooLarge as e:
            return e.value * e.place
    return v * k


def out_of_bounds(x, y):
    a = np.array([x, y, x * y])
    table = [y, x]
    try:
        return a[int(3.0 * x)] * 2.0
    except IndexError:
        try:
            return table[int(x)]
        except IndexError:
            return -x * y


def cleaned_up(x, y):
    log = [0.0]
    try:
        try:
            z = math.log(x - y)
        finally:
            log[0] += x
        log[0] += 5.0 * x
    except ValueError:
        z = -x
    return z + log[0]


def raised_again(x, y):
    try:
        try:
            z = math.log(x - y)
        except ValueError:
            if x > 0.0:
                raise
            z = 2.0 * x
    except ArithmeticError:
        z = 0.0
    except ValueError:
        z = 4.0 * x * y
    return z


def raised_in_the_handler(x, y):
    try:
        try:
            z = 1.0 / max(x - y, 0.0)
        except ZeroDivisionError as e:
            raise TooLarge(x * y, 3) from e
    except TooLarge as e:
        z = e.value * e.place
    return z


def asserted(x, y):
    try:
        assert x > y, "small"
        z = x * x
    except AssertionError:
        z = y * x
    return z


def caught_whatever_it_is(x, y):
    try:
        z = math.sqrt(x - y) + 1.0 / max(x, 0.0)
    except Exception:
        z = x * y * 3.0
    return z


def from_far_below(x, y):
    def inner(v):
        for k in range(4):
            if v * k > y:
                return math.sqrt(1.0 - v * k)
        return v

    def outer(v):
        total = 0.0
        for k in range(5):
            if k != 2:
                total += inner(v * k)
        return total * v

    try:
        return outer(x)
    except ValueError:
        return x * x * y


def which_of_two_on_one_path_only(x, y):
    a, b = np.array([x, y, 1.0]), np.array([y, x, y])
    if y < 0.3:
        x = y
    else:
        try:
            y = y * y
            if x < y:
                raise KeyError
            if x <= 2.0:
                b[a > x] = x
                b[int(2.0 * x)] += x * y
        except (LookupError, ValueError):
            b[0] = x * x
    return x + y + b @ np.arange(1.0, 4.0)


def two_in_a_row(x, y):
    s = 0.0
    for limit in (0.5, 1.0, 1.5):
        try:
            s += math.sqrt(limit - x) * y
        except ValueError:
            s -= x * limit
    return s


def temporaries_of_an_iteration_written_out(x, y):
    s = y
    for e in (x, y, x * y):
        try:
            s += math.sqrt(4.0 + e)
            if e < 1.0:
                small = math.sqrt(e + 2.0)
            else:
                small = e * y
            if small < x:
                raise KeyError
            s += small
        except (ValueError, KeyError):
            s *= 0.5 * e
    return s


def temporaries_of_a_handler_written_out(x, y):
    s = x
    for e in (x, y, x - y):
        if e > x * y:
            try:
                if e > 0.5 * y:
                    raise ValueError
                part = e * x
                if part > 0.7:
                    raise ValueError
            except ValueError:
                part = 0.3 * x
            s += part * e
    return s


def one_of_two_in_a_while(x, y):
    k, s = 0, y
    try:
        while k < 6 and math.sqrt(s + 0.5) < 3.0 * x + 2.0:
            k += 1
            s += math.sqrt(2.2 - k * x) - 0.3 * y
    except ValueError:
        s = x * s
    return s * k


def one_of_two_that_carry_values(x, y):
    k, s = 0, y
    try:
        while s < 4.0:
            k += 1
            if s > 2.0 * x:
                raise TooLarge(s * x, k)
            if k > 3:
                raise KeyError(k, s * y)
            s = s * 1.3 + 0.1 * x
    except TooLarge as e:
        s = e.value * e.place
    except KeyError as e:
        s = e.args[1] * e.args[0] * x
    return s


class Counter:
    def __init__(self):
        self.left = 0.0

    def __enter__(self):
        self.left += 1.0
        return self

    def __exit__(self, *_):
        self.left += 10.0


def leaves_a_with(x, y):
    counter, z = Counter(), y
    try:
        with counter as c:
            c.left += 100.0
            z = math.sqrt(x - y)
            c.left += 1000.0 * x
    except ValueError:
        z = x
    return z * counter.left


def a_loop_variable_that_an_inner_loop_leaves(x, y):
    """Its value after the inner loop matters to nobody, and may be of the loop's own block."""
    total = 0.0
    for k in range(6):
        try:
            if x > 2.0 * y:
                continue
            if k < x:
                raise ValueError
            try:
                for e in np.array([x, y, x, y, x, y]):
                    k = e
            except KeyError:
                pass
        except ValueError:
            total += x * y
    return total + x


def a_branch_that_goes_on_before_one_that_raises(x, y):
    """Whether the round is over matters to nobody behind the branches that say so."""
    total = x
    try:
        for _ in range(3):
            if y < 0.3:
                total += y
            elif x > 0.1:
                if True:
                    if x * y > 2.0:
                        continue
                    if total > 9.0:
                        raise ValueError
                total *= y
    except ValueError:
        total -= x
    return total * x


PROGRAMS = two_numbers.programs(globals())
POINTS = [(1.31, 0.4), (0.6, 1.7), (-0.53, 0.2), (2.6, 1.1)]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_derivatives(f):
    two_numbers.check(f, POINTS, 0.001)


@pytest.mark.parametrize("f", PROGRAMS[::5], ids=lambda f: f.__name__)
def test_natively_to_second_order(f):
    two_numbers.check_natively(f, POINTS[:3])


def test_what_nobody_catches_is_raised():
    def f(x):
        try:
            if x > 2.0:
                raise TooLarge(x * x, 2)
            return math.log(x)
        except ValueError:
            return 0.0

    compiled = jitad.jit(f)
    assert compiled(-1.0) == 0.0 and compiled(1.5) == math.log(1.5)
    with pytest.raises(TooLarge) as caught:
        compiled(3.0)
    assert caught.value.value == 9.0


def test_what_jitad_refuses_is_not_caught():
    def f(x):
        try:
            return np.real_if_close(x).sum()
        except Exception:
            return x.sum()

    with pytest.raises(JitadError, match="real_if_close is not supported"):
        on_tape(f, np.ones(2))


def test_a_context_manager_that_looks_at_the_exception():
    @contextlib.contextmanager
    def or_nothing():
        try:
            yield
        except KeyError:
            pass

    def f(x):
        try:
            with or_nothing():
                return math.log(x)
        except ValueError:
            return 0.0
        return 1.0

    with pytest.raises(JitadError, match="passes through a `with`"):
        on_tape(f, 2.0)


def test_exceptions_that_are_suppressed():
    def f(x, y):
        t = x
        try:
            with contextlib.suppress(ValueError), contextlib.suppress(IndexError):
                t = t + math.sqrt(x)
                if y < 0.0:
                    raise KeyError
                v = t * 2.0
                if y > 2.0:
                    raise IndexError
                t = t + v
            t = t * 3.0
        except KeyError:
            t = t * 5.0
        for _ in range(3):
            with contextlib.suppress(ZeroDivisionError, IndexError):
                t += 1.0 / (y - 1.0)
                continue
            t -= 0.5
        return t

    check(f, 2.0, 0.5, others=[(x, y) for x in (2.0, -2.0) for y in (-1.0, 0.5, 1.0, 3.0)])


def test_a_name_that_is_bound_unless_an_exception_is_suppressed():
    def f(x):
        with contextlib.suppress(ValueError):
            v = math.sqrt(x)
        return v

    for run in (jitad.grad(f), jitad.jit_grad(f)):
        assert run(4.0) == 0.25
        with pytest.raises(UnboundLocalError, match="local variable 'v'"):
            run(-4.0)


def test_a_path_that_ends_in_what_nobody_catches():
    """Where the other paths have left before, for the handler."""

    def f(x):
        try:
            z = math.sqrt(x)
            if x > 1.0:
                raise KeyError
            raise TypeError
        except ValueError:
            z = 3.0 * x
        return z

    for derivative in (f, jitad.grad(f)):
        assert natively(derivative, -1.0) == derivative(-1.0)
        for x, kind in ((0.5, TypeError), (2.0, KeyError)):
            with pytest.raises(kind):
                on_tape(derivative, x)
