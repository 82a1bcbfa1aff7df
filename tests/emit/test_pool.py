"""Is the memory of large arrays used again, by one owner at a time, and not kept without end?"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from jitad import jit, jit_grad

N = 60_000  # half a megabyte


def shifted(x: Any) -> Any:
    return np.cumsum(x) + 1.0


def address(a: Any) -> int:
    return int(a.__array_interface__["data"][0])


def test_what_nobody_holds_is_used_again() -> None:
    f = jit(shifted)
    x = np.ones(N)
    first = f(x)
    there = address(first)
    assert there % 64 == 0
    del first
    assert address(f(x)) == there


def test_what_somebody_holds_is_not() -> None:
    f = jit(shifted)
    held = [f(np.full(N, float(k))) for k in range(40)]
    parts = [a[5:7] for a in held[::2]]
    del held[::2]
    for k in range(40, 60):
        f(np.full(N, float(k)))
    for k, part in zip(range(0, 40, 2), parts, strict=True):
        assert np.array_equal(part, [6.0 * k + 1.0, 7.0 * k + 1.0])
    for k, a in zip(range(1, 40, 2), held, strict=True):
        assert np.array_equal(a, k * np.arange(1.0, N + 1.0) + 1.0)


def recurrence(x: Any) -> Any:
    y = x.copy()
    for _ in range(5):
        y = np.sin(y) * y + x
    return np.sum(y * y)


def test_threads_share_no_block() -> None:
    g = jit_grad(recurrence)
    inputs = [np.linspace(0.1, 1.0 + k, N + 100 * k) for k in range(6)]
    expected = [g(x).copy() for x in inputs]

    def often(k: int) -> bool:
        return all(np.array_equal(g(inputs[k]), expected[k]) for _ in range(25))

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(often, range(6)))


KEPT = """
import numpy as np, sys
from jitad import jit

def resident():
    for line in open("/proc/self/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024

f = jit(lambda x: x + 1.0)
f(np.ones(3))
x = np.ones(1_000_000)
before = resident()
many = [f(x) for _ in range(40)]
del many
print(resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("limit", "least", "most"), [("0", -50, 12), ("64", 40, 80)])
def test_memory_that_is_kept_is_bounded(
    limit: str, least: float, most: float, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JITAD_KEPT_MEMORY", limit)
    script = tmp_path / "kept.py"
    script.write_text(textwrap.dedent(KEPT))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert least < float(done.stdout) < most


def test_too_large_is_an_error() -> None:
    def f(x: Any, n: int) -> Any:
        y = np.zeros((n, n))
        y[0, 0] = x
        return np.sum(y[0, :3])

    g = jit(f)
    assert g(2.0, 5) == 2.0
    with pytest.raises(MemoryError):
        g(2.0, 2_000_000)
    assert g(2.0, 5) == 2.0
