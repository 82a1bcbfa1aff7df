"""Hand-made tapes: helpers over Builder, and the ordinary shapes of numerical programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitad.tape.build import Builder
from jitad.tape.ir import Atom, Tape, Var, lit
from jitad.tape.types import FLOAT, INT, Array, Scalar

VECTOR, MATRIX = Array("f8", 1), Array("f8", 2)


def loop(b: Builder, count: Any, init: list[Atom], body: Callable[..., Any], *, start: Any = 0,
         step: Any = 1, names: str = "", index: str = "i") -> tuple[Var, ...]:  # fmt: skip
    """`for`, the body given as a function of the index and the carried values."""
    labels = names.split() or [""] * len(init)
    params = [Var(Scalar(a.type.dtype) if isinstance(a.type, Scalar) else a.type, a.shape, name)
              for a, name in zip(init, labels, strict=True)]  # fmt: skip
    i = Var(INT, (), index)
    with b.block(i, *params) as block:
        out = body(i, *params)
        block.results = list(out) if isinstance(out, tuple) else [out]
    outs = tuple(Var(p.type, p.shape, p.name) for p in params)
    ins = (b.atom(start), b.atom(step), b.atom(count), *init)
    return b.structured("for", ins, outs, (block,))


def branch(b: Builder, test: Atom, then: Callable[[], list[Atom]],
           other: Callable[[], list[Atom]]) -> tuple[Var, ...]:  # fmt: skip
    blocks = []
    for side in (then, other):
        with b.block() as block:
            block.results = side()
        blocks.append(block)
    outs = tuple(Var(a.type, a.shape) for a in blocks[0].results)
    return b.structured("if", (test,), outs, tuple(blocks))


def finish(b: Builder, name: str, *results: Atom) -> Tape:
    b.blocks[0].results = list(results)
    return Tape(name, b.blocks[0])


def _point(b: Builder, u: Var, i: Var) -> Any:
    left, here, right = (b.emit("load", u, b.emit("add", i, lit(k))) for k in (-1, 0, 1))
    flow = b.emit("add", b.emit("sub", right, b.emit("mul", lit(2.0), here)), left)
    return b.emit("add", here, b.emit("mul", lit(0.1), flow))


def heat_swapped() -> Tape:
    """Two buffers, `un[i] = ...` in a loop, then `u, un = un, u`."""
    b = Builder()
    u, nt = b.input(VECTOR, "u0"), b.input(INT, "nt")
    n = u.shape[0]
    inner = b.emit("sub", n, lit(2))

    def time(t: Var, u: Var, un: Var) -> Any:
        def space(i: Var, un: Var) -> Any:
            return b.emit("store", un, _point(b, u, i), i)

        (un,) = loop(b, inner, [un], space, start=1, names="un")
        return un, u

    u, _ = loop(b, nt, [b.emit("copy", u), b.emit("copy", u)], time, names="u un", index="t")
    return finish(b, "heat", u)


def heat_fresh() -> Tape:
    """A new array each time step, carried."""
    b = Builder()
    u, nt = b.input(VECTOR, "u0"), b.input(INT, "nt")
    n = u.shape[0]
    inner = b.emit("sub", n, lit(2))

    def time(t: Var, u: Var) -> Any:
        un = b.emit("full", lit(0.0), n, dtype="f8")
        (un,) = loop(b, inner, [un], lambda i, un: b.emit("store", un, _point(b, u, i), i),
                     start=1, names="un")  # fmt: skip
        return un

    (u,) = loop(b, nt, [b.emit("copy", u)], time, names="u", index="t")
    return finish(b, "heat", u)


def heat_slices() -> Tape:
    """u[1:-1] += c * (u[2:] - 2 u[1:-1] + u[:-2]), in place over time."""
    b = Builder()
    u, nt = b.input(VECTOR, "u0"), b.input(INT, "nt")
    n = u.shape[0]
    inner = b.emit("sub", n, lit(2))

    def time(t: Var, u: Var) -> Any:
        left, here, right = (
            b.emit("slice", u, lit(k), lit(1), inner, kinds="r") for k in (0, 1, 2)
        )
        flow = b.emit("add", b.emit("sub", right, b.emit("mul", lit(2.0), here)), left)
        flow = b.emit("mul", lit(0.1), flow)
        return b.emit("accum_slice", u, flow, lit(1), lit(1), inner, kinds="r")

    (u,) = loop(b, nt, [b.emit("copy", u)], time, names="u", index="t")
    return finish(b, "heat", u)


def outer_adjoint() -> Tape:
    """xbar[i] += ..., ybar[j] += ... in a loop nest."""
    b = Builder()
    x, y = b.input(VECTOR, "x"), b.input(VECTOR, "y")
    n, m = x.shape[0], y.shape[0]
    xbar = b.emit("full", lit(0.0), n, dtype="f8")
    ybar = b.emit("full", lit(0.0), m, dtype="f8")

    def rows(i: Var, xbar: Var, ybar: Var) -> Any:
        def columns(j: Var, xbar: Var, ybar: Var) -> Any:
            p, q = b.emit("load", x, i), b.emit("load", y, j)
            s = b.emit("sin", b.emit("mul", p, q))
            return (b.emit("accum", xbar, b.emit("mul", s, q), i),
                    b.emit("accum", ybar, b.emit("mul", s, p), j))  # fmt: skip

        return loop(b, m, [xbar, ybar], columns, names="xbar ybar", index="j")

    return finish(b, "outer", *loop(b, n, [xbar, ybar], rows, names="xbar ybar"))


def rosenbrock() -> Tape:
    """Value and gradient in one loop."""
    b = Builder()
    x = b.input(VECTOR, "x")
    n = x.shape[0]
    g = b.emit("full", lit(0.0), n, dtype="f8")

    def body(i: Var, s: Var, g: Var) -> Any:
        nxt = b.emit("add", i, lit(1))
        p, q = b.emit("load", x, i), b.emit("load", x, nxt)
        r = b.emit("sub", q, b.emit("mul", p, p))
        t = b.emit("sub", lit(1.0), p)
        hundred = b.emit("mul", lit(100.0), r)
        s = b.emit("add", s, b.emit("add", b.emit("mul", hundred, r), b.emit("mul", t, t)))
        down = b.emit("sub", b.emit("mul", b.emit("mul", lit(-4.0), hundred), p),
                      b.emit("mul", lit(2.0), t))  # fmt: skip
        g = b.emit("accum", g, down, i)
        return s, b.emit("accum", g, b.emit("mul", lit(2.0), hundred), nxt)

    count = b.emit("sub", n, lit(1))
    return finish(b, "rosenbrock", *loop(b, count, [lit(0.0), g], body, names="s g"))


def nbody() -> Tape:
    """Energy's gradient: a triangular nest over positions (n, 3)."""
    b = Builder()
    x, mass = b.input(MATRIX, "x"), b.input(VECTOR, "m")
    n = x.shape[0]
    g = b.emit("full", lit(0.0), n, lit(3), dtype="f8")

    def first(i: Var, e: Var, g: Var) -> Any:
        def second(j: Var, e: Var, g: Var) -> Any:
            d = [b.emit("sub", b.emit("load", x, i, lit(k)), b.emit("load", x, j, lit(k)))
                 for k in range(3)]  # fmt: skip
            r2: Any = lit(0.01)
            for c in d:
                r2 = b.emit("add", r2, b.emit("mul", c, c))
            r = b.emit("sqrt", r2)
            mm = b.emit("mul", b.emit("load", mass, i), b.emit("load", mass, j))
            e = b.emit("sub", e, b.emit("div", mm, r))
            f = b.emit("div", mm, b.emit("mul", r2, r))
            for k, c in enumerate(d):
                g = b.emit("accum", g, b.emit("mul", f, c), i, lit(k))
                g = b.emit("accum", g, b.emit("mul", b.emit("neg", f), c), j, lit(k))
            return e, g

        rest = b.emit("sub", b.emit("sub", n, i), lit(1))
        return loop(b, rest, [e, g], second, start=b.leaf(b.emit("add", i, lit(1))),
                    names="e g", index="j")  # fmt: skip

    return finish(b, "nbody", *loop(b, n, [lit(0.0), g], first, names="e g"))


def chain() -> Tape:
    """Sum of exp(sin(x) * y) + x, elementwise."""
    b = Builder()
    x, y = b.input(VECTOR, "x"), b.input(VECTOR, "y")
    e = b.emit("exp", b.emit("mul", b.emit("sin", x), y))
    return finish(b, "chain", b.emit("sum", b.emit("add", e, x), axes=(0,)))


def newton() -> Tape:
    """A data-dependent `while` over scalars."""
    b = Builder()
    a = b.input(FLOAT, "a")
    tested, x = Var(FLOAT, (), "x"), Var(FLOAT, (), "x")
    with b.block(tested) as cond:
        gap = b.emit("abs", b.emit("sub", b.emit("mul", tested, tested), a))
        cond.results = [b.emit("gt", gap, lit(1e-9))]
    with b.block(x) as body:
        body.results = [b.emit("mul", lit(0.5), b.emit("add", x, b.emit("div", a, x)))]
    (root,) = b.structured("while", (a,), (Var(FLOAT, (), "x"),), (cond, body))
    return finish(b, "newton", root)
