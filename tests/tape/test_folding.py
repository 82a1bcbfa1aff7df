"""Does emitting an equation fold to the very number that evaluating it gives?

Identities must be exact in IEEE arithmetic: signed zeros, infinities and NaN included.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import jitad
from jitad.primitives import TABLE
from jitad.tape.build import Builder
from jitad.tape.interpret import interpret
from jitad.tape.ir import Lit
from jitad.tape.types import BOOL, INT, Array, Scalar
from jitad.values.number import o
from tests.engines import as_emitted, kernel_of
from tests.properties.check import forget, load
from tests.sweeps.handmade import tape_of

FLOATS = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, math.inf, -math.inf, math.nan)
INTEGERS = (0, 1, -1, 2, 7)
BINARY = ("add", "sub", "mul", "div", "pow", "maximum", "minimum", "atan2", "hypot", "fmod",
          "lt", "le", "gt", "ge", "eq", "ne")  # fmt: skip
TYPES = {"python float": Scalar("f8", True), "float": Scalar("f8"), "python int": INT,
         "int": Scalar("i8")}  # fmt: skip


def same(x: Any, y: Any) -> bool:
    """Equal to the sign of zero; NaN is NaN."""
    return np.array_equal(x, y, equal_nan=True) and np.array_equal(np.signbit(x), np.signbit(y))


def emitted(name: str, type_: Any, x: Any, literal: Any, swap: bool, **params: Any) -> Any:
    b = Builder()
    v = b.input(type_)
    given = b.atom(literal)
    out = b.emit(name, *((given, v) if swap else (v, given)), **params)
    b.blocks[0].results = [out]
    return interpret(b.blocks[0], [x])[0]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", BINARY)
def test_one_literal_operand(name: str, kind: str) -> None:
    type_ = TYPES[kind]
    numbers: tuple[Any, ...] = FLOATS if type_.dtype == "f8" else INTEGERS
    if type_ == Scalar("i8"):
        numbers = tuple(map(np.int64, numbers))
    literals = FLOATS if type_.dtype == "f8" else (*INTEGERS, 0.5)
    for x, literal, swap in itertools.product(numbers, literals, (False, True)):
        operands = (literal, x) if swap else (x, literal)
        with np.errstate(all="ignore"):
            try:
                wanted = TABLE[name].evaluate(*operands)
            except (ArithmeticError, ValueError):
                continue  # what Python raises, the tracer checks
            got = emitted(name, type_, x, literal, swap)
        assert same(got, wanted), (name, operands, got, wanted)


@pytest.mark.parametrize("known", [True, False])
def test_a_known_choice(known: bool) -> None:
    block = tape_of(
        [("x", Scalar("f8")), ("y", Scalar("f8"))], lambda b, x, y: o.where(known, x, y)
    )
    assert interpret(block, [1.5, 2.5]) == [1.5 if known else 2.5]


@pytest.mark.parametrize("literal", [True, False])
@pytest.mark.parametrize("name", ["logical_and", "logical_or"])
def test_logic_with_a_literal(name: str, literal: bool) -> None:
    for x, swap in itertools.product((True, False), (True, False)):
        wanted = x and literal if name == "logical_and" else x or literal
        assert emitted(name, BOOL, x, literal, swap) == wanted


def test_sums_of_constants() -> None:
    block = tape_of([("k", INT)], lambda b, k: ((k + 1) + 2, (k + 3) + -3, (k - 1) - 1, o.neg(-k)))
    assert interpret(block, [5]) == [8, 5, 3, 5]


def test_literals_that_are_equal_but_not_the_same_are_kept_apart() -> None:
    """0.0 and -0.0, 1 and True and 1.0 must not share an equation."""
    x = Scalar("f8")
    block = tape_of([("x", x)], lambda b, x: (o.copysign(x, 0.0), o.copysign(x, -0.0)))
    assert interpret(block, [3.0]) == [3.0, -3.0]
    assert Lit(1, INT) != Lit(True, BOOL) and Lit(0.0, x) != Lit(-0.0, x)


# -- loads from stores ----------------------------------------------------------------------------


@pytest.mark.parametrize("i, j", [(0, 0), (0, 1), (1, 0)])
def test_a_load_after_stores(i: int, j: int) -> None:
    """Indices known and unknown, equal or not."""
    types = [("a", Array("f8", 1)), ("i", INT), ("j", INT)]

    def f(b: Builder, a: Any, p: Any, q: Any) -> Any:
        once = o.store(a, 5.0, p)
        twice = o.store(once, 7.0, q)
        known = o.store(o.store(a, 5.0, i), 7.0, j)
        added = o.accum(o.store(a, 5.0, p), 2.0, q)
        increased = o.store(a, o.load(a, p) + 1.0, p)
        changed = o.store(o.store(a, 4.0, q), o.load(a, p) + 1.0, p)
        return (
            o.load(once, q), o.load(twice, p), o.load(known, i), o.load(known, j),
            o.load(added, p), o.load(added, q), increased, changed,
        )  # fmt: skip

    a = np.array([1.0, 2.0])
    once, both, added = a.copy(), a.copy(), a.copy()
    once[i] = both[i] = added[i] = 5.0
    both[j] = 7.0
    added[j] += 2.0
    increased, changed = a.copy(), a.copy()
    increased[i] += 1.0
    changed[j] = 4.0
    changed[i] = a[i] + 1.0
    wanted = [once[j], both[i], both[i], both[j], added[i], added[j], increased, changed]
    got = interpret(tape_of(types, f), [a, i, j])
    for x, y in zip(got, wanted, strict=True):
        assert np.array_equal(x, y), (got, wanted)


def test_an_array_made_of_one_number_gives_it() -> None:
    def f(b: Builder, x: Any, k: Any) -> Any:
        return o.load(o.full(x, 3, dtype="f8"), k), o.load(o.pack(x, 2.0 * x), 1)

    assert interpret(tape_of([("x", Scalar("f8")), ("k", INT)], f), [1.5, 2]) == [1.5, 3.0]


@pytest.mark.parametrize("x", [*FLOATS, 1.7e308, -1.1e308, 5e-324, 1e-310])
def test_a_multiple_of_twice_a_number_is_one_product(x: float) -> None:
    for literal, swap in itertools.product((*FLOATS, 100.0, 1.7e308, 0.25), (False, True)):
        b = Builder()
        v = b.input(Scalar("f8", True))
        ins = b.emit("add", v, v), b.atom(literal)
        b.blocks[0].results = [b.emit("mul", *(ins[::-1] if swap else ins))]
        with np.errstate(all="ignore"):
            assert same(interpret(b.blocks[0], [x])[0], (x + x) * literal), literal
    # no sum is left, but for a factor below one: a sum that overflows would not
    b = Builder()
    v = b.input(Scalar("f8", True))
    twice = b.emit("add", v, v)
    assert b.sources[b.emit("mul", twice, b.atom(100.0))].ins == (v, b.atom(200.0))
    assert b.sources[b.emit("mul", twice, b.atom(0.5))].ins[0] is twice


@pytest.mark.parametrize("inner", [1, 2])
@pytest.mark.parametrize("outer", [1, 2])
def test_a_choice_of_what_was_chosen_by_the_same_condition(outer: int, inner: int) -> None:
    b = Builder()
    c, x, y, z = b.input(BOOL), *(b.input(Scalar("f8")) for _ in range(3))
    first = b.emit("where", c, *((x, y) if inner == 1 else (y, x)))
    b.blocks[0].results = [b.emit("where", c, *((first, z) if outer == 1 else (z, first)))]
    assert first not in b.sources[b.blocks[0].results[0]].ins
    for known in (True, False):
        one = (1.0 if inner == 1 else 2.0) if known else (2.0 if inner == 1 else 1.0)
        expected = one if known == (outer == 1) else 3.0
        assert interpret(b.blocks[0], [known, 1.0, 2.0, 3.0])[0] == expected


COPIES = {
    "a column to a row": "c[1:, 1] = x[1:]; c[1, 1:] = c[1:, 1]",
    "rounded first": "c[0] = x.astype(np.float32); c[1] = c[0]",
    "a number to all": "c[0] = x[2]; c[1] = c[0]",
    "onto itself": "c[0, 1:] = x[1:]; c[0, :-1] = c[0, 1:]",
    "backwards": "c[0, ::-1] = x; c[1] = c[0, ::-1]",
    "another part": "c[0, 1:] = x[1:]; c[1, :2] = c[0, :2]",
    "written between": "c[0] = x; c[0, 1] = 7.0; c[1] = c[0]",
    "added to between": "c[0] = x; c[0] += 2; c[1] = c[0]",
    "of a view": "v = c[0]; v[:] = x; c[1] = c[0]; v[1:] = c[1, :-1]",
    "in a loop": "for i in range(3): c[i:, i] = x[i:] * x[0]; c[i, i:] = c[i:, i]",
}


@pytest.mark.parametrize("dtype", ["float", "np.float32", "int"])
@pytest.mark.parametrize("name", COPIES)
def test_what_is_copied_from_where_it_was_just_stored(name: str, dtype: str) -> None:
    lines = "\n".join(f"    {line.strip()}" for line in COPIES[name].split("; "))
    if "for" in lines:
        lines = lines.replace(": c", ":\n        c").replace("\n    c[i, i:]", "\n        c[i, i:]")
    source = (f"import numpy as np\n\n\ndef program(x):\n    c = np.zeros((3, 3), {dtype})\n"
              f"{lines}\n    return np.sum(c * c * np.arange(9.0).reshape(3, 3)) + c[1, 1]\n")
    f = load(source, "of_copies")
    x = np.array([1.3, -2.2, 3.1])
    try:
        steps = 1e-6 * np.eye(3)
        np.testing.assert_allclose(as_emitted(f, x), f(x), 1e-6)
        if dtype == "float" and name != "rounded first":
            by = [(f(x + d) - f(x - d)) / 2e-6 for d in steps]
            np.testing.assert_allclose(as_emitted(jitad.grad(f), x), by, 1e-5)
        np.testing.assert_allclose(as_emitted(jitad.grad(f), x), jitad.grad(f)(x), 1e-6)
    finally:
        forget("of_copies")


def mirrored(x):
    c = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        c[i:, i] = x[i:] * x[i]
        c[i, i:] = c[i:, i]
    return c


def test_no_copy_is_made_of_what_was_just_stored() -> None:
    _, kernel = kernel_of(mirrored, np.arange(5.0))
    assert "store(c, " in kernel.source and "load(c, " not in kernel.source
