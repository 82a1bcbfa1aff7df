"""Which programs of arrays does the catalogue have: expressions, loops, views, writes in place?"""

import math

import numpy as np

from tests.catalogue.entry import Catalogue, array, scalar

catalogue = Catalogue()
program = catalogue.add


# -- expressions and reductions -------------------------------------------------------------------


@program(array(6), tags="reduction")
def sum_of_squares(x):
    return np.sum(x**2)


@program(array(6), tags="slice reduction")
def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


@program(array(5), tags="reduction methods")
def normalised_variance(x):
    centred = x - x.mean()
    return (centred**2).sum() / (len(x) - 1) / (1.0 + x.max() - x.min())


@program(array(5), array(5), tags="dot")
def cosine_similarity(a, b):
    return np.dot(a, b) / (np.sqrt(np.dot(a, a)) * np.sqrt(b @ b))


@program(array(4, 3), array(3), scalar(-1.0, 1.0), tags="matmul broadcast")
def linear_layer(w, x, bias):
    return np.tanh(w @ x + bias).sum()


@program(array(4), tags="logsumexp reduction")
def log_sum_exp(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


@program(array(4, 5), tags="axis keepdims")
def softmax_rows_entropy(logits):
    z = logits - logits.max(axis=1, keepdims=True)
    p = np.exp(z) / np.sum(np.exp(z), axis=1, keepdims=True)
    return -np.sum(p * np.log(p))


@program(array(3, 4), array(4), array(3), tags="broadcast newaxis")
def broadcast_three_ways(m, row, column):
    return np.sum(np.sin(m * row) + column[:, None] * m - m / (2.0 + row[np.newaxis, :] ** 2))


@program(array(3, 4), array(4, 2), tags="matmul transpose")
def frobenius_of_product(a, b):
    c = a @ b
    return np.sum(c * c) + np.trace(c.T @ c)


@program(array(5, low=0.5, high=2.0), tags="prod reduction")
def geometric_mean(x):
    return np.prod(x) ** (1.0 / x.size)


@program(array(2, 3, 4), tags="axis 3d")
def three_dimensional_reductions(x):
    return np.sum(x.mean(axis=(0, 2)) * x.sum(axis=1).max(axis=0)[1])


@program(array(6), tags="where mask")
def soft_threshold(x):
    return np.sum(np.where(np.abs(x) > 0.3, np.sign(x) * (np.abs(x) - 0.3), 0.0) ** 2)


@program(array(6), tags="clip minmax")
def clipped_loss(x):
    return np.sum(np.clip(x, -0.5, 0.5) * x + np.maximum(x, 0.1) * np.minimum(x, 0.2))


@program(array(5), array(5), tags="hinge maximum")
def hinge_loss(w, x):
    margin = 1.0 - 0.5 * np.sum(w * x)
    return np.maximum(margin, 0.0) + 0.01 * np.sum(w**2)


@program(array(5), tags="outer")
def outer_product_energy(x):
    return np.sum(np.outer(x, np.cos(x)) ** 2)


@program(array(12), tags="reshape")
def reshaped_products(x):
    a = x.reshape(3, 4)
    b = np.reshape(x, (4, 3))
    return np.sum((a @ b) ** 2) + a.ravel()[5] * x.size


@program(array(4, 4), tags="transpose")
def symmetric_part_norm(a):
    s = (a + a.T) / 2
    return np.sum(s**2) + s.shape[0] * a[0, -1]


@program(array(6), tags="norm")
def euclidean_norm(x):
    return np.sqrt(np.sum(x * x)) + np.linalg.norm(x)


@program(array(5), tags="fancy index-array")
def gathered_by_index(x):
    idx = np.array([3, 0, 0, 4])
    return np.sum(x[idx] ** 2) + x[-1] * x[-2]


@program(array(3), array(4), tags="concatenate stack")
def joined_arrays(a, b):
    c = np.concatenate([a, b])
    d = np.stack([a, a**2])
    return np.sum(c[1:] * c[:-1]) + np.sum(d @ a)


@program(array(6), tags="ufunc")
def ufunc_mixture(x):
    y = np.exp(x) + np.log1p(x * x) - np.arctan(x) + np.square(x) - np.sqrt(2 + x)
    return np.mean(y / (1 + np.expm1(x * x))) + np.hypot(x, 1.0).sum()


@program(array(2, 3), tags="ellipsis 3d")
def extra_axes(x):
    y = x[..., None] * np.arange(3.0)
    return (y[:, 1, :] * y[:, 2]).sum() + y[..., -1].mean()


# -- loops over elements --------------------------------------------------------------------------


@program(array(7), tags="for index")
def dot_by_loop(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * x[-i - 1]
    return s


@program(array(7), tags="for over-array")
def log_likelihood_by_loop(samples):
    total = 0.0
    for s in samples:
        total -= 0.5 * (s - 0.2) ** 2 + math.log(1.0 + s * s)
    return total / len(samples)


@program(array(6), array(6), tags="for enumerate zip")
def weighted_errors(x, y):
    total = 0.0
    for i, (a, b) in enumerate(zip(x, y)):
        total += (i + 1) * (a - b) ** 2
    return total


@program(array(6), tags="for reversed")
def horner_reversed(coefficients):
    p = 0.0
    for c in reversed(coefficients):
        p = p * 0.7 + c
    return p


@program(array(5), scalar(0.2, 1.0), tags="for horner")
def polynomial_and_derivative(c, x):
    p = c[-1]
    dp = 0.0
    for k in range(len(c) - 2, -1, -1):
        dp = dp * x + p
        p = p * x + c[k]
    return p + dp**2


@program(array(8), tags="for running-max branch")
def maximum_by_loop(x):
    best = x[0]
    where = 0
    for i in range(1, x.shape[0]):
        if x[i] > best:
            best = x[i]
            where = i
    return best * best + 0.1 * where * x[where]


@program(array(8), tags="for store")
def prefix_sums(x):
    out = np.zeros(len(x))
    running = 0.0
    for i in range(len(x)):
        running += x[i]
        out[i] = running
    return np.sum(out**2)


@program(array(8), tags="for augmented-store inplace")
def exponential_smoothing(x):
    y = x.copy()
    for i in range(1, len(y)):
        y[i] *= 0.3
        y[i] += 0.7 * y[i - 1]
    return y @ x


@program(array(5, 5), tags="for 2d store")
def trace_and_swap(a):
    b = np.empty_like(a)
    n, m = a.shape
    for i in range(n):
        for j in range(m):
            b[j, i] = a[i, j] * (i + 1)
    total = 0.0
    for i in range(n):
        total += b[i, i] + b[i, n - 1 - i]
    return total + np.sum(b[0] * a[:, 0])


@program(array(6), tags="for histogram integer-index")
def binned_sums(x):
    bins = np.zeros(3)
    for i in range(6):
        bins[(i * 2) % 3] += x[i] ** 2
    return bins[0] * bins[1] - bins[2]


@program(array(6), tags="inplace argument-write")
def overwrites_its_argument(x):
    x[0] = x[1] * 2.0
    x[2:] *= x[0]
    return np.sum(x**2)


@program(array(6), tags="swap elements")
def bubble_pass(x):
    y = x.copy()
    for i in range(len(y) - 1):
        if y[i] > y[i + 1]:
            y[i], y[i + 1] = y[i + 1], y[i]
    return np.sum(y * np.arange(6))


@program(array(7), tags="while index")
def first_crossing(x):
    i = 0
    s = 0.0
    while i < len(x) and s < 0.8:
        s += abs(x[i])
        i += 1
    return s * s + (x[i - 1] if i > 0 else 0.0)


# -- slices and views -----------------------------------------------------------------------------


@program(array(9), tags="slice strided")
def strided_slices(x):
    return np.sum(x[::2] * x[::-2]) + x[1:8:3].sum() * x[-3]


@program(array(8), tags="view inplace")
def view_writes_through(x):
    y = np.array(x)
    left = y[:4]
    right = y[4:]
    left += right * 2.0
    right[:] = left * y[0]
    return np.sum(y**2)


@program(array(4, 4), tags="view row column")
def rows_and_columns(a):
    b = a.copy()
    row = b[1]
    column = b[:, 2]
    row *= 2.0
    column += row
    b[0, :] = column
    return np.sum(b * a)


@program(array(9), tags="stencil slice inplace")
def diffusion_steps(u):
    u = u.copy()
    for _ in range(5):
        u[1:-1] = u[1:-1] + 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


@program(array(9), tags="stencil swap-arrays loop")
def diffusion_with_two_buffers(u0):
    u = u0.copy()
    un = np.zeros_like(u)
    for _ in range(6):
        for i in range(1, len(u) - 1):
            un[i] = u[i] + 0.2 * (u[i + 1] - 2.0 * u[i] + u[i - 1])
        u, un = un, u
    return np.sum(u * u0)


@program(array(8), array(8), tags="stencil wave")
def wave_equation(u, v):
    previous = u - 0.1 * v
    current = u.copy()
    for _ in range(6):
        following = np.zeros(8)
        following[1:-1] = (
            2 * current[1:-1] - previous[1:-1]
            + 0.25 * (current[2:] - 2 * current[1:-1] + current[:-2])
        )  # fmt: skip
        previous, current = current, following
    return np.sum(current**2)


@program(array(6, 6), tags="stencil 2d")
def heat_plate(u):
    t = u.copy()
    for _ in range(3):
        t[1:-1, 1:-1] += 0.1 * (
            t[2:, 1:-1] + t[:-2, 1:-1] + t[1:-1, 2:] + t[1:-1, :-2] - 4 * t[1:-1, 1:-1]
        )
    return np.sum(t[2] ** 2) + t[3, 3]


@program(array(8), tags="stencil upwind branch", argnums=(0,))
def burgers_upwind(u):
    w = np.copy(u)
    for _ in range(4):
        old = w.copy()
        for i in range(1, 7):
            if old[i] > 0:
                w[i] = old[i] - 0.1 * old[i] * (old[i] - old[i - 1])
            else:
                w[i] = old[i] - 0.1 * old[i] * (old[i + 1] - old[i])
    return np.sum(w**2)


@program(array(6), tags="creation ones linspace arange")
def made_arrays(x):
    w = np.linspace(0.0, 1.0, 6)
    i = np.arange(6)
    o = np.ones(6)
    f = np.full(6, x[0])
    return np.sum((w * x + i - o) * f)


@program(array(5), tags="array-from-list")
def array_of_scalars(x):
    p = np.array([x[0] * x[1], math.sin(x[2]), x[3] + x[4]])
    q = np.array([[p[0], p[1]], [p[1], p[2]]])
    return p @ p + q[0, 1] * q[1, 1] - q[1, 0] * q[0, 0]


@program(array(4, 6), tags="minmax axis")
def extremes_by_axis(x):
    return np.sum(x.max(axis=0) * x.min(axis=0)) + np.max(np.min(x, axis=1))


@program(array(3, 5), tags="for rows")
def loop_over_rows(data):
    total = 0.0
    for row in data:
        total += np.exp(row[0]) * np.sum(row[1:] ** 2)
    return total


@program(array(6), tags="out inplace ufunc")
def in_place_ufuncs(x):
    y = np.empty(6)
    np.multiply(x, 2.0, out=y)
    y -= x.mean()
    y /= 1.0 + y**2
    np.exp(y, out=y)
    return y.sum()


@program(array(6), tags="cumsum diff")
def total_variation_of_walk(steps):
    path = np.cumsum(steps)
    return np.sum(np.diff(path) ** 2 * path[1:])


@program(array(4, 4), tags="diag einsum")
def diagonals(a):
    return np.sum(np.diag(a) ** 3) + np.einsum("ij,ij->", a, a)


@program(array(5), tags="boolean-mask")
def masked_update(x):
    y = x.copy()
    y[x > 0] *= 3.0
    y[y < -0.5] = -0.5
    return np.sum(y * x)


@program(array(5), tags="sort")
def sorted_weights(x):
    return np.sum(np.sort(x) * np.arange(1, 6)) + x[np.argmax(x)] ** 2
