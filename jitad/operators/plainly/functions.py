"""Which functions of scipy.special have degrees and orders that a loop counts up to?"""

from __future__ import annotations

import scipy.special as sp

from jitad.operators.plainly import stands_for_each
from jitad.plain import harmonics

stands_for_each({
    getattr(sp, name): getattr(harmonics, name)
    for name in ("sph_harm_y", "lpmv", "jvp", "yvp", "ivp", "kvp", "zeta")
})  # fmt: skip
