"""Does the cache folder stay below its limit, keep what is used, and survive processes at once?"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from jitad.emit import cachefiles

ROOT = Path(__file__).parents[3]
KILO = 2**10


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit of 100 kB, which is looked at after every write."""
    monkeypatch.setenv("JITAD_CACHE_LIMIT", str(100 / KILO))
    monkeypatch.setattr(cachefiles, "_EVERY", 0)
    monkeypatch.setattr(cachefiles, "_FRESH", 30.0)
    monkeypatch.setattr(cachefiles, "_written", {})


def put(folder: Path, name: str, size: int, age: float) -> Path:
    path = folder / name
    path.write_bytes(b"x" * size)
    then = time.time() - age
    os.utime(path, (then, then))
    return path


def names(folder: Path) -> set[str]:
    return {p.name for p in folder.iterdir()}


def test_what_was_used_longest_ago_goes(tmp_path: Path) -> None:
    for k in range(10):
        put(tmp_path, f"jitad_{k}.bin", 9 * KILO, age=1000.0 - k)
    assert cachefiles.write(tmp_path / "jitad_new.bin", b"x" * 5 * KILO)
    assert len(names(tmp_path)) == 11  # 95 kB: nothing happens
    assert cachefiles.read(tmp_path / "jitad_1.bin") is not None  # used now
    assert cachefiles.write(tmp_path / "jitad_more.bin", b"x" * 9 * KILO)
    left = names(tmp_path)
    assert {"jitad_more.bin", "jitad_new.bin", "jitad_1.bin"} <= left
    assert left == {"jitad_more.bin", "jitad_new.bin", "jitad_1.bin",
                    *(f"jitad_{k}.bin" for k in range(5, 10))}  # fmt: skip
    assert sum(p.stat().st_size for p in tmp_path.iterdir()) <= 75 * KILO


def test_files_that_are_not_ours_stay(tmp_path: Path) -> None:
    put(tmp_path, "thesis.tex", 500 * KILO, age=1e6)
    (tmp_path / "jitad_folder").mkdir()
    put(tmp_path, ".writing-fresh", 60 * KILO, age=0.0)  # of a process that is writing
    put(tmp_path, ".writing-dead", 60 * KILO, age=1e5)  # of one that was killed
    put(tmp_path, "jitad_old.bin", 60 * KILO, age=1e5)
    cachefiles.write(tmp_path / "jitad_new.bin", b"x")
    assert names(tmp_path) == {"thesis.tex", "jitad_folder", ".writing-fresh", "jitad_new.bin"}


@pytest.mark.parametrize(
    ("given", "limit"),
    [("0", 0), ("1", 2**20), ("0.5", 2**19), ("many", 256 * 2**20), (None, 256 * 2**20)],
)
def test_the_limit_is_set(given: str | None, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JITAD_CACHE_LIMIT")
    if given is not None:
        monkeypatch.setenv("JITAD_CACHE_LIMIT", given)
    assert cachefiles.limit() == limit


def test_no_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JITAD_CACHE_LIMIT", "0")
    put(tmp_path, "jitad_old.bin", 500 * KILO, age=1e6)
    cachefiles.write(tmp_path / "jitad_new.bin", b"x")
    assert names(tmp_path) == {"jitad_old.bin", "jitad_new.bin"}


def test_another_process_removes_the_same_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for k in range(20):
        put(tmp_path, f"jitad_{k:02}.bin", 9 * KILO, age=1000.0 - k)
    plain = Path.unlink

    def gone(self: Path, *args: Any) -> None:
        plain(self)
        plain(self)  # raises: it is gone

    monkeypatch.setattr(Path, "unlink", gone)
    assert cachefiles.write(tmp_path / "jitad_new.bin", b"x")
    assert "jitad_new.bin" in names(tmp_path) and len(names(tmp_path)) == 9


WORK = """
import linecache, sys
from jitad import jit_grad
from jitad.emit import cachefiles, native
cachefiles._EVERY = 0
cachefiles._FRESH = 0.0
for turn in range(2):
    native._loaded.clear()
    for k in range(1, 5):
        source = f"def f(x):\\n    return x * x * {k}.5\\n"
        name = f"<work {k}>"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        space = {}
        exec(compile(source, name, "exec"), space)
        assert jit_grad(space["f"])(2.0) == 4.0 * (k + 0.5)
print("fine")
"""


def test_processes_at_once(tmp_path: Path) -> None:
    """They compile the same kernels in a folder with room for three files or so."""
    environment = {
        **os.environ, "JITAD_CACHE_DIR": str(tmp_path), "JITAD_CACHE_LIMIT": "0.02",
        "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    running = [
        subprocess.Popen([sys.executable, "-c", WORK], env=environment, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]  # fmt: skip
    for process in running:
        out, error = process.communicate()
        assert out == "fine\n", error
    # Each makes room for its own files, and may find those of the others gone meanwhile.
    assert sum(p.stat().st_size for p in tmp_path.iterdir()) <= 0.02 * 2**20
