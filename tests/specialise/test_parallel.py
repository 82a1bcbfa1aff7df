"""Do loops that are divided among threads compute what they did, whichever part runs first?

Programs of the catalogue are differentiated with loops divided as finely as they can be, and run as
the Python that is emitted and as interpreted tapes.  A `spread` that runs the parts in another
order stands in for the threads: what two parts both read and write would show.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import value_and_grad
from jitad.calls.arguments import abstract
from jitad.calls.entries import finish
from jitad.emit.kernel import Entangled, kernel
from jitad.specialise import parallel, rows
from jitad.specialise.pipeline import specialise
from jitad.structures import flatten, unflatten
from jitad.tape.interpret import interpret
from jitad.tape.ir import Tape, walk
from jitad.trace.trace import trace
from tests import truth
from tests.catalogue.entry import Program
from tests.emit.running import plain
from tests.programs import PROGRAMS, USERS
from tests.specialise.loops import DIVIDED, ORDERED

THREADS = 3
ALL = PROGRAMS | USERS
SOME = list(ALL)[::7]  # all have passed, which takes minutes


@pytest.fixture(autouse=True)
def finely(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each iteration is enough for a part."""
    monkeypatch.setattr(parallel, "GRAIN", 1)
    monkeypatch.setattr(parallel, "PRIVATE", 0)
    monkeypatch.setattr(rows, "WORTH", 1)


def backwards(
    function: Any, parts: int, most: int, late: int, summed: int, *operands: Any
) -> None:
    """`spread`, the last part first; what is left for later comes after all.  No two parts may
    write the same element."""
    arrays, own = operands[:summed], operands[summed : 2 * summed]
    others = operands[2 * summed :]
    shared = [a for a in others if isinstance(a, np.ndarray)]
    written = [np.zeros(a.shape, bool) for a in shared]
    for k in reversed(range(parts)):
        mine = arrays if k == 0 else tuple(a[k - 1] for a in own)
        before = [a.copy() for a in shared]
        function(k, parts, *mine, *others)
        for a, old, known in zip(shared, before, written, strict=True):
            now = (a != old) & ~((a != a) & (old != old))
            assert not (now & known).any(), "two parts write the same element"
            known |= now
    for k in range(parts) if late else ():
        function(parts + k, parts, *arrays, *others)


def run(made: Any, values: list[Any]) -> tuple[Any, ...]:
    f = plain(made.source, made.name)
    if "spread" in f.__globals__:
        f.__globals__["spread"] = backwards
    with np.errstate(all="ignore"):
        return f(*values)


def recorded(f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    leaves, structure = flatten((truth.fresh(args), {}))
    return trace(f, *unflatten(structure, map(abstract, leaves)))


def is_divided(tape: Tape) -> bool:
    return any(e.op == "spread" for e in walk(tape.body))


def numbers(value: Any) -> np.ndarray:
    return np.concatenate([np.ravel(np.asarray(x, float)) for x in truth.leaves(value)] or [[]])


def differentiated(program: Program) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The gradient of the sum of all that a program gives, and arguments."""
    args = program.sample()

    def total(*chosen: Any) -> Any:
        leaves, _ = flatten(program.function(*chosen))
        out = 0.0
        for leaf in leaves:
            out = out + np.sum(leaf)
        return out

    chosen = program.argnums
    if chosen is None:
        chosen = tuple(k for k, a in enumerate(args) if any(
            np.asarray(leaf).dtype.kind == "f" for leaf in flatten(a)[0]))  # fmt: skip
    return value_and_grad(total, chosen), args


@pytest.mark.parametrize("f", DIVIDED)
def test_loops_that_can_be_divided(f: Callable[..., Any]) -> None:
    random = np.random.default_rng(3)
    args = random.uniform(0.2, 0.9, 40), random.normal(0.0, 1.0, 40)
    g = value_and_grad(f, (0, 1))
    value, bars = g(*truth.fresh(args))
    assert np.isclose(value, f(*truth.fresh(args)), rtol=1e-12)
    traced = recorded(g, args)
    values = traced.arguments(g, truth.fresh(args), {})
    plain = specialise(traced.tape, threads=THREADS)
    assert is_divided(plain)
    for flat in (interpret(plain.body, values, functions=plain.functions),
                 run(kernel(plain), values)):  # fmt: skip
        out = finish(traced, tuple(flat), g, args, {})
        np.testing.assert_allclose(numbers(out), numbers((value, bars)), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("f", ORDERED)
def test_loops_that_have_an_order(f: Callable[..., Any]) -> None:
    traced = recorded(f, (np.ones(40), np.ones(40)))
    assert not is_divided(specialise(traced.tape, threads=THREADS))


def added_once(x: Any, y: Any) -> Any:
    z = np.zeros(20)
    for i in range(20):
        z[i] += x[i] * y[i]
    return z[0] + 3.0 * z[19]


def test_a_loop_that_is_too_short_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "GRAIN", 100_000)
    args = np.arange(1.0, 21.0), np.full(20, 0.5)
    g = value_and_grad(added_once, (0, 1))
    traced = recorded(g, args)
    plain = specialise(traced.tape, threads=THREADS)
    assert not is_divided(plain)
    values = traced.arguments(g, truth.fresh(args), {})
    out = finish(traced, tuple(interpret(plain.body, values, functions=plain.functions)), g,
                 args, {})  # fmt: skip
    bar = np.zeros(20)
    bar[0], bar[19] = 1.0, 3.0
    np.testing.assert_allclose(numbers(out), numbers((30.5, (bar * args[1], bar * args[0]))))


divided: list[str] = []


@pytest.mark.parametrize("name", SOME)
def test_a_program_and_its_gradient(name: str) -> None:
    g, args = differentiated(ALL[name])
    for f in (ALL[name].function, g):
        traced = recorded(f, args)

        def values(traced: Any = traced, f: Any = f) -> list[Any]:
            return traced.arguments(f, truth.fresh(args), {})

        plain = specialise(traced.tape, threads=THREADS)
        if not is_divided(plain):
            continue
        serial = kernel(specialise(traced.tape))
        try:
            want = finish(traced, run(serial, values()), f, truth.fresh(args), {})
        except ValueError as e:  # of NumPy's `dot`, which wants an array of its own for the result
            assert "output array" in str(e)
            continue
        divided.append(name)
        flat = interpret(plain.body, values(), functions=plain.functions)
        outs = [finish(traced, tuple(flat), f, truth.fresh(args), {})]
        try:
            made = kernel(plain)
        except Entangled:
            pytest.fail("the parts of a loop are entangled")
        outs.append(finish(traced, run(made, values()), f, truth.fresh(args), {}))
        for out in outs:
            np.testing.assert_allclose(numbers(out), numbers(want), rtol=1e-9, atol=1e-12)


def test_many_were_divided() -> None:
    """The tests before have not been of loops that stay as they are."""
    print(len(set(divided)), "of", len(SOME))
    assert len(set(divided)) > 10 or not divided
