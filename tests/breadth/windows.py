"""Uses of scipy.ndimage's filters by rank, its morphology, and sums over labels."""

from __future__ import annotations

import numpy as np
import scipy.ndimage as nd

from tests.breadth.case import add, draws

r, n = draws(71)

# elements well apart: an order statistic has a kink where two are equal
A = np.random.default_rng(3).permutation(np.linspace(-2.0, 2.0, 30)).reshape(5, 6)
B = np.random.default_rng(4).permutation(np.linspace(-2.0, 2.0, 36)).reshape(3, 4, 3)
V, P = A[:, 0], np.abs(A) + 0.1
LABELS = np.array([[0, 1, 1, 0, 2, 2], [2, 2, 1, 0, 1, 1], [2, 0, 0, 3, 3, 3],
                   [0, 0, 3, 3, 1, 1], [2, 2, 2, 2, 0, 2]])  # fmt: skip
CROSS = [[0, 1, 0], [1, 1, 1], [0, 1, 0]]
HEIGHTS = [[0.0, 0.1, 0.2], [0.3, 0.4, 0.5]]


def of(name, f, *args, **how):
    add(f"scipy.ndimage.{name}", f, *args, narrow=False, **how)


for name in ("gaussian_laplace", "gaussian_gradient_magnitude"):
    of(name, lambda a, f=getattr(nd, name): (
        f(a, 0.8), f(a, (0.5, 1.0), mode="nearest", truncate=3.0), f(a, 1.0, axes=(1,))), A)
of("median_filter", lambda a: (
    nd.median_filter(a, 3), nd.median_filter(a, (2, 3), mode="constant", cval=0.2),
    nd.median_filter(a, footprint=CROSS), nd.median_filter(a, footprint=np.ones((2, 3)))), A,
    native=True, order=1)  # fmt: skip
of("median_filter", lambda a: (nd.median_filter(a, 3), nd.median_filter(a, 2, axes=(1,))), B,
   order=1)  # fmt: skip
of("median_filter", lambda a: nd.median_filter(a, 5, mode="mirror"), V)
of("rank_filter", lambda a: (nd.rank_filter(a, 1, 3), nd.rank_filter(a, -2, (3, 2))), A, order=1)
of("percentile_filter", lambda a: (
    nd.percentile_filter(a, 30, 3), nd.percentile_filter(a, -20, (1, 4), origin=(0, 1))), A,
   order=1)  # fmt: skip
of("maximum_filter1d", lambda a: nd.maximum_filter1d(a, 3), A)
of("minimum_filter1d", lambda a: nd.minimum_filter1d(a, 2, axis=0, mode="wrap"), A)
of("maximum_filter", lambda a: nd.maximum_filter(a, footprint=CROSS), A)
of("minimum_filter", lambda a: nd.minimum_filter(a, 3, mode="constant", cval=-0.3), A)
for name in """grey_dilation grey_erosion grey_opening grey_closing morphological_gradient
               morphological_laplace white_tophat black_tophat""".split():  # fmt: skip
    of(name, lambda a, f=getattr(nd, name): (
        f(a, size=3), f(a, size=(2, 3), mode="constant", cval=0.1), f(a, footprint=CROSS)), A,
       order=1)  # fmt: skip
of("grey_dilation", lambda a: (
    nd.grey_dilation(a, size=(2, 3), origin=(0, 1)), nd.grey_dilation(a, structure=HEIGHTS),
    nd.grey_dilation(a, footprint=[[1, 0], [1, 1]])), A, order=1)  # fmt: skip
of("grey_erosion", lambda a: (
    nd.grey_erosion(a, size=(2, 3), origin=(0, -1)), nd.grey_erosion(a, structure=HEIGHTS)), A,
   order=1)  # fmt: skip
of("affine_transform", lambda a, m: (
    nd.affine_transform(a, m, offset=[0.19, 0.2], order=1),
    nd.affine_transform(a, m, 0.13, order=1, mode="nearest", output_shape=(3, 4)),
    nd.affine_transform(a, [0.9, 0.8], offset=0.33, order=1),
    nd.affine_transform(a, np.array([[0.9, 0.1, 0.2], [0.0, 0.8, 0.3]]), order=1)), A,
   np.array([[0.53, 0.01], [0.0, 0.52]]))  # fmt: skip
for name in "sum sum_labels mean variance standard_deviation maximum minimum".split():
    of(name, lambda a, f=getattr(nd, name): (
        f(a, LABELS, [1, 2, 3]), f(a, LABELS), f(a), f(a, LABELS, 2)), A)  # fmt: skip
of("center_of_mass", lambda a: (
    nd.center_of_mass(a), nd.center_of_mass(a, LABELS, [1, 2]), nd.center_of_mass(a, LABELS),
    nd.center_of_mass(a, LABELS, 2)), P)  # fmt: skip
