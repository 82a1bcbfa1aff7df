"""Which products of partial derivatives make the Jacobian of a piece of straight-line code?

Its variables are the vertices of a graph, with the partial derivative of one by the other on an
edge.  A vertex is eliminated by multiplying what leads to it with what leads away; when all
between inputs and results are gone, the edges are the entries of the Jacobian.  Forward mode and
reverse mode are two orders of elimination; here the vertex that costs the fewest products goes
first, as in sparse Gaussian elimination.

Source: Griewank & Reese, *On the calculation of Jacobian matrices by the Markowitz rule*, 1991;
Griewank & Walther, *Evaluating Derivatives*, ch. 9 and 10.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

from jitad.sweeps.rules import plus
from jitad.tape.build import Builder
from jitad.tape.ir import Atom, Lit, Var

Edges = dict[Var, Atom]  # from where, and the partial derivative
Graph = dict[Var, Edges]  # what leads to each variable


def eliminated(
    b: Builder, graph: Graph, results: Sequence[Var], is_input: Callable[[Var], bool]
) -> list[Edges]:
    """For each result its derivatives by the inputs that it depends on.

    `graph` stays as it is; the products are emitted where `b` stands.
    """
    before, after, order = _part(graph, results, is_input)
    ends: list[Edges] = []
    for r in results:  # a result may also be on the way to another
        if is_input(r):
            ends.append({r: _one(r)})
            continue
        ends.append(dict(before[r]))
        for u in before[r]:
            after[u].append(ends[-1])
    todo = {v: k for k, v in enumerate(order) if not is_input(v)}
    heads = {id(edges): v for v, edges in before.items()}

    def cost(v: Var) -> int:
        return len(before[v]) * len(after[v])

    queue = [(cost(v), k, v.serial, v) for v, k in todo.items()]
    heapq.heapify(queue)
    while queue:
        price, k, serial, v = heapq.heappop(queue)
        if v not in todo:
            continue
        if price != cost(v):
            heapq.heappush(queue, (cost(v), k, serial, v))
            continue
        del todo[v]
        for edges in after[v]:
            along = edges.pop(v)
            for u, c in before[v].items():
                if u in edges:
                    edges[u] = plus(b, edges[u], product(b, c, along))
                else:
                    edges[u] = product(b, c, along)
                    after[u].append(edges)
        for u in before[v]:
            after[u] = [edges for edges in after[u] if edges is not before[v]]
        touched = [*before[v], *(heads[id(x)] for x in after[v] if id(x) in heads)]
        for u in touched:
            if u in todo:
                heapq.heappush(queue, (cost(u), todo[u], u.serial, u))
    return ends


def _part(
    graph: Graph, results: Sequence[Var], is_input: Callable[[Var], bool]
) -> tuple[Graph, dict[Var, list[Edges]], list[Var]]:
    """The edges to and from all variables that the results depend on."""
    before: Graph = {}
    after: dict[Var, list[Edges]] = {}
    todo = list(results)
    while todo:
        v = todo.pop()
        if v in before:
            continue
        before[v] = {} if is_input(v) else dict(graph[v])
        after[v] = []
        todo += before[v]
    for edges in before.values():
        for u in edges:
            after[u].append(edges)
    return before, after, sorted(before, key=lambda v: v.serial)


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
    return b.emit("mul", x, y)


def _one(v: Var) -> Lit:
    import numpy as np

    from jitad.tape.ir import lit

    dtype = v.type.dtype  # type: ignore[union-attr]
    return lit(1.0) if dtype == "f8" else lit(np.dtype(dtype).type(1))
