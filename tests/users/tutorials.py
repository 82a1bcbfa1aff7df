"""Which programs do people have who write for Numba?  Helpers, tuples, scratch arrays, loops."""

import math

import numpy as np
from numba import njit

from tests.catalogue.entry import Catalogue, array, scalar

catalogue = Catalogue()
program = catalogue.add


@njit
def distance(x1, y1, x2, y2):
    return math.sqrt((x1 - x2) ** 2 + (y1 - y2) ** 2)


@njit
def ideal_length(points):
    total = 0.0
    for i in range(1, len(points)):
        total += distance(points[i - 1, 0], points[i - 1, 1], points[i, 0], points[i, 1])
    return total


@program(array(5, 2), truth="differences")
def tour_length(points):
    return ideal_length(points) + distance(points[-1, 0], points[-1, 1], points[0, 0], points[0, 1])


@njit
def matmul(a, b):
    n, m = a.shape
    p = b.shape[1]
    out = np.zeros((n, p))
    for i in range(n):
        for j in range(p):
            acc = 0.0
            for k in range(m):
                acc += a[i, k] * b[k, j]
            out[i, j] = acc
    return out


@program(array(2, 3), array(3, 2))
def matmul_by_hand(a, b):
    c = matmul(a, b)
    return c[0, 0] * c[1, 1] - c[0, 1] * c[1, 0]


@njit
def min_max(a):
    low, high = a[0], a[0]
    for v in a[1:]:
        if v < low:
            low = v
        elif v > high:
            high = v
    return low, high


@program(array(6))
def scaled_to_unit(x):
    low, high = min_max(x)
    unit = (x - low) / (high - low)
    return np.sum(unit**3) + low * high


@njit
def first_above(a, limit):
    for i in range(a.size):
        if a[i] > limit:
            return i, a[i]
    return -1, 0.0


@program(array(6, low=0.1, high=0.9))
def first_crossing(x):
    cum = np.cumsum(x)
    i, v = first_above(cum, 1.0)
    if i < 0:
        return 0.0 * x[0]
    return v * v + i * x[i]


@njit
def smooth_into(src, dst):
    n = src.shape[0]
    dst[0], dst[n - 1] = src[0], src[n - 1]
    for i in range(1, n - 1):
        dst[i] = 0.25 * src[i - 1] + 0.5 * src[i] + 0.25 * src[i + 1]


@program(array(8))
def ping_pong_buffers(x):
    a, b = x.copy(), np.empty_like(x)
    for _ in range(4):
        smooth_into(a, b)
        a, b = b, a
    return np.sum(a**2) + b[3]


@njit
def game(grid, out):
    n, m = grid.shape
    for i in range(n):
        for j in range(m):
            s = 0.0
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    if di == 0 and dj == 0:
                        continue
                    s += grid[(i + di) % n, (j + dj) % m]
            out[i, j] = np.tanh(s) * grid[i, j]


@program(array(3, 4))
def periodic_neighbours(grid):
    out = np.zeros_like(grid)
    game(grid, out)
    return out.sum() + out[1, 2] ** 2


@njit
def mandelbrot_like(cr, ci, limit):
    zr = zi = 0.0
    for n in range(limit):
        zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
        if zr * zr + zi * zi > 4.0:
            return zr, zi, n
    return zr, zi, limit


@program(scalar(0.1, 0.5), scalar(0.4, 0.8))
def escape(cr, ci):
    zr, zi, n = mandelbrot_like(cr, ci, 12)
    return zr * zr + zi * zi + n


@njit
def histogram(values, weights, low, high, bins):
    out = np.zeros(bins)
    width = (high - low) / bins
    for i in range(values.shape[0]):
        k = int((values[i] - low) / width)
        if 0 <= k < bins:
            out[k] += weights[i]
    return out


@program(array(7, low=0.1, high=1.0))
def weighted_histogram(w):
    values = np.array([0.1, 0.35, 0.4, 0.62, 0.77, 0.9, 1.3])
    h = histogram(values, w, 0.0, 1.0, 4)
    return np.sum(h**2) + h[1] * h[3]


@njit
def cholesky(a):
    n = a.shape[0]
    low = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= low[i, k] * low[j, k]
            if i == j:
                low[i, j] = math.sqrt(s)
            else:
                low[i, j] = s / low[j, j]
    return low


@njit
def forward_substitution(low, b):
    x = np.empty_like(b)
    for i in range(b.size):
        x[i] = (b[i] - low[i, :i] @ x[:i]) / low[i, i]
    return x


@program(array(3, 3), array(3))
def cholesky_likelihood(m, b):
    low = cholesky(m @ m.T + 2.0 * np.eye(3))
    z = forward_substitution(low, b)
    return z @ z + 2.0 * np.sum(np.log(np.diag(low)))


@njit
def bilinear(img, x, y):
    i, j = int(x), int(y)
    fx, fy = x - i, y - j
    return (
        img[i, j] * (1 - fx) * (1 - fy) + img[i + 1, j] * fx * (1 - fy)
        + img[i, j + 1] * (1 - fx) * fy + img[i + 1, j + 1] * fx * fy
    )


@program(array(4, 4), scalar(0.2, 2.8), scalar(0.2, 2.8), truth="differences")
def sampled_image(img, x, y):
    return bilinear(img, x, y) ** 2 + bilinear(img, 1.5, 0.5)


@njit
def kahan(values):
    total = c = 0.0
    for v in values:
        y = v - c
        t = total + y
        c = (t - total) - y
        total = t
    return total


@program(array(9))
def compensated_sum(x):
    return kahan(x * x) * kahan(x)


@njit
def euler_maruyama(drift, vol, x0, noise, dt, path):
    path[0] = x0
    for i in range(noise.shape[0]):
        x = path[i]
        path[i + 1] = x + drift * (1.0 - x) * dt + vol * math.sqrt(abs(x)) * noise[i]
    return path


@program(scalar(0.5, 1.0), scalar(0.1, 0.3), scalar(0.8, 1.2))
def square_root_diffusion(drift, vol, x0):
    noise = np.array([0.1, -0.2, 0.05, 0.3, -0.1])
    path = euler_maruyama(drift, vol, x0, noise, 0.1, np.zeros(6))
    return path[-1] * path.max() + path.mean()


@njit
def sort_network(a, b, c):
    if a > b:
        a, b = b, a
    if b > c:
        b, c = c, b
    if a > b:
        a, b = b, a
    return a, b, c


@program(scalar(0.1, 0.3), scalar(0.7, 0.9), scalar(0.4, 0.6))
def sorted_three(a, b, c):
    low, mid, high = sort_network(a, b, c)
    return low + 2.0 * mid * mid + high**3


@njit
def levinson_like(r, n):
    a = np.zeros(n + 1)
    tmp = np.zeros(n + 1)
    a[0], e = 1.0, r[0]
    for k in range(1, n + 1):
        acc = 0.0
        for j in range(k):
            acc += a[j] * r[k - j]
        g = -acc / e
        tmp[: k + 1] = a[: k + 1]
        for j in range(1, k + 1):
            a[j] = tmp[j] + g * tmp[k - j]
        e *= 1.0 - g * g
    return a, e


@program(array(4, low=0.1, high=0.4))
def prediction_error(r):
    full = np.concatenate((np.array([2.0]), r))
    a, e = levinson_like(full, 3)
    return e + np.sum(a[1:] ** 2)


@njit
def convolve_same(x, k):
    half = k.size // 2
    out = np.zeros(x.size)
    for i in range(x.size):
        for j in range(k.size):
            at = i + j - half
            if at < 0 or at >= x.size:
                continue
            out[i] += x[at] * k[j]
    return out


@program(array(7), array(3))
def convolved(x, k):
    return np.sum(convolve_same(np.maximum(x, 0.1 * x), k) ** 2)


@njit
def union_find_weights(edges, w, n):
    parent = np.arange(n)
    total = 0.0
    for e in range(edges.shape[0]):
        a, b = edges[e, 0], edges[e, 1]
        while parent[a] != a:
            a = parent[a]
        while parent[b] != b:
            b = parent[b]
        if a != b:
            parent[a] = b
            total += w[e]
    return total


@program(array(5, low=0.1, high=1.0))
def spanning_tree(w):
    edges = np.array([[0, 1], [1, 2], [0, 2], [2, 3], [1, 3]])
    return union_find_weights(edges, w * w, 4)


@njit
def rk4(f, y, t, h):
    k1 = f(t, y)
    k2 = f(t + h / 2, y + h / 2 * k1)
    k3 = f(t + h / 2, y + h / 2 * k2)
    k4 = f(t + h, y + h * k3)
    return y + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6


@njit
def decay(t, y):
    return -0.7 * y + math.sin(t)


@program(scalar(0.5, 1.5))
def function_as_argument(y):
    for i in range(10):
        y = rk4(decay, y, 0.1 * i, 0.1)
    return y * y


@njit
def shrunk(x, limit):
    if abs(x) > limit:
        return x - limit if x > 0 else x + limit
    return 0.0 * x


@program(array(6), scalar(0.2, 0.3))
def shrinkage_by_loops(x, limit):
    out = 0.0
    for v in x:
        out += shrunk(v, limit) ** 2
    return out
