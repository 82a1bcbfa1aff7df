"""Is what fails caught as in Python, in random programs?

A sample of what `python -m tests.properties.search --kind failing` does on many.
"""

from __future__ import annotations

import collections

from tests.examples import examples
from tests.properties.check import check
from tests.properties.choices import Choices, Seeded
from tests.properties.failing import HEAD, program

_SEED = 2
_COUNT = examples(40)


def test_programs_by_number() -> None:
    status: collections.Counter[str] = collections.Counter()
    features: collections.Counter[str] = collections.Counter()
    for k in range(_COUNT):
        made = program(Choices(Seeded(_SEED, k)))
        ways = ("eager", "tape" if k % 4 == 0 else "emitted")
        outcome = check(made.source, k, f"failing_{k}", ways)
        source = made.source.removeprefix(HEAD)
        assert outcome.status != "failed", f"{outcome.group}\n{outcome.detail}\n{source}"
        status[outcome.status] += 1
        features.update(made.features)
    assert status["ok"] > 0.7 * _COUNT
    for name in ("several attempts in one another", "attempt of its own", "handler that returns",
                 "raised again", "exception that tells a value", "generator that raises",
                 "finally"):  # fmt: skip
        assert features[name] >= 3, f"{name} is in {features[name]} programs only"
