"""Which forms of matrices, of scipy.linalg, are made by a loop over columns?"""

from __future__ import annotations

import scipy.linalg as sl

from jitad.operators.plainly import stands_for_each
from jitad.plain import matrix_forms

stands_for_each({
    sl.hessenberg: matrix_forms.hessenberg,
    sl.subspace_angles: matrix_forms.subspace_angles,
})
