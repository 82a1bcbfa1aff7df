"""How fast are small array functions of everyday use, beside other libraries?

Each is written once, over the library's NumPy, and has about as many numbers to work on as its size
says: 10^2, 10^4, 10^6. They have no gradient by hand: what the libraries find must agree.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy
import scipy.special

from benchmarks.peers.shared import Peer

ELEMENTS = {"small": 100, "medium": 10_000, "large": 1_000_000}
Inputs = Callable[[numpy.random.Generator, int], tuple[Any, ...]]


@dataclass(frozen=True)
class Everyday:
    """A function, what it is differentiated by, and how its arguments are made."""

    name: str
    argnums: tuple[int, ...]
    made: Inputs

    def program(self, peer: Peer) -> Callable[..., Any]:
        return programs(peer)[self.name]

    @property
    def objective(self) -> Callable[..., Any]:
        """As jitad takes it."""
        return self.program(of_numpy())

    def inputs(self, size: str) -> tuple[Any, ...]:
        return self.made(numpy.random.default_rng(7), ELEMENTS[size])


def programs(peer: Peer) -> dict[str, Callable[..., Any]]:
    np = peer.np

    def chain(x):
        return np.sum(np.exp(-x * x) * np.sin(3.0 * x) + np.log(1.0 + x * x))

    def gates(x, y):
        return np.sum(np.tanh(x) / (1.0 + np.exp(-y)))

    def polynomial(x):
        p = 0.1 * x - 0.2
        for c in (0.3, -0.4, 0.5, -0.6, 0.7):
            p = p * x + c
        return np.sum(p * p)

    def leaky(x):
        return np.sum(np.where(x > 0.0, x * x, 0.1 * x))

    def huber(x, y):
        r = np.abs(x - y)
        return np.sum(np.where(r < 1.0, 0.5 * r * r, r - 0.5))

    def by_columns(x):
        away = x - np.mean(x, 0)
        return np.sum(np.sqrt(np.mean(away * away, 0) + 0.1))

    def by_rows(x):
        share = x * x / np.sum(x * x, 1)[:, None]
        return np.sum(share * share * x)

    def unit(x, w):
        return np.sum(w * x) / np.sqrt(np.sum(x * x))

    def cross_entropy(z, labels):
        return np.mean(peer.logsumexp(z, 1) - z[np.arange(len(z)), labels])

    def layer_norm(x, gain, bias, w):
        away = x - np.mean(x, 1)[:, None]
        return np.sum(w * (gain * away / np.sqrt(np.mean(away * away, 1) + 1e-5)[:, None] + bias))

    def distances(x, y):
        away = x[:, None, :] - y[None, :, :]
        return np.sum(np.sqrt(np.sum(away * away, 2) + 1e-3))

    def rbf(x, y):
        d = np.sum(x * x, 1)[:, None] + np.sum(y * y, 1)[None, :] - 2.0 * (x @ y.T)
        return np.sum(np.exp(-0.5 * d))

    def attention(q, k, v):
        heard = peer.softmax(q @ k.T / math.sqrt(q.shape[1])) @ v
        return np.sum(heard * heard)

    def perceptron(w1, w2, x):
        return np.mean((np.tanh(x @ w1) @ w2) ** 2)

    def blur(x, w):
        rows, cols = x.shape[0] - 2, x.shape[1] - 2
        parts = [w[i, j] * x[i : i + rows, j : j + cols] for i in range(3) for j in range(3)]
        y = sum(parts[1:], parts[0])
        return np.sum(y * y)

    def running(x, w):
        return np.sum(w * np.cumsum(x, 0) ** 2)

    def sorting(x, w):
        return np.sum(w * np.sort(x))

    def gather(x, places, y):
        return np.sum((x[places] - y) ** 2)

    def scatter(x, places, m):
        y = peer.added_at(x * x, places, m)
        return np.sum(y * y)

    def bilinear_form(x, a, y):
        return np.sum(np.einsum("bi,ij,bj->b", x, a, y) ** 2)

    def batched(a, b):
        c = np.einsum("bij,bjk->bik", a, b)
        return np.sum(c * c)

    def symmetric(x):
        y = x + x.T
        return np.sum(y * y * x)

    def outer(x, y):
        return np.sum(np.tanh(x[:, None] * y[None, :]))

    def solve(a, b):
        return np.sum(np.linalg.solve(a, b) ** 2)

    def log_density(a, b):
        """Of a normal distribution with the covariance a a' + 1."""
        root = np.linalg.cholesky(a @ a.T / len(a) + peer.asarray(numpy.eye(len(a))))
        z = np.linalg.solve(root, b)
        return np.sum(np.log(np.diag(root))) + 0.5 * np.sum(z * z)

    def spectrum(x, w):
        f = np.fft.rfft(x)
        return np.sum(w * (np.real(f) ** 2 + np.imag(f) ** 2))

    def peaks(x):
        return np.sum(peer.amax(x, 1) ** 2) + np.sum(peer.amax(x, 0) ** 2)

    def classifier(w, x, y):
        m = y * (x @ w)
        return np.mean(np.log(1.0 + np.exp(-m))) + 0.05 * np.sum(w * w)

    found = (chain, gates, polynomial, leaky, huber, by_columns, by_rows, unit, cross_entropy,
             layer_norm, distances, rbf, attention, perceptron, blur, running, sorting, gather,
             scatter, bilinear_form, batched, symmetric, outer, solve, log_density, spectrum, peaks,
             classifier)  # fmt: skip
    return {f.__name__: f for f in found}


def of_numpy() -> Peer:
    """NumPy itself, as jitad takes it."""

    def added_at(x, places, m):
        y = numpy.zeros(m)
        numpy.add.at(y, places, x)
        return y

    return Peer(np=numpy, asarray=numpy.asarray, erf=None, cross=numpy.cross,
                logsumexp=scipy.special.logsumexp,
                softmax=lambda x: scipy.special.softmax(x, -1), amax=numpy.max,
                added_at=added_at)  # fmt: skip


def vectors(count: int, g: numpy.random.Generator, n: int) -> tuple[Any, ...]:
    return tuple(g.normal(size=n) for _ in range(count))


def squares(count: int, g: numpy.random.Generator, n: int) -> tuple[Any, ...]:
    side = math.isqrt(n)
    return tuple(g.normal(size=(side, side)) for _ in range(count))


def of_columns(columns: int, count: int, g: numpy.random.Generator, n: int) -> tuple[Any, ...]:
    rows = max(2, n // columns)
    return tuple(g.normal(size=(rows, columns)) for _ in range(count))


def rows_and_labels(g: numpy.random.Generator, n: int) -> tuple[Any, ...]:
    (z,) = of_columns(10, 1, g, n)
    return z, g.integers(0, 10, len(z))


def to_normalise(g: numpy.random.Generator, n: int) -> tuple[Any, ...]:
    x, w = squares(2, g, n)
    return x, g.normal(size=x.shape[1]), g.normal(size=x.shape[1]), w


def clouds(g: numpy.random.Generator, n: int) -> tuple[Any, ...]:
    """So many points that they have n pairs."""
    return tuple(g.normal(size=(math.isqrt(n), 3)) for _ in range(2))


def heads(g: numpy.random.Generator, n: int) -> tuple[Any, ...]:
    return tuple(g.normal(size=(math.isqrt(n), 16)) for _ in range(3))


def layers(g: numpy.random.Generator, n: int) -> tuple[Any, ...]:
    wide = max(4, math.isqrt(n) // 4)
    x = g.normal(size=(n // wide, wide))
    return 0.1 * g.normal(size=(wide, wide)), g.normal(size=(wide, 4)), x


def picture(g: numpy.random.Generator, n: int) -> tuple[Any, ...]:
    return (*squares(1, g, n), g.normal(size=(3, 3)))


def with_places(g: numpy.random.Generator, n: int) -> tuple[Any, ...]:
    return g.normal(size=n), g.integers(0, n, n), g.normal(size=n)


def with_groups(g: numpy.random.Generator, n: int) -> tuple[Any, ...]:
    return g.normal(size=n), g.integers(0, n // 10, n), n // 10


def pairs(g: numpy.random.Generator, n: int) -> tuple[Any, ...]:
    x, y = of_columns(20, 2, g, n)
    return x, g.normal(size=(20, 20)), y


def batches(g: numpy.random.Generator, n: int) -> tuple[Any, ...]:
    return tuple(g.normal(size=(max(1, n // 64), 8, 8)) for _ in range(2))


def sides(g: numpy.random.Generator, n: int) -> tuple[Any, ...]:
    return vectors(2, g, math.isqrt(n))


def system(g: numpy.random.Generator, n: int) -> tuple[Any, ...]:
    (a,) = squares(1, g, n)
    return a + 2.0 * math.sqrt(len(a)) * numpy.eye(len(a)), g.normal(size=len(a))


def powers(g: numpy.random.Generator, n: int) -> tuple[Any, ...]:
    return g.normal(size=n), g.normal(size=n // 2 + 1)


def design(g: numpy.random.Generator, n: int) -> tuple[Any, ...]:
    (x,) = of_columns(20, 1, g, n)
    return g.normal(size=20), x, numpy.sign(g.normal(size=len(x)))


MADE: dict[str, tuple[tuple[int, ...], Inputs]] = {
    "chain": ((0,), partial(vectors, 1)),
    "gates": ((0, 1), partial(vectors, 2)),
    "polynomial": ((0,), partial(vectors, 1)),
    "leaky": ((0,), partial(vectors, 1)),
    "huber": ((0,), partial(vectors, 2)),
    "by_columns": ((0,), partial(squares, 1)),
    "by_rows": ((0,), partial(squares, 1)),
    "unit": ((0,), partial(vectors, 2)),
    "cross_entropy": ((0,), rows_and_labels),
    "layer_norm": ((0, 1, 2), to_normalise),
    "distances": ((0, 1), clouds),
    "rbf": ((0, 1), clouds),
    "attention": ((0, 1, 2), heads),
    "perceptron": ((0, 1), layers),
    "blur": ((0, 1), picture),
    "running": ((0,), partial(vectors, 2)),
    "sorting": ((0,), partial(vectors, 2)),
    "gather": ((0,), with_places),
    "scatter": ((0,), with_groups),
    "bilinear_form": ((0, 1), pairs),
    "batched": ((0, 1), batches),
    "symmetric": ((0,), partial(squares, 1)),
    "outer": ((0, 1), sides),
    "solve": ((0, 1), system),
    "log_density": ((0, 1), system),
    "spectrum": ((0,), powers),
    "peaks": ((0,), partial(squares, 1)),
    "classifier": ((0,), design),
}  # fmt: skip
NAMES = tuple(MADE)


def load(name: str) -> Everyday:
    return Everyday(name, *MADE[name])
