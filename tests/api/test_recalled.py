"""Does a later process do without a trace, and is what it finds never out of date?

A process is played by a function that is made anew from a file, in a namespace of its own, and its
kernels by what they are in Python; two real ones are at the end.
"""

from __future__ import annotations

import linecache
import math
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import jitad
from jitad import jit, jit_grad, jit_value_and_grad, set_memory
from jitad.calls import recalled
from jitad.emit import native
from jitad.emit.owncode import code, packages
from jitad.trace.trace import trace
from tests.api.test_cache import environment

X = np.array([1.0, 2.0, 3.0])


class Process:
    """Traces are counted."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.traces = folder, 0

    def module(self, text: str, name: str = "objective") -> ModuleType:
        """A module of this text, as another process would import it."""
        file = self.folder / f"{name}.py"
        file.write_text(textwrap.dedent(text))
        linecache.clearcache()
        made = ModuleType(name)
        sys.modules[name] = made
        exec(compile(file.read_text(), str(file), "exec"), made.__dict__)
        return made


@pytest.fixture
def process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Process:
    monkeypatch.setenv("JITAD_CACHE_DIR", str(tmp_path / "cache"))
    out = Process(tmp_path)

    def counted(*given: Any) -> Any:
        out.traces += 1
        return trace(*given)

    def in_python(source: str, name: str, brief: int) -> Any:
        space: dict[str, Any] = {}
        exec(source, space)
        return space[name]

    monkeypatch.setattr("jitad.trace.trace.trace", counted)
    monkeypatch.setattr(native, "compile", in_python)
    for name in ("objective", "helpers"):
        monkeypatch.setitem(sys.modules, name, None)
    return out


TEXT = """
import math
import numpy as np
from numba import njit

POWER = 2
SCALE = 1.5
WEIGHTS = np.array([1.0, 2.0, 4.0])
ORDER = np.array([2, 0, 1])
TABLE = {"a": 1.0, "shift": [0.5, 3]}

def helper(x, by=2.0, *, more=1):
    return by * x ** POWER + more * TABLE["a"] + TABLE["shift"][1]

@njit
def compiled(x):
    return x * 0.5

def scaled(x):
    return x * SCALE

def made(k, data):
    inner = lambda x: np.sum(data * x) * k
    return lambda x: np.sum(helper(x)) + inner(x) + compiled(x[0]) * scaled(x[2]) * math.cos(x[1])

objective = made(3, WEIGHTS)
"""

CHANGES: dict[str, tuple[str, str, int]] = {  # and how many traces that takes
    "nothing": ("", "", 0),
    "a float": ("SCALE = 1.5", "SCALE = 2.5", 0),
    "an array": ("[1.0, 2.0, 4.0]", "[1.0, 2.0, 5.0]", 0),
    "an int": ("POWER = 2", "POWER = 3", 1),
    "the type of a number": ("SCALE = 1.5", "SCALE = 2", 1),
    "the type of an array": ("[1.0, 2.0, 4.0]", "[1, 2, 4]", 1),
    "an extent of one": ("[1.0, 2.0, 4.0]", "[1.0]", 1),
    "a helper": ("by * x **", "by + x **", 1),
    "a default": ("by=2.0", "by=2", 1),
    "a keyword's default": ("more=1", "more=2", 1),
    "a cell": ("made(3,", "made(4,", 1),
    "an inner function": ("data * x)", "data + x)", 1),
    "what is in a list": ("[0.5, 3]", "[0.5, 4]", 1),
    "what is in a list at another place": ("[0.5, 3]", "[3, 0.5]", 1),
    "a function of a library": ("math.cos", "math.sin", 1),
    "what a name means": ("import math", "import numpy as math", 1),
    "a compiled function": ("x * 0.5", "x + 0.5", 1),
    "a line further down": ("POWER = 2", "POWER = 2\n", 1),
}


@pytest.mark.parametrize("what", CHANGES)
def test_changes_between_processes(process: Process, what: str) -> None:
    before, after, traces = CHANGES[what]
    jit_grad(process.module(TEXT).objective)(X)
    for text, expected in ((TEXT, 0), (TEXT.replace(before, after), traces), (TEXT, 0)):
        objective = process.module(text).objective
        process.traces = 0
        g = jit_grad(objective)
        found = g(X)
        assert process.traces == expected
        step = np.eye(3) * 1e-6
        slope = [(objective(X + h) - objective(X - h)) / 2e-6 for h in step]
        np.testing.assert_allclose(found, slope, rtol=1e-7)
        np.testing.assert_array_equal(g(X), found)
        assert process.traces == expected and g.specialisations == ["first call"]


def test_what_is_found_is_guarded_as_a_trace_is(process: Process) -> None:
    """In the process that has found it, things change."""
    for _ in range(2):
        m = process.module(TEXT)
        process.traces = 0
        g = jit(m.objective)
        for change in (
            lambda: None,
            lambda: setattr(m, "SCALE", 7.0),
            lambda: m.WEIGHTS.__setitem__(1, 9.0),
            lambda: m.TABLE.update(a=-1.0),
            lambda: setattr(m, "POWER", 3),
            lambda: setattr(m, "helper", lambda x: np.exp(x)),
            lambda: setattr(m, "SCALE", 2),
        ):
            change()  # type: ignore[no-untyped-call]
            assert g(X) == pytest.approx(m.objective(X), rel=1e-13)
    assert g.specialisations[0] == "first call" and len(g.specialisations) > 2


def test_other_arguments_are_other_traces(process: Process) -> None:
    text = "import numpy as np\ndef f(p, n):\n    return np.sum(p['a'] * p['a']) * n\n"
    calls: list[tuple[Any, Any]] = [
        ({"a": X}, 2), ({"a": X}, 2.0), ({"a": X.astype(np.float32)}, 2), ({"a": np.ones(1)}, 2),
        ({"a": np.ones((2, 2))}, 2), ({"a": 3.0}, 2), ({"a": X, "b": 1.0}, 2),
    ]  # fmt: skip
    for expected in (len(calls), 0):
        process.traces = 0
        for p, n in calls:
            g = jit_value_and_grad(process.module(text).f)
            value, slope = g(p, n)
            assert value == np.sum(p["a"] * p["a"]) * n
            np.testing.assert_array_equal(slope["a"], 2 * p["a"] * n)
        assert process.traces == expected


def test_calls_that_a_kernel_found_has_not_foreseen(process: Process) -> None:
    """Extents and ints that a trace relies on are looked at by the kernel."""
    text = """
    import numpy as np
    def f(x, n):
        parts = [x * k for k in range(n)]
        return np.sum(sum(parts[1:], parts[0]) * np.ones(len(x)))
    """
    for n in (2, 3, 3, 2):
        g = jit_grad(process.module(text).f)
        assert g(X, n).tolist() == [float(sum(range(n)))] * 3
        assert g(X, n + 3).tolist() == [float(sum(range(n + 3)))] * 3
        assert g(X[:1], n).tolist() == [float(sum(range(n)))]


def test_one_thing_by_two_names(process: Process) -> None:
    text = "import numpy as np\na = [2.0, 3.0]\nb = {}\ndef f(x):\n    return x * (a is b) + a[0]\n"
    for other, expected in (("[2.0, 3.0]", 0.0), ("a", 1.0), ("[2.0, 3.0]", 0.0)):
        assert jit_grad(process.module(text.replace("{}", other)).f)(2.0) == expected


def test_a_patched_library(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import math, numpy as np\ndef f(x):\n    return math.sin(x) + np.cos(x) * abs(x)\n"
    for owner, name, by in (
        (math, "sin", math.cos), (np, "cos", lambda x: x * x), (math, "sin", lambda x: 5.0 * x),
    ):  # fmt: skip
        assert jit(process.module(text).f)(0.5) == math.sin(0.5) + math.cos(0.5) * 0.5
        with monkeypatch.context() as m:
            m.setattr(owner, name, by)
            f = process.module(text).f
            assert jit(f)(0.5) == pytest.approx(f(0.5), rel=1e-15)


UNTOLD: dict[str, str] = {
    "an object": """
        class Box:
            by = 2.0
        box = Box()
        def f(x):
            return x * x * box.by
    """,
    "a class": """
        class Box:
            def __init__(self, by): self.by = by
        def f(x):
            return x * x * Box(2.0).by
    """,
    "a print": "def f(x):\n    print('x')\n    return 2.0 * x * x\n",
    "a write": "seen = []\ndef f(x):\n    seen.append(1.0)\n    return 2.0 * x * x\n",
    "a name made up": "import sys\nTWO = 2.0\ndef f(x):\n"
                      "    return x * x * getattr(sys.modules[__name__], 'TW' + 'O')\n",
    "an opaque function": "from jitad import opaque\ntwo = opaque(lambda: 2.0, like=0.0)\n"
                          "def f(x):\n    return x * x * two()\n",
    "a rule": "from jitad import custom_jvp\ng = custom_jvp(lambda x: 2.0 * x * x)\n"
              "g.defjvp(lambda p, t: (g(*p), 4.0 * p[0] * t[0]))\ndef f(x):\n    return g(x)\n",
    "an operator's function": "import numpy as np\nfrom jitad import batch\n"
                              "total = batch(np.sum, 0)\ndef f(x):\n"
                              "    return 2.0 * x * total(np.ones((1, 1)) * x)[0]\n",
    "a universal function": "from numba import vectorize\n@vectorize\n"
                            "def two(x): return 2.0 * x\ndef f(x):\n    return two(x) * x\n",
    "an import": "def f(x):\n    import helpers\n    return x * x * helpers.TWO\n",
    "a cached function": "import functools\n@functools.cache\ndef two(): return 2.0\n"
                         "def f(x):\n    return x * x * two()\n",
    "the environment": "import os\nos.environ['JITAD_TEST_TWO'] = '2'\n"
                       "def f(x):\n    return x * x * float(os.environ['JITAD_TEST_TWO'])\n",
    "a library that may do anything": "import locale\ndef f(x):\n"
                       "    return 2.0 * x * x * bool(locale.localeconv())\n",
}  # fmt: skip


def test_operators_over_functions_of_libraries(process: Process) -> None:
    """Nothing of the user's tells them apart."""
    text = "import numpy as np\nfrom jitad import hessian\nf = hessian(np.sum)\n"
    x = np.array([2.0, 3.0])
    for _ in range(2):
        np.testing.assert_array_equal(jit(process.module(text).f)(x), np.zeros((2, 2)))
        by_product = process.module(text.replace("np.sum", "np.prod")).f
        np.testing.assert_array_equal(jit(by_product)(x), [[0.0, 1.0], [1.0, 0.0]])


@pytest.mark.parametrize("what", UNTOLD)
def test_what_content_does_not_tell_is_traced(
    process: Process, what: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    process.module("TWO = 2.0", "helpers")
    monkeypatch.delenv("JITAD_TEST_TWO", raising=False)  # and so after it
    for _ in range(2):
        process.traces = 0
        assert jit_grad(process.module(UNTOLD[what]).f)(3.0) == 12.0
        assert process.traces == 1
    assert not list((process.folder / "cache").glob("jitad_trace_*"))


def test_options_are_part_of_what_is_found(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "def f(x):\n    for _ in range(100):\n        x = x * x - x\n    return x\n"

    def traced(**options: Any) -> int:
        process.traces = 0
        jit_grad(process.module(text).f, **options)(0.5)
        return process.traces

    assert [traced(), traced(), traced(memory=1e4), traced(memory=1e4)] == [1, 0, 1, 0]
    assert [traced(parallel=2), traced(parallel=2)] == [1, 0]
    before = set_memory(1e5)
    try:
        assert [traced(), traced()] == [1, 0]
    finally:
        set_memory(before)
    for name in ("_engine", "_version"):
        with monkeypatch.context() as m:
            m.setattr(recalled, name, lambda *given: "another")
            assert [traced(), traced()] == [1, 0]
    with monkeypatch.context() as m:
        m.setattr(recalled, "surroundings", lambda: "another machine")
        assert [traced(), traced()] == [1, 0]
    assert traced() == 0


def test_all_of_the_engine_is_part_of_the_key() -> None:
    files = {str(f) for f in code(*packages())}
    assert files == set(map(str, Path(jitad.__file__).parent.rglob("*.py")))


@pytest.mark.parametrize("harm", ["cut", "changed", "empty"])
def test_a_damaged_file_is_not_believed(process: Process, harm: str) -> None:
    jit_grad(process.module(TEXT).objective)(X)
    (file,) = (process.folder / "cache").glob("jitad_trace_*")
    content = file.read_bytes()
    damage: dict[str, Callable[[], bytes]] = {
        "cut": lambda: content[: len(content) // 2], "empty": lambda: b"",
        "changed": lambda: content.replace(b"lambda", b"lambdb"),
    }  # fmt: skip
    file.write_bytes(damage[harm]())
    process.traces = 0
    jit_grad(process.module(TEXT).objective)(X)
    assert process.traces == 1
    jit_grad(process.module(TEXT).objective)(X)
    assert process.traces == 1  # there is another one now


def test_what_was_found_shows_all_that_a_trace_shows(process: Process) -> None:
    shown = []
    for _ in range(2):
        g = jit_grad(process.module(TEXT).objective)
        g(X)
        shown.append((g.source, g.tape("traced"), g.tape("plain"), g.tape("once"), g.explain()))
    assert shown[0] == shown[1]
    assert process.traces == 1


MAIN = """
import numpy as np
import jitad.trace.trace as tracing
from jitad import jit_grad
from scipy.special import gammaln
from objective import f

traces = []
trace = tracing.trace
tracing.trace = lambda *given: traces.append(1) or trace(*given)
a = np.array([[4.0, 1.0], [1.0, 3.0]])
print(*jit_grad(f)(a).ravel().round(9), len(traces))
"""

LIBRARIES = """
import numpy as np
from numpy.linalg import solve
from scipy.special import digamma, gammaln

def f(a):
    return np.fft.rfft(a[0])[1].real + gammaln(a[0, 0]) * digamma(a[0, 1]) + solve(a, a[0])[1]
"""


def test_functions_of_libraries_in_real_processes(tmp_path: Path) -> None:
    """Nothing has been imported by a trace when the machine code is loaded."""
    (tmp_path / "main.py").write_text(MAIN)
    (tmp_path / "objective.py").write_text(LIBRARIES)
    found = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "main.py"], env=environment(tmp_path), capture_output=True, text=True,
            cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found.append(done.stdout.split())
    assert found[0][:-1] == found[1][:-1]
    assert (found[0][-1], found[1][-1]) == ("1", "0")


def test_what_a_process_has_kept_it_does_not_find_again(process: Process) -> None:
    f = jit(process.module("""
        def objective(x):
            return x[0:3].sum() + x[-1]
    """).objective)  # fmt: skip
    for n in (5, 2, 4, 2, 7):
        x = np.arange(float(n))
        assert f(x) == x[0:3].sum() + x[-1]
    assert len(f.specialisations) == 2
    assert process.traces == 2
