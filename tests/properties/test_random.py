"""Do random programs compute the same in plain Python, eagerly, on the tape and natively?

A derandomised sample of what `tests/properties/search.py` does on many; how often each feature of
the language came up is printed with `-rP`, and none that matters may be missing.
"""

from __future__ import annotations

import collections

from hypothesis import HealthCheck, Phase, event, given, note, settings, target
from hypothesis import strategies as st

from tests.examples import examples
from tests.properties.check import Outcome, check
from tests.properties.choices import Choices, Drawn, Replayed, Seeded, shrink
from tests.properties.generate import Generated, program

_SEED = 12  # whose first programs have everything
_COUNT = examples(40)
_NATIVE = 10  # every so-manieth program becomes native kernels
_SECOND = 8


@st.composite
def programs(draw: st.DrawFn) -> Generated:
    """Source texts of random programs."""
    return program(Choices(Drawn(draw)))


def _fine(outcome: Outcome, source: str) -> None:
    assert outcome.status != "failed", f"{outcome.group}\n{outcome.detail}\n{source}"


def test_programs_by_number() -> None:
    """Of the numbered programs, as the search runs them; the mix of features is wide."""
    status: collections.Counter[str] = collections.Counter()
    ran: collections.Counter[str] = collections.Counter()
    features: collections.Counter[str] = collections.Counter()
    for k in range(_COUNT):
        made = program(Choices(Seeded(_SEED, k)))
        ways = ["eager", "tape" if k % 4 == 0 else "emitted"]
        ways += ["native"] if k % _NATIVE == 0 else []
        ways += ["second order"] if k % _SECOND == 0 else []
        outcome = check(made.source, k, f"numbered_{k}", tuple(ways))
        _fine(outcome, made.source)
        status[outcome.status] += 1
        ran.update(outcome.ran)
        if outcome.status == "ok":
            features.update(made.features)
    print(dict(status), dict(ran))
    for name, n in features.most_common():
        print(f"{100 * n / status['ok']:5.1f} %  {name}")
    assert status["ok"] > 0.8 * _COUNT
    assert ran["native"] >= 0.7 * _COUNT / _NATIVE
    for name in ("if", "for", "while", "break", "view", "slice store", "closure", "early return",
                 "else of a loop", "array swap", "negative step", "nested loops", "mask",
                 "index array", "turned view"):  # fmt: skip
        assert features[name] >= 3, f"{name} is in {features[name]} programs only"


@settings(
    max_examples=examples(12), derandomize=True, deadline=None, database=None,
    phases=(Phase.generate, Phase.target, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
@given(programs(), st.integers(0, 1000))
def test_programs_that_hypothesis_finds(made: Generated, number: int) -> None:
    """Hypothesis looks for programs with many features, and shrinks what fails."""
    note(made.source)
    target(float(len(made.features)), label="features")
    outcome = check(made.source, number, "found_by_hypothesis")
    event(outcome.status)
    for feature in made.features:
        event(feature)
    _fine(outcome, made.source)


def test_shrinking_keeps_the_failure_and_drops_the_rest() -> None:
    first = program(Choices(Seeded(_SEED, 3)))
    assert program(Choices(Replayed(first.made))) == first

    def has_loop(made: list[int]) -> bool:
        return "for " in program(Choices(Replayed(made))).source

    big = next(
        made for k in range(100)
        if "for " in (made := program(Choices(Seeded(_SEED, k)))).source and len(made.made) > 80
    )  # fmt: skip
    small = shrink(list(big.made), has_loop)
    assert has_loop(small)
    assert len(small) < len(big.made) / 3


def test_the_checks_can_fail() -> None:
    """A program whose truth differs from what the engine sees is reported."""
    source = (
        "import math\nimport numpy as np\n\n\ndef program(x, y, a, b, m, n):\n"
        "    return x * type(x)(2.0) + np.sum(a) * HIDDEN\n\n\nHIDDEN = 1.0\n"
    )
    assert check(source.replace("type(x)(2.0)", "2.0"), 1, "sound").status == "ok"
    broken = source.replace("np.sum(a) * HIDDEN", "y / 0.0")
    assert check(broken, 1, "dividing").status == "failed"
