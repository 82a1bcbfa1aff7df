"""What become SciPy's hulls, triangulations and trees of points, where they are traced?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.spatial as sp

from jitad.errors import JitadTypeError
from jitad.operators.found import answers, indices
from jitad.values.kind import fail
from jitad.values.number import Number
from jitad.values.numpy.shaping import handle
from jitad.values.registry import call, replaces
from jitad.values.stand_ins import Read, StandIn, stands_for


def _axes(points: Any, what: str) -> int:
    if points.ndim != 2:
        raise fail(JitadTypeError, f"{what} takes points, a row each")
    return int(handle(points)._static(points.shape[1], f"the number of axes of a {what}"))


class Hull(StandIn):
    """The convex hull of points: which ones, its volume and area."""

    _what = "convex hull"

    def __init__(self, points: Any) -> None:
        self.points = points
        self.ndim = _axes(points, "ConvexHull")

        def find(p: Any) -> Any:
            hull = sp.ConvexHull(p)
            return hull.vertices.astype(int), hull.simplices.astype(int)

        self.vertices, self.simplices = answers(find, (indices(), indices(2)))(points)
        self._then = call(np.copy, points)  # what is measured is what was found

    @property
    def volume(self) -> Any:
        centre = call(np.mean, self._then[self.vertices], axis=0)
        spokes = call(np.subtract, self._then[self.simplices], centre)
        sizes = call(np.abs, call(np.linalg.det, spokes))
        return call(np.divide, call(np.sum, sizes), float(math.factorial(self.ndim)))

    @property
    def area(self) -> Any:
        corners = self._then[self.simplices]
        edges = call(np.subtract, corners[:, 1:], corners[:, :1])
        squares = call(np.matmul, edges, call(np.swapaxes, edges, 1, 2))
        sizes = call(np.sqrt, call(np.linalg.det, squares))
        return call(np.divide, call(np.sum, sizes), float(math.factorial(self.ndim - 1)))


class Triangulation(StandIn):
    """Which points make the simplices of a triangulation."""

    _what = "triangulation"

    def __init__(self, points: Any) -> None:
        self.points = points
        self.ndim = _axes(points, "Delaunay")
        find = answers(lambda p: sp.Delaunay(p).simplices.astype(int), indices(2))
        self.simplices = find(points)


class Tree(StandIn):
    """Points among which the nearest are looked for."""

    _what = "tree of points"

    def __init__(self, data: Any) -> None:
        self.data = data

    def query(self, x: Any, k: Any = 1, eps: Any = 0, p: Any = 2.0, **others: Any) -> Any:
        if others or eps != 0 or isinstance(k, Number) or type(k) is not int:
            raise fail(JitadTypeError, "query is supported with x, a number k and p",
                       "Choose among the distances by a mask.")  # fmt: skip
        x = call(np.asarray, x, float)
        axes = x.ndim - (k == 1)
        like = indices(axes) if axes else 0
        nearest = answers(lambda d, x: sp.cKDTree(d).query(x, k, p=p)[1], like)(self.data, x)
        many = x if k == 1 else x[..., None, :]
        apart = call(np.subtract, self.data[nearest], many)
        found = call(np.linalg.norm, apart, p, axis=-1)
        return found, nearest

    def query_pairs(self, r: Any, p: Any = 2.0, eps: Any = 0, output_type: str = "set") -> Any:
        if eps != 0 or output_type != "ndarray":
            raise fail(JitadTypeError, "query_pairs of a tree of points gives a set, or takes eps="
                       ", which is not supported on traced or differentiated values",
                       "Ask for output_type='ndarray': an array of pairs.")  # fmt: skip

        def find(d: Any, r: Any) -> Any:
            return sp.cKDTree(d).query_pairs(r, p, output_type="ndarray").astype(int)

        return answers(find, indices(2))(self.data, r)

    def query_ball_point(self, x: Any, r: Any, p: Any = 2.0, eps: Any = 0, workers: Any = 1,
                         return_sorted: Any = None,
                         return_length: bool = False) -> Any:  # fmt: skip
        x = call(np.asarray, x, float)
        if eps != 0 or (x.ndim > 1 and not return_length):
            raise fail(JitadTypeError, "query_ball_point of several points, or with eps=, is not "
                       "supported on traced or differentiated values",
                       "Ask point by point, or take query_pairs.")  # fmt: skip
        counts = return_length

        def find(d: Any, x: Any, r: Any) -> Any:
            found = sp.cKDTree(d).query_ball_point(x, r, p, return_sorted=return_sorted,
                                                   return_length=counts)  # fmt: skip
            return np.asarray(found, int) if np.ndim(x) > 1 or not counts else int(found)

        like = indices(1 if x.ndim == 1 else x.ndim - 1) if x.ndim > 1 or not counts else 0
        return answers(find, like)(self.data, x, r)


@replaces(sp.ConvexHull)
def convex_hull(points: Any) -> Hull:
    return Hull(call(np.asarray, points, float))


@replaces(sp.Delaunay)
def delaunay(points: Any) -> Triangulation:
    return Triangulation(call(np.asarray, points, float))


@replaces(sp.cKDTree, sp.KDTree)
def tree(data: Any, leafsize: Any = 10, compact_nodes: Any = True, copy_data: Any = False,
         balanced_tree: Any = True, boxsize: Any = None) -> Tree:  # fmt: skip
    return _tree(call(np.array, data, float), boxsize)


@stands_for(sp.cKDTree, sp.KDTree)
def of_outside(value: Any, read: Read) -> Tree:
    """One that was made outside."""
    return _tree(call(np.asarray, read("data")), read("boxsize"))


def _tree(data: Any, boxsize: Any) -> Tree:
    if boxsize is not None:
        raise fail(JitadTypeError, "a tree of points with boxsize= is not supported on traced or "
                   "differentiated values", "Put copies of the points beyond the edges in.")
    return Tree(data)
