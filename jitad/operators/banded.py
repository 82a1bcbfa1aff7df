"""What become scipy.linalg's functions of symmetric matrices that are given by their bands?"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl

from jitad.errors import JitadLinAlgError, JitadTypeError
from jitad.plain import banded
from jitad.trace import hooks
from jitad.values.broadcast import require_same
from jitad.values.kind import fail, require
from jitad.values.number import Number
from jitad.values.numpy.linalg import floats
from jitad.values.registry import call, replaces


def _lower(ab: Any, lower: bool, name: str) -> Any:
    if ab.ndim != 2 or isinstance(ab.shape[0], Number):
        raise fail(JitadTypeError, f"{name} is supported for a known number of bands",
                   "Make the array of bands with a number of rows that is known.")  # fmt: skip
    return hooks.call(banded.lowered, ab, lower)


def _factor(ab: Any) -> Any:
    f, fine = hooks.call(banded.factored, ab)
    require(fine, JitadLinAlgError, "the matrix is not positive definite")
    return f


def _solved(f: Any, b: Any) -> Any:
    require_same(f.shape[1], b.shape[0], lambda: "shapes of the bands and b are not compatible.")
    x = hooks.call(banded.solved, f, b if b.ndim == 2 else b[:, None])
    return x if b.ndim == 2 else x[:, 0]


@replaces(sl.solveh_banded)
def solveh_banded(ab: Any, b: Any, overwrite_ab: bool = False, overwrite_b: bool = False,
                  lower: bool = False, check_finite: bool = True) -> Any:  # fmt: skip
    ab, b = floats(ab, b)
    return _solved(_factor(_lower(ab, lower, "solveh_banded")), b)


@replaces(sl.cholesky_banded)
def cholesky_banded(ab: Any, overwrite_ab: bool = False, lower: bool = False,
                    check_finite: bool = True) -> Any:  # fmt: skip
    (ab,) = floats(ab)
    f = _factor(_lower(ab, lower, "cholesky_banded"))
    return f if lower else hooks.call(banded.raised, f)


@replaces(sl.cho_solve_banded)
def cho_solve_banded(cb_and_lower: Any, b: Any, overwrite_b: bool = False,
                     check_finite: bool = True) -> Any:  # fmt: skip
    cb, lower = cb_and_lower
    cb, b = floats(cb, b)
    return _solved(_lower(cb, lower, "cho_solve_banded"), b)


@replaces(sl.rq)
def rq(a: Any, overwrite_a: bool = False, lwork: Any = None, mode: str = "full",
       check_finite: bool = True) -> Any:  # fmt: skip
    """By the factors of the matrix turned about both its axes; signs are those of LAPACK."""
    (a,) = floats(a)
    if mode not in ("full", "r", "economic"):
        raise fail(JitadTypeError, f"mode={mode!r} of scipy.linalg.rq is not one")
    if mode != "economic":
        require_same(a.shape[0], a.shape[1], lambda: "scipy.linalg.rq is supported for square "
                     "matrices, and others with mode='economic'")  # fmt: skip
    q, r = call(np.linalg.qr, a[::-1, ::-1].T)
    r, q = r.T[::-1, ::-1], q.T[::-1, ::-1]
    return r if mode == "r" else (r, q)
