"""Are values and partial derivatives of the elementwise rows right?  Truth: mpmath, 40 digits.

Every row of the table is tested: a new one without an entry in `TRUTH` or `NO_DERIVATIVE` fails.
"""

from __future__ import annotations

import math

import mpmath as mp
import numba
import numpy as np
import pytest

from jitad.emit import preamble
from jitad.primitives import TABLE, moments, several, special
from jitad.primitives.table import Chain
from jitad.values.number import o

mp.mp.dps = 40
POINTS = 25

TRUTH = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "mod": lambda a, b: a - b * mp.floor(a / b),
    "fmod": lambda a, b: a - b * (mp.floor(a / b) if a / b >= 0 else mp.ceil(a / b)),
    "neg": lambda a: -a,
    "unsigned": lambda a: a,
    "abs": lambda a: abs(a),
    "pow": lambda a, b: mp.power(a, b),
    "hypot": lambda a, b: mp.sqrt(a * a + b * b),
    "atan2": lambda a, b: mp.atan2(a, b),
    "copysign": lambda a, b: abs(a) * (1 if b >= 0 else -1),
    "logaddexp": lambda a, b: mp.log(mp.exp(a) + mp.exp(b)),
    "maximum": lambda a, b: max(a, b),
    "minimum": lambda a, b: min(a, b),
    "fmax": lambda a, b: max(a, b),
    "fmin": lambda a, b: min(a, b),
    "sqrt": mp.sqrt,
    "cbrt": mp.cbrt,
    "exp": mp.exp,
    "exp2": lambda x: mp.power(2, x),
    "expm1": mp.expm1,
    "log": mp.log,
    "log2": lambda x: mp.log(x) / mp.log(2),
    "log10": mp.log10,
    "log1p": lambda x: mp.log(1 + x),
    "sin": mp.sin,
    "cos": mp.cos,
    "tan": mp.tan,
    "asin": mp.asin,
    "acos": mp.acos,
    "atan": mp.atan,
    "sinh": mp.sinh,
    "cosh": mp.cosh,
    "tanh": mp.tanh,
    "sech2": lambda x: mp.sech(x) ** 2,
    "asinh": mp.asinh,
    "acosh": mp.acosh,
    "atanh": mp.atanh,
    "erf": mp.erf,
    "erfc": mp.erfc,
    "gamma": mp.gamma,
    "lgamma": mp.loggamma,
    "digamma": mp.digamma,
    "expit": lambda x: 1 / (1 + mp.exp(-x)),
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x,
}
# Constant between the points where they jump; no derivative rule, or one of zeros.
NO_DERIVATIVE = {
    "floordiv": lambda a, b: mp.floor(a / b),
    "sign": lambda x: (x > 0) - (x < 0),
    "floor": mp.floor,
    "ceil": mp.ceil,
    "trunc": lambda x: mp.floor(x) if x > 0 else mp.ceil(x),
    "rint": mp.nint,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "touched": lambda x: True,  # at zeros: `test_zeros_and_their_signs`
    "isnan": lambda x: False,
    "isinf": lambda x: False,
    "isfinite": lambda x: True,
}
ON_INTEGERS = {
    "logical_and": lambda a, b: bool(a and b),
    "logical_or": lambda a, b: bool(a or b),
    "logical_not": lambda a: not a,
    "bitand": lambda a, b: a & b,
    "bitor": lambda a, b: a | b,
    "bitxor": lambda a, b: a ^ b,
    "lshift": lambda a, b: a << b,
    "rshift": lambda a, b: a >> b,
    "invert": lambda a: ~a,
    "product_fits": lambda a, b: abs(a * b) < 2**63,
    "inside": lambda i, n: 0 <= i < n,
}
# rescale and quotient: specialise; unit: its last operand follows from the others, test_tails
TESTED_APART = {"stop", "frozen", "polygamma", "where", "cast", "rescale", "quotient", "unit",
                *special.OPERANDS, *several.PARTS, *moments.NUMBERS}  # fmt: skip
ELEMENTWISE = {name for name, row in TABLE.items() if row.elementwise}


def points(name: str) -> list[tuple[float, ...]]:
    rng = np.random.default_rng(sum(map(ord, name)))
    domain = TABLE[name].domain
    return [tuple(float(rng.uniform(*d)) for d in domain) for _ in range(POINTS)]


def partials(name: str, *args: float) -> tuple[float | None, ...]:
    """As the engines evaluate the rule: IEEE arithmetic on NumPy numbers."""
    wide = [np.float64(a) for a in args]
    with np.errstate(all="ignore"):
        y = TABLE[name].evaluate(*wide)
        found = TABLE[name].partials(o, *wide, y)
    return tuple(None if p is None else float(factor(p)) for p in found)


def factor(p: object) -> object:
    return p.product if isinstance(p, Chain) else p


def test_every_row_has_a_truth():
    known = [set(TRUTH), set(NO_DERIVATIVE), set(ON_INTEGERS), TESTED_APART]
    assert set().union(*known) == ELEMENTWISE
    assert sum(map(len, known)) == len(ELEMENTWISE)


@pytest.mark.parametrize("name", sorted(TRUTH))
def test_value_and_partials(name):
    truth = TRUTH[name]
    for at in points(name):
        exact = [mp.mpf(a) for a in at]
        assert float(TABLE[name].evaluate(*at)) == pytest.approx(float(truth(*exact)), rel=2e-13)
        for k, found in enumerate(partials(name, *at)):
            order = tuple(int(j == k) for j in range(len(at)))
            want = float(mp.re(mp.diff(truth, tuple(exact), order)))
            assert (found or 0.0) == pytest.approx(want, rel=1e-11, abs=1e-13), (at, k)


@pytest.mark.parametrize("name", sorted(NO_DERIVATIVE))
def test_value_of_steps(name):
    for at in points(name):
        assert float(TABLE[name].evaluate(*at)) == float(NO_DERIVATIVE[name](*map(mp.mpf, at)))
        if TABLE[name].partials is not None:
            assert all(p is None for p in partials(name, *at))


@pytest.mark.parametrize("name", sorted(ON_INTEGERS))
def test_value_on_integers(name):
    arity = ON_INTEGERS[name].__code__.co_argcount
    for a in (0, 1, 5, 12):
        for b in (0, 1, 3):
            args = (a, b)[:arity]
            assert TABLE[name].evaluate(*args) == ON_INTEGERS[name](*args)


def test_polygamma():
    for n in range(4):
        for x in (0.3, 1.0, 2.5, 7.0):
            value = float(TABLE["polygamma"].evaluate(n, x))
            assert value == pytest.approx(float(mp.polygamma(n, x)), rel=1e-12)
            first, second = TABLE["polygamma"].partials(o, n, x, value)
            assert first is None
            assert float(second) == pytest.approx(float(mp.polygamma(n + 1, x)), rel=1e-12)


@pytest.mark.parametrize("name", sorted(set(TRUTH) | {"floor", "sign", "floordiv"}))
def test_float32_stays_float32(name):
    for at in points(name)[:3]:
        narrow = [np.array([a], np.float32) for a in at]
        value = TABLE[name].evaluate(*narrow)
        assert value.dtype == np.float32
        if name in TRUTH:
            want = float(mp.re(TRUTH[name](*(mp.mpf(float(a[0])) for a in narrow))))
            assert float(value[0]) == pytest.approx(want, rel=3e-5, abs=1e-6)
            for p in map(factor, TABLE[name].partials(o, *narrow, value)):
                assert p is None or isinstance(p, float) or p.dtype == np.float32


# -- the edges of the domains ---------------------------------------------------------------------

INF, NAN = math.inf, math.nan
EDGES = [
    ("pow", (0.0, 2.0), (0.0, 0.0)),
    ("pow", (0.0, 1.0), (1.0, 0.0)),
    ("pow", (0.0, 3.0), (0.0, 0.0)),
    ("pow", (0.0, 0.5), (INF, 0.0)),
    ("pow", (0.0, 0.0), (0.0, NAN)),  # 0**b jumps from 1 to 0 at b = 0
    ("pow", (-2.0, 3.0), (12.0, NAN)),  # not real for other exponents
    ("pow", (-2.0, 2.0), (-4.0, NAN)),
    ("pow", (-2.0, -1.0), (-0.25, NAN)),
    ("pow", (2.0, 0.0), (0.0, math.log(2.0))),
    ("hypot", (0.0, 0.0), (0.0, 0.0)),
    ("hypot", (0.0, -3.0), (0.0, -1.0)),
    ("abs", (0.0,), (0.0,)),
    ("maximum", (1.0, 1.0), (0.5, 0.5)),
    ("minimum", (1.0, 1.0), (0.5, 0.5)),
    ("fmax", (NAN, 2.0), (0.0, 1.0)),
    ("fmin", (2.0, NAN), (1.0, 0.0)),
    ("sqrt", (0.0,), (INF,)),
    ("log", (0.0,), (INF,)),
    ("logaddexp", (-INF, 1.0), (0.0, 1.0)),
    ("logaddexp", (800.0, 0.0), (1.0, 0.0)),
    ("logaddexp", (-INF, -INF), (0.5, 0.5)),  # no weight, but no nan either
    ("expit", (-800.0,), (0.0,)),
    ("expit", (800.0,), (0.0,)),
    ("tanh", (400.0,), (0.0,)),
    ("atan2", (0.0, 1.0), (1.0, 0.0)),
    ("atan2", (0.0, 0.0), (0.0, 0.0)),
    ("hypot", (0.0, 0.0), (0.0, 0.0)),
    ("hypot", (3e200, 4e200), (0.6, 0.8)),
    ("copysign", (-2.0, 3.0), (-1.0, None)),
    ("copysign", (2.0, -0.0), (-1.0, None)),
    ("mod", (-1.0, 3.0), (1.0, 1.0)),
    ("cbrt", (-8.0,), (1.0 / 12.0,)),
    ("gamma", (-1.5,), (float(mp.diff(mp.gamma, -1.5)),)),
    ("lgamma", (-1.5,), (float(mp.digamma(-1.5)),)),
    ("square", (-3.0,), (-6.0,)),
    ("atanh", (1.0,), (INF,)),
    ("acosh", (1.0,), (INF,)),
    ("log1p", (-1.0,), (INF,)),
    ("cbrt", (0.0,), (INF,)),
]


@pytest.mark.parametrize(("name", "at", "want"), EDGES)
def test_edges(name, at, want):
    for found, expected in zip(partials(name, *at), want, strict=True):
        if expected is None:
            assert found is None
        else:
            assert found == pytest.approx(expected, rel=1e-12, nan_ok=True)


def test_where_keeps_infinities_of_the_untaken_branch_out():
    _, da, db = TABLE["where"].vjp(o, 2.0, True, 1.0, INF, 1.0)
    assert (da, db) == (2.0, 0.0)


def test_casts():
    assert TABLE["cast"].evaluate(2.7, dtype="i8", py=True) == 2
    assert type(TABLE["cast"].evaluate(np.float32(2.5), dtype="f8", py=True)) is float
    assert TABLE["cast"].evaluate(np.array([1.5]), dtype="f4").dtype == np.float32
    assert TABLE["cast"].partials(o, 1.0, 1.0, dtype="f8") == (1.0,)
    assert TABLE["cast"].partials(o, 1.5, 1, dtype="i8") == (None,)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_zeros_and_their_signs(dtype):
    """-0.0 alone is untouched, and -0.0 is what `unsigned` gives of nothing; in vectors, too."""
    found = [-0.0, 0.0, -5e-324, 5e-324, np.nan, -np.inf, 2.0] * 5
    numbers = np.array(found).astype(dtype)
    want = ~((numbers == 0.0) & np.signbit(numbers))
    touched, unsigned = TABLE["touched"].evaluate, TABLE["unsigned"].evaluate
    np.testing.assert_array_equal(touched(numbers), want)
    assert not np.signbit(unsigned(numbers)[numbers == 0.0]).any()
    with np.errstate(all="ignore"):
        ran = numba.njit(_on_zeros)(numbers)
    np.testing.assert_array_equal(ran[0], want)
    np.testing.assert_array_equal(ran[1], unsigned(numbers))
    assert not np.signbit(ran[1][numbers == 0.0]).any()


def _on_zeros(x):
    first, second = np.empty(len(x), np.bool_), np.empty_like(x)
    for i in range(len(x)):
        first[i] = preamble.touched(x[i])
        second[i] = preamble.unsigned(x[i])
    return first, second
