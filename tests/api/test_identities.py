"""Are the caller's things, after a call that wrote to them, the same things, written as Python has?

Programs drawn at random write to a dict that holds lists, dicts, arrays and objects, which the
caller knows by other names, too: replacing one by a copy would show.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitad
from tests.engines import as_emitted, on_tape
from tests.properties.check import forget, load


class Thing:
    def __init__(self, v: Any, log: Any, table: Any) -> None:
        self.v, self.log, self.table = v, log, table


def state() -> dict[str, Any]:
    return {
        "n": 0.5, "list": [1.0, 2.0, 3.0], "other": [4.0], "d": {"m": 1.0, "in": [7.0, 8.0]},
        "a": np.arange(4.0), "b": np.arange(6.0).reshape(2, 3), "z": np.array([1.0 + 2.0j, 3.0j]),
        "o": Thing(1.5, [0.5], {"k": 2.0}), "t": (1.0, [2.0], np.ones(2)),
    }  # fmt: skip


WRITES = """
p["n"] = E
p["n"] += E
p["new"] = E
p["list"].append(E)
p["list"][0] = E
p["list"].pop()
p["list"].extend([E, E])
p["list"].insert(0, E)
p["list"] = [E]
p["list"] += [E]
p["list"], p["other"] = p["other"], p["list"]
p["d"]["m"] = E
p["d"]["more"] = E
p["d"]["in"].append(E)
p["d"]["in"][1] = E
p["d"].update(m=E, l=p["list"])
p["d"] = {"m": E, "in": p["d"]["in"]}
p["a"][1] = E
p["a"] *= s
p["a"][1:] += E
p["a"] = p["a"] * 2.0
p["b"][1] = p["a"][:3]
p["b"].T[0] = E
p["z"] *= s
p["z"].real[0] = E
p["o"].v = E
p["o"].log.append(E)
p["o"].log = [E]
p["o"].table["k"] = E
p["o"].more = p["list"]
p["o"].v = p["a"]
p["t"][1].append(E)
p["t"][2][0] = E
p["t"] = (E, p["t"][1], p["t"][2])
p["alias"] = p["a"]
p["alias"] = p["z"]
p["alias"] = p["o"]
q = p["list"]; q.append(E)
q = p["d"]; q["m"] = E
q = p["a"]; q[0] = E; p["q"] = q
q = p["o"]; q.v = E; p["q"] = q.log
keep(p, E)
p.pop("other", None)
p.setdefault("list", []).append(E)
""".strip().splitlines()

EXPRESSIONS = ["s", "2.0 * s", "p['n']", "float(k)", "1.25", "p['a'][0]", "s * p['o'].v_or(s)",
               "p['list'][0]", "p['d']['m']"]  # fmt: skip


TO_ARRAYS = re.compile(r"""p\["[abz]"\].*=|\["t"\]\[2\]\[0\]|q\[0\] = E""")


def program(draw: random.Random, arrays: bool = True) -> str:
    writes = [w for w in WRITES if arrays or not TO_ARRAYS.search(w)]
    lines = [
        "def keep(p, x):", "    p['kept'] = x", "    p['o'].log.append(x)", "", "",
        "def program(p, s, k):",
    ]  # fmt: skip

    def write() -> str:
        out = draw.choice(writes)
        while "E" in out:
            out = out.replace("E", draw.choice(EXPRESSIONS[:6] + EXPRESSIONS[7:]), 1)
        return out

    for _ in range(draw.randrange(1, 5)):
        match draw.randrange(6):
            case 0:
                lines.append("    if s > 0.5:")
                lines += [f"        {write()}" for _ in range(draw.randrange(1, 3))]
                if draw.random() < 0.5:
                    lines += ["    else:", f"        {write()}"]
            case 1:
                lines += ["    for j in range(2):", f"        {write()}"]
            case _:
                lines.append(f"    {write()}")
    return "\n".join([*lines, "    return s * 2.0", ""])


def described(p: Any, inside: tuple[int, ...] = ()) -> Any:
    """The structure in words."""
    if id(p) in inside:
        return "again"
    inner = (*inside, id(p))
    if isinstance(p, np.ndarray):
        return p.dtype.str, [complex(v) for v in p.ravel()]
    if not isinstance(p, (dict, list, tuple, Thing)):
        return complex(p)
    return type(p).__name__, {k: described(v, inner) for k, v in parts(p)}


def parts(p: Any) -> list[tuple[Any, Any]]:
    if isinstance(p, (list, tuple)):
        return list(enumerate(p))
    return list((vars(p) if isinstance(p, Thing) else p if isinstance(p, dict) else {}).items())


def things(p: Any, path: str = "p") -> dict[str, Any]:
    """All in it that the caller may hold on to, by the way that leads there."""
    out = {path: p} if isinstance(p, (dict, list, Thing, np.ndarray)) else {}
    for k, v in parts(p):
        out.update(things(v, f"{path}.{k}"))
    return out


def after(run: Callable[..., Any], s: float, k: int) -> tuple[Any, Any, list[str]]:
    """What there is after a call; what is in all that was there before; what stayed."""
    p = state()
    before = things(p)
    run(p, s, k)
    now = things(p)
    held = {path: described(x) for path, x in before.items()}
    return described(p), held, [path for path, x in before.items() if now.get(path) is x]


Way = Callable[[Callable[..., Any]], Callable[..., Any]]
WAYS: list[Way] = [
    jitad.jit, lambda f: lambda *a: on_tape(f, *a), lambda f: lambda *a: as_emitted(f, *a),
]  # fmt: skip
DERIVATIVES: list[Way] = [lambda f: jitad.jit_grad(f, 1), lambda f: jitad.jit(jitad.grad(f, 1))]


def check(source: str, name: str, ways: list[Way] = WAYS) -> int:
    """In how many ways it ran; the others were refused."""
    f = load(source, name)
    straight = "if s" not in source  # what a condition may have replaced is a copy
    ran = 0
    try:
        runs = [way(f) for way in ways]
        for s, k in ((0.75, 2), (0.25, 3)):
            try:
                expected = after(f, s, k)
            except (IndexError, KeyError, AttributeError, ValueError, TypeError):
                continue
            for way in (runs[0], *runs):
                try:
                    got = after(way, s, k)
                except jitad.JitadError:
                    continue
                for mine, theirs in list(zip(got, expected, strict=True))[: 2 + straight]:
                    assert mine == theirs, f"{source}\n{way}\n{mine}\n{theirs}"
                ran += 1
    finally:
        forget(name)
    return ran


def test_a_list_that_a_condition_appends_to_is_read() -> None:
    """What was appended on one path only is no element on the other."""

    def length(p, s):
        if s > 0.5:
            p.append(s)
        return len(p) * s

    def last_but_one(p, s):
        if s > 0.5:
            p.append(s)
        p.append(3.0)
        return p[-2] * s

    def shortened(p, s):
        if s > 0.5:
            p.append(s)
        p.pop()
        return sum(p) * s

    def turned(p, s):
        if s > 0.5:
            p.append(s)
        p.reverse()
        return p[0] * s

    for f in (length, last_but_one, shortened, turned):
        for s in (0.25, 0.75):
            p, q, r = [1.0, 2.0], [1.0, 2.0], [1.0, 2.0]
            assert jitad.jit(f, fallback=False)(p, s) == f(q, s) and p == q
            slope = (f([1.0, 2.0], s + 1e-6) - f([1.0, 2.0], s - 1e-6)) / 2e-6
            assert jitad.jit_grad(f, 1, fallback=False)(r, s) == pytest.approx(slope)


SEEDS = 6


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_writes(seed: int) -> None:
    draw = random.Random(seed)
    ran = sum(check(program(draw), f"identities_{seed}_{n}") for n in range(30))
    assert ran > 60


@pytest.mark.parametrize("seed", range(2))
def test_random_writes_in_derivatives(seed: int) -> None:
    """A compiled derivative writes to what it is given beside its variables, but to no array."""
    draw = random.Random(100 + seed)
    names = [f"written_{seed}_{n}" for n in range(20)]
    assert sum(check(program(draw, False), name, DERIVATIVES) for name in names) > 40
