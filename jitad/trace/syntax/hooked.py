"""How does a call of a hook look in a rewritten tree?

`_jh_Add(a, b)`: each hook is a cell of its own around the function, so that a call takes one load
and two nodes of the tree; a method of a module would take twice as many.
"""

from __future__ import annotations

import ast

HOOK = "_jh_"
_used: dict[str, None] = {}  # in order, so that the same functions give the same code


def hook(name: str, *args: ast.expr) -> ast.Call:
    """A call of the hook of this name in `jitad.trace.hooks`."""
    _used[name] = None
    return ast.Call(ast.Name(HOOK + name, ast.Load()), list(args), [])


def hook_of(node: ast.AST) -> str:
    """Which hook a node calls; nothing, if none."""
    match node:
        case ast.Call(func=ast.Name(id=name)) if name.startswith(HOOK):
            return name[len(HOOK) :]
    return ""


def hooks_used() -> list[str]:
    """The hooks that trees have called so far, in all functions."""
    return list(_used)
