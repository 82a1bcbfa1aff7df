"""Which statements exchange two elements of a list: `a[i], a[j] = a[j], a[i]`?"""

from __future__ import annotations

import ast

_PLAIN = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Load)


def exchanged(s: ast.Assign) -> tuple[ast.expr, ast.expr, ast.expr] | None:
    """The list and both indices, where the statement is such an exchange."""
    match s:
        case ast.Assign(
            [ast.Tuple([ast.Subscript(a, i), ast.Subscript(b, j)])],
            ast.Tuple([ast.Subscript(c, k), ast.Subscript(d, m)]),
        ):
            owners = {ast.dump(x) for x in (a, b, c, d)}
            same = ast.dump(i) == ast.dump(m) and ast.dump(j) == ast.dump(k)
            plain = all(isinstance(n, _PLAIN) for x in (a, i, j) for n in ast.walk(x))
            return (a, i, j) if same and plain and len(owners) == 1 else None
    return None
