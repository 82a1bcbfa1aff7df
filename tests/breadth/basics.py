"""Uses of ufuncs, of functions that make and shape arrays, of products: what everybody needs."""

from __future__ import annotations

import numpy as np

from tests.breadth.case import add, draws

r, n = draws(6)

V, W, M, T = r(5), r(5), r(3, 4), r(2, 3, 4)
SIGNED = n(5)
INTS = np.array([3, 1, 4, 1, 5])

# -- ufuncs ---------------------------------------------------------------------------------------

for name in (
    "abs absolute fabs arcsinh asinh arctan atan cbrt cos sin cosh sinh tanh exp exp2 expm1 "
    "negative positive square rad2deg degrees radians deg2rad conj conjugate real nan_to_num"
).split():
    add(f"numpy.{name}", lambda a, f=getattr(np, name): (f(a), f(a[0])), SIGNED)
for name in (
    "sqrt log log2 log10 log1p reciprocal tan arccosh acosh".split()
):  # fmt: skip
    shift = 1.1 if "cosh" in name else 0.0
    scale = 0.7 if name == "tan" else 1.0
    add(f"numpy.{name}", lambda a, f=getattr(np, name), s=shift, c=scale: f(c * a + s), V)
for name in "arcsin asin arccos acos arctanh atanh".split():
    add(f"numpy.{name}", lambda a, f=getattr(np, name): f(a), 0.4 * SIGNED / np.max(np.abs(SIGNED)))
for name in (
    "ceil floor trunc rint sign signbit round around isfinite isinf isnan invert bitwise_not "
    "bitwise_invert logical_not isreal isrealobj"
).split():
    f = getattr(np, name)
    if "invert" in name or name == "bitwise_not":
        add(f"numpy.{name}", lambda a, f=f: f(a > 0.0) * 1.0, SIGNED, zero=True)
    else:
        add(f"numpy.{name}", lambda a, f=f: f(a) * 1.0, SIGNED, zero=True)
for name in (
    "arctan2 atan2 divide true_divide float_power fmax fmin fmod hypot logaddexp logaddexp2 "
    "maximum minimum mod remainder pow power subtract add multiply copysign"
).split():
    f = getattr(np, name)
    narrow = name != "float_power"
    add(f"numpy.{name}", lambda a, b, f=f: (f(a, b), f(a, b[0])), V, W, narrow=narrow)
for name in (
    "equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor "
    "floor_divide isclose heaviside"
).split():
    add(f"numpy.{name}", lambda a, b, f=getattr(np, name): f(3.0 * a, b) * 1.0, V, W, zero=True)
for name in "bitwise_and bitwise_or bitwise_xor".split():
    add(f"numpy.{name}", lambda a, b, f=getattr(np, name): f(a > 1.0, b > 1.0) * 1.0, V, W,
        zero=True)  # fmt: skip
for name in "left_shift right_shift bitwise_left_shift bitwise_right_shift".split():
    add(f"numpy.{name}", lambda a, f=getattr(np, name): f(INTS, (a > 1.0) + 1) * a, V)
add("numpy.clip", lambda a: (np.clip(a, 0.5, 1.2), a.clip(max=1.0)), V)
add("numpy.allclose", lambda a: np.allclose(a, a) * 1.0, V, zero=True)
add("numpy.where", lambda a, b: np.where(a > b, a * b, -b), V, W, native=True)

# -- reductions -----------------------------------------------------------------------------------

for name in "sum prod mean var std max min amax amin".split():
    f = getattr(np, name)
    add(f"numpy.{name}", lambda a, f=f: (f(a), f(a, 0), f(a, -1, keepdims=True), f(a, (0, 2))), T)
    add(f"numpy.{name}", lambda a, f=f: (f(a, 1, keepdims=1), f(a, keepdims=0)), T)
for name in "argmax argmin count_nonzero any all".split():
    f = getattr(np, name)
    add(f"numpy.{name}", lambda a, f=f: (f(a > 1.0, axis=0) * 1.0, f(a) * 1.0), M, zero=True)

# -- making arrays --------------------------------------------------------------------------------

for name in "array asarray asanyarray ascontiguousarray asfortranarray copy".split():
    add(f"numpy.{name}", lambda a, f=getattr(np, name): (f(a), f([a[0], 2.0, a[1]])), V,
        narrow=False)  # fmt: skip
add("numpy.array", lambda a: np.array([[a[0], 1.0], [2.0, a[1] * a[2]]]), V, native=True,
    narrow=False)  # fmt: skip
for name in "zeros ones empty".split():
    f = getattr(np, name)
    add(f"numpy.{name}", lambda a, f=f: filled(f((5, 2)), a), V, narrow=False)
    add(f"numpy.{name}_like", lambda a, f=getattr(np, f"{name}_like"): filled(f(a[:, None]), a), V)


def filled(made, a):
    made[:, 0] = a**2
    return made[:, 0]


add("numpy.full", lambda a: (np.full(3, a[0]), np.full((5, 2), a[:2])), V)
add("numpy.full_like", lambda a: np.full_like(a, a[1]) * a, V)
add("numpy.arange", lambda a: (np.arange(np.size(a)) * a, np.arange(1, 9, 2)[:3] * a[:3]), V,
    narrow=False)  # fmt: skip
add("numpy.linspace", lambda a: (np.linspace(a[0], a[1], 7), np.linspace(0.0, a[0], 4, False)), V)
add("numpy.logspace", lambda a: np.logspace(a[0], a[1], 5, base=2.0), V)
add("numpy.geomspace", lambda a: np.geomspace(a[0], a[1], 5), V)
add("numpy.eye", lambda a: np.eye(3, 4, 1) * a, M, narrow=False)
add("numpy.identity", lambda a: np.identity(3) @ a, M, narrow=False)
add("numpy.meshgrid", lambda a, b: np.meshgrid(a, b, indexing="ij"), V, W[:3])
add("numpy.piecewise", lambda a: np.piecewise(a, [a < 0.0, a > 0.5], [lambda x: x * x, 2.0, -1.0]),
    SIGNED)  # fmt: skip

# -- shaping --------------------------------------------------------------------------------------

add("numpy.reshape", lambda a: (np.reshape(a, (4, 3)), a.reshape(2, -1)), M, native=True)
add("numpy.ravel", lambda a: (np.ravel(a), a.flatten(), np.ravel(a.T)), M)
add("numpy.transpose", lambda a: (a.T, np.transpose(a, (1, 0, 2))), T)
add("numpy.permute_dims", lambda a: np.permute_dims(a, (2, 0, 1)), T)
add("numpy.matrix_transpose", lambda a: np.matrix_transpose(a), T)
add("numpy.swapaxes", lambda a: a.swapaxes(0, -1), T)
add("numpy.moveaxis", lambda a: np.moveaxis(a, [0, 1], [-1, 0]), T)
add("numpy.expand_dims", lambda a: np.expand_dims(a, (0, 2)), V)
add("numpy.squeeze", lambda a: np.squeeze(a[None, :, None], axis=(0, 2)), V)
add("numpy.atleast_1d", lambda a: np.atleast_1d(a[0]), V)
add("numpy.atleast_2d", lambda a: np.atleast_2d(a), V)
add("numpy.flip", lambda a: (np.flip(a), np.flip(a, 1), np.flip(a, (0, 2))), T)
add("numpy.flipud", lambda a: np.flipud(a), M)
add("numpy.fliplr", lambda a: np.fliplr(a), M)
add("numpy.broadcast_to", lambda a: np.broadcast_to(a, (3, 5)) * 1.0, V)
for name in "concatenate concat".split():
    add(f"numpy.{name}", lambda a, f=getattr(np, name): f([a, 2.0 * a[:, 1:]], axis=1), M)
add("numpy.stack", lambda a, b: (np.stack([a, b]), np.stack([a, b], axis=1)), V, W, native=True)
add("numpy.stack", lambda a, b: np.stack([a, b], casting="no"), V, W)
for name in "vstack hstack column_stack".split():
    add(f"numpy.{name}", lambda a, b, f=getattr(np, name): f([a, b]), V, W)
add("numpy.append", lambda a: (np.append(a, 2.0), np.append(a, a[:1], axis=0)), M)
add("numpy.tile", lambda a: (np.tile(a, 2), np.tile(a, (2, 1, 3))), M)
for name in "triu tril".split():
    add(f"numpy.{name}", lambda a, f=getattr(np, name): (f(a), f(a, -1), f(a, 1)), T)
add("numpy.diag", lambda a: (np.diag(a), np.diag(a, -1), np.diag(a[0], 1)), M)
add("numpy.shape", lambda a: a * np.shape(a)[0], M)
add("numpy.size", lambda a: a * np.size(a), M)
add("numpy.ndim", lambda a: a * np.ndim(a), M)

# -- products -------------------------------------------------------------------------------------

B, S = n(4, 2), n(2, 4, 2)
APART = ((5 * np.arange(12) % 12) / 4.0).reshape(3, 4)
add("numpy.matmul", lambda a, b: (a @ b, a[0] @ b, a @ b[:, 0]), M, B, native=True)
add("numpy.matmul", lambda a, b: (a @ b, a[0] @ b, a @ b[0, :, 0]), T, S, native=True)
add("numpy.dot", lambda a, b: (np.dot(a, b), np.dot(a[0], b), np.dot(2.0, b)), M, B)
add("numpy.vdot", lambda a: np.vdot(a, a), M)
add("numpy.inner", lambda a: np.inner(a, a[0]), M)
add("numpy.outer", lambda a, b: np.outer(a, b), V, W)
add("numpy.tensordot", lambda a, b: np.tensordot(a, b, axes=([2], [1])), T, S)
add("numpy.cross", lambda a: (np.cross(a, a[::-1] ** 2), np.cross(a[0], a[1])), n(4, 3))
add("numpy.apply_along_axis", lambda a: np.apply_along_axis(lambda x: x * np.sum(x), 1, a), M)
add("numpy.nanmedian", lambda a: (np.nanmedian(a), np.nanmedian(a + H, axis=1)), APART)
add("numpy.nanquantile", lambda a: np.nanquantile(a + H, 0.3, axis=0), APART, narrow=False)
add("numpy.nanpercentile", lambda a: np.nanpercentile(a + H, 70.0), APART, narrow=False)
H = np.zeros((3, 4))
H[1, 2] = H[0, 0] = np.nan
