"""How does an expression of a kernel's source become LLVM code?

What it is made of, and of which type, is `numba_private.Body`'s to say; arithmetic of floats, nine
operations of ten, is written here as Numba writes it.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba import types

from jitad.emit.cheap import is_cheap
from jitad.emit.names_in_source import Mentions, is_float_of
from jitad.emit.numba_private import Body, NotTranslated, Typed
from jitad.emit.operations import OF_FLOATS, OPERATORS, literal, negative

_FLOAT = types.float64


class Expressions:
    """Writes expressions, of names that stand for values or for what lies in slots."""

    def __init__(self, space: dict[str, Any], body: Body, mentions: Mentions) -> None:
        self.space, self.body, self.b, self.mentions = space, body, body.builder, mentions
        self.values: dict[str, Typed] = {}  # names that are bound once
        self.slots: dict[str, tuple[Any, Any]] = {}  # the others: memory, type
        self.wraps = False  # may what is computed overflow, which a check then sees?

    def value(self, node: ast.expr) -> Typed:
        write = _WRITTEN.get(type(node))
        if write is None:
            raise NotTranslated(ast.unparse(node))
        return write(self, node)

    def owned(self, node: ast.expr) -> tuple[Typed, bool]:
        """A value, and whether it comes with a reference of its own."""
        return self.value(node), self.is_fresh(node)

    def is_fresh(self, node: ast.expr) -> bool:
        """Does the value come with a reference of its own?"""
        return type(node) is ast.Call or type(node) is ast.Attribute

    def is_local(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) or (
            isinstance(node, ast.Name) and (node.id in self.values or node.id in self.slots)
        )

    # -- names and constants ----------------------------------------------------------------------

    def name(self, node: ast.Name) -> Typed:
        return self.read(node.id)

    def read(self, name: str) -> Typed:
        known = self.values.get(name)
        if known is not None:
            return known
        if name in self.slots:
            slot, kind = self.slots[name]
            return Typed(self.b.load(slot), kind)
        return self.body.constant(self.found(name))

    def found(self, name: str) -> Any:
        """What a global name stands for."""
        if name in self.space:
            return self.space[name]
        if hasattr(builtins, name) and name not in self.mentions.single:
            return getattr(builtins, name)
        raise NotTranslated(f"{name} is not known here")

    def constant(self, node: ast.expr) -> Any:
        """What an expression of global names stands for."""
        match node:
            case ast.Name(id=name) if name not in self.values and name not in self.slots:
                return self.found(name)
            case ast.Attribute(value=value, attr=attr):
                return getattr(self.constant(value), attr)
        raise NotTranslated(f"{ast.unparse(node)}")

    def written(self, node: ast.Constant) -> Typed:
        return self.body.constant(node.value)

    # -- operations -------------------------------------------------------------------------------

    def binary(self, node: ast.BinOp) -> Typed:
        op = type(node.op)
        if op is ast.BitXor:
            with self.wrapping():
                operands = self.value(node.left), self.value(node.right)
            return self.operation(op, *operands)
        return self.operation(op, self.value(node.left), self.value(node.right))

    def compare(self, node: ast.Compare) -> Typed:
        if len(node.ops) > 1:
            raise NotTranslated(ast.unparse(node))
        left, right = self.value(node.left), self.value(node.comparators[0])
        return self.operation(type(node.ops[0]), left, right)

    def operation(self, op: type, left: Typed, right: Typed) -> Typed:
        write = OF_FLOATS.get(op)
        if write is not None and (left.type is _FLOAT or right.type is _FLOAT):
            x, y = self.body.as_float(left), self.body.as_float(right)
            if x is not None and y is not None:  # for which Numba would do the same
                return Typed(write(self.b, x, y), types.boolean if op in _COMPARED else _FLOAT)
        if op not in OPERATORS:
            raise NotTranslated(op.__name__)
        out = self.body.apply(OPERATORS[op], [left, right])
        return self.body.wrapping(out) if self.wraps else out

    def unary(self, node: ast.UnaryOp) -> Typed:
        op, operand = type(node.op), node.operand
        if op is ast.Not:
            return Typed(self.b.not_(self.truth(operand)), types.boolean)
        if op is ast.USub and type(operand) is ast.Constant and (
            isinstance(operand.value, (int, float))
        ):
            return self.body.constant(-operand.value)
        if op not in OPERATORS:
            raise NotTranslated(ast.unparse(node))
        x = self.value(operand)
        if op is ast.USub and x.type is _FLOAT:
            return Typed(negative(self.b, x.value), _FLOAT)
        return self.body.apply(OPERATORS[op], [x])

    @contextmanager
    def wrapping(self) -> Iterator[None]:
        before, self.wraps = self.wraps, True
        try:
            yield
        finally:
            self.wraps = before

    # -- arrays and tuples ------------------------------------------------------------------------

    def place(self, node: ast.Subscript) -> tuple[Typed, list[Typed]]:
        index = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return self.value(node.value), [self.value(i) for i in index]

    def element(self, node: ast.Subscript) -> Typed:
        of = node.value
        if isinstance(of, ast.Attribute) and of.attr == "shape":
            axis = literal(node.slice)
            if axis is not None:
                return self.body.extent(self.value(of.value), axis)
        if not isinstance(of, ast.Name):
            raise NotTranslated(ast.unparse(node))
        return self.body.load(*self.place(node))

    def together(self, node: ast.Tuple) -> Typed:
        return self.body.together([self.value(p) for p in node.elts])

    def attribute(self, node: ast.Attribute) -> Typed:
        if not self.is_local(node.value):
            return self.body.constant(self.constant(node))
        of = self.value(node.value)
        out = self.body.attribute(of, node.attr)
        self.drop([(of, self.is_fresh(node.value))])
        return out

    # -- calls ------------------------------------------------------------------------------------

    def call(self, node: ast.Call) -> Typed:
        """What a call gives; of what was made for it alone no reference is left."""
        if node.keywords:
            raise NotTranslated(ast.unparse(node))
        if is_float_of(node):
            with self.wrapping():
                given = [self.lent(a) for a in node.args]
        else:
            given = [self.lent(a) for a in node.args]
        match node.func:
            case ast.Attribute(value=owner, attr=method) if self.is_local(owner):
                of, fresh = self.lent(owner)
                ins = [x for x, _ in given]
                again = self.body.reshaped(of, *ins) if method == "reshape" else None
                out = again or self.body.method(of, method, ins)
                given.append((of, fresh))
            case function:
                out = self.body.apply(self.constant(function), [x for x, _ in given])
        self.drop(given)
        return out

    def lent(self, node: ast.expr) -> tuple[Typed, bool]:
        """An operand, `owned`; an array that is handed over as it is needs no reference for it."""
        match node:
            case ast.Call(ast.Name("handed") | ast.Attribute(_, "ascontiguousarray") as of, [a]):
                found = self.value(a)
                as_it_is = self.body.lent(found)
                if as_it_is is not None:
                    return as_it_is, self.is_fresh(a)
                out = self.body.apply(self.constant(of), [found])
                self.drop([(found, self.is_fresh(a))])
                return out, True
        return self.owned(node)

    def drop(self, values: list[tuple[Typed, bool]]) -> None:
        """Let go of those that are `fresh`, which nothing else refers to."""
        for x, fresh in values:
            if fresh and x.type is not _FLOAT and self.body.is_counted(x.type):
                self.body.decref(x)

    # -- conditions -------------------------------------------------------------------------------

    def truth(self, node: ast.expr) -> Any:
        found = self.value(node)
        if found.type is not types.boolean and types.unliteral(found.type) != types.boolean:
            raise NotTranslated(f"a condition that is no bool: {ast.unparse(node)}")
        return found.value

    def both(self, node: ast.BoolOp) -> Typed:
        """`and`, `or` of bools; what costs more than a branch is computed on demand."""
        all_, b, out = isinstance(node.op, ast.And), self.b, self.truth(node.values[0])
        for v in node.values[1:]:
            if is_cheap(v):
                out = b.and_(out, self.truth(v)) if all_ else b.or_(out, self.truth(v))
                continue
            known, before = out, b.block
            more, after = b.append_basic_block("more"), b.append_basic_block("after")
            b.cbranch(known, *((more, after) if all_ else (after, more)))
            b.position_at_end(more)
            last = self.truth(v)
            ending = b.block
            b.branch(after)
            b.position_at_end(after)
            out = b.phi(known.type)
            out.add_incoming(known, before)
            out.add_incoming(last, ending)
        return Typed(out, types.boolean)

    def choice(self, node: ast.IfExp) -> Typed:
        b, truth = self.b, self.truth(node.test)
        if is_cheap(node.body) and is_cheap(node.orelse):
            x, y = self.value(node.body), self.value(node.orelse)
            kind = self.body.common(x.type, y.type)
            return Typed(b.select(truth, self.body.cast(x, kind), self.body.cast(y, kind)), kind)
        first, second, after = (b.append_basic_block(n) for n in ("then", "else", "after"))
        b.cbranch(truth, first, second)
        found = []
        for block, side in ((first, node.body), (second, node.orelse)):
            b.position_at_end(block)
            found.append((self.value(side), b.block))
        kind = self.body.common(*(x.type for x, _ in found))
        sides = []
        for x, block in found:
            b.position_at_end(block)
            sides.append((self.body.cast(x, kind), b.block))
            b.branch(after)
        b.position_at_end(after)
        out = b.phi(sides[0][0].type)
        for value, block in sides:
            out.add_incoming(value, block)
        return Typed(out, kind)


_COMPARED = {ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq}

_WRITTEN: dict[type, Callable[[Expressions, Any], Typed]] = {
    ast.Name: Expressions.name, ast.Constant: Expressions.written, ast.BinOp: Expressions.binary,
    ast.UnaryOp: Expressions.unary, ast.Compare: Expressions.compare, ast.BoolOp: Expressions.both,
    ast.IfExp: Expressions.choice, ast.Subscript: Expressions.element,
    ast.Tuple: Expressions.together, ast.Call: lambda self, node: self.call(node),
    ast.Attribute: Expressions.attribute,
}  # fmt: skip
