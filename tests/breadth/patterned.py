"""Uses of scipy.linalg's banded, tridiagonal and companion matrices, and of Riccati equations."""

from __future__ import annotations

import numpy as np
import scipy.linalg as sl

from tests.breadth.case import add, draws

r, n = draws(91)

V, W, BAND, ROOT = n(5), n(4), n(3, 5), n(4, 4)
S = ROOT @ ROOT.T + np.diag([1.0, 2.0, 3.0, 4.0])
A, B, C, D, MIXED = n(3, 3), n(3, 2), n(3, 3), n(2, 2), 0.1 * n(3, 2)
Q, R = C @ C.T + np.eye(3), D @ D.T + np.eye(2)


def of(name, f, *args, **how):
    add(f"scipy.linalg.{name}", f, *args, **how)


def sure(found):
    """Eigenvectors but for their signs."""
    return found[0], found[1] ** 2


of("companion", lambda x: (sl.companion(x), sl.companion(x[:2])), V)
for mode in ("full", "same", "valid"):
    of("convolution_matrix", lambda x, m=mode: (
        sl.convolution_matrix(x, 3, m), sl.convolution_matrix(x, 8, m),
        sl.convolution_matrix(x[:2], 4, m)), V)  # fmt: skip
of("eigh_tridiagonal", lambda d, e: (
    sl.eigh_tridiagonal(d, e, eigvals_only=True), sure(sl.eigh_tridiagonal(d, e)),
    sure(sl.eigh_tridiagonal(d, e, select="i", select_range=(0, 1)))), V, W,
   narrow=False)  # fmt: skip
of("eigvalsh_tridiagonal", lambda d, e: sl.eigvalsh_tridiagonal(d, e, "i", (1, 2)), V, W,
   narrow=False)  # fmt: skip
of("eig_banded", lambda b: (
    sure(sl.eig_banded(b)), sure(sl.eig_banded(b, True, select="i", select_range=(1, 3)))), BAND,
   narrow=False)  # fmt: skip
of("eigvals_banded", lambda b: (sl.eigvals_banded(b), sl.eigvals_banded(b, lower=True)), BAND,
   narrow=False)  # fmt: skip
of("eigh", lambda p: (
    sl.eigh(p, eigvals_only=True, subset_by_index=[1, 2]), sure(sl.eigh(p, subset_by_index=[2, 3])),
    sure(sl.eigh(p, p @ p + np.eye(4), subset_by_index=[0, 1]))), S,
   narrow=False)  # fmt: skip
of("eigvalsh", lambda p: sl.eigvalsh(p, subset_by_index=(0, 0)), S, narrow=False)
for name in ("solve_continuous_are", "solve_discrete_are"):
    solve = getattr(sl, name)
    of(name, lambda a, b, f=solve: f(a, b, Q, R), A, B, narrow=False, rtol=1e-5,
       native=name == "solve_continuous_are")  # fmt: skip
    of(name, lambda a, q, r, f=solve: f(
        a, B, q @ q.T + np.eye(3), r @ r.T + np.eye(2), s=MIXED), 0.5 * A, C, D, narrow=False,
       order=1, rtol=1e-5)  # fmt: skip

# -- forms that a loop over columns makes ---------------------------------------------------------

G = n(4, 4)
of("hessenberg", lambda a: (sl.hessenberg(a), sl.hessenberg(a[:3, :3], calc_q=True)), G,
   narrow=None, order=1)  # fmt: skip
of("subspace_angles", lambda a, b: (sl.subspace_angles(a[:, :2], b[:, :1]),
                                    sl.subspace_angles(a[:, :2], b[:, :3])), n(4, 2), G,
   narrow=None, order=1)  # fmt: skip
of("subspace_angles", lambda a: sl.subspace_angles(a, a + 0.1 * a * a), n(4, 1), narrow=None,
   order=1)  # fmt: skip
