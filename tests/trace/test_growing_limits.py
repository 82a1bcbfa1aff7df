"""What can't lists of unknown length hold, and what comes out of them?"""

import re
from dataclasses import dataclass

import numpy as np
import pytest

import jitad
from jitad.calls.arguments import abstract
from jitad.errors import JitadError
from jitad.tape.ir import walk
from jitad.trace.trace import trace

X = np.array([1.3, 0.4, 2.2, 0.7, 1.9, 0.2])


@dataclass
class Point:
    t: float
    y: float


def written_after(x):
    state, seen = np.zeros(1), []
    while state[0] < 6.0:
        state = state + x[0]
        seen.append(state)
        state[0] += 0.5
    return sum(s[0] for s in seen)


def written_before(x):
    state, seen = np.zeros(1), []
    while state[0] < 6.0:
        state[0] += x[0]
        seen.append(state)
    return sum(s[0] for s in seen)


def written_before_under_a_name_that_changes(x):
    state, seen = np.zeros(1), []
    while state[0] < 6.0:
        state[0] += x[0]
        seen.append(state)
        if state[0] > 4.0:
            state = state + 0.0
    return sum(s[0] for s in seen)


def written_where_it_is_read(x):
    seen, v = [], x[0]
    row = np.zeros(1)
    while v < 6.0:
        row = np.zeros(1) + v
        seen.append(row)
        v += 1.0
    seen[-1][0] = 100.0
    return seen[-1][0] + row[0]


def first_element_written(x):
    first = np.zeros(1) + x[0]
    seen, v = [first], x[0]
    while v < 6.0:
        first[0] += v
        seen.append(first.copy())
        v += 1.0
    return sum(s[0] for s in seen)


def object_written(x):
    seen, v = [], x[0]
    while v < 6.0:
        p = Point(0.0, v)
        seen.append(p)
        p.t = v
        v += 1.0
    return sum(p.t for p in seen)


def row_written(x):
    seen, v = [], x[0]
    while v < 6.0:
        seen.append([v, 0.0])
        seen[-1][1] = v
        v += 1.0
    return sum(r[1] for r in seen)


def of_two_kinds(x):
    xs, v = [], x[0]
    while v < 6.0:
        xs.append(v if len(xs) % 2 else (v, v))
        v += 1.0
    return len(xs) * x[0]


def asked_for_identity(x):
    rows = [[e, e * 2.0] for e in x if e > 0.5]
    first = rows[0]
    return first[1] + (1.0 if list(rows)[0] is first else 0.0)


def held_by_a_loop_before(x):
    seen, run, v = [], [x[0]], x[1]
    while v < 5.0:
        run.append(v)
        if v > 3.0:
            run = [v]
        seen.append(run)
        v += 0.5 * x[2]
    return sum(sum(r) for r in seen)


def held_on_one_path(x):
    seen, run = [[1.0]], [e for e in x if e > 0.5]
    if x[0] > 1.0:
        seen.append(run)
    run.append(x[1])
    return sum(sum(r) for r in seen)


REFUSED = [
    (held_by_a_loop_before, "can't be written any more"),
    (held_on_one_path, "can't be written any more"),
    (asked_for_identity, "they are copies"),
    (written_after, "can't be written any more"),
    (written_before, "can't be written any more"),
    (written_before_under_a_name_that_changes, "can't be written any more"),
    (written_where_it_is_read, "can't be written any more"),
    (first_element_written, "can't be written any more"),
    (object_written, "can't be written any more"),
    (of_two_kinds, "and a tuple of 2"),
]


@pytest.mark.parametrize(("f", "why"), REFUSED, ids=lambda v: getattr(v, "__name__", ""))
def test_what_copies_would_show_is_refused(f, why):
    with pytest.raises(JitadError, match=why):
        jitad.jit_grad(f, fallback=False)(X.copy())
    jitad.grad(f)(X.copy())  # the eager engine has Python's lists


def test_an_element_that_is_written_where_it_is():
    gradient = jitad.jit_grad(row_written, fallback=False)(X.copy())
    np.testing.assert_allclose(gradient, jitad.grad(row_written)(X.copy()))
    steps = [row_written(X + 1e-6 * e) - row_written(X - 1e-6 * e) for e in np.eye(len(X))]
    np.testing.assert_allclose(gradient, np.divide(steps, 2e-6), rtol=1e-6)


def test_a_list_as_what_a_derivative_is_taken_of():
    def f(x):
        def powers(y):
            out, v = [], y
            while v < 9.0:
                out.append(v)
                v = v * y
            return out

        return jitad.jvp(powers, (x,), (1.0,))[1]

    with pytest.raises(JitadError, match="can't be differentiated"):
        jitad.jit(f, fallback=False)(2.0)
    assert jitad.jit(lambda x: jitad.vjp(lambda y: [e * e for e in y], x)[1]([1.0, 2.0]))(
        np.ones(2)
    )[0].tolist() == [2.0, 4.0]


def test_lists_as_results():
    def trajectory(v, rate):
        ts, path = [0.0], [(v, None)]
        while v > 0.1:
            v *= rate
            ts.append(ts[-1] + 0.5)
            path.append((v, v * v if v < 0.5 else None))
        return ts, {"path": path}

    compiled = jitad.jit(trajectory, fallback=False)
    for args in ((1.0, 0.5), (0.05, 0.9), (1.0, 0.99)):
        assert compiled(*args) == trajectory(*args)
    assert len(compiled.specialisations) == 1


def test_a_list_from_outside():
    seen = []

    def record(x):
        while x < 10.0:
            seen.append(x)
            x *= 2.0
        return x

    def refused():
        jitad.jit(record, fallback=False)(1.0)

    with pytest.raises(JitadError, match="a list from outside that gets longer"):
        refused()
    assert seen == []


def test_where_a_length_must_be_known_the_loop_is_written_out():
    def f(x):
        a, b = tuple([e * e for e in x])
        return a * b

    g = jitad.jit_grad(f)
    assert g(np.array([2.0, 3.0])).tolist() == [36.0, 24.0]


def test_a_list_that_is_too_long():
    def f(x):
        xs = []
        while x > 0.0:
            xs.append(x)
        return sum(xs)

    from jitad.trace import traced

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(traced, "MOST_ROOM", 2**12)
        with pytest.raises(JitadError, match="a list gets longer than 4096 elements"):
            jitad.jit(f)(1.0)


def test_prints_are_not_repeated():
    def f(x):
        xs = []
        while x < 5.0:
            xs.append(x)
            print(x)
            x += 1.0
        return sum(xs)

    with pytest.raises(JitadError, match="It can't take back what it printed"):
        jitad.jit(f)(1.0)


def test_a_star_does_not_take_it_for_one_element():
    def doublings(x):
        xs = []
        while x < 10.0:
            xs.append(x)
            x = 2.0 * x
        return xs

    assert jitad.jit(lambda x: len([1.0, *doublings(x)]) * x)(1.5) == 6.0
    assert jitad.jit(lambda x: len((*doublings(x),)) * x)(1.5) == 4.5
    assert jitad.jit(lambda x: max(*doublings(x)))(1.5) == 6.0


@pytest.mark.parametrize("steps", [20, 400])
def test_a_loop_whose_condition_is_known_is_not_written_out_for_its_list(steps):
    """The time that passes is known while tracing; what is collected on the way is not."""
    def heights(bounce, height):
        t, y, v, log = 0.0, height, 0.0, []
        while t < 0.005 * steps:
            v -= 0.0981
            y += v * 0.01
            if y < 0.0:
                v, y = -bounce * v, 0.0
                log.append(("bounce", t, v))
            elif 0.0 < v < 0.05:
                log.append(("apex", t, y))
            t += 0.005
        return sum(y * (1.0 + t) for kind, t, y in log if kind == "apex") + 0.1 * y + t

    traced = trace(heights, (abstract(0.83), abstract(0.0517)))
    assert sum(1 for _ in walk(traced.tape.body)) < 600
    slope = (heights(0.83 + 1e-7, 0.0517) - heights(0.83 - 1e-7, 0.0517)) / 2e-7
    assert jitad.jit_grad(heights, fallback=False)(0.83, 0.0517) == pytest.approx(slope, rel=1e-5)


NEIGHBOURS = {"s": ["a", "b"], "a": ["b", "t"], "b": ["t", "c"], "c": ["t"], "t": []}


def visits(w):
    at, total = ["s"], 0.0
    while at:
        total += w * len(node := at.pop())
        if total < 5.0:
            for v in NEIGHBOURS[node]:
                at.append(v)
    return total


def test_lists_of_words_from_several_paths_take_no_more_room_than_others():
    """They had the room of lists without numbers, for as many as there may ever be: gigabytes."""
    kernel = jitad.jit_grad(visits, fallback=False)
    for w in (0.7, 1.3):
        h = 1e-4
        assert kernel(w) == pytest.approx((visits(w + h) - visits(w - h)) / (2 * h), rel=1e-8)
    extents = [int(n) for n in re.findall(r"\b\d{4,}\b", kernel.source)]
    assert max(extents, default=0) < 10_000


def longer_while_iterated(x):
    xs, v = [], x[0]
    while v < 6.0:
        xs.append(v)
        v += 1.0
    for e in xs:
        if e < 3.0:
            xs.append(e + 5.0)
    return sum(xs)


def test_a_list_that_gets_longer_in_the_loop_over_it():
    """Not one that copies would show: the loop goes on with what came."""
    value, slope = jitad.jit_value_and_grad(longer_while_iterated, fallback=False)(X.copy())
    assert value == longer_while_iterated(X)
    h = 1e-6 * np.eye(len(X))[0]
    want = (longer_while_iterated(X + h) - longer_while_iterated(X - h)) / 2e-6
    np.testing.assert_allclose(slope[0], want, rtol=1e-6)
