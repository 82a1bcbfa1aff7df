"""What do other names hold of things in a list that long loops have made one of rows?

Each write must reach them, or be refused, and then the loops are written out.
"""

import numpy as np
import pytest

from jitad import jit
from tests.trace.test_lists_of_things import Body, Cell, N, P, X, check, made, pull


def by_its_first_name(x):
    ps = made(x)
    first = ps[0]
    for _ in range(10):
        for p in ps:
            for q in ps:
                if q is not p:
                    p.kick(pull(p, q))
        for p in ps:
            p.move(0.1)
    return first.x * first.v + ps[-1].x


def written_by_its_first_name(x):
    ps = made(x)
    first = ps[0]
    for p in ps:
        for q in ps:
            p.kick(pull(p, q))
    first.x = 5.0 * x[0]
    return sum(p.x * p.v for p in ps)


def written_by_its_first_name_in_the_loop(x):
    ps = made(x)
    sun = P(x[0], m=3.0)
    ps.append(sun)
    for p in ps:
        for q in ps:
            p.kick(pull(p, q))
            sun.v += 0.001 * q.x
    return sum(p.x * p.v for p in ps) + sun.v


def twice_in_the_list(x):
    ps = made(x)
    ps.append(ps[0])
    for p in ps:
        for q in ps:
            p.kick(pull(p, q))
    return sum(p.x * p.v for p in ps)


def in_two_lists(x):
    ps = made(x)
    qs = ps[::2]
    for p in ps:
        for q in qs:
            p.kick(pull(p, q))
            q.x += 0.001
    return sum(p.x * p.v for p in ps)


def the_best_one_is_kept(x):
    ps = made(x)
    best = ps[0]
    for p in ps:
        p.v = sum(pull(p, q) for q in ps)
        if p.v > best.v:
            best = p
    best.x = 10.0
    return sum(p.x * p.v for p in ps) + best.v


def appended_beside_a_slice(x):
    ps = made(x)
    for p in ps[1:]:
        for q in ps[1:]:
            q.v += 0.001 * p.x
        ps.append(P(p.x))
    return sum(k * p.x * p.v for k, p in enumerate(ps))


def others_beside_a_slice(x):
    ps = made(x)
    for _ in range(6):
        for k, p in enumerate(ps[1:]):
            p.v += 0.1 * p.x
            ps[k + 1] = P(p.x + 0.1 * p.v)
            p.v += 1.0
    return sum(k * p.x * p.v for k, p in enumerate(ps))


def a_slice_that_is_kept(x):
    ps = made(x)
    tail = ps[3:]
    for _ in range(6):
        for p in ps:
            for q in tail:
                q.kick(pull(p, q))
        for p in tail:
            p.move(0.1)
    return sum(k * p.x * p.v for k, p in enumerate(ps))


def others_in_their_places(x):
    ps = made(x)
    for i in range(N):
        p = ps[i]
        for q in ps:
            p.kick(pull(p, q))
        ps[i] = P(p.x * 2.0, p.v)
        p.v = 100.0
    return sum(p.x * p.v for p in ps)


def changing_places(x):
    ps = made(x)
    for i in range(N - 1):
        p = ps[i]
        for q in ps:
            p.kick(pull(p, q))
        ps[i], ps[i + 1] = ps[i + 1], ps[i]
        p.v *= 1.1
    return sum(k * p.x * p.v for k, p in enumerate(ps))


def changing_places_in_an_inner_loop(x):
    ps = made(x)
    for i in range(N - 1):
        p = ps[i]
        for j in range(i, N - 1):
            p.kick(pull(p, ps[j]))
            ps[j], ps[j + 1] = ps[j + 1], ps[j]
    return sum(k * p.x * p.v for k, p in enumerate(ps))


def sorted_in_the_loop(x):
    ps = made(x)
    for _ in range(6):
        for p in ps:
            for q in ps:
                p.kick(pull(p, q))
        ps.sort(key=lambda p: -p.v)
        ps[0].x += 1.0
    return sum(k * p.x * p.v for k, p in enumerate(ps))


def taken_out_in_the_loop(x):
    ps = made(x)
    for _ in range(N - 2):
        p = ps[0]
        for q in ps:
            q.kick(pull(p, q))
        ps.pop(0)
        p.v += 1.0
    return sum(p.x * p.v for p in ps)


def ints_and_floats(x):
    ps = [Cell(x[0] * i, i) for i in range(N)]
    for p in ps:
        for q in ps:
            p.x += pull(p, q) * q.w
        p.w = p.w + 1
    return sum(p.x * p.w for p in ps) + (1.0 if isinstance(ps[0].w, int) else 0.0)


def ints_that_become_floats(x):
    ps = [Cell(x[0] * i, 0) for i in range(N)]
    for p in ps:
        for q in ps:
            p.x += pull(p, q) * q.w
        p.w = 0.5 * p.x
    return sum(p.x * p.w for p in ps)


def texts(x):
    ps = [Cell(x[0] * i, 1.0, "ab"[i % 2]) for i in range(N)]
    s = 0.0
    for p in ps:
        for q in ps:
            if p.tag != q.tag:
                p.x += pull(p, q)
            elif p.tag == "a":
                s += q.x
    return sum(p.x for p in ps) + s


def in_a_dict_too(x):
    ps = made(x)
    named = {"first": ps[0], "last": ps[-1]}
    for p in ps:
        for q in ps:
            p.kick(pull(p, q))
    named["first"].x += named["last"].v
    return sum(p.x * p.v for p in ps)


def each_knows_the_next(x):
    ps = made(x)
    for k in range(N - 1):
        ps[k].next = ps[k + 1]
    ps[-1].next = ps[0]
    for _ in range(10):
        for p in ps:
            p.v += 0.1 * (p.next.x - p.x)
        for p in ps:
            p.move(0.1)
    return sum(p.x * p.v for p in ps)


def arrays_written_in_place(x):
    ps = [Body(np.array([x[0] * i, x[1]]), np.zeros(2)) for i in range(N)]
    for _ in range(3):
        for p in ps:
            p.v[:] = 0.0
            for q in ps:
                if q is not p:
                    p.v += (q.p - p.p) / (1.0 + (q.p - p.p) @ (q.p - p.p))
        for p in ps:
            p.p += p.v * 0.01
    return sum(np.sum(p.p * p.v) for p in ps)


def the_first_beyond(x):
    ps = made(x)

    def find(v):
        for p in ps:
            if p.x > v:
                return p
        return ps[-1]

    for k in range(30):
        p = find(0.1 * k)
        p.x -= 0.05 * p.x
    return sum(p.x for p in ps)


def gone_on_with(x):
    ps = made(x)
    it = enumerate(ps)
    for k, p in it:
        for q in ps:
            p.v += 0.01 * k * q.x
        if k == 5:
            break
    return sum(p.x * p.v for p in ps) + sum(k * p.x for k, p in it)


def exhausted(x):
    ps = made(x)
    it = zip(ps, ps[2:])
    for p, q in it:
        for r in ps:
            p.v += 0.01 * q.x * r.x
    return sum(p.x * p.v for p in ps) + sum(p.x for p, _ in it)


class Two:
    def __index__(self):
        return 2


def by_an_index_of_the_users(x):
    ps = made(x)
    for p in ps[Two() :]:
        for q in ps[: Two()]:
            p.kick(pull(p, q))
    return sum(p.x * p.v for p in ps)


@pytest.mark.parametrize("f", [gone_on_with, exhausted, by_an_index_of_the_users])
def test_what_is_gone_over(f):
    check(f)


def test_lists_of_other_lengths():
    def f(x):
        ps, qs = made(x), made(x, N - 1)
        for p, q in zip(ps, qs, strict=True):
            for r in qs:
                p.v += 0.01 * q.x * r.x
        return sum(p.x * p.v for p in ps)

    with pytest.raises(ValueError, match="shorter"):
        f(X)
    with pytest.raises(ValueError):
        jit(f, fallback=False)(X)


@pytest.mark.parametrize(
    "f",
    [
        by_its_first_name,
        written_by_its_first_name,
        written_by_its_first_name_in_the_loop,
        twice_in_the_list,
        in_two_lists,
        the_best_one_is_kept,
        appended_beside_a_slice,
        others_beside_a_slice,
        a_slice_that_is_kept,
        others_in_their_places,
        changing_places,
        changing_places_in_an_inner_loop,
        sorted_in_the_loop,
        taken_out_in_the_loop,
        ints_and_floats,
        ints_that_become_floats,
        texts,
        in_a_dict_too,
        each_knows_the_next,
        arrays_written_in_place,
        the_first_beyond,
    ],
)
def test_other_names(f):
    check(f)
