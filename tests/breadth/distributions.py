"""Uses of the distributions of scipy.stats."""

from __future__ import annotations

import numpy as np
import scipy.stats as st

from tests.breadth.case import add, draws

r, n = draws(7)

X, M, S = n(5), n(5), r(5)
P, U = r(5), r(5, low=0.15, high=0.85)
K = np.array([0, 2, 1, 4, 3])

add("scipy.stats.norm.logpdf", lambda x, m, s: st.norm.logpdf(x, m, s), X, M, S, native=True,
    narrow=False)  # fmt: skip
add("scipy.stats.norm.pdf", lambda x, m: st.norm.pdf(x, loc=m), X, M, narrow=False)
for name in ("cdf", "sf", "logcdf", "logsf"):
    add(f"scipy.stats.norm.{name}", lambda x, m, s, f=getattr(st.norm, name): f(x, m, s), X, M, S,
        narrow=False)  # fmt: skip
add("scipy.stats.norm.ppf", lambda q, m, s: st.norm.ppf(q, m, s), U, M, S, narrow=False)
add("scipy.stats.t.logpdf", lambda x, d, m, s: st.t.logpdf(x, d, m, s), X, 2.0 + P, M, S,
    narrow=False, native=True)  # fmt: skip
add("scipy.stats.t.pdf", lambda x, d: st.t.pdf(x, df=d), X, 2.0 + P, narrow=False)
for name in ("cdf", "sf"):
    add(f"scipy.stats.t.{name}", lambda x, m, f=getattr(st.t, name): f(x, 3.0, m), X, M,
        narrow=False)  # fmt: skip
for name in ("cauchy", "logistic"):
    for which in ("logpdf", "pdf", "cdf"):
        f = getattr(getattr(st, name), which)
        add(f"scipy.stats.{name}.{which}", lambda x, m, s, f=f: f(x, m, s), X, M, S, narrow=False)
add("scipy.stats.logistic.sf", lambda x: st.logistic.sf(x), X, narrow=False)
for name in ("laplace", "halfnorm", "expon", "uniform"):
    for which in ("logpdf", "pdf"):
        f = getattr(getattr(st, name), which)
        add(f"scipy.stats.{name}.{which}", lambda x, s, f=f: f(x, 0.1, 3.0 + s), P, S,
            narrow=False)  # fmt: skip
for name in ("cdf", "sf"):
    add(f"scipy.stats.expon.{name}", lambda x, s, f=getattr(st.expon, name): f(x, 0.1, s), P, S,
        narrow=False)  # fmt: skip
add("scipy.stats.gamma.logpdf", lambda x, a, s: st.gamma.logpdf(x, a, scale=s), P, S, r(5),
    narrow=False)  # fmt: skip
add("scipy.stats.gamma.pdf", lambda x, a: st.gamma.pdf(x, a), P, S, narrow=False)
for name in ("cdf", "sf"):
    add(f"scipy.stats.gamma.{name}", lambda x, s, f=getattr(st.gamma, name): f(x, 2.0, scale=s),
        P, S, narrow=False)  # fmt: skip
add("scipy.stats.gamma.ppf", lambda q: st.gamma.ppf(q, 2.0), U, narrow=False)
add("scipy.stats.invgamma.logpdf", lambda x, a: st.invgamma.logpdf(x, a), P, S, narrow=False)
add("scipy.stats.invgamma.pdf", lambda x, a: st.invgamma.pdf(x, a), P, S, narrow=False)
add("scipy.stats.chi2.logpdf", lambda x, d: st.chi2.logpdf(x, d), P, 2.0 + S, narrow=False)
add("scipy.stats.chi2.pdf", lambda x, d: st.chi2.pdf(x, d), P, 2.0 + S, narrow=False)
add("scipy.stats.chi2.cdf", lambda x: st.chi2.cdf(x, 3.0), P, narrow=False)
add("scipy.stats.beta.logpdf", lambda x, a, b: st.beta.logpdf(x, a, b), U, S, r(5), narrow=False)
add("scipy.stats.beta.pdf", lambda x, a, b: st.beta.pdf(x, a, b), U, S, r(5), narrow=False)
add("scipy.stats.beta.cdf", lambda x: st.beta.cdf(x, 2.0, 1.5), U, narrow=False)
add("scipy.stats.beta.ppf", lambda q: st.beta.ppf(q, 2.0, 1.5), U, narrow=False)
add("scipy.stats.lognorm.logpdf", lambda x, s: st.lognorm.logpdf(x, s), P, S, narrow=False)
add("scipy.stats.lognorm.pdf", lambda x, s: st.lognorm.pdf(x, s), P, S, narrow=False)
for which in ("logpmf", "pmf"):
    for name in ("poisson", "bernoulli", "binom", "nbinom", "geom"):
        f = getattr(getattr(st, name), which)
        if name == "poisson":
            add(f"scipy.stats.{name}.{which}", lambda mu, f=f: f(K, mu), P, narrow=False,
                native=which == "logpmf")  # fmt: skip
        elif name in ("bernoulli", "geom"):
            counts = K % 2 if name == "bernoulli" else K + 1
            add(f"scipy.stats.{name}.{which}", lambda p, f=f, k=counts: f(k, p), U, narrow=False)
        else:
            add(f"scipy.stats.{name}.{which}", lambda p, f=f: f(K, 5, p), U, narrow=False)
for name in ("poisson", "bernoulli", "binom", "nbinom", "geom"):
    for which in ("cdf", "sf", "logcdf", "logsf"):
        f = getattr(getattr(st, name), which)
        given = (5,) if name in ("binom", "nbinom") else ()
        counts = {"bernoulli": 0 * K, "geom": K + 1, "binom": K}.get(name, K)
        add(f"scipy.stats.{name}.{which}", lambda p, f=f, g=given, k=counts: f(k, *g, p), U,
            narrow=False)  # fmt: skip
C = n(3, 3) + 2.0 * np.eye(3)
add("scipy.stats.multivariate_normal.logpdf",
    lambda x, m, c: st.multivariate_normal.logpdf(x, m, c @ c.T), n(3), n(3), C, narrow=False)
add("scipy.stats.multivariate_normal.logpdf",
    lambda x, c: st.multivariate_normal.logpdf(x, cov=c @ c.T), n(4, 3), C, narrow=False)

# -- what follows from the distribution function, other distributions -----------------------------

for name, methods in {
    "norm": "isf", "t": "logcdf logsf ppf isf", "cauchy": "sf logcdf ppf isf",
    "logistic": "logcdf logsf ppf isf", "laplace": "cdf sf logcdf logsf ppf isf",
    "uniform": "cdf sf logcdf logsf ppf isf", "expon": "logsf logcdf ppf isf",
    "gamma": "logcdf logsf isf", "chi2": "sf logcdf logsf ppf isf", "beta": "sf logcdf logsf isf",
    "lognorm": "cdf sf logcdf logsf ppf isf", "halfnorm": "cdf sf logcdf logsf ppf isf",
    "invgamma": "cdf sf logcdf logsf ppf isf",
    "weibull_min": "logpdf pdf cdf sf logcdf logsf ppf isf",
    "pareto": "logpdf cdf sf logcdf logsf ppf isf",
    "gumbel_r": "logpdf cdf sf logcdf logsf ppf isf",
    "gumbel_l": "logpdf cdf sf logcdf logsf ppf isf",
    "rayleigh": "logpdf cdf sf logcdf logsf ppf isf",
    "maxwell": "logpdf pdf cdf sf logcdf logsf ppf isf",
    "halfcauchy": "logpdf pdf cdf sf logcdf logsf ppf isf",
    "f": "logpdf pdf cdf sf logcdf logsf ppf isf", "skewnorm": "logpdf pdf",
    "vonmises": "logpdf pdf",
}.items():  # fmt: skip
    law = getattr(st, name)
    shapes = {"t": (3.0,), "gamma": (2.0,), "chi2": (3.0,), "beta": (2.0, 1.5), "lognorm": (0.6,),
              "invgamma": (2.0,), "weibull_min": (1.7,), "pareto": (1.5,), "f": (3.0, 5.0),
              "skewnorm": (2.0,), "vonmises": (1.3,)}.get(name, ())  # fmt: skip
    shift = {"pareto": 1.0}.get(name, 0.0)
    for which in methods.split():
        f = getattr(law, which)
        if which in ("ppf", "isf"):
            add(f"scipy.stats.{name}.{which}", lambda q, s, f=f, p=shapes: f(q, *p, 0.2, s), U, S,
                narrow=False)  # fmt: skip
        elif name in ("uniform", "beta"):
            add(f"scipy.stats.{name}.{which}", lambda x, f=f, p=shapes: f(x, *p), U, narrow=False)
        else:
            add(f"scipy.stats.{name}.{which}",
                lambda x, s, f=f, p=shapes, d=shift: f(s * (x + d), *p, 0.0, s), P, S,
                narrow=False, rtol=1e-5)  # fmt: skip
for name, at in (("weibull_min", 1.7), ("skewnorm", 2.0), ("vonmises", 1.3), ("f", 3.0)):
    f = getattr(st, name).logpdf
    rest = (4.0,) if name == "f" else ()
    add(f"scipy.stats.{name}.logpdf", lambda c, f=f, r=rest: f(0.8, c, *r), at + 0.2 * n(3),
        narrow=False)  # fmt: skip
add("scipy.stats.multivariate_normal.pdf",
    lambda x, c: st.multivariate_normal.pdf(x, cov=c @ c.T), n(3), C, narrow=False)
add("scipy.stats.dirichlet.logpdf", lambda x, a: st.dirichlet.logpdf(np.append(x, 1.0 - sum(x)), a),
    np.array([0.2, 0.3]), r(3), narrow=False)
add("scipy.stats.multinomial.logpmf",
    lambda p: st.multinomial.logpmf([1, 2, 2], 5, np.append(p, 1.0 - sum(p))), np.array([0.2, 0.3]),
    narrow=False)  # fmt: skip
add("law.frozen",
    lambda x, m, s: (st.norm(m, s).logpdf(x), st.norm(m, scale=s).cdf(x)), X, M, S, narrow=False)

# -- moments, medians, intervals, entropies; matrices and vectors ---------------------------------

for name, shapes in {"norm": 0, "gamma": 1, "beta": 2, "t": 1, "lognorm": 1, "weibull_min": 1,
                     "gumbel_r": 0}.items():  # fmt: skip
    methods = "mean, var, std, entropy, median, interval"
    add(f"scipy.stats.{name}.{methods}", lambda p, s, law=getattr(st, name), k=shapes: (
        law.mean(*p[:k], 0.3, s), law.std(*p[:k], scale=s), law.var(*p[:k], scale=s),
        law(*p[:k], scale=s).entropy(), law.median(*p[:k], 0.3, s),
        law.interval(0.8, *p[:k], 0.3, s)),
        np.array([3.2, 2.7]), S, narrow=None, order=1)  # fmt: skip
for name in ("poisson", "binom", "geom"):
    given = (5,) if name == "binom" else ()
    add(f"scipy.stats.{name}.mean, std, var", lambda p, law=getattr(st, name), g=given: (
        law.mean(*g, p), law.std(*g, p), law(*g, p).var()), U, narrow=False, order=1)  # fmt: skip
P3, X3 = np.array([1.3, 2.1, 0.8]), n(3)
for name, methods, f in (
    ("multivariate_t", "logpdf pdf", lambda law, x, c: law(X3, x, c @ c.T, df=3.0 + x[0])),
    ("wishart", "logpdf pdf", lambda law, x, c: law(c @ c.T, 4.0 + x[0] ** 2, np.diag(P3))),
    ("invwishart", "logpdf pdf", lambda law, x, c: law(c @ c.T, 4.0 + x[0] ** 2, P3)),
    ("matrix_normal", "logpdf pdf",
     lambda law, x, c: law(np.outer(x, P3), 0.1 * C, rowcov=c @ c.T, colcov=np.diag(1.0 + x * x))),
    ("multivariate_normal", "entropy", lambda law, x, c: law(x, c @ c.T)),
):  # fmt: skip
    for which in methods.split():
        add(f"scipy.stats.{name}.{which}",
            lambda x, c, f=f, law=getattr(getattr(st, name), which): f(law, x, c), X3, C,
            narrow=False, order=1)  # fmt: skip
add("scipy.stats.multivariate_t.logpdf",
    lambda x: st.multivariate_t(df=4, shape=np.diag(P3)).logpdf(x), n(4, 3), narrow=False, order=1)
for which in ("mean", "var", "entropy"):
    add(f"scipy.stats.dirichlet.{which}", getattr(st.dirichlet, which), P3, narrow=False)
add("scipy.stats.dirichlet.pdf", lambda a: st.dirichlet.pdf([0.2, 0.3, 0.5], a), P3, narrow=False)
add("scipy.stats.dirichlet_multinomial.logpmf",
    lambda a: st.dirichlet_multinomial.logpmf([[1, 0, 4], [2, 2, 1]], a, 5), P3, narrow=False)
for which in ("logpmf", "pmf"):
    add(f"scipy.stats.betabinom.{which}",
        lambda p, f=getattr(st.betabinom, which): f(K, 5, p[0], p[1]), P3, narrow=False, order=1)
