"""Is a tape of numbers simple after one round, so that the pipeline may leave out the next?"""

import pytest

from jitad import grad
from jitad.specialise.pipeline import _Content, stages
from jitad.specialise.simplify import simplify
from jitad.tape.types import Scalar
from jitad.trace.trace import trace


def shared_and_folded(x, y):
    a = x * y + 0.0
    b = x * y + 0.0
    c = (0.0 - a) * 1.0 / 1.0
    return (c - b) * 0.5 + (x + 0.0) ** 2 + (1 + 2) * y


def decided_by_branches(x, y):
    r = x * y if x > y else x - y
    if x > y:
        r = r * 2.0 if y > 0.0 else abs(r)
    return r + (x if True else y) ** 1


def with_checks(x, y):
    return (x / y) / (x / y) + (x * y) ** 0.5 + ((x * y) ** 0.5 if y > 0.0 else x / y)


def inner_derivative(x, y):
    return x * grad(lambda u: u * u * y + u * 1.0)(x) + grad(lambda u: u * u * y)(x)


@pytest.mark.parametrize(
    "f", [shared_and_folded, decided_by_branches, with_checks, inner_derivative]
)
def test_once_is_enough_for_numbers(f):
    number = Scalar("f8", True)
    rounds = 0
    for name, tape in stages(trace(grad(f, (0, 1)), (number, number)).tape):
        if name in ("simplify", "fold"):
            content = _Content(tape)
            assert not content.many
            assert _Content(simplify(tape)).ops == content.ops
            rounds += 1
    assert rounds == 2
