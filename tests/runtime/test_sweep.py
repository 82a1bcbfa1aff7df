"""Is the reverse sweep right about shared and partly overwritten arrays, and is its work linear?"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from jitad.errors import JitadError
from jitad.primitives import TABLE
from jitad.runtime import derivative, grad, jvp, vjp
from jitad.runtime.reverse import Cell
from jitad.runtime.tags import LIVE
from jitad.values.array import ArrayHandle
from jitad.values.number import o


@pytest.fixture
def evaluations(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How often each primitive is evaluated on plain operands."""
    count: Counter[str] = Counter()

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **params: Any) -> Any:
            count[name] += 1
            return function(*args, **params)

        return call

    for row in TABLE.values():
        monkeypatch.setitem(row.__dict__, "evaluate", counted(row.name, row.evaluate))
        if row.update is not None:
            monkeypatch.setitem(row.__dict__, "update", counted(row.name + "!", row.update))
    yield count


def test_doubling_two_hundred_times_is_linear(monkeypatch: pytest.MonkeyPatch) -> None:
    rules: Counter[str] = Counter()
    add = TABLE["add"]
    plain = add.partials
    assert plain is not None
    monkeypatch.setitem(add.__dict__, "partials",
                        lambda *a: rules.update(add=1) or plain(*a))  # fmt: skip

    def f(x: Any) -> Any:
        for _ in range(200):
            x = x + x
        return x

    assert grad(f)(1.0) == 2.0**200
    assert rules["add"] == 200


def test_a_rule_runs_once_and_only_if_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []
    mul = TABLE["mul"]
    plain = mul.partials
    assert plain is not None
    monkeypatch.setitem(mul.__dict__, "partials", lambda o, a, b, y: seen.append(y) or
                        plain(o, a, b, y))  # fmt: skip

    def f(x: Any) -> Any:
        u = x * 3.0
        x * 5.0  # nobody uses it
        return u + u + o.sin(u)

    grad(f)(1.0)
    assert seen == [3.0]


def test_hundred_thousand_operations() -> None:
    def f(x: Any) -> Any:
        for _ in range(100_000):
            x = x * 1.0000001
        return x

    assert grad(f)(1.0) == pytest.approx(1.0000001**100_000, rel=1e-12)


def reads(a: Any) -> Any:
    s = 0.0
    for i in range(len(a)):
        s = s + a[i] * a[i - 1]
    return s


def writes(a: Any) -> Any:
    b = ArrayHandle(a.content)
    for i in range(1, len(b)):
        b[i] = b[i] * b[i - 1]
        b[i] += a[0]
    return b[len(b) - 1] + b[0]


def numpy_writes(a: np.ndarray) -> float:
    b = a.copy()
    for i in range(1, len(b)):
        b[i] = b[i] * b[i - 1] + a[0]
    return float(b[-1] + b[0])


NESTINGS: dict[str, Callable[[Any, Any], Any]] = {
    "reverse": lambda f, x: grad(f)(x),
    "forward": lambda f, x: jvp(f, (x,), (x,))[1],
    "forward of reverse": lambda f, x: jvp(grad(f), (x,), (x,))[1],
    "reverse of reverse": lambda f, x: vjp(grad(f), x)[1](x)[0],
    "reverse of forward": lambda f, x: grad(lambda y: jvp(f, (y,), (x,))[1])(x),
}


@pytest.mark.parametrize("nesting", NESTINGS)
@pytest.mark.parametrize("f", [reads, writes])
def test_element_loops_copy_no_array(
    f: Callable[[Any], Any], nesting: str, evaluations: Counter[str]
) -> None:
    """Operations that cost O(n) are as many for 40 elements as for 10."""
    made = []
    for n in (10, 40):
        evaluations.clear()
        NESTINGS[nesting](f, np.linspace(0.9, 1.1, n))
        whole = ("store", "accum", "store_slice", "accum_slice", "copy", "full", "broadcast")
        made.append({k: evaluations[k] for k in whole})
        assert evaluations["load"] >= n  # the counter counts
    assert made[0] == made[1]


@pytest.mark.parametrize("nesting", ["forward of reverse", "reverse of reverse",
                                     "reverse of forward"])  # fmt: skip
def test_second_derivatives_through_stores(nesting: str) -> None:
    x = np.linspace(0.8, 1.3, 5)

    def gradient(p: np.ndarray) -> np.ndarray:
        h = 1e-30
        return np.array([_complex_writes(p + 1j * h * e).imag / h for e in np.eye(5)])

    h = 1e-5
    want = (gradient(x + h * x) - gradient(x - h * x)) / (2 * h)
    assert np.allclose(NESTINGS[nesting](writes, x), want, rtol=1e-8)
    assert np.allclose(grad(writes)(x), gradient(x), rtol=1e-14)


def _complex_writes(a: np.ndarray) -> complex:
    b = a.copy()
    for i in range(1, len(b)):
        b[i] = b[i] * b[i - 1] + a[0]
    return complex(b[-1] + b[0])


# -- random programs of stores, loads, slices and whole-array operations --------------------------


def run(program: list[tuple[Any, ...]], x: Any, numpy: bool) -> Any:
    """The same program on handles and on ndarrays; arrays are variables 0..2."""
    def copy(a: Any) -> Any:
        return a.copy() if numpy else ArrayHandle(a.content)

    v = [copy(x), copy(x), x]
    ops = _PLAIN if numpy else _TAGGED
    for name, p, q, i, j in program:
        match name:
            case "store":
                v[p][i] = v[q][j] * v[p][j] + 0.5
            case "accum":
                v[p][i] += v[q][j] * 0.3
            case "constant":
                v[p][i] = 0.7
            case "mul":
                v[p] = ops["mul"](v[p], v[q])
            case "sin":
                v[p] = ops["sin"](v[q])
            case "copy":
                v[p] = copy(v[q])
            case "alias":
                v[p] = v[q]
            case "whole":
                v[p][i] = ops["sum"](v[q]) * 0.2
    return ops["sum"](ops["mul"](v[0], v[1])) + ops["sum"](ops["mul"](v[2], v[2]))


_PLAIN = {"mul": lambda a, b: a * b, "sin": np.sin, "sum": np.sum}
_TAGGED = {
    "mul": lambda a, b: ArrayHandle(o.mul(a.content, b.content)),
    "sin": lambda a: ArrayHandle(o.sin(a.content)),
    "sum": lambda a: o.sum(a.content, axes=(0,)),
}
KINDS = ["store", "accum", "constant", "mul", "sin", "copy", "alias", "whole"]


@pytest.mark.parametrize("seed", range(60))
def test_random_array_programs(seed: int) -> None:
    r = random.Random(seed)
    n = 4
    program = [
        (r.choice(KINDS), r.randrange(3), r.randrange(3), r.randrange(n), r.randrange(n))
        for _ in range(r.randrange(3, 25))
    ]
    x = np.array([0.3, -0.5, 0.8, 0.4])

    def f(a: Any) -> Any:
        return run(program, a, numpy=False)

    def exact(p: np.ndarray) -> np.ndarray:
        h = 1e-30
        return np.array([run(program, p + 1j * h * e, numpy=True).imag / h for e in np.eye(n)])

    want = exact(x.astype(complex))
    scale = 1.0 + np.abs(want).max()
    assert np.allclose(grad(f)(x), want, rtol=1e-12, atol=1e-13 * scale)
    assert np.allclose([jvp(f, (x,), (e,))[1] for e in np.eye(n)], want, rtol=1e-12,
                       atol=1e-13 * scale)  # fmt: skip
    h = 1e-5
    v = np.array([0.2, -1.0, 0.5, 0.9])
    second = (exact(x + h * v + 0j) - exact(x - h * v + 0j)) / (2 * h)
    scale = 1.0 + np.abs(second).max()
    for way in (
        jvp(grad(f), (x,), (v,))[1],
        vjp(grad(f), x)[1](v)[0],
        grad(lambda y: jvp(f, (y,), (v,))[1])(x),
    ):
        assert np.allclose(way, second, rtol=1e-6, atol=1e-6 * scale)


def test_stores_do_not_reach_what_rules_keep() -> None:
    """The tangent of a + 1 is that of a; the rule of exp reads its result."""
    x = np.array([0.3, 0.4])

    def f(a: Any) -> Any:
        b = a + 1.0
        b[0] = 2.0 * a[1]
        return np.sum(b * a)

    assert grad(f)(x) == pytest.approx([0.8, 0.6 + 0.8 + 1.0])
    assert jvp(f, (x,), (np.ones(2),))[1] == pytest.approx(3.2)

    def g(a: Any) -> Any:
        b = np.exp(a)
        b[0] = np.inf
        return b[1] * a[0]

    assert grad(g)(x) == pytest.approx([np.exp(0.4), 0.3 * np.exp(0.4)])


def test_contributions_do_not_share_buffers() -> None:
    """A cotangent passed to two operands as it is, one of which then gets more."""

    def f(a: Any, b: Any) -> Any:
        s = ArrayHandle(o.add(a.content, b.content))
        return o.sum(s.content, axes=(0,)) + a[0] * 10.0 + s[1] * b[1]

    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    ga, gb = grad(f, (0, 1))(x, y)
    assert ga.tolist() == [11.0, 5.0] and gb.tolist() == [1.0, 11.0]
    ga[:] = 0.0
    assert gb.tolist() == [1.0, 11.0]


def test_scalars_among_arrays() -> None:
    def f(a: Any, c: Any) -> Any:
        y = o.where(o.gt(a.content, 2.0), c, o.mul(a.content, c))
        z = o.where(True, y, c)
        untaken = o.where(False, a.content, c)  # an array all the same
        return o.sum(o.add(z, c), axes=(0,)) + o.sum(untaken, axes=(0,))

    a = np.array([1.0, 2.0, 3.0])
    ga, gc = grad(f, (0, 1))(a, 5.0)
    assert ga.tolist() == [5.0, 5.0, 0.0] and gc == (1.0 + 2.0 + 1.0) + 3.0 + 3.0
    assert jvp(f, (a, 5.0), (np.ones(3), 1.0))[1] == 10.0 + 10.0


def test_integer_arrays_take_no_derivative() -> None:
    def f(a: Any) -> Any:
        counts = ArrayHandle(np.zeros(2, int))
        counts[0] = o.cast(a[0], dtype="i8")
        return a[0] * counts[0]

    x = np.array([3.5, 1.0])
    assert grad(f)(x).tolist() == [3.0, 0.0]
    assert jvp(f, (x,), (np.ones(2),))[1] == 3.0


def test_float32_is_kept() -> None:
    x = np.array([1.0, 2.0, 3.0], np.float32)

    def f(a: Any) -> Any:
        b = ArrayHandle(a.content)
        b[0] = b[1] * b[2]
        return o.sum(o.mul(b.content, b.content), axes=(0,))

    got = grad(f)(x)
    assert got.dtype == np.float32 and got.tolist() == [0.0, 40.0, 30.0]
    assert jvp(grad(f), (x,), (x,))[1].dtype == np.float32


def test_two_threads_on_one_tape_are_noticed() -> None:
    def f(x: Any) -> Any:
        y = x * x
        LIVE[x.tag].insert(1, Cell(x.tag, 5, 0.0))  # what a race would leave behind
        return y

    with pytest.raises(JitadError, match="several threads"):
        grad(f)(2.0)


def test_derivative_of_array_function() -> None:
    got = derivative(lambda t: ArrayHandle(o.mul(o.full(t, 3, dtype="f8"), np.arange(3.0))))(2.0)
    assert type(got) is np.ndarray and got.tolist() == [0.0, 1.0, 2.0]


def test_sums_of_tagged_cotangents_share_no_tangent() -> None:
    def f(a: Any) -> Any:
        u, v = a * 1.0, a * 2.0
        first = v[0]
        total = np.sum(v)
        y = u + v  # passes one cotangent to u and v; v then gets a plain part and an element's
        return np.sum(y * y) + total + first * first

    x, d = np.array([0.3, 0.4, 0.5]), np.array([1.0, -2.0, 0.5])
    want = 18.0 * d + [8.0 * d[0], 0.0, 0.0]
    assert jvp(grad(f), (x,), (d,))[1] == pytest.approx(want)
    assert grad(lambda a: jvp(f, (a,), (d,))[1])(x) == pytest.approx(want)
    assert vjp(grad(f), x)[1](d)[0] == pytest.approx(want)


def test_a_store_into_infinities_has_a_zero_tangent() -> None:
    def f(t: Any) -> Any:
        b = ArrayHandle(np.full(3, np.inf))
        b[0] = 1.0  # the handle owns its buffer now
        b[0] = t * t
        return b

    assert derivative(f)(3.0).tolist() == [6.0, 0.0, 0.0]


def test_a_tangent_that_is_the_same_for_all_elements() -> None:
    def f(t: Any) -> Any:
        return o.sum(o.add(np.arange(3.0), t), axes=(0,))

    assert derivative(f)(2.0) == 3.0 and grad(f)(2.0) == 3.0


@pytest.mark.parametrize("operator", [derivative, grad])
def test_a_cast_to_int_is_plain(operator: Any) -> None:
    def f(t: Any) -> Any:
        return t * [10.0, 20.0, 30.0][o.cast(t, dtype="i8")]

    assert operator(f)(1.5) == 20.0


def test_slices_keep_their_values() -> None:
    def f(a: Any) -> Any:
        b = a * 1.0
        b[0] = a[1]
        squares = b[0:2] * b[0:2]
        b[0] = 100.0
        return np.sum(squares) + b[0] * b[1]

    x = np.array([2.0, 3.0, 4.0])
    assert grad(f)(x).tolist() == [0.0, 6.0 + 6.0 + 100.0, 0.0]
    assert jvp(f, (x,), (np.ones(3),))[1] == 112.0


@pytest.mark.parametrize("operator", [derivative, grad])
def test_an_inner_gradient_may_be_written_to(operator: Any) -> None:
    def f(t: Any) -> Any:
        g = grad(lambda a: a[0] * a[1])(np.array([2.0, 3.0]))
        g[0] = t * t
        return g[0] * g[1]

    assert operator(f)(5.0) == 20.0
