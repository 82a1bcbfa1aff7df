"""Which programs have users of SciPy's statistics, spectra, filters, controllers and rotations?"""

import numpy as np
import scipy.linalg as sl
import scipy.ndimage as nd
import scipy.optimize as so
import scipy.signal as sg
import scipy.special as sp
import scipy.stats as st
from scipy.spatial.transform import Rotation

from tests.catalogue.entry import Catalogue, array, scalar

catalogue = Catalogue()
program = catalogue.add


@program(array(8), array(8), truth="differences")
def market_beta(stock, market):
    line = st.linregress(market, stock)
    unexplained = stock - line.intercept - line.slope * market
    return line.slope + st.skew(unexplained) + line.stderr * line.rvalue**2


@program(array(32), truth="differences")
def spectral_flatness(x):
    f, power = sg.welch(sg.detrend(x), fs=4.0, nperseg=16)
    power = power[1:] + 1e-3
    centroid = np.sum(f[1:] * power) / np.sum(power)
    return st.gmean(power) / np.mean(power) + centroid


@program(array(3, 3), array(3, 1), truth="differences")
def cost_of_a_regulator(a, b):
    x = sl.solve_continuous_are(a, b, np.eye(3), np.eye(1))
    gain = b.T @ x
    closed = a - b @ gain
    return 0.1 * np.trace(x) + np.linalg.norm(gain) + np.trace(closed)


@program(array(3), array(3), truth="differences")
def reach_of_an_arm(angles, offset):
    joints = [Rotation.from_euler("ZYX", k * angles) for k in (1.0, 0.5)]
    at, turned = np.zeros(3), Rotation.from_rotvec(0.1 * offset)
    for joint, length in zip(joints, (1.0, 0.7)):
        turned = turned * joint
        at = at + turned.apply([length, 0.0, 0.1])
    return np.sum((at - offset) ** 2) + turned.magnitude() ** 2


@program(scalar(0.5, 1.5), truth="differences")
def dose_within_limits(potency):
    t = np.linspace(0.0, 4.0, 9)
    wanted = potency * t * np.exp(-t)

    def gap(p):
        return p[0] * t * np.exp(-p[1] * t) + p[2] - wanted

    found = so.least_squares(gap, [1.0, 0.9, 0.05], bounds=([0.0, 0.2, 0.02], [2.0, 0.95, 1.0]),
                             ftol=1e-15, xtol=1e-15, gtol=1e-15)  # fmt: skip
    return 100.0 * found.cost  # which SciPy finds to the last digits


@program(array(6, 7), truth="differences")
def edges_of_regions(image):
    smooth = nd.gaussian_gradient_magnitude(image, 1.0, mode="nearest")
    labels = np.arange(42).reshape(6, 7) // 14
    means = nd.mean(smooth, labels, [0, 1, 2])
    y, x = nd.center_of_mass(smooth + 1.0)
    return np.sum(means**2) + nd.standard_deviation(image, labels, 1) + 0.1 * y * x


@program(array(5), array(4), truth="differences")
def beam_of_modes(coefficients, at):
    modes = sp.eval_hermite(np.arange(5)[:, None], at)
    field = coefficients @ modes * np.exp(-0.5 * at**2)
    return np.sum(field**2) + sp.eval_legendre(3, np.tanh(at)).sum()


@program(array(9), array(5), truth="differences")
def unlikely_sample(x, y):
    density = st.gaussian_kde(x, 0.5)
    return np.sum(density.logpdf(y)) + st.ttest_ind(x, y).statistic + st.pearsonr(x[:5], y)[0]
