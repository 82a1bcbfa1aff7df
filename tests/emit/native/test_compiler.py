"""The language that kernels are written in survives the shortened list of passes."""

import math
import multiprocessing
import threading
from collections import Counter

import numpy as np
import pytest

from jitad import jit_grad
from jitad.emit import native, translate

TEXT = """
import numpy as np
from jitad.emit.preamble import *
from jitad.errors import JitadValueError, JitadZeroDivisionError

def kernel(x, n, flag):
    if n == 0:
        raise JitadZeroDivisionError("n is zero")
    pair = (x[0], n)
    total = 0.0
    for i in range(n - 1, -1, -2):
        if flag and i % 3 == 0:
            continue
        total += x[i] * pair[0]
    steps = 0
    while total > 1.0:
        total = total / 2.0
        steps += 1
        if steps > 100:
            break
    else:
        steps = -steps
    best = total if total < 0.5 else 0.5
    u, un = np.zeros(3), np.ones(3)
    for _ in range(n):
        u, un = un, u
    a, (b, c) = n // 2, (steps, best)
    y = x[::2].copy()
    if y.shape[0] < 1:
        raise JitadValueError("empty")
    print("n is", n)
    return total, (a, b, c), u, y, un[0] if flag else y[y.shape[0] - 1]

def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)
"""


@pytest.fixture
def kernel():
    return native.compile(TEXT, "kernel")


def test_compiled_is_plain(kernel, capsys):
    for n, flag in ((5, True), (6, False), (1, True)):
        x = np.linspace(0.5, 3.0, 8)
        got, true = kernel(x, n, flag), kernel.py_func(x, n, flag)
        assert capsys.readouterr().out.count(f"n is {n}") == 2
        assert got[1] == true[1] and got[0] == true[0] and got[4] == true[4]
        np.testing.assert_array_equal(got[2], true[2])
        np.testing.assert_array_equal(got[3], true[3])


def test_exceptions_come_out_with_class_and_message(kernel):
    with pytest.raises(ZeroDivisionError, match="n is zero") as e:
        kernel(np.ones(3), 0, True)
    assert type(e.value).__name__ == "JitadZeroDivisionError"


def test_recursion():
    power = native.compile(TEXT, "power")
    assert power(2.0, 10) == 1024.0


def test_operations_typed_for_kernels_leave_numba_as_it_was():
    import numba

    before = numba.types.Function.get_call_type
    f = native.compile("def f(a, b): return a * b + a / b - (a < b) + 3 % a\n", "f")
    assert f(2.0, 4.0) == f.py_func(2.0, 4.0)
    assert f(2, 4) == f.py_func(2, 4)
    assert numba.types.Function.get_call_type is before
    failing = native.compile("def f(a): return a + 'text'\n", "f")
    with pytest.raises(numba.TypingError):
        failing(1.0)
    assert numba.types.Function.get_call_type is before
    assert numba.njit(lambda a: a[::-1] + a)(np.arange(3.0)).tolist() == [2.0, 2.0, 2.0]


def _in_child(folder, factor, results):
    f = native.compile(f"def f(x): return x * {factor}\n", "f")
    results.put((factor, f(2.0)))


def test_children_of_a_fork_and_threads(tmp_path, monkeypatch):
    monkeypatch.setenv("JITAD_CACHE_DIR", str(tmp_path))
    fork = multiprocessing.get_context("fork")
    results = fork.Queue()
    children = [fork.Process(target=_in_child, args=(tmp_path, k, results)) for k in (3, 5, 5)]
    for child in children:
        child.start()
    got = sorted(results.get(timeout=60) for _ in children)
    for child in children:
        child.join()
    assert got == [(3, 6.0), (5, 10.0), (5, 10.0)]
    # what the children compiled, loaded side by side here
    for factor in (3, 5, 7):
        f = native.compile(f"def f(x): return x * {factor}\n", "f")
        assert f(2.0) == 2.0 * factor
        assert sum(f.stats.cache_hits.values()) == (factor != 7)

    out = []
    text = "def g(x): return x + 41.0\n"
    threads = [
        threading.Thread(target=lambda: out.append(native.compile(text, "g")(1.0)))
        for _ in range(4)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert out == [42.0] * 4


TAKEN_BEFORE = """
import numpy as np
from jitad.emit.preamble import *

def taken(c, a, b, other):
    for i in range(c.shape[0]):
        t = other
        if c[i] > 0.0:
            t = a[i]
            a[i] = 5.0
        b[i] = t
    return 0.0
"""


def test_what_is_overwritten_was_read_before():
    """LLVM 22 reads it afterwards, where a choice follows the store (its issue 215453)."""
    kernel = native.compile(TAKEN_BEFORE, "taken")
    c = np.cos(np.arange(40.0))
    got, true = ([np.arange(40.0), np.arange(40.0) / 7.0] for _ in range(2))
    kernel(c, *got, 3.0)
    kernel.py_func(c, *true, 3.0)
    for g, t in zip(got, true, strict=True):
        np.testing.assert_allclose(g, t, rtol=1e-14)


def test_each_function_that_calls_itself_is_written_for_one_kind_of_arguments(monkeypatch):
    """What its calls record is empty at first: its length is a number like any other then."""
    written = Counter()
    run = translate._Translation.run

    def counted(self):
        written[self.function.name] += 1
        return run(self)

    monkeypatch.setattr(translate._Translation, "run", counted)
    monkeypatch.setenv("JITAD_CACHE_DIR", "")

    def recorded(x, n):
        return math.sin(recorded(0.5 * x, n - 1)) + x if n > 0 else x * x

    slope = jit_grad(recorded)(0.7, 3)
    step = 1e-6
    expected = (recorded(0.7 + step, 3) - recorded(0.7 - step, 3)) / (2.0 * step)
    assert slope == pytest.approx(expected, rel=1e-8)
    assert len(written) > 2 and set(written.values()) == {1}


def test_bytecode_is_made_where_it_is_run():
    """Of a function that is alone the head is enough, but for what is left to Numba, and Python."""
    text = "def early(x, n):\n    while x > 0.0:\n        return x\n    return n - x\n"
    early = native.compile(text, "early")
    late = native.compile("def late(x, n):\n    return x * n\n", "late")
    assert "__in_full__" in early.py_func.__code__.co_names
    for x, n in ((2.5, 3), (-2.0, 3)):
        assert early(x, n) == early.py_func(x, n) == (x if x > 0.0 else n - x)
        assert late(x, n) == late.py_func(x, n) == x * n
    assert late.py_func.__code__.co_filename == early.py_func.__code__.co_filename.replace(
        early.py_func.__module__, late.py_func.__module__
    )
