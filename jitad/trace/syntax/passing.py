"""Which slices are there for a loop alone, so that no one else can see that they are copies?

In `for q in ps[i + 1 :]`, also inside of `enumerate` and `zip`.  The elements of a list that only
holds rows may then be found in the list itself, and be written (`trace/containers/in_rows.py`).
"""

from __future__ import annotations

import ast

_AROUND = ("enumerate", "zip")


def in_passing(node: ast.expr, *around: str) -> ast.expr:
    """What a loop is over, with such slices told from others, and what is around them."""
    match node:
        case ast.Subscript(slice=ast.Slice()):
            node.passing = around  # type: ignore[attr-defined]
        case ast.Call(func=ast.Name(id=name), args=args) if name in _AROUND:
            for a in args:
                in_passing(a, *around, name)
    return node


def functions_around(node: ast.expr) -> list[ast.expr] | None:
    """The names of those, which may be others at run time; None of other slices."""
    around = getattr(node, "passing", None)
    return None if around is None else [ast.Name(n, ast.Load()) for n in around]
