"""What are the densities of scipy.stats of several variables, of matrices, of mixed parameters?"""

from __future__ import annotations

import scipy.stats as st

from jitad.operators.plainly import stands_for_each
from jitad.plain import several_variables as several
from jitad.values.scipy import laws

stands_for_each({
    st.multivariate_t.logpdf: several.t_logpdf,
    st.multivariate_t.pdf: several.t_pdf,
    st.wishart.logpdf: several.wishart_logpdf,
    st.wishart.pdf: several.wishart_pdf,
    st.invwishart.logpdf: several.invwishart_logpdf,
    st.invwishart.pdf: several.invwishart_pdf,
    st.matrix_normal.logpdf: several.matrix_normal_logpdf,
    st.matrix_normal.pdf: several.matrix_normal_pdf,
    st.multivariate_normal.entropy: several.normal_entropy,
    st.dirichlet.pdf: several.dirichlet_pdf,
    st.dirichlet.mean: several.dirichlet_mean,
    st.dirichlet.var: several.dirichlet_var,
    st.dirichlet.entropy: several.dirichlet_entropy,
    st.dirichlet_multinomial.logpmf: several.dirichlet_multinomial_logpmf,
    st.betabinom.logpmf: several.betabinom_logpmf,
    st.betabinom.pmf: several.betabinom_pmf,
})
for _name in ("multivariate_t", "wishart", "invwishart", "matrix_normal", "dirichlet", "betabinom",
              "dirichlet_multinomial"):  # fmt: skip
    laws.enter(_name, getattr(st, _name))
