"""Which nodes lie below a node of a syntax tree?

What `ast` answers by looking at all that a node has.  Operators, contexts and texts hold no nodes
of interest: they are read where they stand, and no walk comes to them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

# Fields without nodes: texts, constants, operators, contexts.
_PLAIN = frozenset((
    "ctx", "op", "ops", "id", "attr", "arg", "kind", "type_comment", "asname", "module", "level",
    "conversion", "is_async", "simple", "name", "rest", "kwd_attrs",
))  # fmt: skip
_fields: dict[type, tuple[str, ...]] = dict.fromkeys(
    (ast.Constant, ast.MatchSingleton, ast.Global, ast.Nonlocal), ()
)


def _holding(kind: type) -> tuple[str, ...]:
    """The fields of such nodes that may hold nodes."""
    known = _fields.get(kind)
    if known is None:
        names = kind._fields  # type: ignore[attr-defined]
        known = _fields[kind] = tuple(name for name in names if name not in _PLAIN)
    return known


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below a node, in order."""
    out: list[ast.AST] = []
    kind = type(node)
    names = _fields.get(kind)
    for name in _holding(kind) if names is None else names:
        value = getattr(node, name, None)
        if type(value) is list:
            out += [v for v in value if v is not None]
        elif value is not None:
            out.append(value)
    return out


def below(*roots: ast.AST) -> Iterator[ast.AST]:
    """These nodes and all below them, in the order of the source."""
    todo = list(reversed(roots))
    while todo:
        node = todo.pop()
        yield node
        todo += reversed(children(node))


def copied(node: Any) -> Any:
    """A tree of its own."""
    kind: Any = type(node)
    out, holding = kind.__new__(kind), _holding(kind)
    mine = vars(out)
    for name, value in vars(node).items():
        if type(value) is list:
            holds = name in holding
            mine[name] = [copied(v) if holds and v is not None else v for v in value]
        else:
            mine[name] = copied(value) if name in holding and value is not None else value
    return out


def settle(tree: ast.AST) -> None:
    """Give each node without a place in the source that of the node around it."""
    todo: list[tuple[ast.AST, tuple[int, int, int | None, int | None]]] = [(tree, (1, 0, 1, 0))]
    while todo:
        node, place = todo.pop()
        if node._attributes:
            has = vars(node)
            if "lineno" in has:
                line, column = has["lineno"], has["col_offset"]
                place = (line, column, has.get("end_lineno"), has.get("end_col_offset"))
            else:
                (node.lineno, node.col_offset,  # type: ignore[attr-defined]
                 node.end_lineno, node.end_col_offset) = place  # type: ignore[attr-defined]
        todo += [(child, place) for child in children(node)]
