"""Are overwritten arrays restored rightly, where it pays, at the price of one record a store?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from jitad.specialise.simplify import simplify_block
from jitad.sweeps import restore
from jitad.sweeps.reverse import vjp_block
from jitad.tape.interpret import interpret
from jitad.tape.ir import Block, walk
from jitad.tape.types import INT
from jitad.values.number import o
from tests.examples import examples
from tests.sweeps.checks import Unsuitable, check
from tests.sweeps.counting import operations
from tests.sweeps.handmade import MATRIX, REAL, VECTOR, for_, if_, tape_of, while_
from tests.sweeps.programs import PROGRAMS
from tests.sweeps.truth import AtKink


def gradient(block: Block, active: list[int]) -> Block:
    return simplify_block(vjp_block(simplify_block(block), active))


def pushed(block: Block, active: list[int], args: list[Any]) -> int:
    """How many numbers the gradient records."""
    seeds = [np.ones(np.shape(r)) for r in interpret(block, args)]
    return operations(gradient(block, active), [*args, *seeds])["push"]


def test_burgers_records_one_number_a_store() -> None:
    n, steps = 60, 20
    u = np.random.default_rng(0).uniform(0.2, 2.0, n)
    assert pushed(PROGRAMS["burgers"].block(), [0], [u, steps]) <= 1.1 * n * steps


def test_a_stencil_in_place_records_one_number_a_store() -> None:
    def f(b: Any, u: Any, steps: Any) -> Any:
        def step(t: Any, u: Any) -> list[Any]:
            return for_(b, 1, 1, u.shape[0] - 2, [u], lambda i, u: [o.store(
                u, o.load(u, i) * o.load(u, i - 1) - 0.1 * o.load(u, i + 1) * o.load(u, i), i)])

        return o.sum(for_(b, 0, 1, steps, [u], step)[0], axes=(0,))

    block = tape_of([("u", VECTOR), ("steps", INT)], f)
    u = np.random.default_rng(0).uniform(0.2, 1.0, 12)
    check(block, [u, 3], [0])
    assert pushed(block, [0], [u, 7]) <= 7 * 10


def cholesky(b: Any, a: Any) -> Any:
    n = a.shape[0]

    def column(j: Any, a: Any) -> list[Any]:
        def reduced(i: Any, a: Any) -> Any:
            return for_(b, 0, 1, j, [o.load(a, i, j)], lambda k, s: [
                s - o.load(a, i, k) * o.load(a, j, k)])[0]

        a = o.store(a, o.sqrt(reduced(j, a)), j, j)
        return for_(b, j + 1, 1, n - 1 - j, [a], lambda i, a: [
            o.store(a, reduced(i, a) / o.load(a, j, j), i, j)])

    (a,) = for_(b, 0, 1, n, [a], column)
    return for_(b, 0, 1, n, [0.0], lambda i, s: [s + o.log(o.load(a, i, i))])[0]


def test_cholesky_in_place_records_stores_not_loads() -> None:
    block = tape_of([("a", MATRIX)], cholesky)
    z = np.random.default_rng(0).normal(size=(6, 6))
    spd = z @ z.T + 6 * np.eye(6)
    check(block, [spd], [0], order=1)
    (_, slope) = interpret(gradient(block, [0]), [spd, 1.0])
    low = np.linalg.inv(np.linalg.cholesky(spd))
    wanted = 0.5 * low.T @ low  # of log det / 2, spread over the lower triangle
    assert np.allclose(np.tril(slope), np.tril(2 * wanted) - np.diag(np.diag(wanted)))

    def records(n: int) -> int:
        z = np.random.default_rng(0).normal(size=(n, n))
        return pushed(block, [0], [z @ z.T + n * np.eye(n)])

    assert records(16) <= 2.5 * 16**2  # loads would be 2/3 * 16**3


def test_first_writes_into_a_fresh_array_are_not_logged() -> None:
    def f(b: Any, x: Any) -> Any:
        n = x.shape[0]
        (a,) = for_(b, 0, 1, n, [o.full(0.0, n, dtype="f8")],
                    lambda i, a: [o.store(a, o.load(x, i) * o.load(x, i), i)])
        return for_(b, 0, 1, n, [0.0], lambda i, s: [s + o.load(a, i) * o.load(a, i)])[0]

    block = tape_of([("x", VECTOR)], f)
    assert not any(e.op == "push" for e in walk(gradient(block, [0])))


def test_recording_stays_where_it_is_cheaper() -> None:
    """Two numbers are stored an iteration, and one is read."""
    def f(b: Any, u: Any) -> Any:
        def body(i: Any, u: Any, s: Any) -> list[Any]:
            p = o.load(u, i)
            return [o.store(o.store(u, o.sin(s), i), s * 0.5, 0), s + p * p]

        u, s = for_(b, 0, 1, u.shape[0], [u, 0.0], body)
        return o.sum(u, axes=(0,)) * s

    block = tape_of([("u", VECTOR)], f)
    u = np.array([0.3, 0.5, 0.7])
    check(block, [u], [0])
    assert pushed(block, [0], [u]) <= 2 * 3


# -- random programs ------------------------------------------------------------------------------

State = list[Any]  # two arrays and a number


@st.composite
def recipes(draw: Callable[..., Any], depth: int = 3) -> list[Any]:
    """Statements: nested lists of what is done to the state."""
    out: list[Any] = []
    kinds = ["store", "store", "scalar", "swap", "accum", "slices", "total", "while", "if", "for",
             "late"]
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(kinds if depth else kinds[:7]))
        where = tuple(draw(st.integers(0, 5)) for _ in range(4))
        inner = draw(recipes(depth - 1)) if kind in ("for", "while", "if", "late") else []
        other = draw(recipes(depth - 1)) if kind == "if" and draw(st.booleans()) else []
        out.append((kind, where, inner, other))
    return out


def perform(b: Any, statements: list[Any], state: State, i: Any) -> State:
    for kind, (p, q, r, k), inner, other in statements:
        u, v, s = state
        n = u.shape[0]

        def at(shift: int, i: Any = i, n: Any = n) -> Any:
            return o.mod(i + shift, n) if shift < 4 else shift - 4

        x, y = o.load((u, v)[p % 2], at(q)), o.load((u, v)[r % 2], at(p))
        new = (o.sin(x * y + s), x * 0.5 + y * s, o.cos(x) + s, x * y)[k % 4]
        match kind:
            case "store":
                state = [o.store(u, new, at(k)), v, s]
            case "accum":
                state = [u, o.accum(v, o.sin(new) * 0.3, at(k)), s]
            case "scalar":
                state = [u, v, o.sin(s + new)]
            case "swap":
                state = [v, u, s]
            case "slices":
                part = o.slice(u, 0, 1, n - 1, kinds="r") * o.slice(v, 1, 1, n - 1, kinds="r")
                state = [u, o.store_slice(v, o.sin(part), k % 2, 1, n - 1, kinds="r"), s]
            case "total":
                state = [u, v, o.sin(s + o.sum(u * v, axes=(0,)))]
            case "late":  # what was read before a loop is used behind it
                u, v, s = for_(b, 0, 1, 1 + k % 2, state,
                               lambda j, *state, inner=inner: perform(b, inner, list(state), j))
                state = [u, o.store(v, x * o.load(v, at(q)), at(r)), o.sin(s * y)]
            case "for":
                state = for_(b, 0, 1, 1 + k % 3, state,
                             lambda j, *state, inner=inner: perform(b, inner, list(state), j))
            case "while":
                *state, _ = while_(
                    b, [*state, 0], lambda u, v, s, c, k=k: o.lt(c, 1 + k % 2),
                    lambda u, v, s, c, inner=inner: [*perform(b, inner, [u, v, s], c), c + 1],
                )  # fmt: skip
            case "if":
                state = if_(
                    b, o.gt(new, 0.1),
                    lambda state=state, inner=inner: perform(b, inner, state, i),
                    lambda state=state, other=other: perform(b, other, state, i),
                )  # fmt: skip
    return state


SEEN: Counter[str] = Counter()


def run(statements: list[Any], rounds: int) -> None:
    def f(b: Any, u: Any, v: Any, x: Any, m: Any) -> Any:
        u, v, s = for_(b, 0, 1, m, [u, v, x],
                       lambda i, *state: perform(b, statements, list(state), i))
        return o.sum(u * u, axes=(0,)) * 0.3 + o.sum(o.sin(v), axes=(0,)) + s

    block = tape_of([("u", VECTOR), ("v", VECTOR), ("x", REAL), ("m", INT)], f)
    rng = np.random.default_rng(3)
    args = [rng.uniform(0.2, 1.0, 3), rng.uniform(0.2, 1.0, 3), 0.4, rounds]
    try:
        check(block, args, [0, 1, 2])
    except (AtKink, Unsuitable):
        reject()
    SEEN.update(re.findall("[a-z]+", str(statements)))


@pytest.mark.parametrize("always", [False, True])
def test_random_programs_in_place(always: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """As planned, and restoring all that can be restored whether it pays or not."""
    if always:
        monkeypatch.setattr(restore, "_saved", lambda *_: 10**6)
    SEEN.clear()

    @settings(derandomize=True, database=None, deadline=None, max_examples=examples(25),
              suppress_health_check=list(HealthCheck))
    @given(recipes(), st.integers(0, 3))
    def program(statements: list[Any], rounds: int) -> None:
        run(statements, rounds)

    program()
    assert set(SEEN) >= {
        "for", "while", "if", "swap", "slices", "accum", "store", "total", "late",
    }
