"""What becomes `scipy.ndimage.label`?"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.ndimage as nd

from jitad.operators.found import answers, indices
from jitad.values.registry import call, replaces


@replaces(nd.label)
def label(input: Any, structure: Any = None) -> Any:
    image = call(np.asarray, input)
    find = answers(lambda a: nd.label(a, structure), (indices(image.ndim, np.int32), 0))
    return tuple(find(call(np.not_equal, image, 0)))
