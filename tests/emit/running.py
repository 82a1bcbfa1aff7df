"""Running emitted source: as plain Python, and under Numba."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.emit import native
from jitad.emit.lower import emit
from jitad.tape.interpret import interpret
from jitad.tape.ir import Tape
from jitad.tape.verify import verify


def name_of(source: str) -> str:
    found = re.search(r"^def (\w+)\(", source, re.MULTILINE)
    assert found
    return found[1]


def spoilt(dtype: Any, *extents: int) -> Any:
    """Memory as nobody would want to read it, which `np.empty` gives only at times."""
    kind = np.dtype(dtype).kind
    fill = np.nan if kind in "fc" else True if kind == "b" else np.iinfo(dtype).max // 2
    return np.full(extents, fill, dtype)


QUOTIENTS = {ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod}


class _AsNative(ast.NodeTransformer):
    """Kernels divide by zero without an error, and may do so before a loop that never runs.

    Their narrow integers wrap around.
    """

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(ast.Name("np"), name) if re.fullmatch(r"u?int\d+", name):
                node.args.insert(0, node.func)
                node.func = ast.Name("_wrapped", ast.Load())
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if type(node.op) not in QUOTIENTS:
            return node
        name = ast.Name(f"_{QUOTIENTS[type(node.op)].__name__}", ast.Load())
        return ast.copy_location(ast.Call(name, [node.left, node.right], []), node)


def _of_any(divided: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def quotient(a: Any, b: Any) -> Any:
        try:
            return divided(a, b)
        except ZeroDivisionError:
            return divided(np.asarray(a)[()], b).item()

    return quotient


def plain(source: str, name: str = "") -> Any:
    """The kernel as a Python function, which finds no memory that happens to be right."""
    space: dict[str, Any] = {f"_{d.__name__}": _of_any(d) for d in QUOTIENTS.values()}
    space["_wrapped"] = lambda kind, x: np.asarray(x).astype(kind)[()]
    tree = ast.fix_missing_locations(_AsNative().visit(ast.parse(source)))
    exec(compile(tree, "<emitted>", "exec"), space)
    space.update((made, spoilt) for made in ("empty", "local") if made in space)
    return space[name or name_of(source)]


def compiled(source: str) -> Any:
    """The kernel as a Numba dispatcher."""
    return native.compile(source, name_of(source))


def check(tape: Tape, *args: Any, numba: bool = True, exact: bool = False) -> str:
    """Emitted code equals the interpreter, writes no argument, returns nothing shared."""
    verify(tape)
    source = emit(tape)
    want = interpret(tape.body, list(args), functions=tape.functions)
    before = [np.copy(a) for a in args]
    for make in (plain, compiled) if numba else (plain,):
        with np.errstate(all="ignore"):
            got = make(source)(*args)
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            if exact:
                np.testing.assert_array_equal(g, w, err_msg=source)
            else:
                np.testing.assert_allclose(g, w, rtol=1e-12, atol=1e-12, err_msg=source)
        for a, b in zip(args, before, strict=True):
            np.testing.assert_array_equal(a, b, err_msg="an argument was written")
        arrays = [g for g in got if isinstance(g, np.ndarray)]
        given = [a for a in args if isinstance(a, np.ndarray)]
        for k, g in enumerate(arrays):
            for other in [*arrays[:k], *given]:
                assert not np.shares_memory(g, other), source
    return source
