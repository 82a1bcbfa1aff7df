"""Does a second process find what the first compiled, and never anything that is out of date?

Also: a compile that is interrupted, and a process that is killed while it writes, leave a working
cache.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

import jitad.calls.compiled
import jitad.calls.kept
import jitad.specialise.pipeline
import jitad.trace.trace
from jitad import jit_grad
from jitad.emit import native, numba_private

ROOT = Path(__file__).parents[2]

OBJECTIVE = """
def f(x):
    return {body}
"""

MAIN = """
import sys
import numpy as np
from numba import njit
from jitad import jit_grad
from tests.api.counting import compilations
from objective import f

g = jit_grad(f)

@njit(cache=True)
def use(x):
    return g(x)

with compilations() as made:
    direct = g(3.0)
compiled = [name for name in made if not name.startswith("jitad_")]
print(direct, use(3.0), len(compiled))
"""


def environment(folder: Path) -> dict[str, str]:
    return {
        **os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}", "PYTHONDONTWRITEBYTECODE": "1",
        "JITAD_CACHE_DIR": str(folder / "cache"), "NUMBA_CACHE_DIR": str(folder / "numba"),
    }  # fmt: skip


def python(folder: Path, *arguments: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, *arguments], env=environment(folder), capture_output=True, text=True,
        cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def objective(folder: Path, body: str) -> None:
    (folder / "objective.py").write_text(OBJECTIVE.format(body=body))


def test_two_processes_and_an_edit_between(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(textwrap.dedent(MAIN))
    objective(tmp_path, "x * x")
    assert python(tmp_path, "main.py") == ["6.0", "6.0", "1"]
    assert python(tmp_path, "main.py") == ["6.0", "6.0", "0"]  # from the disk
    objective(tmp_path, "x * x * x")  # the caller is cached by Numba: it must not keep the old
    assert python(tmp_path, "main.py") == ["27.0", "27.0", "1"]
    objective(tmp_path, "x * x")
    assert python(tmp_path, "main.py") == ["6.0", "6.0", "0"]


def test_errors_from_the_disk(tmp_path: Path) -> None:
    """Exceptions and prints of a kernel that another process compiled."""
    (tmp_path / "main.py").write_text(
        textwrap.dedent("""
        from jitad import jit_grad

        class Mine(Exception):
            pass

        def f(x):
            print(f"{x:.1f}")
            if x < 0:
                raise Mine("negative", x)
            return 1.0 / x

        g = jit_grad(f)
        for x in (-1.5, 0.0, 1.0):
            try:
                print(g(x))
            except Exception as e:
                print(type(e).__name__, repr(e.args[-1])[:5])
        """)
    )
    expected = "-1.5 Mine -1.5 0.0 JitadZeroDivisionError 'floa 1.0 -1.0".split()
    for _ in range(2):
        assert python(tmp_path, "main.py") == expected


WRITER = """
import sys, time
import numpy as np
from jitad import jit_grad
print("ready", flush=True)
for k in range(1, 1000):
    source = f"def f(x):\\n    return x * x * {k}.5 + x * {k}\\n"
    import linecache
    name = f"<writer {k}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space = {}
    exec(compile(source, name, "exec"), space)
    jit_grad(space["f"])(2.0)
    print(k, flush=True)
"""


def test_killed_while_writing(tmp_path: Path) -> None:
    (tmp_path / "writer.py").write_text(WRITER)
    (tmp_path / "main.py").write_text(textwrap.dedent(MAIN))
    objective(tmp_path, "x * x")
    for delay in (0.0, 0.05):
        process = subprocess.Popen(
            [sys.executable, "writer.py"], env=environment(tmp_path), cwd=tmp_path,
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert process.stdout.readline() == "1\n"
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    for file in (tmp_path / "cache").glob("*.bin"):  # torn files, as of a full disk
        content = file.read_bytes()
        file.write_bytes(content[: len(content) // 2])
    for _ in range(2):
        assert python(tmp_path, "main.py")[:2] == ["6.0", "6.0"]
    source = next((tmp_path / "cache").glob("*.py"))
    source.write_text("raise SystemError\n")
    assert python(tmp_path, "main.py")[:2] == ["6.0", "6.0"]


class Interrupted(BaseException):
    """As KeyboardInterrupt, which pytest would take for the user's."""


PLACES: list[tuple[Any, str]] = [
    (jitad.trace.trace, "trace"),
    (jitad.specialise.pipeline, "specialise"),
    (jitad.calls.kept, "kernel"),
    (jitad.calls.compiled, "python_entry"),
    (native, "_compile"),
    (numba_private, "dispatcher"),
    (numba_private.KernelCompiler, "_compile_core"),
    (numba_private.ContentCache, "save_overload"),
]


@pytest.mark.parametrize(("owner", "name"), PLACES, ids=[name for _, name in PLACES])
def test_interrupted_compile(
    owner: Any, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JITAD_CACHE_DIR", str(tmp_path))
    constant = float(1 + [n for _, n in PLACES].index(name))
    log: list[float] = []
    g = jit_grad(make(constant, log))

    def interrupt(*args: Any, **kwargs: Any) -> None:
        raise Interrupted

    with monkeypatch.context() as m:
        m.setattr(owner, name, interrupt)
        m.setattr(native, "_loaded", {})
        with pytest.raises(Interrupted):
            g(2.0)
    log.clear()
    assert g(2.0) == g(2.0) == 4.0 + constant
    assert log == [2.0, 2.0]
    again = jit_grad(make(constant, log))
    assert again(3.0) == 6.0 + constant


def make(constant: float, log: list[float]) -> Any:
    def f(x):
        log.append(x)
        return x * x + constant * x

    return f


def test_interrupted_in_the_middle_of_a_trace() -> None:
    """While traced values are in the user's list."""
    values = [1.0, 2.0]
    armed = True

    def f(x):
        s = x * values[0]
        values[1] = s
        if x > 0.0:
            s = s + helper()
        return s

    def helper():
        if armed:
            raise Interrupted
        return 1.0

    g = jit_grad(f)
    with pytest.raises(Interrupted):
        g(2.0)
    assert values == [1.0, 2.0]
    armed = False
    assert g(2.0) == 1.0
    assert values == [1.0, 2.0 * 1.0]


QUICK = """
import sys
import numpy as np
from jitad import jit_grad
from jitad.emit import native

g = jit_grad(lambda x, n, k: n * np.sum(x * x) + np.sum(x[k]))
values = np.arange(3.0), 2.0, np.arange(2)
g(*values)
(s,) = g._all
way = native.direct(s.kernel.dispatcher, s.traced.tape.body.params)
print(way(*values)[0].tolist(), "numpy.ma" in sys.modules, "scipy.linalg" in sys.modules)
"""


def test_calls_in_a_second_process_are_as_quick(tmp_path: Path) -> None:
    """The direct way takes its arguments; nothing is imported that only compiling needs."""
    (tmp_path / "quick.py").write_text(QUICK)
    python(tmp_path, "quick.py")
    assert python(tmp_path, "quick.py") == ["[1.0,", "5.0,", "8.0]", "False", "False"]


OTHERS = """
import sys
import numpy as np
from jitad import jit

def f(a, n, flag):
    return a * n if flag else a - n, np.sum(a)

def unaligned(a):
    out = np.frombuffer(bytearray(a.nbytes + 1), np.uint8, a.nbytes, 1).view(a.dtype)
    out = out.reshape(a.shape)
    out[...] = a
    return out

def readonly(a):
    out = a.copy()
    out.flags.writeable = False
    return out

a = np.arange(6.0).reshape(2, 3)
kinds = [
    (a, 3, True), (a, np.int64(3), True), (a, 3, np.bool_(False)), (np.asfortranarray(a), 3, True),
    (a[:, ::2], 3, True), (unaligned(a), 3, True), (readonly(a), np.int64(3), np.bool_(True)),
]
g, kept = jit(f), []
for _ in range(int(sys.argv[1])):
    for given in kinds if sys.argv[1] != "1" else kinds[:1]:
        whole, total = g(*given)
        expected = f(*given)
        assert np.array_equal(whole, expected[0]) and total == expected[1]
        kept = [*kept[-20:], whole, [np.zeros(k) for k in range(20)]]
print("right")
"""


def test_arguments_of_other_kinds_for_a_kernel_from_the_disk(tmp_path: Path) -> None:
    """Numba's own way in, which only they need, is made when they come, and counts references."""
    (tmp_path / "main.py").write_text(OTHERS)
    for times in ("1", "50", "50"):
        assert python(tmp_path, "main.py", times) == ["right"]
