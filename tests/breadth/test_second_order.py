"""Are derivatives of gradients of library functions right?  Against differences of gradients."""

from __future__ import annotations

import numpy as np
import pytest

import jitad
from tests.breadth.all import CASES, IDS
from tests.breadth.case import Case
from tests.breadth.running import actives, difference, directions, dot, loss_of

TWICE = [k for k, c in enumerate(CASES) if c.order > 1 and not c.zero]


@pytest.mark.parametrize("case", [CASES[k] for k in TWICE], ids=[IDS[k] for k in TWICE])
def test_second_order(case: Case) -> None:
    """The derivative of the gradient's component along one direction, along another."""
    loss, d, e = loss_of(case), directions(case, 1), directions(case, 2)
    active = actives(case)

    def slope(*args):
        return jitad.grad(loss, argnums=active)(*args)

    with np.errstate(all="ignore"):
        want = difference(lambda *args: dot(slope(*args), e), case, d)

        def component(*args):
            total = 0.0
            for g, t in zip(jitad.grad(loss, argnums=active)(*args), e, strict=True):
                total = total + np.real(np.sum(g * t))
            return total

        second = jitad.grad(component, argnums=active)(*case.args)
    scale = abs(want) + 1.0
    assert dot(second, d) == pytest.approx(want, rel=case.rtol, abs=case.rtol * scale)
