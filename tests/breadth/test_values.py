"""Do library functions give what NumPy and SciPy give, eagerly and on a tape, in both widths?"""

from __future__ import annotations

import numpy as np
import pytest

import jitad
from tests.breadth.all import CASES, IDS
from tests.breadth.case import Case
from tests.breadth.running import actives, flat, narrowed, plain, primal
from tests.engines import ENGINES


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_value(case: Case) -> None:
    want = flat(plain(case.function, *case.args))
    wide = [case.args, *([] if case.narrow is None else [narrowed(case.args)])]
    for args in wide:
        want = flat(plain(case.function, *args))
        for name in ("eager", case.compiled):
            run = jitad.jvp if name == "eager" else None
            if run is not None:
                active = actives(case)
                with np.errstate(all="ignore"):
                    found = flat(primal(case, args, active))
            else:
                found = flat(ENGINES[name](jitad.jit(case.function), *args))
            assert len(found) == len(want), name
            for x, y in zip(found, want, strict=True):
                x = np.asarray(x)
                assert x.shape == np.shape(y), name
                assert x.dtype == np.asarray(y).dtype, name
                tolerance = 1e-11 if args is case.args else 3e-5 if case.narrow else 1e-3
                np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance, err_msg=name)
