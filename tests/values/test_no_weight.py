"""Do probabilities of zero, whose logarithms are -inf, leave the other derivatives as they are?"""

import numpy as np
import pytest
import scipy.special

from jitad import grad, jit_grad

NEVER, HALF = -np.inf, np.log(0.5)
FIRST = np.array([0.0, NEVER, NEVER])
MOVES = np.array([[HALF, HALF, NEVER], [NEVER, HALF, HALF], [NEVER, NEVER, 0.0]])


def alignments(scores):
    """All monotone paths through the table, summed in logarithms, as in the CTC loss."""
    steps, states = scores.shape
    alpha = np.full((steps, states), NEVER)
    alpha[0, 0] = scores[0, 0]
    for t in range(1, steps):
        for s in range(states):
            so_far = alpha[t - 1, s]
            if s > 0:
                so_far = np.logaddexp(so_far, alpha[t - 1, s - 1])
            alpha[t, s] = so_far + scores[t, s]
    return alpha[-1, -1]


def reduced(scores):
    total = FIRST + scores[0, :3]
    for row in scores[1:]:
        total = np.logaddexp.reduce(total[:, None] + MOVES, axis=0) + row[:3]
    return total[2]


def by_scipy(scores):
    total = FIRST + scores[0, :3]
    for row in scores[1:]:
        total = scipy.special.logsumexp(total[:, None] + MOVES, axis=0) + row[:3]
    return total[2]


@pytest.mark.parametrize("engine", [grad, jit_grad], ids=["eager", "compiled"])
@pytest.mark.parametrize("f", [alignments, reduced, by_scipy], ids=lambda f: f.__name__)
def test_gradient(f, engine):
    scores = np.sin(np.arange(24.0)).reshape(6, 4)
    expected = np.zeros_like(scores)
    for at in np.ndindex(scores.shape):
        step = np.zeros_like(scores)
        step[at] = 1e-5
        expected[at] = (f(scores + step) - f(scores - step)) / 2e-5
    np.testing.assert_allclose(engine(f)(scores), expected, atol=1e-8)


def test_a_tie_bends_as_elsewhere():
    second = grad(lambda a: grad(lambda b: np.logaddexp(b, 1.0))(a))
    assert second(1.0) == pytest.approx(0.25)
    assert second(NEVER) == 0.0
