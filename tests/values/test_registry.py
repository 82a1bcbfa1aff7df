"""Is what stands in for a function the one that was entered last, whenever it was asked for?"""

from __future__ import annotations

import numpy as np
import pytest

import jitad
from jitad.values import registry
from tests.engines import ENGINES


def test_entered_again_after_it_was_asked_for() -> None:
    """As a file does that makes one of what was entered before; it was the first then."""
    def original(x: float) -> float:
        return x

    registry.replaces(original)(lambda x: ("first", x))
    first = registry.implementation(original)
    assert first is not None and first is registry.implementation(original)
    registry.replaces(original, plain=False)(lambda x: ("second", x))
    try:
        second = registry.implementation(original)
        assert second is not None and second(1.0) == ("second", 1.0)
    finally:
        del registry._entered[original], registry._replacements[original]


def test_modules_that_two_threads_enter(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the other one has entered meanwhile is not looked for again."""
    imported: list[str] = []

    def as_the_other_does(name: str) -> None:
        imported.append(name)
        registry.waiting.clear()

    here = {"math": ("of.math",), "os": ("of.os",)}
    monkeypatch.setattr(registry, "waiting", here)
    monkeypatch.setattr(registry.importlib, "import_module", as_the_other_does)
    assert registry.enter_later() and not registry.enter_later()
    assert imported == ["jitad.of.math"]


@pytest.mark.parametrize("engine", ENGINES)
def test_einsum_of_one_operand_is_a_view(engine: str) -> None:
    """Of complex arrays, too: a write to the operand shows in it."""
    def f(x: np.ndarray) -> tuple[float, float]:
        c = x * (1.0 + 2.0j)
        for a in (x.copy(), c):
            turned = np.einsum("ij->ji", a)
            a[0] = 3.0 * a[0]
            a[:] -= turned
        return np.sum(np.abs(c)), np.sum(turned.real * x)

    x = np.arange(1.0, 10.0).reshape(3, 3) ** 1.5
    want = f(x)
    found = ENGINES[engine](f if engine == "eager" else jitad.jit(f), x)
    np.testing.assert_allclose(found, want, rtol=1e-13)
    eager = jitad.grad(lambda x: f(x)[1])(x)
    step = np.zeros_like(x)
    step[0, 1] = 1e-6
    slope = (f(x + step)[1] - f(x - step)[1]) / 2e-6
    assert eager[0, 1] == pytest.approx(slope, rel=1e-6)
