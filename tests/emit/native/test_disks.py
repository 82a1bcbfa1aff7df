"""Does the cache do no harm where the disk is full or read-only, or another version has written?

Kernels are the same as without a cache, no error reaches the caller, and nothing that is left
behind is believed later.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jitad import jit_grad
from jitad.emit import cachefiles, native
from jitad.emit import surroundings as around

X = np.array([1.0, 2.0])


def slope(power: int) -> Any:
    """A new function, whose kernel nobody has in memory; each power has a kernel of its own."""
    native._loaded.clear()
    return jit_grad(lambda x: np.sum(x**power))


def true(power: int) -> list[float]:
    return [float(power), power * 2.0 ** (power - 1)]


def compiled_anew(made: Any) -> int:
    """How many times Numba has compiled for this function."""
    return sum(made._latest().kernel.dispatcher.stats.cache_misses.values())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JITAD_CACHE_DIR", str(tmp_path))
    return tmp_path


def test_found_again(folder: Path) -> None:
    """What the tests below rely on: without harm the second function compiles nothing."""
    for misses in (1, 0):
        g = slope(3)
        assert g(X).tolist() == true(3) and compiled_anew(g) == misses


@pytest.mark.parametrize("after", [0, 10, 5000])
def test_a_full_disk(folder: Path, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Writing fails after so many bytes of a file."""
    opened = os.fdopen

    class Full:
        def __init__(self, handle: int, mode: str) -> None:
            self.file = opened(handle, mode)

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: Any) -> None:
            self.file.close()

        def write(self, content: bytes) -> None:
            self.file.write(content[:after])
            if len(content) > after:
                raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as m:
        m.setattr(cachefiles.os, "fdopen", Full)
        assert slope(4)(X).tolist() == true(4)
    assert not [f for f in os.listdir(folder) if f.startswith(".writing") or f.endswith(".bin")]
    for misses in (1, 0):  # there is room again
        g = slope(4)
        assert g(X).tolist() == true(4) and compiled_anew(g) == misses


def test_no_folder_can_be_made_for_the_temporary_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any, **__: Any) -> Any:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(cachefiles.tempfile, "mkstemp", refused)
    assert slope(5)(X).tolist() == true(5)
    assert not list(folder.iterdir())


def test_a_read_only_folder_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an image that was made with a warm cache."""
    slope(6)(X)
    before = sorted(os.listdir(folder))

    def refused(*_: Any, **__: Any) -> Any:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(cachefiles.tempfile, "mkstemp", refused)
    monkeypatch.setattr(cachefiles.os, "utime", refused)
    monkeypatch.setattr(cachefiles.os, "access", lambda path, mode: mode != os.W_OK)
    g = slope(6)
    assert g(X).tolist() == true(6) and compiled_anew(g) == 0
    g = slope(7)
    assert g(X).tolist() == true(7) and compiled_anew(g) == 1
    assert sorted(os.listdir(folder)) == before


@pytest.mark.parametrize("what", ["numba", "processor", "preamble"])
def test_other_versions_find_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    slope(8)(X)
    with monkeypatch.context() as m:
        match what:
            case "numba":
                m.setattr(around.numba, "__version__", "0.0.1")
            case "processor":
                m.setattr(around, "host", lambda: ("x86_64", "older", "+sse2"))
            case "preamble":
                m.setattr(around, "MADE_FROM", around.MADE_FROM[1:])
        around.surroundings.cache_clear()
        g = slope(8)
        assert g(X).tolist() == true(8) and compiled_anew(g) == 1
    around.surroundings.cache_clear()
    g = slope(8)
    assert g(X).tolist() == true(8) and compiled_anew(g) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_compiles_and_the_parent_finds_it(folder: Path) -> None:
    slope(9)(X)
    child = os.fork()
    if child == 0:
        good = slope(10)(X).tolist() == true(10)
        os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0
    g = slope(10)
    assert g(X).tolist() == true(10) and compiled_anew(g) == 0
