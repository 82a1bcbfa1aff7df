"""Does a loop in time keep the state of each step only, and is what is left out of it no state?

What an iteration is said to fill before it reads it is set to NaN before each iteration, in the
same program run by NumPy: nothing may come of it.  Gradients are compared with complex steps.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import grad, jit, jit_grad, jit_value_and_grad, jvp
from jitad.specialise.pipeline import stages
from jitad.sweeps.states import is_filled
from jitad.tape.ir import Equation, Var, walk
from jitad.tape.types import Array
from tests.engines import as_emitted
from tests.sweeps.test_settled import by_complex_steps

X = np.random.default_rng(5).uniform(0.5, 1.5, 6)
STEPS = 3


def smoothed(x: Any, between: Callable[[Any, Any, int], None] = lambda v, w, t: None) -> Any:
    """Sweeps there and back over scratch arrays, whose rims are set or never touched."""
    n = len(x)
    u = 0.3 * np.outer(x, x) + 1.0
    v, w = np.zeros_like(u), np.zeros_like(u)
    for t in range(STEPS):
        between(v, w, t)
        w[0, 1:-1] = 1.0
        for j in range(1, n - 1):
            w[j, 1:-1] = (u[j, :-2] + u[j, 2:] * w[j - 1, 1:-1]) / (2.0 + u[j, 1:-1])
        v[n - 1, 1:-1] = 0.5
        for j in range(n - 2, 0, -1):
            v[j, 1:-1] = w[j, 1:-1] + 0.3 * v[j + 1, 1:-1] * w[j, 1:-1]
        for j in range(1, n - 1):
            u[j, 1:-1] = u[j, 1:-1] * v[j, 1:-1] + v[j, 1:-1] * v[j + 1, 1:-1] * w[j - 1, 1:-1]
    return np.sum(u * u)


def first_row_once(v: Any, w: Any, t: int) -> None:
    """The step before is still read of, in one place."""
    w[2, 1] += v[1, 1]


def rims_that_vary(v: Any, w: Any, t: int) -> None:
    v[0] = v[0] + t


CHANGES = [lambda v, w, t: None, first_row_once, rims_that_vary]


@pytest.mark.parametrize("between", CHANGES, ids=["plain", "past", "rims"])
def test_gradients(between: Callable[[Any, Any, int], None]) -> None:
    def f(x: Any) -> Any:
        return smoothed(x, between)

    np.testing.assert_allclose(jit_grad(f)(X), by_complex_steps(f, X), rtol=1e-12)


def test_the_second_derivative() -> None:
    hessian = jit_grad(lambda x: np.sum(jit_grad(smoothed)(x) * x * x))
    slope, step = jit_grad(smoothed), 1e-6
    ends = [[np.sum(slope(y) * y * y) for y in (X + step * e, X - step * e)] for e in np.eye(6)]
    found = [(up - down) / (2 * step) for up, down in ends]
    np.testing.assert_allclose(hessian(X), found, rtol=1e-6)


def looped(x: Any) -> Any:
    """The loop around runs again, and so do the steps in it."""
    total = 0.0
    for i in range(len(x)):
        total = total + smoothed(x * x[i]) * x[i]
    return total


def under_a_condition(x: Any) -> Any:
    return smoothed(x) if x[0] > 0.0 else np.sum(x)


def with_a_number(x: Any) -> Any:
    """A number and a vector are part of the state."""
    n, c, r = len(x), 1.0 * x[0], 0.5 * x
    u, w = np.outer(x, x), 0.0 * np.outer(x, x)
    for _ in range(n):
        w[0] = c * r
        for j in range(1, n):
            w[j] = 0.5 * np.sin(w[j - 1] * u[j]) + 0.3 * c
        for j in range(1, n):
            u[j] = u[j - 1] * w[j] + r * np.cos(w[n - j])
        c = np.cos(c * w[n - 1, 0])
        r = np.cos(r * w[n - 1])
    return np.sum(u * u) * c


OTHERS = [looped, under_a_condition, with_a_number]


@pytest.mark.parametrize("f", OTHERS, ids=lambda f: f.__name__)
def test_around_and_in_it(f: Callable[[Any], Any]) -> None:
    expected = by_complex_steps(f, X)
    slope = jit_grad(f)
    np.testing.assert_allclose(slope(X), expected, rtol=1e-11)
    found = jit(lambda x, d: jvp(jit_grad(f), (x,), (d,))[1])(X, X)
    differences = (slope(X + 1e-6 * X) - slope(X - 1e-6 * X)) / 2e-6
    np.testing.assert_allclose(found, differences, rtol=1e-5)


def test_what_a_step_that_runs_again_has_stored_is_read() -> None:
    """Once forwards, once again, and the divisor's own reciprocal: the quotients lie in w."""
    g = jit_grad(smoothed)
    g(X)
    assert g.tape("resolve").count(" = div ") == 3


def random_steps(seed: int) -> Callable[[Any], Any]:
    """Sweeps by rows and by columns, up and down, over three arrays; some fill what they read."""
    r = random.Random(seed)

    def store() -> tuple[Any, ...]:
        reads = [(r.choice("uvw"), r.choice((-1, 0, 1))) for _ in range(3)]
        return r.choice("uvww"), reads, r.random() < 0.7

    sweeps = [(r.random() < 0.6, r.random() < 0.5, [store() for _ in range(r.choice((1, 2)))])
              for _ in range(r.choice((2, 3)))]  # fmt: skip
    rims, fresh = r.random() < 0.5, r.choice("uvw_")

    def f(x: Any) -> Any:
        n = len(x)
        u = np.outer(x, x)
        m = {"u": 0.3 * u + 1.0, "v": 0.0 * u, "w": 0.0 * u}
        total = 0.0
        for t in range(2 + n // 6):
            if fresh in m:
                m[fresh][:] = x[t] * m["u"] + 0.5
            if rims:
                m["w"][0, 1:-1] = x[t]
            for by_rows, up, stores in sweeps:
                for k in range(1, n - 1):
                    j = k if up else n - 1 - k
                    for to, reads, divided in stores:
                        a, b, c = (m[name][j + d, 1:-1] if by_rows else m[name][1:-1, j + d]
                                   for name, d in reads)  # fmt: skip
                        new = x[t] + 0.3 * a * b
                        new = new / (2.0 + c * c) if divided else 0.5 * new + 0.2 * c
                        if by_rows:
                            m[to][j, 1:-1] = new
                        else:
                            m[to][1:-1, j] = new
            total = total + np.sum(m["w"] * m["w"]) * x[t]
        return total + np.sum(m["u"] * m["u"]) + np.sum(m["v"] * m["w"])

    return f


@pytest.mark.parametrize("seed", [0, 1, 26, 34, 40, 47, 56, 62])  # most of them keep quotients
def test_random_steps(seed: int) -> None:
    f = random_steps(seed)
    np.testing.assert_allclose(as_emitted(grad(f), X), by_complex_steps(f, X), rtol=1e-10)


def test_one_state_a_step_is_kept() -> None:
    """Of three arrays and what four loops record, one array a step."""
    g = jit_value_and_grad(smoothed)
    g(X)
    rooms = re.findall(r"kept\w* = empty\(np.float64, (.*)\)", g.source)
    assert [room for room in rooms if room != "0"] == [f"{STEPS}, n_0, n_0"], rooms


def loop(f: Callable[..., Any]) -> tuple[Equation, dict[Var, Equation]] | None:
    """The loop over the steps, if it is one with loops in it, and what makes each variable."""
    compiled = jit(f)
    compiled(X)
    tape = next(tape for name, tape in stages(compiled._latest().tape) if name == "decided")
    sources = {v: e for e in walk(tape.body) for v in e.outs}
    found = (e for e in tape.body.equations if e.op == "for" and any(
        isinstance(p.type, Array) for p in e.blocks[0].params))  # fmt: skip
    return next(((e, sources) for e in found), None)


PROGRAM = """
def f(x, spoil=None):
    n = len(x)
    v = np.full((n, n), 7.0 + 0.0 * x[0])
    s = 0.0
    for t in range(n // 2):
        if spoil is not None: v[spoil] = np.nan
{body}
    return {result}
"""


def statements(draw: random.Random) -> list[str]:
    """Stores to rows, columns and parts of the scratch array, and sums of what is read of it."""
    rows = draw.random() < 0.7

    def part(odd: float = 0.1) -> str:
        return draw.choice([":", "1:", "::2", "2:-1", "::-1"]) if draw.random() < odd else "1:-1"

    def at(place: str) -> str:
        return f"v[{place}, {part()}]" if rows else f"v[{part()}, {place}]"

    def over() -> str:
        odd = ["range(2, n - 1)", "range(1, n - 1, 2)", "range(t, n - 1)"]
        return draw.choice(["range(1, n - 1)"] * 3 + ["range(n - 2, 0, -1)"] * 2 + odd)

    out = [f"{at(edge)} = x[1]" for edge in ("0", "n - 1") if draw.random() < 0.8]
    for _ in range(draw.choice([1, 2, 2, 3])):
        near = draw.choice(["j", "j - 1", "j + 1", "n - 1 - j"])
        to = draw.choice(["j"] * 4 + ["j - 1", "j + 1", "n - 1 - j", "1"])
        value = draw.choice([f"2.0 + x[j] + np.sum(np.sin({at(near)}))"] * 3 + ["x[j] * x[t]"])
        if draw.random() < 0.15:
            out.append(f"for j in {over()}:\n            if x[j] > 1.0: {at(to)} = {value}")
        else:
            out.append(f"for j in {over()}: {at(to)} = {value}")
    near = draw.choice(["j", "j - 1", "j + 1", "n - 1 - j"])
    out.append(f"for j in range(1, n - 1): s += np.sum({at(near)} ** 2)")
    if draw.random() < 0.2:
        out.append(out.pop(draw.randrange(len(out))))
    return out


def made(lines: list[str], result: str) -> Callable[..., Any]:
    import linecache

    text = PROGRAM.format(body="\n".join("        " + x for x in lines), result=result)
    name = f"<states {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names: dict[str, Any] = {"np": np, "STEPS": STEPS}
    exec(compile(text, name, "exec"), names)
    return names["f"]


def looked_at(seed: int) -> tuple[bool, bool]:
    """(Is the scratch array of a program said to be filled?, is it?); its gradient is right."""
    lines = statements(random.Random(seed))
    f, last = made(lines, "s"), made(lines, "v")
    found = loop(f)
    if found is None:
        return False, False
    e, sources = found
    (number,) = (k for k, a in enumerate(e.ins[3:]) if isinstance(a.type, Array))
    said = is_filled(e, number, sources)
    stored = last(X) != 7.0
    spoiled = np.array_equal(last(X, stored), last(X)) and f(X, stored) == f(X)
    assert spoiled or not said, "\n".join(lines)
    if said:
        np.testing.assert_allclose(jit_grad(f)(X), by_complex_steps(f, X), rtol=1e-10)
    return said, spoiled


def test_what_is_filled() -> None:
    found = [looked_at(seed) for seed in range(24, 34)]
    assert sum(said for said, _ in found) >= 3
    assert sum(not said for said, _ in found) >= 3
