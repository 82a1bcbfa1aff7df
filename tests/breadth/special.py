"""Uses of scipy.special."""

from __future__ import annotations

import numpy as np
import scipy.special as sp

from tests.breadth.case import add, draws

r, n = draws(11)

V, M = r(5), n(3, 4)

ONE = (
    "erf erfc gamma gammaln loggamma digamma psi expit log_expit exp2 exp10 expm1 log1p cbrt entr "
    "ndtr rgamma i0 i1 i0e i1e j0 j1 y0 y1 k0 k1 k0e k1e erfcx dawsn log_ndtr expi exp1 exprel "
    "cosm1 sindg cosdg tandg spence factorial"
).split()
for name in ONE:
    f = getattr(sp, name)
    add(f"scipy.special.{name}", lambda a, f=f: f(a), V, rtol=1e-5, narrow=name != "factorial",
        native=name in ("j1", "log_ndtr", "exprel"))  # fmt: skip
for name in ("logit", "erfinv", "ndtri", "erfcinv", "ellipk", "ellipe", "ellipkm1"):
    f = getattr(sp, name)
    add(f"scipy.special.{name}", lambda a, f=f: f(a), r(5, low=0.15, high=0.85))
TWO = (
    "xlogy xlog1py rel_entr kl_div beta betaln boxcox inv_boxcox poch binom huber pseudo_huber"
).split()
for name in TWO:
    f = getattr(sp, name)
    add(f"scipy.special.{name}", lambda a, b, f=f: f(a, b), V, r(5))
for name in ("jv", "jn", "jve", "yv", "yve", "iv", "kv", "struve", "modstruve", "gammainc",
             "gammaincc", "chdtr", "chdtrc"):  # fmt: skip
    f = getattr(sp, name)
    add(f"scipy.special.{name}", lambda a, f=f: (f(2.0, a), f(1.5, a[0])), V, narrow=False,
        native=name == "gammainc")  # fmt: skip
U = r(5, low=0.15, high=0.85)
add("scipy.special.gammaincinv", lambda a: sp.gammaincinv(2.0, a), U, narrow=False)
add("scipy.special.betainc", lambda a: sp.betainc(2.0, 1.5, a), U)
add("scipy.special.betaincinv", lambda a: sp.betaincinv(2.0, 1.5, a), U)
add("scipy.special.gammainc", lambda a, x: (sp.gammainc(a, x), sp.gammaincc(a, 2.0 * x)), V, r(5),
    native=True, narrow=False)  # fmt: skip
add("scipy.special.gammaincinv", lambda a, p: (sp.gammaincinv(a, p), sp.gammainccinv(a, p)), V, U,
    narrow=False)  # fmt: skip
add("scipy.special.betainc", lambda a, b, x: (sp.betainc(a, b, x), sp.betaincc(b, a, x)), V, r(5),
    U, native=True, narrow=False)  # fmt: skip
add("scipy.special.betaincinv", lambda a, b, p: (
    sp.betaincinv(a, b, p), sp.betainccinv(2.0, b, p)), 1.0 + V, r(5), U, narrow=False)  # fmt: skip
add("scipy.special.stdtr", lambda df, x: (sp.stdtr(df, x - 1.0), sp.stdtrit(1.0 + df, x / 2.0)), V,
    r(5), native=True, narrow=False)  # fmt: skip
add("scipy.special.pdtr", lambda a: sp.pdtr(3.0, a), V)
add("scipy.special.pdtrc", lambda a: sp.pdtrc(np.array([0.0, 1.0, 2.0, 3.0, 4.0]), a), V,
    narrow=False)  # fmt: skip
add("scipy.special.gdtr", lambda a, b: sp.gdtr(a, 2.0, b), V, r(5))
add("scipy.special.gdtrc", lambda a, b: sp.gdtrc(a, 2.0, b), V, r(5))
add("scipy.special.polygamma", lambda a: (sp.polygamma(1, a), sp.polygamma(0, a)), V,
    narrow=False)  # fmt: skip
add("scipy.special.radian", lambda a, b, c: sp.radian(a, b, c), V, r(5), r(5))
add("scipy.special.comb", lambda a, b: sp.comb(4.0 + a, b), V, r(5), narrow=False)
add("scipy.special.comb", lambda a, b: sp.comb(3.0 * a, 2.0 * b), V, r(5), narrow=False)
add("scipy.special.multigammaln", lambda a: sp.multigammaln(2.0 + a, 3), V, narrow=False)
add("scipy.special.logsumexp", lambda a: (sp.logsumexp(a), sp.logsumexp(a, axis=0)), M,
    native=True)  # fmt: skip
add("scipy.special.logsumexp", lambda a, b: sp.logsumexp(a, axis=1, b=b, keepdims=True), M, r(3, 4))
add("scipy.special.logsumexp", lambda a, b: (
    sp.logsumexp(a, b=b - 1.0, return_sign=True),
    sp.logsumexp(a, axis=1, b=a - 1.0, return_sign=True)), M, r(3, 4), narrow=False)  # fmt: skip
add("scipy.special.softmax", lambda a: (sp.softmax(a), sp.softmax(a, axis=1)), M, native=True)
add("scipy.special.log_softmax", lambda a: sp.log_softmax(a, axis=0), M)
for name in ("binom", "beta", "poch"):  # where gamma functions are negative
    f = getattr(sp, name)
    add(f"scipy.special.{name}", lambda a, b, f=f: f(a, b), np.array([-0.4, 1.3, 0.6, -1.7]),
        np.array([0.7, 2.6, 3.9, 0.45]))  # fmt: skip
add("scipy.special.gammasgn", lambda a: sp.gammasgn(4.0 * a), M, zero=True)
add("scipy.special.sinc", lambda a: sp.sinc(a), V)
for name in ("ive", "kve", "hyp0f1"):
    f = getattr(sp, name)
    add(f"scipy.special.{name}", lambda a, f=f: f(1.5, a), V, narrow=False, native=name == "kve")
add("scipy.special.kn", lambda a: sp.kn(2, a), V, narrow=False)
add("scipy.special.yn", lambda a: sp.yn(2, a), V, narrow=False)
add("scipy.special.hyp1f1", lambda a: sp.hyp1f1(1.2, 2.3, a), V, narrow=False)
add("scipy.special.hyp2f1", lambda a: sp.hyp2f1(1.2, 0.7, 2.3, a), U, narrow=False, native=True)
add("scipy.special.erfi", lambda a: sp.erfi(a), V, narrow=False)
add("scipy.special.betaincc", lambda a: sp.betaincc(2.0, 1.5, a), U, narrow=False)
add("scipy.special.stdtr", lambda a: sp.stdtr(3.0, a - 0.8), V, narrow=False)
for name in ("ellipkinc", "ellipeinc"):
    f = getattr(sp, name)
    add(f"scipy.special.{name}", lambda a, m, f=f: f(0.7 * a, m), V, U, narrow=False, rtol=1e-5)
for name in ("fdtr", "fdtrc"):
    f = getattr(sp, name)
    add(f"scipy.special.{name}", lambda a, f=f: f(3.0, 4.0, 2.0 * a), V, narrow=False)
add("scipy.special.stdtrit", lambda p: sp.stdtrit(3.0, p), U, narrow=False)
add("scipy.special.gammainccinv", lambda p: sp.gammainccinv(2.0, p), U, narrow=False)
add("scipy.special.betainccinv", lambda p: sp.betainccinv(2.0, 1.5, p), U, narrow=False)
add("scipy.special.rgamma", lambda a: sp.rgamma(a), np.array([-2.3, -0.4, 0.3, 0.7, 4.0]))
add("scipy.special.expn", lambda a: (sp.expn(3, a), sp.expn(1, a), sp.expn(0, a)), V, narrow=False)
add("scipy.special.owens_t", lambda a, b: sp.owens_t(a, b), n(5), n(5), narrow=False)
for name in ("spherical_jn", "spherical_yn", "spherical_in", "spherical_kn"):
    f = getattr(sp, name)
    for order in (0, 1, 3):
        add(f"scipy.special.{name}", lambda a, f=f, k=order: f(k, 1.0 + a), V, narrow=False)
        add(f"scipy.special.{name}", lambda a, f=f, k=order: f(k, 1.0 + a, derivative=True), V,
            narrow=False)  # fmt: skip


# -- several results, complex ones ----------------------------------------------------------------

S = n(5)
for name in ("fresnel", "airy"):
    f = getattr(sp, name)
    add(f"scipy.special.{name}", lambda a, f=f: f(a), S, native=name == "airy")
for name in ("sici", "shichi"):
    f = getattr(sp, name)
    add(f"scipy.special.{name}", lambda a, f=f: f(a), V)
add("scipy.special.ellipj", lambda u, m: sp.ellipj(3.0 * u, m), S, U, native=True, narrow=False)
add("scipy.special.wofz", lambda x, y: sp.wofz(x + 1j * y), S, V, native=True, narrow=False)
add("scipy.special.wofz", lambda x: (sp.wofz(x[0]), sp.wofz([x[1], x[2]]).real), S, narrow=False)
add("scipy.special.voigt_profile", lambda x, s, g: sp.voigt_profile(x, s, g), S, V, U, native=True,
    narrow=False)  # fmt: skip
add("scipy.special.polygamma", lambda a: sp.polygamma([0, 1, 2, 1, 1], a), V, narrow=False)
for _f in (sp.hankel1, sp.hankel2, sp.hankel1e, sp.hankel2e):
    add(f"scipy.special.{_f.__name__}", lambda x, f=_f: (f(0, x), f(1.5, x)), 0.5 + r(4),
        narrow=None)  # fmt: skip
add("scipy.special.powm1", lambda x, y: sp.powm1(x, y), r(4), n(4), narrow=None)
add("scipy.special.powm1", lambda x: (sp.powm1(-x, 3.0), sp.powm1(-x, -2.0)), r(4), narrow=None)
