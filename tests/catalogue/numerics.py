"""Which numerical methods does the catalogue have: quadrature, ODEs, linear algebra, transforms?"""

import math

import numpy as np

from tests.catalogue.entry import Catalogue, array, scalar

catalogue = Catalogue()
program = catalogue.add


# -- roots, quadrature, interpolation -------------------------------------------------------------


@program(scalar(0.5, 1.5), tags="bisection for branch", truth="differences")
def bisection_polished(a):
    """Bisection alone has derivative zero: a Newton step at the end carries the derivative."""
    low, high = 0.0, 2.0
    for _ in range(20):
        mid = 0.5 * (low + high)
        if mid * mid * mid - a > 0.0:
            high = mid
        else:
            low = mid
    x = 0.5 * (low + high)
    for _ in range(3):
        x -= (x**3 - a) / (3 * x**2)
    return x


@program(scalar(0.1, 0.7), scalar(0.5, 3.0), tags="newton while kepler")
def kepler_equation(eccentricity, anomaly):
    e = anomaly
    while True:
        delta = (e - eccentricity * math.sin(e) - anomaly) / (1 - eccentricity * math.cos(e))
        e -= delta
        if abs(delta) < 1e-14:
            return math.cos(e)


@program(scalar(0.2, 1.0), scalar(1.5, 2.0), 16, tags="simpson for closure")
def simpson_rule(a, b, n):
    def f(t):
        return math.exp(-t * t) * math.sin(a * t)

    h = (b - a) / n
    s = f(a) + f(b)
    for i in range(1, n):
        s += (4 if i % 2 else 2) * f(a + i * h)
    return s * h / 3


@program(scalar(0.5, 1.5), tags="trapezoid array")
def trapezoid_on_a_grid(width):
    t = np.linspace(0.0, 1.0, 21) * width
    y = np.exp(-(t**2))
    return np.sum(0.5 * (y[1:] + y[:-1]) * (t[1:] - t[:-1]))


@program(scalar(0.5, 1.0), tags="gauss-legendre zip")
def gauss_legendre(a):
    nodes = (-0.7745966692414834, 0.0, 0.7745966692414834)
    weights = (5 / 9, 8 / 9, 5 / 9)
    total = 0.0
    for node, weight in zip(nodes, weights):
        total += weight * math.exp(a * node) / (1.0 + a * node * node)
    return total


@program(array(6), scalar(0.15, 0.85), tags="interpolation search while", truth="differences")
def linear_interpolation(y, x):
    grid = [0.0, 0.1, 0.3, 0.6, 0.9, 1.0]
    k = 0
    while k < len(grid) - 2 and grid[k + 1] < x:
        k += 1
    t = (x - grid[k]) / (grid[k + 1] - grid[k])
    return (1 - t) * y[k] + t * y[k + 1] ** 2


@program(array(5), scalar(1.2, 1.8), tags="lagrange nested continue")
def lagrange_interpolation(y, x):
    total = 0.0
    for i in range(5):
        basis = 1.0
        for j in range(5):
            if j == i:
                continue
            basis *= (x - j) / (i - j)
        total += y[i] * basis
    return total


@program(array(6), scalar(2.2, 2.8), tags="spline thomas")
def natural_cubic_spline(y, x):
    """On the knots 0..5, at a point of the third interval."""
    n = len(y)
    second = np.zeros(n)
    c = np.zeros(n)
    d = np.zeros(n)
    for i in range(1, n - 1):
        rhs = 6.0 * (y[i + 1] - 2.0 * y[i] + y[i - 1])
        m = 4.0 - c[i - 1]
        c[i] = 1.0 / m
        d[i] = (rhs - d[i - 1]) / m
    for i in range(n - 2, 0, -1):
        second[i] = d[i] - c[i] * second[i + 1]
    a, b = 3.0 - x, x - 2.0
    return a * y[2] + b * y[3] + ((a**3 - a) * second[2] + (b**3 - b) * second[3]) / 6.0


@program(array(6), scalar(-0.8, 0.8), tags="clenshaw negative-step")
def clenshaw_chebyshev(c, x):
    b1 = b2 = 0.0
    for k in range(len(c) - 1, 0, -1):
        b1, b2 = 2 * x * b1 - b2 + c[k], b1
    return x * b1 - b2 + c[0]


@program(scalar(0.3, 0.9), 6, tags="recurrence for")
def legendre_polynomial(x, n):
    p0, p1 = 1.0, x
    for k in range(2, n + 1):
        p0, p1 = p1, ((2 * k - 1) * x * p1 - (k - 1) * p0) / k
    return p1


@program(scalar(0.5, 1.0), tags="romberg 2d-array nested")
def romberg_integration(b):
    r = np.zeros((5, 5))
    for i in range(5):
        n = 2**i
        h = b / n
        s = 0.5 * (math.sin(0.0) + math.sin(b * b))
        for k in range(1, n):
            s += math.sin((k * h) ** 2)
        r[i, 0] = h * s
        for j in range(1, i + 1):
            r[i, j] = r[i, j - 1] + (r[i, j - 1] - r[i - 1, j - 1]) / (4**j - 1)
    return r[4, 4]


# -- differential equations -----------------------------------------------------------------------


@program(scalar(0.2, 1.0), scalar(0.5, 1.0), tags="rk4 closure for")
def runge_kutta_scalar(y0, rate):
    def f(t, y):
        return rate * y * (1 - y) + 0.1 * math.sin(t)

    y, t, h = y0, 0.0, 0.1
    for _ in range(20):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(t + h, y + h * k3)
        y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += h
    return y


@program(array(3), array(3, low=0.5, high=1.0), tags="rk4 lorenz array closure")
def lorenz_rk4(start, p):
    def rhs(s):
        return np.array([
            10.0 * p[0] * (s[1] - s[0]),
            s[0] * (28.0 * p[1] - s[2]) - s[1],
            s[0] * s[1] - 8.0 / 3.0 * p[2] * s[2],
        ])  # fmt: skip

    s = start
    h = 0.01
    for _ in range(10):
        k1 = rhs(s)
        k2 = rhs(s + 0.5 * h * k1)
        k3 = rhs(s + 0.5 * h * k2)
        k4 = rhs(s + h * k3)
        s = s + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return np.sum(s**2) / 100.0


@program(scalar(0.5, 1.0), scalar(0.2, 0.4), scalar(0.05, 0.1), tags="euler sir")
def sir_epidemic(beta, gamma, infected):
    s, i, r = 1.0 - infected, infected, 0.0
    burden = 0.0
    for _ in range(30):
        new = beta * s * i * 0.5
        gone = gamma * i * 0.5
        s -= new
        i += new - gone
        r += gone
        burden = max(burden, 0.1 * i) + i * i
    return burden + r


@program(scalar(0.8, 1.2), scalar(0.3, 0.5), tags="lotka-volterra leapfrog")
def lotka_volterra_symplectic(prey, predator):
    for _ in range(25):
        prey = prey * math.exp(0.05 * (1.0 - 2.0 * predator))
        predator = predator * math.exp(0.05 * (prey - 0.8))
    return prey + 2 * predator


@program(array(3, 2), array(3, 2), tags="nbody nested-loops verlet")
def gravity_three_bodies(position, velocity):
    x = position.copy()
    v = velocity.copy()
    mass = [1.0, 0.5, 0.2]
    for _ in range(3):
        for i in range(3):
            for j in range(3):
                if i != j:
                    dx = x[j, 0] - x[i, 0]
                    dy = x[j, 1] - x[i, 1]
                    d = math.sqrt(dx * dx + dy * dy + 0.3)
                    v[i, 0] += 0.02 * mass[j] * dx / d**3
                    v[i, 1] += 0.02 * mass[j] * dy / d**3
        x += 0.02 * v
    return np.sum(v**2) + np.sum(x**2)


@program(scalar(0.5, 1.5), tags="adaptive-step while")
def adaptive_euler(y):
    """Step size chosen from integers only, so that the result stays smooth."""
    t = 0.0
    n = 0
    while t < 1.0:
        h = 0.05 if n % 3 else 0.1
        y = y + h * (math.cos(t) - y * y)
        t += h
        n += 1
    return y


@program(scalar(0.2, 0.9), tags="implicit newton-inside-loop")
def implicit_euler(y):
    for _ in range(6):
        z = y
        for _ in range(8):
            z -= (z - y + 0.1 * z**3) / (1 + 0.3 * z**2)
        y = z
    return y


# -- linear algebra by loops ----------------------------------------------------------------------


@program(array(5), array(5), tags="thomas tridiagonal for inplace")
def thomas_algorithm(diagonal, rhs):
    b = diagonal + 4.0
    d = rhs.copy()
    for i in range(1, 5):
        m = 1.0 / b[i - 1]
        b[i] -= m
        d[i] -= m * d[i - 1]
    x = np.zeros(5)
    x[4] = d[4] / b[4]
    for i in range(3, -1, -1):
        x[i] = (d[i] - x[i + 1]) / b[i]
    return x @ x


@program(array(4, 4), tags="cholesky nested triangular")
def cholesky_log_determinant(m):
    a = m @ m.T + 4.0 * np.eye(4)
    lower = np.zeros_like(a)
    for i in range(4):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= lower[i, k] * lower[j, k]
            if i == j:
                lower[i, i] = math.sqrt(s)
            else:
                lower[i, j] = s / lower[j, j]
    total = 0.0
    for i in range(4):
        total += 2.0 * math.log(lower[i, i])
    return total


@program(array(4, 4), array(4), tags="gauss pivot row-swap")
def gauss_elimination(m, b):
    n = 4
    a = m.copy()
    x = b.copy()
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[pivot, k]):
                pivot = i
        if pivot != k:
            for j in range(n):
                a[k, j], a[pivot, j] = a[pivot, j], a[k, j]
            x[k], x[pivot] = x[pivot], x[k]
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i, k:] -= factor * a[k, k:]
            x[i] -= factor * x[k]
    for i in range(n - 1, -1, -1):
        x[i] = (x[i] - np.dot(a[i, i + 1 :], x[i + 1 :])) / a[i, i]
    return np.sum(np.tanh(x))


@program(array(4, 4), array(4), tags="conjugate-gradients while matvec")
def conjugate_gradients(m, b):
    a = m.T @ m + np.eye(4)
    x = np.zeros(4)
    r = b - a @ x
    p = r
    rs = r @ r
    for _ in range(3):
        ap = a @ p
        alpha = rs / (p @ ap)
        x = x + alpha * p
        r = r - alpha * ap
        new = r @ r
        p = r + new / rs * p
        rs = new
    return b @ x


@program(array(3, 3), tags="power-iteration matvec")
def power_iteration(m):
    a = m @ m.T + np.diag(np.array([3.0, 1.0, 0.5]))
    v = np.ones(3)
    for _ in range(12):
        v = a @ v
        v = v / np.sqrt(v @ v)
    return v @ a @ v


@program(array(3, 3), tags="matrix-exponential taylor")
def matrix_exponential_trace(m):
    term = np.eye(3)
    total = np.eye(3)
    for k in range(1, 12):
        term = term @ m / k
        total = total + term
    return np.trace(total) + total[0, 2]


@program(array(3, 3), tags="inverse newton-schulz")
def newton_schulz_inverse(m):
    a = np.eye(3) + 0.2 * m
    x = np.eye(3)
    for _ in range(6):
        x = x @ (2.0 * np.eye(3) - a @ x)
    return np.sum(x * m)


@program(array(3, 3), tags="determinant cofactor")
def determinant_three(m):
    (a, b, c), (d, e, f), (g, h, i) = m
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


@program(array(4, 3), tags="gram-schmidt nested slices")
def gram_schmidt(a):
    q = np.zeros((4, 3))
    for j in range(3):
        v = a[:, j].copy()
        for k in range(j):
            v -= np.dot(q[:, k], a[:, j]) * q[:, k]
        q[:, j] = v / np.sqrt(np.sum(v * v))
    return np.sum(q[:, 0] * q[:, 2] + q[:, 1] ** 3)


@program(array(2, 2), tags="jacobi rotation")
def jacobi_eigenvalue(m):
    b = m[0, 1] + m[1, 0] + 2.5
    theta = 0.5 * math.atan2(2 * b, m[0, 0] - m[1, 1])
    c, s = math.cos(theta), math.sin(theta)
    return c * c * m[0, 0] + 2 * c * s * b + s * s * m[1, 1]


@program(array(5), array(5), tags="gauss-seidel sweep inplace")
def gauss_seidel(x0, b):
    x = x0.copy()
    for _ in range(4):
        for i in range(5):
            s = b[i]
            if i > 0:
                s += x[i - 1]
            if i < 4:
                s += x[i + 1]
            x[i] = s / 4.0
    return np.sum(x**2)


@program(array(3, 3), tags="np-linalg")
def library_solve(m):
    a = m + 4.0 * np.eye(3)
    return np.sum(np.linalg.solve(a, np.ones(3))) + np.log(np.linalg.det(a))


# -- transforms, dynamic programming, summation ---------------------------------------------------


@program(array(8), tags="dft nested trig")
def power_spectrum_by_dft(x):
    n = len(x)
    total = 0.0
    for k in range(n // 2):
        re = im = 0.0
        for t in range(n):
            angle = -2.0 * math.pi * k * t / n
            re += x[t] * math.cos(angle)
            im += x[t] * math.sin(angle)
        total += (re * re + im * im) / (1 + k)
    return total


@program(array(8), array(3), tags="convolution nested index")
def convolution_valid(signal, kernel):
    out = np.zeros(len(signal) - len(kernel) + 1)
    for i in range(len(out)):
        for j in range(len(kernel)):
            out[i] += signal[i + j] * kernel[len(kernel) - 1 - j]
    return np.sum(out**2)


@program(array(5, 5), array(3, 3), tags="convolution 2d slices")
def convolution_two_dimensional(image, kernel):
    out = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            out[i, j] = np.sum(image[i : i + 3, j : j + 3] * kernel)
    return np.sum(np.tanh(out))


@program(array(5), array(6), tags="dtw dynamic-programming min 2d")
def dynamic_time_warping(a, b):
    n, m = len(a), len(b)
    cost = np.full((n + 1, m + 1), 1e6)
    cost[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            d = (a[i - 1] - b[j - 1]) ** 2
            cost[i, j] = d + min(cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1])
    return cost[n, m]


@program(array(4), array(5), tags="soft-dtw dynamic-programming logsumexp")
def soft_edit_distance(a, b):
    def softmin(p, q, r):
        return -0.5 * math.log(math.exp(-2 * p) + math.exp(-2 * q) + math.exp(-2 * r))

    n, m = len(a), len(b)
    row = [0.4 * j for j in range(m + 1)]
    for i in range(n):
        new = [0.4 * (i + 1)]
        for j in range(m):
            match = row[j] + (a[i] - b[j]) ** 2
            new.append(softmin(match, row[j + 1] + 0.4, new[j] + 0.4))
        row = new
    return row[-1]


@program(array(6, low=0.5, high=1.5), tags="matrix-chain interval-dp min")
def optimal_merge_cost(weights):
    n = len(weights)
    best = np.zeros((n, n))
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            total = np.sum(weights[i : j + 1])
            least = 1e9
            for k in range(i, j):
                candidate = best[i, k] + best[k + 1, j] + total * total
                if candidate < least:
                    least = candidate
            best[i, j] = least
    return best[0, n - 1]


@program(array(10), tags="compensated kahan for")
def kahan_summation(x):
    total = 0.0
    compensation = 0.0
    for value in x:
        y = value * value - compensation
        t = total + y
        compensation = (t - total) - y
        total = t
    return total


@program(array(10), tags="pairwise recursion slices")
def pairwise_summation(x):
    if len(x) <= 2:
        return np.sum(np.sin(x))
    half = len(x) // 2
    return pairwise_summation(x[:half]) * 0.9 + pairwise_summation(x[half:])


@program(array(10), tags="welford running-statistics")
def welford_variance(x):
    mean = 0.0
    m2 = 0.0
    n = 0
    for value in x:
        n += 1
        delta = value - mean
        mean += delta / n
        m2 += delta * (value - mean)
    return m2 / (n - 1) + mean


@program(array(6), array(6), tags="dot2 compensated two-product")
def compensated_dot(a, b):
    s = c = 0.0
    for i in range(len(a)):
        p = a[i] * b[i]
        t = s + p
        bb = t - s
        c += (s - (t - bb)) + (p - bb)
        s = t
    return s + c


@program(array(8), tags="haar wavelet while halving")
def haar_wavelet_energy(x):
    y = x.copy()
    n = len(y)
    while n > 1:
        half = n // 2
        tmp = np.empty(n)
        for i in range(half):
            tmp[i] = 0.6 * y[2 * i] + 0.4 * y[2 * i + 1]
            tmp[half + i] = y[2 * i] - y[2 * i + 1]
        y[:n] = tmp
        n = half
    return np.sum(y**2 * np.arange(8))


@program(array(8), tags="fft butterfly inplace bit-tricks")
def walsh_hadamard(x):
    a = x.copy()
    h = 1
    while h < len(a):
        for i in range(0, len(a), 2 * h):
            for j in range(i, i + h):
                u, v = a[j], a[j + h]
                a[j], a[j + h] = u + v, u - v
        h *= 2
    return np.sum(a**3) / 8
