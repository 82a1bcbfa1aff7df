"""Which functions does scipy.optimize have to try its methods on?"""

from __future__ import annotations

import scipy.optimize as so

from jitad.operators.plainly import stands_for_each
from jitad.plain import trial_functions

stands_for_each({
    so.rosen: trial_functions.rosen,
    so.rosen_der: trial_functions.rosen_der,
    so.rosen_hess: trial_functions.rosen_hess,
    so.rosen_hess_prod: trial_functions.rosen_hess_prod,
})
