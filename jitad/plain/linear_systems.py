"""How does a linear system answer, whose matrices or coefficients are traced?  Plain Python,
rewritten as user code is.

Between two times an input is a line (or held), so that the step is an exponential of a matrix: C.
Van Loan, *Computing integrals involving the matrix exponential*, IEEE Trans. Autom. Control 23
(1978).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl


def in_states(system: Any) -> Any:
    """The four matrices of a system that is given by them, or as a quotient of polynomials."""
    if len(system) == 4:
        return tuple([np.atleast_2d(np.asarray(m, float)) for m in system])
    if len(system) == 2:
        return tf2ss(*system)
    raise NotImplementedError("a system of zeros, poles and a gain; "
                              "give two polynomials or four matrices")


def tf2ss(num: Any, den: Any) -> Any:
    num, den = np.atleast_1d(np.asarray(num, float)), np.atleast_1d(np.asarray(den, float))
    if num.ndim != 1:
        raise NotImplementedError("a system of several outputs as polynomials; give four matrices")
    num, den = num / den[0], den / den[0]
    n = len(den) - 1
    if len(num) > n + 1:
        raise ValueError("Improper transfer function. `num` is longer than `den`.")
    num = np.concatenate([np.zeros(n + 1 - len(num)), num])
    a = np.concatenate([-den[1:][np.newaxis], np.eye(max(n - 1, 0), n)])[:n]
    return (a, np.eye(n, 1), (num[1:] - num[0] * den[1:])[np.newaxis], np.reshape(num[:1], (1, 1)))


def ss2tf(A: Any, B: Any, C: Any, D: Any, input: Any = 0) -> Any:
    A, B, C, D = (np.atleast_2d(np.asarray(m, float)) for m in (A, B, C, D))
    b, d = B[:, input : input + 1], D[:, input]
    below = characteristic(A)
    above = [characteristic(A - b @ C[k : k + 1]) + (d[k] - 1.0) * below for k in range(len(C))]
    return np.stack(above), below


def characteristic(a: Any) -> Any:
    """The characteristic polynomial, by Faddeev and LeVerrier."""
    n = len(a)
    out, m = [1.0], np.zeros((n, n))
    for k in range(1, n + 1):
        m = a @ m + out[-1] * np.eye(n)
        out.append(-np.trace(a @ m) / k)
    return np.array(out)


def lsim(system: Any, U: Any, T: Any, X0: Any = None, interp: Any = True) -> Any:
    a, b, c, d = in_states(system)
    t = np.asarray(T, float)
    count, n = len(t), len(a)
    start = np.zeros(n) if X0 is None else np.reshape(np.asarray(X0, float), -1)
    states = np.zeros((count, n))
    if t[0] > 0.0:
        states[0] = sl.expm(a * t[0]) @ start
    else:
        states[0] = start
    dt = t[1] - t[0]
    if not np.allclose(np.diff(t), dt):
        raise ValueError("Time steps are not equally spaced.")
    m = np.shape(b)[1]
    given = np.zeros((count, m)) if U is None else np.asarray(U, float)
    given = given[:, np.newaxis] if given.ndim == 1 else given
    own, now, then = stepped(a * dt, b * dt, bool(interp))
    for k in range(1, count):
        states[k] = own @ states[k - 1] + now @ given[k - 1] + then @ given[k]
    out = states @ c.T + given @ d.T
    return t, squeezed(out), squeezed(states)


def stepped(a: Any, b: Any, as_lines: bool) -> Any:
    """What a step makes of the state, of the input at its start, and of that at its end."""
    n, m = np.shape(b)
    if not as_lines:
        whole = np.zeros((n + m, n + m))
        whole[:n, :n], whole[:n, n:] = a, b
        found = sl.expm(whole)
        return found[:n, :n], found[:n, n:], np.zeros((n, m))
    whole = np.zeros((n + 2 * m, n + 2 * m))
    whole[:n, :n], whole[:n, n : n + m] = a, b
    whole[n : n + m, n + m :] = np.eye(m)
    found = sl.expm(whole)
    then = found[:n, n + m :]
    return found[:n, :n], found[:n, n : n + m] - then, then


def squeezed(a: Any) -> Any:
    return np.squeeze(a)


def times(a: Any, count: Any) -> Any:
    """Seven times as long as the slowest mode needs."""
    rate = np.min(np.abs(np.real(np.linalg.eigvals(a))))
    return np.linspace(0.0, 7.0 / np.where(rate == 0.0, 1.0, rate), 100 if count is None else count)


def step(system: Any, X0: Any = None, T: Any = None, N: Any = None) -> Any:
    system = in_states(system)
    t = times(system[0], N) if T is None else np.asarray(T, float)
    t, y, _ = lsim(system, np.ones(len(t)), t, X0, False)
    return t, y


def impulse(system: Any, X0: Any = None, T: Any = None, N: Any = None) -> Any:
    a, b, c, d = in_states(system)
    if np.shape(b)[1] != 1:
        raise ValueError("impulse() requires a single-input system.")
    t = times(a, N) if T is None else np.asarray(T, float)
    start = b[:, 0] if X0 is None else b[:, 0] + np.asarray(X0, float)
    t, y, _ = lsim((a, b, c, d), np.zeros(len(t)), t, start, False)
    return t, y


def dlsim(system: Any, u: Any, t: Any = None, x0: Any = None) -> Any:
    if t is not None:
        raise NotImplementedError("t= of dlsim; give the input at each step")
    *parts, dt = system
    a, b, c, d = in_states(tuple(parts))
    given = np.asarray(u, float)
    given = given[:, np.newaxis] if given.ndim == 1 else given
    count = len(given)
    states = np.zeros((count, len(a)))
    if x0 is not None:
        states[0] = np.asarray(x0, float)
    for k in range(1, count):
        states[k] = a @ states[k - 1] + b @ given[k - 1]
    out = states @ c.T + given @ d.T
    ts = np.linspace(0.0, (count - 1) * dt, count)
    return (ts, out, states) if len(parts) == 4 else (ts, out)


def cont2discrete(system: Any, dt: Any, method: Any = "zoh", alpha: Any = None) -> Any:
    if len(system) == 2:
        above, below = ss2tf(*cont2discrete(tf2ss(*system), dt, method, alpha)[:4])
        return above, below, dt
    a, b, c, d = in_states(system)
    one = np.eye(len(a))
    if method == "zoh":
        own, now, _ = stepped(a * dt, b * dt, False)
        return own, now, c, d, dt
    if method == "foh":
        own, now, then = stepped(a * dt, b * dt, True)
        return own, now + own @ then, c, d + c @ then, dt
    if method == "impulse":
        own = sl.expm(a * dt)
        return own, own @ b * dt, c, d + c @ b * dt, dt
    share = {"bilinear": 0.5, "tustin": 0.5, "euler": 0.0, "forward_diff": 0.0,
             "backward_diff": 1.0, "gbt": alpha}[method]  # fmt: skip
    implicit = one - share * dt * a
    own = np.linalg.solve(implicit, one + (1.0 - share) * dt * a)
    now = np.linalg.solve(implicit, dt * b)
    out = np.linalg.solve(implicit.T, c.T).T
    return own, now, out, d + share * (c @ now), dt


def freqs(b: Any, a: Any, worN: Any = 200, plot: Any = None) -> Any:
    if worN is None or isinstance(worN, int):
        raise NotImplementedError("freqs without frequencies; give worN= as an array")
    w = np.atleast_1d(np.asarray(worN, float))
    return w, np.polyval(np.atleast_1d(b), 1j * w) / np.polyval(np.atleast_1d(a), 1j * w)


def freqresp(system: Any, w: Any = None, n: Any = 10000) -> Any:
    if w is None:
        raise NotImplementedError("freqresp without frequencies; give w=")
    above, below = system if len(system) == 2 else ss2tf(*in_states(system))
    return freqs(np.reshape(np.asarray(above, float), -1), below, w)


def bode(system: Any, w: Any = None, n: Any = 100) -> Any:
    w, y = freqresp(system, w)
    return w, 20.0 * np.log10(np.abs(y)), np.unwrap(np.angle(y)) * 180.0 / np.pi


def tf2zpk(b: Any, a: Any) -> Any:
    b, a = np.atleast_1d(np.asarray(b, float)), np.atleast_1d(np.asarray(a, float))
    return np.roots(b), np.roots(a), b[0] / a[0]


def zpk2tf(z: Any, p: Any, k: Any) -> Any:
    return k * np.poly(z), np.poly(p)
