"""What becomes of scipy.spatial.transform.Rotation?

One rotation, or a stack of them, as quaternions (x, y, z, w) of length one along a last axis.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from jitad.errors import JitadError, JitadValueError
from jitad.values import extents
from jitad.values.array import ArrayHandle
from jitad.values.kind import fail, require
from jitad.values.loops import fold
from jitad.values.numpy.shaping import handle
from jitad.values.registry import call, replaces
from jitad.values.stand_ins import Read, StandIn, stands_for

_LOCKED = 2.5e-15  # squares of tangents of half the angle where the other two are not told apart
_STEPS = 12  # which square what is left: enough for singular values from 0.3 to 1.6
_SMALL = 1e-3  # of squares of angles: below, series are exact to the last digit


def _joined(*parts: Any) -> Any:
    return call(np.stack, call(np.broadcast_arrays, *parts), axis=-1)


def _parts(q: Any) -> tuple[Any, ...]:
    return tuple(q[..., k] for k in range(q.shape[-1]))


def _floats(a: Any) -> Any:
    a = handle(a)
    return a if a.dtype == np.float64 else a.astype(float)


def _product(p: Any, q: Any) -> Any:
    (a, b, c, d), (x, y, z, w) = _parts(p), _parts(q)
    return _joined(d * x + w * a + b * z - c * y, d * y + w * b + c * x - a * z,
                   d * z + w * c + a * y - b * x, d * w - a * x - b * y - c * z)  # fmt: skip


def _conjugate(q: Any) -> Any:
    return q * np.array([-1.0, -1.0, -1.0, 1.0])


class Turn(StandIn):
    """A rotation, or a stack of them."""

    _what = "rotation"

    def __init__(self, q: Any) -> None:
        self._q = q

    @property
    def single(self) -> bool:
        return bool(self._q.ndim == 1)

    def __len__(self) -> int:
        if self.single:
            raise TypeError("Single rotation has no len().")
        return int(self._q._static(self._q.shape[0], "the number of rotations"))

    def __getitem__(self, key: Any) -> Turn:
        if self.single:
            raise TypeError("Single rotation is not subscriptable.")
        return Turn(self._q[key])

    def __mul__(self, other: Any) -> Any:
        return Turn(_product(self._q, other._q)) if isinstance(other, Turn) else NotImplemented

    def inv(self) -> Turn:
        return Turn(_conjugate(self._q))

    def as_quat(self, canonical: bool = False, *, scalar_first: bool = False) -> Any:
        q = self._q * _upwards(self._q) if canonical else self._q
        return call(np.roll, q, 1, axis=-1) if scalar_first else call(np.copy, q)

    def as_matrix(self) -> Any:
        x, y, z, w = _parts(self._q)
        rows = (
            _joined(x * x - y * y - z * z + w * w, 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)),
            _joined(2.0 * (x * y + z * w), -x * x + y * y - z * z + w * w, 2.0 * (y * z - x * w)),
            _joined(2.0 * (x * z - y * w), 2.0 * (y * z + x * w), -x * x - y * y + z * z + w * w),
        )
        return call(np.stack, rows, axis=-2)

    def _sides(self) -> tuple[Any, Any]:
        """The square of the sine of half the angle, and its cosine, which is not negative."""
        x, y, z, w = _parts(self._q)
        return x * x + y * y + z * z, call(np.abs, w)

    def magnitude(self) -> Any:
        square, cosine = self._sides()
        none = call(np.equal, square, 0.0)
        size = call(np.where, none, 0.0, call(np.sqrt, call(np.where, none, 1.0, square)))
        return 2.0 * call(np.arctan2, size, cosine)

    def as_rotvec(self, degrees: bool = False) -> Any:
        square, cosine = self._sides()
        small = call(np.less, square, _SMALL)
        sine = call(np.sqrt, call(np.where, small, 1.0, square))
        far = 2.0 * call(np.arctan2, sine, call(np.where, small, 1.0, cosine)) / sine
        # asin(s) / s, twice
        near = 2.0 + square * (1 / 3 + square * (3 / 20 + square * (5 / 56 + square * 35 / 576)))
        scale = call(np.where, small, near, far)
        scale = scale * call(np.where, call(np.less, self._q[..., 3], 0.0), -1.0, 1.0)
        found = self._q[..., :3] * scale[..., None] if scale.shape else self._q[:3] * scale
        return found * (180.0 / math.pi) if degrees else found

    def as_euler(self, seq: str, degrees: bool = False, *,
                 suppress_warnings: bool = False) -> Any:  # fmt: skip
        """By the half of the sum, and of the difference, of the outer angles."""
        if len(seq) != 3:
            raise fail(JitadValueError, f"Expected 3 axes, got {seq}.")
        _check_axes(seq)
        if seq[0] == seq[1] or seq[1] == seq[2]:
            raise fail(JitadValueError, f"Expected consecutive axes to be different, got {seq}")
        i, j, k = ("xyz".index(c) for c in (seq if seq.islower() else seq.lower()[::-1]))
        proper = i == k
        k = 3 - i - j if proper else k
        sign = float((i - j) * (j - k) * (k - i) // 2)
        q = _parts(self._q)
        a, b, c, d = q[3], q[i], q[j], q[k] * sign
        if not proper:
            a, b, c, d = a - c, b + d, c + a, d - b
        outer, inner = c * c + d * d, a * a + b * b
        apart = call(np.logical_and, outer > _LOCKED * inner, inner > _LOCKED * outer)
        require(call(np.all, apart), JitadError, f"gimbal lock: the angles of {seq!r} are not "
                "unique here, and have no derivative", "Use other axes.")  # fmt: skip
        middle = 2.0 * call(np.arctan2, call(np.sqrt, outer), call(np.sqrt, inner))
        total, apart = call(np.arctan2, b, a), call(np.arctan2, d, c)
        first, third = total - apart, total + apart
        if not proper:
            middle, third = middle - 0.5 * math.pi, third * sign
        angles = (first, middle, third) if seq.islower() else (third, middle, first)
        found = call(np.remainder, _joined(*angles) + math.pi, 2.0 * math.pi) - math.pi
        return found * (180.0 / math.pi) if degrees else found

    def apply(self, vectors: Any, inverse: bool = False) -> Any:
        matrix, v = self.as_matrix(), _floats(vectors)
        return call(np.einsum, "...kj,...k->...j" if inverse else "...jk,...k->...j", matrix, v)


def _upwards(q: Any) -> Any:
    """-1 where a quaternion's last part that is not zero, in the order w, x, y, z, is negative."""
    sign: Any = 1.0
    for part in (q[..., 2:3], q[..., 1:2], q[..., 0:1], q[..., 3:]):
        sign = call(np.where, call(np.equal, part, 0.0), sign,
                    call(np.where, call(np.less, part, 0.0), -1.0, 1.0))  # fmt: skip
    return sign


def _check_axes(seq: str) -> None:
    if not 1 <= len(seq) <= 3 or not (set(seq) <= set("xyz") or set(seq) <= set("XYZ")):
        raise fail(JitadValueError, f"Expected axes from 'xyz' or 'XYZ', not {seq!r}")


def _from_rotvec(v: Any) -> Any:
    square = call(np.sum, v * v, axis=-1)
    small = call(np.less, square, _SMALL)
    angle = call(np.sqrt, call(np.where, small, 1.0, square))
    near = 0.5 - square * (1 / 48 - square * (1 / 3840 - square / 645120))
    scale = call(np.where, small, near, call(np.sin, 0.5 * angle) / angle)
    flat = 1.0 - square * (1 / 8 - square * (1 / 384 - square / 46080))
    w = call(np.where, small, flat, call(np.cos, 0.5 * angle))
    x, y, z = _parts(v)
    return _joined(x * scale, y * scale, z * scale, w)


@replaces(Rotation.from_rotvec, plain=False)
def from_rotvec(rotvec: Any, degrees: bool = False) -> Turn:
    v = _floats(rotvec)
    return Turn(_from_rotvec(v * (math.pi / 180.0) if degrees else v))


@replaces(Rotation.from_quat, plain=False)
def from_quat(quat: Any, *, scalar_first: bool = False) -> Turn:
    q = _floats(quat)
    q = call(np.roll, q, -1, axis=-1) if scalar_first else q
    return Turn(q / call(np.linalg.norm, q, axis=-1, keepdims=True))


def _nearest(m: Any) -> Any:
    """The rotation next to a matrix, by the iteration of Newton and Schulz."""
    determinant = call(np.linalg.det, m)
    require(call(np.all, determinant > 0.0), JitadValueError, "Non-positive determinant "
            "(left-handed or null coordinate frame) in rotation matrix")  # fmt: skip
    m = m / call(np.reshape, call(np.cbrt, determinant), (*m.shape[:-2], 1, 1))

    def step(_: Any, x: Any) -> tuple[Any]:
        x = ArrayHandle(x)
        square = call(np.matmul, call(np.swapaxes, x, -1, -2), x)
        return ((1.5 * x - 0.5 * call(np.matmul, x, square)).content,)

    x = ArrayHandle(fold(_STEPS, (m.content,), step)[0])
    square = call(np.matmul, call(np.swapaxes, x, -1, -2), x)
    require(call(np.all, call(np.abs, square - np.eye(3)) < 1e-10), JitadError,
            "a matrix is too far from a rotation",
            "Project it first: scipy.linalg.polar.")  # fmt: skip
    return x


@replaces(Rotation.from_matrix, plain=False)
def from_matrix(matrix: Any, *, assume_valid: bool = False) -> Turn:
    """By the largest of the squares of the quaternion's parts."""
    m = _floats(matrix)
    m = m if assume_valid else _nearest(m)
    a, b, c = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    trace = a + b + c
    x, y, z = (m[..., k, j] - m[..., j, k] for j, k in ((1, 2), (2, 0), (0, 1)))
    xy, yz, zx = (m[..., k, j] + m[..., j, k] for j, k in ((0, 1), (1, 2), (2, 0)))
    rows = ((1.0 - trace + 2.0 * a, xy, zx, x), (xy, 1.0 - trace + 2.0 * b, yz, y),
            (zx, yz, 1.0 - trace + 2.0 * c, z), (x, y, z, 1.0 + trace))  # fmt: skip
    largest = call(np.argmax, _joined(a, b, c, trace), axis=-1, keepdims=True)
    q = call(np.choose, largest, [_joined(*row) for row in rows])
    return Turn(q / call(np.linalg.norm, q, axis=-1, keepdims=True))


@replaces(Rotation.from_euler, plain=False)
def from_euler(seq: str, angles: Any, degrees: bool = False) -> Turn:
    """About axes that stay (small letters), or that turn along (capitals)."""
    _check_axes(seq)
    given = _floats(angles)
    given = given if given.ndim or len(seq) > 1 else given[..., None]
    if not given.ndim or extents.constant_difference(given.shape[-1], len(seq)) != 0:
        same = False if not given.ndim else call(np.equal, given.shape[-1], len(seq))
        require(same, JitadValueError, "Expected last dimension of `angles` to match number of "
                "sequence axes specified")  # fmt: skip
    half = given * (math.pi / 360.0 if degrees else 0.5)
    found = None
    for k, letter in enumerate(seq.lower()):
        sine, cosine = call(np.sin, half[..., k]), call(np.cos, half[..., k])
        parts = [sine if letter == axis else 0.0 * sine for axis in "xyz"]
        one = _joined(*parts, cosine)
        if found is None:
            found = one
        else:
            found = _product(one, found) if seq.islower() else _product(found, one)
    return Turn(found)


@stands_for(Rotation)
def of_outside(value: Any, read: Read) -> Turn:
    return Turn(handle(read("real", "as_quat")))
