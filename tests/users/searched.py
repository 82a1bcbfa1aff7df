"""Which programs do people write who search, queue, match and settle accounts?"""

import bisect
import contextlib
import enum
import heapq
import itertools
import math
import operator
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field

import numpy as np

from tests.catalogue.entry import Catalogue, array, scalar

catalogue = Catalogue()
program = catalogue.add


@program(array(6, low=0.2, high=2.0), truth="differences")
def minimum_spanning_tree_prim(w):
    edges = {(0, 1): w[0], (0, 2): w[1], (1, 2): w[2], (1, 3): w[3], (2, 3): w[4], (0, 3): w[5]}
    near = defaultdict(list)
    for (u, v), c in edges.items():
        near[u].append((c, v))
        near[v].append((c, u))
    inside, total = {0}, 0.0
    heap = [(c, v) for c, v in near[0]]
    heapq.heapify(heap)
    while heap and len(inside) < 4:
        c, v = heapq.heappop(heap)
        if v in inside:
            continue
        inside.add(v)
        total += c * c
        for d, t in near[v]:
            if t not in inside:
                heapq.heappush(heap, (d, t))
    return total


@program(array(7, low=0.5, high=2.0), truth="differences")
def max_flow_ford_fulkerson(caps):
    pairs = [("s", "a"), ("s", "b"), ("a", "b"), ("a", "t"), ("b", "t"), ("b", "c"), ("c", "t")]
    residual = defaultdict(dict)
    for (u, v), c in zip(pairs, caps):
        residual[u][v] = c
        residual[v].setdefault(u, 0.0)

    def augment(u, bottleneck, seen):
        if u == "t":
            return bottleneck
        seen = seen | {u}
        for v, c in residual[u].items():
            if v not in seen and c > 1e-12:
                got = augment(v, min(bottleneck, c), seen)
                if got > 0:
                    residual[u][v] -= got
                    residual[v][u] += got
                    return got
        return 0.0

    flow = 0.0
    for _ in range(6):
        got = augment("s", math.inf, frozenset())
        if got <= 0.0:
            break
        flow += got
    return flow**2


@program(array(4, 5, low=0.1, high=1.0), truth="differences")
def dtw_with_band(cost):
    n, m = cost.shape
    table = defaultdict(lambda: math.inf)
    table[0, 0] = 0.0
    for i, j in np.ndindex(n, m):
        if abs(i - j) > 2:
            continue
        table[i + 1, j + 1] = cost[i, j] + min(table[i, j + 1], table[i + 1, j], table[i, j])
    i, j, path = n, m, []
    while (i, j) != (0, 0):
        path.append((i, j))
        i, j = min([(i - 1, j), (i, j - 1), (i - 1, j - 1)], key=lambda p: table[p])
    return table[n, m] ** 2 + len(path)


class Mode(enum.Enum):
    CRUISE = enum.auto()
    BRAKE = enum.auto()
    STOP = enum.auto()

    @property
    def gain(self):
        return {Mode.CRUISE: 0.5, Mode.BRAKE: -1.0, Mode.STOP: 0.0}[self]


@program(scalar(1.0, 4.0), scalar(2.0, 5.0), truth="differences")
def hybrid_automaton(v, limit):
    mode, x, log = Mode.CRUISE, 0.0, Counter()
    for _ in range(30):
        x += 0.1 * v
        v = max(v + 0.1 * mode.gain * v, 0.0)
        if mode is Mode.CRUISE and v > limit:
            mode = Mode.BRAKE
        elif mode is Mode.BRAKE and v < 0.5 * limit:
            mode = Mode.CRUISE if x < 8.0 else Mode.STOP
        log[mode.name] += 1
    return x + v * v + 0.01 * log["BRAKE"] * v


@dataclass
class Tranche:
    name: str
    balance: float
    rate: float
    paid: list = field(default_factory=list)

    @property
    def outstanding(self):
        return self.balance - sum(self.paid)


@program(scalar(0.02, 0.2), scalar(0.0, 0.1), truth="differences")
def cash_waterfall(default, recovery):
    pool = 100.0
    deal = [Tranche("A", 60.0, 0.03), Tranche("B", 30.0, 0.05), Tranche("E", 10.0, 0.0)]
    value = 0.0
    for year in range(1, 7):
        lost = pool * default * (1.0 - recovery)
        cash = pool * 0.2 + pool * 0.06
        pool -= pool * 0.2 + lost
        for tr in deal:
            interest = min(cash, tr.outstanding * tr.rate)
            cash -= interest
            value += interest / 1.04**year
        for tr in deal:
            if (left := tr.outstanding) > 0 and cash > 0:
                pay = min(cash, left)
                tr.paid.append(pay)
                cash -= pay
                value += pay / 1.04**year
                if tr.name == "E":
                    break
    return value


class Quaternion:
    __slots__ = ("w", "v")

    def __init__(self, w, *v):
        self.w, self.v = w, np.array(v)

    @classmethod
    def about(cls, axis, angle):
        axis = np.asarray(axis) / np.linalg.norm(axis)
        return cls(math.cos(angle / 2), *(math.sin(angle / 2) * axis))

    def __matmul__(self, o):
        if not isinstance(o, Quaternion):
            return NotImplemented
        w = self.w * o.w - self.v @ o.v
        return Quaternion(w, *(self.w * o.v + o.w * self.v + np.cross(self.v, o.v)))

    def __invert__(self):
        return Quaternion(self.w, *-self.v)

    def __call__(self, p):
        return (self @ Quaternion(0.0, *p) @ ~self).v

    def __iter__(self):
        yield self.w
        yield from self.v

    def __abs__(self):
        return math.sqrt(sum(c * c for c in self))


@program(array(3, low=-1.5, high=1.5), scalar(0.5, 1.5), truth="differences")
def arm_of_quaternions(angles, reach):
    q, p = Quaternion(1.0, 0.0, 0.0, 0.0), np.zeros(3)
    axes = itertools.cycle([(0, 0, 1), (0, 1, 0)])
    for a, axis in zip(angles, axes):
        q = q @ Quaternion.about(axis, a)
        p = p + q((reach, 0.0, 0.1))
    w, *v = q
    return float(p @ np.arange(1.0, 4.0)) + abs(q) * w - v[-1]


@program(scalar(1.0, 3.0), scalar(0.5, 2.0), truth="differences")
def adaptive_simpson_explicit_stack(a, k):
    f = lambda t: math.exp(-a * t) * math.sin(k * t * t)
    simpson = lambda l, r: (r - l) / 6 * (f(l) + 4 * f((l + r) / 2) + f(r))
    stack, total, evals = [(0.0, 2.0, 1e-5)], 0.0, 0
    while stack:
        l, r, tol = stack.pop()
        m = (l + r) / 2
        whole, halves = simpson(l, r), simpson(l, m) + simpson(m, r)
        if abs(halves - whole) < 15 * tol or r - l < 1e-3:
            total += halves + (halves - whole) / 15
        else:
            stack += [(l, m, tol / 2), (m, r, tol / 2)]
        evals += 1
    return total


def mean_and_var(xs):
    mean = m2 = 0.0
    n = 0
    result = None
    while (x := (yield result)) is not None:
        n += 1
        delta = x - mean
        mean += delta / n
        m2 += delta * (x - mean)
        result = mean, m2 / n
    return result


def delegating(log):
    out = yield from mean_and_var(None)
    log.append(out)


@program(array(5), truth="differences")
def welford_by_send(x):
    log = []
    g = delegating(log)
    next(g)
    s = 0.0
    for v in x:
        m, var = g.send(v)
        s += m * var
    with contextlib.suppress(StopIteration):
        g.send(None)
    (mean, var), = log
    return s + mean / (1 + var)


def evaluate(e, env):
    match e:
        case int() | float():
            return e
        case str(name):
            return env[name]
        case ("let", name, value, body):
            return evaluate(body, {**env, name: evaluate(value, env)})
        case ("if", cond, yes, no):
            return evaluate(yes, env) if evaluate(cond, env) else evaluate(no, env)
        case ("fun", [*params], body):
            return lambda *args: evaluate(body, env | dict(zip(params, args)))
        case (("+" | "*" | "-" | "<") as op, a, b):
            f = {"+": operator.add, "*": operator.mul, "-": operator.sub, "<": operator.lt}[op]
            return f(evaluate(a, env), evaluate(b, env))
        case (head, *rest):
            return evaluate(head, env)(*[evaluate(r, env) for r in rest])
        case _:
            raise SyntaxError(repr(e))


LISP = ("let", "sq", ("fun", ["x"], ("*", "x", "x")),
        ("let", "y", ("+", ("sq", "a"), 1.5),
         ("if", ("<", "y", "b"), ("sq", ("-", "y", "b")), ("*", "y", ("sin", "b")))))


@program(scalar(0.5, 2.0), scalar(1.5, 4.0), truth="differences")
def lisp_by_match(a, b):
    return evaluate(LISP, {"a": a, "b": b, "sin": math.sin})


@program(scalar(0.8, 1.2), scalar(0.5, 0.9), truth="differences")
def bouncing_ball_with_events(h, e):
    g, t, y, v = 9.81, 0.0, h, 0.0
    bounces = []
    while True:
        disc = math.sqrt(v * v + 2 * g * y)
        dt = (v + disc) / g
        if t + dt > 2.5 or len(bounces) >= 12:
            rest = 2.5 - t if t + dt > 2.5 else 0.0
            y, v = y + v * rest - 0.5 * g * rest**2, v - g * rest
            break
        t += dt
        v = e * disc
        y = 0.0
        bounces.append((t, v))
    return y + 0.1 * v + sum(t * v for t, v in bounces)


@program(array(7, low=0.5, high=2.0), truth="differences")
def spfa_with_deque(w):
    graph = {0: {1: w[0], 2: w[1]}, 1: {2: w[2], 3: w[3]},
             2: {3: w[4], 4: w[5]}, 3: {4: w[6]}, 4: {}}
    dist = {v: math.inf for v in graph}
    dist[0] = 0.0
    queue = deque([0])
    while queue:
        u = queue.popleft()
        for v, c in graph[u].items():
            if dist[u] + c < dist[v]:
                dist[v] = dist[u] + c
                if v not in queue:
                    queue.append(v)
    return dist[4] ** 2


@program(array(4, 4, low=0.5, high=2.0), truth="differences")
def floyd_warshall_with_paths(w):
    n = len(w)
    d = {(i, j): (0.0 if i == j else w[i, j]) for i in range(n) for j in range(n)}
    nxt = {(i, j): j for i, j in d}
    for k, i, j in itertools.product(range(n), repeat=3):
        if (via := d[i, k] + d[k, j]) < d[i, j]:
            d[i, j] = via
            nxt[i, j] = nxt[i, k]
    hops = 0
    at = 0
    while at != n - 1:
        at = nxt[at, n - 1]
        hops += 1
    return max(d.values()) * d[0, n - 1] + hops


@dataclass(order=True)
class Job:
    priority: float
    name: str = field(compare=False)
    size: float = field(compare=False, default=1.0)


@program(array(4, low=0.5, high=2.0), array(4, low=0.5, high=2.0), truth="differences")
def jobs_by_priority(p, s):
    jobs = [Job(priority=a, name=n, size=b) for a, n, b in zip(p, "abcd", s)]
    t = late = 0.0
    for j in sorted(jobs, reverse=True):
        t += j.size
        late += max(t - 2.0, 0.0) * {"a": 3.0}.get(j.name, 1.0)
    first = min(jobs)
    return late + first.size * first.priority


@program(array(3, low=0.2, high=1.0), scalar(0.5, 1.5), truth="differences")
def state_machine_with_handlers(r, x):
    trace = []

    def idle(s):
        s["t"] += r[0]
        return "heat" if s["T"] < 20.0 + x else "idle"

    def heat(s):
        s["T"] += 3.0 * r[1]
        s["t"] += 0.1
        return "cool" if s["T"] > 24.0 * x else "heat"

    def cool(s):
        s["T"] -= 2.0 * r[2]
        return "idle" if s["T"] < 21.0 else "cool"

    handlers = {f.__name__: f for f in (idle, heat, cool)}
    s, state = {"T": 18.0 * x, "t": 0.0}, "idle"
    for _ in range(12):
        state = handlers[state](s)
        trace.append(state)
    return s["T"] * s["t"] + trace.count("heat") * x


@program(array(3, low=-1.0, high=1.0), array(3, low=0.5, high=1.5), truth="differences")
def rigid_contact_lcp(v, m):
    # projected Gauss-Seidel
    J = np.array([[1.0, -1, 0], [0, 1, -1], [0, 0, 1]])
    A = J @ np.diag(1 / m) @ J.T
    b = J @ v
    lam = np.zeros(3)
    for _ in range(60):
        for i in range(3):
            lam[i] = max(0.0, lam[i] - (A[i] @ lam + b[i]) / A[i, i])
    v2 = v + J.T @ lam / m
    return 0.5 * m @ v2**2 + lam.sum()


@program(array(5), truth="differences")
def planar_flow_chain(z):
    class Flow:
        count = 0

        def __init__(self, w, u, b):
            self.w, self.u, self.b = w, u, b
            type(self).count += 1

        def __call__(self, z):
            a = math.tanh(self.w * z + self.b)
            return z + self.u * a, math.log(abs(1 + self.u * self.w * (1 - a * a)))

        def __add__(self, other):
            def both(z):
                z, l = self(z)
                z, k = other(z)
                return z, l + k
            return both

    flows = [Flow(0.5 + 0.1 * k, v, 0.1 * k) for k, v in enumerate(z)]
    chain = flows[0] + flows[1]
    x, ld = chain(0.3)
    for f in flows[2:]:
        x, l = f(x)
        ld += l
    return -0.5 * x * x + ld + Flow.count * x * 0.01


@program(array(6, low=0.0, high=1.0), truth="differences", seed=2)
def insort_by_key(x):
    events = []
    for k, v in enumerate(x):
        bisect.insort(events, (v, k), key=lambda e: -e[0])
    return sum(v * (rank + 1) * (k + 1) for rank, (v, k) in enumerate(events))


@program(array(6, low=0.2, high=2.0), truth="differences")
def nearest_first_among_the_unvisited(w):
    roads = {0: {1: w[0], 2: w[1]}, 1: {2: w[2], 3: w[3]}, 2: {1: w[5], 3: w[4]}, 3: {}}
    dist = [math.inf] * len(roads)
    dist[0] = 0.0
    unvisited = set(roads)
    while unvisited:
        u = min(unvisited, key=lambda v: dist[v])
        unvisited.remove(u)
        for v in unvisited:
            if u in roads and v in roads[u]:
                dist[v] = min(dist[v], dist[u] + roads[u][v])
    return dist[3] ** 2


@program(array(4, 4, low=0.2, high=2.0), truth="differences")
def grid_flood(h):
    seen, todo = set(), deque([(0, 0)])
    total = 0.0
    while todo:
        i, j = todo.popleft()
        if (i, j) in seen or not (0 <= i < 4 and 0 <= j < 4):
            continue
        seen.add((i, j))
        total += h[i, j] ** 2
        for di, dj in ((0, 1), (1, 0), (-1, 0)):
            a, b = i + di, j + dj
            if 0 <= a < 4 and 0 <= b < 4 and (a, b) not in seen and h[a, b] > 0.8:
                todo.append((a, b))
    return total * len(seen)


@program(array(4, low=1.0, high=3.0), array(4, low=5.0, high=9.0), truth="differences")
def fifo_deque_of_tuples(qty, price):
    lots = deque((q, p) for q, p in zip(qty, price))
    gain, left = 0.0, 0.3 * qty.sum()
    while left > 1e-12:
        q, p = lots.popleft()
        take = min(left, q)
        gain += take * (8.0 - p)
        left -= take
        if q - take > 1e-12:
            lots.appendleft((q - take, p))
    return gain**2 + sum(q * p for q, p in lots)


@program(array(5), truth="differences", seed=2)
def heap_of_dicts_that_grows(x):
    h = [(abs(x[0]), 0, {"d": 0, "v": x[1]})]
    t, n = 0.0, 0
    while h and n < 9:
        v, _, s = heapq.heappop(h)
        t += v * (s["d"] + 1) * s["v"]
        n += 1
        if v < 1.5:
            heapq.heappush(h, (v + 0.5, n, {"d": s["d"] + 1, "v": s["v"] * 0.9}))
            if v > 0.4:
                heapq.heappush(h, (v * 1.1, -n, {"d": 0, "v": 1.0}))
    return t
