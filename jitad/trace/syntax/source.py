"""Which syntax tree is a function's, and is it the code that runs?

The file is parsed and compiled once.  A function's code must equal one of the code objects that
the file compiles to (code objects compare by content and position), so that an edited file, or a
function that was made some other way, is noticed.  The node is found by position; lambdas on one
line are told apart by the columns of their bytecode.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable
from dataclasses import field
from types import CodeType, FunctionType
from typing import Any

from jitad.errors import JitadError
from jitad.immutable import immutable
from jitad.tape.ir import Pos
from jitad.trace.syntax.names import blocks
from jitad.trace.syntax.nodes import children, copied

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_FLAGS = 0x1FE0000  # compiler flags of `from __future__` imports
_REMEDY = (
    "Define the function in a file, a notebook cell or a doctest, where its source can be read."
)


@immutable(eq=False)
class Module:
    """A parsed file: the code it compiles to, and the class around every definition."""

    lines: tuple[str, ...]
    codes: frozenset[CodeType]
    classes: dict[ast.AST, str]
    nested: set[ast.AST]  # definitions inside of others, and these
    given: set[CodeType] = field(default_factory=set)  # whose definitions have been given away


_modules: dict[tuple[str, int], Module] = {}


def definition(f: FunctionType) -> tuple[Definition, str]:
    """The node that f was compiled from, and the name of the class whose body it stands in.

    The node is the caller's, who may change it.
    """
    code = f.__code__
    module = _module(f)
    if code not in module.codes and not _rewritten_by_pytest(code):
        raise _error(
            f, f"the source of {f.__qualname__} is not the code that runs",
            "Was the file edited after it was imported? Import it again.",
        )  # fmt: skip
    found = [] if code in module.given else [n for n in module.classes if _fits(n, code)]
    if len(found) > 1:
        found = _narrowest(found, code)
    if not found and module.given:  # rarely: its node was given away, the file is parsed again
        del _modules[_key(code)]
        return definition(f)
    if len(found) != 1:
        raise _error(f, f"the source of {f.__qualname__} can't be found", _REMEDY)
    node: Any = found[0]
    if node in module.nested:
        return copied(node), module.classes[node]
    module.given.add(code)
    return node, module.classes.pop(node)


def _module(f: FunctionType) -> Module:
    code = f.__code__
    file = f.__globals__.get("__file__") if code.co_filename.startswith("<frozen ") else None
    lines = linecache.getlines(file or code.co_filename, f.__globals__)
    if not lines:
        raise _error(f, f"the source of {f.__qualname__} is missing", _REMEDY)
    key = _key(code)
    known = _modules.get(key)
    if known is not None and known.lines == tuple(lines):
        return known
    text = "".join(lines)
    try:
        tree = ast.parse(text, code.co_filename)
        compiled = compile(text, code.co_filename, "exec", key[1], dont_inherit=True)
    except (SyntaxError, ValueError) as e:
        raise _error(f, f"the source of {f.__qualname__} can't be parsed", _REMEDY) from e
    codes = frozenset(nested_codes(compiled))
    module = Module(tuple(lines), codes, *_definitions(tree, codes))
    _modules[key] = module
    return module


def _key(code: CodeType) -> tuple[str, int]:
    return code.co_filename, code.co_flags & _FLAGS


def nested_codes(code: CodeType) -> list[CodeType]:
    """The code object and all those inside it."""
    out, todo = [], [code]
    while todo:
        code = todo.pop()
        out.append(code)
        todo += [c for c in code.co_consts if isinstance(c, CodeType)]
    return out


def _definitions(
    tree: ast.Module, codes: Iterable[CodeType]
) -> tuple[dict[ast.AST, str], set[ast.AST]]:
    """The class around each definition of a file that compiles to these codes, and the nested."""
    # in expressions there are lambdas only, and what is never run has no code
    below: Any = children if any(c.co_name == "<lambda>" for c in codes) else blocks
    found: dict[ast.AST, str] = {}
    nested: set[ast.AST] = set()
    todo: list[tuple[Any, str, ast.AST | None]] = [(tree, "", None)]
    while todo:
        node, name, around = todo.pop()
        if isinstance(node, Definition):
            found[node] = name
            if around is not None:
                nested |= {node, around}
            around = node
        elif isinstance(node, ast.ClassDef):
            name = node.name
        todo += [(child, name, around) for child in below(node)]
    return found, nested


def first_line(node: Any) -> int:
    """The line that a code object calls its first: that of the first decorator, if any."""
    decorators = getattr(node, "decorator_list", None)
    return (decorators[0] if decorators else node).lineno


def _fits(node: ast.AST, code: CodeType) -> bool:
    name = getattr(node, "name", "<lambda>")
    if name != code.co_name or first_line(node) != code.co_firstlineno:
        return False
    a = node.args  # type: ignore[attr-defined]
    names = [x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    expected = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return all(e == n or e.endswith(n) for e, n in zip(expected, names, strict=False)) and len(
        names
    ) == len(expected)


def _narrowest(nodes: list[ast.AST], code: CodeType) -> list[ast.AST]:
    """Those whose body is the smallest that holds all positions of the code."""
    at: list[Any] = [(p[0], p[2], p[1], p[3]) for p in code.co_positions() if None not in p]
    at = [p for p in at if p[3] > p[1] or p[2] > p[0]]  # the prologue has empty positions
    fitting = []
    for n in nodes:
        body: Any = n.body if isinstance(n, ast.Lambda) else n
        start, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
        if at and all(start <= (p[0], p[1]) and (p[2], p[3]) <= end for p in at):
            fitting.append((end[0] - start[0], end[1] - start[1], n))
    if not fitting:
        return nodes
    least = min(x[:2] for x in fitting)
    return [n for *size, n in fitting if tuple(size) == least]


def _rewritten_by_pytest(code: CodeType) -> bool:
    return any(name.startswith("@py") for c in nested_codes(code) for name in c.co_names)


def _error(f: FunctionType, what: str, remedy: str) -> JitadError:
    return JitadError(what, Pos(f.__code__.co_filename, f.__code__.co_firstlineno), remedy)
