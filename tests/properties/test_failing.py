"""Is what fails caught as in Python, in random programs?

A sample of what `python -m tests.properties.search --kind failing` does on many.
"""

from __future__ import annotations

from tests.examples import examples
from tests.properties.check import sample
from tests.properties.failing import HEAD, program

_SEED = 2
_COUNT = examples(40)


def test_programs_by_number() -> None:
    status, features = sample(program, HEAD, "failing", _SEED, _COUNT)
    assert status["ok"] > 0.7 * _COUNT
    for name in ("several attempts in one another", "attempt of its own", "handler that returns",
                 "raised again", "exception that tells a value", "generator that raises",
                 "finally"):  # fmt: skip
        assert features[name] >= 3, f"{name} is in {features[name]} programs only"
