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
    kind: Any = type(node)
    if kind in LEAVES:
        return []
    held = node.__dict__
    if kind is ast.BinOp:
        return [held["left"], held["right"]]
    if kind is ast.Call:
        return [held["func"], *held["args"], *held["keywords"]]
    if kind is ast.Attribute:
        return [held["value"]]
    names = _fields.get(kind)
    if names is None:
        names = _holding(kind)
    out: list[ast.AST] = []
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
    out = kind.__new__(kind)
    mine = vars(out)
    mine.update(vars(node))
    for name in _holding(kind):
        value = mine.get(name)
        if type(value) is list:
            mine[name] = [v if v is None else copied(v) for v in value]
        elif value is not None:
            mine[name] = copied(value)
    for name in _LISTS & mine.keys():
        mine[name] = list(mine[name])
    return out


_LISTS = frozenset(("ops", "names", "kwd_attrs"))  # without nodes, or with such as stay
_PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def place_of(node: ast.AST) -> dict[str, Any]:
    """Where a node stands in the source, as attributes for another one."""
    has = node.__dict__
    try:
        return {
            "lineno": has["lineno"], "col_offset": has["col_offset"],
            "end_lineno": has["end_lineno"], "end_col_offset": has["end_col_offset"],
        }  # fmt: skip
    except KeyError:
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
        for child in children(node):
            if type(child) not in LEAVES or "lineno" not in child.__dict__:
                todo.append((child, around))


_START = dict(zip(_PLACE, (1, 0, 1, 0), strict=True))
