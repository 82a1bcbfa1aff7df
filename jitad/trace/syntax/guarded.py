"""How do guards in a `match`, and values for patterns, become conditions that may be traced?

CPython asks a guard for its truth.  So a case with a guard ends a `match`: inside it the guard is
an `if`, and the cases that follow are a `match` of their own, for subjects that no case has taken.
A case that is a value, or one of several, is one of anything with a comparison for a guard; where
all are, the `match` is an `if` with `elif`s.  Long chains of those are cut: CPython nests blocks
no deeper than twenty.
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
            equal = [ast.Compare(ast.Name(subject, ast.Load()), [how], [v])
                     for how, v in _values(c.pattern)]  # fmt: skip
            if equal:
                test = equal[0] if len(equal) == 1 else ast.BoolOp(ast.Or(), list(equal))
                c.guard = ast.BoolOp(ast.And(), [test, c.guard]) if c.guard else test
                c.pattern = ast.copy_location(ast.MatchAs(), c.pattern)
        if all(c.guard is None for c in s.cases):
            return s
        self.count += 1
        if all(isinstance(c.pattern, ast.MatchAs) and not c.pattern.pattern for c in s.cases):
            chain: list[ast.stmt] = []
            for c in reversed(s.cases):
                chain = [ast.If(c.guard, c.body, chain)] if c.guard else c.body
                if (name := c.pattern.name) is not None:  # type: ignore[attr-defined]
                    here = ast.Assign([ast.Name(name, ast.Store())], ast.Name(subject, ast.Load()))
                    chain = [here, *chain]
            kept = ast.Assign([ast.Name(subject, ast.Store())], s.subject)
            return _placed([kept, *self._cut(chain)], s)
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
        return _placed(out, s)

    def visit_If(self, s: ast.If) -> Any:
        self.generic_visit(s)
        return _placed(self._cut([s]), s)

    def _cut(self, chain: list[ast.stmt]) -> list[ast.stmt]:
        """The same, where what would be too deep comes after, if nothing before was chosen."""
        last, depth = chain[-1], 1
        while isinstance(last, ast.If) and len(last.orelse) == 1 and depth < MAX_DEPTH:
            last, depth = last.orelse[-1], depth + 1
        if depth < MAX_DEPTH or not isinstance(last, ast.If) or not last.orelse:
            return chain
        self.count += 1
        passed = f"_jd{self.count}"
        rest = last.orelse
        last.orelse = [ast.Assign([ast.Name(passed, ast.Store())], ast.Constant(True))]
        return [
            ast.Assign([ast.Name(passed, ast.Store())], ast.Constant(False)),
            *chain,
            ast.If(ast.Name(passed, ast.Load()), self._cut(rest), []),
        ]


MAX_DEPTH = 8  # of `elif`s, each in a block of its own


def _placed(statements: list[ast.stmt], at: ast.stmt) -> list[ast.stmt]:
    """New statements, on the line of the old one."""
    for new in statements:
        for n in ast.walk(new):
            if not hasattr(n, "lineno") and isinstance(n, (ast.stmt, ast.expr)):
                ast.copy_location(n, at)
    return statements


def _values(pattern: ast.pattern) -> list[tuple[ast.cmpop, ast.expr]]:
    """The values that the subject must be one of, and how it is compared, if that is all."""
    match pattern:
        case ast.MatchValue(value=v):
            return [(ast.Eq(), v)]
        case ast.MatchSingleton(value=v):
            return [(ast.Is(), ast.Constant(v))]
        case ast.MatchOr(patterns=parts) if all(map(_values, parts)):
            return [v for p in parts for v in _values(p)]
    return []
