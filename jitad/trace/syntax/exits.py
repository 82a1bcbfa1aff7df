"""How do `return`, `break` and `continue` become structured?

Before anything is hooked, the tree is changed to an ordinary Python tree without early exits.
An exit sets a flag; what comes after a statement that may set one stands under `if not flag`.
Where one branch of an `if` always exits, what follows moves into the other branch instead, so
that the usual early return costs no flag.  CPython nests blocks no deeper than twenty: after some
of them it comes behind, under the flags, and so does what would stand under more `if not flag`.
A loop stops when one of its flags is set.

    _jr, _jv   the function has returned, and what       _jb1   loop 1 was left by break
    _jc1       this iteration of loop 1 was left by continue
    _jw1       loop 1, a `while`, goes on: its condition, as of the end of the body
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from jitad.trace.syntax.names import SCOPES, blocks, statements
from jitad.trace.syntax.nodes import LEAVES, children, copied, place_of

RETURNED, VALUE = "_jr", "_jv"

Flags = frozenset[str]
_NONE: Flags = frozenset()
_Out = TypeVar("_Out")


def lower_exits(node: ast.FunctionDef, most: int) -> None:
    """Change a function's body in place; nested functions are left for their own turn.

    What follows moves into at most so many branches, one in the other, and under so many flags.
    """
    returns = [n for n in statements(node.body) if isinstance(n, ast.Return)]
    early = [n for n in returns if n is not node.body[-1]]
    lower = _Lower(bool(early), most)
    if not early:
        node.body = lower.block(node.body)
        return
    end = node.body[-1]
    if not always_exits(node.body):
        falls_off = ast.Return(ast.copy_location(ast.Constant(None), end))
        node.body.append(_at(falls_off, end))
    body = lower.block(node.body)
    head = _at(_assign(RETURNED, False), node.body[0])
    unset = ast.Assign([ast.Name(VALUE, ast.Store())], ast.Name("_jU", ast.Load()))
    tail = _at(ast.Return(ast.Name(VALUE, ast.Load())), end)
    node.body = [head, _at(unset, node.body[0]), *body, tail]


def always_exits(stmts: list[ast.stmt]) -> bool:
    """True where control never comes to the end of these statements."""
    for s in stmts:
        match s:
            case ast.Return() | ast.Break() | ast.Continue() | ast.Raise():
                return True
            case ast.If() if always_exits(s.body) and always_exits(s.orelse):
                return True
            case ast.While(test=ast.Constant(value=x)) if x:
                if not any(isinstance(n, ast.Break) for n in _in_loop(s.body)):
                    return True
            case ast.Expr() if getattr(s, "raises", False):
                return True
            case ast.With() if always_exits(s.body):
                return False  # the context manager may swallow an exception
    return False


def only_truth(node: ast.expr) -> None:
    """Note that nothing but the truth of an expression matters: it is the test of an `if`."""
    match node:
        case ast.BoolOp():
            node.only_truth = True  # type: ignore[attr-defined]
            for v in node.values:
                only_truth(v)
        case ast.UnaryOp(op=ast.Not()):
            only_truth(node.operand)


# What neither ends anything nor holds a statement that may.
_SIMPLE = frozenset((ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Pass, ast.Assert))


class _Lower:
    def __init__(self, returns: bool, most: int) -> None:
        self.returns = returns
        self.most = most
        self.loops = 0
        self.loop: int = 0  # the innermost loop's number
        self.final = False  # in a `finally`, whose loop is around it
        self.depth = 0  # how often what follows has moved into a branch
        self.behind: list[ast.stmt] = []  # what was too deep
        self.guards = 0  # how many guards stand around what follows, and end where it does
        self.after: tuple[Flags, list[ast.stmt]] | None = None  # under more: its flags, and it

    def block(self, stmts: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for k, s in enumerate(stmts):
            if type(s) in _SIMPLE:
                out.append(s)
                continue
            rest = stmts[k + 1 :]
            match s:
                case ast.Return() if self.returns:
                    value = s.value or _at(ast.Constant(None), s)
                    out.append(_at(ast.Assign([ast.Name(VALUE, ast.Store())], value), s))
                    out.append(_at(_assign(RETURNED, True), s))
                    return out
                case ast.Break():
                    return [*out, _at(_assign(f"_jb{self.loop}", True), s), *self.instead(s)]
                case ast.Continue():
                    return [*out, _at(_assign(f"_jc{self.loop}", True), s), *self.instead(s)]
                case ast.Return() | ast.Raise():
                    return [*out, s]
                case ast.If() if self.escapes(s):
                    if always_exits(s.body) or always_exits(s.orelse):
                        return [*out, *self.moved(s, rest)]
            flags = self.escapes(s)
            out += self.apart(self.statement, s)
            if flags and self.depth == self.most:
                self.behind = rest
                return out
            if flags:
                return out + self.guard(flags, rest, s)
        return out

    def instead(self, s: ast.Break | ast.Continue) -> list[ast.stmt]:
        """In a `finally`: what was about to leave the `try` does not."""
        flags = [RETURNED] if self.returns else []
        if isinstance(s, ast.Continue):
            flags.append(f"_jb{self.loop}")
        return [_at(_assign(name, False), s) for name in flags] if self.final else []

    def moved(self, s: ast.If, rest: list[ast.stmt]) -> list[ast.stmt]:
        """An `if` one of whose branches always exits, and what comes after it."""
        depth = self.depth
        if depth == self.most:
            self.behind = [s, *rest]
            return []
        flags = self.escapes(s).union(*map(self.escapes, rest))
        exits, stays = (s.body, s.orelse) if always_exits(s.body) else (s.orelse, s.body)
        left = self.apart(self.block, exits)
        kept = self.apart(self.block, stays + rest, depth + 1)
        sides = (left, kept) if exits is s.body else (kept or [_at(ast.Pass(), s)], left)
        new = _at(ast.If(s.test, *sides), s)
        if depth or not self.behind:
            return [new]
        behind, self.behind = self.behind, []
        return [new, *self.guard(flags, behind, s)]

    def branch(self, s: ast.If, body: list[ast.stmt], orelse: list[ast.stmt]) -> ast.If:
        lowered = self.block(body) or [_at(ast.Pass(), s)]
        return _at(ast.If(s.test, lowered, self.block(orelse)), s)

    def apart(self, lower: Callable[[Any], _Out], part: Any, depth: int = 0) -> _Out:
        """A part lowered that nothing around it ends with."""
        around = self.depth, self.guards
        self.depth, self.guards = depth, 0
        out = lower(part)
        self.depth, self.guards = around
        return out

    def guard(self, flags: Flags, rest: list[ast.stmt], at: ast.AST) -> list[ast.stmt]:
        if not rest:
            return []
        if self.guards == self.most:
            self.after = flags, rest
            return []
        out: list[ast.stmt] = []
        depth, self.depth = self.depth, 0
        while rest:
            self.guards += 1
            inner = self.block(rest)
            self.guards -= 1
            out.append(_at(ast.If(_none_of(flags), inner, []), rest[0]))
            rest = []
            if self.after:
                flags = flags | self.after[0]
                if self.guards:
                    self.after = flags, self.after[1]
                else:
                    rest, self.after = self.after[1], None
        self.depth = depth
        return out

    def statement(self, s: ast.stmt) -> list[ast.stmt]:
        match s:
            case ast.If():
                return [self.branch(s, s.body, s.orelse)]
            case ast.For() | ast.While():
                return self.loop_statement(s)
            case ast.With():
                s.body = self.block(s.body)
            case ast.Try():
                flags = _NONE.union(*map(self.escapes, s.body))
                s.body = self.block(s.body)
                orelse = s.orelse
                s.orelse = self.guard(flags, orelse, s) if flags and orelse else self.block(orelse)
                for h in s.handlers:
                    h.body = self.block(h.body)
                final, self.final = self.final, True
                s.finalbody = self.block(s.finalbody)
                self.final = final
            case ast.Match():
                for c in s.cases:
                    c.body = self.block(c.body)
        return [s]

    def loop_statement(self, s: ast.For | ast.While) -> list[ast.stmt]:
        outer, final = self.loop, self.final
        self.final = False
        self.loops += 1
        n = self.loop = self.loops
        inside = list(_in_loop(s.body))
        broken, continued = f"_jb{n}", f"_jc{n}"
        stops: list[str] = []
        before: list[ast.stmt] = []
        if any(isinstance(x, ast.Break) for x in inside):
            stops.append(broken)
            before.append(_at(_assign(broken, False), s))
        if self.returns and any(isinstance(x, ast.Return) for x in statements(s.body)):
            stops.append(RETURNED)
        body = self.block(s.body) or [_at(ast.Pass(), s)]
        if any(isinstance(x, ast.Continue) for x in inside):
            body.insert(0, _at(_assign(continued, False), s))
        self.loop, self.final = outer, final
        orelse = s.orelse
        s.body, s.orelse = body, []
        if isinstance(s, ast.While):
            before.append(self.rotate(s, stops, n))
        s.stops = tuple(stops)  # type: ignore[union-attr]
        out: list[ast.stmt] = [*before, s]
        if orelse and stops:
            out += self.guard(frozenset(stops), orelse, s)
        else:
            out += self.block(orelse)
        return out

    def rotate(self, s: ast.While, stops: list[str], n: int) -> ast.stmt:
        """The condition is evaluated before the loop and at the end of its body, into a name."""
        test, go = s.test, f"_jw{n}"
        only_truth(test)
        s.test = _at(ast.Name(go, ast.Load()), test)

        def decide(value: ast.expr) -> ast.Assign:
            return _at(ast.Assign([ast.Name(go, ast.Store())], value), test)

        again = copied(test)
        if not stops:
            s.body.append(decide(again))
        elif isinstance(test, ast.Constant):
            s.body.append(decide(ast.BoolOp(ast.And(), [_none_of(frozenset(stops)), again])))
        else:
            stay = _none_of(frozenset(stops))
            s.body.append(_at(ast.If(stay, [decide(again)], [_at(_assign(go, False), test)]), test))
        return decide(test)

    def escapes(self, s: ast.stmt) -> Flags:
        """The flags that a statement may set for statements after it to look at."""
        flags: set[str] = set()
        if self.returns and any(isinstance(n, ast.Return) for n in statements([s])):
            flags.add(RETURNED)
        for n in _in_loop([s]):
            if isinstance(n, ast.Break):
                flags.add(f"_jb{self.loop}")
            elif isinstance(n, ast.Continue):
                flags.add(f"_jc{self.loop}")
        return frozenset(flags)


def leaves(stmts: list[ast.stmt]) -> bool:
    """May these statements end with another jump than their end?"""
    jumps = any(isinstance(n, (ast.Break, ast.Continue)) for n in _in_loop(stmts))
    return jumps or any(isinstance(n, ast.Return) for n in statements(stmts))


def _in_loop(stmts: list[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements whose `break` and `continue` mean the loop around these statements."""
    todo = list(stmts)
    while todo:
        s = todo.pop()
        yield s
        if isinstance(s, (ast.For, ast.While)):
            todo += s.orelse
        elif not isinstance(s, SCOPES):
            todo += blocks(s)


def _none_of(flags: Flags) -> ast.expr:
    names: list[ast.expr] = [ast.Name(f, ast.Load()) for f in sorted(flags)]
    some = names[0] if len(names) == 1 else ast.BoolOp(ast.Or(), names)
    return ast.UnaryOp(ast.Not(), some)


def _assign(name: str, value: bool) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value))


def _at(node: Any, place: ast.AST) -> Any:
    """The node and those inside it without a place of their own, put at a place.

    What is inside of a node that has a place has one, or gets that one in the end: a tree would
    be walked as many times as it is deep.
    """
    if node._attributes and "lineno" in node.__dict__:
        return node
    todo, where = [node], place_of(place)
    while todo:
        n = todo.pop()
        if n._attributes:
            n.__dict__.update(where)
        for child in children(n):
            has = child.__dict__
            if "lineno" in has:
                continue
            if type(child) in LEAVES:
                has.update(where)
            else:
                todo.append(child)
    return node
