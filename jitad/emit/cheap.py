"""What in a kernel's source may be computed though nothing asks for it, as a branch costs more?"""

from __future__ import annotations

import ast

_FREE = {"where", "plus", "fadd", "isnan", "isinf", "isfinite"}


def is_cheap(node: ast.expr) -> bool:
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.UnaryOp(operand=operand):
            return is_cheap(operand)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
            return is_cheap(left) and is_cheap(right)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            return name in _FREE and all(map(is_cheap, args))
        case ast.Compare(left=left, comparators=others):
            return is_cheap(left) and all(map(is_cheap, others))
        case ast.BoolOp(values=values):
            return all(map(is_cheap, values))
        case ast.Attribute(value=value):
            return is_cheap(value)
    return False
