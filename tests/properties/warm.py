"""What has a process that is to run random programs loaded and computed?  Imported for its effects.

Processes that are forked from it share the twins of the library's own functions, types that Numba
knows, and what NumPy and SciPy import late.
"""

from __future__ import annotations

import gc

from tests.properties import generate
from tests.properties.arrays import generate as of_arrays
from tests.properties.arrays.check import check as check_arrays
from tests.properties.check import check
from tests.properties.choices import Choices, Seeded

for _number in range(8):
    _ways = ("eager", "emitted", "native")[: 2 + (_number == 0)]
    check(generate.program(Choices(Seeded(0, _number))).source, _number, "warm", _ways)
    check_arrays(of_arrays.program(Choices(Seeded(0, _number)), _number), _number, "warm", _ways)
gc.collect()
gc.freeze()
