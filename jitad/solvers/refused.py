"""Which functions of SciPy that call the user's have nothing that stands in for them, and what is
there to write instead?

They decide by numbers where to call it.  Where nothing is traced they run as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import scipy.integrate as si
import scipy.optimize as so

from jitad.errors import JitadTypeError
from jitad.solvers.entered import stands_in
from jitad.values.kind import fail

_LEAST = "Use jitad.argmin(f, x0): its derivative is that of the minimiser."
_SHOOT = ("Shoot: jitad.root for what is unknown at one end, by what solve_ivp gives at the other; "
          "or jitad.root for the values on a grid.")  # fmt: skip

REMEDIES: dict[Any, str] = {
    **dict.fromkeys((so.fmin_tnc, so.fmin_cobyla, so.differential_evolution, so.basinhopping,
                     so.dual_annealing, so.shgo, so.direct, so.brute), _LEAST),
    si.solve_bvp: _SHOOT,
}  # fmt: skip


def _refusing(original: Any) -> Callable[..., Any]:
    name = f"scipy.{original.__module__.split('.')[1]}.{original.__name__}"

    def refused(*_: Any, **__: Any) -> Any:
        raise fail(JitadTypeError, f"{name} is not supported on traced or differentiated values",
                   REMEDIES[original])  # fmt: skip

    return refused


for _original in REMEDIES:
    stands_in(_original)(_refusing(_original))
