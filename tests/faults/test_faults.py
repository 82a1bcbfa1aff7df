"""Can the tests fail?  The whole table runs with `python -m tests.faults`; here a few faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.fault import ROOT, Fault, caught, copy_engine
from tests.faults.table import FAULTS, REVERSE

FEW = [
    next(f for f in FAULTS if f.what == what)
    for what in (
        "a second contribution replaces the first",
        "the reverse loop runs forwards",
        "an overwritten element keeps its adjoint",
    )
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.what)
def test_a_fault_still_has_its_place(fault: Fault) -> None:
    """Where the source has changed, the table must follow."""
    fault.applied((ROOT / fault.file).read_text())


@pytest.mark.parametrize("fault", FEW, ids=lambda f: f.what)
def test_a_fault_is_caught(fault: Fault, tmp_path: Path) -> None:
    assert caught(fault, copy_engine(tmp_path))


def test_a_change_that_is_no_fault_is_not_caught(tmp_path: Path) -> None:
    """Otherwise everything would count as caught, for instance a copy that lacks a file."""
    harmless = Fault(REVERSE, "class Reverse:\n", "class Reverse:\n    # no fault\n", "nothing",
                     ("tests/sweeps/test_regressions.py",))  # fmt: skip
    assert not caught(harmless, copy_engine(tmp_path))
