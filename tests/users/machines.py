"""Which programs do engineers write: of molecules, robots, meshes, rotors, reactions?"""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
from numba import njit

from tests.catalogue.entry import Catalogue, array, scalar

catalogue = Catalogue()
program = catalogue.add


@dataclass
class Molecule:
    x: np.ndarray
    v: np.ndarray
    bonds: list[tuple[int, int, float]]
    mass: np.ndarray = field(default=None)

    def __post_init__(self):
        if self.mass is None:
            self.mass = np.ones(len(self.x))

    def forces(self):
        f = np.zeros_like(self.x)
        n = len(self.x)
        for i in range(n):
            for j in range(i + 1, n):
                if any(({i, j} == {a, b} for a, b, _ in self.bonds)):
                    continue
                r = self.x[i] - self.x[j]
                d2 = r @ r
                s6 = 1.0 / d2**3
                fij = 24 * (2 * s6**2 - s6) / d2 * r
                f[i] += fij
                f[j] -= fij
        f[:, 2] -= 0.1 * self.mass
        return f

    def shake(self, x_new, tol=1e-11, max_iter=100):
        for _it in range(max_iter):
            worst = 0.0
            for a, b, d in self.bonds:
                r = x_new[a] - x_new[b]
                diff = r @ r - d * d
                worst = max(worst, abs(diff))
                ref = self.x[a] - self.x[b]
                g = diff / (2 * (1 / self.mass[a] + 1 / self.mass[b]) * (r @ ref))
                x_new[a] -= g / self.mass[a] * ref
                x_new[b] += g / self.mass[b] * ref
            if worst < tol:
                return x_new
        raise RuntimeError("SHAKE did not converge")

    def step(self, dt):
        f = self.forces()
        x_new = self.x + dt * self.v + 0.5 * dt**2 * f / self.mass[:, None]
        x_new = self.shake(x_new)
        self.v = (x_new - self.x) / dt
        self.x = x_new


@program(
    lambda r: np.array([[0, 0, 0], [1.2, 0, 0.1], [1.8, 1.1, 0.0]]) + 0.05 * r.normal(size=(3, 3)),
    array(3, 3, low=-0.2, high=0.2),
    truth="differences",
    argnums=(0, 1),
)
def shake_trajectory(x, v):
    mol = Molecule(x, v, [(0, 1, 1.2), (1, 2, 1.25)])
    for _ in range(5):
        mol.step(0.02)
    end = mol.x[2] - mol.x[0]
    return end @ end + np.sum(mol.v**2)


@program(array(6, 2, low=-0.1, high=0.1), scalar(1.0, 2.0), truth="differences")
def neo_hookean(u, mu, lam=3.0):
    X = np.array([[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]], dtype=float)
    tris = np.array([[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4]])
    fixed = np.array([0, 3])
    u = u.copy()
    u[fixed] = 0.0
    x = X + u
    energy, forces = (0.0, np.zeros_like(x))
    for t in tris:
        Dm = np.column_stack([X[t[1]] - X[t[0]], X[t[2]] - X[t[0]]])
        Ds = np.column_stack([x[t[1]] - x[t[0]], x[t[2]] - x[t[0]]])
        Bm = np.linalg.inv(Dm)
        vol = 0.5 * abs(np.linalg.det(Dm))
        F = Ds @ Bm
        J = np.linalg.det(F)
        if J <= 0:
            raise ValueError(f"inverted element {t}")
        energy += vol * (
            mu / 2 * (np.trace(F.T @ F) - 2 - 2 * np.log(J)) + lam / 2 * np.log(J) ** 2
        )
        FinvT = np.linalg.inv(F).T
        P = mu * (F - FinvT) + lam * np.log(J) * FinvT
        H = -vol * P @ Bm.T
        np.add.at(forces, t[1:], H.T)
        forces[t[0]] -= H.sum(axis=1)
    residual = np.delete(forces, fixed, axis=0)
    return energy + 0.5 * np.sum(residual**2)


@program(
    lambda r: (
        np.array([[0, 0, 0], [1, 0, 0.2], [1, 1, 0], [0, 1, 0.3], [0.5, 0.5, 0.6]])
        + 0.05 * r.normal(size=(5, 3))
    ),
    truth="differences",
)
def cotan_fairing(V):
    faces = [(0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)]
    n = len(V)
    L = np.zeros((n, n))
    area = np.zeros(n)
    for f in faces:
        for k in range(3):
            i, j, o = (f[k], f[(k + 1) % 3], f[(k + 2) % 3])
            a, b = (V[i] - V[o], V[j] - V[o])
            cr = np.linalg.norm(np.cross(a, b))
            w = 0.5 * np.dot(a, b) / cr
            L[i, j] += w
            L[j, i] += w
            L[i, i] -= w
            L[j, j] -= w
            area[o] += cr / 6
    Hn = L @ V / area[:, None]
    return np.sum(area * np.sum(Hn**2, axis=1))


@program(array(4, low=0.2, high=1.0), scalar(320.0, 340.0), truth="differences")
def rachford_rice_flash(z, T):
    z = z / z.sum()
    Tc = np.array([190.6, 305.3, 425.1, 507.6])
    Pc = np.array([45.99, 48.72, 37.96, 30.25])
    w = np.array([0.012, 0.1, 0.2, 0.301])
    P = 15.0
    K = Pc / P * np.exp(5.37 * (1 + w) * (1 - Tc / T))
    g = lambda V: np.sum(z * (K - 1) / (1 + V * (K - 1)))
    if g(0.0) <= 0:
        return 0.0 * T
    if g(1.0) >= 0:
        return 1.0 + 0.0 * T
    V, it = (0.5, 0)
    while True:
        f = g(V)
        df = -np.sum(z * (K - 1) ** 2 / (1 + V * (K - 1)) ** 2)
        Vn = V - f / df
        if not 0 < Vn < 1:
            Vn = 0.5 * V if f < 0 else 0.5 * (1 + V)
        it += 1
        if abs(Vn - V) < 1e-13 or it > 100:
            break
        V = Vn
    x = z / (1 + Vn * (K - 1))
    return Vn + np.sum(x * np.log(x)) * 0.1


@dataclass
class Reaction:
    reactants: dict[str, int]
    products: dict[str, int]
    A: float
    Ea: float

    def rate(self, c, T):
        k = self.A * np.exp(-self.Ea / (0.008314 * T))
        for sp, nu in self.reactants.items():
            k = k * c[sp] ** nu
        return k


@program(array(3, low=0.5, high=2.0), scalar(500.0, 600.0), truth="differences")
def arrhenius_network(A, T, dt=0.05, nt=30):
    mech = [
        Reaction({"A": 1}, {"B": 1}, A[0], 1.0),
        Reaction({"B": 2}, {"C": 1}, A[1], 2.0),
        Reaction({"C": 1}, {"A": 1, "B": 1}, A[2], 3.0),
    ]
    species = sorted({s for r in mech for s in (*r.reactants, *r.products)})
    c = dict.fromkeys(species, 0.0)
    c["A"] = 1.0
    for _ in range(nt):
        dc = defaultdict(float)
        for r in mech:
            q = r.rate(c, T)
            for s, nu in r.reactants.items():
                dc[s] -= nu * q
            for s, nu in r.products.items():
                dc[s] += nu * q
        c = {s: c[s] + dt * dc[s] for s in species}
        T = T + 2.0 * dt * sum(dc.values())
    return c["C"] + 0.1 * c["B"] + 0.001 * T


@dataclass
class Cell:
    V: float = 3.7
    soc: np.ndarray = field(default_factory=lambda: np.full(6, 0.5))
    history: list = field(default_factory=list)


@program(scalar(0.5, 1.5), scalar(0.01, 0.05), truth="differences")
def battery_single_particle(D, R):
    cell = Cell()
    r = np.linspace(0, 1, 7)
    mid = 0.5 * (r[1:] + r[:-1])
    vol = (r[1:] ** 3 - r[:-1] ** 3) / 3
    for n in range(30):
        I = 1.0 if n % 10 < 6 else -0.5
        flux = np.zeros(7)
        flux[1:-1] = -D * np.diff(cell.soc) / np.diff(mid) * r[1:-1] ** 2
        flux[-1] = 0.05 * I
        cell.soc = cell.soc - 0.01 * np.diff(flux) / vol
        s = np.clip(cell.soc[-1], 0.01, 0.99)
        cell.V = 3.7 + 0.1 * np.log(s / (1 - s)) - R * I
        cell.history.append(cell.V)
    return np.var(cell.history) + cell.history[-1]


@njit
def thomas(a, b, c, d):
    n = len(d)
    cp = np.empty(n)
    dp = np.empty(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x = np.zeros(n)
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return x


@program(array(8, low=0.0, high=1.0), scalar(0.1, 0.5), truth="differences")
def implicit_diffusion_njit(u, k):
    n = len(u)
    off = -k * np.ones(n)
    off[0] = 0
    main = (1 + 2 * k) * np.ones(n)
    main[[0, -1]] = 1 + k
    up = np.append(-k * np.ones(n - 1), 0.0)
    for _ in range(5):
        u = thomas(off, main, up, u + 0.1 * u * (1 - u))
    return np.sum(u**2) + u[-1]


class Ring:
    """persistent memory array"""

    def __init__(self, n):
        self.buf, self.i = (np.zeros(n), 0)

    def push(self, v):
        self.buf[self.i % len(self.buf)] = v
        self.i += 1

    def ordered(self):
        k = self.i % len(self.buf)
        return np.concatenate((self.buf[k:], self.buf[:k]))


@program(array(9), array(4), truth="differences")
def ring_buffer_filter(x, taps):
    ring = Ring(len(taps))
    out = []
    for v in x:
        ring.push(v)
        out.append(np.dot(ring.ordered(), taps))
        if abs(out[-1]) > 0.5:
            ring.buf *= 0.5
    return np.sum(np.square(out)) + out[-1]
