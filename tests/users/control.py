"""Which programs do people write who steer, estimate and integrate?"""

import itertools
import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tests.catalogue.entry import Catalogue, array, scalar

catalogue = Catalogue()
program = catalogue.add


class PID:
    def __init__(self, kp, ki, kd, dt, limit=None):
        self.kp, self.ki, self.kd, self.dt = kp, ki, kd, dt
        self.limit = limit
        self.integral = 0.0
        self.previous_error = None

    def __call__(self, error):
        self.integral += error * self.dt
        derivative = 0.0 if self.previous_error is None else (error - self.previous_error) / self.dt
        self.previous_error = error
        u = self.kp * error + self.ki * self.integral + self.kd * derivative
        if self.limit is not None:
            u = min(max(u, -self.limit), self.limit)
            if abs(u) == self.limit:
                self.integral -= error * self.dt
        return u


@program(scalar(1.0, 3.0), scalar(0.1, 0.5), scalar(0.05, 0.2))
def pid_anti_windup_cost(kp, ki, kd):
    pid = PID(kp, ki, kd, 0.05, limit=1.2)
    pos, vel, cost = 0.0, 0.0, 0.0
    for step in range(60):
        target = 1.0 if step < 30 else 0.5
        u = pid(target - pos)
        acc = u - 0.4 * vel - 0.2 * math.sin(pos)
        vel += acc * 0.05
        pos += vel * 0.05
        cost += (target - pos) ** 2 + 1e-3 * u**2
    return cost * 0.05


def c2d(A, B, dt, terms=8):
    n, m = B.shape
    M = np.zeros((n + m, n + m))
    M[:n, :n] = A
    M[:n, n:] = B
    M *= dt
    E = np.eye(n + m)
    term = np.eye(n + m)
    for k in range(1, terms + 1):
        term = term @ M / k
        E += term
    return E[:n, :n], E[:n, n:]


@program(
    array(2, 2, low=-1.0, high=1.0),
    array(2, 1, low=0.5, high=1.0),
    scalar(0.1, 1.0),
    truth="differences",
)
def lqr_by_riccati(A, B, rho):
    Ad, Bd = c2d(A, B, 0.1)
    Q, R = np.eye(2), np.array([[rho]])
    P = Q.copy()
    for _k in range(12):
        K = np.linalg.solve(R + Bd.T @ P @ Bd, Bd.T @ P @ Ad)
        P_next = Q + Ad.T @ P @ (Ad - Bd @ K)
        if np.max(np.abs(P_next - P)) < 1e-12:
            P = P_next
            break
        P = P_next
    x, cost = np.array([1.0, -0.5]), 0.0
    for _ in range(20):
        u = -K @ x
        cost += x @ Q @ x + u @ R @ u
        x = Ad @ x + Bd @ u
    return cost + np.trace(P)


def rot(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    return {
        "x": lambda: np.array([[1, 0, 0], [0, c, -s], [0, s, c]]),
        "y": lambda: np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]),
        "z": lambda: np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]),
    }[axis]()


class Joint(NamedTuple):
    axis: str
    offset: tuple
    limits: tuple = (-np.pi, np.pi)


ARM = [
    Joint("z", (0.0, 0.0, 0.3)),
    Joint("y", (0.0, 0.0, 0.4)),
    Joint("y", (0.35, 0.0, 0.0)),
    Joint("x", (0.1, 0.0, 0.0)),
    Joint("y", (0.05, 0.0, 0.02), (-1.0, 1.0)),
]


def forward_kinematics(joints, q):
    T = np.eye(4)
    frames = [T]
    for joint, angle in zip(joints, q):
        step = np.eye(4)
        step[:3, :3] = rot(joint.axis, angle)
        step[:3, 3] = step[:3, :3] @ np.array(joint.offset)
        T = T @ step
        frames.append(T)
    return frames


@program(array(5, low=-0.8, high=0.8), array(3, low=0.2, high=0.5), truth="differences")
def arm_pose_cost(q, target):
    frames = forward_kinematics(ARM, q)
    tip = frames[-1][:3, 3]
    cost = np.sum((tip - target) ** 2)
    for joint, angle in zip(ARM, q):
        lo, hi = joint.limits
        if angle < lo:
            cost += (lo - angle) ** 2
        elif angle > hi:
            cost += (angle - hi) ** 2
    cost += 0.01 * sum(np.linalg.norm(a[:3, 3] - b[:3, 3]) for a, b in itertools.pairwise(frames))
    # keep the tool upright
    return cost + 0.1 * (1.0 - frames[-1][2, 2]) ** 2


@dataclass(frozen=True)
class Quaternion:
    w: float
    x: float
    y: float
    z: float

    def __mul__(self, o):
        if isinstance(o, Quaternion):
            return Quaternion(
                self.w * o.w - self.x * o.x - self.y * o.y - self.z * o.z,
                self.w * o.x + self.x * o.w + self.y * o.z - self.z * o.y,
                self.w * o.y - self.x * o.z + self.y * o.w + self.z * o.x,
                self.w * o.z + self.x * o.y - self.y * o.x + self.z * o.w,
            )
        return Quaternion(self.w * o, self.x * o, self.y * o, self.z * o)

    __rmul__ = __mul__

    def __add__(self, o):
        return Quaternion(self.w + o.w, self.x + o.x, self.y + o.y, self.z + o.z)

    @property
    def conj(self):
        return Quaternion(self.w, -self.x, -self.y, -self.z)

    def __abs__(self):
        return math.sqrt(self.w**2 + self.x**2 + self.y**2 + self.z**2)

    def normalized(self):
        return self * (1.0 / abs(self))

    def rotate(self, v):
        r = self * Quaternion(0.0, *v) * self.conj
        return (r.x, r.y, r.z)


@program(array(3, low=-1.0, high=1.0), scalar(0.1, 0.5), truth="differences")
def gyro_complementary_filter(bias, gain):
    q = Quaternion(1.0, 0.0, 0.0, 0.0)
    error = 0.0
    for k in range(12):
        t = 0.1 * k
        omega = (
            0.3 * math.cos(t) + 0.1 * bias[0],
            -0.2 * math.sin(2 * t) + 0.1 * bias[1],
            0.15 + 0.1 * bias[2],
        )
        gx, gy, gz = q.conj.rotate((0.0, 0.0, 1.0))
        ax, ay, az = math.sin(0.1 * t), 0.05, math.sqrt(1 - math.sin(0.1 * t) ** 2 - 0.0025)
        ex, ey, ez = (ay * gz - az * gy, az * gx - ax * gz, ax * gy - ay * gx)
        wx, wy, wz = (w + gain * e for w, e in zip(omega, (ex, ey, ez)))
        q = (q + 0.5 * 0.1 * (q * Quaternion(0.0, wx, wy, wz))).normalized()
        error += ex * ex + ey * ey + ez * ez
    return error + q.w - q.y * q.x


@program(array(4, low=0.5, high=1.5), scalar(0.05, 0.2), truth="differences")
def unscented_transform(mean, noise):
    n = len(mean)
    P = noise * np.eye(n) + 0.01 * np.outer(mean, mean)
    alpha, kappa, beta = 0.5, 0.0, 2.0
    lam = alpha**2 * (n + kappa) - n
    L = np.linalg.cholesky((n + lam) * P)
    sigma = np.vstack([mean, mean + L.T, mean - L.T])
    wm = np.full(2 * n + 1, 0.5 / (n + lam))
    wc = wm.copy()
    wm[0] = lam / (n + lam)
    wc[0] = wm[0] + 1 - alpha**2 + beta
    f = lambda s: np.array([s[0] * np.cos(s[1]), s[0] * np.sin(s[1]), s[2] * s[3], np.exp(-s[3])])
    Y = np.array([f(s) for s in sigma])
    mu = wm @ Y
    D = Y - mu
    C = (wc[:, None] * D).T @ D
    return mu.sum() + np.trace(C) + C[0, 1]


@dataclass
class Stats:
    accepted: int = 0
    rejected: int = 0
    sizes: list = field(default_factory=list)


class DormandPrince:
    c = [0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1]
    a = [
        [],
        [1 / 5],
        [3 / 40, 9 / 40],
        [44 / 45, -56 / 15, 32 / 9],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
        [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ]
    b4 = [5179 / 57600, 0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40]

    def __init__(self, rhs, rtol=1e-5, atol=1e-7):
        self.rhs, self.rtol, self.atol = rhs, rtol, atol
        self.stats = Stats()

    def step(self, t, y, h):
        k = []
        for ci, ai in zip(self.c, self.a):
            yi = y
            for aij, kj in zip(ai, k):
                yi = yi + h * aij * kj
            k.append(self.rhs(t + ci * h, yi))
        y5 = yi
        y4 = y + h * sum(b * kj for b, kj in zip(self.b4, k))
        return y5, y5 - y4

    def solve(self, y, t, t_end, h=0.1):
        while t < t_end:
            h = min(h, t_end - t)
            y_new, err = self.step(t, y, h)
            norm = np.sqrt(
                np.mean((err / (self.atol + self.rtol * np.maximum(abs(y), abs(y_new)))) ** 2)
            )
            if norm <= 1.0:
                t += h
                y = y_new
                self.stats.accepted += 1
            else:
                self.stats.rejected += 1
            h *= min(5.0, max(0.2, 0.9 * (norm + 1e-12) ** -0.2))
        return y


@program(array(2, low=0.5, high=1.5), scalar(0.5, 2.0), truth="differences")
def dormand_prince_van_der_pol(y0, mu):
    solver = DormandPrince(lambda t, y: np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]]))
    y = solver.solve(y0, 0.0, 1.0)
    return y[0] ** 2 + y[1]


@program(scalar(0.1, 0.5), scalar(1.0, 2.0), array(3, low=0.5, high=1.0), truth="differences")
def bdf2_newton_stiff(k1, k2, y0):
    """y' = f(y), with a hand-written Newton and Jacobian."""

    def f(y):
        return np.array(
            [
                -k1 * y[0] + 10 * y[1] * y[2],
                k1 * y[0] - 10 * y[1] * y[2] - k2 * y[1] ** 2,
                k2 * y[1] ** 2,
            ]
        )

    def jac(y):
        J = np.zeros((3, 3))
        J[0] = [-k1, 10 * y[2], 10 * y[1]]
        J[1] = [k1, -10 * y[2] - 2 * k2 * y[1], -10 * y[1]]
        J[2, 1] = 2 * k2 * y[1]
        return J

    def newton(guess, residual, jacobian, tol=1e-12):
        y = guess.copy()
        for _it in range(20):
            r = residual(y)
            if np.linalg.norm(r) < tol:
                break
            y -= np.linalg.solve(jacobian(y), r)
        else:
            raise RuntimeError(f"Newton did not converge, residual {r}")
        return y

    h, I = 0.05, np.eye(3)
    prev, cur = y0, newton(y0, lambda y: y - y0 - h * f(y), lambda y: I - h * jac(y))
    for _n in range(6):
        c = (4 * cur - prev) / 3
        prev, cur = (
            cur,
            newton(cur, lambda y: y - c - 2 / 3 * h * f(y), lambda y: I - 2 / 3 * h * jac(y)),
        )
    return np.sum(cur**2) + cur[1]


@program(array(10, low=-0.5, high=0.5), scalar(0.5, 1.0), truth="differences")
def cartpole_shooting(us, length):
    g, mc, mp, dt = 9.81, 1.0, 0.1, 0.05

    def dynamics(state, u):
        _x, v, th, om = state
        s, c = np.sin(th), np.cos(th)
        temp = (u + mp * length * om**2 * s) / (mc + mp)
        alpha = (g * s - c * temp) / (length * (4 / 3 - mp * c**2 / (mc + mp)))
        return v, temp - mp * length * alpha * c / (mc + mp), om, alpha

    def rk4(s, u):
        add = lambda a, b, h: tuple(p + h * q for p, q in zip(a, b))
        k1 = dynamics(s, u)
        k2 = dynamics(add(s, k1, dt / 2), u)
        k3 = dynamics(add(s, k2, dt / 2), u)
        k4 = dynamics(add(s, k3, dt), u)
        return tuple(
            x + dt / 6 * (a + 2 * b + 2 * c + d) for x, a, b, c, d in zip(s, k1, k2, k3, k4)
        )

    state, cost = (0.0, 0.0, 0.2, 0.0), 0.0
    for u in us:
        state = rk4(state, u)
        x, _v, th, _om = state
        cost += 0.1 * x**2 + th**2 + 0.01 * u**2
    return cost + 5.0 * (state[2] ** 2 + state[3] ** 2)
