"""What in a kernel's source may be computed though nothing asks for it, as a branch costs more?"""

from __future__ import annotations

import ast

_CHEAP = (ast.Name, ast.Constant, ast.Add, ast.Sub, ast.Mult, ast.UnaryOp, ast.BinOp, ast.Compare,
          ast.BoolOp, ast.Attribute, ast.expr_context, ast.unaryop, ast.cmpop,
          ast.boolop)  # fmt: skip
_FREE = {"where", "plus", "fadd", "isnan", "isinf", "isfinite"}


def is_cheap(node: ast.expr) -> bool:
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            if not (isinstance(part.func, ast.Name) and part.func.id in _FREE):
                return False
        elif not isinstance(part, _CHEAP):
            return False
    return True
