"""Do kernels see what changes while something else looks at it, in random programs?

A sample of what `python -m tests.properties.search --kind watched` does on many.
"""

from __future__ import annotations

import collections

from tests.examples import examples
from tests.properties.check import check
from tests.properties.choices import Choices, Seeded
from tests.properties.watched import HEAD, REFUSED, program

_SEED = 12
_COUNT = examples(40)


def test_programs_by_number() -> None:
    status: collections.Counter[str] = collections.Counter()
    features: collections.Counter[str] = collections.Counter()
    for k in range(_COUNT):
        made = program(Choices(Seeded(_SEED, k)))
        ways = ("eager", "tape" if k % 4 == 0 else "emitted")
        outcome = check(made.source, k, f"watched_{k}", ways, REFUSED)
        source = made.source.removeprefix(HEAD)
        assert outcome.status != "failed", f"{outcome.group}\n{outcome.detail}\n{source}"
        status[outcome.status] += 1
        features.update(made.features)
    assert status["ok"] > 0.7 * _COUNT
    for name in ("iterator that is kept", "loop over what it changes", "view of a dict",
                 "second name or copy of a list", "object that holds a list",
                 "list of lists that are shared", "operands that change others",
                 "function that looks at a list",
                 "list changed under one of its names"):  # fmt: skip
        assert features[name] >= 3, f"{name} is in {features[name]} programs only"
