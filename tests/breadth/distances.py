"""Uses of the distances of scipy.spatial."""

from __future__ import annotations

import numpy as np
from scipy.spatial import distance

from tests.breadth.case import add, draws

r, n = draws(31)

U, V, A, B = n(3), n(3), n(4, 3), n(2, 3)
VI = np.eye(3) + 0.2
PLAIN = ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski", "cosine",
         "correlation", "canberra", "braycurtis")  # fmt: skip

for name in PLAIN:
    add("scipy.spatial.distance.cdist", lambda a, b, m=name: distance.cdist(a, b, m), A, B,
        native=name == "euclidean")
    one = getattr(distance, name)
    add(f"scipy.spatial.distance.{name}", lambda u, v, f=one: f(u, v), U, V, narrow=False)
add("scipy.spatial.distance.cdist", lambda a, b: distance.cdist(a, b, "minkowski", p=3), A, B)
add("scipy.spatial.distance.cdist", lambda a, b: distance.cdist(a, b, "mahalanobis", VI=VI), A, B)
add("scipy.spatial.distance.cdist",
    lambda a, b, v: distance.cdist(a, b, "seuclidean", V=v), A, B, r(3))
add("scipy.spatial.distance.pdist", lambda a: (distance.pdist(a), distance.pdist(a, "cosine")), A,
    native=True)
add("scipy.spatial.distance.seuclidean", distance.seuclidean, U, V, r(3), narrow=False)
add("scipy.spatial.distance.mahalanobis", lambda u, v: distance.mahalanobis(u, v, VI), U, V,
    narrow=False)
add("scipy.spatial.distance.jensenshannon",
    lambda p, q: (distance.jensenshannon(p, q), distance.jensenshannon(p, q, base=2)), r(4), r(4),
    narrow=False)
add("scipy.spatial.distance.squareform", lambda a, d: (
    distance.squareform(distance.pdist(a)), distance.squareform(d),
    distance.squareform(distance.squareform(d))), A, r(6), native=True)  # fmt: skip
add("scipy.spatial.distance.cdist", lambda a, b: distance.cdist(a, b, "seuclidean"), A, B)
add("scipy.spatial.distance.pdist", lambda a: distance.pdist(a, "seuclidean"), A, narrow=False)
