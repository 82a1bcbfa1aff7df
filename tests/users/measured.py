"""Which programs have users who measure, simulate and design with arrays?"""

from collections import namedtuple
from dataclasses import dataclass
from functools import reduce

import numpy as np
import scipy.ndimage as nd
import scipy.special as sp
import scipy.stats as st

from tests.catalogue.entry import Catalogue, array, scalar

catalogue = Catalogue()
program = catalogue.add


@program(array(9, low=0.1, high=0.8), array(9, low=0.8, high=1.2), truth="complex")
def two_stream_radiation(tau, T):
    n = len(tau)
    trans = np.exp(-1.66 * tau)
    up = np.empty(n + 1, dtype=np.result_type(tau, T))
    down = np.zeros_like(up)
    B = T**4
    for i in range(n):
        down[i + 1] = down[i] * trans[i] + B[i] * (1 - trans[i])
    up[n] = 0.9 * B[-1] + 0.1 * down[n]
    for i in reversed(range(n)):
        up[i] = up[i + 1] * trans[i] + B[i] * (1 - trans[i])
    net = up - down
    heating = np.diff(net)
    return np.sum(heating**2) + up[0]


@program(array(3), array(3, 3), array(3, 4), truth="differences")
def hmm_smoothing_in_logs(init, trans, emit):
    obs = np.array([0, 3, 1, 1, 2, 0])
    lp, lt, le = (x - sp.logsumexp(x, axis=-1, keepdims=True) for x in (init, trans, emit))
    n, k = len(obs), len(init)
    fwd = np.full((n, k), -np.inf)
    bwd = np.zeros((n, k))
    fwd[0] = lp + le[:, obs[0]]
    for t in range(1, n):
        fwd[t] = sp.logsumexp(fwd[t - 1][:, None] + lt, axis=0) + le[:, obs[t]]
    for t in range(n - 2, -1, -1):
        bwd[t] = np.logaddexp.reduce(lt + le[:, obs[t + 1]] + bwd[t + 1], axis=1)
    gamma = fwd + bwd
    gamma -= sp.logsumexp(gamma, axis=1)[:, np.newaxis]
    counts = np.zeros((k, 4))
    np.add.at(counts.T, obs, np.exp(gamma))
    return sp.logsumexp(fwd[-1]) + np.sum(counts**2)


class Truss:
    nodes = np.array([[0, 0], [1, 0], [0.5, 0.8], [1.5, 0.8]], float)
    bars = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]

    def __init__(self, areas, E=1.0):
        self.areas, self.E = areas, E

    def assemble(self, offsets):
        K = np.zeros((8, 8))
        xy = self.nodes + offsets
        for (i, j), A in zip(self.bars, self.areas):
            d = xy[j] - xy[i]
            L = np.hypot(*d)
            c = d / L
            T = np.concatenate([-c, c])
            dofs = np.r_[2 * i : 2 * i + 2, 2 * j : 2 * j + 2]
            K[np.ix_(dofs, dofs)] += self.E * A / L * np.outer(T, T)
        return K

    def solve(self, load, offsets=0.0):
        K = self.assemble(offsets)
        free = np.setdiff1d(np.arange(8), [0, 1, 3])
        u = np.zeros(8)
        u[free] = np.linalg.solve(K[np.ix_(free, free)], load[free])
        return u, K @ u - load


@program(
    array(5, low=0.5, high=1.5), array(4, 2, low=-0.05, high=0.05), array(8), truth="differences"
)
def truss_compliance(areas, offsets, load):
    u, reactions = Truss(areas).solve(load, offsets=offsets)
    return load @ u + 0.1 * np.sum(reactions[[0, 1, 3]] ** 2)


@program(array(6, 6, low=0.2, high=1.0), array(6, 6), truth="differences")
def phase_retrieval_loss(amp, phase):
    fieldv = amp * np.exp(1j * phase)
    padded = np.zeros((12, 12), dtype=complex)
    padded[3:9, 3:9] = fieldv
    far = np.fft.fftshift(np.fft.fft2(np.fft.ifftshift(padded), norm="ortho"))
    I = np.abs(far) ** 2
    G = np.where(np.abs(far) > 1e-12, np.sqrt(I + 0.1) * far / np.abs(far), 0)
    back = np.fft.fftshift(np.fft.ifft2(np.fft.ifftshift(G), norm="ortho"))[3:9, 3:9]
    return np.sum(np.abs(back - fieldv) ** 2) + np.angle(back).std()


@dataclass
class Sphere:
    center: np.ndarray
    radius: float
    albedo: np.ndarray

    def intersect(self, o, d):
        oc = o - self.center
        b = np.einsum("...i,...i", d, oc)
        c = np.sum(oc**2, -1) - self.radius**2
        disc = b * b - c
        hit = disc > 0
        t = -b - np.sqrt(np.where(hit, disc, 1.0))
        return np.where(hit & (t > 1e-3), t, np.inf)


@program(
    array(2, 3, low=-0.3, high=0.3),
    array(2, low=0.4, high=0.6),
    array(3, low=0.2, high=0.9),
    truth="differences",
)
def ray_traced_spheres(centers, radii, light):
    spheres = [
        Sphere(c + np.array([0.5 * k - 0.3, 0.0, 3.0]), r, np.array([1.0, 0.5, 0.2]))
        for k, (c, r) in enumerate(zip(centers, radii))
    ]
    ys, xs = np.mgrid[-1:1:4j, -1:1:5j] * 0.4
    d = np.stack([xs, ys, np.ones_like(xs)], axis=-1)
    d /= np.linalg.norm(d, axis=-1, keepdims=True)
    o = np.zeros(3)
    L = light / np.linalg.norm(light)
    image = np.zeros(xs.shape + (3,))
    depth = np.full(xs.shape, np.inf)
    for s in spheres:
        t = s.intersect(o, d)
        closer = t < depth
        p = o + np.where(closer, t, 0.0)[..., None] * d
        n = (p - s.center) / s.radius
        shade = np.maximum(n @ -L * -1, 0.0)[..., None] * s.albedo + 0.1
        image = np.where(closer[..., None], shade, image)
        depth = np.minimum(depth, t)
    return np.mean(image**2) + np.sum(np.where(np.isfinite(depth), depth, 0.0)) / depth.size


def gate(name, theta=None):
    c, s = (np.cos(theta / 2), np.sin(theta / 2)) if theta is not None else (1, 0)
    return {
        "I": lambda: np.eye(2),
        "X": lambda: np.array([[0, 1], [1, 0]], complex),
        "RY": lambda: np.array([[c, -s], [s, c]]),
        "RZ": lambda: np.diag([np.exp(-0.5j * theta), np.exp(0.5j * theta)]),
    }[name]()


@program(array(2, 3, 2), truth="differences")
def vqe_energy(theta):
    n = theta.shape[1]
    psi = np.zeros((2,) * n, complex)
    psi[(0,) * n] = 1
    for layer in theta:
        for q, (a, b) in enumerate(layer):
            psi = np.moveaxis(np.tensordot(gate("RZ", b) @ gate("RY", a), psi, axes=(1, q)), 0, q)
        for q in range(n - 1):
            psi = np.moveaxis(psi, (q, q + 1), (0, 1)).copy()
            psi[1] = psi[1, ::-1].copy()
            psi = np.moveaxis(psi, (0, 1), (q, q + 1))
    Zs, X = np.diag([1.0, -1.0]), gate("X").real
    op = lambda ops: reduce(np.kron, [ops.get(k, np.eye(2)) for k in range(n)])
    H = sum(op({k: Zs, k + 1: Zs}) for k in range(n - 1)) + 0.7 * sum(op({k: X}) for k in range(n))
    v = psi.ravel()
    return np.real(v.conj() @ H @ v)


@program(scalar(0.05, 0.2), scalar(0.05, 0.15), scalar(0.6, 0.8), array(10), truth="differences")
def gjr_garch_t(omega, alpha, beta, r):
    h = np.empty_like(r)
    h[0] = r.var(ddof=1)
    for t in range(1, r.size):
        h[t] = omega + (alpha + 0.05 * (r[t - 1] < 0)) * r[t - 1] ** 2 + beta * h[t - 1]
    return -st.t.logpdf(r, df=6.0, scale=np.sqrt(h)).sum()


class Cloth:
    def __init__(self, n, k, rest):
        self.n, self.k, self.rest = n, k, rest
        self.v = np.zeros((n, n, 3))
        self.x = None

    def pull(self, F, s, t):
        d = self.x[t] - self.x[s]
        L = np.sqrt((d**2).sum(-1, keepdims=True) + 1e-12)
        f = self.k * (L - self.rest) * d / L
        F[s] += f
        F[t] -= f

    def step(self, dt, wind):
        F = np.zeros_like(self.x)
        F[..., 2] -= 9.8
        F += wind
        self.pull(F, np.s_[:-1, :], np.s_[1:, :])
        self.pull(F, np.s_[:, :-1], np.s_[:, 1:])
        F[0, [0, -1]] = 0
        self.v += dt * F
        self.v *= 0.99
        self.x = self.x + dt * self.v
        low = self.x[..., 2] < -0.15
        self.x[low, 2] = -0.15
        self.v[low] *= 0.5


@program(scalar(5.0, 10.0), scalar(0.2, 0.3), array(3), truth="differences")
def cloth_in_the_wind(k, rest, wind):
    c = Cloth(3, k, rest)
    g = np.linspace(0, 0.6, 3)
    c.x = np.stack(np.meshgrid(g, g, [0.0], indexing="ij"), -1)[:, :, 0]
    for _ in range(4):
        c.step(0.03, wind)
    return np.sum(c.x**2) + c.v[..., 2].mean()


@program(array(4, 4, low=0.1, high=0.4), array(4), truth="differences")
def ising_tap(J, h):
    J = np.triu(J, 1)
    J = J + J.T
    m = np.tanh(h)
    for _ in range(15):
        new = np.tanh(h + J @ m - m * (J**2 @ (1 - m**2)))
        m = 0.5 * m + 0.5 * new
    S = -np.sum(sp.xlogy((1 + m) / 2, (1 + m) / 2) + sp.xlogy((1 - m) / 2, (1 - m) / 2))
    return -0.5 * m @ J @ m - h @ m - S


@program(
    array(3, low=0.5, high=1.5), array(3, low=0.2, high=0.4), scalar(0.4, 0.6), truth="differences"
)
def multilayer_reflectance(n, d, lam):
    total = 0.0
    for w in lam * np.array([0.9, 1.0, 1.1]):
        M = np.eye(2, dtype=complex)
        for nk, dk in zip(n + 1.0 + 0.02j, d):
            delta = 2 * np.pi * nk * dk / w
            M = M @ np.array(
                [[np.cos(delta), 1j * np.sin(delta) / nk], [1j * nk * np.sin(delta), np.cos(delta)]]
            )
        B, C = M @ np.array([1.0, 1.5])
        r = (B - C) / (B + C)
        total += np.abs(r) ** 2
    return total / 3


@program(array(6), array(6, low=0.8, high=1.2), truth="differences")
def array_factor_sidelobes(phase, amp):
    th = np.radians(np.linspace(-80, 80, 23))
    k = 2 * np.pi
    pos = 0.5 * np.arange(6)
    w = amp * np.exp(1j * phase)
    af = np.abs(np.exp(1j * k * np.sin(th)[:, None] * pos) @ w) ** 2
    db = 10 * np.log10(af / af.max() + 1e-6)
    return sp.logsumexp(np.where(np.abs(th) > 0.4, db, -60.0)) + np.trapezoid(af * np.cos(th), th)


@program(
    scalar(-0.5, 0.8), scalar(0.1, 0.9), scalar(-0.4, 0.6), scalar(1.0, 1.4), truth="differences"
)
def vincenty_distance(lat1, lon1, lat2, lon2):
    a, f = 6378.137, 1 / 298.257223563
    b = (1 - f) * a
    U1, U2 = np.arctan((1 - f) * np.tan([lat1, lat2]))
    L = lam = lon2 - lon1
    for _ in range(50):
        sl_, cl = np.sin(lam), np.cos(lam)
        ss = np.hypot(np.cos(U2) * sl_, np.cos(U1) * np.sin(U2) - np.sin(U1) * np.cos(U2) * cl)
        cs = np.sin(U1) * np.sin(U2) + np.cos(U1) * np.cos(U2) * cl
        sig = np.arctan2(ss, cs)
        sa = np.cos(U1) * np.cos(U2) * sl_ / ss
        c2a = 1 - sa**2
        cm = cs - 2 * np.sin(U1) * np.sin(U2) / c2a if c2a > 0 else 0.0
        C = f / 16 * c2a * (4 + f * (4 - 3 * c2a))
        old = lam
        lam = L + (1 - C) * f * sa * (sig + C * ss * (cm + C * cs * (-1 + 2 * cm**2)))
        if abs(lam - old) < 1e-13:
            break
    u2 = c2a * (a**2 - b**2) / b**2
    A = 1 + u2 / 16384 * (4096 + u2 * (-768 + u2 * (320 - 175 * u2)))
    B = u2 / 1024 * (256 + u2 * (-128 + u2 * (74 - 47 * u2)))
    return b * A * (sig - B * ss * (cm + B / 4 * cs * (-1 + 2 * cm**2))) / 1000


@program(array(3, low=0.2, high=0.6), array(6, low=0.5, high=1.5), truth="differences")
def energy_balance_model(p, co2):
    lat = np.linspace(-1, 1, 9)
    S = 340 * (1 - 0.48 * (3 * lat**2 - 1) / 2)
    T = 288 - 30 * lat**2
    D, B, C = p
    lap = np.zeros((9, 9))
    idx = np.arange(8)
    w = 1 - (0.5 * (lat[1:] + lat[:-1])) ** 2
    lap[idx, idx + 1] = lap[idx + 1, idx] = w
    lap -= np.diag(lap.sum(axis=1))
    A = np.eye(9) * (C + 5.0 + B) - D * lap
    for c in co2:
        albedo = 0.3 + 0.15 * (1 - np.tanh((T - 265) / 8))
        forcing = S * (1 - albedo) - 203 - 2 * (T - 288) + 5.35 * np.log(1 + c) - B * 0
        T = np.linalg.solve(A, forcing + (C + 5 + B) * T - D * 0 * T)
    return np.average(T, weights=np.sqrt(1.01 - lat**2)) / 100 + T.min() / 300


@program(
    array(3, low=0.5, high=1.5),
    array(3, low=0.05, high=0.2),
    array(3, low=0.1, high=0.3),
    truth="differences",
)
def absorption_lines(strength, sigma, gamma):
    nu = np.linspace(-2, 2, 41)
    centers = np.array([-0.8, 0.1, 0.9])
    tau = np.sum(
        strength[:, None] * sp.voigt_profile(nu - centers[:, None], sigma[:, None], gamma[:, None]),
        axis=0,
    )
    flux = nd.gaussian_filter1d(np.exp(-tau), 1.5, mode="nearest")
    ew = np.trapezoid(1 - flux, nu)
    return ew + np.sum((flux - 0.7) ** 2)


@program(scalar(0.3, 0.9), scalar(0.5, 1.5), truth="differences")
def large_pendulum(k, t):
    sn, _, _, ph = sp.ellipj(np.linspace(0, t, 7), k**2)
    theta = 2 * np.arcsin(k * sn)
    return np.sum(theta**2) + 4 * sp.ellipk(k**2) + ph[-1]


@program(array(5, low=-1.0, high=1.0), scalar(0.5, 1.5), truth="differences")
def edge_diffraction(x, z):
    S, C = sp.fresnel(x * np.sqrt(2 / z))
    I = 0.5 * ((C + 0.5) ** 2 + (S + 0.5) ** 2)
    return np.sum(np.log(I))


@program(array(6, 6, low=0.5, high=1.5), truth="differences")
def darcy_finite_volumes(k):
    n = k.shape[0]
    idx = np.arange(n * n).reshape(n, n)
    tx = 2 / (1 / k[1:] + 1 / k[:-1])
    ty = 2 / (1 / k[:, 1:] + 1 / k[:, :-1])
    rows = np.concatenate([idx[1:].ravel(), idx[:, 1:].ravel()])
    cols = np.concatenate([idx[:-1].ravel(), idx[:, :-1].ravel()])
    t = np.concatenate([tx.ravel(), ty.ravel()])
    A = np.zeros((n * n, n * n))
    np.add.at(A, (rows, rows), t)
    np.add.at(A, (cols, cols), t)
    np.subtract.at(A, (rows, cols), t)
    np.subtract.at(A, (cols, rows), t)
    A[0] = 0
    A[0, 0] = 1
    b = np.zeros(n * n)
    b[-1] = 1
    p = np.linalg.solve(A, b).reshape(n, n)
    qx = -tx * np.diff(p, axis=0)
    return p[-1, -1] + np.sum(qx**2)


Link = namedtuple("Link", "a alpha d theta")


def dh(link):
    ct, st_, ca, sa = np.cos(link.theta), np.sin(link.theta), np.cos(link.alpha), np.sin(link.alpha)
    T = np.eye(4)
    T[0] = [ct, -st_ * ca, st_ * sa, link.a * ct]
    T[1] = [st_, ct * ca, -ct * sa, link.a * st_]
    T[2, 1:] = sa, ca, link.d
    return T


@program(array(3), array(3), truth="differences")
def manipulability(q, target):
    links = [Link(0.0, np.pi / 2, 0.3, q[0]), Link(0.4, 0.0, 0.0, q[1]), Link(0.3, 0.0, 0.0, q[2])]
    frames = [np.eye(4)]
    for l in links:
        frames.append(frames[-1] @ dh(l))
    frames = np.array(frames)
    o, z = frames[:, :3, 3], frames[:, :3, 2]
    J = np.cross(z[:-1], o[-1] - o[:-1]).T
    e = target - o[-1]
    dq = J.T @ np.linalg.solve(J @ J.T + 0.1**2 * np.eye(3), e)
    return np.sqrt(np.linalg.det(J @ J.T + 1e-6 * np.eye(3))) + dq @ dq


@program(array(24), truth="differences")
def stft_ridge(x):
    win = np.hanning(8)
    hop = 4
    frames = np.lib.stride_tricks.sliding_window_view(x, 8)[::hop] * win
    S = np.fft.rfft(frames, axis=-1)
    mag = np.abs(S)
    phase = np.unwrap(np.angle(S[:, 2]))
    cent = (mag * np.arange(mag.shape[1])).sum(1) / mag.sum(1)
    y = np.zeros_like(x)
    norm = np.full_like(x, 1e-3)
    for k, f in enumerate(np.fft.irfft(S * (mag > 0.2), n=8)):
        y[k * hop : k * hop + 8] += f * win
        norm[k * hop : k * hop + 8] += win**2
    return cent.var() + np.sum((y / norm - x)[4:-4] ** 2) + 0.01 * np.diff(phase) @ np.diff(phase)


@program(scalar(0.6, 0.9), array(6, low=0.1, high=1.0), truth="differences")
def consumption_by_value_iteration(beta, wealth):
    grid = np.linspace(0.5, 4, 8)
    V = np.log(grid)
    for _ in range(6):
        c = grid[:, None] - grid[None, :] / 1.05
        util = np.where(c > 0, np.log(np.where(c > 0, c, 1.0)), -np.inf)
        V = np.max(util + beta * V[None, :], axis=1)
    return np.interp(wealth + 1, grid, V).sum()


@program(array(4, low=0.5, high=2.0), array(5, low=-0.3, high=0.3), truth="differences")
def nelson_siegel_yields(p, noise):
    b0, b1, b2, lam = p
    m = np.array([0.25, 1, 2, 5, 10.0])
    load = lambda m: np.stack(
        [
            np.ones_like(m),
            -np.expm1(-lam * m) / (lam * m),
            -np.expm1(-lam * m) / (lam * m) - np.exp(-lam * m),
        ],
        axis=-1,
    )
    y = load(m) @ np.r_[b0, b1, b2]
    beta, res, _, _ = np.linalg.lstsq(load(m), y + noise, rcond=None)
    fwd = np.gradient(m * y, m, edge_order=2)
    return res.sum() + fwd @ fwd / 5 + np.linalg.norm(beta)


@program(array(9, 3), array(9, low=0.2, high=1.0), truth="differences", argnums=(0,))
def robust_channels(x, w):
    """Medians by weight, and what is left at both ends."""
    x = np.stack([np.arange(9.0), np.arange(0, 36, 4) % 9, np.arange(9)[::-1] ** 1.1], 1) + 0.1 * x
    center = np.quantile(x, 0.5, axis=0, weights=w, method="inverted_cdf")
    spread = np.percentile(np.abs(x - center), 80, axis=0, weights=w, method="inverted_cdf")
    z = (x - center) / spread
    return np.average(np.log1p(z**2), weights=np.outer(w, w[:3]))
