"""Does a `try` with many places that may raise do what Python does, and at what cost?"""

import importlib
import math
import sys

import numpy as np
import pytest

import jitad
from jitad.trace.joins.state import Lost
from jitad.trace.trace import trace
from tests.engines import natively
from tests.sweeps.counting import length
from tests.trace import two_numbers

POINTS = [(0.7, 1.3), (1.6, -0.4), (-0.9, 0.35)]


class Large(Exception):
    def __init__(self, value):
        super().__init__(value)
        self.value = value


class Coded(Exception):
    def __init__(self, code, weight=2.0):
        super().__init__(code)
        self.code, self.weight = code, weight


def keeps_constants(x, y):
    """What an exception was given by its class is there for the handler."""
    try:
        if x > 1.0:
            raise Coded("large")
        if x < 0.0:
            raise Coded("small", 3.0)
        for k in range(40):
            if y > 1.0:
                raise Coded("grown", 1.0 + k)
            y = y * 1.2 + 0.01
    except Coded as e:
        if e.code == "small":
            return x * y * e.weight
        return x * e.weight - y
    return y


def fails_at_once(x, y):
    """Each quotient is infinite, or not a number, where the one before it was not divided."""
    try:
        a = y / (x - 0.7)
        a = 1.0 / (a - y) + a / (y - 1.3)
        b = a**3 / (x + 0.9)
        return a * b + math.log(x + 2.0)
    except ZeroDivisionError:
        return x * y


def one_of_three(x, y):
    try:
        a = math.log(x + 0.5) / y
        b = math.sqrt(y + a) - 1.0 / (a + 0.1)
        if b > 2.0:
            raise KeyError("large")
        c = math.log(b + 3.0) * math.exp(400.0 * x)
        return c ** 3
    except ValueError:
        return x * y * y
    except (KeyError, ZeroDivisionError) as e:
        return x * len(str(e)) + y
    except ArithmeticError:
        return x - y * x


def names_are_read(x, y):
    """What a name is where it was raised."""
    a = x
    try:
        a = a + 1.0 / (y - 1.3)
        a = a * math.sqrt(x)
        b = a / y
        b = b + math.log(x - 1.0)
    except (ZeroDivisionError, ValueError):
        return a * x + y
    return a * b


def passes_on(x, y):
    try:
        try:
            a = x / (y - 1.3)
            b = math.sqrt(x) * a
            c = math.log(b)
        except ZeroDivisionError:
            return 3.0 * x
        return a + b + c
    except ValueError:
        return y * y * x


def which_is_known_inside(x, y):
    """Which of two exceptions it is depends on what is computed between the checks."""
    try:
        a = 1.0 / (x - 0.7)
        b = math.sin(a) * y
        if b > 0.1:
            if x * b > y - 1.0:
                raise ValueError("first")
            raise KeyError("second")
        return a * b / (y - 1.3)
    except ValueError:
        return x * x
    except (KeyError, ZeroDivisionError):
        return y * x


def past_the_inner_handler(x, y):
    """What is known to be raised is caught around; what may have been raised before it, here."""
    try:
        try:
            if y > x:
                raise ZeroDivisionError("first")
            a = [x, y][2]
        except ZeroDivisionError:
            raise KeyError(0.5) from None
    except KeyError:
        return x * y
    except IndexError:
        return x - y * y
    return a


def carries(x, y):
    try:
        a = x * y
        b = a / (x - 0.7)
        if b > 0.1:
            raise Large(a * b)
        if b < -5.0:
            raise Large(b)
        return b * b
    except ZeroDivisionError:
        return y
    except Large as e:
        return e.value * x


def in_loops(x, y):
    total = 0.0
    for k in range(4):
        try:
            a = x / (k - 2)
            b = math.sqrt(a + y) + 1.0 / (y - 1.3)
            total += math.log(b * a)
        except ZeroDivisionError:
            total += y * x
            continue
        except ValueError:
            total -= k * x
        total *= 1.5
    return total


def written_before(x, y):
    kept = [x, y]
    try:
        kept[0] = x / y
        a = 1.0 / (x - 0.7) + math.sqrt(y)
        kept.append(a)
        kept[1] = math.log(a)
    except (ZeroDivisionError, ValueError):
        kept.append(x * 3.0)
    return sum(kept) * kept[0] + kept[1]


def yields(x, y):
    def parts():
        yield x / (y + 1.0)
        yield math.sqrt(x)
        yield 1.0 / (y - 1.3)

    total = y
    try:
        for p in parts():
            total = total + p / (x + 0.9) + math.log(p + 1.0)
    except (ZeroDivisionError, ValueError):
        return total * x
    return total


PROGRAMS = two_numbers.programs(globals())


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_derivatives(f):
    two_numbers.check(f, POINTS, 1e-3)


@pytest.mark.parametrize("f", PROGRAMS[:4], ids=lambda f: f.__name__)
def test_natively(f):
    two_numbers.check_natively(f, POINTS)


def test_what_nobody_catches_comes_first():
    def f(x, y):
        try:
            a = x / (y - 1.0)
            b = a ** 3 + math.log(y)
            return b / (x - 2.0)
        except ZeroDivisionError:
            return 7.0 * x

    run = jitad.jit(f, fallback=False)
    assert run(3.0, 1.0) == 21.0
    assert run(2.0, 3.0) == 14.0
    for args, kind in (((2.0, -1.0), ValueError), ((1e200, 3.0), OverflowError)):
        with pytest.raises(kind):
            f(*args)
        with pytest.raises(kind):
            run(*args)
    assert run(2.5, 3.0) == f(2.5, 3.0)


def test_a_long_one_tells_what_python_tells():
    """Where many checks lead to one exception, its text stays Python's."""

    def f(x, again):
        try:
            for k in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0):
                x = x / (x - k)
        except ZeroDivisionError as e:
            if again:
                raise
            return float(len(str(e)))
        return x

    for at in (1.0, 2.0, 0.5):
        assert natively(f, at, False) == f(at, False)
    with pytest.raises(ZeroDivisionError, match="float division by zero"):
        natively(f, 1.0, True)


def _written(tmp_path, n, lines):
    name = f"checks_{n}_{len(lines[0])}"
    source = ["import math", "def f(x):", "    a = x", "    try:"]
    for k in range(n):
        source += [f"        {line.format(k=k)}" for line in lines]
    source += ["    except (ZeroDivisionError, ValueError):", "        return -x", "    return a"]
    (tmp_path / f"{name}.py").write_text("\n".join(source))
    sys.path.insert(0, str(tmp_path))
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name).f
    finally:
        sys.path.remove(str(tmp_path))


@pytest.mark.parametrize("lines", [
    ["b{k} = 1.0 / (x - {k}.5)", "a = a + b{k} ** 3"],
    ["a = a + math.log(x + {k}.0) / (a + {k}.5)", "if a > 1e9: raise ValueError('{k}')"],
], ids=["quotients", "raised"])  # fmt: skip
def test_blocks_do_not_nest(tmp_path, lines):
    """The cost of each check is the same, however many come before it."""

    def deep(block):
        return 1 + max((deep(b) for e in block.equations for b in e.blocks), default=0)

    bodies = [trace(_written(tmp_path, n, lines), (0.7,), {}).tape.body for n in (20, 40, 80)]
    few, more, most = map(length, bodies)
    assert most - more <= 2.1 * (more - few)
    assert max(map(deep, bodies)) <= 5
    f = _written(tmp_path, 80, lines)
    assert natively(jitad.grad(f), 0.7) == pytest.approx(jitad.grad(f)(0.7), rel=1e-12)
    assert natively(f, 0.5) == f(0.5)


def test_mistakes_of_the_tracer_are_not_the_programs_errors(monkeypatch):
    """Else a program that catches everything would go on with a wrong value."""

    def f(x):
        try:
            if x[0] > 0.5:
                return math.erf(x[0])
        except Exception:
            return 0.0
        return x[0]

    def wrongly(*args, **kwargs):
        return Lost("").shape

    x = np.array([0.7])
    assert natively(f, x) == math.erf(0.7)
    monkeypatch.setattr("jitad.trace.flow.branches.Branches.__enter__", wrongly)
    with pytest.raises(jitad.JitadError, match="mistake"):
        trace(f, (x,), {})


def written_in_a_branch_that_happens(x, y):
    """What a block has made is there again where the block is what happens."""
    a, kept = x * y, []
    try:
        kept.append(a / x - math.log(y + x))
    except ValueError:
        kept.append(x)
    try:
        kept.append(-1.1)
        c = math.sqrt(a)
        try:
            if a >= math.exp(a):
                return math.log(a - x)
        finally:
            kept.append(x * c)
        kept.append(y)
    except ZeroDivisionError:
        c = y
    except ValueError as e:
        kept.append(len(str(e)) * 0.1 * x)
        c = x
    return sum(kept) * c


def test_arrays_that_come_back():
    two_numbers.check(written_in_a_branch_that_happens, [*POINTS, (-0.3, -0.2)], 1e-3)


def remembers(x, y):
    """What a variable that may be None is does not matter where an exception leaves its loop."""

    def root(start, steps):
        last = before = None
        for k in range(steps):
            slope = 2.0 * start
            if last is not None and before is not None and start == before:
                raise ValueError("stuck")
            if abs(slope) < 0.2 * abs(y):
                raise ZeroDivisionError("flat")
            following = start - (start * start - x * x) / slope
            start, last, before = following, start, last
            if k > 2 and abs(start - last) < 1e-12:
                return start + last * 0.1 * y
        raise ValueError("no root")

    try:
        return root(y, 5)
    except ZeroDivisionError:
        return x
    except ValueError:
        return root(x + 3.0, 40)


def test_what_may_be_none():
    two_numbers.check(remembers, [(0.7, 1.3), (1.6, -0.4), (0.9, 0.05)], 1e-3)
    two_numbers.check_natively(remembers, [(0.7, 1.3), (1.6, -0.4)])


def tells_more(x, y):
    """Exceptions whose texts, or arguments, are of other numbers on each path."""

    def root(start, steps):
        for k in range(steps):
            error = start * start - x * x
            if error != error or abs(error) > 3.0:
                if k == 0:
                    if error > 0.0:
                        raise ValueError(f"step {k}: {start:f}, {error:f}")
                    raise ValueError(f"step {k}: {start:f}")
                for part in (0.5, 0.25):
                    start = start * part + 0.1
                    if abs(start) < 1.0:
                        break
                else:
                    raise ArithmeticError(start, error, k)
                if start < -5.0:
                    raise ArithmeticError(start)
            start = start - 0.5 * error / start
        return start

    try:
        return root(y, 4)
    except ValueError:
        return x * y
    except ArithmeticError:
        return y


def test_texts_of_other_lengths():
    points = [(0.7, 1.3), (1.6, -0.4), (0.3, 2.5), (2.2, 0.2)]
    two_numbers.check(tells_more, points, 1e-3)
    two_numbers.check_natively(tells_more, points[:2])
