"""What does a kernel take in a call, if the call is one of the kind that it was made for?

A reader is a small generated function, like the entries of `entries.py`; it calls nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitad.calls.entries import ABSENT, LOOKUP, Source, asked, parameters
from jitad.structures import flatten
from jitad.trace.traced import Traced


def reader(
    traced: Traced, function: Any, args: tuple[Any, ...]
) -> Callable[..., tuple[Any, ...] | None]:
    """A function of arguments like these that gives the values of the tape's parameters.

    It gives None for arguments of other types, and where a guard does not hold; extents, and the
    ints that are inputs, are for the caller to look at.
    """
    leaves, structure = flatten((args, {}))
    s = Source(function, absent=ABSENT, LOOKUP=LOOKUP, F=function)
    names, tests = asked(s, traced, structure, leaves)
    operands = [s.values.get(p) or s.at(p) for p in parameters(traced)]
    lines = [
        f"def entry({', '.join([*(f'{n}=absent' for n in names), '*more'])}):",
        "    try:",
        f"        args = ({''.join(f'{n}, ' for n in names)})",
        f"        if {' and '.join(['not more', *tests])}:",
        f"            return ({''.join(f'{o}, ' for o in operands)})",
        "    except LOOKUP:",
        "        pass",
        "    return None",
    ]
    made: Callable[..., tuple[Any, ...] | None] = s.run(lines, traced.tape.name)
    return made
