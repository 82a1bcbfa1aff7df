"""Do both sweeps agree with the truth on random tapes?"""

from __future__ import annotations

from hypothesis import HealthCheck, given, reject, settings

from tests.examples import examples
from tests.sweeps.checks import Unsuitable, check, pipeline_keeps_meaning
from tests.sweeps.random_tapes import Case, cases
from tests.sweeps.truth import AtKink

SETTINGS = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=examples(60),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large,
                           HealthCheck.large_base_example],
)  # fmt: skip


@SETTINGS
@given(case=cases())
def test_passes_keep_the_meaning_of_random_tapes(case: Case) -> None:
    try:
        pipeline_keeps_meaning(case.block, case.args, case.active)
    except Unsuitable:
        reject()


@SETTINGS
@given(case=cases())
def test_derivatives_of_random_tapes(case: Case) -> None:
    try:
        check(case.block, case.args, case.active, zeros=case.zeros)
    except (AtKink, Unsuitable):
        reject()
