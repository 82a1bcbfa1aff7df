"""Which names does a piece of a function assign, read, capture, and which are live after it?

Works on trees without early exits (`exits.py`) and without comprehensions (`comprehensions.py`),
where control only flows down, around loops, and into handlers.  Liveness decides what branches
join and loops carry: a temporary that is always assigned before it is read is neither.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from jitad.trace.syntax.nodes import LEAVES, below, children


class Attempt(ast.With):
    """The body of a `try`: it may end early, with the exception in a variable."""

    def __init__(self, body: list[ast.stmt], raised: str, kinds: ast.expr | None) -> None:
        none: ast.expr = ast.Tuple([], ast.Load())
        super().__init__(items=[ast.withitem(kinds or none, None)], body=body)
        self.raised = raised
        self.certain: list[str] = []  # names that have a value where nothing was raised
        self.asked: ast.expr | None = None  # of the `if` after it: was something?


class Settled(ast.Pass):
    """Here nothing was raised in an attempt, or what this variable holds."""

    def __init__(self, attempt: Attempt, swallowed: str = "") -> None:
        super().__init__()
        self.attempt, self.swallowed = attempt, swallowed


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
SCOPES = (*_FUNCTIONS, ast.ClassDef)


def statements(stmts: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """These statements and all inside them that belong to the same scope; no expressions."""
    todo = list(stmts)
    while todo:
        s = todo.pop()
        yield s
        if not isinstance(s, SCOPES):
            todo += blocks(s)


def blocks(s: ast.stmt) -> list[ast.stmt]:
    """The statements right below a statement."""
    return [inner for block in _lists(s) for inner in block]


def _lists(s: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        yield getattr(s, name, [])
    for name in ("handlers", "cases"):
        for part in getattr(s, name, ()):
            yield part.body


def drop_declarations(stmts: list[ast.stmt]) -> None:
    """`x: float` alone binds nothing: a `pass` takes its place."""
    for k, s in enumerate(stmts):
        if type(s) is ast.AnnAssign and s.value is None and type(s.target) is ast.Name:
            stmts[k] = ast.copy_location(ast.Pass(), s)
        elif not isinstance(s, SCOPES):
            for block in _lists(s):
                drop_declarations(block)


def assigned(nodes: Iterable[ast.AST]) -> dict[str, None]:
    """Names that these nodes bind in their own scope, in order."""
    out: dict[str, None] = {}
    todo = list(nodes)[::-1]
    while todo:
        node = todo.pop()
        kind = type(node)
        if kind is ast.Name:
            if type(node.ctx) is not ast.Load:  # type: ignore[attr-defined]
                out[node.id] = None  # type: ignore[attr-defined]
            continue
        if kind is ast.Constant:
            continue
        if kind in _BINDERS:
            out.update(dict.fromkeys(_bound_by(node)))
        todo += (_outside_body(node) if kind in SCOPES else children(node))[::-1]
    return out


_BINDERS = frozenset((*SCOPES, ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping,
                      ast.alias))  # fmt: skip


def _bound_by(node: ast.AST) -> list[str]:
    """The name that a node binds by a text of its own, if any."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            return [name]
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            return [name]
        case ast.alias():
            return [(node.asname or node.name).split(".")[0]]
    return []


def _outside_body(node: ast.AST) -> list[ast.AST]:
    """What of a nested definition is evaluated where it stands."""
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords]
    a = node.args  # type: ignore[attr-defined]
    decorators = getattr(node, "decorator_list", [])
    return [*decorators, *a.defaults, *(d for d in a.kw_defaults if d is not None)]


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[str]:
    a = node.args
    names = [x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    return names + [x.arg for x in (a.vararg, a.kwarg) if x is not None]


def method(node: ast.FunctionDef) -> ast.FunctionDef:
    """One of a class in the rewritten function, marked as such."""
    node.in_class = True  # type: ignore[attr-defined]
    return node


def declared(
    node: ast.AST, *kinds: type[ast.Global] | type[ast.Nonlocal]
) -> set[str]:
    """Names that the function declares `global` or `nonlocal`."""
    body = node.body if isinstance(node.body, list) else []  # type: ignore[attr-defined]
    return {name for n in statements(body) if isinstance(n, kinds) for name in n.names}


def own(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All nodes that belong to this scope; of nested definitions only the definition itself."""
    todo = list(nodes)
    while todo:
        node = todo.pop()
        yield node
        kind = type(node)
        if kind not in LEAVES:
            todo += _outside_body(node) if kind in SCOPES else children(node)


def definitions(nodes: Iterable[ast.AST]) -> list[ast.AST]:
    """The nested definitions that belong to this scope."""
    out: list[ast.AST] = []
    todo = list(nodes)
    while todo:
        node = todo.pop()
        kind = type(node)
        if kind in SCOPES:
            out.append(node)
            todo += _outside_body(node)
        elif kind not in LEAVES:
            todo += children(node)
    return out


def locals_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    body = node.body if isinstance(node.body, list) else [node.body]
    names = set(assigned(body)) | set(parameters(node))
    return names - declared(node, ast.Global, ast.Nonlocal)


def free_names(node: ast.AST) -> set[str]:
    """Names that a nested definition takes from around it (globals among them)."""
    if isinstance(node, ast.ClassDef):
        mine, body = set(), node.body
    else:
        mine = locals_of(node)  # type: ignore[arg-type]
        body = node.body if isinstance(node.body, list) else [node.body]  # type: ignore[attr-defined]
    used: set[str] = set()
    for n in own(body):
        if isinstance(n, ast.Name):
            used.add(n.id)
        elif isinstance(n, SCOPES):
            used |= free_names(n)
        elif isinstance(n, ast.Nonlocal):
            used.update(n.names)
    return used - mine


def written_inside(node: ast.AST) -> set[str]:
    """Names that functions nested in this one declare `nonlocal`."""
    return {
        name
        for n in below(node)
        if isinstance(n, ast.Nonlocal)
        for name in n.names
    } - declared(node, ast.Nonlocal)


def shared(node: ast.AST, inner: list[ast.AST]) -> set[str]:
    """Names in cells that are written more than once, by the functions inside or by their owner.

    What is written once, by a statement of the body itself, is the same for all who read it.
    """
    if not inner:
        return set()  # nobody else is there
    seen, again = set(parameters(node)), set[str]()  # type: ignore[arg-type]
    for s in node.body:  # type: ignore[attr-defined]
        straight = isinstance(s, (ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.ClassDef))
        for name in assigned([s]):
            if name in seen or not straight:
                again.add(name)
            seen.add(name)
    return written_inside(node) | (again & captured(inner))


def captured(inner: list[ast.AST]) -> set[str]:
    """Names that nested definitions use: they may be read at any time."""
    out: set[str] = set()
    for n in inner:
        if not getattr(n, "hoisted", False):
            out |= free_names(n)
    return out


_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)  # none inside


class Liveness:
    """The names live after every `if` and at the head of every loop of one function."""

    def __init__(self, body: list[ast.stmt], inner: list[ast.AST]) -> None:
        self.after: dict[ast.AST, set[str]] = {}
        self.head: dict[ast.AST, set[str]] = {}
        self.body: dict[ast.AST | None, set[str]] = {}
        self.orelse: dict[ast.AST, set[str]] = {}
        # a comprehension's function reads its captured names where it is called
        self.hoisted: dict[str, set[str]] = {}
        self.always: set[str] = set()  # other functions may read theirs at any time
        for n in inner:
            if type(n) is ast.FunctionDef and getattr(n, "hoisted", False):
                self.hoisted[n.name] = free_names(n)
            else:
                self.always |= free_names(n)
        if not all(isinstance(s, _SIMPLE) for s in body):  # or else nobody asks
            self.block(body, set())

    def where_raised(self, s: Attempt, names: list[str]) -> set[str]:
        """Those that are read where an exception was raised; before that, flags are asked for."""
        handled = self.body.get(s.asked, self.after[s])
        return {n for n in names if n in handled or n.startswith("_j")}

    def block(self, stmts: list[ast.stmt], live: set[str]) -> set[str]:
        for s in reversed(stmts):
            live = self.statement(s, live)
        return live

    def statement(self, s: ast.stmt, live: set[str]) -> set[str]:
        match s:
            case ast.If():
                self.after[s] = live | self.always
                orelse = self.block(s.orelse, live)
                self.orelse[s] = orelse | self.always
                body = self.block(s.body, live)
                self.body[s.test] = body | self.always
                return body | orelse | self.reads([s.test])
            case ast.For() | ast.While():
                return self.loop(s, live)
            case ast.Try():
                return self.try_(s, live)
            case Attempt():
                self.after[s] = live | self.always
                before, self.always = self.always, self.always | live
                body = self.block(s.body, live)
                self.always = before
                return body | live | self.reads(s.items)
            case ast.With():
                for item in s.items:
                    live = live - set(assigned([item]))
                return self.block(s.body, live) | self.reads(s.items)
            case ast.Match():
                out = live | self.reads([s.subject])
                for c in s.cases:
                    out |= self.block(c.body, live) | self.reads([c.pattern, c.guard])
                return out
            case ast.Assign(targets=[ast.Name(id=name)]):
                return (live - {name}) | self.reads([s.value])
            case ast.Assign() | ast.AnnAssign() | ast.Delete():
                stored = stores([s])
                return (live - stored) | self.reads([s])
            case ast.FunctionDef() | ast.ClassDef():
                return (live - {s.name}) | self.reads([s])
        return live | self.reads([s])

    def loop(self, s: ast.For | ast.While, live: set[str]) -> set[str]:
        stops = set(getattr(s, "stops", ()))
        if isinstance(s, ast.For):
            def head_of(out: set[str]) -> set[str]:
                inner = self.block(s.body, out | stops)
                return inner - stores([s.target]) | self.reads(
                    [s.target]
                )
        else:
            def head_of(out: set[str]) -> set[str]:
                return self.block(s.body, out | stops) | self.reads([s.test])
        head = live | stops
        while True:
            grown = head | head_of(head)
            if grown == head:
                break
            head = grown
        self.head[s] = head | self.always
        self.after[s] = live | self.always
        return head | (self.reads([s.iter]) if isinstance(s, ast.For) else set())

    def try_(self, s: ast.Try, live: set[str]) -> set[str]:
        """What is left of a `try` is a `finally`, around an attempt."""
        out = self.block(s.finalbody, live)
        before, self.always = self.always, self.always | out
        body = self.block(s.body, out)
        self.always = before
        return body | out

    def reads(self, nodes: Iterable[ast.AST | None]) -> set[str]:
        out: set[str] = set()
        for n in own(n for n in nodes if n is not None):
            if type(n) is ast.Name:
                if type(n.ctx) is ast.Load:
                    out.add(n.id)
                    out |= self.hoisted.get(n.id, set())
            elif type(n) is ast.AugAssign:
                if isinstance(n.target, ast.Name):
                    out.add(n.target.id)
            elif type(n) in SCOPES and not getattr(n, "hoisted", False):
                out |= free_names(n)
        return out


def stores(nodes: Iterable[ast.AST]) -> set[str]:
    return {
        n.id
        for n in own(nodes)
        if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Del))
    }
