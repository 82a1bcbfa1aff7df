"""Is it noticed where something comes into a dict, set or deque, or goes, in a loop over it?

Python raises a RuntimeError then, and so do kernels, or they are refused.  The tracer's own is
never what the user's code catches.
"""

from collections import deque

import numpy as np
import pytest

from jitad import jit, set_fallback
from tests.engines import in_place_of_a_kernel
from tests.trace.running import kernel_or_refusal


def keys_come(x):
    d = {}
    s = 0.0
    for k in range(int(4 * x) + 1):
        d[k] = x * k
    for k in d:
        s += d[k]
        if k == 0:
            d[50] = 1.0
    return s


def items_come(x):
    d = {}
    s = 0.0
    for k in range(int(4 * x) + 1):
        d[k] = x * k
    for k, v in d.items():
        s += v
        if k == 0:
            d[50] = 1.0
    return s


def values_go(x):
    d = {}
    s = 0.0
    for k in range(int(4 * x) + 1):
        d[k] = x * k
    for v in d.values():
        s += v
        d.pop(1, None)
    return s


def deque_longer(x):
    q = deque()
    s = 0.0
    for k in range(int(4 * x) + 1):
        q.append(x * k)
    for v in q:
        s += v
        if len(q) < 4:
            q.append(1.0)
    return s


def set_longer(x):
    q = set()
    s = 0.0
    for k in range(int(4 * x) + 1):
        q.add(k)
    for v in q:
        s += v * x
        if v < 1:
            q.add(9)
    return s


def deque_perhaps_longer(x):
    q = deque([x, 2 * x])
    s = 0.0
    for v in q:
        s += v
        if v > 0.5:
            q.append(1.0)
    return s


def set_perhaps_longer(x):
    q = {1, 2}
    s = 0.0
    for v in q:
        s += v * x
        if x > 0.5:
            q.add(9)
    return s


def dict_perhaps_longer(x):
    d = {"a": x}
    s = 0.0
    for k in d:
        s += d[k]
        if x > 0.5:
            d["b"] = 1.0
    return s


def caught_in_a_dict(x):
    d = {"a": x, "b": x}
    s = 0.0
    it = iter(d)
    next(it)
    if x > 0.5:
        d["c"] = x
    try:
        next(it)
        s += 1
    except RuntimeError:
        s += 100.0
    return s


def caught_in_a_deque(x):
    q = deque([x, 2 * x])
    s = 0.0
    it = iter(q)
    s += next(it)
    if x > 0.5:
        q.append(1.0)
    try:
        s += next(it)
    except RuntimeError:
        s += 100.0
    return s


def deque_written(x):
    q = deque([x, 2 * x])
    s = 0.0
    if x > 0.2:
        q.append(x)
    for v in q:
        s += v
        q[0] = 7.0
        q[-1] = 9.0
    return s


def deque_backwards(x):
    q = deque([x, 2 * x])
    s = 0.0
    if x > 0.2:
        q.append(x)
    it = reversed(q)
    q[0] = 7.0
    for v in it:
        s = s * 1.1 + v
    for k, v in enumerate(q):
        s += k * v
        q[-1] = 3.0
    return s


def taken_out_and_left(x):
    d = {"a": x, "b": 2.0 * x}
    for k, v in d.items():
        if v > 1.0:
            del d[k]
            break
    return sum(d.values()) + len(d)


ALWAYS = [keys_come, items_come, values_go, deque_longer, set_longer]
PERHAPS = [deque_perhaps_longer, set_perhaps_longer, dict_perhaps_longer, caught_in_a_dict,
           caught_in_a_deque]  # fmt: skip


@pytest.mark.parametrize("f", ALWAYS, ids=lambda f: f.__name__)
def test_it_is_an_error(f):
    for run in (f, jit(f), lambda x: in_place_of_a_kernel(f, x)):
        with pytest.raises(RuntimeError, match="during iteration"):
            run(0.3)


@pytest.mark.parametrize("f", PERHAPS, ids=lambda f: f.__name__)
def test_on_one_path_only(f):
    assert not kernel_or_refusal(f, (0.22, 0.1), "while it is iterated over")


@pytest.mark.parametrize("f", [deque_written, deque_backwards, taken_out_and_left])
def test_what_neither_comes_nor_goes_is_compiled(f):
    assert kernel_or_refusal(f, (0.32, 0.81, 0.1), "none is refused")


def test_the_eager_engine_takes_over():
    set_fallback(True)
    with pytest.warns(match="runs in the eager engine"):
        assert jit(caught_in_a_dict)(0.1) == 1.0
    with pytest.warns(match="runs in the eager engine"):
        np.testing.assert_allclose(jit(dict_perhaps_longer)(0.1), 0.1)
    with pytest.raises(RuntimeError, match="during iteration"):
        jit(dict_perhaps_longer)(0.9)
