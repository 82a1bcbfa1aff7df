"""Does every value lie within the bounds that intervals give it?  Are checks kept that may fail?"""

import math

import numpy as np
import pytest

from jitad import jit_grad
from jitad.primitives import TABLE
from jitad.tape.build import Builder
from jitad.tape.intervals import _RULES, DECIDED, Intervals
from jitad.tape.ir import Lit, lit
from jitad.tape.types import Scalar

OPERATIONS = sorted(
    name for name in _RULES if TABLE[name].elementwise and name not in ("cast", "copy")
)
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, -7.5, 40.0, 800.0, 1e-12, -1e-25, 1e-160, -1e-320, 1e155,
           -1e300, math.inf, -math.inf, math.nan]  # fmt: skip
TWO = ("add", "sub", "mul", "div", "pow", "hypot", "maximum", "minimum", "fmax", "fmin")
CONSTANTS = [0.0, 1.0, -1.0, 0.25, 2, -3, 2.0, 1e-9, -1e-40, 1e20, -1e200]


def holds(bounds, values):
    values = np.asarray(values, float)
    values = values[~np.isnan(values)]
    return bool(np.all((bounds[0] <= values) & (values <= bounds[1])))


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_values_of_random_programs_lie_within_their_bounds(dtype: str) -> None:
    """In both precisions, of all kinds of operands; conditions have the truth that is claimed."""
    narrowed = claimed = 0
    for seed in range(50):
        draw = np.random.default_rng(seed)
        b = Builder()
        x, y = b.input(Scalar(dtype)), b.input(Scalar(dtype))
        points = [np.array(draw.choice(SPECIAL, 60), dtype) for _ in (x, y)]
        atoms, values = [x, y], dict(zip((x, y), points, strict=True))

        def value(a, values=values):
            return np.full(60, a.value, dtype) if isinstance(a, Lit) else values[a]

        for _ in range(25):
            row = TABLE[OPERATIONS[draw.integers(len(OPERATIONS))]]
            count = row.evaluate.nin if isinstance(row.evaluate, np.ufunc) else _operands(row.name)
            ins = [atoms[draw.integers(len(atoms))] for _ in range(count)]
            if count == 2 and draw.random() < 0.3:
                ins[draw.integers(2)] = lit(CONSTANTS[draw.integers(len(CONSTANTS))])
            if row.name == "where":
                ins[0] = lit(True)
                truth = np.array(draw.random(60) < 0.5)
                condition = b.input(Scalar("b1"))
                values[condition], ins[0] = truth, condition
            before = len(b.blocks[0].equations)
            b._append(row.name, tuple(ins), {})
            for e in b.blocks[0].equations[before:]:
                with np.errstate(all="ignore"):
                    out = TABLE[e.op].evaluate(*map(value, e.ins), **e.params)
                    values[e.outs[0]] = np.asarray(out, e.outs[0].type.dtype)
                atoms.append(e.outs[0])
        known = Intervals(b.sources)
        for a in atoms:
            bounds = known.of(a)
            narrowed += bounds != (-math.inf, math.inf)
            assert holds(bounds, values[a]), (seed, b.sources.get(a), bounds)
            for op in sorted(DECIDED):
                other = () if op == "isinf" else (lit(CONSTANTS[draw.integers(len(CONSTANTS))]),)
                truth = known.decided(op, (a, *other))
                if truth is not None:
                    claimed += 1
                    found = TABLE[op].evaluate(values[a], *(value(o) for o in other))
                    assert np.all(found == truth), (seed, op, other, b.sources[a], bounds)
    assert narrowed > 200 and claimed > 200


def _operands(name: str) -> int:
    return 3 if name == "where" else 2 if name in TWO else 1


def test_what_can_not_fail_is_not_checked() -> None:
    def f(x, y):
        a = 1.0 / (1.0 + x * x) + math.exp(-0.5 * y * y * 3.0)
        return math.sin(math.cos(a) * 2.0) / (math.exp(-(x * x)) + 0.5) + math.sqrt(x * x + y * y)

    g = jit_grad(f)
    h = 1e-6
    assert g(0.3, 0.8) == pytest.approx((f(0.3 + h, 0.8) - f(0.3 - h, 0.8)) / (2 * h), rel=1e-8)
    assert "raise" not in g.source


@pytest.mark.parametrize(
    ("f", "x", "raised"),
    [
        (lambda x: 1.0 / (1.0 - x * x), 1.0, ZeroDivisionError),
        (lambda x: 1.0 / (x * x), 1e-200, ZeroDivisionError),
        (lambda x: 1.0 / (x * x + x * x), 0.0, ZeroDivisionError),
        (lambda x: 1.0 / math.exp(-x * x), 40.0, ZeroDivisionError),
        (lambda x: math.exp(x * x), 30.0, OverflowError),
        (lambda x: math.exp(-x * x * x), -30.0, OverflowError),
        (lambda x: math.sin(1.0 / (1e-300 + x * x) ** 2), 0.0, ZeroDivisionError),
        (lambda x: math.sin(1.5 + x * x), 1e200, ValueError),
        (lambda x: math.sqrt(x * x - 1.0), 0.5, ValueError),
    ],
)
def test_what_may_fail_is_checked(f, x, raised) -> None:
    with pytest.raises(raised):
        f(x)
    with pytest.raises(raised):
        jit_grad(f)(x)
