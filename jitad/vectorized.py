"""What becomes of `np.vectorize`?  A batch over the elements of its arguments, which broadcast.

Elements are numbers, or arrays of the axes that `signature=` names.
A result is of the kind that all elements have; NumPy takes the first one's, and cuts the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.batching import batch
from jitad.errors import JitadTypeError
from jitad.trace import hooks
from jitad.values.broadcast import common_shape
from jitad.values.kind import fail
from jitad.values.registry import call
from jitad.values.shaping import broadcast_to, handle, reshape

Function = Callable[..., Any]


def vectorized(pyfunc: Function, otypes: Any = None, doc: Any = None, excluded: Any = None,
               cache: bool = False, signature: str | None = None) -> Function:  # fmt: skip
    """The function that runs `pyfunc` on every element, as `np.vectorize` makes it."""
    cores = None if signature is None else _cores(signature)
    excluded = frozenset(excluded or ())

    def apply(*args: Any, **kwargs: Any) -> Any:
        for word in kwargs:
            if word not in excluded:
                raise fail(JitadTypeError, f"a vectorised function is called with {word}=, which "
                           "is not supported", "Give it by position.")  # fmt: skip
        return _applied(pyfunc, otypes, excluded, cores, args, kwargs)

    return apply


def called(vectorize: Any, *args: Any, **kwargs: Any) -> Any:
    """A call of an `np.vectorize` object that was made outside."""
    made = vectorized(vectorize.pyfunc, vectorize.otypes, None, vectorize.excluded, False,
                      vectorize.signature)  # fmt: skip
    return made(*args, **kwargs)


def _cores(signature: str) -> list[int]:
    """How many axes of each argument a call of the function takes: `(n),(n)->()` gives 1, 1."""
    inputs, _, _ = signature.partition("->")
    return [len([n for n in core.split(",") if n.strip()])
            for core in re.findall(r"\(([^)]*)\)", inputs)]  # fmt: skip


def _applied(pyfunc: Function, otypes: Any, excluded: frozenset[Any], cores: list[int] | None,
             args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # fmt: skip
    whole = [k in excluded for k in range(len(args))]
    own = [handle(a) if not w else a for a, w in zip(args, whole, strict=True)]
    depth = cores or [0] * len(args)
    lead = [a.shape[: a.ndim - n] if not w else ()
            for a, n, w in zip(own, depth, whole, strict=True)]  # fmt: skip
    loop = common_shape(lead)

    def element(*given: Any) -> Any:
        return hooks.call(pyfunc, *given, **kwargs)

    if not loop:
        given = [a if w or a.ndim else a[()] for a, w in zip(own, whole, strict=True)]
        return _in_kinds(element(*given), otypes)
    flat = [
        a if w else reshape(broadcast_to(a, loop + a.shape[len(s) :]), (-1, *a.shape[len(s) :]))
        for a, s, w in zip(own, lead, whole, strict=True)
    ]
    found = batch(element, tuple(None if w else 0 for w in whole))(*flat)

    def shaped(out: Any) -> Any:
        out = handle(out)
        return reshape(out, loop + out.shape[1:])

    several = isinstance(found, tuple)
    return _in_kinds(tuple(map(shaped, found)) if several else shaped(found), otypes)


def _in_kinds(found: Any, otypes: Any) -> Any:
    """Results of the dtypes that otypes= names."""
    if not otypes:
        return found
    if isinstance(found, tuple):
        return tuple(call(np.array, x, dtype=np.dtype(t))
                     for x, t in zip(found, otypes, strict=True))  # fmt: skip
    return call(np.array, found, dtype=np.dtype(otypes[0]))
