"""Is the emitted text what a person would have written, and does it mean what the tape says?"""

from __future__ import annotations

import numpy as np
import pytest

from jitad import jit
from jitad.emit.kernel import kernel
from jitad.emit.lower import emit
from jitad.emit.print_python import Expr, apply, literal
from jitad.errors import JitadIndexError
from jitad.late import late
from jitad.tape.build import Builder
from jitad.tape.ir import Pos, lit
from jitad.tape.types import FLOAT, INT, Array, Scalar
from tests.emit import tapes
from tests.emit.running import check, compiled, plain
from tests.emit.tapes import finish

ROSENBROCK = '''\
import numpy as np

from jitad.emit.preamble import accum, fadd, load, zeros


def rosenbrock(x):
    n = x.shape[0]
    g = zeros(np.float64, n)
    s = 0.0
    for i in range(n - 1):
        k2 = i + 1
        t1 = x[i]
        t2 = load(x, k2) - t1 * t1
        t3 = 1.0 - t1
        t4 = 100.0 * t2
        accum(g, -4.0 * t4 * t1 - 2.0 * t3, i)
        accum(g, 2.0 * t4, k2)
        s = fadd(s, t4 * t2 + t3 * t3)
    return (s, g)
'''


def test_golden() -> None:
    assert emit(tapes.rosenbrock()) == ROSENBROCK


@pytest.mark.parametrize("make", [tapes.rosenbrock, tapes.nbody, tapes.newton])
def test_ordinary_programs(make: object) -> None:
    tape = make()  # type: ignore[operator]
    rng = np.random.default_rng(1)
    args = {"rosenbrock": [rng.normal(size=7)], "newton": [2.0],
            "nbody": [rng.normal(size=(5, 3)), rng.uniform(size=5)]}  # fmt: skip
    check(tape, *args[tape.name])


a, b_, c = Expr("a"), Expr("b"), Expr("c")


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda: apply("{0} - {1}", a, apply("{0} - {1}", b_, c)), "a - (b - c)"),
        (lambda: apply("{0} - {1}", apply("{0} - {1}", a, b_), c), "a - b - c"),
        (lambda: apply("{0} * {1}", apply("{0} + {1}", a, b_), c), "(a + b) * c"),
        (lambda: apply("-{0}", apply("{0} + {1}", a, b_)), "-(a + b)"),
        (lambda: apply("-{0}", apply("-{0}", a)), "-(-a)"),
        (lambda: apply("{0} * {1}", a, apply("-{0}", b_)), "a * -b"),
        (lambda: apply("{0} < {1}", apply("{0} < {1}", a, b_), c), "(a < b) < c"),
        (lambda: apply("not {0}", apply("{0} < {1}", a, b_)), "not a < b"),
        (lambda: apply("{0} and {1}", apply("{0} or {1}", a, b_), c), "(a or b) and c"),
        (lambda: apply("exp({0})", apply("{1} if {0} else {2}", a, b_, c)), "exp(b if a else c)"),
        (lambda: apply("{0} + {1}", a, apply("{1} if {0} else {2}", a, b_, c)),
         "a + (b if a else c)"),
        (lambda: literal(lit(-0.0)), "-0.0"),
        (lambda: literal(lit(float("-inf"))), "-np.inf"),
        (lambda: literal(lit(np.float32(0.5))), "np.float32(0.5)"),
        (lambda: literal(lit(True)), "True"),
    ],
)  # fmt: skip
def test_expression(made: object, text: str) -> None:
    assert made().text == text  # type: ignore[operator]


def test_choices_between_numbers_are_no_branches() -> None:
    """Numba takes time quadratic in the basic blocks, so straight-line code should have none."""
    b = Builder()
    x = b.input(FLOAT, "x")
    for k in range(30):
        y = b.emit("mul", x, lit(0.5 + k))
        x = b.emit("where", b.emit("lt", x, y), y, b.emit("mul", x, x))
    tape = finish(b, "f", x)
    source = emit(tape)
    assert " else " not in source and source.count("where(") == 30
    check(tape, 0.3)
    check(tape, -1.7)


def test_positions_are_comments() -> None:
    b = Builder()
    x = b.input(FLOAT, "x")
    b.pos = Pos("/home/someone/model.py", 12)
    y = b.emit("sin", x)
    y = b.emit("mul", y, y)
    b.pos = Pos("/home/someone/model.py", 13)
    source = emit(finish(b, "f", b.emit("add", y, y)))
    assert source.count("# model.py:12") == source.count("# model.py:13") == 1


def test_check_raises_its_class_and_message() -> None:
    b = Builder()
    k = b.input(INT, "k")
    b.emit("check", b.emit("lt", k, lit(3)), exception=JitadIndexError, message="k is too large")
    b.emit("check", b.emit("lt", lit(0), k), exception=ValueError, message="k isn't positive")
    source = emit(finish(b, "f", k))
    for run in (plain(source), compiled(source)):
        assert run(2) == (2,)
        with pytest.raises(JitadIndexError, match="k is too large"):
            run(3)
        with pytest.raises(ValueError, match="k isn't positive"):
            run(0)


def test_print_keeps_its_order(capfd: pytest.CaptureFixture[str]) -> None:
    b = Builder()
    x = b.input(INT, "x")
    b.emit("print", x, late=late("print('x is', {})", 1, lambda values: print("x is", *values)))
    more = b.emit("add", x, lit(1))
    b.emit("print", more, late=late("print({}, 'next')", 1, lambda values: print(*values, "next")))
    source = emit(finish(b, "f", x))
    for run in (plain(source), compiled(source)):
        run(4)
        assert capfd.readouterr().out == "x is 4\n5 next\n"


def test_narrow_types_stay_narrow() -> None:
    b = Builder()
    x = b.input(Array("f4", 1), "x")
    k = b.input(Scalar("i4"), "k")
    y = b.emit("add", b.emit("mul", x, lit(0.1)), lit(3))
    big = b.emit("mul", k, lit(100000))
    source = finish(b, "narrow", y, b.emit("sum", y, axes=(0,)), big, b.emit("lt", k, lit(0.5)))
    text = check(source, np.linspace(0, 1, 5, dtype=np.float32), np.int32(5))
    out = compiled(text)(np.linspace(0, 1, 5, dtype=np.float32), np.int32(5))
    assert out[0].dtype == np.float32


def test_integer_division_by_zero_does_not_crash() -> None:
    b = Builder()
    p, q = b.input(INT, "p"), b.input(INT, "q")
    run = compiled(emit(finish(b, "f", b.emit("floordiv", p, q), b.emit("mod", p, q))))
    run(5, 0)
    run(-(2**63), -1)
    assert run(-7, 2) == (-4, 1)


def test_names_of_functions_and_keywords_are_kept_clear() -> None:
    b = Builder()
    x = b.input(FLOAT, "exp")
    y = b.input(FLOAT, "lambda")
    z = b.input(FLOAT, "self.rate")
    check(finish(b, "def", b.emit("exp", b.emit("mul", x, b.emit("add", y, z)))), 0.5, 2.0, 1.0)


def test_kernel() -> None:
    k = kernel(tapes.rosenbrock())
    s, g = k(np.ones(4))
    assert s == 0.0 and not g.any() and "def rosenbrock" in k.source


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_of_any_layout(n: int, dtype: type) -> None:
    b = Builder()
    code = np.dtype(dtype).str[1:]
    p, q = b.input(Array(code, 2), "p"), b.input(Array(code, 2), "q")
    x = b.input(Array(code, 1), "x")
    turned = b.emit("transpose", p, perm=(1, 0))
    part = b.emit("slice", p, lit(0), lit(1), p.shape[0], lit(0), lit(1), lit(1), kinds="rr")
    pairs = [(p, q), (turned, q), (p, turned), (p, x), (turned, x), (x, q), (x, x), (turned, part)]
    tape = finish(b, "products", *(b.emit("matmul", *pair) for pair in pairs))
    rng = np.random.default_rng(0)
    square = rng.integers(-4, 5, (5, max(n, 1)))[:, :n].astype(dtype)
    if n != 5:
        square = np.zeros((n, n), dtype)
    for a in (square, np.asfortranarray(square)):
        if n:
            check(tape, a, square + 1, square[0].copy())


def test_integer_sums_are_folded_into_their_names() -> None:
    b = Builder()
    n = b.input(INT, "n")
    less = b.emit("sub", b.emit("sub", n, lit(1)), lit(1))
    assert "n - 2" in check(finish(b, "f", less), 5)


def test_a_sum_beside_a_power_waits_for_an_addition_only():
    def polynomial(c, t):
        total, power = 0.0, 1.0
        for k in range(len(c)):
            total += c[k] * power
            power *= t
        return total

    def product(c, t):
        total = 0.0
        for k in range(len(c)):
            total += c[k] * t
        return total

    for f, value, addition in ((polynomial, 1.0 + 1.0 + 0.75, "plus"), (product, 3.0, "fadd")):
        compiled_f = jit(f)
        assert compiled_f(np.array([1.0, 2.0, 3.0]), 0.5) == value
        assert f"{addition}(total, " in compiled_f.source
