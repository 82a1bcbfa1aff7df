"""Are the rules of the array rows right?

Tangents against extrapolated central differences of the row's own evaluation, cotangents by the
definition of the transpose: <ct, J t> = <J^T ct, t>.  Every row of the table has a sample here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jitad.primitives import TABLE
from jitad.primitives.shares import MARKS
from jitad.runtime import jvp, vjp
from jitad.values.array import ArrayHandle
from jitad.values.number import bind

RNG = np.random.default_rng(7)


def r(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape)


I = np.array([2, 0, 2])
SAMPLES: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "load": [((r(4), 2), {}), ((r(3, 4), 1, 3), {})],
    "store": [((r(4), 1.5, 2), {}), ((r(3, 4), 1.5, 0, 1), {})],
    "accum": [((r(4), 1.5, 2), {})],
    "slice": [
        ((r(6), 1, 2, 2), {"kinds": "r"}),
        ((r(6), 5, -2, 3), {"kinds": "r"}),
        ((r(4, 5), 2, 0, 1, 5), {"kinds": "ir"}),
        ((r(4, 5), 3, -1, 4, 1, 2, 2), {"kinds": "rr"}),
    ],
    "store_slice": [
        ((r(6), r(2), 1, 2, 2), {"kinds": "r"}),
        ((r(6), 0.5, 1, 2, 2), {"kinds": "r"}),
        ((r(4, 5), r(5), 2, 4, -1, 5), {"kinds": "ir"}),
    ],
    "accum_slice": [
        ((r(6), r(2), 1, 2, 2), {"kinds": "r"}),
        ((r(6), 0.5, 0, 1, 3), {"kinds": "r"}),
    ],
    "take": [((r(4), I), {"axis": 0}), ((r(2, 4), I), {"axis": 1})],
    "store_take": [((r(4), r(3), I), {"axis": 0}), ((r(2, 4), r(2, 3), I), {"axis": 1})],
    "accum_take": [((r(4), r(3), I), {"axis": 0}), ((r(2, 4), r(2, 3), I), {"axis": 1})],
    "full": [((1.5, 3), {"dtype": "f8"}), ((1.5, 2, 3), {"dtype": "f8"})],
    "copy": [((r(3),), {})],
    "pad": [((r(3), 2, 6), {}), ((r(2, 3), 0, 1, 2, 4), {}), ((r(0), 1, 3), {})],
    "pack": [((1.5, -2.0, 0.5), {})],
    "broadcast": [
        ((r(3), 2, 3), {"axes": (1,)}),
        ((r(3), 3, 2), {"axes": (0,)}),
        ((1.5, 2, 3), {"axes": ()}),
        ((r(2, 3), 2, 4, 3), {"axes": (0, 2)}),
    ],
    "reshape": [((r(2, 3), 6), {}), ((r(2, 3), 3, 1, 2), {})],
    "transpose": [((r(2, 3, 4),), {"perm": (2, 0, 1)})],
    "concatenate": [
        ((r(2), r(3), 5), {"axis": 0}),
        ((r(2, 1), r(2, 2), 3), {"axis": 1}),
    ],
    "sum": [((r(3),), {"axes": (0,)}), ((r(2, 3, 4),), {"axes": (0, 2)})],
    "amax": [((r(5),), {"axes": (0,)}), ((r(2, 3, 4),), {"axes": (1,)})],
    "amin": [((r(5),), {"axes": (0,)}), ((r(2, 3, 4),), {"axes": (0, 1)})],
    "matmul": [
        ((r(3), r(3)), {}),
        ((r(2, 3), r(3)), {}),
        ((r(3), r(3, 2)), {}),
        ((r(2, 3), r(3, 4)), {}),
    ],
}
NO_DERIVATIVE = {"blank", "dim", "iota", "check", "print", "positions"}
# Calls on whole arrays: tested in tests/breadth by way of the functions that use them.
WHOLE = {name for name, row in TABLE.items() if row.emit and not row.elementwise}
# tested with the sweeps, in tests/custom, in tests/values/test_softmax
ENGINES_OWN = {*MARKS, "ident", "stack", "push", "pop", "pops", "attach", "call", "act", "custom",
               "attach_rule", "callback", "unknown", "spread"}  # fmt: skip

CASES = [(name, k) for name, samples in SAMPLES.items() for k in range(len(samples))]


def test_every_row_has_a_sample():
    others = {name for name, row in TABLE.items() if not row.elementwise}
    assert set(SAMPLES) | NO_DERIVATIVE | WHOLE | ENGINES_OWN == others


def case(name: str, k: int) -> tuple[Any, list[int], list[Any]]:
    """(function of its active arguments, their values, directions)"""
    args, params = SAMPLES[name][k]
    active = [
        i for i, a in enumerate(args)
        if isinstance(a, float) or (isinstance(a, np.ndarray) and a.dtype.kind == "f")
    ]  # fmt: skip

    def f(*values: Any) -> Any:
        full = list(args)
        for i, v in zip(active, values, strict=True):
            full[i] = v.content if isinstance(v, ArrayHandle) else v
        out = bind(name, *full, **params)
        return ArrayHandle(out) if getattr(out, "shape", ()) else out

    values = [args[i] for i in active]
    directions = [r(*np.shape(v)) if np.shape(v) else 0.7 for v in values]
    return f, values, directions


def plain(x: Any) -> Any:
    return np.asarray(x.content if isinstance(x, ArrayHandle) else x)


@pytest.mark.parametrize(("name", "k"), CASES)
def test_tangent(name, k):
    f, values, directions = case(name, k)

    def moved(h: float) -> Any:
        return plain(f(*(v + h * d for v, d in zip(values, directions, strict=True))))

    def difference(h: float) -> Any:
        return (moved(h) - moved(-h)) / (2 * h)

    h = 2e-3
    want = (4 * difference(h / 2) - difference(h)) / 3
    _, found = jvp(f, tuple(values), tuple(directions))
    np.testing.assert_allclose(plain(found), want, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(("name", "k"), CASES)
def test_cotangent_is_the_transpose(name, k):
    f, values, directions = case(name, k)
    value, pullback = vjp(f, *values)
    ct = r(*np.shape(plain(value))) if np.shape(plain(value)) else 0.3
    adjoints = pullback(ct)
    _, tangent = jvp(f, tuple(values), tuple(directions))
    left = np.sum(ct * plain(tangent))
    right = sum(np.sum(plain(a) * d) for a, d in zip(adjoints, directions, strict=True))
    assert left == pytest.approx(right, rel=1e-12)


@pytest.mark.parametrize("name", ["amax", "amin"])
def test_ties_share(name):
    a = np.array([1.0, 1.0, 1.0])
    _, pullback = vjp(lambda x: bind(name, x.content, axes=(0,)), a)
    np.testing.assert_allclose(pullback(3.0)[0], [1.0, 1.0, 1.0])


@pytest.mark.parametrize(("name", "k"), CASES)
def test_float32_stays_float32(name, k):
    args, params = SAMPLES[name][k]
    narrow = [a.astype(np.float32) if isinstance(a, np.ndarray) and a.dtype.kind == "f" else a
              for a in args]  # fmt: skip
    if not any(isinstance(a, np.ndarray) for a in narrow):
        return  # made of Python floats
    assert TABLE[name].evaluate(*narrow, **params).dtype == np.float32


@pytest.mark.parametrize("name", [n for n, row in TABLE.items() if row.update is not None])
def test_update_in_place_does_what_evaluate_gives_anew(name):
    for args, params in SAMPLES[name]:
        before = np.array(args[0])
        anew = TABLE[name].evaluate(*args, **params)
        np.testing.assert_array_equal(args[0], before)
        TABLE[name].update(before, *args[1:], **params)
        np.testing.assert_array_equal(before, anew)


@pytest.mark.parametrize("place", [0, 5, -1])
def test_a_slice_of_no_elements_may_be_anywhere(place: int) -> None:
    a, kinds, operands = np.zeros((0, 0)), "ri", (0, 1, 0, place)
    slice_, store, accum = (TABLE[op] for op in ("slice", "store_slice", "accum_slice"))
    assert slice_.evaluate(a, *operands, kinds=kinds).shape == (0,)
    for row in (store, accum):
        assert row.evaluate(a, np.zeros(0), *operands, kinds=kinds).shape == (0, 0)
    with pytest.raises(IndexError):
        slice_.evaluate(np.zeros((2, 2)), 0, 1, 2, 2, kinds=kinds)
