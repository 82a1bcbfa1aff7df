"""Random tapes: emitted code does what the interpreter says, and never touches its arguments."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitad.specialise.together import together
from tests.emit.programs import random_tape
from tests.emit.running import check
from tests.examples import examples


def arguments(seed: int) -> list[object]:
    """Small integers as floats; rows with a stride and columns first, too."""
    rng = np.random.default_rng(seed)
    x, y = (rng.integers(-5, 9, 4).astype(float) for _ in range(2))
    a = rng.integers(-5, 9, (4, 3)).astype(float)
    if seed % 3 == 0:
        a = np.asfortranarray(a)
    if seed % 5 == 0:
        x = np.repeat(x, 2)[::2]
    return [x, y, a, 7.0, 3]


@settings(max_examples=examples(400), deadline=None)
@given(st.integers(0, 10**9))
def test_plain(seed: int) -> None:
    tape, _ = random_tape(seed, 7)
    check(tape, *arguments(seed), numba=False, exact=True)


@settings(max_examples=examples(400), deadline=None)
@given(st.integers(0, 10**9), st.booleans())
def test_sums_that_are_added_where_arrays_lie(seed: int, scheduled: bool) -> None:
    tape, _ = random_tape(seed, 7, sums=True)
    check(together(tape) if scheduled else tape, *arguments(seed), numba=False, exact=True)


@pytest.mark.parametrize("seed", [1, 4, 9, 16, 25])
def test_compiled_sums(seed: int) -> None:
    tape, _ = random_tape(seed, 4, sums=True)
    check(together(tape), *arguments(seed), exact=True)


@pytest.mark.parametrize("seed", [2, 3, 5, 10, 21])
def test_compiled(seed: int) -> None:
    tape, _ = random_tape(seed, 4)
    check(tape, *arguments(seed), exact=True)


@pytest.mark.parametrize(
    ("seed", "size"),
    [
        (214, 2),  # a branch's result took the name of a value that another result kept
        (312, 4),  # a loop's results lost track of the buffers that had moved in,
        (633, 6),  # and so did those of a loop around it
        (16, 6),  # an overlapping store through a temporary
        (26772, 7),  # lines of a branch were copied, and an array in them missed
    ],
)
def test_found_by_search(seed: int, size: int) -> None:
    tape, _ = random_tape(seed, size)
    check(tape, *arguments(seed), numba=False, exact=True)


def test_generator_reaches_every_feature() -> None:
    seen = set().union(*(random_tape(seed, 7)[1] for seed in range(60)))
    assert seen >= {"for", "while", "if", "record", "store", "store_slice", "view", "elementwise",
                    "make", "reduce", "product", "load", "scalar"}  # fmt: skip
