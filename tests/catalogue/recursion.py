"""Which programs does the catalogue have whose functions call themselves?"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tests.catalogue.entry import Catalogue, array, scalar

catalogue = Catalogue()
program = catalogue.add

RATE = 0.7


# -- over numbers ---------------------------------------------------------------------------------


@program(scalar(5.0, 7.0), tags="recursion")
def halved_until_small(x):
    if x < 1.0:
        return x * x
    return math.sin(halved_until_small(0.5 * x)) + x


@program(scalar(3.1, 3.4), tags="recursion")
def falling_factorial(x):
    return 1.0 if x < 1.0 else x * falling_factorial(x - 1.0)


@program(scalar(0.3, 0.9), tags="recursion njit")
def power_by_halves(x):
    def power(n):
        if n == 0:
            return 1.0
        half = power(n // 2)
        return half * half * x if n % 2 else half * half

    return power(int(x * 10) + 5)


@program(scalar(0.5, 0.9), tags="recursion global-scalar")
def continued_fraction_tail(x):
    def tail(k):
        if k * RATE > 8.0 + x:
            return x
        return k + x / tail(k + 1)

    return tail(1)


@program(scalar(0.2, 0.8), scalar(1.5, 2.5), tags="recursion mutual")
def hailstones(x, y):
    def even(z, depth):
        return z if depth <= 0 else odd(z * x, depth - 1) + 0.1 * z

    def odd(z, depth):
        return math.cos(z) if depth <= 0 else even(z + x, depth - 2) * 0.9

    return even(y, int(y * 4)) + odd(x, int(y * 3))


@program(scalar(0.1, 0.4), scalar(1.1, 1.6), tags="recursion while", truth="differences")
def adaptive_simpson(a, b):
    def f(x):
        return math.exp(-x) * math.sin(4.0 * x)

    def simpson(fa, fm, fb, width):
        return width / 6.0 * (fa + 4.0 * fm + fb)

    def integrate(lo, hi, fa, fm, fb, whole, depth):
        mid = 0.5 * (lo + hi)
        left, right = f(0.5 * (lo + mid)), f(0.5 * (mid + hi))
        first = simpson(fa, left, fm, mid - lo)
        second = simpson(fm, right, fb, hi - mid)
        if depth <= 0 or abs(first + second - whole) < 1e-5:
            return first + second + (first + second - whole) / 15.0
        return integrate(lo, mid, fa, left, fm, first, depth - 1) + integrate(
            mid, hi, fm, right, fb, second, depth - 1
        )

    fa, fm, fb = f(a), f(0.5 * (a + b)), f(b)
    return integrate(a, b, fa, fm, fb, simpson(fa, fm, fb, b - a), 20)


@program(scalar(0.5, 1.5), scalar(2.0, 3.0), tags="recursion tuple")
def euclid_with_floats(x, y):
    def reduce(a, b, steps):
        if b < 0.2:
            return a, b, steps
        return reduce(b, a - b * math.floor(a / b), steps + 1)

    a, b, steps = reduce(y, x, 0)
    return a + b * steps


@program(scalar(0.3, 0.6), tags="recursion ackermann", truth="differences")
def ackermann_weights(x):
    def ackermann(m, n, w):
        if m == 0:
            return (n + 1) * w
        if n == 0:
            return ackermann(m - 1, 1, w * x)
        return ackermann(m - 1, int(ackermann(m, n - 1, 1.0)), w * x)

    return ackermann(2, int(4 * x), x)


@program(scalar(0.5, 0.9), tags="recursion loop-inside")
def tree_with_loops(x):
    def tree(level):
        total = level * x
        for k in range(level):
            total = total + math.sin(x * tree(k)) * (k + 1)
        return total

    return tree(int(x * 3) + 3)


# -- over arrays ----------------------------------------------------------------------------------


@program(array(4, 4), tags="recursion determinant")
def determinant_by_minors(a):
    n = len(a)
    if n == 1:
        return a[0, 0]
    total = 0.0
    for j in range(n):
        minor = np.empty((n - 1, n - 1))
        for p in range(n - 1):
            for q in range(n - 1):
                minor[p, q] = a[p + 1, q + 1 if q >= j else q]
        total += (-1.0) ** j * a[0, j] * determinant_by_minors(minor)
    return total


@program(array(11), tags="recursion slices")
def summed_by_halves(x):
    n = len(x)
    if n == 1:
        return math.sin(x[0])
    return summed_by_halves(x[: n // 2]) + 0.5 * summed_by_halves(x[n // 2 :])


@program(array(9), tags="recursion index")
def heap_of_numbers(x):
    def under(k):
        out = math.cos(x[k])
        for child in (2 * k + 1, 2 * k + 2):
            if child < len(x):
                out += x[k] * under(child)
        return out

    return under(0)


@program(array(8), tags="recursion inplace")
def filled_by_bisection(x):
    out = np.zeros(len(x))

    def fill(lo, hi, weight):
        if hi - lo < 1:
            return
        mid = (lo + hi) // 2
        out[mid] = x[mid] * weight + out[0]
        fill(lo, mid, weight * 0.5)
        fill(mid + 1, hi, weight * 0.8)

    fill(0, len(x), 1.0)
    return np.sum(out**2)


@program(array(8), tags="recursion inplace argument", truth="differences")
def sorted_by_recursion(x):
    def sort(a, lo, hi):
        if hi - lo < 2:
            return
        pivot, store = a[lo], lo
        for k in range(lo + 1, hi):
            if a[k] < pivot:
                store += 1
                a[store], a[k] = a[k], a[store]
        a[lo], a[store] = a[store], a[lo]
        sort(a, lo, store)
        sort(a, store + 1, hi)

    y = x * 1.0
    sort(y, 0, len(y))
    return np.sum(y * np.arange(len(y)))


@program(array(8), tags="recursion inplace view", truth="differences")
def transformed_in_place(x):
    def haar(a):
        n = len(a)
        if n < 2:
            return
        half = n // 2
        low = 0.5 * (a[0::2][:half] + a[1::2][:half])
        high = 0.5 * (a[0::2][:half] - a[1::2][:half])
        a[:half] = low
        a[half : 2 * half] = high
        haar(a[:half])

    y = x * 1.0
    haar(y)
    return np.sum(y**3 * np.arange(1, len(y) + 1))


@program(array(3, 3), tags="recursion returns-array")
def matrix_power_by_squaring(a):
    def power(m, n):
        if n == 1:
            return m
        half = power(m, n // 2)
        square = half @ half
        return square @ m if n % 2 else square

    return np.sum(power(a, len(a) + 3)[0])


# -- with structure -------------------------------------------------------------------------------


class Pair(NamedTuple):
    value: float
    count: float


@dataclass
class Tally:
    total: float
    calls: float


@program(scalar(4.0, 5.0), tags="recursion namedtuple")
def returns_a_named_tuple(x):
    def walk(z):
        if z < 1.0:
            return Pair(z, 1.0)
        inner = walk(z * 0.6)
        return Pair(inner.value * math.sin(z), inner.count + z)

    out = walk(x)
    return out.value * out.count


@program(scalar(4.0, 5.0), tags="recursion attributes nonlocal")
def tallies_on_the_way(x):
    tally = Tally(0.0, 0.0)
    deepest = 0.0

    def walk(z):
        nonlocal deepest
        tally.total += z * z
        tally.calls += 1.0
        deepest = max(deepest, tally.calls)
        if z > 1.0:
            walk(z * 0.5)
            walk(z * 0.3)

    walk(x)
    return tally.total * tally.calls + deepest


@program(scalar(0.3, 0.9), tags="recursion static-tree")
def nested_tuples(x):
    def total(node, weight):
        if isinstance(node, tuple):
            return sum(total(part, weight * x) for part in node)
        return math.exp(node * weight)

    return total(((1.0, (0.5, 2.0)), 0.25, ((0.1,),)), 1.0)


@program(scalar(0.6, 0.9), tags="recursion vjp")
def recursion_inside_a_root(x):
    def residual(z, n):
        return z - x if n <= 0 else math.sin(residual(z * 1.1, n - 1)) + 0.1 * z

    z, n = 0.5, int(x * 5)
    for _ in range(3):
        z = z - residual(z, n)
    return z * z
