"""How does `try` become statements that a trace can follow?

Before exits are lowered, what handles an exception becomes an ordinary `if`:

    try:                        _jx1 = None
        A                       with _jattempt:     # may end early, with the exception in _jx1
    except E as e:                  A
        H                       if _jx1 is not None:
    else:                           if catches(_jx1, E):
        B                               e = _jx1
                                        H
                                    else:
                                        raise _jx1
                                else:
                                    B

`finally` stays where it is, around an attempt of its own, since it runs however A ends; so does
`with`, which an exception that is not known leaves after its end.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from jitad.trace.syntax import names as of
from jitad.trace.syntax.exits import _at, leaves
from jitad.trace.syntax.hooked import hook
from jitad.trace.syntax.names import Attempt, Settled


def lower_handlers(node: ast.FunctionDef) -> None:
    """Change a function's body in place; nested functions are left for their own turn."""
    if any(isinstance(n, (ast.Try, ast.With)) for n in of.own(node.body)):
        node.body = _block(node.body, itertools.count(1))


def _block(stmts: list[ast.stmt], fresh: Iterator[int]) -> list[ast.stmt]:
    out: list[ast.stmt] = []
    for s in stmts:
        if not isinstance(s, (ast.FunctionDef, ast.ClassDef)):
            for field, value in ast.iter_fields(s):
                if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                    setattr(s, field, _block(value, fresh))
                elif isinstance(value, list) and value and hasattr(value[0], "body"):
                    for inner in value:  # the cases of a match, the handlers of a try
                        inner.body = _block(inner.body, fresh)
        match s:
            case ast.Try():
                out += _lowered(s, fresh)
            case ast.With():
                out += _within(s, fresh)
            case _:
                out.append(s)
    return out


def _within(s: ast.With, fresh: Iterator[int]) -> list[ast.stmt]:
    """The body of a `with`: exceptions that are known leave it inside, others after its end.

    There what is raised becomes what was swallowed.  `with a, b` is a `with` in a `with`.
    """
    if len(s.items) > 1:
        s.body = _within(_at(ast.With(s.items[1:], s.body), s), fresh)
        s.items = s.items[:1]
    raised = f"_jx{next(fresh)}"
    managers = [f"{raised}_{k}" for k in range(len(s.items))]
    kinds = _hooked("swallowed", *(ast.Name(name, ast.Load()) for name in managers))
    attempt = _at(Attempt(s.body, raised, kinds), s)
    for name, item in zip(managers, s.items, strict=True):
        target = ast.Name(name, ast.Store())
        item.context_expr = _at(ast.NamedExpr(target, item.context_expr), s)
    given = [ast.Name(name, ast.Load()) for name in managers]
    s.body = [attempt, _at(ast.Expr(_hooked("rethrow_known", raised, *given)), s)]
    given = [ast.Name(name, ast.Load()) for name in managers]
    after = ast.Assign([ast.Name(raised, ast.Store())], _hooked("rethrow_through", raised, *given))
    return [_at(_none(raised), s), s, _at(after, s), _at(Settled(attempt, raised), s)]


def _lowered(s: ast.Try, fresh: Iterator[int]) -> list[ast.stmt]:
    if s.finalbody:
        body = s.body
        if s.handlers:
            body = _lowered(_at(ast.Try(s.body, s.handlers, s.orelse, []), s), fresh)
        raised = f"_jx{next(fresh)}"
        # a `finally` that ends in a jump raises nothing any more
        every = ast.Tuple([ast.Name("_jBase", ast.Load())], ast.Load())
        attempt = _at(Attempt(body, raised, every if leaves(s.finalbody) else None), s)
        return [_at(_none(raised), s), _at(ast.Try([attempt], [], [], s.finalbody), s),
                _at(ast.Expr(_hooked("rethrow", raised)), s), _at(Settled(attempt), s)]  # fmt: skip
    raised = f"_jx{next(fresh)}"
    kinds: list[ast.expr] = [h.type or ast.Name("_jBase", ast.Load()) for h in s.handlers]
    attempt = Attempt(s.body, raised, ast.Tuple(kinds, ast.Load()))
    others = ast.Expr(_hooked("raise_", raised))
    others.raises = True  # type: ignore[attr-defined]  # as `exits` asks
    handled: list[ast.stmt] = [others]
    for h in reversed(s.handlers):
        body = [_Again(raised).visit(x) for x in h.body]
        if h.name:
            value = _hooked("thrown", raised)
            body.insert(0, _at(ast.Assign([ast.Name(h.name, ast.Store())], value), h))
        if h.type is None:
            handled = body
        else:
            handled = [_at(ast.If(_hooked("catches", raised, h.type), body, handled), h)]
    asked = ast.Compare(ast.Name(raised, ast.Load()), [ast.IsNot()], [ast.Constant(None)])
    orelse = [_at(Settled(attempt), s), *s.orelse]
    attempt.asked = asked
    return [_at(_none(raised), s), _at(attempt, s), _at(ast.If(asked, handled, orelse), s)]


class _Again(ast.NodeTransformer):
    """A `raise` of nothing raises what was caught."""

    def __init__(self, raised: str) -> None:
        self.raised = raised

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        return _at(ast.Expr(_hooked("raise_", self.raised)), node) if node.exc is None else node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return node


def _none(name: str) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None))


def _hooked(name: str, first: str | ast.expr, *rest: ast.expr) -> ast.expr:
    """A call of a hook, which the rewriting leaves as it is, but for the arguments."""
    return hook(name, ast.Name(first, ast.Load()) if isinstance(first, str) else first, *rest)
