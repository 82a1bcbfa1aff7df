"""Which programs do all tests share?  The whole catalogue, by name; and users' programs beside it.

Each program is a function as users write them, with a way to draw arguments inside its smooth
region; see `tests/catalogue/entry.py`.  `tests/truth.py` gives their derivatives from outside.
"""

from __future__ import annotations

from tests.catalogue import arrays, functions, models, numerics, recursion, scalars
from tests.catalogue.entry import Program
from tests.users import (
    arrayed,
    assembled,
    collected,
    computed,
    control,
    courses,
    engineering,
    estimated,
    everyday,
    finance,
    gridded,
    idioms,
    keeping,
    machinelearning,
    machines,
    met,
    mixed,
    modelled,
    objects,
    physics,
    projects,
    pythonic,
    researched,
    routines,
    searched,
    sequences,
    statistics,
    surveyed,
    tutorials,
    ventures,
)
from tests.users import (
    numerics as textbook,
)

_MODULES = (scalars, arrays, functions, numerics, models, recursion)

PROGRAMS: dict[str, Program] = {p.name: p for m in _MODULES for p in m.catalogue}
MODULE: dict[str, str] = {p.name: m.__name__ for m in _MODULES for p in m.catalogue}

# Written as users write, with no regard to what the engine likes; `tests/users` checks them.
_USERS = (finance, physics, statistics, machinelearning, textbook, pythonic, tutorials,
          engineering, sequences, idioms, control, objects, estimated, computed,
          modelled, mixed, collected, routines, everyday, projects, machines, courses,
          arrayed, ventures, surveyed, gridded, searched, met, researched,
          keeping, assembled)  # fmt: skip

USERS: dict[str, Program] = {p.name: p for m in _USERS for p in m.catalogue}

# What is not compiled, with the reason, which LIMITATIONS.md tells.
NOT_COMPILED: dict[str, str] = {}

assert len(USERS) == sum(len(m.catalogue.programs) for m in _USERS), "two of one name"
assert len(PROGRAMS) == sum(len(m.catalogue.programs) for m in _MODULES), "two of one name"
