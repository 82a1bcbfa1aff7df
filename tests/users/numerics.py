"""Which programs do people copy from textbooks of numerical methods?"""

import math
from dataclasses import dataclass

import numba
import numpy as np

from tests.catalogue.entry import Catalogue, array, scalar, several

catalogue = Catalogue()
program = catalogue.add


@program(scalar(0.5, 1.5), scalar(1.0, 2.0))
def romberg(a, b):
    def f(x):
        return np.exp(-a * x * x)

    rows = [[0.5 * b * (f(0.0) + f(b))]]
    n = 1
    for i in range(1, 5):
        n *= 2
        h = b / n
        mid = sum(f((2 * k - 1) * h) for k in range(1, n // 2 + 1))
        row = [0.5 * rows[-1][0] + h * mid]
        for j in range(1, i + 1):
            row.append(row[j - 1] + (row[j - 1] - rows[-1][j - 1]) / (4**j - 1))
        rows.append(row)
    return rows[-1][-1]


@program(scalar(0.5, 1.5))
def adaptive_simpson(a):
    def f(x):
        return np.sin(a * x) / (0.1 + x)

    def simpson(l, r):
        return (r - l) / 6 * (f(l) + 4 * f((l + r) / 2) + f(r))

    stack, total = [(0.0, 2.0, simpson(0.0, 2.0))], 0.0
    while stack:
        l, r, whole = stack.pop()
        m = (l + r) / 2
        left, right = simpson(l, m), simpson(m, r)
        if abs(left + right - whole) < 1e-4:
            total += left + right
        else:
            stack.append((l, m, left))
            stack.append((m, r, right))
    return total


@program(scalar(0.5, 1.5))
def adaptive_quadrature_recursive(a):
    def f(x):
        return 1.0 / (0.2 + a * x * x)

    def go(l, r, fl, fr, depth):
        m = 0.5 * (l + r)
        fm = f(m)
        one = 0.5 * (r - l) * (fl + fr)
        two = 0.25 * (r - l) * (fl + 2 * fm + fr)
        if depth == 0 or abs(one - two) < 1e-3:
            return two
        return go(l, m, fl, fm, depth - 1) + go(m, r, fm, fr, depth - 1)

    return go(0.0, 2.0, f(0.0), f(2.0), 8)


@program(scalar(1.0, 3.0), scalar(0.5, 1.5))
def secant_with_history(c, x0):
    def f(x):
        return x * x * x - c

    xs = [x0, x0 + 0.5]
    while abs(xs[-1] - xs[-2]) > 1e-10:
        a, b = xs[-2], xs[-1]
        xs.append(b - f(b) * (b - a) / (f(b) - f(a)))
    return xs[-1] + 0.0 * len(xs)


@program(array(5, low=0.5, high=1.5), scalar(0.2, 0.8))
def newton_interpolation(y, at):
    x = [0.0, 0.3, 0.5, 0.8, 1.0]
    coef = list(y)
    for j in range(1, len(x)):
        for i in range(len(x) - 1, j - 1, -1):
            coef[i] = (coef[i] - coef[i - 1]) / (x[i] - x[i - j])
    value = coef[-1]
    for c, xk in zip(reversed(coef[:-1]), reversed(x[:-1])):
        value = value * (at - xk) + c
    return value


@program(array(6), scalar(0.3, 2.6))
def natural_spline(y, at):
    n = len(y) - 1
    m = np.zeros(n + 1)
    lower, diag, rhs = np.ones(n - 1), 4.0 * np.ones(n - 1), np.zeros(n - 1)
    for i in range(1, n):
        rhs[i - 1] = 6.0 * (y[i + 1] - 2 * y[i] + y[i - 1])
    for i in range(1, n - 1):
        w = lower[i] / diag[i - 1]
        diag[i] -= w
        rhs[i] -= w * rhs[i - 1]
    m[n - 1] = rhs[-1] / diag[-1]
    for i in range(n - 2, 0, -1):
        m[i] = (rhs[i - 1] - m[i + 1]) / diag[i - 1]
    k = 0
    while k < n - 1 and at > k + 1:
        k += 1
    a, b = k + 1 - at, at - k
    return a * y[k] + b * y[k + 1] + ((a**3 - a) * m[k] + (b**3 - b) * m[k + 1]) / 6


@program(array(4, 4), array(4))
def gauss_with_pivoting(a, b):
    a, b = a + 2.0 * np.eye(4), b.copy()
    n = 4
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        if p != k:
            for j in range(n):
                a[k, j], a[p, j] = a[p, j], a[k, j]
            b[k], b[p] = b[p], b[k]
        for i in range(k + 1, n):
            f = a[i, k] / a[k, k]
            a[i, k:] -= f * a[k, k:]
            b[i] -= f * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return np.sum(x**2)


@program(array(4, 4))
def gram_schmidt(a):
    basis = []
    for v in a.T:
        w = v.copy()
        for q in basis:
            w = w - (q @ v) * q
        norm = np.sqrt(w @ w)
        if norm > 1e-10:
            basis.append(w / norm)
    q = np.array(basis)
    return np.sum(q[:, 0] ** 3) + q[1, 2]


@program(array(3, 3), array(3, low=0.5, high=1.0))
def power_iteration(a, v):
    a = a @ a.T + np.diag([1.0, 2.0, 4.0])
    lam, old = 0.0, 1.0
    for _ in range(500):
        v = a @ v
        lam = np.sqrt(v @ v)
        v = v / lam
        if abs(lam - old) < 1e-12:
            break
        old = lam
    return lam


@program(scalar(0.2, 0.6), scalar(0.5, 1.0))
def dormand_prince_steps(rate, y0):
    """An embedded pair with steps of its own choice, as in ODE textbooks."""
    c = [0.0, 0.5, 0.75, 1.0]
    a = [[], [0.5], [0.0, 0.75], [2 / 9, 1 / 3, 4 / 9]]
    b4 = [7 / 24, 1 / 4, 1 / 3, 1 / 8]

    def f(t, y):
        return -rate * y + np.sin(t)

    t, y, h, steps = 0.0, y0, 0.2, []
    while t < 2.0 - 1e-12:
        h = min(h, 2.0 - t)
        k = []
        for i in range(4):
            yi = y + h * sum((a[i][j] * k[j] for j in range(i)), 0.0)
            k.append(f(t + c[i] * h, yi))
        y3 = y + h * sum(a[3][j] * k[j] for j in range(3))
        y4 = y + h * sum(b4[j] * k[j] for j in range(4))
        error = abs(y3 - y4)
        if error < 1e-4:
            t, y = t + h, y3
            steps.append(y)
        h = h * (1.5 if error < 1e-5 else 0.7 if error > 1e-4 else 1.0)
    return steps[-1] + sum(s * s for s in steps) / 100


@program(array(8))
def recursive_fft_power(x):
    """Radix two, real and imaginary parts in pairs."""

    def fft(v):
        n = len(v)
        if n == 1:
            return v
        even, odd = fft(v[::2]), fft(v[1::2])
        out = [None] * n
        for k in range(n // 2):
            c, s = math.cos(2 * math.pi * k / n), math.sin(2 * math.pi * k / n)
            re, im = odd[k]
            t = (c * re + s * im, c * im - s * re)
            out[k] = (even[k][0] + t[0], even[k][1] + t[1])
            out[k + n // 2] = (even[k][0] - t[0], even[k][1] - t[1])
        return out

    spectrum = fft([(v, 0.0) for v in x])
    return sum(k * (re * re + im * im) for k, (re, im) in enumerate(spectrum))


@numba.njit
def bisect_njit(c, lo, hi):
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        if mid * mid * mid + mid > c:
            hi = mid
        else:
            lo = mid
        if hi - lo < 1e-6:
            return mid
    return mid


@program(scalar(1.0, 3.0), tags="njit early return")
def polished_root(c):
    x = bisect_njit(c, 0.0, 2.0)
    for _ in range(3):
        x = x - (x**3 + x - c) / (3 * x * x + 1)
    return x


@program(array(6, low=0.1, high=1.0))
def merge_sort_weighted(x):
    def merge(a, b):
        if not a or not b:
            return a or b
        if a[0] <= b[0]:
            return [a[0]] + merge(a[1:], b)
        return [b[0]] + merge(a, b[1:])

    first, second = [x[0], x[1] + 1.0], [x[2] + 0.5, x[3] + 2.0]
    merged = merge(first, second)
    return sum(v * (k + 1) for k, v in enumerate(merged))


@program(array(6, low=0.1, high=1.0))
def insertion_sort_in_place(x):
    a = x.copy()
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return np.sum(a * np.arange(6)) + a[0] * a[-1]


@program(array(5), scalar(-0.9, 0.9))
def clenshaw(c, x):
    b1 = b2 = 0.0
    for ck in c[:0:-1]:
        b1, b2 = 2 * x * b1 - b2 + ck, b1
    return x * b1 - b2 + c[0]


@program(scalar(0.3, 0.9))
def continued_fraction(x):
    """Lentz's method until the factor is one."""
    tiny = 1e-30
    f = c = 1.0
    d = 0.0
    for n in range(1, 100):
        a, b = n * x * 0.1, 1.0 + x
        d = 1.0 / (b + a * d + tiny)
        c = b + a / c
        delta = c * d
        f *= delta
        if abs(delta - 1.0) < 1e-12:
            break
    return f


@program(scalar(0.5, 2.0))
def series_until_small(x):
    terms = [x]
    k = 1
    while abs(terms[-1]) > 1e-14:
        terms.append(-terms[-1] * x * x / ((2 * k) * (2 * k + 1)))
        k += 1
    return sum(reversed(terms))


@dataclass
class Grid:
    n: int
    h: float
    u: np.ndarray

    def residual(self, f):
        r = np.zeros_like(self.u)
        r[1:-1] = f[1:-1] - (2 * self.u[1:-1] - self.u[:-2] - self.u[2:]) / self.h**2
        return r

    def smooth(self, f, sweeps):
        for _ in range(sweeps):
            for i in range(1, self.n):
                self.u[i] = 0.5 * (self.u[i - 1] + self.u[i + 1] + self.h**2 * f[i])


@program(array(9))
def two_grid_cycle(f):
    fine = Grid(8, 1 / 8, np.zeros(9))
    fine.smooth(f, 2)
    coarse = Grid(4, 1 / 4, np.zeros(5))
    coarse.smooth(fine.residual(f)[::2], 3)
    fine.u[::2] += coarse.u
    fine.u[1::2] += 0.5 * (coarse.u[:-1] + coarse.u[1:])
    fine.smooth(f, 1)
    return np.sum(fine.u**2)


@program(array(4), scalar(0.5, 1.5))
def horner_with_derivative(c, x):
    p, dp = 0.0, 0.0
    for a in c:
        p, dp = p * x + a, dp * x + p
    return p * dp


@program(array(2, low=0.5, high=1.5), scalar(1.0, 2.0))
def broyden(x0, c):
    def f(x):
        return np.array([x[0] ** 2 + x[1] - c, x[0] + 2 * x[1] ** 2 - 2.0])

    x, b = x0, np.array([[2.0, 1.0], [1.0, 4.0]])
    fx = f(x)
    for _ in range(8):
        step = -np.linalg.solve(b, fx)
        x = x + step
        new = f(x)
        b = b + np.outer(new - fx - b @ step, step) / (step @ step)
        fx = new
        if fx @ fx < 1e-8:
            break
    return x @ x


@program(array(4, low=0.2, high=1.0))
def golden_section(p):
    g = (math.sqrt(5.0) - 1) / 2

    def f(x):
        return p[0] * (x - p[1]) ** 2 + 0.1 * p[2] * x**4

    lo, hi = -1.0, 2.0
    x1, x2 = hi - g * (hi - lo), lo + g * (hi - lo)
    f1, f2 = f(x1), f(x2)
    for _ in range(12):
        if f1 < f2:
            hi, x2, f2 = x2, x1, f1
            x1 = hi - g * (hi - lo)
            f1 = f(x1)
        else:
            lo, x1, f1 = x1, x2, f2
            x2 = lo + g * (hi - lo)
            f2 = f(x2)
    return min(f1, f2) + p[3]


@program(several(lambda *r: {"a": [list(x) for x in r]}, array(3), array(3), array(3)))
def determinant_of_lists(m):
    def det(a):
        if len(a) == 1:
            return a[0][0]
        return sum(
            (-1) ** j * a[0][j] * det([row[:j] + row[j + 1 :] for row in a[1:]])
            for j in range(len(a))
        )

    rows = [[float(i == j) + m["a"][i][j] for j in range(3)] for i in range(3)]
    return det(rows)


@program(array(5, low=0.1, high=1.0), array(5, low=0.1, high=1.0))
def edit_distance_of_series(x, y):
    """Dynamic time warping, a table in a dict."""
    table = {(-1, -1): 0.0}
    for i in range(5):
        table[i, -1] = table[-1, i] = 100.0
    for i, a in enumerate(x):
        for j, b in enumerate(y):
            cost = (a - b) ** 2
            table[i, j] = cost + min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1])
    return table[4, 4]


@program(array(6, low=0.1, high=1.0))
def shortest_path(w):
    """Bellman and Ford on a small graph, distances in a list."""
    edges = [(0, 1), (0, 2), (1, 3), (2, 3), (1, 2), (3, 4)]
    distance = [0.0] + [math.inf] * 4
    for _ in range(4):
        for (a, b), length in zip(edges, w):
            if distance[a] + length < distance[b]:
                distance[b] = distance[a] + length
    return distance[4] + distance[2] ** 2


@program(scalar(0.5, 1.5), scalar(0.1, 0.5))
def aitken_acceleration(x0, a):
    def g(x):
        return np.cos(a * x)

    xs = [x0]
    for _ in range(5):
        xs.append(g(xs[-1]))
    out = []
    for p, q, r in zip(xs, xs[1:], xs[2:]):
        denominator = r - 2 * q + p
        out.append(p - (q - p) ** 2 / denominator if abs(denominator) > 1e-9 else r)
    return out[-1]
