"""Which functions of scipy.special have degrees that a loop counts up to?"""

from __future__ import annotations

import scipy.special as sp

from jitad.operators.plainly import stands_for_each
from jitad.plain import harmonics

stands_for_each({sp.sph_harm_y: harmonics.sph_harm_y})
