"""Which values of a loop body are recorded, and which recomputed, in the reverse sweep?

A minimum vertex cut.  Nodes are the body's values.  Those that can't be computed again from what
the reverse iteration has (carried values, results of costly operations, loads from arrays that
are overwritten) hang on the source; the values the adjoint code needs hang on the sink; recording
a value cuts its node at the cost of its size.  The cheapest set of cuts is what is kept.
References: Ford & Fulkerson 1956 (max-flow min-cut); Moses et al. 2021 (Enzyme) and Jonasson &
Naumann's work on taping for the use in AD.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

V = TypeVar("V", bound=Hashable)

INFINITE = 1 << 40


def minimum_cut(
    inputs: Mapping[V, Iterable[V]], cost: Mapping[V, int], fixed: set[V], needed: Iterable[V]
) -> set[V]:
    """The values to record.

    `inputs[v]`: what v is computed from (values that are free in the reverse left out);
    `fixed`: values that can only be recorded; `needed`: what the adjoint code uses.
    """
    # every value v is an edge (v, 0) -> (v, 1) of capacity cost[v]
    capacity: dict[object, dict[object, int]] = {}

    def edge(a: object, b: object, c: int) -> None:
        capacity.setdefault(a, {})[b] = capacity.get(a, {}).get(b, 0) + c
        capacity.setdefault(b, {}).setdefault(a, 0)

    source, sink = "source", "sink"
    todo, seen = list(needed), set()
    for v in todo:
        edge((v, 1), sink, INFINITE)
    while todo:
        v = todo.pop()
        if v in seen:
            continue
        seen.add(v)
        edge((v, 0), (v, 1), cost[v])
        if v in fixed:
            edge(source, (v, 0), INFINITE)
            continue
        for a in inputs[v]:
            edge((a, 1), (v, 0), INFINITE)
            todo.append(a)
    while True:
        path = _augmenting_path(capacity, source, sink)
        if path is None:
            break
        flow = min(capacity[a][b] for a, b in path)
        for a, b in path:
            capacity[a][b] -= flow
            capacity[b][a] += flow
    reach = _reachable(capacity, source)
    return {v for v in seen if (v, 0) in reach and (v, 1) not in reach}


def _reachable(capacity: dict, start: object) -> set[object]:
    seen = {start}
    todo = [start]
    while todo:
        for b, c in capacity.get(todo.pop(), {}).items():
            if c > 0 and b not in seen:
                seen.add(b)
                todo.append(b)
    return seen


def _augmenting_path(capacity: dict, source: object, sink: object) -> list | None:
    """A shortest path with room left (Edmonds & Karp 1972)."""
    before: dict[object, object] = {source: source}
    todo = deque([source])
    while todo:
        a = todo.popleft()
        for b, c in capacity.get(a, {}).items():
            if c > 0 and b not in before:
                before[b] = a
                if b == sink:
                    path = []
                    while b != source:
                        path.append((before[b], b))
                        b = before[b]
                    return path
                todo.append(b)
    return None
