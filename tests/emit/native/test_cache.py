"""The disk cache: what a second process sees, and that damage to it is never seen."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import jitad
from jitad.emit import native

PROGRAM = """
import sys, warnings
warnings.simplefilter("error")
from jitad.emit import native
text = '''
from jitad.emit.preamble import exp, digamma, zeros
from jitad.errors import JitadIndexError

def kernel(x):
    if x.shape[0] > 3:
        raise JitadIndexError("too long", "")
    g = zeros("FLOAT", x.shape[0])
    for i in range(x.shape[0]):
        g[i] = FACTOR * exp(x[i]) + digamma(1.0)
    return g
'''.replace("FACTOR", sys.argv[1]).replace('"FLOAT"', "__import__('numpy').float64")
text = text.replace("__import__('numpy').float64", "float64").replace("exp,", "exp, float64,")
import numpy as np
kernel = native.compile(text, "kernel")
print(round(float(kernel(np.zeros(2))[1]), 6))
try:
    kernel(np.zeros(5))
except IndexError as e:
    print(type(e).__name__, e)
print(sum(kernel.stats.cache_hits.values()), kernel.py_func.__code__.co_filename)
"""


def _start(folder, factor="2.0"):
    env = dict(os.environ, JITAD_CACHE_DIR=str(folder))
    env["PYTHONPATH"] = str(Path(jitad.__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, factor], env=env, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def _finish(process):
    """(value, cache hits, file of the source)"""
    out, error = process.communicate(timeout=100)
    assert process.returncode == 0, error
    value, message, last = out.splitlines()
    assert message == "JitadIndexError too long"
    hits, file = last.split(" ", 1)
    return float(value), int(hits), file


def _run(folder, factor="2.0"):
    return _finish(_start(folder, factor))


VALUE, OTHER = round(2.0 - np.euler_gamma, 6), round(3.0 - np.euler_gamma, 6)


def test_second_process_compiles_nothing_and_edits_are_seen(tmp_path):
    first = _run(tmp_path / "new" / "cache")
    assert first[:2] == (VALUE, 0)
    second, edited = _start(tmp_path / "new" / "cache"), _start(tmp_path / "new" / "cache", "3.0")
    assert _finish(second)[:2] == (VALUE, 1)
    assert _finish(edited)[:2] == (OTHER, 0)
    assert "kernel" in Path(first[2]).read_text()  # the source is there to be read


AFTER_LOADING = """
import sys
import numpy as np
from numba import njit
from numba.core.runtime import rtsys
from jitad import jit_grad

@njit
def scaled(x):
    return x * 2.0

def f(x):
    return np.sum(np.exp(x) * np.arange(3.0))

g = jit_grad(f)
first = g(np.zeros(3))
print(rtsys._init)
own = jit_grad(lambda x, k: np.sum(x**k))(first, int(sys.argv[1]))
print(*first, *scaled(first), *own, *g(np.zeros(3)))
"""


def test_what_is_compiled_after_loading_works_as_ever(tmp_path):
    """Loading leaves Numba's runtime uncompiled: whoever compiles asks for it."""
    env = dict(os.environ, JITAD_CACHE_DIR=str(tmp_path))
    env["PYTHONPATH"] = str(Path(jitad.__file__).parents[1])
    (tmp_path / "program.py").write_text(AFTER_LOADING)
    for power, compiled in (("2", "True"), ("3", "False")):
        found = subprocess.run(
            [sys.executable, tmp_path / "program.py", power], env=env, text=True, check=True,
            capture_output=True, timeout=100,
        ).stdout.split()  # fmt: skip
        own = [int(power) * x ** (int(power) - 1) for x in (0.0, 1.0, 2.0)]
        assert found[0] == compiled
        assert [float(x) for x in found[1:]] == [0, 1, 2, 0, 2, 4, *own, 0, 1, 2]


def test_damaged_files_and_writers_at_the_same_time(tmp_path):
    both = [_start(tmp_path), _start(tmp_path)]
    assert [_finish(p)[0] for p in both] == [VALUE, VALUE]
    files = sorted(tmp_path.glob("*.bin"))  # the kernel, and the way into it
    assert len(files) == 2
    for objects in files:  # as a killed writer without a rename leaves it
        whole = objects.read_bytes()
        objects.write_bytes(whole[: len(whole) // 2])
    (tmp_path / ".writing-left-over").write_bytes(b"half")
    assert _run(tmp_path)[:2] == (VALUE, 0)
    for objects in files:
        damaged = bytearray(objects.read_bytes())
        damaged[len(damaged) // 2] ^= 1
        objects.write_bytes(damaged)
    for source in tmp_path.glob("*.py"):
        source.write_text("this is not Python")
    assert _run(tmp_path)[:2] == (VALUE, 0)
    assert _run(tmp_path)[:2] == (VALUE, 1)


def test_without_a_folder_nothing_changes(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    both = [_start(""), _start(blocked / "sub")]
    for process in both:
        value, hits, file = _finish(process)
        assert (value, hits) == (VALUE, 0) and file.startswith("<jitad_kernel_")


def test_a_folder_of_others_is_not_trusted(tmp_path, monkeypatch):
    from jitad.emit import cachefiles

    monkeypatch.setenv("JITAD_CACHE_DIR", str(tmp_path))
    assert cachefiles.folder() == tmp_path.resolve()
    tmp_path.chmod(0o777)
    assert cachefiles.folder() is None


def test_equal_texts_share_a_dispatcher_and_tracebacks_show_the_source(monkeypatch):
    monkeypatch.setenv("JITAD_CACHE_DIR", "")
    text = "def f(x):\n    return x.missing\n"
    f = native.compile(text, "f")
    assert native.compile(text, "f") is f
    assert native.compile(text + "\n", "f") is not f
    with pytest.raises(AttributeError) as e:
        f.py_func(1.0)
    import traceback

    assert "return x.missing" in "".join(traceback.format_exception(e.value))


def test_a_seal_breaks_at_any_damage():
    from jitad.emit import cachefiles

    sealed = cachefiles.seal(b"content")
    assert cachefiles.unseal(sealed) == b"content"
    for k in range(len(sealed)):
        assert cachefiles.unseal(sealed[:k]) is None
        damaged = bytearray(sealed)
        damaged[k] ^= 1
        assert cachefiles.unseal(bytes(damaged)) is None
    assert cachefiles.unseal(None) is None
