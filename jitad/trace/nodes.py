"""What does a piece of source consist of?

As `ast.iter_child_nodes`, `ast.walk` and `copy.deepcopy` say, but that operators and contexts
(`Add`, `Load`), of which a tree has as many as names, are left out: rewriting looks at every node
many times.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

# What is no node, or one without parts or a place of its own.
_LEAVES = frozenset((
    str, int, float, bool, type(None), *ast.operator.__subclasses__(),
    *ast.unaryop.__subclasses__(), *ast.cmpop.__subclasses__(), *ast.boolop.__subclasses__(),
    *ast.expr_context.__subclasses__(),
))  # fmt: skip


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right inside a node, in order."""
    out: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        kind = type(value)
        if kind is list:
            out += [x for x in value if isinstance(x, ast.AST)]  # type: ignore[union-attr]
        elif kind not in _LEAVES and isinstance(value, ast.AST):
            out.append(value)
    return out


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all inside it, outer ones first."""
    row = [node]
    for n in row:
        yield n
        row += children(n)


def copied(node: Any) -> Any:
    """A copy that shares no node with its original but operators and contexts."""
    new = type(node)()
    for name, value in vars(node).items():
        kind = type(value)
        if kind is list:
            value = [copied(x) if isinstance(x, ast.AST) else x for x in value]
        elif kind not in _LEAVES and isinstance(value, ast.AST):
            value = copied(value)
        setattr(new, name, value)
    return new
