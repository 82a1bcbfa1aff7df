"""Which programs does the catalogue have that put functions and data structures to work?"""

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numba
import numpy as np

from tests.catalogue.entry import Catalogue, array, scalar, several

catalogue = Catalogue()
program = catalogue.add

SCALE = 1.5
WEIGHTS = np.array([0.2, -0.5, 1.1, 0.7])


# -- helpers, closures, arguments -----------------------------------------------------------------


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def norm2(*parts):
    return sum(p * p for p in parts)


@program(scalar(-1.0, 1.0), scalar(-1.0, 1.0), tags="call")
def cross_entropy(w, b):
    p = sigmoid(2.0 * w + b)
    return -(0.3 * np.log(p) + 0.7 * np.log(1.0 - p))


@program(array(4), tags="global-array global-scalar")
def reads_globals(x):
    return SCALE * np.sum(WEIGHTS * x**2)


@program(scalar(0.5, 1.0), scalar(0.5, 1.0), scalar(0.5, 1.0), tags="varargs")
def passes_varargs(*xs):
    return math.sqrt(norm2(*xs)) * xs[-1]


@program(scalar(0.5, 1.0), tags="default keyword call")
def calls_with_keywords(x):
    def model(t, rate=0.3, *, offset=0.1, power=2):
        return math.exp(-rate * t) + offset * t**power

    return model(x) + model(x, power=3) * model(x, 0.5, offset=x)


@program(scalar(0.5, 1.0), tags="kwargs")
def passes_kwargs(x):
    def inner(**options):
        return options["a"] * options.get("b", 1.0) + options.get("c", 5.0)

    settings = {"a": x, "b": x * x}
    return inner(**settings) * inner(a=2.0, c=x)


def polynomial(coefficients):
    def evaluate(x):
        result = 0.0
        for c in coefficients:
            result = result * x + c
        return result

    return evaluate


program(scalar(0.5, 1.5), tags="closure list", name="closure_over_list")(
    polynomial([1.0, -2.0, 0.5, 3.0])
)
program(scalar(0.5, 1.5), tags="closure array", name="closure_over_array")(
    polynomial(np.array([0.3, 0.1, -2.0]))
)
program(scalar(0.2, 0.9), scalar(0.5, 1.0), tags="lambda", name="lambda_of_two")(
    lambda x, y: math.sin(x) * y if x > y else math.cos(x) * y
)


def power_mean(values, exponent, shift=0.0):
    return np.mean((values + shift) ** exponent) ** (1.0 / exponent)


program(array(4, low=0.5, high=1.5), tags="partial", name="partial_of_power_mean")(
    functools.partial(power_mean, exponent=3, shift=0.1)
)


@program(scalar(0.5, 1.5), tags="higher-order")
def composes_functions(x):
    def compose(*fs):
        def composed(v):
            for f in fs:
                v = f(v)
            return v

        return composed

    return compose(math.sin, lambda v: v * v + 1, np.log, lambda v: v * x)(x)


@program(scalar(0.5, 1.5), tags="higher-order map")
def maps_and_sums(x):
    shifted = [x + k for k in range(4)]
    return sum(map(lambda v: v * v, shifted)) + sum(v for v in shifted if v > 0)


@program(scalar(0.5, 1.5), tags="nonlocal closure")
def counts_through_nonlocal(x):
    total = 0.0
    calls = 0

    def add(v):
        nonlocal total, calls
        total += v * v
        calls += 1

    for k in range(4):
        add(x * (k + 1))
    return total / calls


@program(scalar(1.0, 2.0), tags="higher-order solver while")
def root_by_bisection_then_newton(target):
    def solve(f, df, low, high):
        for _ in range(4):
            mid = (low + high) / 2
            if f(mid) > 0:
                high = mid
            else:
                low = mid
        x = (low + high) / 2
        while abs(f(x)) > 1e-13:
            x = x - f(x) / df(x)
        return x

    return solve(lambda v: v**3 + v - target, lambda v: 3 * v**2 + 1, 0.0, 3.0)


@program(scalar(0.2, 0.8), scalar(0.2, 0.8), tags="decorator memo")
def decorated_helper(x, y):
    def twice(f):
        @functools.wraps(f)
        def wrapper(*args):
            return f(f(*args))

        return wrapper

    @twice
    def bend(v):
        return math.sin(v) + y

    return bend(x)


# -- Numba ----------------------------------------------------------------------------------------


@numba.njit
def pairwise_energy(x):
    energy = 0.0
    for i in range(x.shape[0]):
        for j in range(i):
            energy += 1.0 / (0.1 + (x[i] - x[j]) ** 2)
    return energy


@numba.njit
def clamp(v, low, high):
    return min(max(v, low), high)


@program(array(5), tags="njit for nested")
def calls_njit_helper(x):
    return pairwise_energy(x) + clamp(x[0], -0.1, 0.1) + pairwise_energy(2.0 * x)


program(array(5), tags="njit for", name="njit_function_itself")(pairwise_energy)


@program(array(6), tags="njit prange-free numba-tutorial")
def numba_tutorial_trace(a):
    """The function of Numba's five-minute guide, on a vector."""

    @numba.njit
    def go_fast(v):
        trace = 0.0
        for i in range(v.shape[0]):
            trace += np.tanh(v[i])
        return v + trace

    return np.sum(go_fast(a) ** 2)


# -- structures -----------------------------------------------------------------------------------


@program(several(lambda a, b: {"slope": a, "offset": b}, scalar(0.5, 1.0), scalar(0.1, 1.0)),
         tags="dict-argument")  # fmt: skip
def line_fit(params):
    error = 0.0
    for x, y in [(0.0, 0.1), (1.0, 1.3), (2.0, 1.9)]:
        error += (params["slope"] * x + params["offset"] - y) ** 2
    return error


@program(several(lambda a, b, c: [(a, b), c], array(3, 2), array(3), array(3)),
         tags="list-argument tuple-argument matmul")  # fmt: skip
def two_layers(layers):
    (w, b), out = layers
    hidden = np.tanh(w @ np.array([0.3, -0.2]) + b)
    return np.sum(out * hidden)


class Spring(NamedTuple):
    stiffness: float
    rest: float

    def energy(self, length):
        return 0.5 * self.stiffness * (length - self.rest) ** 2


@program(several(Spring, scalar(0.5, 1.0), scalar(0.1, 1.0)), scalar(1.0, 2.0), tags="namedtuple")
def spring_energy(spring, length):
    return spring.energy(length) + spring._replace(rest=length / 2).energy(length)


@dataclass
class Body:
    mass: float
    position: np.ndarray
    velocity: np.ndarray


@program(several(Body, scalar(0.5, 1.0), array(2), array(2)), tags="dataclass")
def total_energy(body):
    kinetic = 0.5 * body.mass * np.dot(body.velocity, body.velocity)
    return kinetic + body.mass * 9.81 * body.position[1]


class Integrator:
    """An object with state, the way simulation code has it."""

    def __init__(self, dt):
        self.dt = dt
        self.steps = 0

    def step(self, x, v, force):
        self.steps += 1
        v = v + self.dt * force(x)
        return x + self.dt * v, v


@program(scalar(0.5, 1.0), scalar(0.1, 1.0), tags="object method attribute-write")
def oscillator_with_object(x, v):
    integrator = Integrator(0.1)
    for _ in range(10):
        x, v = integrator.step(x, v, lambda q: -q)
    return x * x + v * v + integrator.steps * x


class Regression:
    def __init__(self, inputs, targets):
        self.inputs = inputs
        self.targets = targets
        self.calls = 0

    def predict(self, w):
        return self.inputs @ w

    def loss(self, w):
        self.calls += 1
        return np.mean((self.predict(w) - self.targets) ** 2)


program(array(2), tags="bound-method", name="bound_method_loss")(
    Regression(np.array([[1.0, 0.5], [0.2, -1.0], [0.7, 0.1]]), np.array([0.3, 0.2, 0.9])).loss
)


class Affine:
    def __init__(self, a):
        self.a = a

    def __call__(self, x):
        return self.a * x + 1.0

    def __add__(self, other):
        return Affine(self.a + other.a)

    @property
    def doubled(self):
        return 2.0 * self.a


program(scalar(0.5, 1.0), tags="callable-object", name="callable_object")(Affine(3.0))


@program(scalar(0.5, 1.0), tags="operator-overloading property")
def objects_holding_numbers(x):
    f = Affine(x) + Affine(x * x)
    return f(x) * f.doubled


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y)

    def dot(self, other):
        return self.x * other.x + self.y * other.y


@program(scalar(0.5, 1.0), scalar(0.5, 1.0), tags="class-instances")
def vectors_as_objects(x, y):
    a = Vector(x, y)
    b = Vector(y * y, 1.0)
    d = a - b
    return math.sqrt(d.dot(d)) + a.dot(b)


@program(scalar(0.5, 1.0), tags="list append loop")
def builds_a_list(x):
    values = [x]
    for k in range(5):
        values.append(values[-1] * x + k)
    values[0] = values.pop()
    return sum(values) * values[2] + len(values)


@program(scalar(0.5, 1.0), tags="list comprehension")
def comprehensions(x):
    powers = [x**k for k in range(1, 6) if k != 3]
    table = {k: v for k, v in enumerate(powers)}
    return sum(v / (1 + k) for k, v in table.items()) + max(powers)


@program(scalar(0.5, 1.0), tags="generator")
def generator_function(x):
    def terms(n):
        t = 1.0
        for k in range(1, n):
            t = t * x / k
            yield t

    return sum(terms(8))


@program(scalar(0.5, 1.0), scalar(0.5, 1.0), tags="dict string")
def dispatch_on_strings(x, y):
    operations = {"add": lambda a, b: a + b, "mul": lambda a, b: a * b}
    result = x
    for name in ["add", "mul", "mul", "add"]:
        result = operations[name](result, y)
    return result


@program(scalar(0.5, 1.0), scalar(0.5, 1.0), tags="state dict branch")
def state_machine(x, y):
    state = {"level": x, "count": 0}
    for _ in range(6):
        if state["level"] > 1.0:
            state["level"] = state["level"] * y
        else:
            state["level"] = state["level"] + x
            state["count"] += 1
    return state["level"] * state["count"]


@program(scalar(0.5, 1.0), tags="tuple-return unpack star")
def returns_and_unpacks(x):
    def stats(*values):
        return sum(values) / len(values), max(values), min(values)

    mean, *extremes = stats(x, x * x, 2.0 * x)
    return mean * extremes[0] - extremes[1]


@program(array(4), tags="try-finally with")
def with_errstate(x):
    with np.errstate(divide="ignore"):
        y = np.sum(x * x)
    try:
        z = y / (1 + y)
    finally:
        y = y + 1.0
    return z * y


@program(array(3), array(3), tags="isinstance none-default")
def optional_argument(x, w, prior=None):
    value = np.sum(w * x)
    if prior is not None:
        value += prior
    if isinstance(x, np.ndarray) and x.ndim == 1:
        value = value * value
    return value


@program(scalar(0.3, 0.9), tags="walrus match")
def newer_syntax(x):
    if (y := x * x) > 0.05:
        z = y + 1.0
    else:
        z = y
    match len([1, 2, 3]):
        case 3:
            return z * y
        case _:
            return z


@program(scalar(0.3, 0.9), tags="recursion closure")
def recursive_tree_sum(x):
    def tree(depth, scale):
        if depth == 0:
            return math.sin(scale)
        return tree(depth - 1, scale * x) + tree(depth - 1, scale * (1 - x))

    return tree(4, 1.0)


# -- order, and None ------------------------------------------------------------------------------


@program(array(6), tags="sorted key")
def weights_by_rank(x):
    ranked = sorted(x, key=lambda v: (v - 0.3) ** 2, reverse=True)
    return sum(v * 0.5**k for k, v in enumerate(ranked))


@program(scalar(0.2, 0.9), scalar(0.2, 0.9), tags="sorted tuples")
def pairs_in_order(x, y):
    pairs = sorted([(x * y, x), (y - x, 2.0 * y), (0.1 + x, y * y)], key=lambda p: p[0])
    (_, a), (_, b), (_, c) = pairs
    return math.sin(a) + b * c


@program(array(5), tags="min max key")
def extremes_by_key(x):
    def distance(v):
        return abs(v - 0.2)

    return min(x.tolist(), key=distance) * max(x[0], x[1], key=lambda v: v * v) + max(x)


@program(array(6), tags="none loop tuple")
def nearest_with_place(x):
    best = None
    for i in range(len(x)):
        d = (x[i] - 0.35) ** 2
        if best is None or d < best[0]:
            best = (d, x[i], i)
    return best[0] * best[1] + best[2] * x[0]


@program(array(7), tags="none loop")
def differences_of_kept(x):
    last, total = None, 0.0
    for v in x:
        if v < -0.6:
            continue
        if last is not None:
            total += (v - last) ** 2
        last = v
    return total if last is None else total + last


@program(scalar(1.2, 1.8), scalar(0.2, 0.6), tags="none default")
def optional_arguments(x, y):
    def model(z, rate=None):
        rate = rate or 0.5 * z
        return math.exp(-rate * z)

    def estimate(z):
        return z * z if z > 1.0 else None

    return model(x, estimate(x)) + model(y, estimate(y)) * (estimate(x * y) or y)
