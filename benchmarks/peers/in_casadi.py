"""Which kernels do CasADi's users write, and how do they get the fastest gradients of them?

CasADi has matrices, so programs of arrays of three axes are missing, and loops are written out in
its graph: those of many small steps are missing, too. The graph of value and gradients becomes C,
which gcc compiles (-O3 -march=native); it is called through buffers, without conversions. Matrices
lie by columns there, so NumPy's are handed over as they lie, and transposed in the graph.
"""

import math
import os
import tempfile
from collections.abc import Callable
from typing import Any

import casadi
import numpy as np

FOLDER = tempfile.TemporaryDirectory()  # it writes files where it is called
PEER = None  # not a library with NumPy's names
MISSING: dict[str, str] = {}


def rosenbrock(x):
    return 100.0 * casadi.sumsqr(x[1:] - x[:-1] ** 2) + casadi.sumsqr(1.0 - x[:-1])


def logsumexp(x):
    return casadi.logsumexp(x)


def logistic(w, X, y, lam):
    z = -(y * (X @ w))
    losses = casadi.fmax(z, 0.0) + casadi.log1p(casadi.exp(-casadi.fabs(z)))
    return casadi.sum1(losses) / y.numel() + 0.5 * lam * casadi.sumsqr(w)


def black_scholes(spot, strike, vol, maturity, weight, rate):
    spread = vol * casadi.sqrt(maturity)
    d1 = (casadi.log(spot / strike) + (rate + 0.5 * vol**2) * maturity) / spread
    n1 = 0.5 * (1.0 + casadi.erf(d1 / math.sqrt(2.0)))
    n2 = 0.5 * (1.0 + casadi.erf((d1 - spread) / math.sqrt(2.0)))
    return casadi.dot(weight, spot * n1 - strike * casadi.exp(-rate * maturity) * n2)


def lorenz(params, start, observed, dt):
    u, p, seen = casadi.MX.sym("u", 3), casadi.MX.sym("p", 3), casadi.MX.sym("seen", 3)

    def velocity(u):
        return casadi.vertcat(p[0] * (u[1] - u[0]), u[0] * (p[1] - u[2]) - u[1],
                              u[0] * u[1] - p[2] * u[2])  # fmt: skip

    k1 = velocity(u)
    k2 = velocity(u + 0.5 * dt * k1)
    k3 = velocity(u + 0.5 * dt * k2)
    k4 = velocity(u + dt * k3)
    new = u + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    step = casadi.Function("step", [u, p, seen], [new, casadi.sumsqr(new - seen)]).expand()
    count = observed.shape[0]
    _, apart = step.mapaccum(count)(start, casadi.repmat(params, 1, count), observed.T)
    return 0.5 * dt * casadi.sum2(apart)


def heat(u, alpha, target, steps):
    for _ in range(steps):
        inner = u[1:-1, 1:-1]
        spread = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * inner
        middle = casadi.horzcat(u[1:-1, 0], inner + alpha * spread, u[1:-1, -1])
        u = casadi.vertcat(u[0, :], middle, u[-1, :])
    return 0.5 * casadi.sumsqr(u - target)


def burgers(u, nu, target, dx, dt, steps):
    for _ in range(steps):
        inner, left, right = u[1:-1], u[:-2], u[2:]
        diffusion = nu * (right - 2.0 * inner + left) / dx**2
        inner = inner + dt * (diffusion - inner * (inner - left) / dx)
        u = casadi.vertcat(u[0], inner, u[-1])
    return 0.5 * dx * casadi.sumsqr(u - target)


def mlp(W1, b1, W2, b2, W3, b3, X, Y):
    def layer(h, W, b):
        return h @ W + casadi.repmat(b.T, h.shape[0], 1)

    h = casadi.tanh(layer(X, W1, b1))
    h = casadi.tanh(layer(h, W2, b2))
    return 0.5 * casadi.sumsqr(layer(h, W3, b3) - Y) / X.shape[0]


def jacobi2d(a, target, rounds):
    for _ in range(2 * rounds):
        inner = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a = casadi.vertcat(a[0, :], casadi.horzcat(a[1:-1, 0], inner, a[1:-1, -1]), a[-1, :])
    return 0.5 * casadi.sumsqr(a - target)


def covariance(data, W):
    rows = data.shape[0]
    centred = data - casadi.repmat(casadi.sum1(data) / rows, rows, 1)
    return casadi.dot(W, centred.T @ centred) / (rows - 1.0)


OWN = (rosenbrock, logsumexp, logistic, black_scholes, lorenz, heat, burgers, mlp, jacobi2d,
       covariance)  # fmt: skip
PROGRAMS: dict[str, Callable[..., Any]] = {f.__name__: f for f in OWN}


def value_and_gradient(
    program: Callable[..., Any], argnums: tuple[int, ...], arguments: tuple[Any, ...]
) -> Callable[[], Any]:
    """The program at these arguments, whose arrays are all inputs of the compiled function."""
    given: list[np.ndarray] = []
    symbols, handed = [], []
    of: dict[int, Any] = {}
    for k, a in enumerate(arguments):
        if not isinstance(a, np.ndarray) and k not in argnums:
            handed.append(a)
            continue
        array = np.ascontiguousarray(a, dtype=np.float64)
        if array.ndim > 2:
            raise NotImplementedError("CasADi's arrays have two axes")
        rows, cols = (array.shape if array.ndim == 2 else (1, array.size))
        x = casadi.MX.sym(f"x{k}", cols, rows)
        of[k] = x
        given.append(array)
        symbols.append(x)
        handed.append(x.T if array.ndim == 2 else x)
    value = program(*handed)
    slopes = [casadi.densify(casadi.gradient(value, of[k])) for k in argnums]
    compiled = {"jit": True, "compiler": "shell",
                "jit_options": {"flags": ["-O3", "-march=native"], "verbose": False}}  # fmt: skip
    here = os.getcwd()
    os.chdir(FOLDER.name)
    try:
        f = casadi.Function("f", symbols, [value, *slopes], compiled)
    finally:
        os.chdir(here)
    results = [np.zeros(()), *(np.zeros(np.shape(arguments[k])) for k in argnums)]
    buffer, run = f.buffer()
    for k, array in enumerate(given):
        buffer.set_arg(k, memoryview(array))
    for k, array in enumerate(results):
        buffer.set_res(k, memoryview(array))

    def call(held: Any = (given, buffer)) -> Any:
        run()
        found = results[1:]
        return float(results[0]), found[0] if len(found) == 1 else tuple(found)

    return call
