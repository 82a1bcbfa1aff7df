"""Do the builder's peepholes keep values and types, and do they see what they are made for?"""

import itertools
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jitad.tape.build as build
from jitad.primitives import TABLE
from jitad.specialise.affine import AffineBuilder
from jitad.tape.build import Builder
from jitad.tape.interpret import interpret
from jitad.tape.ir import Block, Lit, Tape, Var
from jitad.tape.show import show
from jitad.tape.types import INT, Array, Scalar
from jitad.tape.verify import verify
from jitad.values.number import o

F, PY, V, M = Scalar("f8"), Scalar("f8", py=True), Array("f8", 1), Array("f8", 2)
SINGLE, SINGLES, LONG = Scalar("f4"), Array("f4", 1), Scalar("i8")


class Plain(Builder):
    """A builder that appends what it is told, and nothing else."""

    def emit(self, op, *ins, **params):
        outs = self._append(op, ins, params)
        return outs[0] if len(outs) == 1 else outs

    def first_time(self, key):
        return True


def built(kind, inputs, f):
    b = kind()
    leaves = [b.leaf(b.input(t, n)) for n, t in inputs]
    out = f(*leaves)
    b.blocks[0].results = [b.atom(v) for v in (out if isinstance(out, tuple) else (out,))]
    return verify(Tape("f", b.blocks[0])).body


def values(block: Block, args):
    fresh = [np.array(a) if isinstance(a, np.ndarray) else a for a in args]
    return repr([(np.asarray(r).dtype, np.asarray(r).tolist()) for r in interpret(block, fresh)])


def types(block: Block):
    return [a.type for a in block.results]


def same(inputs, f, *points):
    """The block that the builder makes; as plain equations it has the same values and types."""
    plain = built(Plain, inputs, f)
    for kind in (AffineBuilder, Builder):
        block = built(kind, inputs, f)
        assert types(block) == types(plain)
        for args in points:
            assert values(block, args) == values(plain, args), show(Tape("f", block))
    return block


def ops(block: Block):
    return [e.op for e in block.equations if e.op != "dim"]


X = np.array([3.0, -1, 4, 1, -5, 9, 2, 6])
XI = [(X, 2.0, 0), (X, -0.0, 1), (X, math.inf, 2), (X, 0.5, 3)]
INPUTS = [("x", V), ("v", F), ("i", INT)]


# -- accumulations --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda x, v, i: o.store(x, o.load(x, i) + v, i),
        lambda x, v, i: o.store(x, v + o.load(x, i), i),
        lambda x, v, i: o.store(x, o.load(x, i) - v, i),
        lambda x, v, i: o.store(x, o.load(x, 2) + v, 2),
        lambda x, v, i: o.store(x, o.load(x, i) + o.load(x, i) * v, i),
        lambda x, v, i: o.store(x, o.load(x, i) + 1.5, i),
        lambda x, v, i: o.store(x, o.load(x, i) + o.load(x, i + 1), i),
        lambda x, v, i: o.store(o.store(x, v, 1), o.load(x, 2) + v, 2),  # written elsewhere before
    ],
)
def test_an_element_plus_something_is_an_accumulation(f):
    block = same(INPUTS, f, *XI)
    assert ops(block).count("accum") == 1
    assert [e for e in block.equations if e.op == "accum"][0].outs[0] is block.results[0]


@pytest.mark.parametrize(
    "f",
    [
        lambda x, v, i: o.store(x, v - o.load(x, i), i),
        lambda x, v, i: o.store(x, o.load(x, i) + o.load(x, i), i),
        lambda x, v, i: o.store(x, o.load(x, i) * v, i),
        lambda x, v, i: o.store(x, o.load(x, i + 1) + v, i),
        lambda x, v, i: o.store(x, o.load(x, 1) + v, 0),
        lambda x, v, i: o.store(o.store(x, v, i), o.load(x, i) + v, i),  # written since the load
        lambda x, v, i: o.store(o.store(x, v, 1), o.load(x, i) + v, i),  # perhaps written since
        lambda x, v, i: o.store(o.accum(x, v, i), o.load(x, i) + v, i),
        lambda x, v, i: o.store(o.exp(x), o.load(x, i) + v, i),
        lambda x, v, i: o.store(x, (o.load(x, i) + v) * 1.5, i),
        lambda x, v, i: o.store(x, o.load(x, i) + i, i),  # an integer has no sensitivity
    ],
)
def test_what_is_no_accumulation(f):
    points = [(X, v, i) for v in (2.0, -3.0) for i in (0, 1, 2)]
    block = same(INPUTS, f, *points)
    assert [e for e in block.equations if e.outs[0] is block.results[0]][0].op == "store"


def test_an_element_of_a_version_in_between():
    """a[i] = (a[i] before the last addition) + v is not that addition and one more."""
    def f(x, v, i):
        once = o.store(x, o.load(x, i) + v, i)
        return o.store(once, o.load(x, i) + v, i), o.store(once, o.load(once, i) + v, i)

    same(INPUTS, f, *XI)


def test_accumulations_keep_the_width():
    def f(a, w, v, i):
        wide = o.load(a, i) + v  # float64: narrowed when it is stored
        old = o.load(a, i)
        return o.store(a, wide, i), o.store(a, old + w, i), o.store(a, old + 0.1, i)

    inputs = [("a", SINGLES), ("w", SINGLE), ("v", F), ("i", INT)]
    same(inputs, f, (X.astype("f4"), np.float32(0.1), np.float64(0.1), 1))


@pytest.mark.parametrize(
    ("f", "found"),
    [
        (lambda x, v, i: (x, o.slice(x, 1, 1, 4, kinds="r") + v, (1, 1, 4)), True),
        (lambda x, v, i: (x, v + o.slice(x, i, 2, 3, kinds="r"), (i, 2, 3)), True),
        (lambda x, v, i: (x, o.slice(x, i, 1, 4, kinds="r") - v, (i, 1, 4)), True),
        (lambda x, v, i: (x, o.slice(x, 1, 1, 4, kinds="r") + o.slice(x, 0, 1, 4, kinds="r"),
                          (1, 1, 4)), True),
        (lambda x, v, i: (x, v - o.slice(x, 1, 1, 4, kinds="r"), (1, 1, 4)), False),
        (lambda x, v, i: (x, o.slice(x, 1, 1, 4, kinds="r") + v, (2, 1, 4)), False),
        (lambda x, v, i: (x, o.slice(x, 1, 1, 4, kinds="r") + v, (4, -1, 4)), False),
        (lambda x, v, i: (o.store(x, v, 2), o.slice(x, 1, 1, 4, kinds="r") + v, (1, 1, 4)), False),
        (lambda x, v, i: (x, o.slice(x, 1, 1, 4, kinds="r") * 2.0, (1, 1, 4)), False),
        (lambda x, v, i: (x, o.slice(x, i, 1, 4, kinds="r") + o.slice(x, i, 1, 4, kinds="r"),
                          (i, 1, 4)), False),
    ],
)  # fmt: skip
def test_accumulations_into_slices(f, found):
    def whole(x, v, i):
        a, value, at = f(x, v, i)
        return o.store_slice(a, value, *at, kinds="r")

    block = same(INPUTS, whole, *XI)
    assert ("accum_slice" in ops(block)) is found
    assert ("store_slice" in ops(block)) is not found


def test_accumulations_into_rows_and_columns():
    def f(m, v, i):
        row, column = (i, 0, 1, 3), (0, 1, 3, i)
        m = o.store_slice(m, o.slice(m, *row, kinds="ir") + v, *row, kinds="ir")
        m = o.store_slice(m, o.slice(m, *column, kinds="ri") - v, *column, kinds="ri")
        # a row of other elements than the column that is written
        return o.store_slice(m, o.slice(m, *row, kinds="ir") + v, *column, kinds="ri")

    block = same([("m", M), ("v", F), ("i", INT)], f,
                 *((np.arange(9.0).reshape(3, 3), 0.5, i) for i in (0, 1, 2)))  # fmt: skip
    assert ops(block).count("accum_slice") == 2 and ops(block).count("store_slice") == 1


def test_counts_are_what_is_stored():
    def f(x, v, i):
        n = o.minimum(i + 2, 2)
        part = o.full(v, 2, dtype="f8")
        return (o.store_slice(x, part, 1, 1, n, kinds="r"), o.store_slice(x, v, 1, 1, n, kinds="r"),
                o.accum_slice(x, part, 1, 1, n, kinds="r"))

    block = same(INPUTS, f, *XI)
    counts = [e.ins[-1] for e in block.equations if e.op.endswith("_slice")]
    assert [isinstance(n, Lit) for n in counts] == [True, False, True]


# -- numbers that were stored ---------------------------------------------------------------------


def test_a_number_stored_is_not_loaded():
    block = same(INPUTS, lambda x, v, i: o.load(o.store(x, v, i), i), *XI)
    assert block.results[0] is block.params[1]
    block = same(INPUTS, lambda x, v, i: o.load(o.store(o.store(x, v, 1), 7.0, 2), 1), *XI)
    assert block.results[0] is block.params[1]


@pytest.mark.parametrize(
    "f",
    [
        lambda x, v, i: o.load(o.store(x, v, i), 1),
        lambda x, v, i: o.load(o.store(o.store(x, v, 1), 7.0, i), 1),
        lambda x, v, i: o.load(o.accum(o.store(x, v, 1), 7.0, i), 1),
        lambda x, v, i: o.load(o.accum(o.store(x, v, i), 7.0, i), i),
        lambda x, v, i: o.load(o.store(o.accum(x, v, i), 7.0, 0), i),
        lambda x, v, i: o.load(o.store(x, v, i), o.load(o.cast(x, dtype="i8"), 3)),
        lambda x, v, i: o.load(o.store(o.full(v, 4, dtype="f8"), 2.0, i), 1),
        lambda x, v, i: o.load(o.store(o.pack(v, 1.0, v, v), 2.0, i), 1),
    ],
)
def test_a_number_that_may_have_been_overwritten(f):
    same(INPUTS, f, *XI)


def test_a_number_from_an_array_is_numpys():
    """It promotes as such, and 1 / a[0] is infinite where Python's 1 / 0.0 raises."""
    def f(x, p, w, n):
        y = o.store(x, p, 0)
        y = o.store(y, 2.0, 1)
        k = o.store(o.cast(x, dtype="i8"), n, 0)
        return (o.load(y, 0), o.load(y, 1), o.load(y, 0) * w, o.load(y, 1) * w, o.load(k, 0),
                o.load(o.pack(p, 1.0), 1) * w, o.load(o.full(0.0, 3, dtype="f8"), 1) * w)

    inputs = [("x", V), ("p", PY), ("w", SINGLE), ("n", INT)]
    same(inputs, f, (X, 0.1, np.float32(0.1), 3))


def test_a_number_stored_in_a_narrower_array():
    def f(a, v, n):
        return tuple(o.load(o.store(a, e, 1), 1) for e in (v, n, 0.1))

    same([("a", SINGLES), ("v", F), ("n", INT)], f, (X.astype("f4"), np.float64(0.1), 2**24 + 1))


def test_an_element_out_of_bounds_is_left_to_run_time():
    b = Builder()
    packed = b.emit("pack", b.input(F), b.input(F))
    assert isinstance(b.emit("load", packed, build.lit(5)), Var)


# -- arithmetic -----------------------------------------------------------------------------------


def test_squares():
    block = same(INPUTS, lambda x, v, i: (o.pow(v, 2), o.pow(v, 2.0), o.pow(x, 2)), *XI)
    assert "pow" not in ops(block)
    assert block.results[0] is block.results[1]


def test_powers_that_stay():
    def f(x, v, i, w):
        return o.pow(i, 2), o.pow(v, 3), o.pow(v, i), o.pow(w, 2), o.pow(w, np.float64(2.0))

    block = same([*INPUTS, ("w", SINGLE)], f, (X, -1.5, 2, np.float32(0.1)),
                 (X, 2.0, 3, np.float32(1.7)))  # fmt: skip
    assert ops(block).count("pow") == 4  # of w only the one with a Python 2 is a product


@pytest.mark.parametrize("v", [0.0, -0.0, 1.5, math.inf, -math.inf, math.nan])
def test_identities_are_exact_for_all_floats(v):
    def f(v, k):
        return (v * 1.0, 1 * v, v / 1, v - 0.0, v + 0.0, 0.0 + v, v - v, v * 0.0,
                o.neg(o.neg(v)), o.pow(v, 1), v - (-0.0), o.where(o.gt(v, 0.0), v, v),
                k * 1, k + 0, k - k, k * 0, 0 * k, k - 0)  # fmt: skip

    same([("v", F), ("k", INT)], f, (np.float64(v), 3), (np.float64(v), -1))


@pytest.mark.parametrize("kind", [INT, LONG, Scalar("i4"), Scalar("u1"), Scalar("b1", py=True)])
def test_identities_keep_the_type(kind):
    def f(k, a):
        return k * 1, k + 0, k * 0, o.neg(o.neg(k)), (k * 0) * a, (k + 0) * a

    value = True if kind.dtype == "b1" else 3 if kind.py else np.dtype(kind.dtype).type(3)
    same([("k", kind), ("a", Scalar("i4"))], f, (value, np.int32(2)))


def test_sums_with_literals_do_not_leave_the_machine_integers():
    big = 2**62

    def f(k):
        return (k + 1) + 2, (k + 1) + -1, (k + 5) + -7, (k * 2**40) * 2**30, (k + big) + big

    for kind in (Builder, AffineBuilder):
        block = built(kind, [("k", INT)], f)
        for e in block.equations:
            assert all(abs(a.value) < 2**63 for a in e.ins if isinstance(a, Lit))
    assert values(block, (4,)) == values(built(Plain, [("k", INT)], f), (4,))


def test_literals_are_told_apart_by_sign_and_type():
    def f(v, w):
        return v + 0.0, v + -0.0, v * True, v * 1, w * np.float64(1), w * 1.0, w * np.float32(1)

    same([("v", F), ("w", SINGLE)], f, (np.float64(-0.0), np.float32(0.3)))


def test_equations_are_shared_with_the_block_around_and_not_with_the_one_beside():
    b = Builder()
    v = b.leaf(b.input(F))
    outer = b.atom(o.sin(v))
    with b.block() as one:
        assert b.atom(o.sin(v)) is outer
        first = b.atom(o.cos(v))
    with b.block() as other:
        second = b.atom(o.cos(v))
    assert first is not second and one.equations and other.equations
    with b.block(isolated=True):
        assert b.atom(o.sin(v)) is not outer


def test_what_makes_a_buffer_is_not_shared():
    b = Builder()
    n = b.leaf(b.input(INT))
    assert b.atom(o.full(0.0, n, dtype="f8")) is not b.atom(o.full(0.0, n, dtype="f8"))


# -- all of them together -------------------------------------------------------------------------


@st.composite
def programs(draw):
    choices = draw(st.lists(st.integers(0, 5039), min_size=80, max_size=80))

    def f(x, v, i):
        left = iter(choices)

        def one(low, high):
            return low + next(left) % (high - low + 1)

        versions, numbers = [x, x], [v, 1.5, 0.0]

        def array():
            return versions[-1 - one(0, min(2, len(versions) - 1))]

        def number():
            return numbers[-1 - one(0, min(3, len(numbers) - 1))]

        def at():
            return (0, 1, 2, i, i, i + 1, 1 + i)[one(0, 6)]

        for _ in range(one(2, 8)):
            match one(0, 9):
                case 0:
                    versions.append(o.store(array(), number(), at()))
                case 1:
                    versions.append(o.accum(array(), number(), at()))
                case 2 | 3:
                    numbers.append(o.load(array(), at()))
                case 4 | 5:
                    a, k = array(), at()
                    e = number()
                    versions.append(o.store(a, (o.load(a, k) + e, e - o.load(a, k),
                                                o.load(array(), k) - e)[one(0, 2)], k))  # fmt: skip
                case 6:
                    numbers.append(number() * number())
                case 7:
                    r, s = (at(), 1, 3), (at(), 1, 3)
                    a = array()
                    e = o.slice(array(), *s, kinds="r")
                    versions.append(o.store_slice(a, o.slice(array(), *r, kinds="r") + e, *r,
                                                  kinds="r"))  # fmt: skip
                case 8:
                    numbers.append(o.pow(number(), 2))
                case _:
                    numbers.append(-number())
        return (*versions[2:], *numbers[3:])

    return f


@settings(max_examples=150, deadline=None)
@given(programs())
def test_random_updates(f):
    same(INPUTS, f, *XI)


def inferred(row, ins):
    """What the row gives of these, or that it refuses them, as bits of floats are."""
    try:
        return row.infer(*ins)
    except TypeError as refused:
        return str(refused)


def test_types_of_numbers_depend_on_types_alone():
    """What the builder keeps of an operation on numbers is so for all operands of the types."""
    kinds, checked = (F, PY, SINGLE, LONG, INT, Scalar("b1"), Scalar("b1", py=True)), 0
    for row in TABLE.values():
        count = len(set(re.findall(r"\{(\d)\}", row.emit)))
        if not row.elementwise or not 0 < count < 3:
            continue
        for types_ in itertools.product(kinds, repeat=count):
            variables = [Var(t) for t in types_]
            for value in (0, 1, 2, -1, 7):
                literals = [Lit(value if t.py else np.array(value).astype(t.dtype)[()], t)
                            for t in types_]  # fmt: skip
                for ins in itertools.product(*zip(variables, literals, strict=True)):
                    assert inferred(row, ins) == inferred(row, variables), row.name
                    checked += 1
    assert checked > 1000
