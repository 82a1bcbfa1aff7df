"""Which programs do people publish about robots, life, maps and graphs?"""

from dataclasses import dataclass

import numba
import numpy as np

from tests.catalogue.entry import Catalogue

catalogue = Catalogue()
program = catalogue.add

rng = np.random.default_rng(5)

R = lambda *s: 0.5 * rng.normal(size=s)


class Pose2:
    def __init__(self, x, y, th):
        self.x, self.y, self.th = (x, y, th)

    @classmethod
    def from_vec(cls, v):
        return cls(*v)

    def __matmul__(self, o):
        c, s = (np.cos(self.th), np.sin(self.th))
        return Pose2(self.x + c * o.x - s * o.y, self.y + s * o.x + c * o.y, self.th + o.th)

    def inv(self):
        c, s = (np.cos(self.th), np.sin(self.th))
        return Pose2(-c * self.x - s * self.y, s * self.x - c * self.y, -self.th)

    def vec(self):
        return np.array([self.x, self.y, np.arctan2(np.sin(self.th), np.cos(self.th))])


EDGES = {
    (0, 1): [1.0, 0.0, 0.5],
    (1, 2): [1.0, 0.1, 0.6],
    (2, 3): [0.9, 0.0, 0.4],
    (0, 3): [1.2, 1.5, 1.4],
}


@program(R(4, 3), truth="differences")
def pose_graph_slam(poses):
    P = [Pose2.from_vec(p) for p in poses]
    Omega = np.diag([10.0, 10.0, 50.0])
    cost = np.sum(poses[0] ** 2) * 100
    for (i, j), z in EDGES.items():
        e = (Pose2.from_vec(z).inv() @ (P[i].inv() @ P[j])).vec()
        chi = e @ Omega @ e
        cost += chi / (1 + 0.1 * chi)
    return cost


SRC = R(8, 2)


@program(0.3, np.array([0.2, -0.1]), truth="differences")
def icp_2d(theta, t):
    c, s = (np.cos(theta), np.sin(theta))
    dst = SRC @ np.array([[c, -s], [s, c]]).T + t
    cur = SRC.copy()
    for _ in range(3):
        d = np.linalg.norm(cur[:, None, :] - dst[None, :, :], axis=2)
        match = dst[np.argmin(d, axis=1)]
        mu_a, mu_b = (cur.mean(0), match.mean(0))
        U, _S, Vt = np.linalg.svd((cur - mu_a).T @ (match - mu_b))
        Rm = Vt.T @ np.diag([1, np.sign(np.linalg.det(Vt.T @ U.T))]) @ U.T
        cur = (cur - mu_a) @ Rm.T + mu_b
    return np.sum((cur - dst) ** 2) + np.sum(cur[0])


@numba.njit
def softmin3(a, b, c, g):
    m = min(a, min(b, c))
    return m - g * np.log(np.exp(-(a - m) / g) + np.exp(-(b - m) / g) + np.exp(-(c - m) / g))


@program(rng.normal(size=7), rng.normal(size=9), 0.5, truth="differences")
def soft_dtw_njit(x, y, gamma):
    n, m = (len(x), len(y))
    D = np.full((n + 1, m + 1), 10000000000.0)
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(max(1, i - 5), min(m, i + 5) + 1):
            D[i, j] = (x[i - 1] - y[j - 1]) ** 2 + softmin3(
                D[i - 1, j], D[i, j - 1], D[i - 1, j - 1], gamma
            )
    return D[n, m]


@program(rng.normal(size=16), truth="differences")
def levinson_durbin(x):
    r = np.correlate(x, x, mode="full")[len(x) - 1 : len(x) + 4]
    a = np.array([1.0])
    E = r[0]
    for m in range(1, 5):
        k = -np.dot(a, r[m:0:-1]) / E
        a = np.concatenate([a, [0.0]])
        a = a + k * a[::-1]
        E = E * (1 - k * k)
    return np.sum(a**2) + np.log(E)


class Tree:
    def __init__(self, length, children=(), name=None):
        self.length, self.children, self.name = (length, children, name)


SEQ = {"a": "ACGTAC", "b": "ACGTTC", "c": "AGGTAC", "d": "TCGAAC"}


def jc_matrix(t, mu):
    e = np.exp(-4 / 3 * mu * t)
    return np.full((4, 4), 0.25 - 0.25 * e) + e * np.eye(4)


def partial_likelihood(node, mu, site):
    if not node.children:
        v = np.zeros(4)
        v["ACGT".index(SEQ[node.name][site])] = 1.0
        return v
    out = np.ones(4)
    for c in node.children:
        out = out * (jc_matrix(c.length, mu) @ partial_likelihood(c, mu, site))
    return out


@program(np.array([0.1, 0.2, 0.3, 0.15, 0.05, 0.25]), 0.7, truth="differences")
def felsenstein_pruning(b, mu):
    t = Tree(
        0.0,
        (
            Tree(b[4], (Tree(b[0], name="a"), Tree(b[1], name="b"))),
            Tree(b[5], (Tree(b[2], name="c"), Tree(b[3], name="d"))),
        ),
    )
    return -sum(np.log(partial_likelihood(t, mu, s).mean()) for s in range(6))


C3 = np.array([[3.0, 1, 0.5], [1, 2, 1], [0.5, 1, 1.5]])


@program(
    dict(beta=0.1, sigma=0.3, gamma=0.2),
    np.array([0.99, 0.98, 1.0]),
    argnums=(0,),
    truth="differences",
)
def seir_ages(p, S0):
    state = {"S": S0.copy(), "E": np.zeros(3), "I": 1.0 - S0, "R": np.zeros(3)}
    peak = 0.0
    for _day in range(20):
        foi = p["beta"] * C3 @ state["I"]
        flow = {
            "SE": foi * state["S"],
            "EI": p["sigma"] * state["E"],
            "IR": p["gamma"] * state["I"],
        }
        for name, f in flow.items():
            a, b = name
            state[a] = state[a] - f * 0.5
            state[b] = state[b] + f * 0.5
        peak = max(peak, state["I"].sum())
    return 100 * peak + state["R"].sum()


rng = np.random.default_rng(6)

E0 = rng.normal(size=(10, 3))

OBS = rng.normal(size=(4, 2))

PERT = rng.normal(size=(4, 10, 2))


@program(1.05, 0.5, truth="differences")
def enkf_lorenz(inflation, sigma):
    H = np.array([[1.0, 0, 0], [0, 0, 1.0]])
    X = E0.copy()
    rmse = []
    for y, p in zip(OBS, PERT):
        for _ in range(3):
            x, yy, z = X.T
            X = X + 0.01 * np.stack([10 * (yy - x), x * (28 - z) - yy, x * yy - 8 / 3 * z], axis=1)
        mean = X.mean(axis=0)
        X = mean + inflation * (X - mean)
        A = X - X.mean(axis=0)
        P = A.T @ A / (len(X) - 1)
        K = P @ H.T @ np.linalg.inv(H @ P @ H.T + sigma**2 * np.eye(2))
        X += (y + sigma * p - X @ H.T) @ K.T
        rmse.append(np.sqrt(np.mean((X.mean(0)[[0, 2]] - y) ** 2)))
    return np.mean(rmse)


PTS = rng.uniform(0, 5, (7, 2))

VAL = rng.normal(size=7)


@program(0.1, 1.0, 2.0, truth="differences")
def kriging(nugget, sill, rng_):

    def gamma(h, model):
        match model:
            case "spherical":
                r = np.minimum(h / rng_, 1.0)
                return nugget + sill * (1.5 * r - 0.5 * r**3)
            case "exponential":
                return nugget + sill * (1 - np.exp(-h / rng_))
            case _:
                raise ValueError(model)

    total = 0.0
    for model in ("spherical", "exponential"):
        D = np.linalg.norm(PTS[:, None] - PTS, axis=-1)
        n = len(PTS)
        A = np.ones((n + 1, n + 1))
        A[n, n] = 0
        A[:n, :n] = gamma(D, model)
        A[np.arange(n), np.arange(n)] = 0
        b = np.append(gamma(np.linalg.norm(PTS - [2.5, 2.5], axis=1), model), 1.0)
        w = np.linalg.solve(A, b)
        total += w[:n] @ VAL + w @ b
    return total


ADJ = {"a": ["b", "c"], "b": ["c"], "c": ["a"], "d": ["c", "a"]}


@program({"a": 0.5, "b": 0.2, "c": 0.1, "d": 0.9}, 0.85, truth="differences")
def pagerank_dict(teleport, damping):
    z = sum(teleport.values())
    p = {k: v / z for k, v in teleport.items()}
    r = dict(p)
    for _ in range(30):
        new = {k: (1 - damping) * p[k] for k in ADJ}
        for k, outs in ADJ.items():
            for o in outs:
                new[o] += damping * r[k] / len(outs)
        delta = sum(abs(new[k] - r[k]) for k in r)
        r = new
        if delta < 1e-12:
            break
    return r["c"] + 2 * r["a"] ** 2


@program(rng.random(8), truth="differences")
def kruskal_mst(w):
    edges = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (2, 4), (0, 4)]
    parent = np.arange(5)

    def find(i):
        while parent[i] != i:
            i = parent[i]
        return i

    E = np.array(edges)
    total = 0.0
    for k in np.argsort(w):
        a, b = (find(E[k, 0]), find(E[k, 1]))
        if a != b:
            parent[a] = b
            total += w[k] ** 2
    return total


rng = np.random.default_rng(2)

R = lambda *s: 0.5 * rng.normal(size=s)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@dataclass
class SoftNode:
    w: np.ndarray
    b: float
    left: object
    right: object


def soft_tree(node, x):
    if isinstance(node, float):
        return node
    p = sigmoid(x @ node.w + node.b)
    return p * soft_tree(node.left, x) + (1 - p) * soft_tree(node.right, x)


@program(SoftNode(R(2), 0.1, SoftNode(R(2), -0.2, 1.0, 2.0), -1.0), truth="differences")
def soft_tree_of_dataclasses(t):
    X = np.array([[0.5, 1.0], [-1.0, 0.3], [0.2, -0.7]])
    return sum(soft_tree(t, x) ** 2 for x in X)


src = np.array([0, 1, 2, 3, 0, 2])

dst = np.array([1, 2, 0, 0, 3, 3])


@program(R(4, 3), R(3, 2), R(4), truth="differences")
def graph_attention(X, W, a):
    h = X @ W
    e = np.concatenate([h[src], h[dst]], axis=1) @ a
    e = np.where(e > 0, e, 0.2 * e)
    m = np.full(len(X), -np.inf)
    np.maximum.at(m, dst, e)
    w = np.exp(e - m[dst])
    z = np.zeros(len(X))
    np.add.at(z, dst, w)
    w = w / z[dst]
    out = np.zeros_like(h)
    np.add.at(out, dst, w[:, None] * h[src])
    return np.sum(np.tanh(out) ** 2)
