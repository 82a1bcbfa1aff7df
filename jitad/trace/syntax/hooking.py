"""What does the rewritten tree of a function look like?

Every operation that may meet a traced value becomes a call of a hook; bodies stay where they are,
so scopes, cells and tracebacks stay those of the user.

    if c: A             _js1 = _jh_if_(c, (x, y), _jS[0])
    else: B             if _js1.then:
                            with _js1:
                                A
                                _js1.leave((x, y))
                            x, y = _js1.state
                        if _js1.orelse:
                            with _js1:
                                B
                                _js1.leave((x, y))
                        x, y = _js1.joined()

    for t in it: A      _js2 = _jh_for_(it, (x, y), _jS[1])
                        for _ji2, (x, y) in _js2:
                            with _js2:
                                t = _ji2
                                A
                                _js2.leave((x, y))
                        x, y = _js2.joined()

The `with` closes a block of the tape; exceptions become a `check` under a traced condition.  x, y
are the names assigned inside and live afterwards; unbound ones come from `locals()`, as `_jU`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from jitad.immutable import immutable
from jitad.tape.ir import Pos
from jitad.trace.syntax import names as of
from jitad.trace.syntax.bindings import lower_bindings
from jitad.trace.syntax.exits import _at, lower_exits, only_truth
from jitad.trace.syntax.expressions import Expressions, _later, _load, _store
from jitad.trace.syntax.guarded import lower_guards
from jitad.trace.syntax.handlers import lower_handlers
from jitad.trace.syntax.hooked import hook, hook_of
from jitad.trace.syntax.matching import with_hooks
from jitad.trace.syntax.names import Attempt, Liveness, Settled
from jitad.trace.syntax.swapping import exchanged


@immutable
class Site:
    """One `if` or loop of the user's: where it is, which names it hands on, what stops it."""

    pos: Pos
    names: tuple[str, ...]
    stops: tuple[int, ...] = ()  # positions in names of the flags that end the loop
    live: frozenset[str] = frozenset()  # names read afterwards
    waits: bool = False  # a generator may be suspended inside
    bound: frozenset[str] = frozenset()  # names that certainly have a value afterwards


class Unit:
    """What the functions of one rewritten definition share."""

    def __init__(self, file: str, outside: frozenset[str], most: int, typed: dict[str, Any]):
        self.file = file
        self.typed = typed  # what numbers become that variables of the outermost are bound to
        self.most = most  # of branches that need not be one in the other, as deep as they may be
        self.outside = outside  # names in the closure of the outermost function
        self.sites: list[Any] = []  # and the types of variables
        self.count = 0

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"_j{prefix}{self.count}"


class Hooking(Expressions):
    """Rewrites one function; nested ones get a Hooking of their own."""

    def __init__(self, unit: Unit, node: Any, around: Hooking | None = None) -> None:
        self.unit = unit
        self.node = node
        self.around = around
        self.plain = False  # without branches, and names that expressions bind
        inner: list[ast.AST] = []  # definitions in it
        if not isinstance(node, ast.Lambda):
            kinds = {type(n) for n in of.own(node.body)}
            self.plain = kinds.isdisjoint(_LOWERED)
            if ast.AnnAssign in kinds:
                of.drop_declarations(node.body)
            if not self.plain:
                lower_handlers(node)
                lower_guards(node, unit.most)
            lower_exits(node, unit.most)
            if not self.plain:
                lower_bindings(node)
            if not (self.plain and kinds.isdisjoint(of.SCOPES)):
                inner = of.definitions(node.body)
            self.live = Liveness(node.body, inner)
        self.locals = of.locals_of(node)
        self.nonlocals = of.declared(node, ast.Nonlocal)
        self.globals = of.declared(node, ast.Global)
        # variables in cells: their writes are noted as places, not handed on
        self.shared = of.shared(node, inner) & self.locals
        self.bound = set(of.parameters(node))
        self.sessions: list[str] = []

    def run(self) -> Any:
        if isinstance(self.node, ast.Lambda):
            self.node.body = self.visit(self.node.body)
        else:
            cells = sorted(self.live.always & self.locals)
            self.node.body = self.block(self.node.body)
            if cells:
                own = hook("own", _later(ast.Tuple([_load(n) for n in cells], ast.Load())))
                self.node.body.insert(0, _at(ast.Expr(own), self.node.body[0]))
        return self.node

    def is_free(self, name: str) -> bool:
        """True of names that live in a cell of a function around this one."""
        if name in self.locals or name in self.globals:
            return False
        at = self.around
        while at is not None:
            if name in at.locals:
                return True
            at = at.around
        return name in self.unit.outside

    # -- statements ---------------------------------------------------------------------------

    def block(self, stmts: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for s in stmts:
            new = self.visit(s)
            for n in new if isinstance(new, list) else [new]:
                out.append(_at(n, s))
            if isinstance(s, _STRAIGHT):
                parts = s.targets if type(s) is ast.Assign and self.plain else [s]
                self.bound.update(of.assigned(parts))
            if isinstance(s, ast.Delete):
                self.bound -= _deleted(s)
        return out

    def site(self, s: ast.AST, names: list[str], stops: tuple[str, ...], live: Any) -> ast.expr:
        pos = Pos(self.unit.file, s.lineno, s.col_offset)  # type: ignore[attr-defined]
        at = tuple(k for k, n in enumerate(names) if n in stops)
        waits = any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in of.own([s]))
        bound = frozenset(self.bound)
        self.unit.sites.append(Site(pos, tuple(names), at, frozenset(live), waits, bound))
        return ast.Subscript(
            _load("_jS"), ast.Constant(len(self.unit.sites) - 1), ast.Load()
        )

    def state(self, names: list[str]) -> ast.expr:
        if all(n in self.bound for n in names):
            return ast.Tuple([_load(n) for n in names], ast.Load())
        listed = ast.Tuple([ast.Constant(n) for n in names], ast.Load())
        return hook("pick_locals", ast.Call(_load("_jlocals"), [], []), listed)

    def hand_back(self, names: list[str], value: ast.expr, bound: set[str]) -> list[ast.stmt]:
        if not names:
            return [ast.Expr(value)]
        target = ast.Tuple([_store(n) for n in names], ast.Store())
        return [ast.Assign([target], value), *self.unset(names, bound)]

    def unset(self, names: list[str], bound: set[str]) -> list[ast.stmt]:
        """Unbound names become unbound again."""
        return [
            ast.If(
                ast.Compare(_load(n), [ast.Is()], [_load("_jU")]),
                [ast.Delete([ast.Name(n, ast.Del())])],
                [],
            )
            for n in names
            if n not in bound
        ]

    def changed(self, nodes: Sequence[ast.AST]) -> list[str]:
        return [n for n in of.assigned(nodes) if n in self.locals and n not in self.shared]

    def visit_If(self, s: ast.If) -> list[ast.stmt]:
        after, into = self.live.after[s], self.live.orelse[s]
        names = [n for n in self.changed([*s.body, *s.orelse]) if n in after or n in into]
        only_truth(s.test)
        test = self.visit(s.test)
        session = self.unit.fresh("s")
        at_start = set(self.bound)
        at = len(self.unit.sites)
        start = ast.Assign(
            [_store(session)],
            hook("if_", test, self.state(names), self.site(s, names, (), after)),
        )
        state = ast.Attribute(_load(session), "state", ast.Load())
        out: list[ast.stmt] = [start]
        then = [self.inside(session, s.body, names)]
        bound_then = self.bound if not _raises(s.body) else None
        self.bound = set(at_start)
        if s.orelse:
            then += self.hand_back(names, state, at_start) if names else []
        out.append(ast.If(ast.Attribute(_load(session), "then", ast.Load()), then, []))
        if s.orelse:
            orelse = [self.inside(session, s.orelse, names)]
            out.append(ast.If(ast.Attribute(_load(session), "orelse", ast.Load()), orelse, []))
        bound_else = self.bound if not _raises(s.orelse) else None
        if bound_then is None or bound_else is None:
            self.bound = bound_then or bound_else or at_start
        else:
            self.bound = bound_then & bound_else
        self.unit.sites[at] = replace(self.unit.sites[at], bound=frozenset(self.bound))
        joined = ast.Call(ast.Attribute(_load(session), "joined", ast.Load()), [], [])
        return out + self.hand_back(names, joined, self.bound)

    def inside(self, session: str, body: list[ast.stmt], names: list[str]) -> ast.stmt:
        self.sessions.append(session)
        stmts = self.block(body)
        self.sessions.pop()
        leave = ast.Attribute(_load(session), "leave", ast.Load())
        stmts.append(ast.Expr(ast.Call(leave, [self.state(names)], [])))
        return ast.With([ast.withitem(_load(session), None)], stmts)

    def visit_For(self, s: ast.For) -> list[ast.stmt]:
        item = self.unit.fresh("i")
        arrive = _at(ast.Assign([s.target], _load(item)), s.target)
        names = [
            n for n in self.changed([s.target, *s.body]) if n in self.live.head[s]
        ]
        return self.loop(s, "for_", [self.iterated(s.iter)], [arrive, *s.body], names, item)

    def visit_While(self, s: ast.While) -> list[ast.stmt]:
        go = s.test.id  # type: ignore[attr-defined]  # a name, since exits were lowered
        names = [n for n in self.changed(s.body) if n in self.live.head[s] and n != go]
        return self.loop(s, "while_", [], s.body, [go, *names], None)

    def loop(
        self, s: Any, kind: str, args: list[ast.expr], body: list[ast.stmt],
        names: list[str], item: str | None,
    ) -> list[ast.stmt]:  # fmt: skip
        session = self.unit.fresh("s")
        site = self.site(s, names, s.stops, self.live.after[s])
        start = ast.Assign([_store(session)], hook(kind, *args, self.state(names), site))
        at_start = set(self.bound)
        taken: ast.expr = ast.Tuple([_store(n) for n in names], ast.Store())
        if not names:
            taken = _store(self.unit.fresh("t"))
        target = taken if item is None else ast.Tuple([_store(item), taken], ast.Store())
        inner = [*self.unset(names, at_start), self.inside(session, body, names)]
        self.bound = at_start
        run = ast.For(target, _load(session), inner, [])
        joined = ast.Call(ast.Attribute(_load(session), "joined", ast.Load()), [], [])
        return [start, run, *self.hand_back(names, joined, at_start)]

    def visit_Attempt(self, s: Attempt) -> list[ast.stmt]:
        after = self.live.after[s]
        names = [n for n in self.changed(s.body) if n in after]
        session = self.unit.fresh("s")
        kinds = _later(self.visit(s.items[0].context_expr))
        site = self.site(s, names, (), self.live.where_raised(s, names))
        start = ast.Assign([_store(session)], hook("attempt", kinds, self.state(names), site))
        at_start = set(self.bound)
        body = self.inside(session, s.body, names)
        certain = self.bound - at_start
        s.certain = [n for n in of.assigned(s.body) if n in certain and n in self.locals]
        self.bound = at_start | {s.raised}
        joined = ast.Call(ast.Attribute(_load(session), "joined", ast.Load()), [], [])
        return [start, body, *self.hand_back([s.raised, *names], joined, self.bound)]

    def visit_Settled(self, s: Settled) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for n in s.attempt.certain:
            out += [*self.noted(n), ast.Assign([_store(n)], hook("surely", _load(n)))]
        if s.swallowed and out:
            none = ast.Compare(_load(s.swallowed), [ast.Is()], [ast.Constant(None)])
            return [ast.If(none, out, [])]
        self.bound |= set(s.attempt.certain)
        return out or [ast.Pass()]

    def visit_Try(self, s: ast.Try) -> ast.stmt:
        before = set(self.bound)
        s.body = self.block(s.body)
        after, self.bound = self.bound, before
        s.finalbody = self.block(s.finalbody)
        self.bound |= after
        return s

    def visit_With(self, s: ast.With) -> list[ast.stmt]:
        for item in s.items:
            item.context_expr = hook("entering", self.visit(item.context_expr))
        stored = of.assigned(s.items)
        self.bound |= set(stored)
        s.body = self.block(s.body)
        return [*self.noted(*stored), s]

    def visit_Import(self, s: ast.Import | ast.ImportFrom) -> list[ast.stmt]:
        return [*self.noted(*of.assigned([s])), s]

    def visit_ImportFrom(self, s: ast.ImportFrom) -> list[ast.stmt]:
        out = self.visit_Import(s)
        for a in s.names:
            name, given = a.asname or a.name, (a.name, s.module or "", s.level)
            found = hook("imported", _load(name), *(ast.Constant(v) for v in given))
            out.append(_at(ast.Assign([_store(name)], found), s))
        return out

    def visit_Match(self, s: ast.Match) -> list[ast.stmt]:
        before = set(self.bound)
        classes, bound = with_hooks(s, self.visit, self.unit.fresh)
        for c in s.cases:
            self.bound = before | set(of.assigned([c.pattern]))
            c.guard = self.visit(c.guard) if c.guard else None
            c.body = [*bound(c), *self.block(c.body)]
        self.bound = before
        return [*self.noted(*of.assigned([c.pattern for c in s.cases])), *classes, s]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> list[ast.stmt]:
        self.around_body(node)
        Hooking(self.unit, node, self).run()
        return [*self.noted(node.name), node]

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        self.around_body(node)
        return Hooking(self.unit, node, self).run()

    def around_body(self, node: Any) -> None:
        node.args.defaults = [self.visit(d) for d in node.args.defaults]
        node.args.kw_defaults = [d and self.visit(d) for d in node.args.kw_defaults]
        if not isinstance(node, ast.Lambda):
            self.decorated(node)

    def decorated(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        node.decorator_list = [hook("decorating", self.visit(d)) for d in node.decorator_list]

    def visit_ClassDef(self, node: ast.ClassDef) -> list[ast.stmt]:
        self.decorated(node)
        node.bases = [self.visit(b) for b in node.bases]
        around = self.locals, self.bound
        for s in node.body:  # run as it is, but for the values that it reads
            if isinstance(s, (ast.Assign, ast.AnnAssign)) and s.value is not None:
                s.value = self.visit(s.value)
            own = set(of.assigned([s]))
            self.locals, self.bound = self.locals | own, self.bound | own
        self.locals, self.bound = around  # methods don't see those of the class
        for s in node.body:
            if isinstance(s, ast.FunctionDef):
                Hooking(self.unit, of.method(s), self).run()
        return [*self.noted(node.name), node]

    def visit_Assert(self, s: ast.Assert) -> ast.stmt:
        text = [_later(self.visit(s.msg))] if s.msg else []
        return ast.Expr(hook("assert_", self.visit(s.test), *text))

    def visit_Raise(self, s: ast.Raise) -> ast.stmt:
        s.exc = self.visit(s.exc) if s.exc else None
        s.cause = hook("cause", self.visit(s.cause)) if s.cause else None
        return s

    def visit_Expr(self, s: ast.Expr) -> ast.stmt:
        match s.value:
            case ast.Call(func=ast.Attribute(value=owner, attr="append"),
                          args=[ast.expr() as item], keywords=[]):  # fmt: skip
                if not isinstance(item, ast.Starred):
                    target = self.visit(owner)
                    if hook_of(target) in ("get_attr", "glob", "free"):
                        target.args.append(ast.Constant(False))
                    s.value = _at(hook("append", target, self.visit(item)), s.value)
                    return s
        s.value = self.visit(s.value)
        return s

    # -- stores -------------------------------------------------------------------------------

    def visit_Assign(self, s: ast.Assign) -> list[ast.stmt]:
        if found := exchanged(s):
            return [ast.Expr(hook("swap", *map(self.index, found)))]
        value = self.visit(s.value)
        if len(s.targets) == 1:
            return self.assign(s.targets[0], value)
        temporary = self.unit.fresh("t")
        parts = (part for t in s.targets for part in self.assign(t, _load(temporary)))
        return [ast.Assign([_store(temporary)], value), *parts]

    def visit_AnnAssign(self, s: ast.AnnAssign) -> list[ast.stmt]:
        if s.value is None:
            return [ast.Pass()]
        return self.assign(s.target, self.visit(s.value))

    def assign(self, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        match target:
            case ast.Name(id=name):
                return self.store(name, target, value)
            case ast.Attribute():
                owner = self.visit(target.value)
                return [ast.Expr(hook("set_attr", value, owner, ast.Constant(target.attr)))]
            case ast.Subscript():
                owner, index = self.visit(target.value), self.index(target.slice)
                return [ast.Expr(hook("set_item", value, owner, index))]
            case ast.Tuple() | ast.List():
                temporaries = [self.unit.fresh("t") for _ in target.elts]
                parts: list[ast.expr] = [
                    ast.Starred(_store(t), ast.Store()) if isinstance(e, ast.Starred) else _store(t)
                    for t, e in zip(temporaries, target.elts, strict=True)
                ]
                star = [k for k, e in enumerate(target.elts) if isinstance(e, ast.Starred)]
                around: Any = (star[0], len(parts) - 1 - star[0]) if star else len(parts)
                found = hook("unpack", value, ast.Constant(around))
                out: list[ast.stmt] = [ast.Assign([ast.Tuple(parts, ast.Store())], found)]
                for t, e in zip(temporaries, target.elts, strict=True):
                    out += self.assign(e.value if isinstance(e, ast.Starred) else e, _load(t))
                return out
        raise AssertionError(ast.dump(target))

    def store(self, name: str, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        note = self.noted(name)
        if name in self.unit.typed and self.around is None:
            self.unit.sites.append(self.unit.typed[name])
            kind = ast.Subscript(_load("_jS"), ast.Constant(len(self.unit.sites) - 1), ast.Load())
            value = _at(hook("call", kind, value), value)
        if _makes(value):
            value = _at(hook("named", ast.Constant(name), value), value)
        if not note:
            return [ast.Assign([target], value)]
        t = self.unit.fresh("t")
        return [ast.Assign([_store(t)], value), *note, ast.Assign([target], _load(t))]

    def noted(self, *names: str) -> list[ast.stmt]:
        """Writes to globals and to variables in cells are noted first."""
        out: list[ast.stmt] = []
        for name in names:
            if name in self.globals:
                out.append(ast.Expr(hook("note_global", ast.Constant(name))))
            elif name in self.nonlocals or name in self.shared:
                out.append(ast.Expr(hook("note_cell", _later(_load(name)))))
        return out

    def visit_AugAssign(self, s: ast.AugAssign) -> list[ast.stmt]:
        operator = "I" + type(s.op).__name__
        match s.target:
            case ast.Name(id=name):
                present = _at(self.visit(_at(_load(name), s.target)), s)
                changed = hook(operator, present, self.visit(s.value))
                return self.store(name, s.target, _at(changed, s))
            case ast.Attribute() as target:
                return self.update(s, operator, target.value, ast.Constant(target.attr), "attr")
            case ast.Subscript() as target:
                return self.update(s, operator, target.value, self.index(target.slice), "item")
        raise AssertionError

    def update(
        self, s: ast.AugAssign, operator: str, owner: ast.expr, part: ast.expr, kind: str
    ) -> list[ast.stmt]:
        o, p = self.unit.fresh("t"), self.unit.fresh("t")
        present = hook("get_" + kind, _load(o), _load(p))
        changed = hook(operator, present, self.visit(s.value))
        return [
            ast.Assign([_store(o)], self.visit(owner)),
            ast.Assign([_store(p)], part),
            ast.Expr(hook("set_" + kind, changed, _load(o), _load(p))),
        ]

    def visit_Delete(self, s: ast.Delete) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for t in s.targets:
            match t:
                case ast.Attribute():
                    name = ast.Constant(t.attr)
                    out.append(ast.Expr(hook("del_attr", self.visit(t.value), name)))
                case ast.Subscript():
                    index = self.index(t.slice)
                    out.append(ast.Expr(hook("del_item", self.visit(t.value), index)))
                case ast.Name(id=name):
                    out += [*self.noted(name), ast.Delete([t])]
        return out


# Of these, some are lowered before they are hooked.
_LOWERED = frozenset((ast.If, ast.Try, ast.With, ast.Match, ast.NamedExpr))
_STRAIGHT = (
    ast.Assign, ast.AnnAssign, ast.AugAssign, ast.FunctionDef, ast.ClassDef, ast.Import,
    ast.ImportFrom,
)  # fmt: skip


def _makes(value: ast.expr) -> bool:
    """May the expression be a new value, without a name yet?"""
    if type(value) is ast.Name:
        return value.id.startswith("_j")
    return hook_of(value) not in ("", "glob", "free", "get_attr")


def _deleted(s: ast.stmt) -> set[str]:
    if not isinstance(s, ast.Delete):
        return set()
    return {t.id for t in s.targets if isinstance(t, ast.Name)}


def _raises(stmts: list[ast.stmt]) -> bool:
    """True where the lowered statements end in a raise: what they bind does not matter."""
    return bool(stmts) and isinstance(stmts[-1], ast.Raise)
