"""Are helpers that are kept on disk what a kernel calls, in a process that did not compile them?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import float64, int64, njit, types

import jitad
from jitad.emit import cachefiles
from jitad.emit.numba_private.kept_helpers import HelperCache

PROGRAM = """
import sys
import numpy as np
from numba.core import typed_passes
from jitad import jit_grad

inferred = []
infer = typed_passes.NopythonTypeInference.run_pass
def noted(self, state):
    inferred.append(state.func_id.func_qualname)
    return infer(self, state)
typed_passes.NopythonTypeInference.run_pass = noted

def f(b, a, factor):
    whole = np.sum(np.linalg.solve(a, b)) + factor * np.sum(np.sort(b) * b)
    return whole + np.sum(np.linalg.eigvalsh(a @ a.T * b[0]))

def other(b, a, factor):
    return np.sum(np.sort(b)[:1]) + factor * np.sum(np.linalg.solve(a, 2.0 * b))

a, b = np.array([[2.0, 0.3], [0.1, 1.5]]), np.array([0.7, -0.4])
print(*jit_grad({"f": f, "other": other}[sys.argv[1]])(b, a, 3.0), len(inferred))
"""
A = np.array([[2.0, 0.3], [0.1, 1.5]])


def run(folder: Path, name: str) -> list[float]:
    env = dict(os.environ, JITAD_CACHE_DIR=str(folder))
    env["PYTHONPATH"] = str(Path(jitad.__file__).parents[1])
    (folder / "program.py").write_text(PROGRAM)
    out = subprocess.run([sys.executable, folder / "program.py", name], env=env, text=True,
                         check=True, capture_output=True, timeout=100).stdout  # fmt: skip
    return list(map(float, out.split()))


def test_another_kernel_of_another_process_links_what_was_kept(tmp_path: Path) -> None:
    solved = np.linalg.solve(A.T, np.ones(2))
    *found, inferred = run(tmp_path, "f")
    # the sorted b is (b[1], b[0]); the trace of a @ a.T times b[0] is the sum of the eigenvalues
    expected = solved + 3.0 * np.array([-0.4, 0.7]) * 2.0 + [np.trace(A @ A.T), 0.0]
    assert np.allclose(found, expected, rtol=1e-12)
    assert inferred > 3
    *found, inferred = run(tmp_path, "other")
    assert np.allclose(found, 6.0 * solved + [0.0, 1.0], rtol=1e-12)
    assert inferred == 0


def keeper(function: Any, folder: Path) -> HelperCache:
    return HelperCache(njit(function), folder, True)


def scaled(factor: Any) -> Any:
    return lambda x: factor * x


def test_a_key_tells_all_that_a_helper_is(tmp_path: Path) -> None:
    inner = [njit(scaled(k)) for k in (2, 3)]
    functions = [scaled(2), scaled(3), scaled(2.0), scaled(True), scaled(inner[0]),
                 scaled(inner[1]), scaled(np.float32(2)), scaled((2, 3)), scaled(np.float64),
                 scaled(types.int64), lambda x: x]  # fmt: skip
    keys = [keeper(f, tmp_path)._key((t,)) for f in functions for t in (float64, int64)]
    assert None not in keys and len(set(keys)) == len(keys)
    assert keeper(scaled(2), tmp_path)._key((float64,)) == keys[0]
    assert keeper(scaled([2]), tmp_path)._key((float64,)) is None  # which may be written to


@pytest.mark.parametrize("damage", [lambda c: c[: len(c) // 2], lambda c: c[:-1] + b"?"])
def test_a_damaged_file_is_none(tmp_path: Path, damage: Any) -> None:
    of = keeper(scaled(2), tmp_path)
    key = of._key((float64,))
    assert key is not None
    of._file(key).write_bytes(damage(cachefiles.seal(b"content")))
    assert of.load_overload((float64,), None) is None
    of._file(key).write_bytes(cachefiles.seal(b"no pickle"))
    assert of.load_overload((float64,), None) is None
