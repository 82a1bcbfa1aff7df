"""How do comprehensions become loops that can be traced?

`[e for t in it if c]` becomes a call of a function defined just before the statement, as CPython
itself compiles it: `def _jcomp1(it): out = []; for t in it: if c: out.append(e); return out`.
The loop in it is then rewritten as every other.  What `:=` binds in it is `nonlocal` there.
`sum`, `any` and `all` of a generator fold as they go, because over a range of traced length there
is no list to make.
Lambdas that hold a comprehension become functions first.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable

from jitad.trace.syntax.exits import _at
from jitad.trace.syntax.passing import in_passing

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Hoist(ast.NodeTransformer):
    """Replaces comprehensions in one function's body; `before` collects the definitions."""

    def __init__(self, shadowed: Callable[[str], bool]) -> None:
        self.shadowed = shadowed  # is this builtin's name taken by something else here?
        self.before: list[ast.stmt] = []
        self.count = itertools.count(1)
        self.globals: set[str] = set()

    def body(self, stmts: list[ast.stmt]) -> list[ast.stmt]:
        outer, out = self.before, []
        for s in stmts:
            self.before = []
            s = self.visit(s)
            out += [*self.before, s]
        self.before = outer
        return out

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(node, name, self.body(value))
            elif isinstance(value, list):
                value[:] = [self.visit(v) if isinstance(v, ast.AST) else v for v in value]
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        for s in node.body:  # a class body is run as it is; its methods are traced when called
            if isinstance(s, ast.FunctionDef):
                self.visit(s)
        return node

    def visit_Global(self, node: ast.Global) -> ast.AST:
        self.globals |= set(node.names)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        if not any(isinstance(n, COMPREHENSIONS) for n in ast.walk(node.body)):
            return node
        name = f"_jlambda{next(self.count)}"
        result = _at(ast.Return(node.body), node.body)
        definition = ast.FunctionDef(name, node.args, [result], [], None, None)
        definition = _at(definition, node)
        self.before.append(self.visit(definition))
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(func=ast.Name(id="sum" | "any" | "all" as fold),
                          args=[ast.GeneratorExp() as g, *rest], keywords=[]):  # fmt: skip
                if self.shadowed(fold):
                    return self.generic_visit(node)
                if len(rest) <= (fold == "sum") and not self.waits(g):
                    return self.fold(node, fold, g, rest)
        return self.generic_visit(node)

    def waits(self, node: ast.AST) -> bool:
        """Left to CPython: `async for` needs its own function, a global no variable."""
        return any(
            isinstance(n, (ast.Await, ast.Yield, ast.YieldFrom))
            or (isinstance(n, ast.NamedExpr) and n.target.id in self.globals)
            or (isinstance(n, ast.comprehension) and n.is_async)
            for n in ast.walk(node)
        )

    def fold(self, node: ast.Call, fold: str, g: ast.GeneratorExp, rest: list[ast.expr]) -> ast.AST:
        match fold:
            case "sum":
                add = ast.BinOp(ast.Name("_jout", ast.Load()), ast.Add(), g.elt)
                act: ast.stmt = ast.Assign([ast.Name("_jout", ast.Store())], add)
                args = ["_jiter", "_jout"]
                last: ast.expr = ast.Name("_jout", ast.Load())
                values = rest or [ast.Constant(0)]
            case _:
                test = g.elt if fold == "any" else ast.UnaryOp(ast.Not(), g.elt)
                act = ast.If(test, [ast.Return(ast.Constant(fold == "any"))], [])
                args, last, values = ["_jiter"], ast.Constant(fold == "all"), []
        # The function that this is, as long as the name means it, is read as any other.
        args, values = [*args, "_jx0"], [*values, ast.Name(fold, ast.Load())]
        return self.function(node, g, act, args, values, [], ast.Return(last))

    def comprehension(self, node: ast.AST) -> ast.AST:
        if self.waits(node):
            return node
        out = ast.Name("_jout", ast.Load())
        match node:
            case ast.ListComp(elt=elt):
                empty, method, args = ast.List([], ast.Load()), "append", [elt]
            case ast.SetComp(elt=elt):
                empty = ast.Call(ast.Name("set", ast.Load()), [], [])  # type: ignore[assignment]
                method, args = "add", [elt]
            case ast.DictComp(key=key, value=value):
                empty = ast.Dict([], [])  # type: ignore[assignment]
                method, args = "__setitem__", [key, value]
            case ast.GeneratorExp(elt=elt):
                act = ast.Expr(ast.Yield(elt))
                return self.function(node, node, act, ["_jiter"], [], [], None)
        call = ast.Call(ast.Attribute(out, method, ast.Load()), args, [])
        first = ast.Assign([ast.Name("_jout", ast.Store())], empty)
        return self.function(node, node, ast.Expr(call), ["_jiter"], [], [first], ast.Return(out))

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comprehension

    def function(
        self, node: ast.AST, comp: ast.AST, act: ast.stmt, args: list[str],
        values: list[ast.expr], head: list[ast.stmt], tail: ast.stmt | None,
    ) -> ast.AST:  # fmt: skip
        name = f"_jcomp{next(self.count)}"
        generators = comp.generators  # type: ignore[attr-defined]
        outermost = in_passing(generators[0].iter)
        generators[0].iter = ast.Name("_jiter", ast.Load())
        body = act
        for g in reversed(generators):
            for test in reversed(g.ifs):
                body = ast.If(test, [body], [])
            body = ast.For(g.target, g.iter, [body], [])
        parameters = ast.arguments([], [ast.arg(a) for a in args], None, [], [], None, [])
        bound = sorted({n.target.id for n in ast.walk(comp) if isinstance(n, ast.NamedExpr)})
        stmts = [*head, body, *([tail] if tail else [])]
        if bound:  # in this function, of which they are variables, whether bound before or not
            stmts.insert(0, ast.Nonlocal(bound))
            never = [ast.Assign([ast.Name(n, ast.Store())], ast.Constant(None)) for n in bound]
            self.before.append(_at(ast.If(ast.Constant(False), list(never), []), node))
        definition = _at(ast.FunctionDef(name, parameters, stmts, [], None, None), node)
        for n in ast.walk(definition):
            if not hasattr(n, "lineno") and "lineno" in n._attributes:
                ast.copy_location(n, node)
        # what it captures is read where it is called, but for a generator
        definition.hoisted = tail is not None and not bound
        self.before.append(self.visit(definition))
        call = ast.Call(ast.Name(name, ast.Load()), [outermost, *values], [])
        return self.generic_visit(_at(call, node))


