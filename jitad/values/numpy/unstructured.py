"""What do the functions of numpy.lib.recfunctions give of traced arrays with fields?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib import recfunctions

from jitad.values.numpy.structured import FUNCTIONS, Element, Structured
from jitad.values.registry import call, replaces


@replaces(recfunctions.structured_to_unstructured, plain=False)
def structured_to_unstructured(arr: Any, dtype: Any = None, copy: Any = False,
                               casting: Any = "unsafe") -> Any:  # fmt: skip
    if not isinstance(arr, (Structured, Element)):
        return call(np.asarray, recfunctions.structured_to_unstructured(arr, dtype, copy, casting))
    columns = [p if inner else call(np.expand_dims, p, -1)
               for p, inner in zip(arr.parts, map(arr._inner, range(len(arr.parts))), strict=True)]
    out = call(np.concatenate, columns, axis=-1)
    return out if dtype is None else out.astype(dtype)


FUNCTIONS[recfunctions.structured_to_unstructured] = structured_to_unstructured
