"""Which loop nests of a function are the same, but for what their names stand for?

Layers, stages and time steps that Python wrote out one after the other leave nests that differ in
their arrays only.  Each such nest is described by a text in which names are numbered in the order
in which they come; nests of equal text, over operands of equal types, can be one function.

Nests in loops stay where they are: there a call may take longer than the nest.  So do those that
raise, as each of their lines is told in tracebacks, and those that reach arrays in the stack frame,
which LLVM keeps in registers if it sees all that is done to them.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from jitad.emit.names_in_source import Mentions, names
from jitad.immutable import immutable

FEW = 8  # copies of nests that are left where they are: calls would cost more than they save


@immutable
class Nest:
    text: str
    operands: tuple[str, ...]  # names from outside that it reads
    carried: tuple[str, ...]  # those that it binds anew; they are read before or after
    written: frozenset[str]  # arrays to whose elements it stores


def repeated(function: ast.FunctionDef, mentions: Mentions) -> dict[int, Nest]:
    """The nests that come more than once, by the identity of their statement."""
    loops = list(_outermost(function.body))
    if len(loops) <= FEW:
        return {}
    local, avoided = _local(function), _in_the_frame(function)
    total = Counter(n.id for s in function.body for n in names(s))
    found = {}
    for loop in loops:
        nest = _nest(loop, local, total, mentions, avoided)
        if nest is not None:
            found[id(loop)] = nest
    times = Counter(nest.text for nest in found.values())
    if len(found) - len(times) <= FEW:
        return {}
    return {at: nest for at, nest in found.items() if times[nest.text] > 1}


def disjoint(function: ast.FunctionDef, mentions: Mentions) -> set[str]:
    """Names of arrays that are made here and have no other name."""
    return {
        s.targets[0].id
        for s in ast.walk(function)
        if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)
        and s.targets[0].id in mentions.single and _calls(s.value, "empty", "zeros")
    }  # fmt: skip


def function_of(statement: ast.stmt, nest: Nest) -> ast.FunctionDef:
    """The function that the nest becomes: of its operands and what it carries, which it returns."""
    before = [f"given_{name}" for name in nest.carried]
    copies: list[ast.stmt] = [
        ast.Assign([ast.Name(name, ast.Store())], ast.Name(given, ast.Load()))
        for name, given in zip(nest.carried, before, strict=True)
    ]
    carried: list[ast.expr] = [ast.Name(name, ast.Load()) for name in nest.carried]
    out = ast.Return(ast.Tuple(carried, ast.Load()) if carried else ast.Constant(None))
    for s in (*copies, out):
        s.lineno = statement.lineno
    args = [ast.arg(name) for name in (*nest.operands, *before)]
    return ast.FunctionDef(
        "nest", ast.arguments([], args, None, [], [], None, []), [*copies, statement, out], [],
    )  # fmt: skip


def _outermost(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    for s in statements:
        match s:
            case ast.For() | ast.While():
                yield s
            case ast.If(body=then, orelse=other):
                yield from _outermost(then)
                yield from _outermost(other)


def _nest(
    loop: ast.stmt, local: set[str], total: Counter[str], mentions: Mentions, avoided: set[str]
) -> Nest | None:
    counters = mentions.counters
    numbers: dict[str, int] = {}
    words = list(_words(loop, local, numbers))
    if "Raise" in words or not avoided.isdisjoint(numbers):
        return None
    within = list(names(loop))
    bound = {n.id for n in within if isinstance(n.ctx, ast.Store)}
    if not mentions.checked.isdisjoint(bound - counters):
        return None  # the overflow of what is bound would not be seen from elsewhere
    times = Counter(n.id for n in within)
    carried = [n for n in numbers if n in bound - counters and total[n] > times[n]]
    text = f"{' '.join(words)} -> {' '.join(f'v{numbers[n]}' for n in carried)}"
    operands = tuple(n for n in numbers if n not in bound)
    return Nest(text, operands, tuple(carried), frozenset(_written(loop)))


def _written(loop: ast.stmt) -> Iterator[str]:
    for part in ast.walk(loop):
        match part:
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                yield name
            case ast.Call(func=ast.Name(id="store" | "accum"), args=[ast.Name(id=name), *_]):
                yield name


def _words(node: object, local: set[str], numbers: dict[str, int]) -> Iterator[str]:
    """The statement, with numbers for local names."""
    match node:
        case ast.Name(id=name):
            yield f"v{numbers.setdefault(name, len(numbers))}" if name in local else name
        case ast.Constant(value=value):
            yield repr(value)
        case ast.expr_context():
            pass
        case ast.AST():
            yield type(node).__name__
            for field in node._fields:
                yield from _words(getattr(node, field, None), local, numbers)
        case list():
            yield "["
            for part in node:
                yield from _words(part, local, numbers)
            yield "]"
        case _:
            yield repr(node)


def _local(function: ast.FunctionDef) -> set[str]:
    bound = {n.id for s in function.body for n in names(s) if isinstance(n.ctx, ast.Store)}
    return bound | {a.arg for a in function.args.args}


def _in_the_frame(function: ast.FunctionDef) -> set[str]:
    """Names of arrays that may lie there."""
    found: set[str] = set()
    for s in ast.walk(function):
        match s:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=source)):
                if source in found:
                    found.add(name)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _calls(value, "local"):
                found.add(name)
    return found


def _calls(value: ast.expr, *functions: str) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and (
        value.func.id in functions
    )
