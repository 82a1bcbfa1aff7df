"""Do calls go as deep in the engine as in Python, and does a recursion without end still end?"""

from __future__ import annotations

import cmath
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jitad import grad, jit_grad, jvp
from jitad.room import Room

DEPTH = 700  # Python's limit is 1000
ROOT = Path(__file__).resolve().parents[2]


def _chain(n: int) -> Any:
    links: Any = None
    for k in range(n):
        links = (0.1 * (k % 7), links)
    return links


CHAIN = _chain(DEPTH)


def sin(x: Any) -> Any:
    return cmath.sin(x) if isinstance(x, complex) else np.sin(x)


def along(links: Any, x: Any) -> Any:
    return x if links is None else sin(along(links[1], x) + links[0] * x)


class Link:
    def __init__(self, rest: Any) -> None:
        self.rest = rest

    def __call__(self, x: Any) -> Any:
        return x if self.rest is None else 1.01 * sin(self.rest(x))


def linked(x: Any) -> Any:
    f = Link(None)
    for _ in range(DEPTH // 2):  # each is two calls of Python's
        f = Link(f)
    return f(x)


FUNCTIONS = [lambda x: along(CHAIN, x), linked]


@pytest.mark.parametrize("f", FUNCTIONS, ids=["data", "objects"])
def test_as_deep_as_python(f: Any) -> None:
    slope = f(0.3 + 1e-30j).imag / 1e-30
    limit = sys.getrecursionlimit()
    assert grad(f)(0.3) == pytest.approx(slope, rel=1e-12)
    assert jvp(f, (0.3,), (1.0,))[1] == pytest.approx(slope, rel=1e-12)
    assert sys.getrecursionlimit() == limit


def test_as_deep_as_python_compiled_on_a_thread() -> None:
    chain, found = _chain(300), []
    g = jit_grad(lambda x: along(chain, x))
    thread = threading.Thread(target=lambda: found.append(g(0.3)))
    thread.start()
    thread.join()
    assert found == [pytest.approx(along(chain, 0.3 + 1e-30j).imag / 1e-30, rel=1e-12)]


def test_the_limit_is_back_when_the_last_one_has_left() -> None:
    limit = sys.getrecursionlimit()
    with Room():
        inside = sys.getrecursionlimit()
        with Room():
            assert sys.getrecursionlimit() == inside > limit
        assert sys.getrecursionlimit() == inside
        with pytest.raises(ZeroDivisionError), Room():
            raise ZeroDivisionError
    assert sys.getrecursionlimit() == limit


ENDLESS = """
import math, sys, threading
import jitad

sys.setrecursionlimit(10**6)

def endless(x):
    return math.sin(endless(x * 1.0))

def run():
    for g in (jitad.grad(endless), jitad.jit_grad(endless)):
        try:
            g(1.0)
        except jitad.JitadError as e:
            print(type(e).__name__)
            assert "endless.py" in str(e) and "return math.sin(endless(x * 1.0))" in str(e), e

run()
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""


def test_a_recursion_without_end_is_an_error_before_the_native_stack_ends(tmp_path: Path) -> None:
    """Whatever limit the user has set."""
    file = tmp_path / "endless.py"
    file.write_text(ENDLESS)
    done = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(done.stdout.split()) == 4
