"""Which products of partial derivatives make the Jacobian of a piece of straight-line code?

Its variables are the vertices of a graph, with the partial derivative of one by the other on an
edge.  A vertex is eliminated by multiplying what leads to it with what leads away; when all
between inputs and results are gone, the edges are the entries of the Jacobian.  Forward mode and
reverse mode are two orders of elimination.  No order is the cheapest for all graphs, and to find
the cheapest takes too long: a few are tried on a graph without numbers, and the one that takes
the fewest multiplications and additions is written.

Source: Griewank & Reese, *On the calculation of Jacobian matrices by the Markowitz rule*, 1991;
Griewank & Walther, *Evaluating Derivatives*, ch. 9 and 10.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import numpy as np

from jitad.sweeps.powers import cancelled
from jitad.sweeps.rules import plus
from jitad.tape.build import Builder
from jitad.tape.ir import Atom, Lit, Var, lit

Edges = dict[Var, Atom]  # from where, and the partial derivative
Graph = dict[Var, Edges]  # what leads to each variable

_LARGE = 2000  # vertices: no choice is made then

Factor = TypeVar("Factor")


def eliminated(
    b: Builder, graph: Graph, results: Sequence[Var], is_input: Callable[[Var], bool]
) -> list[Edges]:
    """For each result its derivatives by the inputs that it depends on.

    `graph` stays as it is; the products are emitted where `b` stands.
    """
    before = _part(graph, results, is_input)
    inner = [v for v in before if not is_input(v)]
    if len(inner) > _LARGE:
        order = inner
    else:
        order = min((_tried(before, results, is_input, inner, rule) for rule in _RULES),
                    key=lambda tried: tried[0])[1]  # fmt: skip
    made = _Elimination(before, results, is_input, _one, lambda x, y: product(b, x, y),
                        lambda x, y: plus(b, x, y))  # fmt: skip
    for v in order:
        made.eliminate(v)
    return made.ends


def _part(graph: Graph, results: Sequence[Var], is_input: Callable[[Var], bool]) -> Graph:
    """The edges to all variables that the results depend on, in the order of the program."""
    before: Graph = {}
    todo = list(results)
    while todo:
        v = todo.pop()
        if v not in before:
            before[v] = {} if is_input(v) else graph[v]
            todo += before[v]
    return {v: before[v] for v in sorted(before, key=lambda v: v.serial)}


class _Elimination(Generic[Factor]):
    """A graph from which vertices are taken away, with whatever stands for factors."""

    def __init__(
        self, before: dict[Var, dict[Var, Factor]], results: Sequence[Var],
        is_input: Callable[[Var], bool], one: Callable[[Var], Factor],
        times: Callable[[Factor, Factor], Factor], plus: Callable[[Factor, Factor], Factor],
    ) -> None:  # fmt: skip
        self.times, self.plus = times, plus
        self.before = {v: dict(edges) for v, edges in before.items()}
        self.after: dict[Var, list[dict[Var, Factor]]] = {v: [] for v in before}
        self.heads: dict[int, Var] = {}
        for v, edges in self.before.items():
            self.heads[id(edges)] = v
            for u in edges:
                self.after[u].append(edges)
        self.ends: list[dict[Var, Factor]] = []
        for r in results:  # a result may also be on the way to another
            self.ends.append({r: one(r)} if is_input(r) else dict(before[r]))
            if not is_input(r):
                for u in before[r]:
                    self.after[u].append(self.ends[-1])

    def eliminate(self, v: Var) -> list[Var]:
        """Take a vertex away; gives its neighbours."""
        mine = self.before[v]
        for edges in self.after[v]:
            along = edges.pop(v)
            for u, c in mine.items():
                new = self.times(c, along)
                if u in edges:
                    edges[u] = self.plus(edges[u], new)
                else:
                    edges[u] = new
                    self.after[u].append(edges)
        for u in mine:
            self.after[u] = [edges for edges in self.after[u] if edges is not mine]
        return [*mine, *(self.heads[id(x)] for x in self.after[v] if id(x) in self.heads)]


# -- in which order -------------------------------------------------------------------------------

_Shape = _Elimination[bool]  # of each factor, whether it is 1 or -1
_Rule = Callable[[_Shape, Var, int], int]


def _markowitz(g: _Shape, v: Var, k: int) -> int:
    return len(g.before[v]) * len(g.after[v])


def _products(g: _Shape, v: Var, k: int) -> int:
    """As many as are no copies."""
    units = sum(g.before[v].values())
    return sum(len(g.before[v]) - units for edges in g.after[v] if not edges[v])


def _filled(g: _Shape, v: Var, k: int) -> int:
    """How many edges more there are afterwards."""
    mine = g.before[v]
    new = sum(u not in edges for edges in g.after[v] for u in mine)
    return new - len(mine) - len(g.after[v])


def _forward(g: _Shape, v: Var, k: int) -> int:
    return k


def _reverse(g: _Shape, v: Var, k: int) -> int:
    return -k


_RULES: tuple[_Rule, ...] = (_markowitz, _products, _filled, _forward, _reverse)


def _tried(
    before: Graph, results: Sequence[Var], is_input: Callable[[Var], bool], inner: list[Var],
    rule: _Rule,
) -> tuple[int, list[Var]]:  # fmt: skip
    """What it costs to eliminate, at each step, the vertex for which the rule gives the least;
    and the order."""
    cost = 0

    def times(x: bool, y: bool) -> bool:
        nonlocal cost
        cost += not (x or y)
        return x and y

    def plus(x: bool, y: bool) -> bool:
        nonlocal cost
        cost += 1
        return False

    shape = {v: {u: _is_unit(c) for u, c in edges.items()} for v, edges in before.items()}
    g = _Elimination(shape, results, is_input, lambda v: True, times, plus)
    place = {v: k for k, v in enumerate(inner)}
    queue = [(rule(g, v, k), k, v) for v, k in place.items()]
    heapq.heapify(queue)
    order: list[Var] = []
    while queue:
        price, k, v = heapq.heappop(queue)
        if v not in place:
            continue
        now = rule(g, v, k)
        if price != now:
            heapq.heappush(queue, (now, k, v))
            continue
        del place[v]
        order.append(v)
        for u in g.eliminate(v):
            if u in place:
                heapq.heappush(queue, (rule(g, u, place[u]), place[u], u))
    return cost, order


def _is_unit(c: Atom) -> bool:
    return isinstance(c, Lit) and abs(c.value) == 1.0


# -- factors --------------------------------------------------------------------------------------


def product(b: Builder, x: Atom, y: Atom) -> Atom:
    """x * y, where literal ones cost nothing and the zero of a branch not taken stays zero."""
    for one, other in ((x, y), (y, x)):
        if isinstance(one, Lit):
            if one.value == 1.0:
                return other
            if one.value == -1.0:
                return b.emit("neg", other)
    for one, other in ((y, x), (x, y)):
        source = b.sources.get(one) if isinstance(one, Var) else None
        if source is not None and source.op == "where":
            c, then, otherwise = source.ins
            if isinstance(otherwise, Lit) and otherwise.value == 0.0:
                return b.emit("where", c, product(b, other, then), otherwise)
            if isinstance(then, Lit) and then.value == 0.0:
                return b.emit("where", c, then, product(b, other, otherwise))
    return b.emit("mul", *cancelled(b, x, y))


def _one(v: Var) -> Lit:
    dtype = v.type.dtype  # type: ignore[union-attr]
    return lit(1.0) if dtype == "f8" else lit(np.dtype(dtype).type(1))
