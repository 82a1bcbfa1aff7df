"""How is an expression rewritten?

Operators, calls, subscripts, attributes and names become calls of hooks.  What Python would
evaluate only sometimes (`b` in `a and b`) is handed over as a lambda, which the hook may call
twice, once for every path of the tape; what can't stand in a lambda stays as it is.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from jitad.trace.syntax import names as of
from jitad.trace.syntax.exits import _at
from jitad.trace.syntax.hooked import hook, hook_of
from jitad.trace.syntax.passing import functions_around, in_passing

# hooks that handlers become, written before the rewriting
ATTEMPTS = ("catches", "thrown", "raise_", "rethrow", "rethrow_known", "rethrow_through")
_SPECIAL = frozenset({"super", "__import__"})

# names that rewriting makes
_OWN = re.compile(r"_j(h_\w+|S|U|r|v|out|iter|slice|locals|Base|([bcwsti]|x\d+_|x|comp|lambda)\d+)")


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _store(name: str) -> ast.Name:
    return ast.Name(name, ast.Store())


def _later(value: ast.expr) -> ast.Lambda:
    return ast.Lambda(ast.arguments([], [], None, [], [], None, []), value)


class Expressions(ast.NodeTransformer):
    """The half of `Hooking` that knows expressions."""

    node: Any  # the function itself
    locals: set[str]  # its names
    globals: set[str]  # names that it declares global
    bound: set[str]  # locals that certainly have a value here
    shared: set[str]  # locals in cells, which may be written where this function does not see it
    sessions: list[str]  # the branches and loops around

    def is_free(self, name: str) -> bool:
        raise NotImplementedError

    def noted(self, *names: str) -> list[ast.stmt]:
        raise NotImplementedError

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        name = node.id
        if not isinstance(node.ctx, ast.Load) or _OWN.fullmatch(name):
            return node
        if name in self.locals:
            certain = name in self.bound and name not in self.shared
            return node if certain else _at(hook("local", node), node)
        if self.is_free(name):
            return _at(hook("free", node, _later(_load(name))), node)
        return _at(hook("glob", node, ast.Constant(name)), node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        # written as a loop: a long sum is a deep tree
        spine: list[ast.BinOp] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp):
            spine.append(left)
            left = left.left
        out = self.visit(left)
        for n in reversed(spine):
            out = _at(hook(type(n.op).__name__, out, self.visit(n.right)), n)
        return out

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.operand, ast.Constant):
            return node
        return _at(hook(type(node.op).__name__, self.visit(node.operand)), node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        if len(node.ops) == 1:
            op = type(node.ops[0]).__name__
            return _at(
                hook(op, self.visit(node.left), self.visit(node.comparators[0])), node
            )
        if any(map(_must_stay, node.comparators[1:])):
            return self.generic_visit(node)  # type: ignore[return-value]
        ops = ast.Tuple([ast.Constant(type(op).__name__) for op in node.ops], ast.Load())
        rest = [_later(self.visit(c)) for c in node.comparators]
        return _at(hook("chain", ops, self.visit(node.left), *rest), node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        if any(map(_must_stay, node.values[1:])):
            return self.generic_visit(node)  # type: ignore[return-value]
        values = [self.visit(v) for v in node.values]
        if getattr(node, "only_truth", False):
            values = [_at(hook("test", v), v) for v in values]
        return _at(hook(type(node.op).__name__, values[0], *map(_later, values[1:])), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        if _must_stay(node.body) or _must_stay(node.orelse):
            return self.generic_visit(node)  # type: ignore[return-value]
        body, orelse = _later(self.visit(node.body)), _later(self.visit(node.orelse))
        return _at(hook("choose", self.visit(node.test), body, orelse), node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        value = self.visit(node.value)
        for s in self.noted(node.target.id):  # which gives None
            value = _at(ast.BoolOp(ast.Or(), [s.value, value]), value)  # type: ignore[attr-defined]
        node.value = value
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if hook_of(node) in ATTEMPTS:
            node.args = [self.visit(a) for a in node.args]
            return node
        args = [self.visit(a) for a in node.args]
        for a in args:
            if isinstance(a, ast.Starred):
                assert isinstance(a.value, ast.Call)
                a.value.args.append(_at(ast.Constant(True), node))  # an argument
        for k in node.keywords:
            k.value = self.visit(k.value)
            if k.arg is None:
                k.value = _at(hook("mapping", k.value), k.value)
        if isinstance(node.func, ast.Name) and node.func.id in _SPECIAL:
            node.args = args or self.of_super(node)
            return node
        call = hook("call", self.visit(node.func), *args)
        call.keywords = node.keywords
        return _at(call, node)

    def of_super(self, node: ast.Call) -> list[ast.expr]:
        """What `super()` means, which has no meaning in a lambda."""
        given = self.node.args
        first = next(iter([*given.posonlyargs, *given.args]), None)
        inside = getattr(self.node, "in_class", False) or self.is_free("__class__")
        if node.func.id != "super" or first is None or not inside:  # type: ignore[attr-defined]
            return []
        return [_load("__class__"), _load(first.arg)]

    def visit_Starred(self, node: ast.Starred) -> ast.expr:
        if isinstance(node.ctx, ast.Load):
            node.value = _at(hook("starred", self.visit(node.value)), node.value)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        owner = self.visit(node.value)
        return _at(hook("get_attr", owner, ast.Constant(node.attr)), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        around, parts = functions_around(node), [self.visit(node.value), self.index(node.slice)]
        if around is not None:
            return _at(hook("get_part", *parts, *(_at(a, node) for a in around)), node)
        return _at(hook("get_item", *parts), node)

    def iterated(self, node: ast.expr) -> ast.expr:
        """What a loop is over."""
        return self.visit(in_passing(node))

    def index(self, node: ast.expr) -> ast.expr:
        match node:
            case ast.Slice():
                parts = [
                    self.visit(p) if p else ast.Constant(None)
                    for p in (node.lower, node.upper, node.step)
                ]
                return _at(ast.Call(_load("_jslice"), parts, []), node)
            case ast.Tuple(elts=elts) if any(isinstance(e, ast.Slice) for e in elts):
                return _at(ast.Tuple([self.index(e) for e in elts], ast.Load()), node)
        return self.visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        return _at(hook("f_string", *map(self.visit, node.values)), node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        form = self.visit(node.format_spec) if node.format_spec else ast.Constant("")
        parts = [self.visit(node.value), ast.Constant(node.conversion), form]
        return _at(ast.Tuple(parts, ast.Load()), node)

    def visit_List(self, node: ast.List) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and any(isinstance(e, ast.Starred) for e in node.elts):
            return self.with_stars(node)
        self.generic_visit(node)
        return _at(hook("made", node), node) if isinstance(node.ctx, ast.Load) else node

    def visit_Tuple(self, node: ast.Tuple) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and any(isinstance(e, ast.Starred) for e in node.elts):
            return self.with_stars(node)
        return self.generic_visit(node)  # type: ignore[return-value]

    def with_stars(self, node: ast.List | ast.Tuple) -> ast.expr:
        """A list or tuple that is written down with others in it: each of them a list's part."""
        parts = [
            _at(hook("part", self.visit(e.value)), e) if isinstance(e, ast.Starred)
            else _at(ast.Tuple([self.visit(e)], ast.Load()), e)
            for e in node.elts
        ]  # fmt: skip
        name = "listed_with" if isinstance(node, ast.List) else "tuple_with"
        return _at(hook(name, *parts), node)

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        if all(isinstance(k, ast.Constant) for k in node.keys):
            return _at(hook("made", self.generic_visit(node)), node)  # type: ignore[arg-type]
        parts = zip(node.keys, node.values, strict=True)
        given = [
            ast.Tuple([self.visit(v)] if k is None else [self.visit(k), self.visit(v)], ast.Load())
            for k, v in parts
        ]
        return _at(hook("displayed", *given), node)

    def visit_Set(self, node: ast.Set) -> ast.expr:
        listed = self.visit_List(_at(ast.List(node.elts, ast.Load()), node))
        return _at(hook("set_of", listed), node)

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.expr:
        out = self.visit_Yield(node)  # type: ignore[arg-type]
        out.value = _at(hook("delegated", out.value), node)  # type: ignore[attr-defined]
        return out

    def visit_Yield(self, node: ast.Yield) -> ast.expr:
        value = self.visit(node.value) if node.value else ast.Constant(None)
        around = ast.Tuple([_load(s) for s in self.sessions], ast.Load())
        node.value = _at(hook("yielding", value, around), node)
        return node


def _must_stay(node: ast.expr) -> bool:
    """True of an operand that can't be put into a lambda: it binds a name, or yields."""
    kinds = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
    return any(isinstance(n, kinds) for n in of.own([node]))
