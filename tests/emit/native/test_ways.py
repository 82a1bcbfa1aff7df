"""Do kernels share the way into them, and does each call reach its own kernel?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core import codegen

from jitad import jit, jit_value_and_grad
from jitad.emit import native
from jitad.emit.numba_private import declarations, ways

X = np.array([1.0, 2.0, 3.0])


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of what becomes machine code."""
    names: list[str] = []
    finish = codegen.JITCodeLibrary._finalize_specific

    def noted(self: Any) -> None:
        names.append(self.name)
        finish(self)

    monkeypatch.setattr(codegen.JITCodeLibrary, "_finalize_specific", noted)
    return names


def power(k: int) -> Any:
    """Numbers of x are `k`-th powers; each has a kernel of its own, which nobody has in memory."""
    native._loaded.clear()

    def scaled(x: Any, s: Any) -> Any:
        if s < 0.0:
            raise ValueError(f"power {k}")
        return s * np.sum(x**k)

    return jit_value_and_grad(scaled)


def check(g: Any, k: int) -> None:
    """By all ways there are: the direct one, the shortcut, an array for it, Numba's."""
    for _ in range(2):
        value, slope = g(X, 2.0)
        assert value == pytest.approx(2.0 * np.sum(X**k))
        np.testing.assert_allclose(slope, 2.0 * k * X ** (k - 1))
    out = np.empty(3)
    assert g(X, 2.0, out=out)[1] is out
    np.testing.assert_allclose(out, 2.0 * k * X ** (k - 1))
    (kernel,) = {s.kernel.dispatcher for s in g._all}
    np.testing.assert_allclose(kernel(X, 2.0)[1], out)
    with pytest.raises(ValueError, match=f"power {k}"):
        g(X, -1.0)


def test_each_call_reaches_its_own_kernel(
    made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JITAD_CACHE_DIR", "")
    monkeypatch.setattr(ways, "_known", {})
    every = {k: power(k) for k in (3, 4, 5)}
    for k, g in every.items():
        g(X, 1.0)
        count = {"jitad_ways": 0, "value_and_grad": 0}
        for name in made:
            for kind in count:
                count[kind] += name.startswith(kind)
        assert count == {"jitad_ways": 1, "value_and_grad": k - 2}
    for _ in range(2):
        for k, g in every.items():
            check(g, k)


def test_all_types_share_a_way(made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """But those that it doesn't know: each signature of these has Numba's."""
    monkeypatch.setenv("JITAD_CACHE_DIR", "")
    monkeypatch.setattr(ways, "_known", {})

    def doubled(x: Any) -> Any:
        return x + x

    g, steps = jit(doubled), X[::2]
    for x in (X, X.astype("f4"), np.ones((2, 2)), 2.0, 3, steps):
        for _ in range(2):
            out = g(x)
            assert type(out) is type(x + x) and np.array_equal(out, x + x)
            assert getattr(out, "dtype", None) == getattr(x, "dtype", None)
        assert len([n for n in made if n.startswith("jitad_ways")]) == (1 if x is not steps else 2)


def test_ways_are_found_on_disk(
    tmp_path: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a new kernel of the same types, and together with a kernel that is there."""
    monkeypatch.setenv("JITAD_CACHE_DIR", str(tmp_path))

    def anew() -> None:
        made.clear()
        monkeypatch.setattr(ways, "_known", {})

    anew()
    check(power(3), 3)
    (file,) = tmp_path.glob("jitad_ways_*")
    before = file.stat().st_mtime_ns
    anew()
    check(power(4), 4)
    anew()
    check(power(3), 3)
    assert file.stat().st_mtime_ns == before

    file.unlink()  # as where the folder is full
    anew()
    check(power(3), 3)
    assert [f.name for f in tmp_path.glob("jitad_ways_*")] == [file.name]


def test_ways_are_kept_beside_each_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that were made while another folder was in use."""
    for folder in (tmp_path / "one", tmp_path / "two"):
        monkeypatch.setenv("JITAD_CACHE_DIR", str(folder))
        check(power(3), 3)
        assert len(list(folder.glob("jitad_ways_*"))) == 1


def test_options_of_llvm_are_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are everybody's: other compiled code of the process is made with what it was made."""
    monkeypatch.setenv("JITAD_CACHE_DIR", "")
    asked: list[str] = []
    monkeypatch.setattr(declarations.llvm, "set_option", lambda _, option: asked.append(option))
    check(power(6), 6)
    assert asked[-2:] == ["-disable-lsr=true", "-disable-lsr=false"]

    with pytest.raises(MemoryError), declarations.addresses_as_written():
        raise MemoryError
    assert asked[-2:] == ["-disable-lsr=true", "-disable-lsr=false"]
