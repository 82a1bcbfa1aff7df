"""Does a handle behave as an ndarray?  Random programs of views, writes and arithmetic.

A program is a list of steps on a pool of arrays that begins with the arguments: steps make views
of views, write through them, and combine them.  The whole pool is compared at the end, on plain
handles, on the interpreted tape and on tagged arrays, with NumPy as the truth.
"""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from tests.values import ways

SHAPES = [(5,), (4, 3), (1, 4), (2, 3, 4)]

bound = st.one_of(st.none(), st.integers(-6, 6))
steps = st.sampled_from([None, 1, 2, 3, -1, -2])
slices = st.builds(slice, bound, bound, steps)
items = st.one_of(
    slices, st.integers(-2, 1), st.just(None), st.just(...), st.just(slice(None))
)
indices = st.lists(items, min_size=1, max_size=3).map(tuple)
which = st.integers(0, 30)
numbers = st.sampled_from([0.5, -1.25, 2.0, 3])
KINDS = [
    "index", "index", "index", "T", "reshape", "ravel", "write", "write", "add_to", "mul_to",
    "add", "mul", "sin", "sum", "copy", "put", "swap", "squeeze",
]  # fmt: skip
step = st.tuples(st.sampled_from(KINDS), which, which, indices, numbers)


def run(program: list[Any]) -> Any:
    def f(np: Any, *args: Any) -> Any:
        pool = list(args)
        kinds = []
        for kind, i, j, index, number in program:
            a, b = pool[i % len(pool)], pool[j % len(pool)]
            try:
                out = one(np, kind, a, b, index, number)
            except (IndexError, ValueError) as e:
                kinds.append(type(e))  # the same steps must fail in every way of running
                assert not isinstance(e, AssertionError)
                continue
            if out is not None:
                pool.append(out)
        f.failed = kinds
        return pool

    return f


def one(np: Any, kind: str, a: Any, b: Any, index: Any, number: float) -> Any:
    ndim = len(np.shape(a))
    match kind:
        case "index":
            return a[index] if ndim else None
        case "T":
            return np.transpose(a) if ndim else None
        case "swap":
            return np.swapaxes(a, 0, ndim - 1) if ndim > 1 else None
        case "squeeze":
            return np.squeeze(a) if ndim else None
        case "reshape":
            return a.reshape(-1, np.shape(a)[-1]) if ndim > 1 else None
        case "ravel":
            return np.ravel(a) if ndim else None
        case "write":
            if ndim:
                a[index] = b if len(np.shape(b)) != ndim else number
        case "put":
            if ndim:
                a[index] = number
        case "add_to":
            if ndim:
                a += number
        case "mul_to":
            if ndim and len(np.shape(b)) <= ndim:
                a *= b
        case "add":
            return a + b
        case "mul":
            return a * number
        case "sin":
            return np.sin(a)
        case "sum":
            return np.sum(a, axis=0) if ndim else None
        case "copy":
            return np.copy(a) if ndim else None
    return None


def arguments(shapes: list[Any]) -> list[Any]:
    rng = numpy.random.default_rng(3)
    return [rng.uniform(-1, 1, s) for s in shapes]


programs = st.lists(step, min_size=1, max_size=9)
chosen = st.lists(st.sampled_from(SHAPES), min_size=1, max_size=2)


@pytest.mark.parametrize("way", ["handles", "tagged"])
@settings(max_examples=120, deadline=None)
@given(programs, chosen)
def test_as_numpy(way, program, shapes):
    args = arguments(shapes)
    f = run(program)
    want = ways.on_ndarrays(f, *args)
    failed = f.failed
    for kind, *_ in program:
        event(kind)
    found = ways.WAYS[way](f, *args)
    assert len(f.failed) == len(failed)
    ways.assert_same(found, want)


@settings(max_examples=120, deadline=None)
@given(programs, chosen)
def test_on_a_tape(program, shapes):
    """Where no step fails; one that does stops the tape by its check (tested apart)."""
    args = arguments(shapes)
    f = run(program)
    want = ways.on_ndarrays(f, *args)
    if f.failed:
        event("fails")
        return
    try:
        found = ways.on_tape(f, *args)
    except ways.JitadError as e:
        # The assumptions about traced extents are checked where they don't hold.
        assert "could not broadcast" in str(e) or "could not be broadcast" in str(e) or (
            "of fixed length reaches beyond" in str(e) or "not known while tracing" in str(e)
        ), e
        event("refused")
        return
    ways.assert_same(found, want)
