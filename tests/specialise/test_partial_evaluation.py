"""Is what a trace knows gone from the residual, wherever it is kept?

Each program is compared with what one would write who had evaluated it by hand: op for op.
"""

from __future__ import annotations

import functools
import math
import operator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from jitad import grad, jit_grad, value_and_grad
from jitad.errors import JitadError
from tests.engines import on_tape
from tests.specialise.test_residual import operations, text
from tests.truth import differences

OF = pytest.mark.parametrize(
    "of", [lambda f: f, grad, value_and_grad, lambda f: grad(grad(f))],
    ids=["value", "grad", "both", "second"],
)  # fmt: skip


class Step(NamedTuple):
    name: str
    weight: float
    times: int


@dataclass
class Settings:
    order: int = 2
    names: list[str] = field(default_factory=lambda: ["sin", "exp"])
    scale: Any = 1.0


# -- what is static in structures that are not ----------------------------------------------------


def by_hand(x: float) -> Any:
    y = np.sin(x) * x
    return np.exp(y * y) + y


def from_tuples(x: float) -> Any:
    plan = (("sin", x, 1), ("exp", None, 2), (), "end")
    y = getattr(np, plan[0][0])(plan[0][1]) * x
    (name, seed, power), rest = plan[1], plan[2:]
    z = y if seed is None else seed
    for _ in range(power - 1):
        z = z * y
    return getattr(np, name)(z) + y if len(rest) == 2 else z


def from_lists(x: float) -> Any:
    stack = [np.exp, "+", [np.sin, x], 3]
    stack.pop()
    f, arg = stack.pop()
    y = f(arg) * arg
    kept = [y if k % 2 else y * y for k in range(4)][2:]
    sign = stack.pop()
    return stack.pop()(kept[0]) + kept[-1] if sign == "+" else kept[0]


def from_dicts(x: float) -> Any:
    env = {"x": x, "depth": 2, "f": {"inner": np.sin, "outer": np.exp}}
    env["y"] = env["f"]["inner"](env["x"]) * env.pop("x")
    env["z"] = functools.reduce(lambda a, _: a * env["y"], range(env["depth"] - 1), env["y"])
    parts = [env["f"]["outer"](env[k]) if k == "z" else env[k] for k in ("z", "y") if k in env]
    return functools.reduce(operator.add, parts)  # sum adds to 0, which is seen at -0.0


def from_objects(x: float) -> Any:
    s = Settings()
    steps = [Step("sin", x, 1), Step("exp", 1.0, s.order)]
    s.scale = getattr(np, steps[0].name)(x) * steps[0].weight
    out = s.scale
    if s.order > 1 and s.names.index("exp") == 1:
        out = getattr(np, steps[1].name)(math.prod([s.scale] * steps[1].times)) + s.scale
    return out


def from_cells(x: float) -> Any:
    count, seen = 0, SimpleNamespace(last=None, done=False)

    def visit(v: Any) -> Any:
        nonlocal count
        count += 1
        seen.last, seen.done = v, count == 2
        return v

    y = visit(np.sin(x) * x)
    z = visit(y * y) if not seen.done else y
    return np.exp(seen.last) + y if seen.done and z is seen.last else z


def from_closures(x: float) -> Any:
    def power(n: int) -> Any:
        return (lambda v: v) if n == 1 else lambda v: v * power(n - 1)(v)

    def then(f: Any, g: Any) -> Any:
        return lambda v: g(f(v), f)

    return then(lambda v: np.sin(v) * v, lambda y, f: np.exp(power(2)(y)) + y)(x)


def from_a_machine(x: float) -> Any:
    """An interpreter is gone, the program that it has interpreted stays."""
    code = [("load", "x"), ("sin",), ("load", "x"), ("mul",), ("store", "y"), ("load", "y"),
            ("load", "y"), ("mul",), ("exp",), ("load", "y"), ("add",), ("halt",)]  # fmt: skip
    stack: list[Any] = []
    names, at = {"x": x}, 0
    while True:
        op, *args = code[at]
        at += 1
        match op:
            case "load":
                stack.append(names[args[0]])
            case "store":
                names[args[0]] = stack.pop()
            case "sin" | "exp":
                stack.append(getattr(np, op)(stack.pop()))
            case "mul" | "add":
                b, a = stack.pop(), stack.pop()
                stack.append(a * b if op == "mul" else a + b)
            case "halt":
                return stack.pop()


@OF
@pytest.mark.parametrize(
    "twin", [from_tuples, from_lists, from_dicts, from_objects, from_cells, from_closures,
             from_a_machine], ids=lambda f: f.__name__,
)  # fmt: skip
def test_static_parts_are_gone(twin: Any, of: Any) -> None:
    assert text(of(twin), 0.7) == text(of(by_hand), 0.7)


# -- the store ------------------------------------------------------------------------------------


def branch_by_hand(x: float) -> Any:
    if x > 0.0:
        y = x * x
    else:
        y = -x
    return y * x


def branch_with_a_store(x: float) -> Any:
    """Each branch has a copy; what both leave alike is known afterwards."""
    box = {"power": 1, "mode": "?", "unused": x}
    if x > 0.0:
        box["power"] += 1
        box["mode"] = "known"
        y = math.prod([x] * box["power"])
        box["power"] -= 1
    else:
        box["mode"] = "".join(["kno", "wn"])
        y = -x if box["power"] == 1 else x
        box["unused"] = np.exp(x)
    return y * math.prod([x] * box["power"]) if box["mode"] == "known" else 0.0


def loop_by_hand(x: float, n: Any) -> Any:
    total = 0.0
    for _ in range(n):
        total = total * x + np.sin(x)
    return total


def loop_with_a_store(x: float, n: Any) -> Any:
    """What the loop leaves as it was is known in it and after it."""
    s = Settings(order=1)
    total, names = 0.0, ["exp"]
    for _ in range(n):
        names.append("sin")
        f = getattr(np, names.pop())
        s.order += 2
        total = total * x if s.order == 3 else 0.0
        s.order -= 2
        s.scale = f(x)
        total += s.scale
    return total if names == ["exp"] and s.order == 1 else -total


@OF
def test_the_store_of_a_branch(of: Any) -> None:
    assert text(of(branch_with_a_store), 0.7) == text(of(branch_by_hand), 0.7)


def test_the_store_of_a_loop() -> None:
    def of(f: Any) -> Any:
        return lambda x, a: value_and_grad(lambda x: f(x, len(a)))(x)

    a = np.ones(3)
    ours, plain = (operations(of(f), 0.7, a) for f in (loop_with_a_store, loop_by_hand))
    assert ours == plain


# -- calls ----------------------------------------------------------------------------------------


def power(x: Any, n: int) -> Any:
    if n == 0:
        return 1.0
    half = power(x, n // 2)
    return half * half * x if n % 2 else half * half


def even(n: int, x: Any) -> Any:
    return x if n == 0 else odd(n - 1, x)


def odd(n: int, x: Any) -> Any:
    return -x if n == 0 else even(n - 1, x)


@OF
def test_calls_on_static_arguments_unfold(of: Any) -> None:
    def by_hand(x: Any) -> Any:
        square = x * x * x  # of x: half * half * x
        return square * square

    assert text(of(lambda x: power(x, 6)), 0.7) == text(of(by_hand), 0.7)
    assert text(of(lambda x: even(7, x)), 0.7) == text(of(lambda x: -x), 0.7)


# -- termination ----------------------------------------------------------------------------------


def forever(n: int, x: Any) -> Any:
    return forever(n + 1, x) if n >= 0 else x


def forever_by_turns(n: int, x: Any) -> Any:
    return backwards(n + 1, x)


def backwards(n: int, x: Any) -> Any:
    return forever_by_turns(n - 1, x)


def endless(x: Any) -> Any:
    k = 0
    while k >= 0:
        k += 1
    return x * k


def growing(x: Any) -> Any:
    seen = [0]
    for k in seen:
        seen.append(k + 1)
    return x


@pytest.mark.parametrize(
    "f", [lambda x: forever(0, x), lambda x: forever_by_turns(0, x), growing],
    ids=["recursion", "mutual", "list"],
)  # fmt: skip
def test_what_does_not_end_is_refused(f: Any) -> None:
    with pytest.raises((JitadError, RecursionError)):
        jit_grad(f)(0.7)


def test_a_loop_that_does_not_end_is_left_in_the_residual() -> None:
    """As the program has it: specialising it ends."""
    assert operations(endless, 0.7)["while"] == 1


def counted_down(x: Any, n: int) -> Any:
    """A static argument that grows for ever, under a condition on traced values."""
    return x if x < 0.5 else counted_down(0.7 * x, n + 1) + n


def grown_meanwhile(x: Any, path: tuple[Any, ...]) -> Any:
    return x * deep(path) if x < 0.5 else grown_meanwhile(0.7 * x, (path,))


def deep(path: tuple[Any, ...]) -> int:
    return 1 + deep(path[0]) if path else 0


def test_recursion_whose_static_arguments_never_repeat() -> None:
    f = lambda x: counted_down(x, 0)
    value, slope = on_tape(value_and_grad(f), 3.0)
    assert value == f(3.0)
    expected, _ = differences(f, (3.0,), (0,), [1.0], step=1e-3)
    assert slope == pytest.approx(expected, rel=1e-9)
    g = lambda x: grown_meanwhile(x, ())  # its tuples are ever deeper
    with pytest.raises(JitadError, match="do not settle"):
        jit_grad(g, fallback=False)(3.0)
    assert grad(g)(3.0) == pytest.approx(6 * 0.7**6, rel=1e-12)
