"""Uses of scipy.stats on samples: sums-up, transformations, tests, correlations, densities."""

from __future__ import annotations

import numpy as np
import scipy.stats as st

from tests.breadth.case import add, draws

r, n = draws(61)
P, Y, M, Q, V5, V4 = r(6), n(6), n(6, 3), r(6, 3), n(5), n(4)


def of(name, f, *args, **how):
    add(f"scipy.stats.{name}", f, *args, **how)


of("sem", lambda x: (st.sem(x), st.sem(x, axis=1, keepdims=True)), M)
of("skew", lambda x: st.skew(x, bias=False), P)
for k in (1, 2, 3, 4):
    of("moment", lambda x, k=k: (st.moment(x, k), st.moment(x, k, axis=None, center=0.5)), M,
       narrow=False)
of("moment", lambda x: st.moment(x, [2, 3], axis=1), M, narrow=False)
of("variation", lambda x: (st.variation(x), st.variation(x, None, ddof=1)), Q)
of("gstd", lambda x: (st.gstd(x), st.gstd(x, axis=1, keepdims=True)), Q)
of("iqr", lambda x: (st.iqr(x), st.iqr(x, axis=1, rng=(10, 80), scale="normal", keepdims=True),
                     st.iqr(x, interpolation="midpoint")), M)  # fmt: skip
of("median_abs_deviation", lambda x: (
    st.median_abs_deviation(x), st.median_abs_deviation(x, axis=1, scale="normal"),
    st.median_abs_deviation(x, axis=None, center=np.mean)), M)  # fmt: skip
of("trim_mean", lambda x: (st.trim_mean(x, 0.2), st.trim_mean(x, 0.2, axis=None),
                           st.trim_mean(x, 0.4, axis=1)), M)  # fmt: skip
for method in ("average", "min", "max", "dense", "ordinal"):
    of("rankdata", lambda x, m=method: (
        st.rankdata(np.round(x), m), st.rankdata(x, m, axis=1)), M, zero=True)  # fmt: skip
of("circmean", lambda x: (st.circmean(x), st.circmean(x, high=180, low=-180, axis=0)), M)
of("circvar", lambda x: (st.circvar(x), st.circvar(x, axis=1, keepdims=True)), M)
of("circstd", lambda x: (st.circstd(x), st.circstd(x, 3.0, axis=0, normalize=True)), M)
of("boxcox", lambda x: (st.boxcox(x, 0.3), st.boxcox(x, 0.0), st.boxcox(x, x[0])), P)
of("yeojohnson", lambda x: (st.yeojohnson(x, 0.3), st.yeojohnson(x, 0.0), st.yeojohnson(x, 2.0)),
   Y)  # fmt: skip
of("boxcox_llf", lambda x, p: (st.boxcox_llf(p[0], x), st.boxcox_llf(0.4, Q * x[0], axis=1)), P,
   r(2))  # fmt: skip
of("yeojohnson_llf", lambda x, p: st.yeojohnson_llf(p[0], x), Y, r(2))
of("pearsonr", lambda x, y: (*st.pearsonr(x, y), st.pearsonr(x, y, alternative="less").pvalue),
   P, Y, native=True)  # fmt: skip
of("pearsonr", lambda x, y: st.pearsonr(x, y, axis=1).statistic, M, Q, order=1)
of("spearmanr", lambda x, y: [*st.spearmanr(x, y)], P, Y, zero=True)
of("linregress", lambda x, y: (
    *st.linregress(x, y), st.linregress(x, y).intercept_stderr,
    st.linregress(x, y, alternative="greater").pvalue), P, Y, native=True)  # fmt: skip
of("ttest_1samp", lambda x: (
    *st.ttest_1samp(x, 0.3), st.ttest_1samp(x, 0.0, None, alternative="greater")[1]), M)
of("ttest_1samp", lambda x: (st.ttest_1samp(x, 0.3).df * x, st.ttest_1samp(x[:, 0], 0.1).df), M)
of("ttest_ind", lambda x, y: (
    *st.ttest_ind(x, y), st.ttest_ind(x, y[:4], equal_var=False).statistic,
    st.ttest_ind(x, y, equal_var=False).df), M, Q)  # fmt: skip
of("ttest_rel", lambda x, y: (*st.ttest_rel(x, y, axis=1),), M, Q, rtol=1e-5)
of("f_oneway", lambda x, y: (*st.f_oneway(x, y, x[:3] * 2), *st.f_oneway(x, y)), P, Y)
of("f_oneway", lambda x, y: st.f_oneway(x, y, axis=1).statistic, M, Q)
of("chisquare", lambda x: (
    *st.chisquare(x), st.chisquare(x, np.mean(x) * np.ones(6), ddof=1).pvalue), P, narrow=None)
of("jarque_bera", lambda x: [*st.jarque_bera(x)], P)

INSIDE, ACROSS = st.gaussian_kde(V5), st.gaussian_kde(M.T, "silverman")
of("gaussian_kde", lambda x, y: (
    st.gaussian_kde(x)(y), st.gaussian_kde(x, 0.4).logpdf(y), st.gaussian_kde(x).pdf(y[0])), V5,
   V4, narrow=False)  # fmt: skip
of("gaussian_kde", lambda x, w: st.gaussian_kde(x, "silverman", w)([0.1, 1.0]), Y, P, narrow=False)
of("gaussian_kde", lambda x: (
    st.gaussian_kde(x.T)(x.T[:, :3] + 0.1), st.gaussian_kde(x.T)([0.1, 0.2, 0.3])), M,
   narrow=False)  # fmt: skip
of("gaussian_kde", lambda x: (INSIDE(x), INSIDE.evaluate(x[:2])), V4, native=True, narrow=False)
of("gaussian_kde", lambda x: (ACROSS(x.T), ACROSS.logpdf(x.T[:, :1])), M + 0.1, narrow=False)
of("wasserstein_distance", lambda x, y, w: (
    st.wasserstein_distance(x, y), st.wasserstein_distance(x, y, w, [1, 2, 3, 4])), Y, V4, P,
   native=True, narrow=False)  # fmt: skip
of("energy_distance", lambda x, y: st.energy_distance(x, y), V5, V4, narrow=False)
