"""Are functions that a kernel calls linked into it only, and still right for everyone else?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import float64, njit
from numba.core import codegen

from jitad import jit_value_and_grad
from jitad.emit.numba_private.helpers import linked


def test_a_kernel_is_all_that_becomes_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JITAD_CACHE_DIR", "")
    made: list[str] = []
    finish = codegen.JITCodeLibrary._finalize_specific

    def noted(self: Any) -> None:
        made.append(self.name)
        finish(self)

    monkeypatch.setattr(codegen.JITCodeLibrary, "_finalize_specific", noted)

    def volume(a: np.ndarray, b: np.ndarray) -> float:
        r = np.linalg.qr(a)[1]
        return np.sum(np.linalg.solve(a @ a.T, b)) + np.prod(np.diag(r)) + np.sum(np.sort(b) * b)

    a, b = np.array([[2.0, 0.3], [0.1, 1.5]]), np.array([0.4, -0.7])
    value, _ = jit_value_and_grad(volume)(a, b)
    assert value == pytest.approx(volume(a, b), rel=1e-13)
    own = [name for name in made if name != "nrt" and not name.startswith("jitad_ways_")]
    assert own == ["value_and_grad_volume"]


def helper(x):
    if x < 0.0:
        raise ValueError("below zero", x)
    return np.sqrt(x) * 2.0


@pytest.fixture
def as_helper() -> Any:
    """The dispatcher of a function of the engine's, compiled as for a kernel."""
    helper.__module__ = "jitad.emit.preamble"
    out = njit(helper)
    with linked():
        out.compile((float64,))
    return out


def test_from_python(as_helper: Any) -> None:
    assert as_helper(9.0) == 6.0
    assert as_helper(np.float64(16.0)) == 8.0
    with pytest.raises(ValueError, match="below zero"):
        as_helper(-1.0)


def test_from_others_compiled_code(as_helper: Any) -> None:
    """Which was not there when it was compiled, and asks it for what it raises."""

    @njit
    def outer(x):
        return as_helper(x) + 1.0

    assert outer(9.0) == 7.0
    with pytest.raises(ValueError) as caught:
        outer(-4.0)
    assert caught.value.args == ("below zero", -4.0)


def test_functions_of_users_are_compiled_as_ever() -> None:
    @njit
    def theirs(x):
        return x * 3.0

    with linked():
        theirs.compile((float64,))
    assert theirs(2.0) == 6.0
    assert theirs.overloads[(float64,)].entry_point is not None
    assert "fmul" in theirs.inspect_llvm((float64,))
