"""Do functions of SciPy give their dtype for float32, and functions of nothing NumPy's values?

SciPy itself is the truth: it keeps single precision in some functions, and not in others.
"""

import numpy as np
import pytest
import scipy.integrate as si
import scipy.optimize as so
import scipy.signal as sg
import scipy.special as sp
import scipy.stats as st

from jitad import jit, jit_grad, jvp
from tests.engines import ENGINES, as_emitted

X = np.random.default_rng(5).uniform(0.1, 0.9, 64)
SOS = sg.butter(2, 0.2, output="sos")
LAWS = {"norm": 0, "t": 1, "gamma": 1, "beta": 2, "chi2": 1, "f": 2, "expon": 0, "lognorm": 1,
        "weibull_min": 1, "pareto": 1}  # fmt: skip
CASES = {
    "detrend": lambda x: (sg.detrend(x), sg.detrend(x, type="constant")),
    "hilbert": sg.hilbert,
    "resample": lambda x: (sg.resample(x, 20), sg.resample(x, 40)),
    "filters": lambda x: (sg.filtfilt([0.2], [1, -0.8], x), sg.sosfiltfilt(SOS, x, padlen=12),
                          sg.savgol_filter(x, 5, 2), sg.lfilter(x[:2], x[1:3], x[:9])),
    "waves": lambda x: (sg.sawtooth(x), sg.square(x) * x, sg.chirp(x, 1.0, 1.0, 2.0)),
    "spectra": lambda x: (sg.welch(x, nperseg=16)[1], sg.periodogram(x)[1],
                          sg.csd(x, x[::-1], nperseg=16)[1], sg.spectrogram(x, nperseg=16)[2],
                          sg.coherence(x, x[::-1], nperseg=16)[1]),
    "two precisions": lambda x: sg.csd(x, x[::-1].astype(float), nperseg=16)[1],
    "integrals": lambda x: (si.simpson(x, dx=0.1), si.simpson(x[1:], dx=0.1),
                            si.cumulative_trapezoid(x, dx=0.1)),
    "polynomials": lambda x: (np.poly(x[:4]), np.polyval(x[:3], 1.5), np.polyval(x[:3], 2)),
    "special functions beside Python's numbers": lambda x: (
        sp.gammainc(1.5, x), sp.expn(2, x), sp.hyp2f1(0.5, 1.0, 1.5, x), sp.gammaincinv(1.5, x),
        sp.ellipeinc(x, 0.5), sp.kv(1.5, x), sp.jv(2, x), sp.stdtr(3.0, x), sp.xlogy(2.0, x)),
    "special functions of double precision": lambda x: (
        sp.polygamma(1, x), sp.multigammaln(x + 1, 2), sp.factorial(x), sp.spherical_jn(1, x),
        sp.spherical_in(2, x), sp.polygamma(np.float32(1.0), x), sp.factorial(x - 0.5),
        sp.factorial(x[0])),
    "float_power": lambda x: np.float_power(x, x[::-1]),
    "variances": lambda x: (np.var(x, mean=np.mean(x, keepdims=True)),
                            np.std(x, ddof=1, mean=np.float32(0.4))),
}  # fmt: skip
for law, shapes in LAWS.items():
    for method in ("logpdf", "cdf", "ppf"):
        CASES[f"{law}.{method}"] = lambda x, law=law, m=method, k=shapes: (
            getattr(getattr(st, law), m)(0.5, *[x[:3]] * k, x[0], x[1]),
            getattr(getattr(st, law), m)(x[:3], *[1.5] * k))  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("x", [X, np.float32(X)], ids=["double", "single"])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("engine", [as_emitted, lambda f, x: jvp(f, (x,), (x,))[0]],
                         ids=["compiled", "eager"])  # fmt: skip
def test_dtype_and_value(name, x, engine):
    f = CASES[name]
    want, got = f(x), engine(lambda x: f(x), x)
    several = isinstance(want, tuple)
    for w, g in zip(want, got, strict=True) if several else [(want, got)]:
        assert np.asarray(g).dtype == np.asarray(w).dtype
        single = x.dtype == np.float32
        rtol, atol = (2e-4, 1e-5) if single else (1e-9, 1e-15)
        np.testing.assert_allclose(g, w, rtol=rtol, atol=atol)


@pytest.mark.parametrize("solve", [
    lambda a: so.brentq(lambda x: x**3 - a, 0.0, 5.0), lambda a: so.newton(lambda x: x**3 - a, 1.0),
    lambda a: so.root(lambda x: x**3 - a, np.ones(1)).x[0],
    lambda a: so.root_scalar(lambda x: x**3 - a, bracket=(0.0, 5.0)).root,
])  # fmt: skip
def test_equations_with_a_number_of_single_precision(solve):
    assert np.isclose(jit(solve)(np.float32(1.3)), 1.3 ** (1 / 3), rtol=1e-6)


MEDIANS = {
    "all": lambda a: np.median(a), "rows": lambda a: np.median(a, axis=1, keepdims=True),
    "columns": lambda a: np.median(a, axis=0), "nanmedian": lambda a: np.nanmedian(a, axis=0),
    "nanquantile": lambda a: np.nanquantile(a, 0.3, axis=1),
    "chosen": lambda a: np.median(a[a > 9.0]),
    "counts": lambda a: np.bincount(a[:, :1].astype(int).ravel(), a[:, :1].ravel(), 3),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", MEDIANS)
def test_medians_of_nothing_are_nan(name, engine):
    """A kernel read what lies behind the array, or raised an IndexError."""
    for shape in ((0, 4), (3, 0), (3, 4)):
        if name == "counts" and shape[0] * shape[1] == 0:
            continue
        a = np.arange(12.0)[: shape[0] * shape[1]].reshape(shape)
        np.testing.assert_array_equal(ENGINES[engine](MEDIANS[name], a), MEDIANS[name](a))
    gradient = jit_grad(lambda a: np.median(a[a > 3.0]))(np.array([1.0, 5.0, 4.0]))
    np.testing.assert_array_equal(gradient, [0.0, 0.5, 0.5])


def test_counts_of_nothing():
    def counts(x, w):
        return np.bincount(x, weights=w, minlength=3)

    assert as_emitted(counts, np.zeros(0, int), np.zeros(0)).tolist() == [0.0, 0.0, 0.0]
