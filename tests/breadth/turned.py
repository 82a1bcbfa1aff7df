"""Uses of scipy.spatial.transform.Rotation."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from tests.breadth.case import add, draws

r, n = draws(103)

W, MANY, Q, V = n(3), n(4, 3), n(4), n(3)
OUTSIDE, SEVERAL = Rotation.from_rotvec([0.1, 0.2, 0.3]), Rotation.from_rotvec(MANY)
vec = Rotation.from_rotvec


def of(f, *args, **how):
    add("scipy.spatial.transform.Rotation", f, *args, narrow=False, **how)


of(lambda w: (vec(w).as_matrix(), vec(w).as_quat(), vec(w).magnitude(),
              vec(30.0 * w, degrees=True).as_rotvec(degrees=True)), W, native=True)  # fmt: skip
for at in (np.zeros(3), np.array([3e-2, 1e-3, -1e-2])):  # where angles are small, series
    of(lambda w: (vec(w).as_matrix(), vec(w).as_rotvec()), at)
of(lambda w: vec(w).as_rotvec(), 4.0 * W)
of(lambda m, v: (vec(m).as_matrix(), vec(m).apply(v), vec(m).inv().apply(m),
                 (vec(m) * vec(v)).as_rotvec(), vec(m)[1:3].as_quat()), MANY, V)  # fmt: skip
for seq in ("xyz", "ZYX", "zxz", "XY"):
    of(lambda a, s=seq: (
        Rotation.from_euler(s, a[: len(s)]).as_quat(),
        Rotation.from_euler(s, 50.0 * a[: len(s)], degrees=True).apply([1, 2, 3], inverse=True)),
       W)  # fmt: skip
of(lambda a: (Rotation.from_euler("x", a[0]).as_matrix(),
              Rotation.from_euler("Z", a[:, None]).as_matrix()), W)  # fmt: skip
of(lambda a: Rotation.from_euler("xyz", a).as_matrix(), MANY)
of(lambda q: (Rotation.from_quat(q).as_matrix(),
              Rotation.from_quat(q, scalar_first=True).as_quat(scalar_first=True)), Q)  # fmt: skip
of(lambda v: (OUTSIDE.apply(v), SEVERAL.apply(v), (OUTSIDE * vec(v)).as_matrix(),
              OUTSIDE.inv().as_matrix() @ v, (vec(v) * SEVERAL).as_quat()), V, native=True)
