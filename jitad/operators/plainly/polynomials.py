"""Which functions of NumPy's polynomials go on as long as numbers tell?"""

from __future__ import annotations

import numpy as np

from jitad.operators.plainly import stands_for_each
from jitad.plain import polynomials

stands_for_each({np.polydiv: polynomials.polydiv})
