"""Do library functions give what NumPy and SciPy give, eagerly and on a tape, in both widths?

In double precision `test_first_order.py` looks at a tape's values, beside its gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import jitad
from tests.breadth.all import CASES, IDS
from tests.breadth.case import Case
from tests.breadth.running import actives, assert_same, flat, narrowed, plain, primal
from tests.engines import ENGINES


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_value(case: Case) -> None:
    want = flat(plain(case.function, *case.args))
    assert_same(flat(_eagerly(case, case.args)), want, 1e-11, "eager")
    if case.narrow is None:
        return
    args = narrowed(case.args)
    want = flat(plain(case.function, *args))
    tolerance = 3e-5 if case.narrow else 1e-3
    assert_same(flat(_eagerly(case, args)), want, tolerance, "eager")
    found = flat(ENGINES[case.compiled](jitad.jit(case.function), *args))
    assert_same(found, want, tolerance, case.compiled)


def _eagerly(case: Case, args: tuple[Any, ...]) -> Any:
    with np.errstate(all="ignore"):
        return primal(case, args, actives(case))


def _mixed(case: Case) -> tuple[Any, ...]:
    """The first argument of floats in single precision, the others in double."""
    first = actives(case)[0]
    return tuple(narrowed((a,))[0] if k == first else a for k, a in enumerate(case.args))


MIXED = [(c, i) for c, i in zip(CASES, IDS, strict=True) if len(actives(c)) > 1
         and c.narrow is not None and c.compiled != "native"
         and c.covers != "numpy.stack"]  # fmt: skip  # to which single precision is given


@pytest.mark.parametrize("case", [c for c, _ in MIXED], ids=[i for _, i in MIXED])
def test_dtypes_of_two_precisions(case: Case) -> None:
    args = _mixed(case)
    want = flat(plain(case.function, *args))
    found = flat(ENGINES["tape"](jitad.jit(case.function), *args))
    for x, y in zip(found, want, strict=True):
        assert np.asarray(x).dtype == np.asarray(y).dtype
        np.testing.assert_allclose(x, y, rtol=1e-3, atol=1e-3)
