"""Do loops of one scalar go without records, and are their derivatives those of the loop?"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jitad
from jitad.specialise.pipeline import specialise
from jitad.specialise.resolve import resolve
from jitad.tape.interpret import interpret
from jitad.tape.ir import Tape, walk
from jitad.tape.show import show
from jitad.tape.types import INT
from jitad.values.number import o
from tests.sweeps.handmade import REAL, VECTOR, for_, if_, jvp_, tape_of, vjp_, while_


def root(b, a, start=None):
    """The square root by Newton's iteration, and how many rounds it took."""
    y = 0.5 * (1.0 + a) if start is None else start
    return while_(b, [y, 0], lambda y, k: o.gt(o.abs(y * y - a), 1e-13 * a),
                  lambda y, k: [0.5 * (y + a / y), k + 1])  # fmt: skip


def gradient(inputs, f):
    """The plain block of f's value and gradient in all its float inputs."""
    active = [k for k, (_, t) in enumerate(inputs) if t != INT]

    def both(b, *values):
        def inner(*floats):
            now = list(values)
            for k, v in zip(active, floats, strict=True):
                now[k] = v
            return [f(b, *now)]

        results, bars = vjp_(b, inner, [values[k] for k in active], [1.0])
        return (*results, *bars)

    return specialise(Tape("f", tape_of(inputs, both))).body


def pushes(block):
    return sum(e.op in ("push", "stack") for e in walk(block))


def close(got, wanted, rtol=1e-11):
    np.testing.assert_allclose(np.asarray(got, float), np.asarray(wanted, float), rtol=rtol)


X = [0.3, 2.0, 50.0, 1e4]


def test_a_loop_of_one_scalar_records_nothing():
    block = gradient([("x", REAL)], lambda b, x: root(b, x)[0] * 3.0)
    assert not pushes(block)
    assert not any(e.op in ("frozen", "attach") for e in walk(block)), show(Tape("f", block))
    for x in X:
        close(interpret(block, [x]), [3 * math.sqrt(x), 1.5 / math.sqrt(x)])


def test_what_leads_to_the_loop_is_differentiated_along():
    def f(b, x):
        s = o.exp(o.sin(x))
        return root(b, s * s + 1.0, o.cosh(s))[0] * x

    block = gradient([("x", REAL)], f)
    assert not pushes(block)
    for x in (0.3, 1.7):
        s = math.exp(math.sin(x))
        r = math.hypot(s, 1.0)
        close(interpret(block, [x]), [r * x, r + x * s * s * math.cos(x) / r])


def test_loops_one_after_the_other_and_in_each_other():
    def chain(b, x):
        return root(b, root(b, x)[0] + 1.0)[0]

    def nested(b, x):
        return while_(b, [x, 0], lambda y, k: o.lt(k, 3),
                      lambda y, k: [root(b, y + x)[0], k + 1])[0]  # fmt: skip

    for x in X:
        block = gradient([("x", REAL)], chain)
        assert not pushes(block)
        r = math.sqrt(x)
        close(interpret(block, [x]), [math.sqrt(r + 1), 0.25 / math.sqrt(r + 1) / r])
        block = gradient([("x", REAL)], nested)
        assert not pushes(block)
        y, dy = x, 1.0
        for _ in range(3):
            y, dy = math.sqrt(y + x), 0.5 * (dy + 1.0) / math.sqrt(y + x)
        close(interpret(block, [x]), [y, dy])


def test_two_scalars_are_recorded():
    """A loop that depends on two of them in different ways."""
    def f(b, x, y):
        return while_(b, [x, 0], lambda s, k: o.lt(k, 4), lambda s, k: [o.sin(s) * y, k + 1])[0]

    block = gradient([("x", REAL), ("y", REAL)], f)
    assert pushes(block)
    x, y = 0.7, 1.3
    s, ds_x, ds_y = x, 1.0, 0.0
    for _ in range(4):
        s, ds_x, ds_y = (math.sin(s) * y, math.cos(s) * y * ds_x,
                         math.cos(s) * y * ds_y + math.sin(s))  # fmt: skip
    close(interpret(block, [x, y]), [s, ds_x, ds_y])


def test_loops_over_elements():
    def f(b, v):
        def body(i, s):
            return [s + root(b, o.load(v, i))[0] * o.cast(i + 1, dtype="f8")]

        return for_(b, 0, 1, v.shape[0], [0.0], body)[0]

    block = gradient([("v", VECTOR)], f)
    assert not pushes(block)
    v = np.array(X)
    weights = np.arange(1.0, 5.0)
    value, bar = interpret(block, [v])
    close(value, np.sum(weights * np.sqrt(v)))
    close(bar, 0.5 * weights / np.sqrt(v))


def test_a_loop_that_depends_on_an_array_is_recorded():
    def f(b, v):
        return while_(b, [1.0, 0], lambda s, k: o.lt(k, v.shape[0]),
                      lambda s, k: [s * o.load(v, k), k + 1])[0]  # fmt: skip

    block = gradient([("v", VECTOR)], f)
    v = np.array(X)
    value, bar = interpret(block, [v])
    close(value, np.prod(v))
    close(bar, np.prod(v) / v)


def test_a_loop_that_carries_an_array():
    def f(b, x, v):
        a, _ = while_(b, [v, 0], lambda a, k: o.lt(k, 3), lambda a, k: [a * x, k + 1])
        return o.sum(a, axes=(0,))

    block = gradient([("x", REAL), ("v", VECTOR)], f)
    v = np.array(X)
    value, x_bar, v_bar = interpret(block, [1.5, v])
    close(value, 1.5**3 * np.sum(v))
    close(x_bar, 3 * 1.5**2 * np.sum(v))
    close(v_bar, np.full(4, 1.5**3))


def test_results_that_do_not_depend_on_it_and_results_not_used():
    def f(b, x):
        _, c, k = while_(b, [x, 2.0, 0], lambda y, c, k: o.lt(k, 3),
                         lambda y, c, k: [y * 0.5, c * c, k + 1])  # fmt: skip
        return c * x + o.cast(k, dtype="f8") * x

    block = gradient([("x", REAL)], f)
    close(interpret(block, [0.5]), [(256 + 3) * 0.5, 256 + 3])
    assert not pushes(block)


def test_loops_in_a_branch_that_is_not_taken():
    """The loop's slope would be infinite there."""
    def f(b, x):
        return if_(b, o.gt(x, 0.0), lambda: [root(b, x)[0]], lambda: [x * 2.0])[0]

    block = gradient([("x", REAL)], f)
    close(interpret(block, [4.0]), [2.0, 0.25])
    close(interpret(block, [-4.0]), [-8.0, 2.0])
    close(interpret(block, [0.0]), [0.0, 2.0])


def test_a_loop_that_does_not_run():
    block = gradient([("x", REAL)], lambda b, x: root(b, x, x * x)[0])
    close(interpret(block, [1.0]), [1.0, 2.0])  # the start's own slope


def test_derivatives_of_the_slope():
    """Reverse over reverse, forward over reverse, and the third derivative."""
    def first(b, x):
        _, (slope,) = vjp_(b, lambda x: [root(b, x)[0]], [x], [1.0])
        return slope

    def second(b, x):
        _, (slope,) = vjp_(b, lambda x: [first(b, x)], [x], [1.0])
        return slope

    def forward(b, x):
        _, (slope,) = jvp_(b, lambda x: [first(b, x)], [x], [1.0])
        return slope

    for x in X:
        for f, wanted in ((first, 0.5 * x**-0.5), (second, -0.25 * x**-1.5),
                          (forward, -0.25 * x**-1.5)):  # fmt: skip
            block = resolve(Tape("f", tape_of([("x", REAL)], f))).body
            close(interpret(block, [x])[0], wanted, 1e-7)
    close(interpret(gradient([("x", REAL)], second), [2.0])[1], 0.375 * 2.0**-2.5, 1e-6)


def heron(x):
    y = 0.5 * (1.0 + x)
    while abs(y * y - x) > 1e-13 * x:
        y = 0.5 * (y + x / y)
        if y < 0:
            break
    return y


def test_compiled():
    for x in X:
        close(jitad.jit_value_and_grad(heron)(x), [math.sqrt(x), 0.5 / math.sqrt(x)])
        close(jitad.jit_grad(jitad.grad(heron))(x), -0.25 * x**-1.5, 1e-7)


def shouting(x):
    while x < 10.0:
        print("round", x)
        x = x * x
    return x


def test_prints_happen_once(capsys):
    jitad.jit_value_and_grad(shouting)(2.0)
    assert capsys.readouterr().out == "round 2.0\nround 4.0\n"


def failing(x):
    while x < 10.0:
        x = math.sqrt(x - 2.0) + 3.0
    return x


def test_errors_are_those_of_the_loop():
    with pytest.raises(ValueError, match="math domain"):
        jitad.jit_grad(failing)(1.0)


@st.composite
def loops(draw):
    """A scalar program f(x) whose while loop mixes two carried scalars, constants and x."""
    def one(low, high):
        return draw(st.integers(low, high))

    steps = [(one(0, 6), one(0, 3), one(0, 3)) for _ in range(one(1, 5))]
    limit, results = one(0, 4), (one(0, 1), one(0, 1))

    def compute(m, x, whether):
        """With the functions of m: over plain numbers of any kind, or over the tape."""
        def body(p, q):
            have = [p, q, x, 0.75]
            for kind, i, j in steps:
                u, v = have[-1 - i % len(have)], have[-1 - j % len(have)]
                have.append((lambda: m.sin(u), lambda: u * v, lambda: u + v, lambda: u - v * 0.5,
                             lambda: m.exp(-u * u), lambda: u / (1.5 + m.sin(v)),
                             lambda: m.cos(u) * v)[kind]())
            return have[-1], have[-2] * 0.5

        p, q = whether(limit, body, m.sin(x), x * 0.5)
        return (p, q)[results[0]] * (p, q)[results[1]] + x

    return compute


@settings(max_examples=60, deadline=None)
@given(loops(), st.floats(-1.5, 1.5))
def test_random_loops(compute, x):
    """The truth is a complex step."""
    def plain(limit, body, p, q):
        for _ in range(limit):
            p, q = body(p, q)
        return p, q

    def f(b, x):
        def whether(limit, body, p, q):
            p, q, _ = while_(b, [p, q, 0], lambda p, q, k: o.lt(k, limit),
                             lambda p, q, k: [*body(p, q), k + 1])  # fmt: skip
            return p, q

        return compute(o, x, whether)

    wanted = compute(np, x + 1e-30j, plain)
    block = gradient([("x", REAL)], f)
    assert not pushes(block)
    got = interpret(block, [x])
    np.testing.assert_allclose(got, [wanted.real, wanted.imag * 1e30], rtol=1e-9, atol=1e-12)
