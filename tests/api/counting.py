"""How often does Numba compile a kernel?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from jitad.emit import numba_private


@contextmanager
def compilations() -> Iterator[list[str]]:
    """A list that grows by the name of every kernel that is compiled, or read from the disk."""
    made: list[str] = []
    compile_ = numba_private.KernelCompiler._compile_core
    load = numba_private.ContentCache.load_overload

    def counted(self: Any) -> Any:
        made.append(self.state.func_id.func_name)
        return compile_(self)

    def loaded(self: Any, sig: Any, context: Any) -> Any:
        found = load(self, sig, context)
        if found is not None:
            made.append(self._module)
        return found

    numba_private.KernelCompiler._compile_core = counted
    numba_private.ContentCache.load_overload = loaded
    try:
        yield made
    finally:
        numba_private.KernelCompiler._compile_core = compile_
        numba_private.ContentCache.load_overload = load


def count(call: Callable[[], Any]) -> int:
    with compilations() as made:
        call()
    return len(made)


