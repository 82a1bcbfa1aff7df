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


LEAVES = frozenset((ast.Name, ast.Constant))  # what most nodes are that hold none


def _holding(kind: type) -> tuple[str, ...]:
    """The fields of such nodes that may hold nodes."""
    known = _fields.get(kind)
    if known is None:
        names = kind._fields  # type: ignore[attr-defined]
        known = _fields[kind] = tuple(name for name in names if name not in _PLAIN)
    return known


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below a node, in order."""
    kind = type(node)
    if kind is ast.BinOp:
        return [node.left, node.right]  # type: ignore[attr-defined]
    names = _fields.get(kind)
    if names is None:
        names = _holding(kind)
    out: list[ast.AST] = []
    if names:
        held = node.__dict__
        for name in names:
            value = held.get(name)
            if type(value) is list:
                out += [v for v in value if v is not None] if None in value else value
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
    if not holding:
        mine.update(vars(node))
        return out
    for name, value in vars(node).items():
        if type(value) is list:
            holds = name in holding
            mine[name] = [copied(v) if holds and v is not None else v for v in value]
        else:
            mine[name] = copied(value) if name in holding and value is not None else value
    return out


_PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def place_of(node: ast.AST) -> dict[str, Any]:
    """Where a node stands in the source, as attributes for another one."""
    has = node.__dict__
    return {name: has[name] for name in _PLACE if name in has}


def settle(tree: ast.AST) -> None:
    """Give each node without a place in the source that of the node around it."""
    todo: list[tuple[ast.AST, ast.AST | None]] = [(tree, None)]
    while todo:
        node, around = todo.pop()
        if node._attributes:
            has = node.__dict__
            if "lineno" not in has:
                has.update(_START if around is None else place_of(around))
            around = node
        if type(node) not in LEAVES:
            todo += [(child, around) for child in children(node)]


_START = dict(zip(_PLACE, (1, 0, 1, 0), strict=True))
