"""Are containers that a function has changed what they are at the next call?"""

import copy

import numpy as np
import pytest

from jitad import jit, jit_value_and_grad


def appends(x, c):
    c.append(x * len(c))
    return sum(c) * 2.0 + len(c)


def pops(x, c):
    return c.pop() * x + len(c)


def puts_in(x, c):
    c[f"k{len(c)}"] = x
    return sum(c.values())


def takes_out(x, c):
    return c.pop(next(iter(c))) * x + len(c)


def empties(x, c):
    c.clear()
    return x + len(c)


def becomes_an_int(x, c):
    c[0] = 3 if type(c[0]) is float else 0.5
    return c[0] * x


def an_array_in_it(x, c):
    c[0] = np.append(c[0], x) if isinstance(c[0], np.ndarray) else np.ones(2)
    return c[0].sum() + len(c)


LISTS = [[1.0], [1.0, 2.0, 3.0], [1.0] * 70, list(range(70)), [(1, 2.0)] * 70]
CASES = [
    *[(appends, c) for c in LISTS[:3]], *[(pops, c) for c in ([1.0] * 8, [1.0] * 70)],
    *[(empties, c) for c in LISTS], *[(becomes_an_int, c) for c in LISTS[:3]],
    *[(an_array_in_it, c) for c in LISTS[:1]], (puts_in, {}), (puts_in, {"a": 1.0}),
    (takes_out, {f"k{n}": float(n) for n in range(8)}),
]  # fmt: skip


@pytest.mark.parametrize("f, given", CASES, ids=lambda v: getattr(v, "__name__", None))
def test_calls_in_a_row(f, given):
    runs = {"jit": jit(f), "derivative": jit_value_and_grad(f)}
    mine = copy.deepcopy(given)
    theirs = {name: copy.deepcopy(given) for name in runs}
    for x in (0.7, 0.7, 1.1, 0.7, 0.9):
        expected = f(x, mine)
        for name, run in runs.items():
            got = run(x, theirs[name])
            assert (got if name == "jit" else got[0]) == pytest.approx(expected, rel=1e-13)
            np.testing.assert_equal(theirs[name], mine)
            assert list(map(type, theirs[name])) == list(map(type, mine))
