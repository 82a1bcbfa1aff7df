"""Which programs have users who compute on grids, images, meshes and tables?"""

import numpy as np
import scipy.fft
import scipy.interpolate as ip
import scipy.ndimage as nd
import scipy.sparse as ss
import scipy.sparse.linalg as ssl
import scipy.special as sp
from numpy.lib.stride_tricks import sliding_window_view
from scipy.spatial.transform import Rotation

from tests.catalogue.entry import Catalogue, array, scalar

catalogue = Catalogue()
program = catalogue.add
MAP = ip.RectBivariateSpline(np.arange(7.0), np.arange(6.0),
                             np.random.default_rng(4).normal(size=(7, 6)))  # fmt: skip
SHAPE = np.random.default_rng(5).normal(size=(9, 8))


@program(array(6, 7, low=0.4, high=1.6), scalar(0.05, 0.15), truth="differences")
def heat_with_ghost_cells(u, k):
    u = np.pad(u, 1, mode="edge")
    for _ in range(4):
        u[0], u[-1] = u[1], u[-2]
        u[:, 0], u[:, -1] = u[:, 1], 0.0
        u[1:-1, 1:-1] += k * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
                              - 4.0 * u[1:-1, 1:-1])  # fmt: skip
    return np.sum(u[1:-1, 1:-1] ** 2)


@program(array(16, low=0.4, high=1.6), scalar(0.02, 0.1), truth="differences")
def burgers_by_spectrum(u, nu):
    k = 1j * np.fft.rfftfreq(16, 1 / 16)
    for _ in range(3):
        spectrum = np.fft.rfft(u)
        ux, uxx = np.fft.irfft(k * spectrum, 16), np.fft.irfft(k**2 * spectrum, 16)
        u = u - 0.01 * (u * ux - nu * uxx)
    return np.sum(u**3)


@program(array(12), truth="differences")
def poisson_by_sines(f):
    """Zero at both ends: the sines are what the second difference stretches."""
    n = len(f)
    k = np.arange(1, n + 1)
    stretched = 2.0 - 2.0 * np.cos(np.pi * k / (n + 1))
    u = scipy.fft.idst(scipy.fft.dst(f, 1) / stretched, 1)
    return np.sum(u * f) + np.sum(np.diff(u, prepend=0.0, append=0.0) ** 2)


@program(array(8, 6), truth="differences")
def image_by_cosines(image):
    blocks = scipy.fft.dctn(image, 2, norm="ortho")
    weights = 1.0 / (1.0 + np.add.outer(np.arange(8), np.arange(6)))
    small = scipy.fft.idctn(blocks * weights, 2, norm="ortho")
    return np.sum((small - image) ** 2) + scipy.fft.dct(image, 4, axis=0)[0, 0]


@program(array(3, low=-0.3, high=0.3), array(9, 8), truth="differences")
def registered_images(motion, image):
    """By cubic splines: turned about the middle, moved, compared."""
    c, s = np.cos(motion[0]), np.sin(motion[0])
    y, x = np.mgrid[1:8, 1:7] - 4.0
    at = [c * y - s * x + 4.0 + motion[1], s * y + c * x + 4.0 + motion[2]]
    moved = nd.map_coordinates(image, at, order=3, mode="nearest")
    return np.mean((moved - SHAPE[1:8, 1:7]) ** 2)


@program(array(9, 8), scalar(0.1, 0.4), truth="differences")
def stretched_and_shifted(image, by):
    larger = nd.zoom(image, 1.5, order=3)
    return np.sum(larger**2) + np.sum(nd.shift(image, by, order=2, mode="mirror") * image)


@program(array(10, low=0.6, high=4.4), array(10, low=0.6, high=4.4), truth="differences")
def path_over_hills(x, y):
    heights = MAP.ev(x, y)
    slope = MAP.ev(x, y, dx=1) ** 2 + MAP.ev(x, y, dy=1) ** 2
    steps = np.hypot(np.diff(x), np.diff(y)) + np.diff(heights) ** 2
    return np.sum(steps) + 0.1 * slope.mean()


@program(array(7), array(4, 2, low=0.2, high=1.8), truth="differences")
def levels_at_stations(values, at):
    stations = np.array([[0, 0], [2, 0.1], [0, 2.1], [2, 2], [1, 1.05], [0.5, 1.5], [1.7, 0.3]])
    surface = ip.RBFInterpolator(stations, values, smoothing=0.05)
    bumps = ip.RBFInterpolator(stations, values**2, kernel="gaussian", epsilon=1.2)
    return np.sum(surface(at) ** 2) + bumps(at).sum()


@program(array(7), truth="differences")
def smooth_curve_by_akima(y):
    x = np.array([0.0, 0.5, 1.4, 2.0, 3.1, 3.6, 4.4])
    curve = ip.Akima1DInterpolator(x, y)
    t = np.linspace(0.1, 4.3, 9)
    return np.sum(curve(t) ** 2) + np.sum(curve.derivative()(t) ** 2)


@program(array(3, low=-1.2, high=1.2), array(3, 3, low=-0.02, high=0.02), truth="differences")
def attitude_from_matrices(turn, noise):
    measured = Rotation.from_rotvec(turn).as_matrix() + noise
    attitude = Rotation.from_matrix(measured)
    yaw, pitch, roll = attitude.as_euler("ZYX")
    return yaw**2 + pitch * roll + np.sum((attitude.apply([1.0, 2.0, 3.0]) - 1.0) ** 2)


@program(array(6, low=0.5, high=1.5), array(6), truth="complex", argnums=(0, 1))
def trusses(stiffness, load):
    """B' diag(k) B u = f of a chain of springs that is held at both ends."""
    stretch = ss.csr_array((np.r_[np.ones(7), -np.ones(6)],
                            (np.r_[0:7, 1:7], np.r_[0:7, 0:6])), shape=(7, 7))[:, :6]  # fmt: skip
    springs = ss.diags_array(np.concatenate([stiffness, stiffness[:1]]))
    u = ssl.spsolve((stretch.T @ springs @ stretch).tocsc(), load)
    return load @ u


@program(array(8, low=0.3, high=1.7), array(8), truth="differences")
def fitted_polynomial(x, y):
    p = np.poly1d(np.polyfit(x, y, 2))
    area = p.integ()
    return np.sum((p(x) - y) ** 2) + area(1.0) - area(0.0) + p.deriv()(0.5) + (p * p)(0.3)


@program(array(3, low=0.1, high=0.8), scalar(0.3, 0.9), truth="differences")
def diode_currents(voltages, resistance):
    """I = (exp(V - I R) - 1), solved by Lambert's function."""
    w = sp.lambertw(resistance * np.exp(voltages + resistance)).real
    return np.sum((w / resistance - 1.0) ** 2)


@program(array(20, low=0.05, high=0.95), array(20, low=0.05, high=0.95), array(20),
         truth="differences", argnums=(2,))  # fmt: skip
def charges_on_a_mesh(x, y, charge):
    mesh, *_ = np.histogram2d(x, y, bins=(3, 4), range=[[0, 1], [0, 1]], weights=charge)
    return np.sum(mesh**2) + np.add.reduceat(mesh, [0, 2], axis=1)[0, 0]


@program(array(7, 3), truth="differences")
def nearest_two_of_each(points):
    apart = np.sum((points[:, None] - points[None]) ** 2, axis=-1) + 10.0 * np.eye(7)
    nearest = np.sort(np.argpartition(apart, 2, axis=1)[:, :2], axis=1)
    return np.sum(np.sqrt(np.take_along_axis(apart, nearest, axis=1)))


@program(array(8, 8), array(3, 3), truth="differences")
def windows_and_norms(image, kernel):
    found = np.einsum("ijkl,kl->ij", sliding_window_view(image, (3, 3)), kernel)
    return np.hypot.reduce(found, axis=(0, 1)) + np.sum(found[::2, 1:] * found[1::2, :-1])


@program(array(12), array(12, low=0.5, high=2.0), np.array([3, 0, 2, 2, 1, 3, 0, 1, 1, 2, 3, 0]),
         truth="differences")  # fmt: skip
def groups_by_reduceat(x, w, group):
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(group[order]) > 0])
    total = np.add.reduceat((w * x)[order], starts)
    weight = np.bincount(group, weights=w)
    highest = np.full(4, -np.inf)
    np.maximum.at(highest, group, x)
    return np.sum((total / weight - highest) ** 2)
