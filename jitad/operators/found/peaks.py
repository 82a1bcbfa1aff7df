"""What become SciPy's searches for peaks and extrema of sampled curves?"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal as ss

from jitad.errors import JitadTypeError
from jitad.operators.found import answers, indices
from jitad.values.active import any_traced
from jitad.values.kind import fail
from jitad.values.registry import call, replaces


@replaces(ss.find_peaks)
def find_peaks(x: Any, height: Any = None, threshold: Any = None, distance: Any = None,
               prominence: Any = None, width: Any = None, wlen: Any = None, rel_height: Any = 0.5,
               plateau_size: Any = None) -> Any:  # fmt: skip
    bounds = (height, threshold, distance, prominence)
    if width is not None or plateau_size is not None or any_traced(bounds):
        raise fail(JitadTypeError, "find_peaks is supported without width= and plateau_size=, with "
                   "plain bounds", "Choose among its peaks by a mask.")  # fmt: skip
    x = call(np.asarray, x, float)

    def find(values: Any) -> Any:
        peaks, known = ss.find_peaks(values, *bounds, wlen=wlen)
        bases = known.get("left_bases", peaks), known.get("right_bases", peaks)
        return peaks, *(np.asarray(b, int) for b in bases)

    peaks, left, right = answers(find, (indices(),) * 3)(x)
    known: dict[str, Any] = {}
    if height is not None:
        known["peak_heights"] = x[peaks]
    if threshold is not None:
        known["left_thresholds"] = call(np.subtract, x[peaks], x[call(np.subtract, peaks, 1)])
        known["right_thresholds"] = call(np.subtract, x[peaks], x[call(np.add, peaks, 1)])
    if prominence is not None:
        base = call(np.maximum, x[left], x[right])
        known["prominences"] = call(np.subtract, x[peaks], base)
        known |= {"left_bases": left, "right_bases": right}
    return peaks, known


def _extrema(original: Any) -> None:
    @replaces(original)
    def replacement(data: Any, axis: int = 0, order: int = 1, mode: str = "clip") -> Any:
        data = call(np.asarray, data)
        many = data.ndim
        find = answers(lambda d: original(d, axis, order, mode), (indices(),) * many)
        return tuple(find(data))


for _original in (ss.argrelmax, ss.argrelmin):
    _extrema(_original)
