"""Do kernels follow Python where there are several ways of writing a thing?

Values in a `match`, `:=` in comprehensions, iterators of `itertools`, memos, lists that grow.
"""

import bisect
import enum
import functools
import itertools
import math
from types import FunctionType

import numpy as np
import pytest

import jitad
from tests.trace import two_numbers


class Phase(enum.Enum):
    COLD = 1
    WARM = 2
    HOT = 3

    @property
    def rate(self):
        return {Phase.COLD: 0.1, Phase.WARM: 1.0, Phase.HOT: 2.5}[self]


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 5


def phase(x):
    if x < 0.5:
        return Phase.COLD
    return Phase.HOT if x > 2.0 else Phase.WARM


def members_of_an_enum(x, y):
    p = phase(x)
    level = Level.LOW if y < 0.5 else Level.HIGH
    out = p.rate * x + level * y + p.value
    if p is Phase.HOT:
        out -= x**3
    return out + (y if level is Level.HIGH else 2.0 * y)


def matched_members(x, y):
    match phase(x):
        case Phase.COLD:
            return x * y
        case Phase.HOT | Phase.WARM if y > 1.0:
            return x * x
        case other:
            return other.value * y


def matched_values(x, y):
    total = 0.0
    for k in range(4):
        match ["go", "skip", None, "stop"][int(abs(x) + k) % 4]:
            case "go":
                total += x
            case "skip":
                continue
            case "stop" if y > 1.0:
                break
            case None:
                total += y
            case _:
                total += x * x
    match x > y:
        case True:
            return total
        case False:
            return total * y


def many_branches(x, y, kind="k22"):
    if kind == "k0":
        return x
    elif kind == "k1":
        return 1.0 * x + y
    elif kind == "k2":
        return 2.0 * x + y
    elif kind == "k3":
        return 3.0 * x + y
    elif kind == "k4":
        return 4.0 * x + y
    elif kind == "k5":
        return 5.0 * x + y
    elif kind == "k6":
        return 6.0 * x + y
    elif kind == "k7":
        return 7.0 * x + y
    elif kind == "k8":
        return 8.0 * x + y
    elif kind == "k9":
        return 9.0 * x + y
    elif kind == "k10":
        return 10.0 * x + y
    elif kind == "k11":
        return 11.0 * x + y
    elif kind == "k12":
        return 12.0 * x + y
    elif kind == "k13":
        return 13.0 * x + y
    elif kind == "k14":
        return 14.0 * x + y
    elif kind == "k15":
        return 15.0 * x + y
    elif kind == "k16":
        return 16.0 * x + y
    elif kind == "k17":
        return 17.0 * x + y
    elif kind == "k18":
        return 18.0 * x + y
    elif kind == "k19":
        return 19.0 * x + y
    elif kind == "k20":
        return 20.0 * x + y
    elif kind == "k21":
        return 21.0 * x + y
    elif kind == "k22":
        return 22.0 * x + y
    elif kind == "k23":
        return 23.0 * x + y
    return x * y


def chosen_among_many(x, y):
    return many_branches(x, y) + many_branches(y, x, "k3") + many_branches(y, x, "none")


def many_returns(x, y):
    def level(v):
        w = v
        for _ in range(3):
            if v < 0.0:
                return -v
            w = 0.5 * w + v
            if v < 0.1:
                return 1.0 * v + w
            if v < 0.2:
                return 2.0 * v + w
            if v < 0.3:
                return 3.0 * v + w
            if v < 0.4:
                return 4.0 * v + w
            if v < 0.5:
                w += y
                return 5.0 * v + w
            if v < 0.6:
                return 6.0 * v + w
            if v < 0.7:
                v += 0.2
                break
            if v < 0.8:
                return 8.0 * v + w
            if v < 0.9:
                return 9.0 * v + w
            if v < 1.0:
                w += y
                return 10.0 * v + w
            if v < 1.1:
                return 11.0 * v + w
            if v < 1.2:
                return 12.0 * v + w
            if v < 1.3:
                return 13.0 * v + w
            if v < 1.4:
                v += 0.2
                continue
            if v < 1.5:
                w += y
                return 15.0 * v + w
            if v < 1.6:
                return 16.0 * v + w
            if v < 1.7:
                return 17.0 * v + w
            if v < 1.8:
                return 18.0 * v + w
            if v < 1.9:
                return 19.0 * v + w
            if v < 2.0:
                w += y
                return 20.0 * v + w
            if v < 2.1:
                v += 0.2
                continue
            if v < 2.2:
                return 22.0 * v + w
            if v < 2.3:
                return 23.0 * v + w
            v += 0.07
        return w * y

    return level(x) + level(y) + level(x * y)


def bound_by_a_filter(x, y):
    kept = [w * w for v in np.array([x, y, x * y, -x]) if (w := math.sin(v)) > 0.1]
    return sum(kept) + w


def bound_by_any(x, y):
    if any((hit := v) > 1.2 for v in np.array([x * y, x, y])):
        return hit * y
    return hit * x


def accumulated_by_a_list(x, y):
    total = 0.0
    partial = [total := total * x + v for v in (x, y, 1.0)]
    return partial[1] * total


def bound_in_a_lambda(x, y):
    f = lambda k: [b := k * x, b * y]
    return sum(f(2.0)) * f(y)[1]


def totals(x, y):
    a = np.array([x, y, 0.3, x * y])
    t = sum(math.sin(s) for s in itertools.accumulate(a))
    t += sum(s * s for s in itertools.accumulate(a, lambda p, q: 0.5 * p + q, initial=y))
    first, second = itertools.tee(a)
    next(second)
    return t + sum(p * q for p, q in zip(first, second))


def totals_of_a_grown_list(x, y):
    kept = []
    while len(kept) < 3.0 * abs(y) + 1.0:
        kept.append(x + len(kept) * y)
    t = 0.0
    for s in itertools.accumulate(kept, max):
        t += s * s
    return t


def runs_of_a_sign(x, y):
    t = 0.0
    for positive, run in itertools.groupby(np.array([x, y, -x, y - x, x * y]), lambda v: v > 0.0):
        t += (2.0 if positive else y) * sum(run) ** 2
    return t


def runs_of_records(x, y):
    rows = [(int(abs(v)), v) for v in (x, y, x * y, 0.3)]
    groups = itertools.groupby(rows, lambda r: r[0])
    return sum((k + 1.0) * sum(v for _, v in g) ** 2 for k, g in groups)


def sorted_in_place(x, y):
    kept = []
    for v in np.array([x, y, 0.9, x * y]):
        if v > -0.2:
            kept.append((math.cos(v), v, len(kept)))
    kept.sort(reverse=True)
    by_size = sorted(kept, key=lambda r: abs(r[1] - 0.7))
    equal = sorted(kept, key=lambda r: r[2] // 2, reverse=True)  # equals stay in their order
    return sum((k + 1.0) * a * b for k, (a, b, _) in enumerate(kept)) + (
        by_size[0][1] * 3.0 + sum((k + 2.0) * r[1] for k, r in enumerate(equal)))  # fmt: skip


def columns_of_a_list(x, y):
    vs = []
    while len(vs) < 2.0 * abs(y) + 1.0:
        vs.append(np.array([x, y, 1.0]) * (len(vs) + 1.0))
    q = np.column_stack(vs)
    h = np.hstack([v[:, None] for v in vs])
    c = np.column_stack([v[0] for v in vs])
    return q[0] @ q[2] + q[1, 0] * q.shape[1] + h[1] @ h[2] + c[0, 0] * c.shape[1]


def taken_out_where_it_is_least(x, y):
    left, t = [x, y, 0.7, x * y], 0.0
    while len(left) > 1:
        v = left.pop(int(np.argmin(left)))
        left[0] = left[0] + v * t
        t += v * len(left)
    left.insert(int(abs(y)) % 2, x)
    return t + left[0] + 3.0 * left[1]


def deleted_where_it_is_least(x, y):
    left = [x, y, 0.7]
    del left[int(np.argmax(left))]
    return left[0] * 2.0 + left[1]


def put_in_order(x, y):
    values = [0.0, 1.0, 2.0]
    bisect.insort(values, x)
    bisect.insort_left(values, y)
    return sum((k + 1.0) * v for k, v in enumerate(values))


def for_ever_until(x, y):
    def growing(a):
        while True:
            yield a
            a = 1.3 * a + 0.1

    kept = list(itertools.takewhile(lambda v: v < 3.0, growing(abs(x) + 0.1)))
    return sum(kept) * len(kept) + y


def early_out_of_a_search(x, y):
    def found(values):
        for i in range(2):
            for j in range(2):
                if values[i, j] > 1.0:
                    return values[i, j], (i, j)
        return 0.0, None

    a = np.array([[x, y], [x * y, 1.5]])
    v, where = found(a)
    if where is None:
        return v
    i, j = where
    return v * a[i, j] + i


def by_kinds_of_arguments(x, y):
    @functools.singledispatch
    def area(shape):
        return 0.0

    @area.register
    def _(shape: tuple) -> float:
        return shape[0] * shape[1]

    @area.register
    def _(shape: dict):
        return shape["r"] ** 2

    return area((x, y)) + area({"r": y}) + area(None)


PROGRAMS = [f for f in list(globals().values())
            if isinstance(f, FunctionType) and f.__module__ == __name__
            and f not in (phase, many_branches)]  # fmt: skip
POINTS = [(1.31, 0.4), (0.33, 1.7), (-0.53, 0.21), (2.6, 1.13)]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_derivatives(f):
    two_numbers.check(f, POINTS, 0.001)


@pytest.mark.parametrize("f", [runs_of_a_sign, sorted_in_place, taken_out_where_it_is_least],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_natively_to_second_order(f):
    two_numbers.check_natively(f, POINTS[:2])


def remembered(x, n):
    memo = {}

    def f(k):
        if k in memo:
            return memo[k]
        memo[k] = r = x[k] if k < 2 else math.sin(f(k - 1)) + f(k - 2) * x[0]
        return r

    return f(n)


def test_a_memo_over_an_int():
    slope = jitad.jit_grad(remembered)
    x = np.array([0.5, 1.5])
    for n in (3, 4, 3, 6):
        step = 1e-6 * np.eye(2)
        want = [(remembered(x + h, n) - remembered(x - h, n)) / 2e-6 for h in step]
        np.testing.assert_allclose(slope(x, n), want, rtol=1e-7)


def test_numpy_scalars_in_the_eager_engine():
    def f(x):
        return (x[None] * np.array([1.0, 2.0])).sum() * x.mean() + x.T + x.reshape(1)[0] + x.item()

    for run in (jitad.grad(f), jitad.jit_grad(f)):
        assert run(np.float64(0.5)) == 6.0
    for g in (lambda x: np.squeeze(x), lambda x: x.copy(), lambda x: x.T):
        assert jitad.jit(g)(np.float32(0.7)) == np.float32(0.7)
        assert type(jitad.jit(g)(np.float32(0.7))) is np.float32
