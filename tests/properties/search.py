"""Which random programs fail?  Many of them, outside the test-suite.

    python -m tests.properties.search
    --kind arrays               array programs, not those of numbers
    --count 20000 --seed 0      program k of a seed is always the same one
    --native 50 --second 10     every so-manieth program as a native kernel, to second order
    --log FILE                  what was done; a search with the same log goes on where it stopped

Failures are grouped by what they look like; the first ones of a group are shrunk.
"""

from __future__ import annotations

import argparse
import collections
import gc
import json
import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

CHUNK = 40
KINDS = ("numbers", "arrays", "things", "watched", "failing", "memory")
SECONDS = 120  # for one program, which takes less than one: a pass that does not end is a finding


class TooLong(BaseException):
    """Nothing that catches exceptions of programs may catch it."""


def _too_long(*_: object) -> None:
    raise TooLong


def ways_of(kind: str, number: int, native: int, second: int) -> tuple[str, ...]:
    ways = ["eager", "emitted"]
    if kind == "memory":
        return (*ways, "native") if native and number % native == 0 else tuple(ways)
    if number % 10 == 5:
        ways.append("tape")
    if kind == "arrays" and number % 4 == 2:
        ways.append("again")
    if native and number % native == 0:
        ways.append("native")
    if second and number % second == 0:
        ways.append("second order")
    return tuple(ways)


def _makers(kind: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """What makes a program of this kind from choices and a number, and what checks it."""
    if kind == "arrays":
        from tests.properties.arrays.check import check as check_arrays
        from tests.properties.arrays.generate import program as array_program

        return array_program, check_arrays
    if kind == "memory":
        from tests.properties.memory import program as that_remembers
        from tests.properties.remembered import check as check_remembered

        return lambda choices, number: that_remembers(choices), check_remembered
    from tests.properties.check import check
    from tests.properties.failing import program as that_fails
    from tests.properties.generate import program
    from tests.properties.things import program as with_things
    from tests.properties.watched import REFUSED
    from tests.properties.watched import program as with_watched

    if kind == "watched":
        return (lambda choices, number: with_watched(choices),
                lambda made, *how: check(made.source, *how, refused=REFUSED))  # fmt: skip
    program = {"things": with_things, "failing": that_fails}.get(kind, program)
    return (lambda choices, number: program(choices),
            lambda made, *how: check(made.source, *how))  # fmt: skip


def run_one(kind: str, seed: int, number: int, ways: tuple[str, ...]) -> dict[str, Any]:
    from tests.properties.check import Outcome
    from tests.properties.choices import Choices, Seeded

    program, check = _makers(kind)
    made = program(Choices(Seeded(seed, number)), number)
    start = time.process_time()
    before = signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(SECONDS)
    try:
        outcome = check(made, number, f"random_{seed}_{number}", ways)
    except TooLong:
        outcome = Outcome("failed", f"took over {SECONDS} s", traceback.format_exc())
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return {
        "number": number, "status": outcome.status, "group": outcome.group,
        "detail": outcome.detail[-3000:], "ran": outcome.ran, "features": sorted(made.features),
        "lines": made.source.count("\n"), "seconds": round(time.process_time() - start, 3),
    }  # fmt: skip


def shrunk(
    kind: str, seed: int, number: int, ways: tuple[str, ...], group: str, seconds: float = 90
) -> str:
    """The source of a smaller program that fails alike."""
    from tests.properties.choices import Choices, Replayed, Seeded, shrink

    program, check = _makers(kind)
    end = time.monotonic() + seconds
    way = tuple(w for w in ways if group.startswith(w)) or ways[:1]

    def fails(made: list[int]) -> bool:
        if time.monotonic() > end:
            return False
        smaller = program(Choices(Replayed(made)), number)
        return check(smaller, number, f"shrink_{number}", way).group == group

    first = Choices(Seeded(seed, number))
    program(first, number)
    small = shrink(list(first.made), fails)
    return program(Choices(Replayed(small)), number).source


def _chunk(work: tuple[str, int, list[int], int, int]) -> list[dict[str, Any]]:
    kind, seed, numbers, native, second = work
    return [run_one(kind, seed, k, ways_of(kind, k, native, second)) for k in numbers]


def _begin() -> None:
    """In a process that runs one chunk and ends: nothing is collected, a sixth of the time."""
    gc.disable()


class Report:
    """What was found so far."""

    def __init__(self) -> None:
        self.status: collections.Counter[str] = collections.Counter()
        self.ran: collections.Counter[str] = collections.Counter()
        self.features: collections.Counter[str] = collections.Counter()
        self.refused: collections.Counter[str] = collections.Counter()
        self.failed: dict[str, list[int]] = collections.defaultdict(list)
        self.detail: dict[str, str] = {}
        self.done: set[int] = set()

    def add(self, result: dict[str, Any]) -> None:
        self.done.add(result["number"])
        self.status[result["status"]] += 1
        self.ran.update(result["ran"])
        if result["status"] != "rejected":
            self.features.update(result["features"])
        if result["status"] == "refused":
            self.refused[result["group"]] += 1
        if result["status"] == "failed":
            self.failed[result["group"]].append(result["number"])
            self.detail.setdefault(result["group"], result["detail"])

    def show(self) -> str:
        total = sum(self.status.values())
        rows = [f"{total} programs: " + ", ".join(f"{n} {s}" for s, n in self.status.items())]
        rows.append("ran clean: " + ", ".join(f"{n} {way}" for way, n in self.ran.items()))
        kept = max(total - self.status["rejected"], 1)
        rows += [f"  {100 * n / kept:5.1f} %  {name}" for name, n in self.features.most_common()]
        rows += [f"  {n:5d} x refused: {g}" for g, n in self.refused.most_common()]
        rows += [f"  {len(ks):5d} x {g}" for g, ks in
                 sorted(self.failed.items(), key=lambda item: -len(item[1]))]  # fmt: skip
        return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=KINDS, default="numbers")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--native", type=int, default=50)
    parser.add_argument("--second", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--shrink", type=int, default=5, help="groups to shrink")
    parser.add_argument("--log", type=Path, default=None)
    options = parser.parse_args()
    report = Report()
    if options.log and options.log.exists():
        for line in options.log.read_text().splitlines():
            report.add(json.loads(line))
    if options.kind == "arrays":
        options.second = 0
    todo = [k for k in range(options.count) if k not in report.done]
    work = [(options.kind, options.seed, todo[i : i + CHUNK], options.native, options.second)
            for i in range(0, len(todo), CHUNK)]  # fmt: skip
    log = options.log.open("a") if options.log else None
    # A process for each chunk, since programs leave memory behind, made from one that is warm.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("JITAD_CACHE_DIR", "")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.properties.warm"])
    start = time.monotonic()
    with context.Pool(options.jobs, _begin, maxtasksperchild=1) as pool:
        for n, results in enumerate(pool.imap_unordered(_chunk, work)):
            for result in results:
                report.add(result)
                if log:
                    log.write(json.dumps(result) + "\n")
                    log.flush()
            if sys.stderr.isatty() or n % 10 == 9:
                failed = report.status["failed"]
                rate = len(report.done) / (time.monotonic() - start)
                print(f"{len(report.done)}/{options.count}  {failed} failed  {rate:.1f}/s",
                      file=sys.stderr, flush=True)  # fmt: skip
    print(report.show())
    for group, numbers in list(report.failed.items())[: options.shrink]:
        ways = ways_of(options.kind, numbers[0], options.native, options.second)
        print(f"\n== {group}: programs {numbers[:8]}\n{report.detail[group].strip()[-1200:]}\n")
        print(shrunk(options.kind, options.seed, min(numbers), ways, group))
    return 1 if report.failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
