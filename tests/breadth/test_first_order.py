"""Are gradients and tangents of library functions right, on every engine?  Against differences.

What is traced gives the values beside the gradient: they are those of NumPy and SciPy.
"""

from __future__ import annotations

import numpy as np
import pytest

import jitad
from tests.breadth.all import CASES, IDS
from tests.breadth.case import Case
from tests.breadth.running import (
    actives,
    assert_same,
    difference,
    directions,
    dot,
    flat,
    loss_of,
    plain,
)
from tests.engines import ENGINES


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_first_order(case: Case) -> None:
    loss, d = loss_of(case), directions(case, 1)
    want = difference(lambda *args: plain(loss, *args), case, d)
    active = actives(case)
    scale = abs(want) + 1.0
    with np.errstate(all="ignore"):
        eager = jitad.grad(loss, argnums=active)(*case.args)
    assert dot(eager, d) == pytest.approx(want, rel=case.rtol, abs=case.rtol * scale * 0.1)
    if case.zero:
        assert all(not np.any(g) for g in eager)
    else:
        assert any(np.any(g) for g in eager), "marked as differentiable"

    def along(*some):
        full = list(case.args)
        for k, a in zip(active, some, strict=True):
            full[k] = a
        return loss(*full)

    given = tuple(case.args[k] for k in active)
    with np.errstate(all="ignore"):
        _, forward = jitad.jvp(along, given, tuple(d))
    assert forward == pytest.approx(dot(eager, d), rel=1e-9, abs=1e-9 * scale)
    def both(*args):
        own = [np.array(a) if isinstance(a, np.ndarray) else a for a in args]  # it may write there
        return flat(case.function(*own)), jitad.grad(loss, argnums=active)(*args)

    values = flat(plain(case.function, *case.args))
    for name in {"native"} if case.native else {case.compiled}:
        found, slopes = ENGINES[name](jitad.jit(both), *case.args)
        assert_same(found, values, 1e-11, name)
        for x, y in zip(slopes, eager, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9 * scale, err_msg=name)
