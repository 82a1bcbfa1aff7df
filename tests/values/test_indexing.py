"""Are indices checked, wrapped and proved as they should be?"""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from jitad.errors import GuardMiss, JitadError, JitadIndexError, JitadTypeError, JitadValueError
from jitad.tape.build import Builder, Leaf
from jitad.tape.interpret import interpret
from jitad.tape.ir import Pos, Var, lit, walk
from jitad.tape.types import INT, Array
from jitad.values import extents
from jitad.values.array import ArrayHandle
from jitad.values.kind import building
from tests.values import ways

A = numpy.arange(12.0).reshape(3, 4)
V = numpy.arange(5.0)


def checks(f: Any, *args: Any) -> int:
    tape, _ = ways.record(f, *args, ints=True)
    return sum(e.op == "check" for e in walk(tape.body))


@pytest.mark.parametrize("way", ["handles", "tape"])
@pytest.mark.parametrize("index", [5, -6, (3, 0), (0, -5)])
def test_out_of_bounds_raises(way, index):
    a = A if isinstance(index, tuple) else V
    with pytest.raises(JitadIndexError, match="out of bounds for axis"):
        ways.WAYS[way](lambda np, a: a[index], a)

    def write(np: Any, a: Any) -> Any:
        a[index] = 1.0
        return a

    with pytest.raises(IndexError, match="out of bounds"):
        ways.WAYS[way](write, a)


@pytest.mark.parametrize("i", range(-5, 5))
def test_traced_index_wraps(i):
    assert ways.on_tape(lambda np, a, i: a[i], V, i, ints=True) == [V[i]]


@pytest.mark.parametrize("i", [-6, 5, 99])
def test_traced_index_is_checked(i):
    with pytest.raises(JitadIndexError, match="out of bounds for axis 0"):
        ways.on_tape(lambda np, a, i: a[i], V, i, ints=True)


@pytest.mark.parametrize("step", [None, 1, 2, 3, -1, -2])
@pytest.mark.parametrize("i", [-7, -3, 0, 2, 5, 9])
def test_traced_slices(i, step):
    for j in (-7, -2, 0, 3, 7):
        found = ways.on_tape(lambda np, a, i, j: a[i:j:step], V, i, j, ints=True)
        ways.assert_same(found, [V[i:j:step]])


def test_traced_slices_of_traced_length_write():
    def f(np: Any, a: Any, i: Any) -> Any:
        b = a[i:]
        b[1:] *= 10.0
        b[0] += 1
        return a * 1, b * 1

    ways.assert_same(ways.on_tape(f, V, 2, ints=True), ways.on_ndarrays(f, V, 2))


def test_position_is_the_users(tmp_path):
    source = tmp_path / "user.py"
    source.write_text("def f(a, i):\n    return a[i + 1]\n")
    b = Builder()
    b.pos = Pos(str(source), 2, 11)
    a = ArrayHandle(Leaf(b, b.input(Array("f8", 1))))
    i = Leaf(b, b.input(INT))
    with building(b):
        a[i + 1]
        (check, *_) = [e for e in walk(b.blocks[0]) if e.op == "check"]
        text = check.params["message"]
        assert "index is out of bounds for axis 0" in text
        assert f'File "{source}", line 2' in text and "return a[i + 1]\n" in text and "^" in text
        with pytest.raises(JitadTypeError, match="of a slice"):
            a["x"] if False else a[1:2:i]


@pytest.mark.parametrize("way", ["handles", "tape"])
@pytest.mark.parametrize(
    "index", [[2, 0], (range(3), range(3)), ((0, 2), (1, 1)), (slice(1, 3), (3, 0)), (range(0),)]
)
def test_sequences_pick_as_arrays_do(way, index):
    """Lists, and within a subscript's tuple tuples and ranges."""
    ways.assert_same(ways.WAYS[way](lambda np, a: a[index], A), [A[index]])


def test_one_check_covers_repeated_loads():
    assert checks(lambda np, a, i: a[i] + a[i] * a[i], V, 1) == checks(lambda np, a, i: a[i], V, 1)


BAD = [
    (lambda np, a: a[1.5], JitadIndexError, "must be an integer"),
    (lambda np, a: a["x"], JitadIndexError, "must be an integer"),
    (lambda np, a: a[0, 0, 0], JitadIndexError, "too many indices"),
    (lambda np, a: a[..., 0, ...], JitadIndexError, "single ellipsis"),
    (lambda np, a: a[::0], JitadValueError, "step cannot be zero"),
    (lambda np, a: a[[0, 9]], JitadIndexError, "out of bounds"),
    (lambda np, a: a + np.zeros(7), JitadValueError, "could not be broadcast"),
    (lambda np, a: a.reshape(7, 7), JitadValueError, "cannot reshape"),
    (lambda np, a: a @ np.zeros(7), JitadValueError, "not aligned"),
    (lambda np, a: np.zeros(3, dtype=object), JitadTypeError, "object"),
    (lambda np, a: np.sum(a, axis=2), JitadValueError, "axis 2 is out of bounds"),
    (lambda np, a: np.add(a, a, where=a > 0), JitadTypeError, "where= of np.add"),
    (lambda np, a: a.max(where=a > 0), JitadValueError, "one has to specify 'initial'"),
    (lambda np, a: a + "x", TypeError, "unsupported operand"),
    (lambda np, a: np.array([[a[0, 0]], [1, 2]]), JitadValueError, "unlike|broadcast|match"),
    (lambda np, a: a.reshape(3, 4, order="Q"), JitadValueError, "order must be"),
    (lambda np, a: np.concatenate([a, a[0]]), JitadValueError, "number of dimensions"),
    (lambda np, a: np.split(a, 2), JitadValueError, "equal division"),
]


@pytest.mark.parametrize(("f", "exception", "text"), BAD)
def test_misuse_on_a_tape(f, exception, text):
    with pytest.raises(exception, match=text):
        ways.on_tape(f, A)


def test_in_place_needs_a_safe_cast():
    def f(np: Any, a: Any) -> Any:
        n = np.zeros(5, dtype=int)
        n += a
        return n

    for way in ("handles", "tape"):
        with pytest.raises(JitadTypeError, match="can't cast output from float64 to int64"):
            ways.WAYS[way](f, V)


def test_stores_into_integers_truncate_as_numpy_does():
    def f(np: Any, a: Any) -> Any:
        n = np.zeros(5, dtype=int)
        n[0] = a[3] * 1.5
        n[1:3] = a[2:4] * 0.7
        return n

    for way in ("handles", "tape", "tagged"):
        ways.assert_same(ways.WAYS[way](f, V), ways.on_ndarrays(f, V))


def test_a_retired_handle_is_refused():
    a = ArrayHandle(numpy.ones(3))
    view = a[1:]
    a.retire("this array was renamed by the loop")
    for use in (lambda: a[0], lambda: view[0], lambda: a + 1, lambda: view.sum()):
        with pytest.raises(JitadError, match="renamed by the loop"):
            use()


# -- proofs ---------------------------------------------------------------------------------------


def loop(b: Builder, start: Any, stop: Any, step: int = 1) -> Leaf:
    index = Var(INT)
    b.loops[index] = (b.atom(start), b.atom(stop), lit(step))
    return Leaf(b, index)


def stencil_checks(start: int, shift: int, step: int = 1) -> int:
    """Checks of u[i-1], u[i], u[i+1] for i in range(start, n - shift) or backwards."""
    b = Builder()
    u = ArrayHandle(Leaf(b, b.input(Array("f8", 1))))
    n = u.shape[0]
    with building(b):
        last = extents.sub(n, 1 + shift)
        ends = (start, extents.add(last, 1)) if step > 0 else (last, start - 1)
        i = loop(b, *ends, step)
        u[i - 1] + u[i] + u[i + 1]
    return sum(e.op == "check" for e in walk(b.blocks[0]))


def test_loop_indices_are_proved():
    assert stencil_checks(1, 1) == 0
    assert stencil_checks(1, 1, 2) == 0
    assert stencil_checks(1, 1, -1) == 0
    assert stencil_checks(0, 1) == 1  # u[i - 1], which wraps: checked
    assert stencil_checks(1, 0) == 1  # u[i + 1]
    assert stencil_checks(1, -1) == 2


def test_triangular_loops_are_proved():
    b = Builder()
    a = ArrayHandle(Leaf(b, b.input(Array("f8", 2))))
    n, m = a.shape
    with building(b):
        i = loop(b, 0, n)
        j = loop(b, 0, i)
        a[i, 0:1] if False else None
        before = len(b.blocks[0].equations)
        assert extents.at_least(n, extents.add(j, 1)) and extents.at_least(i, extents.add(j, 1))
        assert not extents.at_least(m, extents.add(j, 1))
        assert not extents.at_least(j, 1)
        assert len(b.blocks[0].equations) == before + 1  # j + 1 itself


def test_extents_of_shifted_slices_agree_without_checks():
    def f(np: Any, u: Any) -> Any:
        return u[2:] - 2.0 * u[1:-1] + u[:-2] + (u[1:] - u[:-1])[1:]

    assert checks(f, V) == 0
    ways.assert_same(ways.on_tape(f, V), ways.on_ndarrays(f, V))


def test_slices_of_fixed_length_have_static_extents():
    def f(np: Any, u: Any, i: Any) -> Any:
        x, y, z = u[0:3]
        return x + y * z, u[i : i + 2], u[-2:]

    ways.assert_same(ways.on_tape(f, V, 1, ints=True), ways.on_ndarrays(f, V, 1))
    b = Builder()
    u = ArrayHandle(Leaf(b, b.input(Array("f8", 1))))
    with building(b):
        i = loop(b, 0, u.shape[0])
        assert u[i : i + 2].shape == (2,)
    (check,) = [e for e in walk(b.blocks[0]) if e.op == "check"]
    assert "fixed length reaches beyond" in check.params["message"]


def test_a_fixed_slice_is_guarded():
    """The extent is relied on where the example has it so, and the kernel checks it."""
    tape, _ = ways.record(lambda np, u: u[:3] * 1.0, V)
    assert tape.body.results[0].shape == (lit(3),)
    with pytest.raises(GuardMiss):
        interpret(tape.body, [V[:2]])
    short = ways.on_tape(lambda np, u: u[:3] * 1.0, V[:2])
    ways.assert_same(short, [V[:2]])


def test_small_arrays_are_held_by_element():
    def f(np: Any, x: float) -> Any:
        a, b = np.zeros(3), np.array([x, 2.0, x * x])
        a[0], a[1] = x, 2 * x
        return a[0] * a[1] + a[2] + b[0] * b[2]

    tape, _ = ways.record(f, 1.5)
    assert not any(e.op == "load" for e in walk(tape.body))
    ways.assert_same(ways.on_tape(f, 1.5), ways.on_ndarrays(f, 1.5))


def test_an_element_store_of_the_eager_engine_does_not_copy():
    a = ArrayHandle(numpy.zeros(4), owned=True)
    buffer = a.peek()
    a[1] = 2.0
    a[1:][2] = 3.0
    assert a.peek() is buffer
    lent = a.content
    a[0] = 5.0
    assert lent[0] == 0.0 and a[0] == 5.0 and a.peek() is not lent
