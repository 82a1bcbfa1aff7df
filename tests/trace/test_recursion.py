"""Do functions that call themselves on traced values become functions that do the same?"""

import copy
import functools
import math
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import jitad
from jitad.errors import JitadRecursionError
from jitad.tape.ir import CALLS, walk
from tests.engines import natively, on_tape
from tests.trace.running import traced
from tests.trace.test_errors import refusal
from tests.truth import differences


def slopes(f, x):
    """The derivative by all engines and modes, which agree; and differences of the function."""
    ways = [jitad.grad(f), jitad.derivative(f)]
    found = [g(x) for g in ways]
    found += [engine(g, x) for g in ways for engine in (on_tape, natively)]
    np.testing.assert_allclose(found, found[0], rtol=1e-12)
    expected, error = differences(f, (x,), (0,), [1.0])
    assert abs(found[0] - expected) <= 1e-6 * abs(expected) + 10 * error
    return found[0]


def agree(f, *args):
    want = f(*copy.deepcopy(args))
    for engine in (on_tape, natively):
        assert np.allclose(engine(f, *copy.deepcopy(args)), want, rtol=1e-13)


# -- writing --------------------------------------------------------------------------------------


def test_one_array_in_all_calls_is_written_where_it_is():
    def f(x):
        a = np.array([x, 2.0, 3.0])
        view = a[1:]

        def go(b, n):
            b[0] = b[0] * x + view[0]
            view[1] += b[0]
            return a[2] if n > x else go(b, n + 1.0) + a[0] * 0.1

        return go(a, 0.0) + view[1]

    agree(f, 2.5)
    slopes(f, 2.5)


def test_arrays_that_differ_are_written_for_the_caller():
    def f(x):
        a = np.array([x, 2.0, 3.0, 4.0])

        def go(b, n):
            b[0] = b[0] * x + 1.0
            if n < 2.0:
                go(b[1:], n + 1.0)

        go(a, 0.0)
        return np.sum(a * a)

    agree(f, 2.5)
    slopes(f, 2.5)


def test_an_array_that_is_given_and_read_under_its_own_name():
    def f(x):
        a = np.array([x, 2.0, 3.0, 4.0])

        def go(b, n):
            b[0] = b[0] * x
            return a[1] if n > 1.0 else go(b[1:], n + 1.0)

        return go(a, 0.0)

    want = f(1.5)
    try:
        assert natively(f, 1.5) == want
    except jitad.JitadError as e:
        assert "this array may be the same" in str(e)


def test_a_result_that_may_be_an_argument_is_not_a_copy_of_it():
    def f(x):
        a = np.array([x, 2.0, 3.0, 7.0])

        def go(p, n):
            return p if n > x else go(p[1:], n + 1.0)

        r = go(a, 0.0)
        r[0] = x * x
        return np.sum(a)

    assert "may be the same" in refusal(f, 1.5)


def test_objects_and_variables_outside_are_written():
    class Counter:
        total = 0.0

    def f(x):
        counter, last = Counter(), x

        def go(z):
            nonlocal last
            counter.total += z
            last = last * 0.5 + z
            return z if z < 1.0 else math.sin(go(z / 2)) * counter.total

        return go(x) * counter.total * last

    agree(f, 7.5)
    slopes(f, 7.5)


def test_an_object_of_the_callers_is_written_once():
    class Counter:
        calls = 0.0

    counter = Counter()

    def go(z):
        counter.calls += 1.0
        return z if z < 1.0 else go(z / 2) * 1.5

    compiled = jitad.jit(go)
    compiled(7.5)
    counter.calls = 0.0
    assert compiled(7.5) == go(7.5)
    assert counter.calls == 8.0  # four each


# -- what else a call may do ----------------------------------------------------------------------


def test_prints_happen_once_and_in_order(capfd):
    def f(z):
        print("at", z)
        return z if z < 1.0 else math.sin(f(z * 0.5))

    f(2.5)
    want = capfd.readouterr().out
    gradient = jitad.jit_value_and_grad(f)
    for _ in range(2):
        gradient(2.5)
        assert capfd.readouterr().out == want


def test_exceptions_of_the_program():
    def f(z):
        if z < -1.0:
            raise ValueError("too low")
        return z if z < 1.0 else f(z * 0.5) * math.sqrt(z - 1.5)

    agree(f, 1.9)
    for g in (jitad.jit(f), jitad.jit_grad(f)):
        with pytest.raises(ValueError, match="too low"):
            g(-2.0)
        with pytest.raises(ValueError, match="math domain"):
            g(1.2)


def test_two_functions_that_call_each_other():
    def f(x):
        def one(z):
            return z if z < 1.0 else one(z * 0.5) + other(z * 0.3) * x

        def other(z):
            return z * z if z < 0.5 else other(z * 0.25) * one(z * 0.6) + z

        return one(x)

    agree(f, 7.0)
    slopes(f, 7.0)


def test_static_arguments_still_unfold():
    def f(x, n=6):
        return 1.0 if n == 0 else x * f(x, n - 1)

    compiled = jitad.jit(f)
    compiled(1.5)
    assert "call" not in compiled.tape()


# -- derivatives ----------------------------------------------------------------------------------


def test_derivatives_of_derivatives():
    def f(x):
        return x * x if x < 1.0 else np.sin(f(0.5 * x)) + x

    for op in (
        lambda f: jitad.derivative(jitad.derivative(f)),
        lambda f: jitad.grad(jitad.grad(f)),
        lambda f: jitad.grad(jitad.derivative(jitad.grad(f))),
    ):
        want = op(f)(5.0)
        assert math.isclose(on_tape(op(f), 5.0), want, rel_tol=1e-12)
        assert math.isclose(natively(op(f), 5.0), want, rel_tol=1e-12)


def test_value_and_gradient_are_one_recursion_where_they_can_be():
    def f(x):
        return x if x < 1.0 else 2.0 * f(0.5 * x) + x

    gradient = jitad.jit_value_and_grad(f)
    gradient(5.0)
    from jitad.specialise.pipeline import specialise

    plain = specialise(gradient._latest().tape)
    (function,) = plain.functions.values()
    assert sum(e.op in CALLS for e in walk(function.body)) == 1


def test_what_is_computed_before_and_after_a_recursion_that_runs_again():
    """Its forward part shares nothing with later code, whose adjoints are complete by then."""

    def f(x):
        def power(k):
            return x if k < 1 else power(k - 1) * np.sin(x) * (x * 3.0)

        n = 2 if x > 0 else 3
        s = power(n) + np.sin(x) * (x * 3.0) if x < 5 else x
        return s + x * 3.0 + np.sin(x) * x

    slopes(f, 0.7)

    def g(x):
        a = np.array([x, x * x, 2.0])
        b = np.ones(3)
        if x < 5.0:
            b[1:] += 0.2 * a[1:]

            def count(k):
                return x if k > 3.0 else count(k + x)

            b[0] = count(x)
        return np.sum(a * np.arange(1.0, 3.5)) + np.sum(b * np.arange(1.0, 3.5))

    slopes(g, 0.7)


@functools.cache
def legendre(n, x):
    if n < 2:
        return x if n else 1.0
    return ((2 * n - 1) * x * legendre(n - 1, x) - (n - 1) * legendre(n - 2, x)) / n


def test_functions_that_remember_their_results():
    """Traced numbers are keys as well: a block remembers what it computed, or one around it."""

    def f(x):
        s = legendre(5, x) * x if x > 0.2 else legendre(4, x)
        for _ in range(3):
            s += legendre(3, x) * legendre(2, s)
        return s + legendre(4, x)

    slopes(f, 0.3)
    slopes(f, 0.1)
    g = jitad.jit(lambda x: legendre(40, x))
    assert abs(g(0.3) - legendre(40, 0.3)) < 1e-14
    assert g.source.count("\n") < 200  # not one line a path


def test_zeros_stay_symbolic_across_calls():
    def f(x):
        def go(z, unused, n):
            if n > 3.0:
                return z * z
            return go(z * 1.1, math.log(unused), n + 1.0) * 1.0

        return go(x, float("inf"), 0.0)

    assert slopes(f, 2.0) == pytest.approx(4.0 * 1.1**8)


def test_recursion_through_a_derivative_of_itself_is_refused():
    def f(x, n):
        return x * x if n > x else jitad.grad(lambda y: f(y, n + 1.0))(x)

    assert "through a derivative of itself" in refusal(f, 1.5, 0.0)


# -- depth ----------------------------------------------------------------------------------------


def depth(x, n):
    return x if n == 0 else depth(x, n - 1) * 1.0 + 1.0


def test_too_deep_is_an_error_on_every_thread():
    compiled = jitad.jit(depth)
    assert compiled(1.0, 1000) == 1001.0
    outcomes = []

    def run():
        try:
            compiled(1.0, 10**9)
        except RecursionError as e:
            outcomes.append(e)
        outcomes.append(compiled(1.0, 500))

    run()
    before = threading.stack_size(1 << 18)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert [type(o) for o in outcomes] == [JitadRecursionError, float] * 2
    assert "depth calls itself too deeply" in str(outcomes[0])


def test_a_second_process_finds_the_code_on_disk(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent("""
        import math
        import numpy as np
        import jitad

        def fill(a, k, n):
            if k < n:
                a[k] = a[0] * k
                fill(a, k + 1, n)

        def even(z, n):
            return z if z < 1.0 else math.sin(even(z * 0.5, n)) + odd(z * 0.3, n)

        def odd(z, n):
            return z * z if z < 0.5 else odd(z * 0.25, n) * even(z * 0.6, n)

        def f(x):
            a = x * 1.0
            fill(a, 0, len(a))
            return np.sum(a) * even(a[0] + 4.0, 2.0)

        print(jitad.jit_grad(f)(np.array([1.0, 2.0, 3.0])))
    """))
    environment = {"JITAD_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": ":".join(sys.path)}
    runs = [
        subprocess.run([sys.executable, str(script)], env=environment, capture_output=True,
                       text=True, check=True).stdout for _ in range(2)
    ]  # fmt: skip
    assert runs[0] == runs[1] and runs[0].startswith("[")


# -- arrays that are written where they are -------------------------------------------------------


def test_an_array_that_is_still_needed_is_not_written():
    """Each call changes its own array; the caller goes on with its own."""
    def f(x):
        def go(a, n):
            if n > 2.0:
                return np.sum(a * a)
            b = a * 1.0
            b[0] = b[0] * x + n
            return go(b, n + 1.0) * a[0] + go(a, n + 2.0) * b[0]

        return go(np.array([x, 2.0, 3.0]), 0.0)

    agree(f, 1.5)
    slopes(f, 1.5)


def test_two_arrays_that_change_places_on_the_way():
    def f(x):
        def go(a, b, n):
            if n > 3.0:
                return
            a[0] = a[0] + b[1] * x
            b[1] = b[1] * a[0]
            go(b, a, n + 1.0)
            a[1] = a[1] + b[0]

        a, b = np.array([x, 1.0]), np.array([0.5, x * x])
        go(a, b, 0.0)
        return np.sum(a * b) + a[0]

    agree(f, 0.7)
    slopes(f, 0.7)


def test_an_array_that_a_loop_moves_to_another_buffer():
    """What was lent is where it was in the end, whatever the loop did with its names."""
    def f(x):
        def go(a, n):
            if n > 2.0:
                return a
            for _ in range(int(n) + 1):
                a = np.cos(a) * x + np.roll(a, 1)
            a[0] = a[0] * n
            return go(a, n + 1.0)

        a = np.array([x, 1.0, 0.3])
        return np.sum(go(a, 0.0)) + a[1]

    agree(f, 0.7)
    slopes(f, 0.7)


def test_an_array_that_only_one_branch_writes():
    def f(x):
        a = np.array([x, 1.0, 0.3])

        def go(b, n):
            if n > 4.0:
                return b[0] * b[1]
            if n * x > 1.5:
                b[1] = b[0] * 1.5 + b[1]
            old = b[1]
            return math.sin(go(b, n + 1.0)) * old + b[1]

        return go(a, 0.0) + np.sum(a)

    agree(f, 0.7)
    slopes(f, 0.7)


def test_a_sum_whose_terms_hang_on_the_calls_own_result():
    """A call in the place of its pullback adds to an adjoint that has its result already."""
    def f(x):
        data = np.array([0.3, 0.8, 0.5]) * x

        def go(k):
            return 1.0 if k >= len(data) else go(k + 1) * data[k] + data[k] * data[k]

        return go(0)

    agree(f, 0.7)
    slopes(f, 0.7)


class Sums:
    """A parser: what ends its calls of itself, in loops, is in the text alone."""

    def __init__(self, text, names):
        self.rest, self.names = text.split(), names

    def sum(self):
        value = self.product()
        while self.rest and self.rest[0] in "+-":
            value = value + (1.0 if self.rest.pop(0) == "+" else -1.0) * self.product()
        return value

    def product(self):
        value = self.atom()
        while self.rest and self.rest[0] == "*":
            self.rest.pop(0)
            value = value * self.atom()
        return value

    def atom(self):
        word = self.rest.pop(0)
        if word != "(":
            return self.names[word]
        value = self.sum()
        self.rest.pop(0)
        return value


@pytest.mark.parametrize("text", [
    "x * ( y + x ) - x", "( ( x + y ) * ( x - y ) + x ) * ( x + ( y * y ) )",
    "x + x + x + x + x + ( y * y * y * y * y * ( x + y ) + x ) * x",
])  # fmt: skip
def test_calls_in_loops_of_known_length_are_written_out(text):
    def f(x, y):
        return Sums(text, {"x": x, "y": y}).sum()

    compiled = jitad.jit_value_and_grad(f, (0, 1))
    value, slopes = compiled(1.5, 0.7)
    assert value == pytest.approx(f(1.5, 0.7), rel=1e-14)
    by_x = f(1.5 + 1e-20j, 0.7).imag / 1e-20
    by_y = f(1.5, 0.7 + 1e-20j).imag / 1e-20
    np.testing.assert_allclose(slopes, (by_x, by_y), rtol=1e-13)
    tape = traced(f, 1.5, 0.7).tape
    assert not any(e.op in (*CALLS, "while") for e in walk(tape.body))
