"""What do plain tapes cost, counted: operations, records, equations, checks in loops?"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import jitad
from jitad.calls.arguments import abstract
from jitad.emit.lower import emit
from jitad.specialise.pipeline import specialise
from jitad.structures import flatten, unflatten
from jitad.tape.ir import Block, walk
from jitad.tape.types import INT
from jitad.trace.trace import trace
from jitad.values.number import o
from kernels import KERNELS, NAMES
from kernels.gradbench import ode
from tests.specialise.tapes import V, for_, get, in_loops, ops, put, tape_of
from tests.sweeps.counting import length, operations


@cache
def plain(name: str, differentiated: bool, size: str = "small") -> tuple[Block, list[Any]]:
    """The plain tape of a kernel, and arguments for it."""
    kernel = KERNELS[name]
    f = kernel.objective
    if differentiated:
        f = jitad.value_and_grad(f, kernel.argnums)
    return traced_at(f, kernel.inputs(size))


def traced_at(f: Any, args: tuple[Any, ...]) -> tuple[Block, list[Any]]:
    leaves, structure = flatten((args, {}))
    given, named = unflatten(structure, map(abstract, leaves))
    traced = trace(f, given, named, set())
    return specialise(traced.tape).body, traced.arguments(f, args, {})


@pytest.mark.parametrize("name", NAMES)
def test_gradients_cost_at_most_five_times_the_primal(name: str) -> None:
    primal = operations(*plain(name, False)).total()
    assert operations(*plain(name, True)).total() <= 5 * primal


def test_burgers_records_one_number_a_point_and_step() -> None:
    block, args = plain("burgers", True)
    size = next(a.size for a in args if isinstance(a, np.ndarray))
    steps = max(a for a in args if isinstance(a, int))
    assert operations(block, args)["push"] * 8 <= 1.1 * steps * size * 8


def test_a_rotation_and_its_derivative_share_sine_and_cosine() -> None:
    """There are as many of each as in the program itself."""
    own, with_gradient = operations(*plain("arm", False)), operations(*plain("arm", True))
    assert own["sin"] == with_gradient["sin"] > 0
    assert own["cos"] == with_gradient["cos"] > 0


def test_stages_that_slices_fill_are_computed_again() -> None:
    """Of a step of Runge and Kutta the state is recorded, not the slopes."""
    x, steps = np.linspace(0.5, 1.5, 7), 3
    block, args = traced_at(jitad.grad(ode.last), (x, steps))
    assert operations(block, args)["push"] == steps * len(x)
    assert not [e for e in in_loops(block, "full") if e.outs[0].name == "change"]


@pytest.mark.parametrize("name", ["rosenbrock", "logistic", "heat", "mlp", "black_scholes",
                                  "logsumexp", "newton_sqrt"])  # fmt: skip
def test_no_check_of_bounds_is_left_in_loops(name: str) -> None:
    block, _ = plain(name, True)
    left = [e for e in in_loops(block, "check") if issubclass(e.params["exception"], IndexError)]
    assert not left
    assert not [e for e in in_loops(block, "where") if e.outs[0].type == INT]


@pytest.mark.parametrize("name", NAMES)
def test_no_value_is_recorded_twice(name: str) -> None:
    block, _ = plain(name, True)
    values = [e.ins[1] for e in ops(block, "push")]
    assert len(values) == len(set(values))


def test_passes_are_linear_in_the_length_of_the_tape() -> None:
    """Loops one after the other, with stores, checks and arithmetic on indices."""
    def chain(count: int) -> Any:
        def f(b: Any, x: Any, m: Any) -> Any:
            s = 0.0
            for k in range(count):
                s, x = for_(b, k, 1, m, [s, x], lambda i, s, x: [
                    s + get(x, i + 1), put(x, s * get(x, i), i)])
            return s

        return tape_of([("x", V), ("m", INT)], f)

    assert length(specialise(chain(40)).body) <= 4.2 * length(specialise(chain(10)).body)


def test_equal_addresses_are_one() -> None:
    """start + k*step of a reversed loop, and what a user writes around it."""
    def f(b: Any, x: Any) -> Any:
        n = x.shape[0]
        return for_(b, n - 1, -1, n - 2, [0.0], lambda i, s: [
            s + o.load(x, i - 1) * o.load(x, i + 2 - 3) + o.load(x, 2 * i - i - 1)])[0]

    body = specialise(tape_of([("x", V)], f)).body
    assert len(ops(body, "load")) == 1
    (loop,) = ops(body, "for")
    assert [e.op for e in loop.blocks[0].equations] == ["sub", "load", "mul", "add", "add"]


def test_a_number_stored_is_not_loaded_again() -> None:
    def f(b: Any, x: Any, i: Any) -> Any:
        y = o.store(o.store(x, 2.0, i), 3.0, i + 1)
        return o.load(y, i) + o.load(y, 1 + i)

    body = specialise(tape_of([("x", V), ("i", INT)], f)).body
    assert not any(e.op in ("load", "store") for e in walk(body))


@pytest.mark.parametrize("name", ["lu", "gramschmidt", "seidel", "deriche", "spmv", "heat3d"])
def test_kernels_are_as_long_whatever_the_extents(name: str) -> None:
    """Their source depends on the program, not on shapes and trip counts."""
    sources = []
    for factor in (1, 3):
        dims = {k: n * factor for k, n in KERNELS[name].sizes["medium"].items()}
        leaves, structure = flatten((KERNELS[name].inputs(dims), {}))
        given, named = unflatten(structure, map(abstract, leaves))
        f = jitad.value_and_grad(KERNELS[name].objective, KERNELS[name].argnums)
        sources.append(emit(specialise(trace(f, given, named, set()).tape)))
    assert sources[0] == sources[1]
