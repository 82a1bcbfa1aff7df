"""Are functions of everyday use differentiated, and does a run go on where it ended?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.peers import everyday
from benchmarks.report import against
from jitad import jit_value_and_grad


@pytest.mark.parametrize("name", ["cross_entropy", "log_density", "spectrum", "sorting", "scatter"])
def test_gradients(name: str) -> None:
    """In one direction, by central differences."""
    function = everyday.load(name)
    arguments = function.inputs("small")
    by = function.argnums[0]
    _, found = jit_value_and_grad(function.objective, argnums=function.argnums)(*arguments)
    step = 1e-6 * np.random.default_rng(0).normal(size=arguments[by].shape)

    def moved(sign: float) -> float:
        given = [a + sign * step if k == by else a for k, a in enumerate(arguments)]
        return float(function.objective(*given))

    slope = np.sum(found[0] * step)
    assert np.isclose(moved(1.0) - moved(-1.0), 2.0 * slope, rtol=1e-5, atol=1e-9 * np.abs(slope))


def test_sizes() -> None:
    for name in everyday.NAMES:
        largest = max(np.size(a) for a in everyday.load(name).inputs("medium"))
        assert 100 <= largest <= 20_000, name


def test_a_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def fill(kernel: str, size: str, rounds: int) -> dict[str, Any]:
        asked.append(kernel)
        if kernel == "late" and len(asked) < 3:
            raise KeyboardInterrupt
        return {"kernel": kernel, "size": size, "ratios": {"jax": [0.1, 0.2, 0.3]}, "missing": {},
                "gradient": 1e-3, "firsts": {"jitad": 1.0}}  # fmt: skip

    monkeypatch.setattr(against, "fill", fill)
    out = tmp_path / "peers.json"
    with pytest.raises(KeyboardInterrupt):
        against.run(["early", "late"], ["small"], 9, out)
    assert against.run(["early", "late"], ["small"], 9, out) == 0
    assert asked == ["early", "late", "late"]
    assert [c["kernel"] for c in json.loads(out.read_text())] == ["early", "late"]
    assert "| early | small | 1 ms | 0.20 | - | - | - |" in out.with_suffix(".md").read_text()
    assert list(tmp_path.glob("*.begun.json")) == []
    assert "late" in capsys.readouterr().out
