"""Do `is` and `match` never mistake a stand-in for the value that it stands for?"""

import numpy as np
import pytest

from jitad import grad, jit, jit_grad
from jitad.errors import JitadTypeError


def is_true(x):
    return x if (x > 0.0) is True else -x


def is_not_false(x):
    return x if (x > 0.0) is not False else -x


def two_conditions(x):
    return x if (x > 0.0) is (x > 1.0) else -x


@pytest.mark.parametrize("f", [is_true, is_not_false, two_conditions])
@pytest.mark.parametrize("x", [2.0, 0.5, -2.0])
def test_identity_of_conditions(f, x):
    assert jit(f)(x) == f(x)


@pytest.mark.parametrize("x", [np.float64(2.0), np.float64(-2.0)])
def test_bools_of_numpy_are_not_true_itself(x):
    assert jit(is_true)(x) == is_true(x) == -x


def matches_true(x):
    match (x > 0.0, x):
        case (True, y):
            return y
    return -x


def test_matching_a_traced_bool_inside_a_pattern_is_refused():
    with pytest.raises(JitadTypeError, match="can't be matched with a traced bool") as e:
        jit_grad(matches_true)(2.0)
    assert "test_identity.py" in str(e.value)


def by_kind(x, kind):
    match kind:
        case str():
            return x * x
        case int(k):
            return k * x
        case None:
            return -x


@pytest.mark.parametrize(("kind", "slope"), [("a", 4.0), (3, 3.0), (None, -1.0)])
def test_matching_static_values(kind, slope):
    assert jit_grad(by_kind)(2.0, kind) == grad(by_kind)(2.0, kind) == slope
