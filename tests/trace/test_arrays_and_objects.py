"""Do handles, containers, objects, captures and writes behave as in Python?"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from running import check, run, traced

from jitad.values.journal import Journal

X = np.array([1.0, 2.0, 3.0, 4.0, 5.0])


def test_loops_over_arrays():
    def f(x, y):
        s = 0.0
        for v in x:
            s += v * v
        for i, v in enumerate(x):
            s += i * v
        for a, b in zip(x, y):
            s += a * b
        for v in reversed(x):
            s = s * 0.5 + v
        for i in range(len(x) - 1, -1, -1):
            s = s * 0.9 + x[i]
        return s

    check(f, X, X[::-1].copy(), others=[(np.array([2.0, 3.0, 1.0]), np.array([1.0, 2.0]))])


def test_stores_in_loops_and_branches():
    def f(x, c):
        out = np.zeros(len(x))
        for i in range(len(x)):
            if x[i] > c:
                out[i] = x[i]
            else:
                out[i] = -1.0
                out[0] += x[i]
        if c > 2:
            out[1] = 7.0
        return out

    check(f, X, 2.5, others=[(X * 2, 1.0), (X[:3], 9.0)])


def test_swap_of_buffers():
    def f(x, n):
        u = x.copy()
        un = np.zeros(len(x))
        for _ in range(n):
            for i in range(1, len(u) - 1):
                un[i] = 0.5 * (u[i - 1] + u[i + 1])
            un[0] = u[0]
            un[len(u) - 1] = u[len(u) - 1]
            u, un = un, u
        return u, un

    check(f, X, 3, ints=True, others=[(X, 0), (X, 4), (np.arange(7.0), 11)])


def test_rebinding_in_a_loop():
    def f(x, n):
        y = x
        for _ in range(n):
            y = y * 0.5 + x
        return y, x

    check(f, X, 3, ints=True, others=[(X, 0), (X[:2], 5)])


def test_write_to_a_chosen_array():
    def f(x, c):
        a, b = x.copy(), x.copy()
        p = a if c > 0 else b
        p[0] = 100.0
        return a[0], b[0]

    check(f, X, 1.0, others=[(X, -1.0)])


def test_rows_are_views():
    def f(m):
        for row in m:
            row[0] = row[1] * 2
        return m

    check(lambda m: f(m.copy()), np.arange(6.0).reshape(2, 3))


class Pair(NamedTuple):
    a: object
    b: object


@dataclass
class Params:
    w: object
    b: float
    n: int = 3


def test_containers_are_joined():
    def f(x, c):
        if c > 0:
            t = (x[0], [x[1], 2])
            d = {"k": 1.0}
            p = Pair(c, 1)
            q = Params(x * 2, c)
        else:
            t = (1.0, [c, 3])
            d = {"k": c}
            p = Pair(2, c)
            q = Params(x, 4.0)
        return t, d["k"], p.a + p.b, q.w, q.b, q.n

    check(f, X, 1.0, others=[(X, -1.0)])


def test_lists_and_dicts_written_under_conditions():
    def f(x, c):
        xs = [x, c]
        d = {}
        if c > 0:
            xs[0] = c
            d["a"] = 1.0
            d["a"] += c
        else:
            d["a"] = x
        for i in range(20):
            xs[1] = xs[1] + xs[0] * i
        ys = xs
        ys.append(d["a"])
        return xs, len(ys)

    check(f, 2.0, 1.0, others=[(2.0, -1.0)])


class Model:
    scale = 2.0

    def __init__(self, w):
        self.w = w
        self.calls = 0
        self.log = []

    def predict(self, x):
        self.calls += 1
        if self.w > 0:
            return self.w * x * self.scale
        return -x

    @property
    def double(self):
        return self.w * 2

    def __call__(self, x):
        return self.predict(x) + self.double


def test_methods_attributes_and_objects_made_inside():
    def f(x, c):
        m = Model(c)
        for i in range(20):
            if x > i:
                m.w = m.w + 0.5
        return m(x) + m.predict(1.0), m.calls

    check(f, 3.0, 1.0, others=[(30.0, -20.0), (2.0, -9.0)])


def test_captured_object_is_read_and_written_at_each_call():
    model = Model(1.5)

    def f(x):
        model.log.append(x)
        return model(x) + model(2 * x)

    t = traced(f, 3.0)
    assert model.calls == 0 and model.log == [] and model.w == 1.5
    assert run(t, f, 3.0) == 1.5 * 3 * 2 + 3 + 1.5 * 6 * 2 + 3
    assert model.calls == 2 and model.log == [3.0]
    model.w = -1.0
    assert run(t, f, 2.0) == -2.0 - 2 - 4 - 2
    assert t.missed(f)[0].path.steps[-1] == ("attr", "calls")
    again = traced(f, 3.0)
    assert not again.missed(f)


def test_changing_int_as_input():
    from jitad.tape.types import Scalar
    from jitad.trace.trace import trace

    model = Model(1.5)

    def f(x):
        return model(x)

    first = trace(f, [Scalar("f8", True)])
    run(first, f, 1.0)
    (guard,) = first.missed(f)
    t = trace(f, [Scalar("f8", True)], dynamic=frozenset({guard.path}))
    for k in range(2, 5):
        assert not t.missed(f)
        run(t, f, 1.0)
        assert model.calls == k


WEIGHT = 3.0
TABLE = [1.0, 2.0, 3.0]
COUNT = 0


def uses_globals(x):
    global COUNT
    COUNT = COUNT + 1
    if x > 0:
        TABLE[1] = x
    return x * WEIGHT + sum(TABLE)


def test_globals(monkeypatch):
    t = traced(uses_globals, 2.0)
    assert TABLE == [1.0, 2.0, 3.0] and COUNT == 0
    assert run(t, uses_globals, 2.0) == 6.0 + 6.0
    assert TABLE == [1.0, 2.0, 3.0] and COUNT == 1
    monkeypatch.setitem(globals(), "WEIGHT", 5.0)
    assert run(t, uses_globals, 4.0) == 20.0 + 8.0
    assert TABLE == [1.0, 4.0, 3.0]


def make(a, w):
    def inner(x):
        nonlocal a
        a = a + 1.0
        return (w * x).sum() * a

    return inner


def test_closures_share_a_trace_and_are_never_stale():
    f, g = make(1.0, X), make(10.0, np.ones(3))
    t = traced(f, 2.0)
    assert len(t.captures) == 2
    assert run(t, f, 2.0) == (X * 2).sum() * 2
    assert run(t, f, 2.0) == (X * 2).sum() * 3
    assert not t.missed(g)
    assert run(t, g, 1.0) == 3 * 11.0


def test_nested_functions_and_nonlocal():
    def f(x, n):
        total = 0.0

        def add(v, *more, scale=1.0):
            nonlocal total
            if v > 0:
                total += v * scale
            return total

        for i in range(n):
            add(x - i, scale=2.0)
        h = functools.partial(add, scale=0.5)
        return h(x), total, (lambda q: q + total if q > 0 else x)(x)

    check(f, 5.0, 9, ints=True, others=[(5.0, 0), (-1.0, 3)])


def test_defaults_are_captured():
    def outer(a):
        def f(x, y=a):
            return x * y

        return f

    f = outer(2.0)
    t = traced(f, 3.0)
    assert run(t, f, 3.0) == 6.0
    f.__defaults__ = (5.0,)
    assert run(t, f, 3.0) == 15.0


def test_lambdas_on_one_line():
    fs = [lambda x: x + 1, lambda x: x * 2, lambda x: (lambda y: x - y)(3.0)]  # fmt: skip
    for f, want in zip(fs, (6.0, 10.0, 2.0), strict=True):
        assert run(traced(f, 5.0), f, 5.0) == want


def test_bound_method_partial_and_callable_object():
    m = Model(2.0)
    for f in (m.predict, m, functools.partial(m.predict)):
        t = traced(f, 3.0)
        got = run(t, f, 3.0)
        assert got == Model(2.0).predict(3.0) + (4.0 if f is m else 0.0)


def test_arguments_written_are_committed():
    def f(x, xs):
        x[0] = 10.0
        xs.append(x[0] + x[1])
        return x.sum()

    x, xs = np.array([1.0, 2.0]), [1.0]
    t = traced(f, x, xs)
    assert run(t, f, x, xs) == 12.0
    assert x[0] == 10.0 and xs == [1.0, 12.0]


def test_prints_happen_once_per_call(capsys):
    def f(x):
        if x > 0:
            print("positive", x)
        return x

    t = traced(f, 1.0)
    assert capsys.readouterr().out == ""
    run(t, f, 1.0)
    run(t, f, -1.0)
    assert capsys.readouterr().out == "positive 1.0\n"


def test_generators_and_decorators():
    def twice(g):
        @functools.wraps(g)
        def wrapper(*args):
            return g(*args) * 2

        return wrapper

    @twice
    def h(x):
        return x + 1 if x > 0 else x

    def items(x):
        for k in range(3):
            yield k * x

    def f(x):
        return sum(v for v in items(x)) + h(x) + max(items(x))

    check(f, 2.0, others=[(-3.0,)])


def test_operators_of_a_users_class():
    class V:
        def __init__(self, a):
            self.a = a

        def __add__(self, other):
            return V(self.a + other.a if self.a > 0 else self.a)

        def __getitem__(self, k):
            return self.a * k

        def __len__(self):
            return 2

    def f(x, y):
        v = V(x) + V(y)
        return v[3] + len(v)

    check(f, 2.0, 1.0, others=[(-2.0, 1.0)])


def test_aliasing_captures_are_one_array():
    a = np.array([1.0, 2.0])
    b = a

    def f(x):
        a[0] = x
        return b[0] + 1

    t = traced(f, 3.0)
    assert run(t, f, 3.0) == 4.0 and a[0] == 3.0


def test_two_choices_of_the_same_arrays_may_be_one():
    def f(x, c, d):
        a, b = x.copy(), x * 2
        p = a if c > 0 else b
        q = a if d > 0 else b
        p[0] = 100.0
        return q[0]

    check(f, X, 1.0, 1.0, others=[(X, -1.0, 1.0), (X, -1.0, -1.0), (X, 1.0, -1.0)])


def test_a_swap_under_a_condition():
    def f(x, c):
        a, b = x.copy(), x * 2
        for k in range(9):
            if a[0] > c:
                a, b = b, a
            a[0] += k
            b[1] -= a[0]
        return a, b

    check(f, X, 3.0, others=[(X, -1.0), (X, 20.0)])


def test_iterating_over_an_array_that_is_swapped():
    def f(x, c):
        a, b = x.copy(), x * 2
        s = 0.0
        for v in a:
            if v > c:
                a, b = b, a
            b[0] = s
            s += v
        return s

    check(f, X, 1.0, others=[(X, -5.0), (X, 0.5), (np.arange(7.0), 2.5)])


def test_items_are_read_when_their_turn_comes():
    def f(x, c):
        b = x * 0.5
        s = 0.0
        for p, z in zip(b, x):
            b[3] = c
            s += p * z
        for k, v in enumerate(b):
            b[(k + 1) % 3] += v
        small = np.zeros(3)
        for v in small:
            small[2] += 1.0
            s += v
        for v in reversed(small):
            small[0] = v + s
        return s, b, small

    check(f, X, 7.0)


@dataclass
class Checked:
    v: float
    w: float = 0.0

    def __post_init__(self):
        if self.v > 1:
            self.w = self.v * WEIGHT


def test_post_init_is_traced():
    def f(x):
        return Checked(x).w + Checked(x - 1).v

    check(f, 2.0, others=[(0.5,)])


def test_append_under_a_condition_to_a_captured_list():
    log = []

    def f(x):
        if x > 0:
            log.append(x * 2)
        else:
            log.append(-1.0)
            log.append(x)
        log.append(0.0)
        return x

    t = traced(f, 1.0)
    assert log == []
    run(t, f, 3.0)
    assert log == [6.0, 0.0]
    run(t, f, -3.0)
    assert log == [6.0, 0.0, -1.0, -3.0, 0.0] and not t.missed(f)



def test_writes_under_a_derivative_operator_follow_the_branch():
    import jitad

    class Counter:
        n = 0.0

    c = Counter()
    c.n = 1.0

    def g(x):
        c.n = c.n + x
        return x * x * c.n

    def f(x):
        y = jitad.grad(g)(x) if x > 0 else x
        return y, c.n

    compiled = jitad.jit(f)
    assert compiled(2.0) == (2 * 2 * 3.0 + 4, 3.0) and c.n == 3.0
    assert compiled(-2.0) == (-2.0, 3.0) and c.n == 3.0


def test_a_function_in_a_block_carries_the_journal():
    from jitad.tape.types import Array, Scalar
    from jitad.trace import ongoing
    from jitad.trace.trace import leaves, trace, trace_block

    class Counter:
        n = 0.0

    c = Counter()
    c.n = 1.0
    scope = {"ongoing": ongoing, "leaves": leaves, "trace_block": trace_block}
    exec(  # a generated special method is library code to the tracer
        "def __apply__(h, *args):\n"
        "    inner = trace_block(h, args, leaves(args))\n"
        "    for e in inner.block.equations:\n"
        "        ongoing.current().builder.append(e)\n"
        "    return inner.finish(inner.block.results)\n",
        scope,
    )
    apply = scope["__apply__"]

    def g(x, a):
        a[0] = x  # a handle of the block's own
        c.n = c.n + a[0]
        return x * c.n, a[0] + a[1]

    def f(x, a):
        y = apply(g, x, a) if x > 0 else (x, x)
        return y, a[0], c.n

    t = trace(f, [Scalar("f8", True), Array("f8", 1)])
    assert c.n == 1.0
    assert run(t, f, 2.0, X[:2]) == ((6.0, 4.0), 1.0, 3.0) and c.n == 3.0
    assert run(t, f, -2.0, X[:2]) == ((-2.0, -2.0), 1.0, 3.0) and c.n == 3.0


def test_what_may_be_one_array_is_decided_once_a_pair():
    """Loops that swap arrays make joins of joins: 2**depth paths, but few pairs."""
    journal = Journal()
    handles = [SimpleNamespace(), SimpleNamespace()]
    for h in handles:
        h.root = h
    for _ in range(60):
        join = journal.joiner()
        older = list(handles)
        handles = [SimpleNamespace(), SimpleNamespace()]
        for h, sides in zip(handles, (older, older[::-1]), strict=True):
            h.root = h
            join(h, tuple(sides))
        join.finish()
    assert not journal.may_alias(*handles)
    assert journal.may_alias(handles[0], older[1]) and not journal.may_alias(handles[0], object())
