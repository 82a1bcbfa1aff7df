"""What become SciPy's assignments and non-negative fits, where something is traced?"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.optimize as so

from jitad.operators.found import answers, indices
from jitad.values.registry import call, replaces


@replaces(so.linear_sum_assignment)
def linear_sum_assignment(cost_matrix: Any, maximize: bool = False) -> Any:
    find = answers(lambda c: so.linear_sum_assignment(c, maximize), (indices(),) * 2)
    return tuple(find(call(np.asarray, cost_matrix)))
