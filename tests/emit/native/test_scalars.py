"""Truth: mpmath to 40 digits for values, NumPy and SciPy for special operands."""

import ast
import builtins
import math

import mpmath
import numpy as np
import pytest

from jitad.emit import native, preamble
from jitad.emit.libraries import libm
from jitad.primitives import TABLE

mpmath.mp.dps = 40

# name -> (mpmath function, operands); ranges keep away from overflow, and from the zeros where the
# relative error of a faithful C library may be a few ulp more
UNARY = {
    "sqrt": (mpmath.sqrt, (0.01, 0.5, 2.0, 1e200)),
    "cbrt": (lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), (-8.0, 0.3, 27.5)),
    "exp": (mpmath.exp, (-30.0, -0.5, 1e-5, 3.0, 300.0)),
    "exp2": (lambda x: mpmath.power(2, x), (-3.5, 0.25, 10.5)),
    "expm1": (mpmath.expm1, (-3.0, 1e-9, 2.0)),
    "log": (mpmath.log, (1e-300, 0.3, 1.001, 7e10)),
    "log2": (lambda x: mpmath.log(x, 2), (0.3, 7.7)),
    "log10": (mpmath.log10, (0.3, 7.7)),
    "log1p": (mpmath.log1p, (-0.5, 1e-12, 4.0)),
    "sin": (mpmath.sin, (-2.0, 0.5, 1e3)),
    "cos": (mpmath.cos, (-2.0, 0.5, 1e3)),
    "tan": (mpmath.tan, (-1.0, 0.5)),
    "asin": (mpmath.asin, (-0.9, 0.3)),
    "acos": (mpmath.acos, (-0.9, 0.3)),
    "atan": (mpmath.atan, (-3.0, 0.3)),
    "sinh": (mpmath.sinh, (-3.0, 1e-4, 10.0)),
    "cosh": (mpmath.cosh, (-3.0, 10.0)),
    "tanh": (mpmath.tanh, (-3.0, 1e-4, 1.0)),
    "asinh": (mpmath.asinh, (-3.0, 1e-4)),
    "acosh": (mpmath.acosh, (1.5, 30.0)),
    "atanh": (mpmath.atanh, (-0.9, 1e-4)),
    "erf": (mpmath.erf, (-1.5, 1e-3, 0.7)),
    "erfc": (mpmath.erfc, (-1.0, 0.5, 5.0)),
    "gamma": (mpmath.gamma, (0.3, 4.5, -1.5, 50.0)),
    "lgamma": (mpmath.loggamma, (0.3, 4.5, 1e5)),
    "digamma": (mpmath.digamma, (0.1, 1.4, 3.7, 100.0, -0.4)),
    "expit": (lambda x: 1 / (1 + mpmath.exp(-x)), (-700.0, -20.0, -0.5, 0.5, 20.0)),
    "square": (lambda x: x * x, (-3.3,)),
    "reciprocal": (lambda x: 1 / x, (-3.3,)),
}
BINARY = {
    "atan2": (mpmath.atan2, ((1.0, -2.0), (-0.5, 0.25))),
    "hypot": (mpmath.hypot, ((3.0, 0.1), (1e200, 1e200))),
    "logaddexp": (
        lambda a, b: mpmath.log(mpmath.exp(a) + mpmath.exp(b)),
        ((1.0, 2.0), (800.0, 799.0), (0.5, 0.5), (3.0, -30.0)),
    ),
    "polygamma": (
        lambda n, x: mpmath.polygamma(int(n), x),
        ((0.0, 2.5), (1.0, 0.2), (1.0, 1e6), (2.0, 3.3), (3.0, 12.0), (7.0, 0.9), (1.0, -0.5)),
    ),
    "pow": (mpmath.power, ((2.5, -3.7), (2.5, 2.0), (0.1, 300.0), (-1.5, 3.0), (7.0, -4.0))),
    "fmod": (mpmath.mpf.__mod__, ((7.5, 2.0), (1e3, 0.7))),
}
CHOICE = ("maximum", "minimum", "fmax", "fmin", "highest", "lowest", "copysign")
ROUND = ("sign", "floor", "ceil", "trunc", "rint", "isnan", "isinf", "isfinite")
SPECIAL = (math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 2.5, -2.5)


def _kernel(names, arity):
    """One function that gives what each name gives, as a tuple, and one that fills rows."""
    operands = ", ".join("xy"[:arity])
    calls = ", ".join(f"{name}({operands})" for name in names)
    element = operands.replace("x", "x[i]").replace("y", "y[i]")
    stores = "".join(f"        out[{k}, i] = {name}({element})\n" for k, name in enumerate(names))
    text = f"from jitad.emit.preamble import {', '.join(names)}\n\n"
    scalar = native.compile(text + f"def f({operands}):\n    return ({calls},)\n", "f")
    text += f"def rows({operands}, out):\n    for i in range(x.shape[0]):\n{stores}"
    return scalar, native.compile(text, "rows")


@pytest.fixture(scope="module")
def kernels():
    return {
        "unary": _kernel([*UNARY, *ROUND], 1),
        "binary": _kernel([*BINARY, *CHOICE], 2),
    }


def _ulps(got, true):
    true = mpmath.mpf(true)
    return float(abs(mpmath.mpf(float(got)) - true) / mpmath.mpf(np.spacing(abs(float(true)))))


@pytest.mark.parametrize("kind, table", [("unary", UNARY), ("binary", BINARY)])
def test_values_are_exact_to_a_few_ulp(kernels, kind, table):
    scalar, rows = kernels[kind]
    for k, (name, (truth, points)) in enumerate(table.items()):
        points = [p if isinstance(p, tuple) else (p,) for p in points]
        columns = [np.array(c) for c in zip(*points, strict=True)]
        out = np.empty((len(scalar(*points[0])), len(points)))
        rows(*columns, out)
        for i, p in enumerate(points):
            true = truth(*map(mpmath.mpf, p))
            many = 16 if name in ("digamma", "polygamma", "gamma", "fmod") else 4
            assert _ulps(scalar(*p)[k], true) <= many, (name, p)
            assert _ulps(out[k, i], true) <= many, (name, p)
            assert _ulps(getattr(preamble, name)(*p), true) <= 64, (name, p)  # plain Python


def test_special_operands_are_as_in_numpy_and_scipy(kernels):
    for kind, names in (("unary", [*UNARY, *ROUND]), ("binary", [*BINARY, *CHOICE])):
        scalar, _ = kernels[kind]
        points = [(a,) for a in SPECIAL]
        if kind == "binary":
            points = [(a, b) for a in SPECIAL for b in SPECIAL]
        for p in points:
            got = scalar(*p)
            for k, name in enumerate(names):
                if name == "polygamma":
                    continue  # SciPy gives no value where there is one: tested against mpmath
                true = getattr(preamble, name)(*p)
                np.testing.assert_allclose(got[k], true, rtol=1e-14, err_msg=f"{name}{p}")
                if name not in ("sqrt", *CHOICE[:6]) and not np.isnan(true):
                    assert np.signbit(float(got[k])) == np.signbit(float(true)), (name, p)


def test_float32_stays_float32():
    names = [n for n in UNARY if n not in ("acosh", "atanh")]
    _, rows = _kernel(names, 1)
    x = np.linspace(0.1, 0.9, 17, dtype=np.float32)
    out = np.empty((len(names), 17), np.float32)
    rows(x, out)
    for k, name in enumerate(names):
        true = getattr(preamble, name)(x.astype(np.float64))
        np.testing.assert_allclose(out[k], true, rtol=2e-6, atol=1e-7, err_msg=name)
    f = native.compile("from jitad.emit.preamble import exp\ndef f(x): return exp(x)\n", "f")
    f(np.float32(1.0))
    assert str(f.nopython_signatures[0].return_type) == "float32"


def test_integers():
    text = """
from jitad.emit.preamble import pow, fmod, maximum, minimum, sign, square, floor, exp, isnan, fadd
def f(a, b):
    return (pow(a, b), fmod(a, b), maximum(a, b), minimum(a, b), sign(a), square(a), floor(a),
            exp(a), isnan(a), fadd(a, b))
"""
    f = native.compile(text, "f")
    for a, b in ((7, 3), (-7, 3), (7, 0), (-1, 5), (2, 62), (-(2**63), -1), (3, 0)):
        got = f(a, b)
        power = a**b if b >= 0 else 0
        if a == -(2**63):
            power = 0
        assert got[0] == power
        assert got[1] == (0 if b in (0, -1) else int(math.fmod(a, b)))
        assert got[2:5] == (max(a, b), min(a, b), (a > 0) - (a < 0))
        assert got[6] == a and got[8] is False
        assert all(isinstance(v, int) for v in (*got[:7], got[9]))


_FLAGS = ("right", "turned", "lower", "unit", "inverse", "below", "above", "upper",
          "diagonals")  # which code shows


def test_every_name_that_rows_emit_is_known():
    for row in TABLE.values():
        if not row.emit or "{" not in row.emit:
            continue
        given = {**dict.fromkeys(_FLAGS, True), "by": "syevd"}  # the name of a routine
        text = row.emit.format(*"abcdefgh", all="a, b", **given)
        tree = ast.parse(text, mode="eval")
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id not in "abcdefgh":
                assert node.id in preamble.__all__ or hasattr(builtins, node.id), row.name


@pytest.mark.skipif(not libm.HAS_LIBMVEC, reason="no libmvec on this machine")
def test_loops_over_functions_of_the_c_library_vectorise():
    one = "from jitad.emit.preamble import {0}\ndef f(x, out):\n    for i in range(x.shape[0]):\n"
    for name, body in {
        "exp": "        out[i] = exp(x[i])\n",
        "log": "        out[i] = log(x[i]) if x[i] > 0.5 else 0.0\n",  # under a condition, too
    }.items():
        f = native.compile(one.format(name) + body, "f")
        x = np.linspace(0.0, 1.0, 33)
        f(x, np.empty(33))
        code = f.inspect_asm(f.signatures[0])
        assert f"_ZGVdN4v_{name}" in code or f"_ZGVeN8v_{name}" in code, name


def test_sums_vectorise_without_fast_math():
    text = """
from jitad.emit.preamble import fadd
def f(x):
    s = 0.0
    for i in range(x.shape[0]):
        s = fadd(s, x[i])
    return s
"""
    f = native.compile(text, "f")
    x = np.arange(1001.0)
    assert f(x) == 500500.0
    code = f.inspect_asm(f.signatures[0])
    assert "vaddpd" in code or "addpd" in code
    strict = native.compile(text.replace("fadd(s, x[i])", "s + x[i]"), "f")
    assert strict(x) == 500500.0
    code = strict.inspect_asm(strict.signatures[0])
    assert "vaddpd" not in code


HALVES = (-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5)


def test_powers_halfway_between_integers_are_roots_and_products():
    powers = ", ".join(f"pow(x, {n})" for n in HALVES)
    f = native.compile(f"from jitad.emit.preamble import pow\ndef f(x): return ({powers})\n", "f")
    for x in (2.5, 0.3, 1.7e-70, 3.1e70, 1e300, 1e-300, 1e-205, 1e206, 5e-324, 1.7e308):
        for n, got in zip(HALVES, f(x), strict=True):
            true = mpmath.power(mpmath.mpf(x), n)
            if 1e-307 < true < 1e308:
                assert _ulps(got, true) <= 4, (x, n)
            else:
                np.testing.assert_allclose(got, float(true), rtol=1e-9, err_msg=f"{x} {n}")
    with np.errstate(all="ignore"):
        for x in SPECIAL:
            expected = np.power(x, np.array(HALVES))
            np.testing.assert_allclose(f(x), expected, rtol=1e-15, err_msg=str(x))
            signs = np.signbit(f(x)) == np.signbit(expected)
            assert np.all(signs | np.isnan(expected)), x
