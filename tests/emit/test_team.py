"""Does the team run each part once, on no more threads than it may?"""

from __future__ import annotations

import ctypes
import threading
import time
from collections import Counter
from collections.abc import Iterator

import pytest

from jitad import set_num_threads
from jitad.emit import team

PART = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)
spread = ctypes.CFUNCTYPE(None, PART, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(
    team._engine.get_function_address(team.SPREAD)
)


@pytest.fixture(autouse=True)
def five() -> Iterator[None]:
    before = set_num_threads(5)
    yield
    set_num_threads(before)


def run(parts: int, most: int) -> tuple[Counter[int], set[int]]:
    """How often each part ran, and on which threads."""
    done: Counter[int] = Counter()
    threads: set[int] = set()

    def part(_: object, k: int) -> None:
        threads.add(threading.get_ident())
        done[k] += 1
        time.sleep(0.001)  # time for others to come

    spread(PART(part), None, parts, most)
    return done, threads


@pytest.mark.parametrize("parts", [0, 1, 2, 5, 40])
@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_each_part_runs_once(parts: int, most: int) -> None:
    for _ in range(3):
        done, threads = run(parts, most)
        assert done == Counter(range(parts))
        assert len(threads) <= (most or 5)


def test_threads_share_the_parts() -> None:
    assert max(len(run(40, 0)[1]) for _ in range(5)) > 1
    assert threading.get_ident() in run(40, 3)[1]


def test_a_part_that_has_parts_runs_them_alone() -> None:
    inner: Counter[int] = Counter()

    def one(_: object, k: int) -> None:
        inner[k] += 1

    def part(_: object, k: int) -> None:
        spread(PART(one), None, 3, 0)

    spread(PART(part), None, 8, 0)
    assert inner == Counter({0: 8, 1: 8, 2: 8})
