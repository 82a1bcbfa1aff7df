"""Do the operators take arguments as documented, and explain themselves when they can't?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from jitad.errors import JitadError, JitadTypeError, JitadValueError
from jitad.runtime import derivative, grad, jvp, value_and_grad, vjp
from jitad.values.number import o


class Net(NamedTuple):
    weight: Any
    bias: Any


@dataclass(frozen=True)
class Model:
    net: Net
    scale: float
    depth: int
    name: str


def test_argnums() -> None:
    f = lambda x, y, z: x * y**2 + z
    assert grad(f)(2.0, 3.0, 5.0) == 9.0
    assert grad(f, 1)(2.0, 3.0, 5.0) == 12.0
    assert grad(f, -1)(2.0, 3.0, 5.0) == 1.0
    assert grad(f, (2, 0))(2.0, 3.0, 5.0) == (1.0, 9.0)
    assert grad(f, (0,))(2.0, 3, z=5.0) == (9.0,)
    assert value_and_grad(f, (0, 1))(2.0, 3.0, 5.0) == (23.0, (9.0, 12.0))
    with pytest.raises(JitadValueError, match="argnums=3 with 3 positional"):
        grad(f, 3)(2.0, 3.0, 5.0)


def test_structured_argument() -> None:
    def f(models: dict[str, Model], k: float) -> Any:
        m = models["a"]
        out = m.net.bias
        for _ in range(m.depth):
            out = out * m.net.weight[0] + m.net.weight[1]
        return out * m.scale * k if m.name == "net" else 0.0

    a = Model(Net([2.0, 3.0], 5.0), 0.5, 2, "net")
    got = grad(f)({"a": a}, 4.0)["a"]
    # ((5 w0 + w1) w0 + w1) * 2: by w0 2 (10 w0 + w1), by w1 2 (w0 + 1), by bias 2 w0^2
    assert got == Model(Net([46.0, 6.0], 8.0), 116.0, 0, "net")
    value, tangent = jvp(f, ({"a": a}, 4.0), ({"a": got}, 1.0))
    assert value == 58.0
    assert tangent == 46.0**2 + 6.0**2 + 8.0**2 + 116.0**2 + 58.0 / 4.0


def test_kinds_of_results() -> None:
    for kind, dtype in ((float, float), (np.float64, float), (np.float32, np.float32)):
        assert type(grad(lambda t: t * t)(kind(2.0))) is dtype
        assert type(derivative(lambda t: t * t)(kind(2.0))) is dtype
    value, gradient = value_and_grad(lambda p: o.sin(p[0]))((1.0, 2.0))
    assert type(value) is float and gradient[1] == 0.0
    assert derivative(lambda t: (t, 3, None, [1.0, "s"]))(1.0) == (1.0, 0.0, None, [0.0, "s"])


def test_vjp_of_structures() -> None:
    value, pull = vjp(lambda x, n: {"a": x * n, "b": (n, x * x)}, 3.0, 2)
    assert value == {"a": 6.0, "b": (2, 9.0)}
    assert pull({"b": (0, 1.0), "a": 10}) == (26.0, 0)
    assert pull({"a": 1.0, "b": (0, 0.0)}) == (2.0, 0)  # as often as one likes


def fails(call: Callable[[], Any], kind: type[JitadError], *parts: str) -> None:
    with pytest.raises(kind) as e:
        call()
    for part in parts:
        assert part in str(e.value), str(e.value)


def test_misuse_is_explained() -> None:
    def f(x: Any, count: Any) -> Any:
        return x * count

    fails(lambda: grad(f, 1)(2.0, 3), JitadTypeError,
          "grad: argument 1 (count) has no floats", "int, 3", "3.0 instead of 3",
          "test_operators.py", "fails(lambda: grad(f, 1)(2.0, 3)")  # fmt: skip
    fails(lambda: grad(f)(True, 1.0), JitadTypeError, "bool, True")
    fails(lambda: derivative(f)(3, 1.0), JitadTypeError, "derivative: argument 0 (x)", "int")
    fails(lambda: grad(f)("text", 1.0), JitadTypeError, "str")
    fails(lambda: grad(f)([1, 2], 1.0), JitadTypeError, "has no floats", "list")
    fails(lambda: grad(f)(1j, 1.0), JitadTypeError, "complex", "real and imaginary")
    fails(lambda: grad(f)({"a": 1.0, "b": {2.0}}, 1.0), JitadTypeError,
          "argument 0 (x) at ['b'] is a set", "plain tuple, list or dict")  # fmt: skip
    fails(lambda: grad(f)((1.0, object()), 1.0), JitadTypeError, "register_structure")
    fails(lambda: grad(lambda x: [x, x])(1.0), JitadTypeError,
          "non-scalar output", "<lambda> returned a list", "vjp")  # fmt: skip
    fails(lambda: grad(lambda x: "text")(1.0), JitadTypeError, "returned a str")
    fails(lambda: grad(lambda x: lambda y: x)(1.0), JitadTypeError, "returned a function")
    fails(lambda: vjp(lambda x: {"a": [x]}, 1.0)[1]({"a": [[1.0]]}), JitadValueError,
          "the sensitivity must have the structure of the output", "at ['a'][0]")  # fmt: skip
    fails(lambda: vjp(lambda x: [x], 1.0)[1](["one"]), JitadValueError,
          "the sensitivity at [0] must have shape (), but is a str")  # fmt: skip
    fails(lambda: jvp(f, (1.0, 2.0), (1.0,)), JitadValueError, "2 primals with 1 tangents")
    fails(lambda: jvp(f, ([1.0], 2.0), ([1.0, 2.0], 1.0)), JitadValueError,
          "tangent 0 must have the structure of primal 0", "expected 1 elements")  # fmt: skip


def test_arrays_in_and_out() -> None:
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    got = grad(lambda a: a[0, 1] * a[1, 0])(x)
    assert type(got) is np.ndarray and got.tolist() == [[0.0, 3.0], [2.0, 0.0]]
    single = grad(lambda a: a[0] * a[1] * a[1])(np.array([2.0, 3.0], np.float32))
    assert single.dtype == np.float32 and single.tolist() == [9.0, 12.0]
    got[0, 0] = 7.0  # a fresh, writable array
    value, pull = vjp(lambda a: a, x)
    assert value is not x and value.tolist() == x.tolist()
    back = pull(got)[0]
    assert back.tolist() == got.tolist() and not np.shares_memory(back, got)
    value, tangent = jvp(lambda a: (a, 3), (x,), (got,))
    assert value[0].tolist() == x.tolist() and not np.shares_memory(value[0], x)
    assert tangent[0].tolist() == got.tolist() and not np.shares_memory(tangent[0], got)
    assert np.array_equal(grad(lambda a: 2.0)(x), np.zeros((2, 2)))
    fails(lambda: vjp(lambda a: a, x)[1](np.ones(4)), JitadValueError, "shape (2, 2)", "(4,)")
    fails(lambda: grad(lambda a: a)(x), JitadTypeError, "an array of shape (2, 2)")
    fails(lambda: grad(lambda a: a[0])(np.arange(3)), JitadTypeError, "has no floats")
    fails(lambda: grad(lambda a: a[0])(np.zeros(2, complex)), JitadTypeError, "complex128 array")
    fails(lambda: grad(lambda a: a[0])(np.array([None])), JitadTypeError, "object array")


def test_arrays_may_change_after_the_call() -> None:
    x = np.array([2.0, 3.0])
    _, pull = vjp(lambda a: a[0] * a[1], x)
    late = jvp(lambda a: lambda y: a[0] * a[1] * y, (x,), (np.ones(2),))[1]
    x[:] = 100.0
    assert pull(1.0)[0].tolist() == [3.0, 2.0]
    assert late(10.0) == 50.0


def test_the_callers_arrays_are_not_written() -> None:
    x, w = np.array([1.0, 2.0]), np.array([3.0, 4.0])

    def f(a: Any, b: Any) -> Any:
        a[0] = a[1] * b[0]
        b[0] = 100.0
        return a[0] * a[1]

    for operator in (grad(f), grad(f, 1), grad(f, (0, 1)), lambda *p: vjp(f, *p)[1](1.0),
                     lambda *p: jvp(f, p, p)):  # fmt: skip
        operator(x, w)
        assert x.tolist() == [1.0, 2.0] and w.tolist() == [3.0, 4.0]
    assert grad(f, (0, 1))(x, w)[0].tolist() == [0.0, 12.0]
    assert grad(f, (0, 1))(x, w)[1].tolist() == [4.0, 0.0]
    # the same array twice: two arguments, as NumPy would not have it
    assert [g.tolist() for g in grad(f, (0, 1))(x, x)] == [[0.0, 4.0], [4.0, 0.0]]
