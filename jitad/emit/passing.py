"""Which arrays does nobody see any more when the function that makes them has ended?

An array that is reached by its own names only, and handed to nothing but functions that hold it no
longer when they return, needs no memory of its own: if it is small, it lies in a stack frame.  What
goes to Python, with an exception or a callback, or to a function that is not listed here, may be
held by others.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from jitad.emit.names_in_source import LEAVES, inside, parts

MAKING = ("empty", "zeros", "grown")
_LENDING = ("accum", "gram", "grown", "len", "load", "row_of", "store", "times")


class Where(NamedTuple):
    """`result`: in memory of the caller's.  `again`: in place of the array before, in a loop."""

    result: bool
    again: bool


class Passing:
    """What is known of the arrays that a function makes."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self._made: set[str] = set()
        made: set[str] = set()
        for node in parts(function):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(ast.Name(id=of))):
                    if of in MAKING:
                        made.add(name)
                case ast.Call(func=ast.Name(id="ask")):
                    return  # Python may call kernels, and these Python: the stack is for them
        found = _Found()
        if made:
            found.look(function.body)
        left, self._returned = found.groups(found.left), found.groups(found.returned)
        self._of = {name: found.root(name) for name in made}
        self._made = {name for name in made if self._of[name] not in left}
        self._named_twice = set(found.same)

    def where(self, name: str, function: ast.expr, in_a_loop: bool) -> Where | None:
        """Is a name bound to a new array that needs no memory from the allocator?

        In a loop only if nobody sees what the name had in the iteration before.
        """
        if name not in self._made or getattr(function, "id", "") not in MAKING:
            return None
        result = self._of[name] in self._returned
        if in_a_loop and (result or name in self._named_twice):
            return None
        reads_the_old = getattr(function, "id", "") == "grown"
        return Where(result, in_a_loop and not reads_the_old)


class _Found:
    """Names whose arrays may be held by others, and names of the same arrays."""

    def __init__(self) -> None:
        self.left: set[str] = set()
        self.returned: set[str] = set()
        self.same: dict[str, str] = {}  # of a name that is another's, towards the one that speaks

    def root(self, name: str) -> str:
        while (other := self.same.get(name, name)) != name:
            name = other
        return name

    def groups(self, names: set[str]) -> set[str]:
        return {self.root(name) for name in names}

    def unite(self, a: str, b: str) -> None:
        for name in (a, b):
            self.same.setdefault(name, name)
        self.same[self.root(a)] = self.root(b)

    def look(self, node: Any) -> None:
        """A statement, an expression, or a list of them."""
        todo = [node]
        while todo:
            node = todo.pop()
            kind = type(node)
            if kind is list:
                todo += node
            elif kind is ast.Name:
                self.left.add(node.id)
            elif kind in _SPECIAL:
                todo += self.special(node)
            elif kind not in LEAVES:
                todo += inside(node)

    def special(self, node: ast.AST) -> list[Any]:
        """What is to be looked at in a node where arrays may be named, and not be held."""
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                pairs = zip(targets, values, strict=True)
                return [x for target, value in pairs for x in self.bound(target, value)]
            case ast.Assign(targets=[target], value=value):
                return self.bound(target, value)
            case ast.Subscript(value=ast.Name() | ast.Attribute(ast.Name(), "shape"), slice=index):
                return [index]
            case ast.Expr(ast.Call(ast.Name(id=of), args)) if of != "show":  # it gives nothing
                return self.lent(args)
            case ast.Call(func=ast.Name(id=of), args=args) if of in _LENDING:
                return self.lent(args)
            case ast.Return(value=ast.Tuple(elts=results)):
                self.returned.update(r.id for r in results if isinstance(r, ast.Name))
                return [r for r in results if not isinstance(r, ast.Name)]
        return inside(node)

    def lent(self, operands: list[ast.expr]) -> list[Any]:
        """Those of a function that holds nothing when it has returned."""
        rest: list[Any] = []
        for node in operands:
            match node:
                case ast.Call(ast.Name("handed"), args):
                    rest += self.lent(args)
                case ast.Attribute(value=inner, attr="T"):
                    rest += self.lent([inner])
                case ast.Name():
                    pass
                case _:
                    rest.append(node)
        return rest

    def bound(self, target: ast.expr, value: ast.expr) -> list[Any]:
        other = next(_behind(value), None)
        if not isinstance(target, ast.Name):
            return [target, value]
        if other is None:
            return [value]
        self.unite(target.id, other)
        return []


_SPECIAL = {ast.Assign, ast.Subscript, ast.Expr, ast.Call, ast.Return}


def _behind(value: ast.expr) -> Iterator[str]:
    """The name whose array this is, if it is one under another name."""
    match value:
        case ast.Name(id=name):
            yield name
        case ast.Call(ast.Attribute(value=inner, attr="reshape")):
            yield from _behind(inner)
        case ast.Call(ast.Attribute(ast.Name("np"), "ascontiguousarray"), [inner]):
            yield from _behind(inner)
