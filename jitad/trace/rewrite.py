"""How does a user's function become its rewritten twin?

The twin has hooks where the original has operations (`hooking.py`), and shares the original's
closure cells, globals and defaults.  Code is compiled once per code object, with the user's file
name and positions, so tracebacks and debuggers show the user's source.
"""

from __future__ import annotations
import __future__

import ast
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from jitad.errors import JitadError
from jitad.tape.ir import Pos
from jitad.trace.joins.unset import UNSET
from jitad.trace.refused import check_refused
from jitad.trace.syntax.comprehensions import COMPREHENSIONS, Hoist
from jitad.trace.syntax.exits import _at
from jitad.trace.syntax.hooked import HOOK, hooks_used
from jitad.trace.syntax.hooking import Hooking, Unit
from jitad.trace.syntax.nodes import below, children, settle
from jitad.trace.syntax.source import definition, nested_codes

Typed = tuple[tuple[str, Any], ...]
_twins: dict[tuple[Any, ...], tuple[CodeType, list[Any]]] = {}
_rewritten: set[CodeType] = set()  # code of twins, and of functions inside them
# By the id of a function's code, since hashing code is slow: the code itself, its twin's, and the
# twin's cells or their numbers among those of the function.
_quick: dict[tuple[Any, ...], tuple[CodeType, CodeType, tuple[Any, ...]]] = {}

_OWN_CELLS: dict[str, Any] = {"_jU": UNSET, "_jslice": slice, "_jlocals": locals,
                              "_jBase": BaseException}  # fmt: skip


def rewrite(f: Callable[..., Any], typed: Typed = ()) -> FunctionType:
    """The function that does what f does, for traced and tagged operands as well.

    `typed`: what numbers become that these variables are bound to.
    """
    if not isinstance(f, FunctionType):
        raise JitadError(f"{f!r} is not a Python function", None, "Pass a def or a lambda.")
    here = _here(f, typed)
    quick = _quick.get(here)
    if quick is None:
        if is_rewritten(f):
            return f
        # equal code of two files is two codes: errors name the file
        key = (f.__code__, f.__code__.co_filename, *here[1:])
        known = _twins.get(key)
        if known is None:
            known = _twins[key] = _compile(f, typed)
        code, sites = known
        from jitad.trace import hooks

        own = {**_OWN_CELLS, "_jS": sites}
        for name in code.co_freevars:
            if name.startswith(HOOK):
                own[name] = getattr(hooks, name[len(HOOK) :])
        theirs = f.__code__.co_freevars
        parts = tuple(theirs.index(n) if n in theirs else _cell(own[n]) for n in code.co_freevars)
        quick = _quick[here] = (f.__code__, code, parts)
    _, code, parts = quick
    cells = f.__closure__
    closure = tuple([cells[c] if type(c) is int else c for c in parts])  # type: ignore[index]
    twin = FunctionType(code, f.__globals__, f.__name__, f.__defaults__, closure)
    twin.__kwdefaults__ = f.__kwdefaults__
    twin.__qualname__, twin.__module__, twin.__doc__ = f.__qualname__, f.__module__, f.__doc__
    twin.__dict__.update(f.__dict__)
    return twin


def is_known(f: FunctionType, typed: Typed = ()) -> bool:
    """True of a function whose code has been rewritten before."""
    return _here(f, typed) in _quick


def _here(f: FunctionType, typed: Typed) -> tuple[Any, ...]:
    """Its code, and what a twin takes to be builtins that are global variables by now."""
    names = f.__globals__
    return id(f.__code__), "sum" in names, "any" in names, "all" in names, typed


def is_rewritten(f: FunctionType) -> bool:
    return f.__code__ in _rewritten


def is_rewritten_code(code: CodeType) -> bool:
    return code in _rewritten


def _cell(value: Any) -> Any:
    return (lambda: value).__closure__[0]  # type: ignore[index]


def twin_source(f: FunctionType) -> str:
    """The rewritten function as text, for a look."""
    return ast.unparse(_tree(f, _NESTED[0])[0])


# How many branches may stand one in the other that need not: CPython nests no more than twenty
# blocks, so the most for which the rest of the function leaves room.
_NESTED = (8, 3, 1)


def _tree(f: FunctionType, nested: int, typed: Typed = ()) -> tuple[ast.FunctionDef, str, Unit]:
    """The rewritten definition, the class it stands in, and what its hooks refer to."""
    given, class_name = definition(f)
    node: Any = given
    file = f.__code__.co_filename
    node.decorator_list, node.args.defaults = [], []  # which are no part of it
    node.args.kw_defaults = [d and _at(ast.Constant(None), d) for d in node.args.kw_defaults]
    free = f.__code__.co_freevars
    nodes = list(below(node))
    shadowed = frozenset(f.__globals__) | frozenset(free) | {
        n.id for n in nodes if type(n) is ast.Name and type(n.ctx) is ast.Store
    }  # fmt: skip
    check_refused(nodes, file, shadowed)
    if any(type(n) is ast.Attribute and n.attr.startswith("__") for n in nodes):
        _name_privately(node, class_name)
    if isinstance(node, ast.Lambda):
        made: Any = ast.FunctionDef("_jmade", node.args, [ast.Return(node.body)], [], None, None)
        node = _at(made, node)
    assert isinstance(node, ast.FunctionDef)
    if f.__code__.co_flags & __future__.annotations.compiler_flag:
        _annotate_by_texts(node)
    node.returns = None
    for a in ast.walk(node.args):
        if isinstance(a, ast.arg):
            a.annotation = None
    if any(isinstance(n, COMPREHENSIONS) for n in nodes):
        node.body = Hoist(shadowed.__contains__).body(node.body)
    unit = Unit(file, frozenset(free), nested, dict(typed))
    try:
        Hooking(unit, node).run()
    except (SyntaxError, RecursionError) as e:
        raise _too_deep(f, e) from e
    node.args.kw_defaults = [None for _ in node.args.kwonlyargs]
    return node, class_name, unit


def _annotate_by_texts(node: ast.AST) -> None:
    """As `from __future__ import annotations` has them: what they name need not be there."""
    for n in ast.walk(node):
        for name in ("annotation", "returns"):
            if (found := getattr(n, name, None)) is not None:
                setattr(n, name, _at(ast.Constant(ast.unparse(found)), found))


def _name_privately(node: ast.AST, class_name: str) -> None:
    """`self.__x` as the class calls it: hooks are given the name as a text."""
    for n in children(node):
        if isinstance(n, ast.Attribute) and n.attr.startswith("__") and not n.attr.endswith("__"):
            n.attr = f"_{class_name.lstrip('_')}{n.attr}" if class_name else n.attr
        _name_privately(n, n.name if isinstance(n, ast.ClassDef) else class_name)


def _compile(f: FunctionType, typed: Typed) -> tuple[CodeType, list[Any]]:
    for nested in _NESTED:
        node, class_name, unit = _tree(f, nested, typed)
        cells = [*f.__code__.co_freevars, *_OWN_CELLS, "_jS", *(HOOK + n for n in hooks_used())]
        try:
            compiled = _outer(node, cells, class_name, f.__code__.co_filename)
            break
        except (SyntaxError, RecursionError) as e:
            if nested == _NESTED[-1]:
                raise _too_deep(f, e) from e
    made_code = next(c for c in nested_codes(compiled) if c.co_name == node.name)
    code = made_code.replace(co_name=f.__code__.co_name, co_qualname=f.__code__.co_qualname)
    _rewritten.add(code)
    _rewritten.update(nested_codes(made_code))
    return code, unit.sites


def _too_deep(f: FunctionType, e: Exception) -> JitadError:
    return JitadError(
        f"{f.__qualname__} can't be rewritten: {e}",
        Pos(f.__code__.co_filename, f.__code__.co_firstlineno),
        "Split the function: it nests too deeply.",
    )


def _outer(node: ast.FunctionDef, free: list[str], class_name: str, file: str) -> CodeType:
    """The code of a module in which these names are cells around the function."""
    body: list[ast.stmt] = [node]
    if class_name:  # private names (`self.__x`) belong to the class
        body = [ast.ClassDef(class_name, [], [], body, [])]
    parameters = ast.arguments([], [ast.arg(n) for n in free], None, [], [], None, [])
    # The function's own name, or its class's, means the global in its body (a recursive call).
    hidden = [n for n in dict.fromkeys((node.name, class_name)) if n and n not in free]
    if hidden:
        body.insert(0, ast.Global(hidden))
    outer = ast.FunctionDef("_jouter", parameters, body, [], None, None)
    module = ast.Module([_at(outer, node)], [])
    settle(module)
    return compile(module, file, "exec", dont_inherit=True)
