"""Where in a function's source is each local name bound, read, and of no more use?

A place is a path through nested statement lists: `((list, number of the statement), ...)` from the
outermost inwards.  A name that is bound once, and read only further on in the same list or inside
of it, is a value and needs no memory (`single`).  Every name has a last statement that mentions
it, in the innermost list around all that do (`ends`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from jitad.immutable import immutable

Place = tuple[tuple[int, int], ...]


@dataclass(slots=True)
class _Found:
    bound: list[Place] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)  # in order
    nested: bool = False  # is any of them inside of another statement?


@immutable
class Mentions:
    """What is known of the names of one function."""

    single: frozenset[str]
    counters: frozenset[str]  # of `for` loops
    # integers whose overflow is looked for: by signs (`trace.wide`), or in floats.  Numba promises
    # LLVM that integers do not overflow, whereupon such a check is none.
    checked: frozenset[str]
    ends: dict[tuple[int, int], list[str]]  # (list, statement): names with their last mention there
    all: frozenset[str]  # also global ones


def mentions(function: ast.FunctionDef) -> Mentions:
    """Of all names that the function binds; its parameters are bound before its first statement."""
    found: dict[str, _Found] = {}
    counters: set[str] = set()
    checks: list[ast.AST] = []  # what looks for an overflow
    start: Place = ((id(function.body), -1),)
    for a in function.args.args:
        found.setdefault(a.arg, _Found()).bound.append(start)

    def expression(node: ast.AST, place: Place) -> None:
        deep = len(place) > 1
        for name in _names(node, checks):
            of = found.get(name.id)
            if of is None:
                of = found[name.id] = _Found()
            of.places.append(place)
            of.nested |= deep
            if type(name.ctx) is ast.Store:
                of.bound.append(place)

    def statements(body: list[ast.stmt], around: Place) -> None:
        for number, statement in enumerate(body):
            place = (*around, (id(body), number))
            match statement:
                case ast.For(target=ast.Name(id=name), iter=over, body=inner):
                    counters.add(name)
                    expression(over, place)
                    statements(inner, place)
                case ast.While(test=test, body=inner):
                    expression(test, place)
                    statements(inner, place)
                case ast.If(test=test, body=then, orelse=other):
                    expression(test, place)
                    statements(then, place)
                    statements(other, place)
                case ast.AugAssign(target=ast.Name(id=name)):
                    expression(statement, place)
                    found[name].bound.append(place)  # once more: it is read, too
                case _:
                    expression(statement, place)

    statements(function.body, ())
    bound = {name: of for name, of in found.items() if of.bound}
    ends: dict[tuple[int, int], list[str]] = {}
    for name, of in bound.items():
        all_ = of.bound + of.places
        end = _end(all_) if of.nested else all_[-1][0]
        ends.setdefault(end, []).append(name)
    single = frozenset(name for name, of in bound.items() if _is_single(of))
    checked = frozenset(name.id for node in checks for name in names(node))
    return Mentions(single, frozenset(counters), checked, ends, frozenset(found))


def names(node: ast.AST) -> list[ast.Name]:
    """All names in an expression or a simple statement."""
    return _names(node, [])


def _names(node: ast.AST, checks: list[ast.AST]) -> list[ast.Name]:
    """Those; what looks for an overflow is noted, too."""
    out: list[ast.Name] = []
    todo: list[Any] = [node]
    while todo:
        part = todo.pop()
        kind = type(part)
        if kind is ast.Name:
            out.append(part)
        elif kind is ast.BinOp:
            todo += (part.left, part.right)
            if type(part.op) is ast.BitXor:
                checks.append(part)
        elif kind is ast.Assign:
            todo += (part.targets, part.value)
        elif kind is ast.UnaryOp:
            todo.append(part.operand)
        elif kind is ast.Call:
            todo += (part.func, part.args, part.keywords)
            if is_float_of(part):
                checks.append(part)
        elif kind is list:
            todo += part
        elif kind not in LEAVES:
            todo += inside(part)
    return out


def parts(node: ast.AST) -> Iterator[ast.AST]:
    """The node and what it consists of, but constants and operators."""
    todo: list[Any] = [node]
    while todo:
        part = todo.pop()
        if type(part) is list:
            todo += part
        elif type(part) not in LEAVES:
            yield part
            todo += inside(part)


def inside(node: ast.AST) -> list[Any]:
    """What a node consists of, and lists of such, but what names nothing."""
    return [getattr(node, name) for name in node._fields if name not in _PLAIN]


_PLAIN = frozenset(("ctx", "op", "ops", "attr", "kind", "type_comment"))  # no names in them
LEAVES = {ast.Constant, str, int, type(None)}


def _is_single(of: _Found) -> bool:
    if len(of.bound) != 1:
        return False
    if not of.nested:  # all in one list, in order
        return of.places[0][0][1] >= of.bound[0][0][1] if of.places else True
    *around, (body, number) = of.bound[0]
    depth = len(around)
    return all(
        len(p) > depth and p[:depth] == tuple(around) and p[depth][0] == body
        and p[depth][1] >= number
        for p in of.places
    )  # fmt: skip


def _end(places: list[Place]) -> tuple[int, int]:
    """The last of these statements, seen from the innermost list around all of them."""
    first, depth = places[0], min(map(len, places))
    while any(p[depth - 1][0] != first[depth - 1][0] or p[: depth - 1] != first[: depth - 1]
              for p in places):  # fmt: skip
        depth -= 1
    return first[depth - 1][0], max(p[depth - 1][1] for p in places)


def is_float_of(call: ast.Call) -> bool:
    of = call.func
    return type(of) is ast.Attribute and of.attr == "float64" and (
        isinstance(of.value, ast.Name) and of.value.id == "np"
    )


def longest(statements: list[ast.stmt]) -> list[ast.stmt]:
    """The longest list of statements among these and those in them."""
    inner = [getattr(s, part, []) for s in statements for part in ("body", "orelse")]
    return max([statements, *(longest(x) for x in inner if x)], key=len)
