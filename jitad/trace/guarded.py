"""How do guards in a `match`, and numbers for patterns, become conditions that may be traced?

CPython asks a guard for its truth.  So a case with a guard ends a `match`: inside it the guard is
an `if`, and the cases that follow are a `match` of their own, for subjects that no case has taken.
A case that is a number, or one of several, is one of anything with a comparison for a guard.
"""

from __future__ import annotations

import ast
from typing import Any


def lower_guards(node: ast.FunctionDef) -> None:
    """Change a function's body in place; nested functions are left for their own turn."""
    lower = _Lower()
    node.body = [new for s in node.body for new in lower.statements(s)]


class _Lower(ast.NodeTransformer):
    count = 0

    def statements(self, s: ast.stmt) -> list[ast.stmt]:
        new = self.visit(s)
        return new if isinstance(new, list) else [new]

    def _left_alone(self, node: Any) -> Any:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _left_alone

    def visit_Match(self, s: ast.Match) -> Any:
        self.generic_visit(s)
        subject, taken = f"_jm{self.count}", f"_jd{self.count}"
        for c in s.cases:
            equal = [ast.Compare(ast.Name(subject, ast.Load()), [ast.Eq()], [v])
                     for v in _numbers(c.pattern)]  # fmt: skip
            if equal:
                test = equal[0] if len(equal) == 1 else ast.BoolOp(ast.Or(), list(equal))
                c.guard = ast.BoolOp(ast.And(), [test, c.guard]) if c.guard else test
                c.pattern = ast.copy_location(ast.MatchAs(), c.pattern)
        if all(c.guard is None for c in s.cases):
            return s
        self.count += 1
        groups: list[list[ast.match_case]] = [[]]
        for c in s.cases:
            took = ast.Assign([ast.Name(taken, ast.Store())], ast.Constant(True))
            groups[-1].append(c)
            c.body = [took, *c.body]
            if c.guard is not None:
                c.body, c.guard = [ast.If(c.guard, c.body, [])], None
                groups.append([])
        after: list[ast.stmt] = []
        for cases in reversed([g for g in groups if g]):
            part: list[ast.stmt] = [ast.Match(ast.Name(subject, ast.Load()), cases)]
            if after:
                free = ast.UnaryOp(ast.Not(), ast.Name(taken, ast.Load()))
                part.append(ast.If(free, after, []))
            after = part
        out = [
            ast.Assign([ast.Name(subject, ast.Store())], s.subject),
            ast.Assign([ast.Name(taken, ast.Store())], ast.Constant(False)),
            *after,
        ]
        for new in out:
            ast.copy_location(new, s)
            for n in ast.walk(new):
                if not hasattr(n, "lineno") and isinstance(n, (ast.stmt, ast.expr)):
                    ast.copy_location(n, s)
        return out


def _numbers(pattern: ast.pattern) -> list[ast.expr]:
    """The numbers of which the subject must be one, if that is all that is asked."""
    match pattern:
        case ast.MatchValue(value=ast.Constant(value=int() | float()) as v):
            return [v]
        case ast.MatchValue(value=ast.UnaryOp(operand=ast.Constant()) as v):
            return [v]
        case ast.MatchOr(patterns=parts) if all(map(_numbers, parts)):
            return [v for p in parts for v in _numbers(p)]
    return []
