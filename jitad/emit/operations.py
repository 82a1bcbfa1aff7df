"""Which functions are the operators of a kernel's source?"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir

from jitad.emit.numba_private import appended

OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne, ast.USub: operator.neg, ast.Invert: operator.invert,
}  # fmt: skip



def _compared(op: str) -> Callable[..., Any]:
    """False where an operand is NaN, but for `!=`."""
    write = ir.IRBuilder.fcmp_unordered if op == "!=" else ir.IRBuilder.fcmp_ordered
    return lambda b, x, y: write(b, op, x, y)


OF_FLOATS: dict[type, Callable[..., Any]] = {
    ast.Add: appended("fadd"), ast.Sub: appended("fsub"), ast.Mult: appended("fmul"),
    ast.Div: appended("fdiv"), ast.Lt: _compared("<"), ast.LtE: _compared("<="),
    ast.Gt: _compared(">"), ast.GtE: _compared(">="), ast.Eq: _compared("=="),
    ast.NotEq: _compared("!="),
}  # fmt: skip


def negative(b: ir.IRBuilder, x: Any) -> Any:
    """Of a float: from -0.0, as 0.0 - 0.0 has the wrong sign."""
    return b.fsub(ir.Constant(x.type, -0.0), x)


def literal(node: ast.expr) -> int | None:
    """The number that an expression is, if it is one."""
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return -value
    return None
