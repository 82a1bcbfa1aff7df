"""Which programs do all tests share?  The whole catalogue, by name.

Each program is a function as users write them, with a way to draw arguments inside its smooth
region; see `tests/catalogue/entry.py`.  `tests/truth.py` gives their derivatives from outside.
"""

from __future__ import annotations

from tests.catalogue import arrays, functions, models, numerics, recursion, scalars
from tests.catalogue.entry import Program

_MODULES = (scalars, arrays, functions, numerics, models, recursion)

PROGRAMS: dict[str, Program] = {p.name: p for m in _MODULES for p in m.catalogue}
MODULE: dict[str, str] = {p.name: m.__name__ for m in _MODULES for p in m.catalogue}

assert len(PROGRAMS) == sum(len(m.catalogue.programs) for m in _MODULES), "two of one name"
