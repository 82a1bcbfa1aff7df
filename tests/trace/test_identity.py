"""Do `is` and `match` never mistake a stand-in for the value that it stands for?"""

import copy
import operator

import numpy as np
import pytest

from jitad import FallbackWarning, grad, jit, jit_grad
from jitad.errors import JitadTypeError
from jitad.trace.joins.state import Num
from jitad.trace.joins.unify import Unifier
from tests.trace.running import check


def is_true(x):
    return x if (x > 0.0) is True else -x


def is_not_false(x):
    return x if (x > 0.0) is not False else -x


def two_conditions(x):
    return x if (x > 0.0) is (x > 1.0) else -x


@pytest.mark.parametrize("f", [is_true, is_not_false, two_conditions])
@pytest.mark.parametrize("x", [2.0, 0.5, -2.0])
def test_identity_of_conditions(f, x):
    assert jit(f)(x) == f(x)


@pytest.mark.parametrize("x", [np.float64(2.0), np.float64(-2.0)])
def test_bools_of_numpy_are_not_true_itself(x):
    assert jit(is_true)(x) == is_true(x) == -x


MISSING = float("nan")


def chosen(s, t):
    p = t if s > 0.0 else s
    return p * (2.0 if p is t else 3.0)


def the_largest(s, t):
    best = None
    for v in (s, t):
        if best is None or v > best:
            best = v
    return best * (2.0 if best is t else 3.0)


def by_max(s, t):
    return s * (2.0 if max(s, t) is not t else 3.0)


def from_a_list(s, t):
    x = [s, t]
    return x[int(abs(s)) % 2] * (2.0 if x[int(abs(s)) % 2] is s else 3.0)


def sorted_ones(s, t):
    x = sorted([s, t])
    return x[0] * (2.0 if x[0] is s else 3.0)


def given_or_missing(s, t):
    return s if t is MISSING else s * t


def missing_on_a_path(s, t):
    w = MISSING
    if s > 1.0:
        w = s * t
    return s if w is MISSING else s * w


def the_loops_last(s, t):
    x = s
    while x < t:
        x = x * 2.0
    return x * (2.0 if x is s else 3.0)


def computed_and_chosen(s, t):
    p = s * t
    q = p if s > 1.0 else t
    return q * (2.0 if q is p else 3.0)


def computed_and_kept(s, t):
    x = [s * t, t + 1.0]
    p = x[0]
    x.sort()
    return x[0] * (2.0 if x[0] is p else 3.0)


def computed_in_a_loop(s, t):
    best = first = s + t
    for k in range(3):
        v = s * k - t
        if v > best:
            best = v
    return best * (2.0 if first is best else 3.0)


UNSURE = [chosen, computed_and_chosen, computed_and_kept, computed_in_a_loop, the_largest, by_max,
          from_a_list, sorted_ones, given_or_missing, missing_on_a_path,
          the_loops_last]  # fmt: skip


@pytest.mark.parametrize("f", UNSURE)
def test_numbers_that_may_be_one_object_are_refused(f):
    """As a wrong path was taken; eager derivatives have the objects."""
    for s, t in ((0.5, 1.5), (1.5, 0.7)):
        for run in (jit(f), jit_grad(f)):
            with pytest.raises(JitadTypeError, match="whether two numbers are one object"):
                run(s, t)
        with pytest.warns(FallbackWarning):
            assert jit(f, fallback=True)(s, t) == f(s, t)
        if f is not by_max:  # which gives what is new to eager derivatives
            rise = (f(s + 1e-6, t) - f(s - 1e-6, t)) / 2e-6
            assert grad(f)(s, t) == pytest.approx(rise, rel=1e-6)


def test_a_missing_number_in_place_of_an_argument():
    f = jit(given_or_missing, fallback=True)
    with pytest.warns(FallbackWarning):
        assert f(2.5, MISSING) == 2.5 and f(2.5, 2.0) == 5.0
    assert grad(given_or_missing)(2.5, MISSING) == 1.0


def test_numbers_that_are_known_to_be_two_or_one():
    def f(s, n):
        p, q = s * 2.0, s + 0.0
        one, two, three = range(1, 4)
        same = (p is p, q is s, s is s, p is MISSING, n is two, n is not three, q is None, s is one)
        return sum(2**k for k, x in enumerate(same) if x) * s

    for n in (2, 3):
        assert jit(f)(1.5, n) == f(1.5, n)
        assert jit_grad(f)(1.5, n) == grad(f)(1.5, n) == f(1.0, n)


def matches_true(x):
    match (x > 0.0, x):
        case (True, y):
            return y
    return -x


def test_matching_a_traced_bool_inside_a_pattern_is_refused():
    with pytest.raises(JitadTypeError, match="can't be matched with a traced bool") as e:
        jit_grad(matches_true)(2.0)
    assert "test_identity.py" in str(e.value)


def by_kind(x, kind):
    match kind:
        case str():
            return x * x
        case int(k):
            return k * x
        case None:
            return -x


@pytest.mark.parametrize(("kind", "slope"), [("a", 4.0), (3, 3.0), (None, -1.0)])
def test_matching_static_values(kind, slope):
    assert jit_grad(by_kind)(2.0, kind) == grad(by_kind)(2.0, kind) == slope


class Point:
    def __init__(self, x, size=1.0):
        self.x, self.size = x, size


def the_nearer(a, b):
    p, q = Point(a), Point(b, 2.0)
    return p, q, p if a < b else q


def is_one_of_two(a, b):
    p, q, s = the_nearer(a, b)
    return s is p, s is not q, s == p, s != q


def the_others(a, b):
    p, q, s = the_nearer(a, b)
    return [r.x for r in (p, q) if r is not s][0]


def found_in_a_list(a, b):
    p, q, s = the_nearer(a, b)
    all_of_them = [p, q]
    return all_of_them.index(s), all_of_them.count(s), s in [p], [s] == [p], (s, 1) in [(q, 1)]


def chosen_in_the_list(a, b):
    p, q, s = the_nearer(a, b)
    held = [s, q, p]
    return held.index(q), held.count(p), p in held[:1], {"k": s} == {"k": q}, s in {"k": q}.values()


def removed(a, b):
    p, q, s = the_nearer(a, b)
    left = [p, q]
    left.remove(s)
    return left[0].x, len(left)


def first_of_all(a, b):
    points = [Point(a), Point(b), Point(1.5)]
    best = None
    for p in points:
        if best is None or p.x < best.x:
            best = p
    return [p is best for p in points], points.index(best)


def by_key(a, b):
    p, q, s = the_nearer(a, b)
    return {p: a, q: 2.0 * b}[s], id(s) == id(p)


def lists_and_arrays(a, b):
    p, q = [a], [b]
    s = p if a < b else q
    u, v = np.array([a]), np.array([b])
    w = u if a < b else v
    return s is p, s is q, w is u, w is v


def copied_deeply(a, b):
    p, q, s = the_nearer(a, b)
    first, second, _ = copy.deepcopy([s, p, q])
    second.x = 7.0
    return first.x


def rows_that_change_places(a, b):
    rows = [[a, 1.0], [b, 2.0], [1.5, 3.0]]
    least = min(range(3), key=lambda k: rows[k][0])
    rows[0], rows[least] = rows[least], rows[0]
    return [v for row in rows for v in row]


def written_where_they_went(a, b):
    points = [Point(a), Point(b, 2.0), Point(1.5, 3.0)]
    first = points[0]
    least = min(range(3), key=lambda k: points[k].x)
    points[0], points[least] = points[least], points[0]
    points[0].size *= 5.0
    first.x += 1.0
    return [(p.x, p.size) for p in points]


def names_and_none(a, b):
    name, there = "a" if a < b else "b", a if a < b else None
    names = [name, "b"]
    return (names.index("b"), names.count("b"), "a" in names, [name] in [["a"]],
            None in [there], [there, None].count(None), (there, 1) == (None, 1))  # fmt: skip


@pytest.mark.parametrize("f", [
    is_one_of_two, the_others, found_in_a_list, chosen_in_the_list, removed, first_of_all, by_key,
    lists_and_arrays, copied_deeply, rows_that_change_places, written_where_they_went,
    names_and_none,
], ids=lambda f: f.__name__)  # fmt: skip
def test_things_that_a_condition_chose_are_those_things(f):
    check(f, 1.0, 2.0, others=[(2.0, 1.0), (1.7, 1.6)])


def test_a_set_of_chosen_things_tells_them_apart():
    def how_many(a, b):
        p, q, s = the_nearer(a, b)
        return a * len({p, q, s}), a * len({s, p})

    check(how_many, 1.0, 2.0, others=[(2.0, 1.0)])


def found_by_a_loop(x):
    last, found = Point(0.5), Point(0.7)
    for v in x:
        if v > 1.0:
            found = last
    return found is last


def written_when_found_by_a_loop(x):
    last, found, lists = Point(0.5), Point(0.7), ([0.5], [0.7])
    chosen = lists[0]
    for v in x:
        if v > 1.0:
            found, chosen = last, lists[1]
    found.x = 5.0
    chosen.append(3.0)
    return last.x, len(lists[1])


@pytest.mark.parametrize("f", [found_by_a_loop, written_when_found_by_a_loop])
def test_things_that_a_loop_chose_are_those_things(f):
    check(f, np.array([0.5, 2.0]), others=[(np.array([0.2, 0.5, 0.1]),)])


def test_forms_are_those_of_the_values_at_hand():
    """Values that are looked at for a moment may lie where others lay."""
    unifier = Unifier()
    for k in range(100):
        a, b = (k, k + 1) if k % 2 else (0.5 * k, 1.5 * k + 1.0)
        assert unifier.unify(Num(a), Num(b)).type.dtype == ("i8" if k % 2 else "f8")


def by_functions(x, n):
    thing, other = [x], [x]
    return operator.is_(thing, thing), operator.is_not(thing, other), operator.is_(n, None)


def test_the_operator_module_asks_as_python_does():
    assert jit(by_functions, fallback=False)(1.5, 3) == (True, True, False)
    with pytest.raises(JitadTypeError, match="whether two numbers are one object"):
        jit(lambda a, b: operator.is_(a, b), fallback=False)(1, 1)
