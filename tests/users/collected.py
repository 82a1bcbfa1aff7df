"""Which programs do people write who keep things in lists, dicts, heaps and iterators?"""

import bisect
import functools
import heapq
import itertools
import math
import operator
from collections import deque
from types import SimpleNamespace

import numpy as np

from tests.catalogue.entry import Catalogue

catalogue = Catalogue()
program = catalogue.add
FOUR = np.array([0.5, 1.5, 0.7, 2.03])


@program(FOUR, truth="differences")
def running_totals(x):
    t = 0.0
    for s in itertools.accumulate(x):
        t += math.sin(s)
    for s in itertools.accumulate(x, operator.mul):
        t += math.cos(s)
    for s in itertools.accumulate(x, lambda a, b: a * 0.5 + b, initial=1.0):
        t += s * s
    return t


@program(FOUR, truth="differences")
def while_it_is_small(x):
    t = 0.0
    for a in itertools.takewhile(lambda v: v < 1.9, x):
        t += a
    for a in itertools.dropwhile(lambda v: v < 1.0, x):
        t += a * 2
    for a in itertools.filterfalse(lambda v: v < 1.0, x):
        t += a * 2
    return t


@program(FOUR, truth="differences")
def neighbours_by_tee(x):
    t = 0.0
    p, q = itertools.tee(x)
    next(q)
    t += sum(a * b for a, b in zip(p, q))
    return t


@program(FOUR, truth="differences")
def runs_above_one(x):
    t = 0.0
    for k, g in itertools.groupby(x, key=lambda p: p > 1.0):
        t += (2.0 if k else 1.0) * sum(g) ** 2
    return t


@program(FOUR, truth="differences")
def points_sorted_by_keys(x):
    pts = [("a", x[0], x[1]), ("b", x[1], x[2]), ("c", x[2], x[3])]
    s = sorted(pts, key=lambda p: p[1] ** 2)
    best = s[0]
    t = best[1] * (2.0 if best[0] == "c" else 3.0)
    s2 = sorted(pts, key=operator.itemgetter(2), reverse=True)
    return t + sum(k * p[1] * p[2] for k, p in enumerate(s2)) + max(pts, key=lambda p: p[2])[1]


@program(1.3, np.array([0.0, 1.0, 2.0, 3.5]), truth="differences")
def interpolated_by_bisection(x, knots):
    k = bisect.bisect_right(knots, x)
    w = (x - knots[k - 1]) / (knots[k] - knots[k - 1])
    ys = [1.0, x, x * x, 3.0]
    l = [0.0, 1.0, 2.0]
    j = bisect.bisect(l, x)
    bisect.insort(l, x)
    return w * ys[k] + (1 - w) * ys[k - 1] + l[1] * j + l[-1]


@program(FOUR, truth="differences")
def window_in_a_deque(x):
    d = deque(maxlen=3)
    t = 0.0
    for v in x:
        d.append(v)
        t += sum(d) / len(d) * d[0] + d[-1]
    d.rotate(1)
    d.appendleft(t)
    return t * d.popleft() + d.pop()


@program(0.9, truth="differences")
def loops_with_else(x):
    n, y = 0, x
    while n < 5:
        y = y * 1.3
        if y > 4:
            break
        n += 1
    else:
        y = -y
    for k in range(3):
        if y * k > 6:
            break
    else:
        y = y + k
    return y * n


@program(0.3, 0.7, 0.9, truth="differences")
def chained_comparisons(a, b, c):
    t = a if a < b < c else b * 2
    if not (0 < a <= 0.5 < b):
        t += c * a
    return t + (0 < a < 0.5) * b


@program(np.array([1.0, 2.0, -3.0, 4.0]), truth="differences")
def walrus_in_a_filter(x):
    l = [y * y for v in x if (y := math.sin(v)) > 0]
    t = y
    while (n := len(l)) > 1:
        t += l.pop() * n
    return t + (last := l[0]) * last


@program(np.array([1.0, 2.0, -3.0, 4.0]), truth="differences")
def walrus_as_an_accumulator(x):
    t = 0.0
    out = [t := t * 0.5 + v for v in x]
    n = sum(1 for v in x if (w := v * t) > 1.0)
    return out[-1] * out[1] + t + n * w


@program(np.array([1.0, 2.0, -3.0, 4.0]), truth="differences")
def the_hit_of_any(x):
    if any((hit := v) > 1.5 for v in x):
        return hit * x[0]
    return x[1]


@program(0.7, 1.2, truth="differences")
def reversed_linked_list(x, y):
    class Cell:
        __slots__ = ("v", "next")

        def __init__(self, v, next=None):
            self.v, self.next = v, next

    head = None
    for k in range(4):
        head = Cell(x * k + y, head)
    prev = None
    while head is not None:
        head.next, prev, head = prev, head, head.next
    t, w = 0.0, 1.0
    while prev:
        t += w * prev.v
        w *= y
        prev = prev.next
    return t


class Cell:
    def __init__(self, v):
        self.v = v


@program(0.7, 1.2, truth="differences")
def one_box_by_two_names(x, y):
    a, b = Cell(x), Cell(x)
    c = a if x > 0 else b
    c.v = c.v * y
    l = [a, b, a]
    for q in l:
        q.v += y
    return a.v * 2 + b.v * 3 + (1.0 if a is l[2] else 5.0) * (c is b) + (a is b)


@program(np.array([0.7]), truth="differences")
def pairs_sorted_downwards(x):
    out = []
    v = x[0]
    while v < 3.0:
        out.append((math.sin(v), v))
        v = v * 1.3 + 0.1
    out.sort(reverse=True)
    return sum(k * a * b for k, (a, b) in enumerate(out))


@program(np.array([0.7]), truth="differences")
def pairs_sorted_by_product(x):
    out = []
    v = x[0]
    while v < 3.0:
        out.append((math.sin(v), v))
        v = v * 1.3 + 0.1
    out = sorted(out, key=lambda p: p[1] * p[0])
    return sum(k * a * b for k, (a, b) in enumerate(out))


@program(FOUR, truth="differences")
def krylov_like_columns(x):
    V = [x[:3] / np.linalg.norm(x[:3])]
    k = 1
    while k < 6:
        w = np.sin(V[-1] * k) + 0.1 * x[:3]
        V.append(w)
        k += 1
        if w[0] > 0.6:
            break
    Q = np.column_stack(V[:k])
    R = np.column_stack(V[:-1])
    return (Q @ np.ones(Q.shape[1])) @ x[:3] + R[0, -1]


@program(FOUR, truth="differences")
def smallest_piece_first(x):
    pieces = list(x[:4])
    t = 0.0
    while len(pieces) > 1:
        k = int(np.argmin(pieces))
        v = pieces.pop(k)
        pieces[0] = pieces[0] + v * t
        t += v * len(pieces)
    return t + pieces[0]


@program(FOUR, truth="differences")
def list_surgery(x):
    l = [1.0, x[0], x[1], x[2]]
    del l[0]
    l[1:2] = [x[3], x[3] ** 2]
    l.insert(1, 5.0 * x[0])
    l += [x[1]]
    l *= 2
    l.remove(l[0])
    l.reverse()
    l2 = l[::2]
    l2.extend(l[:2])
    return sum(k * v for k, v in enumerate(l2)) + l.index(l[3]) + l.count(l[0]) * x[0]


@program(0.7, 1.2, truth="differences")
def dict_surgery(x, y):
    d = dict(a=x, b=y)
    d |= {"c": x * y}
    d.setdefault("d", []).append(x)
    d.setdefault("d", []).append(y)
    p = d.pop("a")
    e = {k: v * 2 if isinstance(v, float) else v for k, v in d.items()}
    d.update(b=d["b"] * x)
    if x > 1:
        d["c"] = d["c"] * 2
    t = sum(v if not isinstance(v, list) else sum(v) for v in d.values())
    for k in list(d):
        if k > "b":
            del d[k]
    return t * p + len(d) + e["b"] * ("z" in d) + e["c"] + d.get("q", y) ** 2 + (d.get("b") or 1.0)


@program(FOUR, truth="differences")
def rows_of_different_lengths(x):
    rows = []
    for v in x[:3]:
        row = []
        while v < 3:
            row.append(v)
            v = v * 1.4
            if len(row) > 4:
                break
        rows.append(row)
    return sum(sum(r) * len(r) for r in rows) + rows[0][-1] + len(rows[-1])


@program(FOUR, truth="differences")
def tables_by_name(x):
    names = ["alpha", "beta", "gamma", "delta"]
    tab = dict(zip(names, x))
    t = 0.0
    for n in sorted(tab, key=len):
        t = t * 0.5 + tab[n] * len(n)
    for k, (n, v) in enumerate(tab.items(), 1):
        if "m" in n:
            continue
        t += v / k
    inv = {len(k): v for k, v in tab.items()}
    return t + inv[5] + sum(v for n, v in tab.items() if n.startswith("g"))


@program(FOUR, truth="differences")
def heap_of_pairs(x):
    h = []
    for k, v in enumerate(x[:4]):
        heapq.heappush(h, (v, k))
    t = 0.0
    while h:
        v, k = heapq.heappop(h)
        t = t * 0.5 + v * (k + 1)
    return t + sum(heapq.nlargest(2, list(x[:3]))) + heapq.nsmallest(1, x)[0]


@program(FOUR, truth="differences")
def fibonacci_generator(x):
    def fib(a, b):
        while True:
            yield a
            a, b = b, a * 0.5 + b

    t = 0.0
    for v in fib(x[0], x[1]):
        if v > 4:
            break
        t += v
    s = sum(itertools.islice(fib(x[0], x[2]), 6))
    u = list(itertools.takewhile(lambda v: v < 3.0, fib(x[1], x[2])))
    return t + s + sum(u) * len(u)


@program(FOUR, truth="differences")
def views_of_views(x):
    a = np.zeros(6).reshape(2, 3)
    v = a.T[::-1]
    w = v[1:, :]
    r = a.ravel()

    def fill(z, k):
        z[...] = x[k] * np.arange(1, z.size + 1).reshape(z.shape)

    fill(w, 0)
    r[2:4] += x[1]
    a[0], a[1] = a[1].copy(), a[0].copy()
    np.copyto(v[0], x[2:4])
    np.add(r, x[3], out=r)
    np.multiply(a[1], r[:3], out=a[0])
    obj = SimpleNamespace(buf=a[:, ::2])
    obj.buf *= x[0]
    obj.buf[0, 1] -= x[1]
    a[a > 1.0] *= 0.5
    a[[0, 1], [1, 2]] = x[:2]
    return (a * np.arange(6).reshape(2, 3)).sum() + w[0, 0] * r[-1]


@program(0.4, truth="differences")
def commands_from_a_list(x):
    t = 0.0
    for k in range(4):
        match ["go", "skip", "stop", "end"][int(x + k) % 4]:
            case "go":
                t += x
            case "skip":
                continue
            case "stop" if x > 1:
                break
            case _:
                t += x * x
    return t


@program(FOUR, truth="differences")
def polynomials_as_objects(x):
    class Poly:
        def __init__(self, *c):
            self.c = list(c)

        def __call__(self, t):
            return functools.reduce(lambda a, b: a * t + b, reversed(self.c))

        def __add__(self, o):
            return Poly(*(a + b for a, b in itertools.zip_longest(self.c, o.c, fillvalue=0.0)))

        def __mul__(self, o):
            out = [0.0] * (len(self.c) + len(o.c) - 1)
            for i, a in enumerate(self.c):
                for j, b in enumerate(o.c):
                    out[i + j] += a * b
            return Poly(*out)

        def __pow__(self, n):
            p = Poly(1.0)
            for _ in range(n):
                p = p * self
            return p

        @property
        def deriv(self):
            return Poly(*[k * c for k, c in enumerate(self.c)][1:])

        def root(self, t):
            while abs(self(t)) > 1e-12:
                t -= self(t) / self.deriv(t)
            return t

    p = Poly(-x[0], x[1], 0.0, 1.0)
    return p.root(1.0) + (p * p + p)(x[2]) + (p**3).deriv(0.3)
