"""Uses of surfaces, radial functions, splines of images, cosine transforms, histograms along
several axes, np.poly1d, Lambert's function, parts and products of sparse matrices, rotations.
"""

from __future__ import annotations

import numpy as np
import scipy.fft
import scipy.interpolate as ip
import scipy.ndimage as nd
import scipy.sparse as ss
import scipy.special as sp
from scipy.spatial.transform import Rotation

from tests.breadth.case import add, draws

r, n = draws(113)

# -- surfaces, radial functions -------------------------------------------------------------------

GX, GY = np.array([0.0, 0.7, 1.1, 2.0, 3.3]), np.linspace(0.0, 2.0, 6)
Z, XS, YS = n(5, 6), r(4, high=3.1), r(4)
OUTSIDE = ip.RectBivariateSpline(GX, GY, Z)
SMOOTH = ip.SmoothBivariateSpline(r(30, high=3.1), r(30), n(30), s=25.0)
POINTS = np.array([[0, 0], [2, 0.1], [0, 2.1], [2, 2], [1, 1.05], [0.5, 1.5], [1.7, 0.3]])
AT, D = r(3, 2), n(7)
RADIAL = ip.RBFInterpolator(POINTS, n(7, 2), smoothing=0.1)
SINGLE = ip.RBFInterpolator(POINTS, D, kernel="cubic")


def through(name, f, *args, **how):
    add(f"scipy.interpolate.{name}", f, *args, narrow=False, **how)


def surface(z, **how):
    return ip.RectBivariateSpline(GX, GY, z, **how)


through("RectBivariateSpline", lambda z: surface(z).ev(XS, YS), Z)
through("RectBivariateSpline", lambda z: (
    surface(z)([0.3, 1.2], [0.5, 1.9]), surface(z, kx=1)(1.3, YS, grid=False)), Z)
through("RectBivariateSpline", lambda x, y: (
    OUTSIDE.ev(x, y), OUTSIDE.ev(x, y, dx=1), OUTSIDE.ev(x, y, dx=2, dy=1)), XS, YS)
through("RectBivariateSpline", lambda x: (OUTSIDE.ev(x + 9.0, 1.0), SMOOTH.ev(x, 1.0)), XS)
through("RectBivariateSpline", lambda x: ip.RectBivariateSpline(x, GY, Z).ev(1.7, 1.3), GX)
TCK = (OUTSIDE.tck[0], OUTSIDE.tck[1], OUTSIDE.tck[2], 3, 3)
through("bisplev", lambda x, y: (
    ip.bisplev(x[0], y[0], TCK), ip.bisplev(x, y[1], TCK, 1), ip.bisplev(x[1], y, TCK, 0, 2),
    ip.bisplev(x, y, TCK), ip.bisplev(x[0] + 9.0, y[0], TCK)), np.sort(XS), np.sort(YS))
through("bisplev", lambda c, t: ip.bisplev(0.4, 1.3, [t, *TCK[1:2], c, 3, 3]), TCK[2], TCK[0])
for kernel in ("linear", "thin_plate_spline", "cubic", "quintic"):
    through("RBFInterpolator", lambda d, p, k=kernel: ip.RBFInterpolator(POINTS, d, kernel=k)(p),
            D, AT, native=kernel == "cubic")
for kernel in ("multiquadric", "inverse_multiquadric", "inverse_quadratic", "gaussian"):
    through("RBFInterpolator", lambda d, p, k=kernel: ip.RBFInterpolator(
        p, d, kernel=k, epsilon=1.3, degree=1 if k == "gaussian" else None)(AT), D, POINTS)
through("RBFInterpolator", lambda p: (RADIAL(p), SINGLE(p)), AT)
through("RBFInterpolator", lambda d, s: ip.RBFInterpolator(POINTS, d, smoothing=s)(AT), D, r(7))
X = np.array([0.0, 0.4, 1.1, 1.9, 2.5, 3.3])
for method in ("akima", "makima"):
    through("Akima1DInterpolator", lambda x, y, m=method: ip.Akima1DInterpolator(
        x, y, method=m)([0.2, 1.3, 2.9]), X, n(6), native=method == "akima")
through("Akima1DInterpolator", lambda y: (
    ip.Akima1DInterpolator(X, y)(1.3), ip.Akima1DInterpolator(X, y.T, axis=1)(0.3, 1),
    ip.Akima1DInterpolator(X[:2], y[:2])(0.3)), n(6, 2))
STEPS = ip.interp1d(X, np.float32(n(6)), kind="previous")
for kind in ("nearest", "previous", "next", "linear"):
    add("scipy.interpolate.interp1d", lambda y, k=kind: ip.interp1d(X, y, kind=k)([0.3, 1.9]), n(6))
add("scipy.interpolate.interp1d", lambda x: STEPS(x) * x, r(3))

# -- images ---------------------------------------------------------------------------------------

IMAGE, SMALL, PLACES = n(17, 16), n(5, 6), r(2, 5, high=3.9)
add("scipy.ndimage.map_coordinates", lambda a: nd.map_coordinates(a, PLACES), SMALL, native=True)
add("scipy.ndimage.map_coordinates", lambda p: nd.map_coordinates(SMALL, p, order=5), PLACES,
    rtol=1e-5)
for order, mode in ((2, "nearest"), (3, "mirror"), (4, "constant"), (5, "nearest")):
    add("scipy.ndimage.map_coordinates", lambda p, k=order, m=mode: (
        nd.map_coordinates(SMALL, p, order=k, mode=m),
        nd.map_coordinates(SMALL, p, order=k, mode=m, prefilter=False),
        nd.map_coordinates(SMALL, 9.0 * p - 8.0, order=k, mode=m, cval=0.3)), PLACES)
add("scipy.ndimage.map_coordinates", lambda a: nd.map_coordinates(
    a, 7.0 * PLACES - 3.0, mode="reflect"), IMAGE, rtol=1e-5)
add("scipy.ndimage.shift", lambda a, s: nd.shift(a, s[:2]), SMALL, 0.3 * r(2))
add("scipy.ndimage.zoom", lambda a: nd.zoom(a, 1.5), SMALL)

add("scipy.ndimage.affine_transform", lambda a, m: nd.affine_transform(a, m, 0.237, mode="mirror"),
    SMALL, np.array([[0.9, 0.1], [-0.2, 1.1]]))
add("scipy.ndimage.rotate", lambda a: (
    nd.rotate(a, 30.0), nd.rotate(a, 30.0, reshape=False, order=1)), SMALL)
add("scipy.ndimage.rotate", lambda w: nd.rotate(SMALL, 10.0 * w[0], reshape=False), r(1), rtol=1e-5)
for order in (2, 3, 4, 5):
    add("scipy.ndimage.spline_filter1d", lambda a, k=order: (
        nd.spline_filter1d(a, k), nd.spline_filter1d(a, k, axis=0)), SMALL)
add("scipy.ndimage.spline_filter", lambda a: (nd.spline_filter(a), nd.spline_filter(a, 5)), SMALL)

# -- transforms by cosines and sines --------------------------------------------------------------

V, M = n(7), n(4, 5)
for name in ("dct", "idct", "dst", "idst"):
    f = getattr(scipy.fft, name)
    for kind in (1, 2, 3, 4):
        add(f"scipy.fft.{name}", lambda x, f=f, k=kind: (
            f(x, k), f(x, k, norm="ortho"), f(x, k, norm="forward"), f(x, k, norm="backward"),
            f(x, k, n=5), f(x, k, n=9), f(x, k, norm="ortho", orthogonalize=False),
            f(x, k, orthogonalize=True)), V, native=(name, kind) == ("dst", 2))
for name in ("dctn", "idctn", "dstn", "idstn"):
    f = getattr(scipy.fft, name)
    add(f"scipy.fft.{name}", lambda x, f=f: (
        f(x, 1), f(x, 3, norm="ortho"), f(x, s=(3, 6)), f(x, 4, s=4, axes=0), f(x, axes=-1)), M)

# -- histograms -----------------------------------------------------------------------------------

EDGES, A, B, W = np.array([0.2, 0.6, 1.0, 1.8]), r(9), r(9), r(9)
add("numpy.histogram2d", lambda a, b: np.histogram2d(a, b, EDGES)[0], A, B, zero=True)
add("numpy.histogram2d", lambda w: (
    np.histogram2d(A, B, [EDGES, EDGES[1:]], weights=w)[0],
    np.histogram2d(A, B, 3, density=True, weights=w)[0],
    np.histogram2d(A, B, (2, 3), range=[[0.0, 1.0], [0.5, 2.0]], weights=w)[0]), W, narrow=False,
    native=True)
add("numpy.histogram2d", lambda a: np.histogram2d(a, B, 3)[1:], A, narrow=False)
add("numpy.histogramdd", lambda w: (
    np.histogramdd(np.stack([A, B, W], 1), (2, 3, 1), weights=w)[0],
    np.histogramdd([A, B], 2, density=True, weights=w)[0]), W, narrow=False)

# -- polynomials ----------------------------------------------------------------------------------

P, T = n(3), n(4)
add("numpy.poly1d", lambda p, t: (
    np.poly1d(p)(t), np.poly1d(p).deriv()(t), np.poly1d(p).integ(2, k=[1.0, 2.0])(t)), P, T,
    native=True)
add("numpy.poly1d", lambda p, t: (
    (np.poly1d(p) * np.poly1d(t)).c, (2 - np.poly1d(p))(t), (np.poly1d(p) ** 3)(0.5),
    (np.poly1d(p) / 2)(t), (-np.poly1d(p)).coeffs, np.poly1d(p)[1], np.poly1d(p)[7] * t,
    np.poly1d(p).order * t, t[0] * np.poly1d(p), np.poly1d(p, True)(t),
    np.poly1d(np.poly1d(p))(0.5)), P, T)
add("numpy.polyval", lambda p: (np.polyval(p, 1.5), np.polyval(p, 2), np.polyval(p, [2, 3])), P)

# -- Lambert's function ---------------------------------------------------------------------------

add("scipy.special.lambertw", lambda x: (sp.lambertw(x), sp.lambertw(x).real), 3.0 * r(4),
    native=True)
add("scipy.special.lambertw", lambda x: (sp.lambertw(-x).real, sp.lambertw(-x, -1).real),
    np.array([0.05, 0.2, 0.3, 0.36]), rtol=1e-5, narrow=False)

# -- parts of sparse matrices, rotations by matrices and angles -----------------------------------

CSR = ss.random(5, 4, 0.5, format="csr", random_state=1)
ARRAY = ss.csr_array(CSR)


def held(x):
    return ss.csr_matrix((x, ([0, 1, 2, 0, 1, 2], [0, 1, 2, 1, 2, 0])), shape=(3, 3))


add("sparse.products of two", lambda x: (
    (held(x) @ held(x)).toarray(), (held(x).T @ held(x) @ held(x)) @ x[:3]), n(6), narrow=False,
    native=True)
add("sparse.products of two", lambda x: (
    (CSR.T @ ss.diags(x) @ CSR).toarray(), (ARRAY.T @ ARRAY) @ x[:4]), n(5), narrow=False)
add("sparse.parts", lambda x: (
    held(x)[0].toarray(), held(x)[1:, :2].toarray(), held(x)[0, 1], held(x)[2, 1], held(x)[-1, 0],
    held(x)[::2].toarray(), held(x)[:, 1] @ x[:1], held(x)[2:9].toarray()), n(6), narrow=False)
add("sparse.parts", lambda x: (CSR[2].toarray() @ x, CSR[1:4] @ x, ARRAY[:, 1:3].T @ x[[0, 1, 2, 3,
    0]], CSR[3, 1] * x), n(4), narrow=False)
add("sparse.kron", lambda x: (
    ss.kron(held(x), CSR).toarray(), ss.kron(CSR, held(x)) @ np.arange(12.0)), n(6), narrow=False)


def turned(f, *args, **how):
    add("scipy.spatial.transform.Rotation", f, *args, narrow=False, **how)


STACK = Rotation.from_rotvec([[0.3, 2.9, 0.1], [3, 0.1, 0.2], [0.1, 0.2, 2.8], [0.1, 0.2, 0.3]])
for matrix in (STACK.as_matrix(), STACK.as_matrix() + 0.02 * n(4, 3, 3), STACK[0].as_matrix()):
    turned(lambda m: Rotation.from_matrix(m).as_quat(), matrix, native=matrix.ndim == 2)
turned(lambda m: Rotation.from_matrix(m, assume_valid=True).as_quat(), STACK.as_matrix())
for seq in ("xyz", "ZYX", "zxz", "XZX", "YXZ"):
    turned(lambda w, s=seq: (
        Rotation.from_rotvec(w).as_euler(s), STACK.as_euler(s, degrees=True) * w), n(3))
turned(lambda w: (Rotation.from_rotvec(w).as_quat(canonical=True),
                  Rotation.from_rotvec(5.0 * w).as_quat(canonical=True, scalar_first=True)), n(3))


def _pyramid(a):
    total = 0.0
    for level in range(2):
        total += np.mean(a**2) * 2**level
        a = nd.zoom(a, 0.5, order=1)
    return total * a


add("scipy.ndimage.zoom", _pyramid, n(7, 6), narrow=None, order=1)
