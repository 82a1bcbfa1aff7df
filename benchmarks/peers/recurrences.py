"""How do users of libraries without compiled loops write recurrences along an axis?

As loops of Python over rows, kept in lists and stacked at the end: nothing is assigned. These
programs read alike in PyTorch and in HIPS autograd; `np` is the library's NumPy.
"""

from collections.abc import Callable
from typing import Any


def programs(np: Any, flip: Callable[[Any], Any]) -> dict[str, Callable[..., Any]]:
    def lorenz(params, start, observed, dt):
        def velocity(u):
            return np.stack([params[0] * (u[1] - u[0]), u[0] * (params[1] - u[2]) - u[1],
                             u[0] * u[1] - params[2] * u[2]])  # fmt: skip

        u, total = start, 0.0
        for seen in observed:
            k1 = velocity(u)
            k2 = velocity(u + 0.5 * dt * k1)
            k3 = velocity(u + 0.5 * dt * k2)
            k4 = velocity(u + dt * k3)
            u = u + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
            total = total + np.sum((u - seen) ** 2)
        return 0.5 * dt * total

    def seidel(a, target, sweeps):
        rows, cols = a.shape
        a = [a[i] for i in range(rows)]
        for _ in range(sweeps):
            for i in range(1, rows - 1):
                s = (a[i][1:-1] + a[i - 1][:-2] + a[i - 1][1:-1] + a[i - 1][2:] + a[i][2:]
                     + a[i + 1][:-2] + a[i + 1][1:-1] + a[i + 1][2:])  # fmt: skip
                new = [a[i][0]]
                for j in range(cols - 2):
                    new.append((new[-1] + s[j]) / 9.0)
                a[i] = np.stack([*new, a[i][-1]])
        return 0.5 * np.sum((np.stack(a) - target) ** 2)

    def solved(u, k, p, d):
        """Half a step of adi along the first axis: the inner part."""
        n = len(u)
        q, v = [1.0 + 0.0 * u[0, 1:-1]], 1.0 + 0.0 * u[0, 1:-1]
        for j in range(1, n - 1):
            bend = u[j, :-2] - 2.0 * u[j, 1:-1] + u[j, 2:]
            q.append((u[j, 1:-1] + k[j - 1] * (bend + q[-1])) / d[j - 1])
        inner = []
        for j in range(n - 2, 0, -1):
            v = p[j - 1] * v + q[j]
            inner.append(v)
        return np.stack(inner[::-1])

    def eliminated(k):
        p, d = [0.0 * k[0]], []
        for row in k:
            d.append(1.0 + 2.0 * row - row * p[-1])
            p.append(row / d[-1])
        return p[1:], d

    def framed(inner, sides, caps):
        """The inner part with its first and last row (`caps`) and its columns (`sides`)."""
        rows = np.concatenate([caps[:1], inner, caps[1:]])
        return np.concatenate([sides[:, :1], rows, sides[:, 1:]], 1)

    def adi(u, k, target, steps):
        inner = k[1:-1, 1:-1]
        (p1, d1), (p2, d2) = eliminated(inner), eliminated(inner.T)
        ends = np.stack([u[:, 0], u[:, -1]], 1)
        caps = np.stack([u[0, 1:-1], u[-1, 1:-1]])
        ones = 1.0 + 0.0 * caps
        empty = 0.0 * ends
        sides = np.concatenate([ends[:1], ones.T, ends[-1:]])
        for _ in range(steps):
            v = framed(solved(u, inner, p1, d1), empty, ones)
            new = solved(v.T, inner.T, p2, d2).T
            u = framed(new, sides, caps)
        return 0.5 * np.sum((u - target) ** 2)

    def durbin(r, target):
        alpha, beta = -r[0], 1.0
        y = np.stack([-r[0]])
        for k in range(1, len(r)):
            beta = beta * (1.0 - alpha * alpha)
            alpha = -(r[k] + np.dot(flip(r[:k]), y)) / beta
            y = np.concatenate([y + alpha * flip(y), np.stack([alpha])])
        return 0.5 * np.sum((y - target) ** 2)

    def both_ways(x, a1, a2, a3, a4, b1, b2):
        """Deriche's recursion along the first axis, in both directions, added."""
        n = len(x)
        y = [a1 * x[0]]
        y.append(a1 * x[1] + a2 * x[0] + b1 * y[0])
        for i in range(2, n):
            y.append(a1 * x[i] + a2 * x[i - 1] + b1 * y[-1] + b2 * y[-2])
        z = [0.0 * x[0], a3 * x[-1]]
        for i in range(n - 3, -1, -1):
            z.append(a3 * x[i + 1] + a4 * x[i + 2] + b1 * z[-1] + b2 * z[-2])
        return np.stack(y) + np.stack(z[::-1])

    def deriche(img, alpha, target):
        e = np.exp(-alpha)
        k = (1.0 - e) * (1.0 - e) / (1.0 + alpha * e * 2.0 - e * e)
        taps = k, k * e * (alpha - 1.0), k * e * (alpha + 1.0), -k * e * e
        taps = *taps, 2.0 ** (-alpha), -e * e
        return 0.5 * np.sum((both_ways(both_ways(img.T, *taps).T, *taps) - target) ** 2)

    def vadv(u, wind, u_pos, target, dtr):
        levels = u.shape[2]
        w = 0.125 * (wind[1:] + wind[:-1])
        ccol, dcol = [], []
        for k in range(levels):
            a = -w[:, :, k] if k else 0.0
            c = w[:, :, k + 1] if k < levels - 1 else 0.0
            right = dtr * u_pos[:, :, k]
            divided = dtr - a - c
            if k:
                right = right - a * (u[:, :, k - 1] - u[:, :, k]) - dcol[-1] * a
                divided = divided - ccol[-1] * a
            if k < levels - 1:
                right = right - c * (u[:, :, k + 1] - u[:, :, k])
            ccol.append(c / divided)
            dcol.append(right / divided)
        x = [dcol[-1]]
        for k in range(levels - 2, -1, -1):
            x.append(dcol[k] - ccol[k] * x[-1])
        out = dtr * (np.stack(x[::-1], 2) - u_pos)
        return 0.5 * np.sum((out - target) ** 2)

    found = lorenz, seidel, adi, durbin, deriche, vadv
    return {f.__name__: f for f in found}
