"""Which copies and allocations are left?  None in the loops of ordinary programs."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from jitad import jit, jit_grad
from jitad.emit import memory
from jitad.emit.lower import emit
from jitad.tape.build import Builder
from jitad.tape.ir import Var, lit
from jitad.tape.types import FLOAT
from tests.emit import tapes
from tests.emit.running import check, plain
from tests.emit.tapes import MATRIX, VECTOR, branch, finish, loop

X = np.linspace(-1.0, 2.0, 9)
COPY = re.compile(r"^ *(\w+)\[([\w, ]+)\] = \w+\[\2\]$", re.MULTILINE)


def allocations(source: str) -> int:
    return source.count(" = empty(") + source.count(" = zeros(")


def copies(source: str) -> int:
    """Loops that only move elements from one array to the same place of another."""
    return len(COPY.findall(source))


def in_loop(source: str, counter: str) -> str:
    """The text of the loop over this counter."""
    lines = source.splitlines()
    start = next(k for k, t in enumerate(lines) if t.strip().startswith(f"for {counter} in"))
    indent = len(lines[start]) - len(lines[start].lstrip())
    body = [lines[start]]
    for line in lines[start + 1 :]:
        if len(line) - len(line.lstrip()) <= indent:
            break
        body.append(line)
    return "\n".join(body)


def test_swap_costs_nothing() -> None:
    source = check(tapes.heat_swapped(), X, 5)
    time = in_loop(source, "t")
    assert allocations(time) == copies(time) == 0
    assert "u, un = un, u" in time
    assert allocations(source) == 2


def test_fresh_array_per_step_is_exchanged() -> None:
    source = check(tapes.heat_fresh(), X, 5)
    time = in_loop(source, "t")
    assert allocations(time) == copies(time) == 0
    assert allocations(source) == 2


def test_overlapping_slices_go_through_one_buffer_outside_the_loop() -> None:
    source = check(tapes.heat_slices(), X, 5)
    assert allocations(in_loop(source, "t")) == 0
    assert allocations(source) == 2


def test_adjoints_accumulate_in_place() -> None:
    source = check(tapes.outer_adjoint(), X, X[:4] + 0.5)
    assert allocations(source) == 2
    assert copies(source) == 0


def test_fill_loop() -> None:
    b = Builder()
    x = b.input(VECTOR, "x")
    n = x.shape[0]
    out = b.emit("full", lit(0.0), n, dtype="f8")

    def body(i: Var, a: Var) -> object:
        v = b.emit("load", x, i)
        return b.emit("store", a, b.emit("mul", v, v), i)

    source = check(finish(b, "fill", *loop(b, n, [out], body, names="a")), X)
    assert allocations(source) == 1 and copies(source) == 0


def test_array_stored_in_a_branch() -> None:
    b = Builder()
    x = b.input(VECTOR, "x")
    a = b.emit("copy", x)

    def body(i: Var, a: Var) -> object:
        v = b.emit("load", a, i)
        (out,) = branch(b, b.emit("lt", v, lit(0.0)),
                        lambda: [b.emit("store", a, b.emit("neg", v), i)], lambda: [a])  # fmt: skip
        return out

    source = check(finish(b, "magnitude", *loop(b, x.shape[0], [a], body)), X)
    assert allocations(source) == copies(source) == 1
    assert "else" not in source


def test_scratch_array_in_a_branch_of_a_loop() -> None:
    b = Builder()
    x = b.input(VECTOR, "x")
    n = x.shape[0]

    def body(i: Var, s: Var) -> object:
        def then() -> list[object]:
            w = b.emit("full", b.emit("load", x, i), n, dtype="f8")
            w = b.emit("store", w, lit(1.0), i)
            return [b.emit("add", s, b.emit("sum", w, axes=(0,)))]

        (out,) = branch(b, b.emit("lt", b.emit("load", x, i), lit(1.0)), then, lambda: [s])
        return out

    source = check(finish(b, "scratch", *loop(b, n, [lit(0.0)], body, names="s")), X)
    assert allocations(in_loop(source, "i")) == 0
    assert allocations(source) == 1


def test_store_into_an_argument_copies_once() -> None:
    b = Builder()
    x = b.input(VECTOR, "x")
    a = b.emit("store", x, lit(1.0), lit(0))
    a = b.emit("store", a, lit(2.0), lit(1))
    source = check(finish(b, "stored", a), X)
    assert allocations(source) == copies(source) == 1


def test_old_version_that_is_still_needed_is_kept() -> None:
    b = Builder()
    a = b.emit("copy", b.input(VECTOR, "x"))
    c = b.emit("store", a, lit(5.0), lit(0))
    source = check(finish(b, "both", a, c, b.emit("load", a, lit(0))), X)
    assert allocations(source) == 2


def test_view_that_is_still_needed_survives_a_store() -> None:
    b = Builder()
    a = b.emit("copy", b.input(VECTOR, "x"))
    part = b.emit("slice", a, lit(0), lit(2), lit(3), kinds="r")
    c = b.emit("store", a, lit(50.0), lit(2))
    source = check(finish(b, "viewed", c, b.emit("sum", part, axes=(0,))), X)
    assert allocations(source) == 2


def test_elementwise_reuses_a_dead_operand() -> None:
    b = Builder()
    a = b.emit("copy", b.input(VECTOR, "x"))
    a = b.emit("store", a, lit(5.0), lit(0))
    source = check(finish(b, "scaled", b.emit("mul", a, lit(2.0))), X)
    assert allocations(source) == 1


def test_chain_into_a_sum_needs_no_array() -> None:
    source = check(tapes.chain(), X, X + 0.25)
    assert allocations(source) == 0
    assert source.count("for ") == 1


def test_views_cost_nothing() -> None:
    b = Builder()
    a = b.input(MATRIX, "A")
    n, m = a.shape
    t = b.emit("transpose", a, perm=(1, 0))
    row = b.emit("slice", t, lit(1), lit(0), lit(1), n, kinds="ir")
    wide = b.emit("broadcast", row, m, n, axes=(1,))
    total = b.emit("sum", b.emit("mul", wide, t), axes=(0, 1))
    source = check(finish(b, "views", total), np.arange(12.0).reshape(4, 3))
    assert allocations(source) == 0 and source.count("for ") == 2


def test_shared_elements_are_computed_once() -> None:
    b = Builder()
    x = b.input(VECTOR, "x")
    e = b.emit("exp", x)
    source = check(finish(b, "shared", b.emit("add", b.emit("mul", e, e), e)), X)
    assert source.count("exp(") == 1 and allocations(source) == 1


def test_dear_elements_are_not_computed_again_for_each_row() -> None:
    b = Builder()
    x = b.input(VECTOR, "x")
    n = x.shape[0]
    wide = b.emit("broadcast", b.emit("exp", x), n, n, axes=(1,))
    out = b.emit("mul", wide, b.emit("broadcast", x, n, n, axes=(0,)))
    source = check(finish(b, "rows", out), X)
    assert "exp" not in source.splitlines()[-3]
    assert allocations(source) == 2


def test_stack_room_is_reserved_before_the_loop() -> None:
    b = Builder()
    x = b.input(VECTOR, "x")
    n = x.shape[0]
    s = b.emit("stack", element=FLOAT)
    s, p = loop(b, n, [s, lit(1.0)], lambda i, s, p: (
        b.emit("push", s, p), b.emit("mul", p, b.emit("load", x, i))))  # fmt: skip

    def back(i: Var, s: Var, t: Var) -> object:
        s, p = b.emit("pop", s)
        return s, b.emit("add", t, p)

    last = b.emit("sub", n, lit(1))
    _, t = loop(b, n, [s, lit(0.0)], back, start=b.leaf(last), step=-1)
    source = check(finish(b, "records", p, t), X)
    assert "grown" not in in_loop(source, "i")
    assert "kept1 = empty(np.float64, max(n, 0))" in source and "grown" not in source


def test_hoisted_negative_extent_is_no_error() -> None:
    b = Builder()
    x = b.input(VECTOR, "x")
    less = b.emit("sub", x.shape[0], lit(20))

    def body(i: Var, s: Var) -> object:
        w = b.emit("full", s, less, dtype="f8")
        w = b.emit("store", w, lit(1.0), i)
        return b.emit("add", s, b.emit("load", w, lit(0)))

    tape = finish(b, "never", *loop(b, less, [lit(3.0)], body))
    assert "max(" in check(tape, X)


def test_size_is_linear() -> None:
    def lines(n: int) -> int:
        b = Builder()
        a = b.emit("copy", b.input(VECTOR, "x"))
        x = b.input(FLOAT, "s")
        for k in range(n):
            v = b.emit("mul", b.emit("load", a, lit(k % 7)), x)
            a = b.emit("store", a, b.emit("sin", v), lit(k % 7))
            x = b.emit("add", b.emit("sin", x), b.emit("cos", x))
        return emit(finish(b, "long", a, x)).count("\n")

    small, large = lines(2_000), lines(8_000)
    assert 3.9 < large / small < 4.1


def test_part_of_a_dead_array_is_not_taken_for_all_of_it() -> None:
    b = Builder()
    x = b.input(VECTOR, "x")
    a = b.emit("copy", x)
    less = b.emit("sub", x.shape[0], lit(1))
    part = b.emit("slice", a, lit(0), lit(1), less, kinds="r")
    check(finish(b, "part", b.emit("mul", part, lit(2.0))), X)


def test_value_carried_twice_of_which_one_changes() -> None:
    b = Builder()
    x = b.input(VECTOR, "x")
    s = b.emit("sin", b.emit("load", x, lit(0)))
    s = b.emit("mul", s, s)

    def body(i: Var, changing: Var, same: Var) -> object:
        return b.emit("add", b.emit("mul", changing, same), lit(1.0)), same

    outs = loop(b, lit(3), [s, s], body)
    check(finish(b, "twice", *outs), X)


def test_what_is_recorded_has_no_memory_of_its_own() -> None:
    """It is computed in its place on the stack, unless somebody needs all of it elsewhere."""
    def f(carry: bool) -> Any:
        b = Builder()
        x = b.input(VECTOR, "x")
        kept = b.emit("stack", element=VECTOR)

        def forward(i: Any, u: Any, s: Any) -> Any:
            v = b.emit("mul", u, b.emit("mul", u, u))
            s = b.emit("push", s, v)
            return (v if carry else b.emit("sub", v, x)), s

        u, kept = loop(b, 3, [x, kept], forward)

        def backward(i: Any, t: Any, s: Any) -> Any:
            s, v = b.emit("pop", s, *x.shape)
            return b.emit("add", t, v), s

        t, _ = loop(b, 3, [u, kept], backward, start=2, step=-1)
        return finish(b, "f", t, u)

    source = check(f(False), X)
    assert "kept1" in source and copies(in_loop(source, "i_1" if "i_1" in source else "i1")) == 0
    assert allocations(source) <= 4, source
    check(f(True), X)


def test_a_carried_array_is_computed_where_it_was() -> None:
    """Two buffers that change places would look alike to LLVM."""

    def f(x: Any, n: int) -> Any:
        y, total = x * 1.0, x * 0.0
        for _ in range(n):
            total = total + y * x
            y = x - 0.5 * total
        return y

    def reversed_(x: Any, n: int) -> Any:  # wants the old elements when the new ones are written
        y = x * 1.0
        for _ in range(n):
            y = x - 0.5 * y[::-1]
        return y

    def late(x: Any, n: int) -> Any:  # wants the old ones after that
        y, z = x * 1.0, x * 2.0
        for _ in range(n):
            new = x + z
            z = z * y
            y = new
        return y + z

    x = np.linspace(0.1, 0.9, 5)
    for g in (f, reversed_, late):
        compiled = jit(g)
        assert np.allclose(compiled(x, 3), g(x, 3), rtol=1e-14)
        assert np.allclose(compiled(x, 4), g(x, 4), rtol=1e-14)
    compiled = jit(f)
    compiled(x, 3)
    assert allocations(compiled.source) == 2


def triangle(x: Any) -> Any:
    """An inner loop that is one shorter each time, with a state that the reverse wants."""
    total = x[0]
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            total = np.sin(total * x[j]) + x[i]
    return total


def lengthening(x: Any) -> Any:
    """Each step wants as much of an array as it has passed, which the next ones change."""
    y, s = 0.0 * x, 1.0 * x[0]
    for k in range(1, len(x)):
        s = np.sin(s * x[k])
        y[:k] += s * y[:k] * y[:k] + x[k]
    return np.sum(y * y)


@pytest.mark.parametrize("n", [2, 3, 40])
@pytest.mark.parametrize("f", [triangle, lengthening], ids=lambda f: f.__name__)
def test_room_for_a_triangle_is_made_once(f: Any, n: int) -> None:
    g = jit_grad(f)
    x = np.linspace(0.3, 1.2, n)
    want = g(x)
    made: list[tuple[int, ...]] = []

    def grown(buffer: Any, need: int) -> Any:
        raise AssertionError("there is room")

    def empty(dtype: Any, *extents: int) -> Any:
        made.append(extents)
        return memory.empty(dtype, *extents)

    run: Any = plain(g.source)
    run.__globals__.update(grown=grown, empty=empty)
    np.testing.assert_allclose(run(x)[0], want, rtol=1e-12)
    assert (n * (n - 1) // 2,) in made


def powers(u: Any) -> None:
    u[1:] = 0.5 * u[1:] * u[1:] + 0.1


def summed(u: Any) -> None:
    u[1:] = np.sin(u[1:]) + u[0] * u[1:]


def of_neighbours(u: Any) -> None:
    u[1:] = u[:-1] * u[1:] * u[1:]


def turned(u: Any) -> None:
    u[:] = u[::-1] * np.sin(u)


def twice(u: Any) -> None:
    u[1:] = u[1:] * u[1:]
    u[:-1] = u[:-1] * u[1:]


def between(u: Any) -> None:
    v = u[1:] * u[1:]
    u[1:] = v * u[:-1]
    u[:-1] = np.cos(u[:-1] * v)


@pytest.mark.parametrize("step", [powers, summed, of_neighbours, turned, twice, between],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_what_is_overwritten_is_recorded_on_the_way(step: Any) -> None:
    """The record is written in the nest that overwrites, where each element is its own only."""

    def f(x: Any, n: int) -> Any:
        u = x * 1.0
        for _ in range(n, 0, -1):  # downwards: the records lie on a stack
            step(u)
        return np.sum(u * u * u)

    g = jit_grad(f)
    x = np.linspace(0.2, 1.1, 7)
    for n in (0, 1, 2, 4):
        truth = [f(x + 1e-30j * e, n).imag / 1e-30 for e in np.eye(len(x))]
        np.testing.assert_allclose(g(x, n), truth, rtol=1e-11, atol=1e-14)
    if step in (powers, summed):
        (nest,) = re.findall(r"for i in.*\n.*store\(kept1, .*\n.*\n", g.source)
        assert "store(a1, " in nest, g.source
