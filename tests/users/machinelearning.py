"""Which programs do people write who fit and learn?"""

import functools
import math
from collections import OrderedDict, deque, namedtuple
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numba
import numpy as np

from tests.catalogue.entry import Catalogue, array, scalar, several

catalogue = Catalogue()
program = catalogue.add

X = np.array([[0.5, -1.2, 0.3], [1.1, 0.4, -0.7], [-0.6, 0.9, 1.5], [0.2, -0.3, 0.8]])
Y = np.array([0.0, 1.0, 1.0, 0.0])


def relu(z):
    return np.maximum(z, 0.0)


def softmax(z, axis=-1):
    e = np.exp(z - np.max(z, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


class Layer(NamedTuple):
    w: np.ndarray
    b: np.ndarray


def layer_spec(n, m):
    return lambda random: Layer(random.normal(size=(n, m)) * 0.5, random.normal(size=m) * 0.1)


@program(several(lambda *layers: list(layers), layer_spec(3, 4), layer_spec(4, 1)))  # fmt: skip
def mlp_from_a_list_of_layers(layers):
    h = X
    for k, layer in enumerate(layers):
        h = h @ layer.w + layer.b
        if k < len(layers) - 1:
            h = np.tanh(h)
    logits = h[:, 0]
    return np.mean(np.log1p(np.exp(-logits)) + (1.0 - Y) * logits)


class Module:
    def __init__(self):
        self.training = True

    def __call__(self, x):
        return self.forward(x)


class Linear(Module):
    def __init__(self, w, b):
        super().__init__()
        self.w, self.b = w, b

    def forward(self, x):
        return x @ self.w + self.b


class Activation(Module):
    def __init__(self, name):
        super().__init__()
        self.f = {"tanh": np.tanh, "relu": relu, "gelu": self.gelu}[name]

    @staticmethod
    def gelu(x):
        return 0.5 * x * (1.0 + np.tanh(0.79788456 * (x + 0.044715 * x**3)))

    def forward(self, x):
        return self.f(x)


class Sequential(Module):
    def __init__(self, *modules):
        super().__init__()
        self.modules = list(modules)

    def forward(self, x):
        for m in self.modules:
            x = m(x)
        return x


@program(array(3, 5), array(5), array(5, 1))
def sequential_of_modules(w1, b1, w2):
    net = Sequential(Linear(w1, b1), Activation("gelu"), Linear(w2, 0.1), Activation("tanh"))
    return np.mean((net(X)[:, 0] - Y) ** 2)


def adam(grad, theta, steps, lr=0.1, betas=(0.9, 0.999), eps=1e-8):
    m, v = np.zeros_like(theta), np.zeros_like(theta)
    for t in range(1, steps + 1):
        g = grad(theta)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        theta = theta - lr * (m / (1 - betas[0] ** t)) / (np.sqrt(v / (1 - betas[1] ** t)) + eps)
    return theta


@program(array(3, low=0.5, high=1.5), scalar(0.05, 0.2))
def unrolled_adam(theta, lr):
    def slope(p):
        return 2.0 * (X.T @ (X @ p - Y)) / len(Y) + 0.1 * p

    fitted = adam(slope, theta, 6, lr=lr)
    return np.sum((X @ fitted - Y) ** 2)


@dataclass
class Config:
    hidden: int = 3
    activation: str = "tanh"
    l2: float = 0.01
    tags: dict = field(default_factory=lambda: {"dropout": 0.0})


CONFIG = Config(l2=0.05)


@program(array(3, 3), array(3))
def configured_model(w, v):
    cfg = CONFIG
    act = np.tanh if cfg.activation == "tanh" else relu
    h = act(X @ w[:, : cfg.hidden])
    keep = 1.0 - cfg.tags.get("dropout", 0.5)
    loss = np.mean((keep * h @ v - Y) ** 2)
    return loss + cfg.l2 * (np.sum(w**2) + np.sum(v**2))


@program(array(4, 3), array(4, 3))
def dot_product_attention(q, k):
    scores = q @ k.T / math.sqrt(q.shape[1])
    mask = np.tril(np.ones((4, 4)))
    scores = np.where(mask > 0, scores, -1e9)
    return np.sum(softmax(scores) @ X) + np.sum(softmax(scores)[:, 0] ** 2)


@program(array(5, low=-1.0, high=1.0), scalar(0.2, 0.8))
def gru_cell_over_a_sequence(xs, h0):
    def cell(h, x):
        z = 1 / (1 + np.exp(-(0.4 * x + 0.3 * h)))
        r = 1 / (1 + np.exp(-(0.1 * x - 0.6 * h)))
        n = np.tanh(0.9 * x + r * (0.5 * h))
        return (1 - z) * n + z * h

    states = functools.reduce(lambda hs, x: [*hs, cell(hs[-1], x)], xs, [h0])
    return sum(h * (k + 1) for k, h in enumerate(states))


@program(array(4, 2), array(2, 2))
def kmeans_soft_assignment(points, centres):
    for _ in range(3):
        d = np.sum((points[:, None, :] - centres[None, :, :]) ** 2, axis=2)
        r = softmax(-3.0 * d, axis=1)
        centres = (r.T @ points) / r.sum(axis=0)[:, None]
    return np.sum(centres**2) + centres[0, 0]


class Kind(Enum):
    RBF = "rbf"
    LINEAR = "linear"
    PERIODIC = "periodic"


KERNELS = {
    Kind.RBF: lambda a, b, s: np.exp(-((a - b) ** 2) / (2 * s * s)),
    Kind.LINEAR: lambda a, b, s: s * a * b,
    Kind.PERIODIC: lambda a, b, s: np.exp(-2 * np.sin(np.pi * np.abs(a - b)) ** 2 / s**2),
}


@program(scalar(0.5, 1.5), scalar(0.2, 0.8), truth="differences")
def sum_of_kernels(length, scale):
    t = np.array([0.0, 0.4, 1.1, 1.7])
    total = np.zeros((4, 4))
    for kind, weight in ((Kind.RBF, 1.0), (Kind.LINEAR, scale)):
        total += weight * KERNELS[kind](t[:, None], t[None, :], length)
    total += 0.1 * np.eye(4)
    return np.linalg.slogdet(total)[1] + Y @ np.linalg.solve(total, Y)


@program(array(6, low=0.1, high=1.0))
def weighted_by_a_deque(xs):
    window = deque([1.0, 1.0], maxlen=2)
    total = 0.0
    for k in range(6):
        weight = window[0] + 0.5 * window[1]
        total += weight * xs[k] ** 2
        window.append(float(k))
    return total


@program(array(5, low=-2.0, high=2.0))
def huber_elementwise(residuals):
    def huber(r, delta=1.0):
        if abs(r) <= delta:
            return 0.5 * r * r
        return delta * (abs(r) - 0.5 * delta)

    return sum(huber(r) for r in residuals)


@numba.njit
def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


@numba.njit
def sgd_epoch(w, x, y, lr):
    for i in range(x.shape[0]):
        p = 0.0
        for j in range(x.shape[1]):
            p += x[i, j] * w[j]
        err = sigmoid(p) - y[i]
        for j in range(x.shape[1]):
            w[j] -= lr * err * x[i, j]
    return w


@program(array(3), scalar(0.1, 0.5), tags="njit inplace")
def sgd_in_njit(w0, lr):
    w = w0.copy()
    for _ in range(3):
        sgd_epoch(w, X, Y, lr)
    return np.sum(w**2) + np.mean((sigmoid(X @ w) - Y) ** 2)


@program(array(4, low=0.2, high=0.9))
def decision_tree_leaves(x):
    Node = namedtuple("Node", "feature threshold left right")
    tree = Node(0, 0.5, Node(1, 0.4, 1.0, 2.0), Node(2, 0.6, 3.0, Node(3, 0.5, 4.0, 5.0)))

    def evaluate(node, x):
        if not isinstance(node, Node):
            return node
        gate = 1.0 / (1.0 + np.exp(-8.0 * (x[node.feature] - node.threshold)))
        return (1 - gate) * evaluate(node.left, x) + gate * evaluate(node.right, x)

    return evaluate(tree, x)


@program(several(lambda a, b, c: {"enc": {"w": a, "b": b}, "dec": {"w": c}},
                 array(3, 2), array(2), array(2, 3)))  # fmt: skip
def autoencoder_of_nested_dicts(params):
    code = np.tanh(X @ params["enc"]["w"] + params["enc"]["b"])
    back = code @ params["dec"]["w"]
    penalty = sum(np.sum(v**2) for group in params.values() for name, v in group.items()
                  if name != "b")  # fmt: skip
    return np.mean((back - X) ** 2) + 1e-2 * penalty


@program(array(6, low=-1.0, high=1.0))
def batch_normalised(z):
    mean, var = z.mean(), ((z - z.mean()) ** 2).mean()
    out = np.empty_like(z)
    for i, v in enumerate(z):
        out[i] = (v - mean) / np.sqrt(var + 1e-5) * 1.5 + 0.2
    out[out < 0] *= 0.1
    return np.sum(out**3)


@program(array(3, 3), array(3))
def early_stopping(a, b):
    a = a @ a.T + np.eye(3)
    x = np.zeros(3)
    history = []
    for _ in range(200):
        r = b - a @ x
        norm = np.sqrt(r @ r)
        history.append(norm)
        if norm < 1e-2:
            break
        x = x + 0.15 * r
    return np.sum(x**2) + history[0] + 0.01 * sum(history)


@program(scalar(0.1, 0.9), scalar(0.5, 1.5))
def hyperparameters_from_kwargs(lr, momentum):
    def train(start, *, lr, momentum=0.0, steps=5, **ignored):
        x, v = start, 0.0
        for _ in range(steps):
            v = momentum * v - lr * (4 * x**3 - 2 * x)
            x = x + 0.1 * v
        return x

    options = dict(lr=lr, momentum=0.5 * momentum, verbose=False)
    runs = [train(s, **{**options, "steps": n}) for s, n in ((0.3, 3), (1.1, 6))]
    best, *others = runs
    return best**2 + sum(others)


@program(array(5, low=0.2, high=1.0))
def normalising_flow(z):
    layers = OrderedDict(affine=(1.3, 0.2), planar=(0.4, 0.7))
    log_det, v = 0.0, z
    for name, (a, b) in layers.items():
        if name == "affine":
            v = a * v + b
            log_det += len(z) * np.log(a)
        else:
            t = np.tanh(b * v)
            v = v + a * t
            log_det += np.sum(np.log(1 + a * b * (1 - t**2)))
    return -0.5 * np.sum(v**2) + log_det


@program(array(4, 2), scalar(0.3, 0.8), truth="differences")
def triplet_loss_over_pairs(e, margin):
    anchors = {0: (1, 2), 1: (0, 3)}
    losses = []
    for a, (p, n) in anchors.items():
        d_pos = np.linalg.norm(e[a] - e[p])
        d_neg = np.linalg.norm(e[a] - e[n])
        loss = d_pos - d_neg + margin + 2.0
        if loss > 0:
            losses.append(loss)
    return sum(losses) / max(len(losses), 1)


@program(array(5, low=0.5, high=2.0))
def learning_rate_schedule(grads):
    def schedule(base, warmup):
        step = 0
        while True:
            step += 1
            yield base * min(1.0, step / warmup)

    rates = schedule(0.3, 3)
    x = 1.0
    for g in grads:
        x -= next(rates) * g * x
    return x**2


@program(array(6, low=-1.0, high=1.0))
def hard_examples_only(losses):
    squared = losses**2
    limit = 0.1
    hard = [v for v in squared if v > limit]
    easy = [v for v in squared if v <= limit]
    return sum(hard) + 0.1 * sum(v * v for v in easy)


@program(array(4, low=0.1, high=0.9), array(4, low=0.1, high=0.9))
def beam_of_two(p, q):
    beams = [([], 0.0)]
    for a, b in zip(p, q):
        grown = []
        for path, score in beams:
            for name, prob in (("a", a), ("b", b)):
                grown.append((path + [name], score + np.log(prob)))
        beams = grown[:2]
    return sum(s for _, s in beams) + len(beams[0][0])
