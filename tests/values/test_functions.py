"""Do the replacements of library functions give what the originals give?

Every case runs on plain handles, as an interpreted tape and on tagged arrays, against NumPy and
SciPy; its derivative in the eager engine is compared with extrapolated central differences.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy
import pytest
import scipy.special

import jitad
from jitad.runtime import jvp
from jitad.values.array import ArrayHandle
from tests.values import ways

RNG = numpy.random.default_rng(11)


def r(*shape: int) -> Any:
    return RNG.uniform(0.2, 1.8, shape)


V, W, M, N, T3 = r(5), r(5), r(3, 4), r(4, 2), r(2, 3, 4)
S = numpy.array([[2.0, -1.0, 3.0], [0.5, 3.0, -2.0]])
I = numpy.array([3, 1, 4, 1])
B = numpy.array([True, False, True, True, False])

CASES = {
    # reductions
    "sum": (lambda np, a: np.sum(a), M),
    "sum axis": (lambda np, a: (np.sum(a, axis=0), np.sum(a, 1), a.sum(-1)), M),
    "sum keepdims": (lambda np, a: np.sum(a, axis=1, keepdims=True) / a, M),
    "sum axes": (lambda np, a: np.sum(a, axis=(0, 2)), T3),
    "sum ints": (lambda np, a: np.sum(a), I),
    "sum bools": (lambda np, a: np.sum(a), B),
    "mean": (lambda np, a: (np.mean(a), a.mean(0)), M),
    "mean ints": (lambda np, a: np.mean(a), I),
    "max": (lambda np, a: (np.max(a), a.max(0), np.amin(a, axis=1)), M),
    "prod": (lambda np, a: (np.prod(a), a.prod(axis=1), a.prod(axis=0)), M),
    "prod with zeros": (lambda np, a: np.prod(a * np.array([0.0, 1, 1, 1, 1])), V),
    "prod of two zeros": (lambda np, a: np.prod(a * np.array([0.0, 1, 0, 1, 1])), V),
    "var": (lambda np, a: (np.var(a), a.var(axis=0), np.std(a, ddof=1)), M),
    "any all": (lambda np, a: (np.any(a > 1), np.all(a > 0, axis=0), (a > 9).any()), M),
    "count": (lambda np, a: np.count_nonzero(a > 1), M),
    "argmax": (lambda np, a: (np.argmax(a), a.argmin(axis=1), a.argmax(0)), M),
    "argmax ties": (lambda np, a: (np.argmax(a), np.argmin(a)), I),
    "cumsum": (lambda np, a: (np.cumsum(a), a.cumsum(axis=0), np.cumsum(a, axis=1)), M),
    "cumprod": (lambda np, a: np.cumprod(a), V),
    "average": (lambda np, a, w: np.average(a, weights=w), V, W),
    "logsumexp": (lambda np, a: ways.sp.logsumexp(a) if np is ways.np
                  else scipy.special.logsumexp(a), V),
    "logsumexp axis": (lambda np, a: (ways.sp if np is ways.np else scipy.special).logsumexp(
        500 * a, axis=1), M),
    "softmax": (lambda np, a: (ways.sp if np is ways.np else scipy.special).softmax(a), V),
    # shape
    "reshape": (lambda np, a: (np.reshape(a, (4, 3)), a.reshape(2, -1), a.reshape(-1)), M),
    "transpose": (lambda np, a: (a.T, np.transpose(a, (1, 0, 2)), a.swapaxes(0, 2)), T3),
    "moveaxis": (lambda np, a: np.moveaxis(a, 0, -1), T3),
    "expand": (lambda np, a: (np.expand_dims(a, 0), np.expand_dims(a, (0, 2)), a[:, None]), V),
    "squeeze": (lambda np, a: np.squeeze(a[None, :, None], axis=(0, 2)), V),
    "flip": (lambda np, a: (np.flip(a), np.flip(a, 1)), M),
    "atleast": (lambda np, a: (np.atleast_1d(np.sum(a)), np.atleast_2d(a)), V),
    "shape": (lambda np, a: (len(np.shape(a)), np.ndim(a)), T3),
    "size": (lambda np, a: a * np.size(a), M),
    "concatenate": (lambda np, a, b: (np.concatenate((a, b)), np.concatenate([a, a, b])), V, W),
    "concatenate axis": (lambda np, a: np.concatenate([a, 2 * a[:, 1:]], axis=1), M),
    "stack": (lambda np, a, b: (np.stack([a, b]), np.stack([a, b], axis=1)), V, W),
    "stacks": (lambda np, a, b: (np.vstack([a, b]), np.hstack([a, b]), np.column_stack([a, b])),
               V, W),
    "append": (lambda np, a: np.append(a, 2.0 * a), V),
    "tile": (lambda np, a: (np.tile(a, 3), np.tile(a, (2, 2))), V),
    "tile matrix": (lambda np, a: (np.tile(a, 2), np.tile(a, (2, 1, 3))), M),
    "repeat": (lambda np, a: (np.repeat(a, 2), np.repeat(a, 3, axis=1)), M),
    "roll": (lambda np, a: (np.roll(a, 2), np.roll(a, -1), np.roll(a, 7)), V),
    "roll axis": (lambda np, a: (np.roll(a, 1, axis=1), np.roll(a, 1)), M),
    "diff": (lambda np, a: (np.diff(a), np.diff(a, 2)), V),
    "diff axis": (lambda np, a: np.diff(a, axis=0), M),
    "meshgrid": (lambda np, a, b: tuple(np.meshgrid(a, b)), V, W[:3]),
    "broadcast_to": (lambda np, a: np.broadcast_to(a, (3, 5)) * 1.0, V),
    "triangles": (lambda np, a: (np.triu(a), np.tril(a, -1), np.triu(a, 1)), M),
    # products
    "dot": (lambda np, a, b: (np.dot(a, b), a @ b, np.vdot(a, b), np.inner(a, b)), V, W),
    "matmul": (lambda np, a, b: (a @ b, np.dot(a, b), np.matmul(a, b)), M, N),
    "matvec": (lambda np, a, b: (a @ b[:, 0], b[:, 1] @ b, a.dot(b[:, 0])), M, N),
    "batched": (lambda np, a, b: a @ b, T3, N),
    "outer": (lambda np, a, b: np.outer(a, b), V, W),
    "tensordot": (lambda np, a, b: (np.tensordot(a, b, 1), np.tensordot(a, a, 2)), T3[0], N),
    "tensordot axes": (lambda np, a: np.tensordot(a, a, axes=([0, 1], [0, 1])), T3),
    "trace": (lambda np, a: (np.trace(a), np.trace(a, 1)), M),
    "diagonal": (lambda np, a: (np.diagonal(a), np.diag(a, -1), np.diag(a, 1)), M),
    "diag": (lambda np, a: (np.diag(a), np.diag(a, 1), np.diag(a, -2)), V),
    "norm": (lambda np, a: (np.linalg.norm(a), np.linalg.norm(a, axis=1),
                            np.linalg.norm(a, 1, axis=0), np.linalg.norm(a, 3, axis=0)), M),
    "norm inf": (lambda np, a: np.linalg.norm(a, numpy.inf), V),
    "cross": (lambda np, a: (np.cross(a[0], a[1]), np.cross(a, a[::-1])), S),
    # elementwise
    "where": (lambda np, a: np.where(a > 1, a, -2 * a), M),
    "where mixed": (lambda np, a: np.where(a[:, :1] > 1, a, 0.0), M),
    "clip": (lambda np, a: (np.clip(a, 0.5, 1.5), a.clip(max=1.0)), V),
    "round": (lambda np, a: (np.round(a), np.round(a, 2), a.round(1)), V),
    "maximum": (lambda np, a, b: (np.maximum(a, b), np.minimum(a, 1.0), np.fmax(a, b)), V, W),
    "power": (lambda np, a, b: (a**b, a**2, 2.0**a, a**-1.0, np.power(a, 3)), V, W),
    "mod": (lambda np, a, b: (a % b, a // b, np.fmod(-a, b), divmod(a, b)), V, W),
    "compare": (lambda np, a, b: (a < b, a >= b, a == b, (a < b) & (a > 1), ~(a < b)), V, W),
    "logic": (lambda np, a: (np.logical_and(a > 1, a < 1.5), np.logical_xor(a > 1, a > 1.5)), V),
    "angles": (lambda np, a: (np.degrees(a), np.deg2rad(a), np.heaviside(a - 1, 0.5)), V),
    "signs": (lambda np, a: (np.abs(-a), np.sign(a - 1), np.fabs(a), np.copysign(a, a - 1)), V),
    "float_power": (lambda np, a: (np.float_power(a, 2), np.square(a), np.reciprocal(a)), V),
    "isfinite": (lambda np, a: (np.isfinite(a), np.isnan(a), np.signbit(a - 1)), V),
    "floor": (lambda np, a: (np.floor(a), np.ceil(a), np.rint(a), np.trunc(a)), V),
    "integers": (lambda np, a: (a + 1, a / 2, a // 2, a % 2, a * a, np.square(a), -a, a**2), I),
    "floor of ints": (lambda np, a: (np.floor(a), np.sqrt(a), np.abs(-a)), I),
    "int and float": (lambda np, a, b: (a[:4] * b, a[:4] + b, b / a[:4]), V, I),
    "where= out=": (lambda np, a, b: np.add(a, b, np.zeros_like(a)), V, W),
    "isclose": (lambda np, a, b: (np.isclose(a, a), np.allclose(a, b), np.isclose(a, a + 1e-6)),
                V, W),
    "nan_to_num": (lambda np, a: np.nan_to_num(np.log(a - a[0])), V),
    # creation
    "zeros": (lambda np, a: (np.zeros(3) + a[0], np.ones((2, 3)) * a[1], np.full(2, a[0])), V),
    "like": (lambda np, a: (np.zeros_like(a) + a, np.ones_like(a), np.full_like(a, 2.0)), M),
    "array": (lambda np, a: (np.array([a[0], 2.0, a[1]]), np.array([[a[0], 1], [2, a[1]]])), V),
    "array of arrays": (lambda np, a: np.array([a, 2 * a]), V),
    "arange": (lambda np, a: np.arange(np.shape(a)[0]) * a, V),
    "arange ends": (lambda np, a: np.arange(1, np.size(a), 2) * a[0], V),
    "arange floats": (lambda np, a: np.arange(0.0, 1.0, 0.3) * a[0], V),
    "linspace": (lambda np, a: (np.linspace(a[0], a[1], 7), np.linspace(0, a[0], 4, False)), V),
    "eye": (lambda np, a: (np.eye(3) * a[:3], np.identity(2), np.eye(2, 3, 1)), V),
    "copy": (lambda np, a: (np.copy(a), a.copy() + 1, np.array(a), np.asarray(a)), V),
    "astype": (lambda np, a: (a.astype(int), a.astype(numpy.float32), a.astype(bool)), V),
    # index arrays
    "take": (lambda np, a: (a[I], np.take(a, I), a[[0, -1]], a.take([1, 2])), V),
    "take rows": (lambda np, a: (a[[2, 0, 2]], a[:, [1, -1]], a[[0, 2], 1:], a[1, [0, 3]]), M),
    "take pairs": (lambda np, a: a[[0, 2, 1], [1, 1, 3]], M),
    "take matrix": (lambda np, a: a[numpy.array([[0, 1], [4, -2]])], V),
    "mask": (lambda np, a: a[B], V),
    "mask of values": (lambda np, a: np.sum(a[a > 1.0]), V),
    "mask matrix": (lambda np, a: np.sum(a[a > 1.0] ** 2), M),
}


def write_rows(np: Any, a: Any) -> Any:
    b = a.copy()
    b[[0, 2]] = 7.0
    b[[1, 1]] += 0.5
    b[a > 1.2] = a[0]
    return b


def write_mask(np: Any, a: Any) -> Any:
    b = a * 1.0
    b[b > 1] *= 2.0
    b[:, [0, -1]] = a[:, [1, 1]]
    return b


def out_argument(np: Any, a: Any) -> Any:
    b = np.zeros(5)
    np.multiply(a, 3.0, out=b)
    np.sin(b, out=b)
    np.add(b[1:], b[:-1], out=b[:-1])
    return b


def accumulate(np: Any, a: Any) -> Any:
    b = np.zeros(5)
    numpy.add.at(b, I, a[:4])
    numpy.subtract.at(b, [0, 0], a[0])
    return b


def tie(np: Any, a: Any) -> Any:
    b = a[::2]
    b += a[-1]
    c = b[1:]
    c *= 2
    a[0] -= 1
    return a * 1, b, c


def double_buffer(np: Any, a: Any) -> Any:
    u, v = a.copy(), a.copy()
    for _ in range(3):
        v[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u, v = v, u
    return u, v


CASES |= {
    "write rows": (write_rows, V),
    "write mask": (write_mask, M),
    "out": (out_argument, V),
    "accumulate": (accumulate, V),
    "views of views": (tie, V),
    "double buffer": (double_buffer, V),
}


@pytest.mark.parametrize("way", list(ways.WAYS))
@pytest.mark.parametrize("name", list(CASES))
def test_value(name, way):
    f, *args = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        want = ways.on_ndarrays(f, *args)
        ways.assert_same(ways.WAYS[way](f, *args), want)


SMOOTH = [n for n in CASES if not any(w in n for w in ("arg", "ints", "bools", "int", "nan"))]


@pytest.mark.parametrize("name", SMOOTH)
def test_derivative(name):
    f, *args = CASES[name]
    directions = [RNG.uniform(-1, 1, a.shape) for a in args]

    def moved(h: float) -> list[Any]:
        out = ways.on_ndarrays(f, *(a + h * d for a, d in zip(args, directions, strict=True)))
        return [numpy.asarray(x, float) for x in out]

    def difference(h: float) -> list[Any]:
        return [(a - b) / (2 * h) for a, b in zip(moved(h), moved(-h), strict=True)]

    h = 1e-4
    want = [(4 * a - b) / 3 for a, b in zip(difference(h / 2), difference(h), strict=True)]

    def g(*values: Any) -> Any:
        handles = [v if isinstance(v, ArrayHandle) else ArrayHandle(v) for v in values]
        return tuple(ways.flat(f(ways.np, *handles)))

    value, found = jvp(g, tuple(args), tuple(directions))
    for v, a, b in zip(ways.contents(value), ways.contents(found), want, strict=True):
        if numpy.asarray(v).dtype.kind == "f" and numpy.asarray(v).dtype != numpy.float32:
            numpy.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-8)


SCIPY = {
    "erf": 1, "erfc": 1, "gamma": 1, "gammaln": 1, "loggamma": 1, "digamma": 1, "psi": 1,
    "expit": 1, "log_expit": 1, "xlogy": 2, "xlog1py": 2, "exp2": 1, "exp10": 1, "expm1": 1,
    "log1p": 1, "cbrt": 1, "entr": 1, "rel_entr": 2, "ndtr": 1, "rgamma": 1, "beta": 2,
    "betaln": 2,
}  # fmt: skip


@pytest.mark.parametrize("way", list(ways.WAYS))
@pytest.mark.parametrize("name", list(SCIPY))
def test_scipy(name, way):
    def f(np: Any, *args: Any) -> Any:
        return getattr(ways.sp if np is ways.np else scipy.special, name)(*args)

    args = (V, W)[: SCIPY[name]]
    ways.assert_same(ways.WAYS[way](f, *args), ways.on_ndarrays(f, *args))


def test_xlogy_at_zero():
    f = lambda np, x, y: (ways.sp if np is ways.np else scipy.special).xlogy(x, y)
    x, y = numpy.array([0.0, 0.0, 1.0]), numpy.array([0.0, 2.0, 3.0])
    for way in ways.WAYS.values():
        ways.assert_same(way(f, x, y), ways.on_ndarrays(f, x, y))


@pytest.mark.parametrize("way", ["handles", "tape"])
def test_float32_is_kept(way):
    def f(np: Any, a: Any) -> Any:
        return (a * 2.0, np.sin(a), np.sum(a), a.mean(0), a.std(), a @ a.T, np.maximum(a, 0.5),
                np.where(a > 1, a, 0.0), a**2, np.cumsum(a), np.linalg.norm(a), np.prod(a),
                np.concatenate([a, a]), np.array([a[0, 0], 1.0]))  # fmt: skip

    a = M.astype(numpy.float32)
    found, want = ways.WAYS[way](f, a), ways.on_ndarrays(f, a)
    for x, y in zip(found, want, strict=True):
        assert numpy.asarray(x).dtype == y.dtype
        numpy.testing.assert_allclose(x, y, rtol=3e-6)


def test_an_average_without_weight():
    def f(a, w):
        return numpy.sum(numpy.average(a, axis=1, weights=w))

    for made in (f, jitad.jit(f), jitad.grad(f), jitad.jit_grad(f)):
        made(M, M)
        with pytest.raises(ZeroDivisionError, match="Weights sum to zero, can't be normalized"):
            made(M, M * numpy.array([[1.0], [0.0], [2.0]]))
