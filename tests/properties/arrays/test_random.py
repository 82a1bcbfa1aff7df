"""Do random array programs give NumPy's values, dtypes and shapes, and right derivatives?

A sample, the same each time, of what `python -m tests.properties.search --kind arrays` does on
thousands.
"""

from __future__ import annotations

import collections

from tests.examples import examples
from tests.properties.arrays.check import check
from tests.properties.arrays.generate import STATEMENTS, Generated, program
from tests.properties.choices import Choices, Seeded

_SEED = 38  # whose first programs have everything
_COUNT = examples(25)
_NATIVE = 12  # every so-manieth program becomes native kernels


def test_programs_by_number() -> None:
    status: collections.Counter[str] = collections.Counter()
    features: collections.Counter[str] = collections.Counter()
    for k in range(_COUNT):
        made = program(Choices(Seeded(_SEED, k)), k)
        ways = ("eager", "tape" if k % 10 == 5 else "emitted")
        ways += ("native",) if k % _NATIVE == 0 else ()
        ways += ("again",) if k % 3 == 2 else ()
        outcome = check(made, k, f"array_program_{k}", ways)
        assert outcome.status != "failed", f"{outcome.group}\n{outcome.detail}\n{made.source}"
        status[outcome.status] += 1
        features.update(made.features)
    print(dict(status), dict(features))
    assert status["ok"] > 0.8 * _COUNT
    assert len(features) >= len(STATEMENTS) - 1


def test_the_checks_can_fail() -> None:
    """Where the engine sees another program than NumPy, and where no error is raised."""
    made = program(Choices(Seeded(_SEED, 1)), 1)
    assert check(made, 1, "sound").status == "ok"
    refused = made.source.replace("    return ", "    a.dumps()\n    return ")
    assert check(Generated(refused, made.args, frozenset()), 1, "refused").status == "failed"
    silent = Generated(made.source, made.args, frozenset(), ValueError)
    assert check(silent, 1, "silent").group.endswith("no error")
