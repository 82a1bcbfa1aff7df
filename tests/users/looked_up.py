"""Which programs rely on what SciPy finds: distributions, peaks, neighbours, banded systems?"""

import collections
import functools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import linalg, signal, stats
from scipy.spatial import cKDTree

from tests.catalogue.entry import Catalogue, array, scalar

catalogue = Catalogue()
program = catalogue.add


@program(scalar(1.0, 1.5), scalar(0.4, 0.6), scalar(0.1, 0.2), truth="differences")
def gev_return_level(loc, scale, shape):
    x = np.array([1.2, 0.9, 2.1, 1.7, 1.1, 2.6])
    frozen = stats.genextreme(-shape, loc=loc, scale=scale)
    return -np.sum(frozen.logpdf(x)) + frozen.ppf(0.99)


@program(array(2), scalar(0.5, 1.0), truth="differences")
def tobit_and_truncated(beta, s):
    X = np.column_stack([np.ones(5), [0.1, 0.5, -0.3, 1.2, 0.7]])
    y = np.array([0.0, 0.4, 0.0, 1.0, 0.3])
    mu = X @ beta
    ll = np.where(y > 0, stats.norm.logpdf(y, mu, s), stats.norm.logcdf(-mu / s))
    seen = y > 0
    trunc = stats.truncnorm.logpdf(y[seen], -mu[seen] / s, np.inf, loc=mu[seen], scale=s)
    return -ll.sum() - 0.1 * trunc.sum()


@program(array(12), scalar(1.0, 10.0), truth="differences")
def hodrick_prescott_trend(y, lam):
    n = len(y)
    ab = np.zeros((3, n))
    ab[0, 2:] = lam
    ab[1, 1:] = -4 * lam
    ab[1, 1] = ab[1, -1] = -2 * lam
    ab[2] = 1 + 6 * lam
    ab[2, [0, -1]] = 1 + lam
    ab[2, [1, -2]] = 1 + 5 * lam
    trend = linalg.solveh_banded(ab, y)
    return np.sum((y - trend) ** 2)


@program(array(3, low=0.5, high=1.0), truth="differences")
def peaks_of_a_spectrum(a):
    t = np.arange(64) / 64
    x = sum(ai * np.sin(2 * np.pi * f * t) for ai, f in zip(a, (5, 12, 20)))
    P = np.abs(np.fft.rfft(x * signal.windows.hann(64)))
    peaks, props = signal.find_peaks(P, height=1.0)
    return np.sum(P[peaks] * peaks) + props["peak_heights"].sum()


@program(array(8, 2), array(8), truth="differences")
def inverse_distance_weighting(points, values):
    grid = np.array([[0.1, 0.2], [-0.4, 0.3], [0.6, -0.6]])
    d, i = cKDTree(points).query(grid, k=3)
    w = 1.0 / d**2
    return np.sum((w * values[i]).sum(1) / w.sum(1))


SURVIVAL = {
    "weibull": lambda a: stats.weibull_min(a[0], scale=np.exp(a[1])),
    "loglogistic": lambda a: stats.fisk(a[0], scale=np.exp(a[1])),
    "gompertz": lambda a: stats.gompertz(a[0], scale=np.exp(a[1])),
    "lognormal": lambda a: stats.lognorm(a[0], scale=np.exp(a[1])),
}


@program(array(2, low=0.5, high=1.5), truth="differences")
def best_survival_model_by_name(a):
    t = np.array([0.2, 0.7, 1.1, 1.9])
    d = np.array([1, 1, 0, 1], bool)
    out = {}
    for name, make in SURVIVAL.items():
        f = make(a)
        out[name] = f.logpdf(t[d]).sum() + f.logsf(t[~d]).sum()
    best = max(out, key=out.get)
    return out[best] + 0.1 * sum(out.values())


class Surface(NamedTuple):
    radius: float
    thickness: float
    n: float


@program(array(3, low=20.0, high=60.0), scalar(1.45, 1.6), truth="differences")
def spot_of_a_lens(radii, glass):
    system = [
        Surface(radii[0], 4.0, glass), Surface(-radii[1], 10.0, 1.0), Surface(radii[2], 30.0, 1.3)
    ]  # fmt: skip
    spots = []
    for h in np.linspace(-2, 2, 5):
        o, d, n1 = np.array([0.0, h]), np.array([1.0, 0.0]), 1.0
        z = 0.0
        for s in system:
            c = np.array([z + s.radius, 0.0])
            oc = o - c
            b = oc @ d
            t = -b - np.copysign(1.0, s.radius) * np.sqrt(b * b - (oc @ oc - s.radius**2))
            o = o + t * d
            nrm = (o - c) / s.radius
            eta = n1 / s.n
            cosi = -nrm @ d
            nrm, cosi = (-nrm, -cosi) if cosi < 0 else (nrm, cosi)
            d = eta * d + (eta * cosi - np.sqrt(1 - eta**2 * (1 - cosi**2))) * nrm
            n1 = s.n
            z += s.thickness
        spots.append(o[1] + d[1] / d[0] * (z - o[0]))
    return np.var(spots)


@functools.singledispatch
def area(shape):
    raise NotImplementedError


@dataclass
class Circle:
    r: float


@dataclass
class Rect:
    w: float
    h: float


@area.register
def _(shape: Circle):
    return math.pi * shape.r**2


@area.register
def _(shape: Rect):
    return shape.w * shape.h


@program(array(4, low=0.5, high=1.5), truth="differences")
def areas_by_dispatch(p):
    shapes = [Circle(p[0]), Rect(p[1], p[2]), Circle(p[3])]
    by = collections.defaultdict(float)
    for s in shapes:
        by[type(s).__name__] += area(s)
    return by["Circle"] * by["Rect"] + functools.reduce(lambda a, s: a + area(s), shapes, 0.0)
