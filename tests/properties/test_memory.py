"""Do random programs that remember leave what plain Python leaves, whatever is called in a row?

A sample of what `python -m tests.properties.search --kind memory` does on many.
"""

from __future__ import annotations

import collections

from tests.examples import examples
from tests.properties.choices import Choices, Seeded
from tests.properties.generate import Generated
from tests.properties.memory import HEAD, program
from tests.properties.remembered import check

_SEED = 4
_COUNT = examples(26)
_NATIVE = 13  # every so-manieth program becomes native kernels


def test_programs_by_number() -> None:
    status: collections.Counter[str] = collections.Counter()
    features: collections.Counter[str] = collections.Counter()
    for k in range(_COUNT):
        made = program(Choices(Seeded(_SEED, k)))
        ways = ("eager", "emitted", "native") if k % _NATIVE == 0 else ("eager", "emitted")
        outcome = check(made, k, f"remembering_{k}", ways)
        assert outcome.status != "failed", f"{outcome.group}\n{outcome.detail}\n{made.source}"
        status[outcome.status] += 1
        features.update(made.features if outcome.status == "ok" else ())
    print(dict(status))
    assert status["ok"] > 0.5 * _COUNT
    for name in ("global written", "list outside written", "object outside written",
                 "objects in objects", "array outside written"):  # fmt: skip
        assert features[name] >= 3, f"{name} is in {features[name]} programs only"


def test_the_check_can_fail() -> None:
    """A program whose state depends on what the engine is, not on Python."""
    text = (
        "def program(x, y, a, b, m, n):\n    global total, count, seen, grid, part\n"
        "    total += 0.1 * x if type(x) is float else 0.2 * x\n    return total * y\n"
    )
    made = Generated(HEAD + text, frozenset(), ())
    assert check(made, 2, "asking_for_its_class", ("eager",)).status in ("failed", "rejected")
    right = Generated(HEAD + text.replace("type(x) is float", "True"), frozenset(), ())
    assert check(right, 2, "not_asking", ("eager", "emitted")).status == "ok"
