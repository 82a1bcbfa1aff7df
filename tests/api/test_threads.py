"""May several threads differentiate, compile and call at once?"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from jitad import grad, jit, jit_grad


@pytest.fixture(autouse=True)
def hasty() -> Iterator[None]:
    """Threads change places as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def together(*calls: Callable[[], None]) -> None:
    errors: list[BaseException] = []
    start = threading.Barrier(len(calls))

    def run(call: Callable[[], None]) -> None:
        try:
            start.wait()
            call()
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if errors:
        raise errors[0]


PARAMS: dict[str, Any] = {"w": np.linspace(0.0, 1.0, 10), "layers": [1.0, 2.0, 3.0]}


def loss(x):
    a = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 0.5:
            a[i] = math.sin(x[i]) * PARAMS["w"][i]
        else:
            a[i] = x[i] ** 3
    s = np.sum(a)
    for v in PARAMS["layers"]:
        s = s * v
    return s


X = np.linspace(0, 1, 10)


def test_first_calls_of_one_function() -> None:
    expected = grad(loss)(X)
    g = jit_grad(loss)

    def call() -> None:
        for _ in range(10):
            np.testing.assert_allclose(g(X), expected, rtol=1e-12)

    together(*[call] * 6)
    assert g.specialisations == ["first call"]


def test_compiling_beside_calling_and_eager_derivatives() -> None:
    """Tracing puts traced values into lists and dicts from outside for a while."""
    expected = grad(loss)(X)
    known = jit_grad(loss)
    known(X)

    def calls() -> None:
        for _ in range(30):
            np.testing.assert_allclose(known(X), expected, rtol=1e-12)

    def compiles() -> None:
        for k in range(3):
            g = jit_grad(lambda x, k=k: loss(x) * k)
            np.testing.assert_allclose(g(X), expected * k, rtol=1e-12)

    def eager() -> None:
        for k in range(10):
            g = grad(lambda x, k=k: np.sum(np.ones(len(x)) * x * x) * k)
            np.testing.assert_allclose(g(X), 2 * X * k, rtol=1e-12)

    together(calls, compiles, eager, calls, compiles, eager)


def test_types_found_by_several_threads() -> None:
    g = jit(lambda x: x * x)

    def call(x: Any) -> Callable[[], None]:
        def run() -> None:
            for _ in range(20):
                np.testing.assert_array_equal(g(x), x * x)

        return run

    together(*map(call, (2.0, 3, np.ones(3), np.ones((2, 2)), np.float32(2.5), True)))
    assert len(g.specialisations) == 6
