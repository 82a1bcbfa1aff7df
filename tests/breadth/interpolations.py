"""Uses of scipy.interpolate's polynomials through points, its splines of FITPACK, and shortcuts."""

from __future__ import annotations

import numpy as np
import scipy.interpolate as ip

from tests.breadth.case import add, draws

r, n = draws(109)

X, Y, Y2, G = np.array([0.0, 0.4, 1.1, 1.9, 2.5, 3.3]), n(6), n(6, 2), n(4, 5)
P = np.array([0.13, 1.3, 2.9])
GX, GY = np.array([0.0, 1.0, 2.5, 3.0]), np.linspace(0.0, 2.0, 5)
SMOOTH = ip.UnivariateSpline(X, Y, s=0.5)
THROUGH, STACKED = ip.BarycentricInterpolator(X, Y), ip.BarycentricInterpolator(X, Y2)


def of(name, f, *args, **how):
    add(f"scipy.interpolate.{name}", f, *args, narrow=False, **how)


of("interpn", lambda v: (ip.interpn((GX, GY), v, [[0.5, 0.3], [1.7, 1.9]]),
                         ip.interpn((GX, GY), v, [[0.6, 0.3]], method="nearest")), G)  # fmt: skip
of("pchip_interpolate", lambda y, p: (
    ip.pchip_interpolate(X, y, p), *ip.pchip_interpolate(X, y, p, der=[0, 1])), Y, P)  # fmt: skip
of("barycentric_interpolate", lambda x, y, p: ip.barycentric_interpolate(x, y, p), X, Y, P,
   native=True)  # fmt: skip
of("barycentric_interpolate", lambda y, p: ip.barycentric_interpolate(X, y, p), Y2, P)
of("krogh_interpolate", lambda y, p: ip.krogh_interpolate(X, y, p), Y, P)
of("BarycentricInterpolator", lambda y, p: ip.BarycentricInterpolator(X, y)(p[0]), Y, P)
of("BarycentricInterpolator", lambda p: (THROUGH(p), STACKED(p[:2])), P)
of("KroghInterpolator", lambda y, p: (
    ip.KroghInterpolator(X, y)(1.1), ip.KroghInterpolator(X, y)(p.reshape(3, 1))), Y, P,
   order=1)  # fmt: skip
of("InterpolatedUnivariateSpline", lambda y, p: (
    ip.InterpolatedUnivariateSpline(X, y)(p), ip.InterpolatedUnivariateSpline(X, y, k=1)(p),
    ip.InterpolatedUnivariateSpline(X, y)(p[0], 1),
    ip.InterpolatedUnivariateSpline(X, y).integral(0.2, p[1])), Y, P, order=1)  # fmt: skip
of("UnivariateSpline", lambda y, p: (
    ip.UnivariateSpline(X, y, s=0)(p), ip.UnivariateSpline(X, y, k=1, s=0).derivative()(p[0])),
   Y, P, order=1)  # fmt: skip
of("UnivariateSpline", lambda p: (SMOOTH(p), SMOOTH.derivative()(p), SMOOTH.integral(0.2, p[0])),
   P)  # fmt: skip

# -- scattered points -----------------------------------------------------------------------------

CLOUD = np.array([[0.0, 0.0], [2.0, 0.1], [0.1, 2.0], [2.1, 2.2], [1.0, 1.1]])
WITHIN = np.array([[1.0, 0.3], [0.3, 1.0], [1.7, 1.2], [5.0, 0.2]])
HEIGHTS = np.cos(np.arange(10.0)).reshape(5, 2)
MADE_OF = [ip.LinearNDInterpolator(CLOUD, HEIGHTS, fill_value=0.5),
           ip.NearestNDInterpolator(CLOUD, HEIGHTS)]  # fmt: skip
GRID = np.meshgrid([0.9, 1.2], [0.3, 0.4, 0.5], indexing="ij")
add("scipy.interpolate.griddata", lambda p, v: (
    ip.griddata(p, v, WITHIN, fill_value=0.1), ip.griddata(p, v[:, 0], tuple(GRID)),
    ip.griddata(p, v, WITHIN, "nearest")), CLOUD, HEIGHTS, narrow=None, order=1)  # fmt: skip
add("scipy.interpolate.LinearNDInterpolator", lambda p, at: (
    *(f(at) for f in MADE_OF), MADE_OF[0](at[:1, 0], 0.4),
    ip.LinearNDInterpolator((p[:, 0], p[:, 1]), HEIGHTS, 0.2)(at),
    ip.NearestNDInterpolator(p, HEIGHTS)(at) * at), CLOUD, WITHIN, narrow=None,
    order=1)  # fmt: skip
