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

from jitad.trace.syntax.exits import _assign


def lower_guards(node: ast.FunctionDef, most: int) -> None:
    """Change a function's body in place; nested functions are left for their own turn.

    At most so many `elif`s stay one in the other.
    """
    lower = _Lower(most)
    node.body = [new for s in node.body for new in lower.statements(s)]


class _Lower(ast.NodeTransformer):
    def __init__(self, most: int) -> None:
        self.most = most
        self.count = 0

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
            if isinstance(chain[-1], ast.If):
                chain[-1:] = self._cut(chain[-1])
            return _placed([kept, *chain], s)
        groups: list[list[ast.match_case]] = [[]]
        for c in s.cases:
            took = _assign(taken, True)
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
            _assign(taken, False),
            *after,
        ]
        return _placed(out, s)

    def visit_If(self, s: ast.If) -> Any:
        for part in _chain(s):
            part.body = [new for inner in part.body for new in self.statements(inner)]
        part.orelse = [new for inner in part.orelse for new in self.statements(inner)]
        return _placed(self._cut(s), s)

    def _cut(self, s: ast.If) -> list[ast.stmt]:
        """The same in pieces, one behind the other, each if nothing before was chosen."""
        chain = _chain(s)
        ends = chain[self.most - 1 :: self.most]
        if ends and not ends[-1].orelse:
            ends.pop()
        if not ends:
            return [s]
        self.count += 1
        passed = f"_jd{self.count}"
        out: list[ast.stmt] = [_assign(passed, False), s]
        for end in ends:
            rest, end.orelse = end.orelse, [_assign(passed, True)]
            part = [_assign(passed, False), *rest] if end is not ends[-1] else rest
            out.append(ast.If(ast.Name(passed, ast.Load()), part, []))
        return out


def _chain(s: ast.If) -> list[ast.If]:
    """An `if` and its `elif`s."""
    chain = [s]
    while len(chain[-1].orelse) == 1 and isinstance(after := chain[-1].orelse[0], ast.If):
        chain.append(after)
    return chain


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
