"""What becomes of `:=` in what `and`, `or` and ternaries may leave out?

    if a and (n := f(x)) > 0:         _jn1 = a
        ...                           if _jn1:
                                          _jn1 = (n := f(x)) > 0
                                      if _jn1:
                                          ...

Operands that may be left out become functions (`hooks.both`), in which no name of the function
around can be bound; so here they become statements, before anything is hooked.
"""

from __future__ import annotations

import ast
import itertools
from typing import Any

from jitad.trace.syntax import names as of


def lower_bindings(node: ast.FunctionDef) -> None:
    """Change a function's body in place; nested functions are left for their own turn."""
    if any(isinstance(n, ast.NamedExpr) for n in of.own(node.body)):
        fresh = itertools.count(1)
        node.body = _block(node.body, fresh)


def binds(node: ast.expr) -> bool:
    return any(isinstance(n, ast.NamedExpr) for n in of.own([node]))


def _block(stmts: list[ast.stmt], fresh: Any) -> list[ast.stmt]:
    out: list[ast.stmt] = []
    for s in stmts:
        match s:
            case ast.If() | ast.Assert():
                s.test = _lowered(s.test, out, fresh)
            case ast.Assign() | ast.AugAssign() | ast.Expr():
                s.value = _lowered(s.value, out, fresh)
            case ast.Return(value=ast.expr() as value):
                s.value = _lowered(value, out, fresh)
        if not isinstance(s, (ast.FunctionDef, ast.ClassDef)):
            for field, value in ast.iter_fields(s):
                if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                    setattr(s, field, _block(value, fresh))
        out.append(s)
    return out


def _lowered(e: ast.expr, out: list[ast.stmt], fresh: Any) -> ast.expr:
    """An expression with the value of e; statements that have to come before it go to `out`."""
    match e:
        case ast.UnaryOp(op=ast.Not()):
            e.operand = _lowered(e.operand, out, fresh)
        case ast.BoolOp(op=op, values=[first, *rest]) if any(map(binds, rest)):
            name = f"_jn{next(fresh)}"
            out.append(_assign(name, _lowered(first, out, fresh), e))
            for later in rest:
                inner: list[ast.stmt] = []
                value = _lowered(later, inner, fresh)
                test: ast.expr = ast.Name(name, ast.Load())
                if isinstance(op, ast.Or):
                    test = ast.UnaryOp(ast.Not(), test)
                inner.append(_assign(name, value, e))
                out.append(_at(ast.If(test, inner, []), e))
            return _at(ast.Name(name, ast.Load()), e)
        case ast.IfExp(body=body, orelse=orelse) if binds(body) or binds(orelse):
            name = f"_jn{next(fresh)}"
            test = _lowered(e.test, out, fresh)
            sides: list[list[ast.stmt]] = [[], []]
            for side, part in zip(sides, (body, orelse), strict=True):
                side.append(_assign(name, _lowered(part, side, fresh), e))
            out.append(_at(ast.If(test, *sides), e))
            return _at(ast.Name(name, ast.Load()), e)
    return e


def _assign(name: str, value: ast.expr, where: ast.expr) -> ast.stmt:
    return _at(ast.Assign([ast.Name(name, ast.Store())], value), where)


def _at(node: Any, where: ast.expr) -> Any:
    for n in ast.walk(node):
        if "lineno" in n._attributes and not hasattr(n, "lineno"):
            ast.copy_location(n, where)
    return node
