"""Which named programs, written as tapes by hand, do the sweep tests share?

Each is small and stands for a way of using control flow; `PROGRAMS` gives the block, a point and
the numbers of the active parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jitad.tape.build import Builder
from jitad.tape.ir import Block
from jitad.tape.types import INT, Type, is_float
from jitad.values.number import o
from tests.sweeps.handmade import MATRIX, REAL, VECTOR, for_, if_, tape_of, while_


@dataclass(frozen=True)
class Program:
    """A named tape; `point(n)` gives arguments of size n."""

    name: str
    types: Sequence[tuple[str, Type]]
    function: Callable[..., Any]
    point: Callable[[int], list[Any]]

    @property
    def active(self) -> list[int]:
        return [k for k, (_, t) in enumerate(self.types) if is_float(t)]

    def plainly(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """The results on plain numbers, without a tape."""
        out = self.function(None, *args)
        return out if isinstance(out, tuple) else (out,)

    def block(self) -> Block:
        return tape_of(self.types, self.function)


PROGRAMS: dict[str, Program] = {}


def _program(point: Callable[[int], list[Any]], **types: Type) -> Callable[..., Any]:
    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__name__.strip("_")
        PROGRAMS[name] = Program(name, tuple(types.items()), function, point)
        return function

    return enter


def _vector(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.2, 2.0, n)


def _far(a: Any, b: Any) -> Any:
    return o.logical_or(o.gt(a - b, 1e-8), o.lt(a - b, -1e-8))


# -- straight lines -------------------------------------------------------------------------------


@_program(lambda n: [1.3], x=REAL)
def polynomial(b: Builder | None, x: Any) -> Any:
    return x * x * o.sin(x) + 3.0 * x


@_program(lambda n: [_vector(n), _vector(n, 1)], x=VECTOR, y=VECTOR)
def whole_arrays(b: Builder | None, x: Any, y: Any) -> Any:
    return o.sum(o.sin(x) * y + x / y, axes=(0,)) * o.amax(x, axes=(0,)) + o.matmul(x, y)


@_program(lambda n: [_vector(5)], x=VECTOR)
def elements(b: Builder | None, x: Any) -> Any:
    """Two elements, no more: their adjoints meet in one array."""
    return o.load(x, 1) * o.sin(o.load(x, 3))


@_program(lambda n: [np.random.default_rng(2).normal(size=(n, n)), _vector(n)], a=MATRIX, x=VECTOR)
def layer(b: Builder | None, a: Any, x: Any) -> Any:
    hidden = o.tanh(o.matmul(a, x))
    turned = o.matmul(hidden, a)
    table = o.broadcast(turned, *a.shape, axes=(1,)) * a
    return o.sum(table, axes=(1,)), o.sum(turned, axes=(0,))


# -- loops ----------------------------------------------------------------------------------------


@_program(lambda n: [_vector(n)], x=VECTOR)
def rosenbrock(b: Builder | None, x: Any) -> Any:
    def body(i: Any, s: Any) -> list[Any]:
        p, q = o.load(x, i), o.load(x, i + 1)
        return [s + 100.0 * (q - p * p) * (q - p * p) + (1.0 - p) * (1.0 - p)]

    return for_(b, 0, 1, x.shape[0] - 1, [0.0], body)[0]


@_program(lambda n: [0.7, n], x=REAL, n=INT)
def recurrence(b: Builder | None, x: Any, n: Any) -> Any:
    return for_(b, 0, 1, n, [1.0], lambda i, s: [o.sin(s * x) + s])[0]


@_program(lambda n: [_vector(n)], x=VECTOR)
def log_sum_exp(b: Builder | None, x: Any) -> Any:
    m = o.amax(x, axes=(0,))
    total = for_(b, 0, 1, x.shape[0], [0.0], lambda i, s: [s + o.exp(o.load(x, i) - m)])[0]
    return o.log(total) + m


@_program(lambda n: [_vector(n)], x=VECTOR)
def smoothed(b: Builder | None, x: Any) -> Any:
    """Linear, so nothing is recorded; but the order of the iterations matters."""
    return for_(b, 0, 1, x.shape[0], [0.0], lambda i, s: [0.8 * s + 0.2 * o.load(x, i)])[0]


@_program(lambda n: [_vector(n), 0.7], x=VECTOR, c=REAL)
def weighted_sum(b: Builder | None, x: Any, c: Any) -> Any:
    """The sum's factor meets the sum again, whose adjoint needs the sum."""
    total = for_(b, 0, 1, x.shape[0], [0.0], lambda i, s: [s + c * o.load(x, i)])[0]
    return total * c


@_program(lambda n: [2.0], x=REAL)
def newton(b: Builder | None, x: Any) -> Any:
    root, _ = while_(
        b,
        [x, 0],
        lambda y, k: _far(y * y, x),
        lambda y, k: [0.5 * (y + x / y), k + 1],
    )
    return root


@_program(lambda n: [_vector(n)], x=VECTOR)
def branches(b: Builder | None, x: Any) -> Any:
    def body(i: Any, s: Any, p: Any) -> list[Any]:
        a = o.load(x, i)
        return if_(
            b,
            o.gt(a, p),
            lambda: [0.1 * o.exp(a) * s, a * a],
            lambda: [s + a * p, p * 0.5 + a],
        )

    s, p = for_(b, 0, 1, x.shape[0], [1.0, 0.5], body)
    return s * p


@_program(lambda n: [_vector(n)], x=VECTOR)
def product_from_the_end(b: Builder | None, x: Any) -> Any:
    n = x.shape[0]
    return for_(b, n - 1, -1, n, [1.0], lambda i, s: [s * o.cos(o.load(x, i)) + 0.1 * s * s])[0]


@_program(lambda n: [_vector(n), _vector(4, 1)], x=VECTOR, w=VECTOR)
def nested(b: Builder | None, x: Any, w: Any) -> Any:
    def body(i: Any, s: Any) -> list[Any]:
        xi = o.load(x, i)
        t = for_(b, 0, 1, w.shape[0], [0.1],
                 lambda j, t: [t * 0.9 + o.sin(xi * o.load(w, j) + t)])[0]  # fmt: skip
        return [s + t * t]

    return for_(b, 0, 1, x.shape[0], [0.0], body)[0]


@_program(lambda n: [_vector(n), _vector(n, 1)], x=VECTOR, w=VECTOR)
def triangle(b: Builder | None, x: Any, w: Any) -> Any:
    def body(i: Any, s: Any) -> list[Any]:
        xi = o.load(x, i)

        def inner(j: Any, t: Any) -> list[Any]:
            return if_(
                b,
                o.gt(t, xi),
                lambda: [o.sin(t * 0.3) * xi],
                lambda: [t + o.load(w, j) * s],
            )

        t = for_(b, 0, 1, i + 1, [s], inner)[0]
        return [s * 0.5 + o.cos(t) * 0.1]

    return for_(b, 0, 1, x.shape[0], [0.3], body)[0]


@_program(lambda n: [_vector(n)], x=VECTOR)
def inner_while(b: Builder | None, x: Any) -> Any:
    def body(i: Any, s: Any) -> list[Any]:
        xi = o.load(x, i)
        y = while_(b, [xi], lambda y: _far(y * y, xi), lambda y: [0.5 * (y + xi / y)])[0]
        return [0.5 * s + y * s]

    return for_(b, 0, 1, x.shape[0], [0.3], body)[0]


# -- arrays written to ----------------------------------------------------------------------------


@_program(lambda n: [_vector(n)], x=VECTOR)
def fill_in_place(b: Builder | None, x: Any) -> Any:
    n = x.shape[0]
    a = o.full(0.0, n, dtype="f8")
    a = for_(b, 0, 1, n, [a], lambda i, a: [o.store(a, o.sin(o.load(x, i)), i)])[0]
    a = for_(b, 1, 1, n - 1, [a],
             lambda i, a: [o.store(a, o.load(a, i) * o.load(a, i - 1), i)])[0]  # fmt: skip
    return for_(b, 0, 1, n, [0.0], lambda i, s: [s + o.load(a, i) * o.load(a, i)])[0]


@_program(lambda n: [_vector(n)], x=VECTOR)
def every_second(b: Builder | None, x: Any) -> Any:
    """The counter is the user's own, with a step of two."""
    n = x.shape[0]
    s, _ = while_(
        b,
        [1.0, 0],
        lambda s, i: o.lt(i, n),
        lambda s, i: [s * o.cos(o.load(x, i)) + 0.1 * s * s, i + 2],
    )
    return s


@_program(lambda n: [_vector(n), 0, 0], x=VECTOR, i=INT, j=INT)
def equal_indices(b: Builder | None, x: Any, i: Any, j: Any) -> Any:
    """Two variables, one place."""
    first = o.load(x, i)
    a = o.store(o.copy(x), first * first, i)
    return o.load(a, j) * o.sin(first)


@_program(lambda n: [_vector(n), 0.8], x=VECTOR, c=REAL)
def scalar_among_arrays(b: Builder | None, x: Any, c: Any) -> Any:
    return o.sum(o.pow(x * c + 1.0, c) / (x + c), axes=(0,))


@_program(lambda n: [_vector(n), _vector(n + 1, 1)], x=VECTOR, y=VECTOR)
def joined(b: Builder | None, x: Any, y: Any) -> Any:
    total = x.shape[0] + y.shape[0]
    both = o.concatenate(x, y, total, axis=0)
    return o.sum(both * o.slice(both, total - 1, -1, total, kinds="r"), axes=(0,))


@_program(lambda n: [_vector(n), _vector(n, 1)], x=VECTOR, y=VECTOR)
def chosen_elements(b: Builder | None, x: Any, y: Any) -> Any:
    return o.sum(o.where(o.gt(x, y), x * y, o.sin(y)), axes=(0,))


@_program(lambda n: [_vector(n + 2), 0.6], x=VECTOR, c=REAL)
def overwritten_slice(b: Builder | None, x: Any, c: Any) -> Any:
    """What is read before counts, what is overwritten does not."""
    n = x.shape[0]
    head = o.slice(x, 0, 1, n - 1, kinds="r")
    y = o.store_slice(x, o.sin(head), 1, 1, n - 1, kinds="r")
    y = o.store_slice(y, c, 0, 1, 2, kinds="r")
    return o.sum(y * y, axes=(0,)) + o.load(x, 1)


@_program(lambda n: [_vector(n), 1.5], x=VECTOR, c=REAL)
def loop_in_a_branch(b: Builder | None, x: Any, c: Any) -> Any:
    """Only one branch has anything to record."""

    def looped() -> list[Any]:
        step = lambda i, s: [o.sin(s * o.load(x, i)) + c]
        return for_(b, 0, 1, x.shape[0], [c], step)

    def body(i: Any, s: Any) -> list[Any]:
        return if_(b, o.gt(o.load(x, i), 1.0), looped, lambda: [s * c])

    return for_(b, 0, 1, x.shape[0], [c], body)[0]


@_program(lambda n: [_vector(n)], x=VECTOR)
def written_twice(b: Builder | None, x: Any) -> Any:
    """Of two stores at one place the last wins."""
    n = x.shape[0]
    a = o.full(0.1, n, dtype="f8")
    return for_(b, 0, 1, n, [a], lambda i, a: [o.store(a, o.sin(o.load(x, i)), i // 2)])[0]


@_program(lambda n: [_vector(n + 1)], x=VECTOR)
def written_through_a_choice(b: Builder | None, x: Any) -> Any:
    """Which of two arrays is written to, is decided anew in each round."""

    def body(i: Any, p: Any, q: Any) -> list[Any]:
        here = o.load(x, i)
        (chosen,) = if_(b, o.gt(here, 1.0), lambda: [p], lambda: [q])
        before = o.load(chosen, i) * o.load(chosen, i - 1) * o.load(chosen, 0)
        return [o.store(chosen, o.sin(before) + here, i), q]

    p, q = for_(b, 1, 1, x.shape[0] - 1, [o.copy(x), o.sin(x)], body)
    return o.sum(p * q, axes=(0,))


@_program(lambda n: [_vector(n), 4], u=VECTOR, steps=INT)
def burgers(b: Builder | None, start: Any, steps: Any) -> Any:
    n = start.shape[0]

    def step(t: Any, u: Any, un: Any) -> list[Any]:
        def inner(i: Any, un: Any) -> list[Any]:
            here, left = o.load(u, i), o.load(u, i - 1)
            return [o.store(un, here - 0.1 * here * (here - left), i)]

        return [for_(b, 1, 1, n - 1, [un], inner)[0], u]

    u, _ = for_(b, 0, 1, steps, [o.copy(start), o.copy(start)], step)
    return o.sum(u * u, axes=(0,))


@_program(lambda n: [_vector(n), 3], u=VECTOR, steps=INT)
def heat_by_slices(b: Builder | None, start: Any, steps: Any) -> Any:
    n = start.shape[0]

    def part(u: Any, first: int) -> Any:
        return o.slice(u, first, 1, n - 2, kinds="r")

    def step(t: Any, u: Any) -> list[Any]:
        change = part(u, 0) - 2.0 * part(u, 1) + part(u, 2)
        u = o.accum_slice(u, 0.1 * change * part(u, 1), 1, 1, n - 2, kinds="r")
        return [o.store(u, o.load(u, 1) * o.load(u, 1), 0)]

    return for_(b, 0, 1, steps, [o.copy(start)], step)[0]
