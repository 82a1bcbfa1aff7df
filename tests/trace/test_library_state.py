"""What library objects hold changes as in Python: what is drawn, queued, stepped, in loops too."""

import queue
import random

import numpy as np
import pytest
import scipy.integrate as si
import scipy.sparse as sparse
import scipy.stats as st

import jitad
from jitad import JitadError

# -- random numbers --------------------------------------------------------------------------------

UNSEEDED = {
    "rvs": lambda x: x * st.norm.rvs(),
    "rvs of an array": lambda x: x * st.uniform.rvs(size=3).sum(),
    "rvs, unseeded": lambda x: x * st.norm.rvs(random_state=np.random.RandomState()),
    "rvs, unseeded generator": lambda x: x * st.norm.rvs(random_state=np.random.default_rng()),
    "several variables": lambda x: x * st.multivariate_normal.rvs(np.zeros(2)).sum(),
    "matrices": lambda x: x * st.ortho_group.rvs(2).sum(),
    "sparse": lambda x: x * sparse.random(3, 3, 0.5).sum(),
    "resampled": lambda x: x * st.bootstrap(
        (np.arange(5.0),), np.mean, n_resamples=9).standard_error,
    "low discrepancy": lambda x: x * st.qmc.Sobol(2).random(4).sum(),
    "hypercube": lambda x: x * st.qmc.LatinHypercube(2).random(4).sum(),
    "hypercube, not scrambled": lambda x: x * st.qmc.LatinHypercube(
        2, scramble=False).random(4)[0, 0],
    "optimised": lambda x: x * st.qmc.Sobol(
        2, scramble=False, optimization="random-cd").random(4)[0, 0],
    "generator": lambda x: x * np.random.default_rng().normal(),
    "its generator": lambda x: x * np.random.default_rng(np.random.default_rng()).normal(),
}  # fmt: skip


@pytest.mark.parametrize("f", UNSEEDED.values(), ids=UNSEEDED)
def test_what_is_drawn_without_a_seed_is_refused(f):
    with pytest.raises(JitadError, match="gives something else at every call"):
        jitad.jit_grad(f, fallback=False)(0.7)


class Keeps:
    """It has a generator, which is not drawn from."""

    def __init__(self):
        self.rng = np.random.default_rng()

    def square(self, x):
        return x * x


def in_a_loop(x):
    rng, total = np.random.default_rng(3), 0.0
    for _ in range(100):
        total += x * st.norm.rvs(random_state=rng)
    return total


def of_an_engine(x):
    engine, total = st.qmc.Sobol(1, rng=1), 0.0
    for _ in range(100):
        total += x * engine.random(1)[0, 0]
    return total


def one_after_the_other(x):
    engine = st.qmc.Halton(2, rng=np.random.default_rng(4))
    first = engine.random(3)
    return x * first.sum() + x * x * engine.random(1)[0, 0]


SEEDED = {
    "int": lambda x: x * st.norm.rvs(random_state=3),
    "generator": lambda x: x * st.norm.rvs(size=2, random_state=np.random.default_rng(3)).sum(),
    "not scrambled": lambda x: x * st.qmc.Sobol(2, scramble=False).random(4).sum(),
    "kept": lambda x: Keeps().square(x),
    "loop": in_a_loop, "engine": of_an_engine, "twice": one_after_the_other,
}  # fmt: skip


@pytest.mark.parametrize("f", SEEDED.values(), ids=SEEDED)
def test_what_is_drawn_with_a_seed(f):
    g = jitad.jit_value_and_grad(f, fallback=False)
    for x in (0.7, 1.3):
        value, slope = g(x)
        assert value == pytest.approx(f(x), rel=1e-12)
        assert slope == pytest.approx((f(x + 1e-4) - f(x - 1e-4)) / 2e-4, rel=1e-7)


def test_a_seed_that_is_an_argument():
    def f(x, seed):
        return x * st.norm.rvs(size=2, random_state=seed).sum()

    run = jitad.jit(f, fallback=False)
    for seed in (3, 4, 3):
        assert run(2.0, seed) == pytest.approx(f(2.0, seed), rel=1e-14)


def test_not_under_a_condition():
    def f(x):
        engine = st.qmc.Halton(1, rng=1)
        if x > 0.5:
            x = x * engine.random(1)[0, 0]
        return x * engine.random(1)[0, 0]

    with pytest.raises(JitadError, match="under a traced condition"):
        jitad.jit(f, fallback=False)(0.7)


# -- what changes in a loop ------------------------------------------------------------------------


def queued(x, n):
    q, total = queue.Queue(), 0.0
    for k in range(n):
        q.put(1.0 * k)
        total += x * q.qsize()
    return total


def queued_inside(x, n):
    q, total = queue.Queue(), 0.0
    for k in range(n):
        for _ in range(k % 3):
            q.put(1.0)
        total += x * q.qsize() * k
    return total


def queued_of_a_list(x, n):
    q, total = queue.LifoQueue(), 0.0
    for v in [0.5 * k for k in range(n)]:
        if x > 0.5:
            total += v
        q.put(v)
        total += x * q.qsize()
    return total


def stepped(x, n):
    ode, total = si.ode(lambda t, y: -y), 0.0
    ode.set_integrator("dopri5").set_initial_value([1.0], 0.0)
    for _ in range(n):
        ode.integrate(ode.t + 0.1)
        total += x * ode.y[0]
    return total


def of_pythons_random(x, n):
    draw, total = random.Random(3), 0.0
    for _ in range(n):
        total += x * draw.random()
    return total


@pytest.mark.parametrize("n", [3, 100])
@pytest.mark.parametrize(
    "f", [queued, queued_inside, queued_of_a_list, stepped, of_pythons_random],
    ids=lambda f: getattr(f, "__name__", ""))  # fmt: skip
def test_no_pass_of_a_loop_leaves_anything_behind(f, n):
    """Python's values, or a refusal: passes that were tried in vain have changed the object."""
    try:
        found = jitad.jit(f, fallback=False)(0.7, n)
    except JitadError:
        assert f is stepped
        return
    assert found == pytest.approx(f(0.7, n), rel=1e-12)


# -- what numbers can't ----------------------------------------------------------------------------


def for_arrays_first(x):
    """As packages do that take numbers and arrays."""
    a = np.hypot(x, 1.0) - 1.2
    try:
        a[a < 0.0] = 0.0
    except TypeError:
        if a < 0.0:
            a = 0.0 * a
    return a * x


def test_numbers_have_no_items():
    run, slope = jitad.jit(for_arrays_first, fallback=False), jitad.jit_grad(for_arrays_first)
    for x in (0.3, 1.7):
        assert run(x) == pytest.approx(for_arrays_first(x), rel=1e-14)
        assert slope(x) == pytest.approx(jitad.grad(for_arrays_first)(x), rel=1e-14)


def test_an_array_without_axes_has_one():
    def f(x):
        a = np.asarray(x * 2.0)
        try:
            a[...] = x * x
        except TypeError:
            return x
        return a * 3.0

    assert jitad.jit(f, fallback=False)(2.0) == f(2.0) == 12.0
