"""What becomes of scipy.spatial.transform.Rotation?

One rotation, or a stack of them, as quaternions (x, y, z, w) of length one along a last axis.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from jitad.errors import JitadTypeError, JitadValueError
from jitad.values import extents
from jitad.values.kind import fail, require
from jitad.values.registry import call, replaces
from jitad.values.shaping import handle
from jitad.values.stand_ins import Read, StandIn, stands_for

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
        q = self._q
        if canonical:
            raise fail(JitadTypeError, "canonical=True of as_quat is not supported here")
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

    def apply(self, vectors: Any, inverse: bool = False) -> Any:
        matrix, v = self.as_matrix(), _floats(vectors)
        return call(np.einsum, "...kj,...k->...j" if inverse else "...jk,...k->...j", matrix, v)


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


@replaces(Rotation.from_euler, plain=False)
def from_euler(seq: str, angles: Any, degrees: bool = False) -> Turn:
    """About axes that stay (small letters), or that turn along (capitals)."""
    if not 1 <= len(seq) <= 3 or not (set(seq) <= set("xyz") or set(seq) <= set("XYZ")):
        raise fail(JitadValueError, f"Expected axes from 'xyz' or 'XYZ', not {seq!r}")
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
