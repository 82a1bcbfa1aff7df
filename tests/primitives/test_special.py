"""Are the rows of scipy.special right, in value and derivative?  Truth: mpmath, 30 digits."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp

from jitad import JitadError, derivative, grad, jit_grad
from jitad.emit import native
from jitad.primitives import TABLE, several, special
from jitad.primitives.table import Chain, Unknown
from jitad.values.number import o
from tests.engines import as_emitted


def _faddeeva(z: Any) -> Any:
    return mp.exp(-z * z) * mp.erfc(-1j * z)


TRUTH = {
    "j0": lambda x: mp.besselj(0, x),
    "j1": lambda x: mp.besselj(1, x),
    "y0": lambda x: mp.bessely(0, x),
    "y1": lambda x: mp.bessely(1, x),
    "i0": lambda x: mp.besseli(0, x),
    "i1": lambda x: mp.besseli(1, x),
    "i0e": lambda x: mp.besseli(0, x) * mp.exp(-abs(x)),
    "i1e": lambda x: mp.besseli(1, x) * mp.exp(-abs(x)),
    "k0": lambda x: mp.besselk(0, x),
    "k1": lambda x: mp.besselk(1, x),
    "k0e": lambda x: mp.besselk(0, x) * mp.exp(x),
    "k1e": lambda x: mp.besselk(1, x) * mp.exp(x),
    "jv": mp.besselj,
    "yv": mp.bessely,
    "iv": mp.besseli,
    "kv": mp.besselk,
    "struve": mp.struveh,
    "modstruve": mp.struvel,
    "erfcx": lambda x: mp.exp(x * x) * mp.erfc(x),
    "erfinv": mp.erfinv,
    "erfcinv": lambda x: mp.erfinv(1 - x),
    "dawsn": lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x),
    "log_ndtr": lambda x: mp.log(mp.ncdf(x)),
    "ndtri": lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1),
    "expi": mp.ei,
    "exp1": mp.e1,
    "spence": lambda x: mp.re(mp.polylog(2, 1 - x)),
    "ellipk": mp.ellipk,
    "ellipe": mp.ellipe,
    "ellipkm1": lambda p: mp.ellipk(1 - p),
    "expn": mp.expint,
    "rel_entr": lambda x, y: x * mp.log(x / y),
    "kl_div": lambda x, y: x * mp.log(x / y) - x + y,
    "sindg": lambda x: mp.sin(mp.radians(x)),
    "cosdg": lambda x: mp.cos(mp.radians(x)),
    "tandg": lambda x: mp.tan(mp.radians(x)),
    "betaln": lambda a, b: mp.log(mp.beta(a, b)),
    "beta": mp.beta,
    "binom": mp.binomial,
    "poch": mp.rf,
    "powm1": lambda x, y: mp.powm1(x, y),
    "rgamma": mp.rgamma,
    "pseudo_huber": lambda d, r: d * d * (mp.sqrt(1 + (r / d) ** 2) - 1),
    "boxcox": lambda x, p: mp.expm1(p * mp.log(x)) / p,
    "boxcox1p": lambda x, p: mp.expm1(p * mp.log1p(x)) / p,
    "owens_t": lambda h, a: mp.quad(
        lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), [0, a]) / (2 * mp.pi),
    "stdtr": lambda df, x: mp.quad(lambda t: (1 + t * t / df) ** (-(df + 1) / 2), [-mp.inf, 0, x])
    * mp.gamma((df + 1) / 2) / mp.sqrt(df * mp.pi) / mp.gamma(df / 2),
    "gammainc": lambda a, x: mp.gammainc(a, 0, x, regularized=True),
    "gammaincc": lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True),
    "betainc": lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True),
    "betaincc": lambda a, b, x: mp.betainc(a, b, x, 1, regularized=True),
    "ive": lambda v, x: mp.besseli(v, x) * mp.exp(-abs(x)),
    "kve": lambda v, x: mp.besselk(v, x) * mp.exp(x),
    "hyp0f1": mp.hyp0f1,
    "hyp1f1": mp.hyp1f1,
    "hyp2f1": mp.hyp2f1,
    "erfi": mp.erfi,
    "ellipkinc": mp.ellipf,
    "ellipeinc": mp.ellipe,
    "fresnel_s": mp.fresnels,
    "fresnel_c": mp.fresnelc,
    "sici_s": mp.si,
    "sici_c": mp.ci,
    "shichi_s": mp.shi,
    "shichi_c": mp.chi,
    "airy_a": mp.airyai,
    "airy_ap": lambda x: mp.airyai(x, 1),
    "airy_b": mp.airybi,
    "airy_bp": lambda x: mp.airybi(x, 1),
    "ellipj_sn": lambda u, m: mp.ellipfun("sn", u, m=m),
    "ellipj_cn": lambda u, m: mp.ellipfun("cn", u, m=m),
    "ellipj_dn": lambda u, m: mp.ellipfun("dn", u, m=m),
    "ellipj_am": lambda u, m: mp.quad(lambda t: mp.ellipfun("dn", t, m=m), [0, u]),
    "wofz_re": lambda x, y: mp.re(_faddeeva(mp.mpc(x, y))),
    "wofz_im": lambda x, y: mp.im(_faddeeva(mp.mpc(x, y))),
}
INVERSES = {"gammaincinv": "gammainc", "betaincinv": "betainc", "stdtrit": "stdtr",
            "gammainccinv": "gammaincc", "betainccinv": "betaincc"}  # fmt: skip


def points(name: str) -> np.ndarray:
    rng = np.random.default_rng(sum(map(ord, name)))
    return np.array([[rng.uniform(*d) for d in TABLE[name].domain] for _ in range(6)])


def test_every_row_has_a_truth() -> None:
    assert set(TRUTH) | set(INVERSES) == {*special.OPERANDS, *several.PARTS}


@pytest.mark.parametrize("name", TRUTH)
def test_value_and_derivative(name: str) -> None:
    row = TABLE[name]
    with mp.workdps(30):
        for at in points(name):
            exact = [mp.mpf(float(a)) for a in at]
            y = row.evaluate(*at)
            assert y == pytest.approx(float(TRUTH[name](*exact)), rel=1e-12)
            assert row.partials is not None
            found = row.partials(o, *at, y)
            for k, p in enumerate(found):
                if isinstance(p, Unknown):
                    assert k < len(at) - 1
                    continue
                want = mp.diff(
                    lambda x, e=exact, k=k: TRUTH[name](*e[:k], x, *e[k + 1 :]), exact[k]
                )
                p = p.product if isinstance(p, Chain) else p
                assert p == pytest.approx(float(mp.re(want)), rel=1e-10, abs=1e-12), at


@pytest.mark.parametrize("name", INVERSES)
def test_inverses(name: str) -> None:
    row, forth = TABLE[name], TABLE[INVERSES[name]]
    for at in points(name):
        y = row.evaluate(*at)
        assert forth.evaluate(*at[:-1], y) == pytest.approx(at[-1], rel=1e-10)
        assert row.partials is not None and forth.partials is not None
        back = forth.partials(o, *at[:-1], y, at[-1])[-1]
        assert row.partials(o, *at, y)[-1] == pytest.approx(1.0 / back, rel=1e-10)


@pytest.mark.parametrize("name, slope", [("j1", 0.5), ("i1", 0.5), ("i1e", 0.5), ("j0", 0.0)])
def test_at_zero(name: str, slope: float) -> None:
    row = TABLE[name]
    assert row.partials is not None
    assert row.partials(o, 0.0, row.evaluate(0.0))[0] == slope


def test_kernels_compute_the_same() -> None:
    names = [*special.OPERANDS, *several.PARTS]
    rows = [tuple(points(name)[0]) for name in names]
    count = max(map(len, rows))
    calls = [f"{n}({', '.join(f'a[{k}, {j}]' for j in range(len(r)))})"
             for k, (n, r) in enumerate(zip(names, rows, strict=True))]  # fmt: skip
    text = f"from jitad.emit.preamble import {', '.join(names)}\n\n\ndef f(a):\n"
    f = native.compile(text + f"    return ({', '.join(calls)},)\n", "f")
    a = np.array([[*r, *[0.0] * (count - len(r))] for r in rows])
    for name, r, found in zip(names, rows, f(a), strict=True):
        assert found == pytest.approx(TABLE[name].evaluate(*r), rel=1e-13), name


def test_a_derivative_that_nobody_knows_is_an_error() -> None:
    from scipy.special import jv

    assert grad(lambda x: jv(0.0, x))(1.0) == pytest.approx(-jv(1.0, 1.0))
    with pytest.raises(JitadError, match="jv by its order is not known"):
        grad(lambda v: jv(v, 1.0))(2.0)


# Where T is rarely below x, or above, and where shapes are small or large, from mpmath.
SHAPES = {
    ("gammainc", 0, 50.0, 20.0): -1.1690273381623859e-08,
    ("gammainc", 0, 0.01, 0.001): -5.957905603446865,
    ("gammaincc", 0, 2.0, 40.0): 5.732487245607515e-16,
    ("gammaincc", 0, 1e4, 1e4): 0.003989456049453668,
    ("gammainc", 0, 3.0, 1e-05): -2.1281579984929335e-15,
    ("gammainc", 0, 0.01, 5.0): -0.0012026299019355631,
    ("gammainc", 0, 0.5, 100.0): -1.3739187207497376e-44,
    ("gammainc", 0, 1e-4, 1.0): -0.2194288278492489,
    ("gammaincc", 0, 30.0, 3.0): 9.933782875422915e-20,
    ("betainc", 0, 0.01, 2.0, 0.5): -0.19525481184514096,
    ("betainc", 0, 50.0, 20.0, 0.5): -4.693762659490066e-05,
    ("betaincc", 0, 50.0, 20.0, 0.9): 2.1367353961306314e-06,
    ("betaincc", 0, 2.0, 3.0, 0.99): 4.2709536681027946e-06,
    ("betainc", 0, 0.1, 0.1, 1e-06): -2.380162152026378,
    ("betainc", 0, 3.0, 0.01, 0.5): -0.0006740062615962185,
}


@pytest.mark.parametrize("at", SHAPES, ids=str)
def test_shapes_in_the_tails(at: tuple[Any, ...]) -> None:
    name, k, *args = at
    row = TABLE[name]
    assert row.partials is not None
    found = row.partials(o, *args, row.evaluate(*args))[k]
    assert found == pytest.approx(SHAPES[at], rel=1e-10)


def test_slopes_by_degrees_of_freedom() -> None:
    """Far out, and at zero, where Student's distribution is even in what it is computed by."""

    def truth(df: Any, x: Any) -> Any:
        y = mp.betainc(df / 2, 0.5, 0, df / (df + x * x), regularized=True) / 2
        return 1 - y if x > 0 else y

    row = TABLE["stdtr"]
    assert row.partials is not None
    for df, x in ((3.0, -40.0), (0.7, 2.0), (30.0, -9.0), (5.0, 1e-6), (4.0, -1.0), (1e4, -9.0)):
        with mp.workdps(30):
            want = float(mp.diff(lambda t, x=x: truth(t, mp.mpf(x)), df))
        assert row.partials(o, df, x, 0.0)[0] == pytest.approx(want, rel=1e-8, abs=1e-60), (df, x)
    assert row.partials(o, 3.0, 0.0, 0.5)[0] == pytest.approx(0.0, abs=1e-16)


@pytest.mark.parametrize("v, x", [(2.5, 1e7), (100.3, 1.1e4), (7.0, 51.0)])
def test_scaled_bessel_functions_far_out(v: float, x: float) -> None:
    """Where neighbours in order have most digits in common with them."""
    for name in ("ive", "kve"):
        slope = derivative(lambda t, f=getattr(sp, name): f(v, t))
        with mp.workdps(50):
            want = [float(mp.diff(lambda t, n=name: TRUTH[n](v, t), x, k)) for k in (1, 2)]
        assert slope(x) == pytest.approx(want[0], rel=1e-13)
        assert derivative(slope)(x) == pytest.approx(want[1], rel=1e-13)


@pytest.mark.parametrize("name", ["hankel1", "hankel2"])
def test_hankel_functions_of_negative_numbers(name: str) -> None:
    x = np.array([-3.2, -0.5, 2.0])
    for suffix in ("", "e"):
        f = getattr(sp, name + suffix)
        for v in (0, 1.5, -2.3):
            np.testing.assert_allclose(as_emitted(lambda x, f=f, v=v: f(v, x), x), f(v, x), 1e-13)
    by_re, by_im = (grad(lambda x, part=part: np.sum(part(getattr(sp, name)(1.5, x))))(x)
                    for part in (np.real, np.imag))  # fmt: skip
    np.testing.assert_allclose(by_re + 1j * by_im, getattr(sp, f"h{name[-1]}vp")(1.5, x), 1e-12)


def test_where_differences_would_cancel() -> None:
    """Far out on the line of a spectrum; where a sine is divided by its angle."""
    partials: Any = TABLE["wofz_re"].partials
    for z in (1e4 + 1e-3j, 13.0 + 0.5j, -200.0 + 7.0j, 0.1 + 300.0j, 20.0 - 0.1j):
        with mp.workdps(60):
            slope = mp.diff(_faddeeva, mp.mpc(z))
        found = partials(o, z.real, z.imag, TABLE["wofz_re"].evaluate(z.real, z.imag))
        assert found == pytest.approx((float(slope.real), -float(slope.imag)), rel=1e-11), z
    for x in (0.0, -1e-9, 0.999, 1.001, -3.0):
        for name, truth in (("sici_s", mp.sin), ("shichi_s", mp.sinh)):
            row: Any = TABLE[name]
            want = float(truth(x) / x) if x else 1.0
            assert row.partials(o, x, row.evaluate(x))[0] == pytest.approx(want, rel=1e-14)


@pytest.mark.parametrize("x, d", [(1e8, 2.5), (1e13, 0.5), (40.0, 3.0), (29.9, 3.0), (31.0, -0.9)])
@pytest.mark.parametrize("name", ["betaln", "beta", "binom", "poch"])
def test_beta_functions_of_large_numbers(name: str, x: float, d: float) -> None:
    """Differences of logarithms of gamma functions, which have no digits in common with them."""
    f = getattr(sp, name)
    truth = (lambda a, b: mp.log(abs(mp.beta(a, b)))) if name == "betaln" else TRUTH[name]
    np.testing.assert_allclose(as_emitted(lambda a, b: f(a, b), x, d), f(x, d), rtol=1e-13)
    with mp.workdps(60):
        slopes = [float(mp.diff(truth, (x, d), n)) for n in ((1, 0), (0, 1), (2, 0), (1, 1))]

    def both(a: Any, b: Any) -> Any:
        return (*grad(f, (0, 1))(a, b), *derivative(lambda a: grad(f, (0, 1))(a, b))(a))

    np.testing.assert_allclose(both(x, d), slopes, rtol=1e-9)
    np.testing.assert_allclose(as_emitted(both, x, d), slopes, rtol=1e-9)


@pytest.mark.parametrize("name, args", [("binom", (1.0, 2.0)), ("binom", (-0.5, 2.5)),
                                        ("binom", (2.5, -1.0)), ("poch", (-2.0, 2.5)),
                                        ("poch", (-2.0, 4.0)), ("gammainc", (1e-4, 3.0)),
                                        ("powm1", (1e-9, 2.0)), ("pseudo_huber", (1e9, 0.3)),
                                        ("pseudo_huber", (0.5, 1e-6)),
                                        ("pseudo_huber", (1e-6, 3.0))])  # fmt: skip
def test_slopes_where_results_are_zero_or_next_to_one(name: str, args: tuple[float, ...]) -> None:
    """And the second ones."""
    truth, f = TRUTH[name], getattr(sp, name)
    for k in range(2):
        slope = derivative(lambda t, k=k: f(*args[:k], t, *args[k + 1 :]))
        with mp.workdps(80):
            one = lambda t, k=k: truth(*args[:k], t, *args[k + 1 :])
            step = mp.mpf(10) ** -15 * abs(args[k])
            want = [float(mp.diff(one, mp.mpf(args[k]), n, h=step)) for n in (1, 2)]
        found = slope(args[k]), derivative(slope)(args[k])
        assert found == pytest.approx(want, rel=1e-8), k


@pytest.mark.parametrize("name", ["boxcox", "boxcox1p", "entr", "rel_entr", "kl_div", "cosdg",
                                  "sindg", "tandg", "betaln", "binom", "powm1", "fdtr", "fdtrc",
                                  "gdtr", "gdtrc", "huber", "loggamma", "pdtr", "pdtrc",
                                  "pseudo_huber", "rgamma", "inv_boxcox"])  # fmt: skip
def test_values_at_edges_are_scipys(name: str) -> None:
    f = getattr(sp, name)
    edges = np.array([-1e12, -1.5, -1.0, -0.0, 0.0, 1e-9, 0.5, 1.0 - 1e-9, 1.0, 3.0, 90.0, 1e12])
    edges = edges[np.abs(edges) < 1e9] if f.nin == 3 else edges
    args = [a.ravel() for a in np.meshgrid(*[edges] * f.nin)]
    calls = (lambda x: f(x)), (lambda x, y: f(x, y)), (lambda x, y, z: f(x, y, z))
    found = as_emitted(calls[f.nin - 1], *args)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(found, f(*args), rtol=1e-9, atol=1e-15)


def test_what_scipy_takes_the_whole_part_of() -> None:
    for f in (sp.kn, sp.yn):
        assert as_emitted(lambda n, x, f=f: f(n, x), -1.5, 0.3) == pytest.approx(f(-1, 0.3))
    with pytest.warns(RuntimeWarning, match="truncated"):
        found = grad(lambda x: sp.expn(0.7, x))(0.3)
    assert found == pytest.approx(grad(lambda x: sp.expn(0, x))(0.3))


def test_slopes_of_boxcox_at_zero() -> None:
    for p, slopes in ((2.0, (0.0, 0.25)), (1.0, (1.0, 1.0)), (0.5, (np.inf, 4.0))):
        for way in (grad, jit_grad):
            assert way(sp.boxcox, (0, 1))(0.0, p) == slopes
            assert way(lambda x, p: sp.boxcox1p(x, p), (0, 1))(-1.0, p) == slopes
