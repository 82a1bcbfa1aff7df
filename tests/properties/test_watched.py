"""Do kernels see what changes while something else looks at it, in random programs?

A sample of what `python -m tests.properties.search --kind watched` does on many.
"""

from __future__ import annotations

from tests.examples import examples
from tests.properties.check import sample
from tests.properties.watched import HEAD, REFUSED, program

_SEED = 12
_COUNT = examples(40)


def test_programs_by_number() -> None:
    status, features = sample(program, HEAD, "watched", _SEED, _COUNT, REFUSED)
    assert status["ok"] > 0.7 * _COUNT
    for name in ("iterator that is kept", "loop over what it changes", "view of a dict",
                 "second name or copy of a list", "object that holds a list",
                 "list of lists that are shared", "operands that change others",
                 "function that looks at a list",
                 "list changed under one of its names"):  # fmt: skip
        assert features[name] >= 3, f"{name} is in {features[name]} programs only"
