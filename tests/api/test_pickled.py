"""Are functions that a decorator has made pickled by their names, as plain ones are?"""

import copy
import multiprocessing
import pickle

import numpy as np
import pytest

import jitad


@jitad.jit
def compiled(x):
    return x * x


@jitad.jit_grad
def slope(x):
    return np.sum(x * x)


@jitad.grad
def eager_slope(x):
    return x**3


@jitad.hvp
def product(x):
    return x**3


@jitad.jit_jacobian
def jacobian(x):
    return x * x


@jitad.batch
def row_by_row(x):
    return np.sum(x)


@jitad.checkpoint
def kept(x):
    return x * x


@jitad.custom_jvp
def ruled(x):
    return x * x


class Model:
    @jitad.jit
    def loss(self, x):
        return x * x


DECORATED = (compiled, slope, eager_slope, product, jacobian, row_by_row, kept, ruled)


@pytest.mark.parametrize("made", DECORATED)
def test_decorated_functions_are_found_by_their_names(made):
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(made, protocol)) is made
    assert copy.deepcopy(made) is made


def cube(x):
    return x**3


def test_others_are_what_they_were_made_of():
    made = jitad.grad(cube), jitad.jit_grad(cube), jitad.jacobian(cube), jitad.jit(jitad.grad(cube))
    for f in made:
        again = pickle.loads(pickle.dumps(f))
        assert again is not f and again(2.0) == 12.0
    assert pickle.loads(pickle.dumps(jitad.hvp(cube)))(2.0, 1.0) == 12.0
    again = pickle.loads(pickle.dumps(Model.loss))
    assert again(None, 3.0) == 9.0


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_call_them(method):
    with multiprocessing.get_context(method).Pool(1) as pool:
        found = pool.map(slope, [np.ones(2), np.full(2, 3.0)])
    np.testing.assert_array_equal(found, [[2.0, 2.0], [6.0, 6.0]])
