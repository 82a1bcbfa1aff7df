"""How often does Numba compile a kernel, and which ways do calls go?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from jitad.calls.compiled import Compiled
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


def calls_of(method: str, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """A list that grows by the arguments of every call of a method of `Compiled` from here on."""
    calls: list[Any] = []
    plain = getattr(Compiled, method)

    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        calls.append((args, kwargs))
        return plain(self, *args, **kwargs)

    monkeypatch.setattr(Compiled, method, counted)
    return calls


def count(call: Callable[[], Any]) -> int:
    with compilations() as made:
        call()
    return len(made)


