"""How far is the surface of a posed hand from points that were seen?  A skinned mesh, 26 angles.

The bones turn by the angles of the fingers, each within its parent; a vertex follows its bones by
weights; the hand as a whole turns and moves. A point belongs to a vertex, or with `us` to a place
in a triangle. Source: the `ht` problem of ADBench and GradBench.

Arguments: `theta` (26): the hand's rotation (axis times angle), its place, four angles a finger;
`us` (c, 2): where in its triangle a point lies. Fixed are the `model`, `correspondences` (c) int,
and `points` (c, 3). Floats are float64.
"""

import math
from typing import NamedTuple

import numpy as np

from kernels.common import Array, Ints


class Model(NamedTuple):
    """A hand of B bones and V vertices."""

    parents: Ints  # (B), -1: none; parents come first
    base_relatives: Array  # (B, 4, 4)
    inverse_base_absolutes: Array  # (B, 4, 4)
    base_positions: Array  # (V, 4), homogeneous
    weights: Array  # (V, B)
    triangles: Ints  # (T, 3)
    is_mirrored: bool


def rotation(a: Array) -> Array:
    """About x by a[0], then about y by a[2], then about z by a[1]; as a 4 by 4 matrix."""
    (cx, cz, cy), (sx, sz, sy) = np.cos(a), np.sin(a)
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, cx, -sx], [0.0, sx, cx]])
    about_y = np.array([[cy, 0.0, sy], [0.0, 1.0, 0.0], [-sy, 0.0, cy]])
    about_z = np.array([[cz, -sz, 0.0], [sz, cz, 0.0], [0.0, 0.0, 1.0]])
    turn = np.eye(4)
    turn[:3, :3] = about_z @ about_y @ about_x
    return turn


def bone_transforms(theta: Array, model: Model) -> Array:
    """What each bone does to what it carries, (B, 4, 4)."""
    bones = len(model.parents)
    angles = np.zeros((bones, 3))
    for finger in range(5):
        k, b = 6 + 4 * finger, 2 + 4 * finger
        angles[b, 0], angles[b, 1] = theta[k], theta[k + 1]
        angles[b + 1, 0] = theta[k + 2]
        angles[b + 2, 0] = theta[k + 3]
    absolutes = np.zeros((bones, 4, 4))
    transforms = np.zeros((bones, 4, 4))
    for b in range(bones):
        absolutes[b] = model.base_relatives[b] @ rotation(angles[b])
        if model.parents[b] >= 0:
            absolutes[b] = absolutes[model.parents[b]] @ absolutes[b]
        transforms[b] = absolutes[b] @ model.inverse_base_absolutes[b]
    return transforms


def global_rotation(r: Array) -> Array:
    """About the axis of r by its length, (3, 3)."""
    angle = math.sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2])
    if angle < 1e-4:
        return np.eye(3)
    a = r / angle
    cross = np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
    c, s = math.cos(angle), math.sin(angle)
    return np.outer(a, a) * (1.0 - c) + c * np.eye(3) + s * cross


def posed(v: int, transforms: Array, turn: Array, move: Array, model: Model) -> Array:
    """Where a vertex is."""
    place = np.zeros(3)
    for b in range(len(transforms)):
        place += model.weights[v, b] * (transforms[b, :3] @ model.base_positions[v])
    if model.is_mirrored:
        place[0] = -place[0]
    return turn @ place + move


def residuals(theta: Array, model: Model, correspondences: Ints, points: Array) -> Array:
    """Simple: a point belongs to a vertex; (c, 3)."""
    transforms = bone_transforms(theta, model)
    turn, move = global_rotation(theta[:3]), theta[3:6]
    out = np.zeros((len(points), 3))
    for i in range(len(points)):
        out[i] = points[i] - posed(correspondences[i], transforms, turn, move, model)
    return out


def residuals_in_triangles(
    theta: Array, us: Array, model: Model, correspondences: Ints, points: Array
) -> Array:
    """Complicated: a point belongs to a place in a triangle; (c, 3)."""
    transforms = bone_transforms(theta, model)
    turn, move = global_rotation(theta[:3]), theta[3:6]
    out = np.zeros((len(points), 3))
    for i in range(len(points)):
        corners = model.triangles[correspondences[i]]
        shares = us[i, 0], us[i, 1], 1.0 - us[i, 0] - us[i, 1]
        place = np.zeros(3)
        for corner in range(3):
            place += shares[corner] * posed(corners[corner], transforms, turn, move, model)
        out[i] = points[i] - place
    return out
