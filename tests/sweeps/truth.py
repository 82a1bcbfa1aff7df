"""What is the derivative of a tape, found without any derivative rule?

By the complex step (Squire & Trapp 1998): the tape is interpreted at x + i h v with h = 1e-200,
and the imaginary parts, over h, are the derivative along v to rounding.  A few primitives must be
told what to do with complex numbers: comparisons look at real parts, and the point is refused
(`AtKink`) where a comparison of floats is so close that rounding could decide it.  Equality is
exempt: derivative rules ask with it which element was the largest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from jitad.primitives import TABLE
from jitad.tape.interpret import interpret
from jitad.tape.ir import Block

STEP = 1e-200
CLOSE = 1e-11


class AtKink(Exception):
    """The derivative may not exist here, or rounding decides which one it is."""


def along(block: Block, args: Sequence[Any], direction: Sequence[Any]) -> list[Any]:
    """The derivative of the block's results along a direction (None: the argument is fixed)."""
    moved = [x if v is None else x + 1j * STEP * v for x, v in zip(args, direction, strict=True)]
    with evaluating(_COMPLEX):
        results = interpret(block, moved)
    return [np.imag(r) / STEP for r in results]


@contextmanager
def evaluating(functions: dict[str, Callable[..., Any]]) -> Iterator[None]:
    """Primitives evaluate by these functions meanwhile."""
    rows = {name: TABLE[name] for name in functions}
    TABLE.update({name: replace(rows[name], evaluate=f) for name, f in functions.items()})
    try:
        yield
    finally:
        TABLE.update(rows)


def _clear(a: Any, b: Any) -> None:
    """Refuse floats that almost agree; integers are exact."""
    if np.result_type(a, b).kind in "fc" and np.any(np.abs(np.real(a) - np.real(b)) < CLOSE):
        raise AtKink


def _on_real_parts(name: str) -> Callable[..., Any]:
    plain = TABLE[name].evaluate

    def compare(a: Any, b: Any) -> Any:
        if name not in ("eq", "ne"):
            _clear(a, b)
        return plain(np.real(a), np.real(b))

    return compare


def _constant(name: str) -> Callable[..., Any]:
    """A function that is constant between its jumps."""
    plain = TABLE[name].evaluate
    return lambda a: plain(np.real(a))


def _choose(first: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def choose(a: Any, b: Any) -> Any:
        _clear(a, b)
        return np.where(first(np.real(a), np.real(b)), a, b)[()]

    return choose


def _magnitude(a: Any) -> Any:
    _clear(a, 0.0)
    return np.where(np.real(a) < 0, -a, a)[()]


def _written(plain: Callable[..., Any]) -> Callable[..., Any]:
    """A real array that a complex number is written to becomes a complex one."""

    def write(a: Any, v: Any, *rest: Any, **params: Any) -> Any:
        return plain(np.asarray(a, np.result_type(a, v)), v, *rest, **params)

    return write


def _full(v: Any, *dims: Any, dtype: str, adjoint: bool = False) -> Any:
    return np.full(tuple(map(int, dims)), v, np.result_type(v, dtype))


def _cast(a: Any, *, dtype: str, py: bool = False) -> Any:
    if np.iscomplexobj(a) and dtype == "f8":
        return a
    return TABLE_CAST(np.real(a), dtype=dtype, py=py)


def _extreme(pick: Callable[..., Any]) -> Callable[..., Any]:
    def extreme(a: Any, *, axes: tuple[int, ...]) -> Any:
        kept = [k for k in range(a.ndim) if k not in axes]
        flat = np.transpose(a, (*kept, *axes)).reshape(*(a.shape[k] for k in kept), -1)
        ordered = np.sort(np.real(flat), axis=-1)
        _clear(ordered[..., 1:], ordered[..., :-1])
        at = pick(np.real(flat), axis=-1)
        return np.take_along_axis(flat, np.expand_dims(at, -1), -1)[..., 0][()]

    return extreme


TABLE_CAST = TABLE["cast"].evaluate

_COMPLEX: dict[str, Callable[..., Any]] = {
    **{name: _on_real_parts(name) for name in ("lt", "le", "gt", "ge", "eq", "ne")},
    **{name: _constant(name) for name in ("sign", "floor", "ceil", "trunc", "rint")},
    **{
        name: _written(TABLE[name].evaluate)
        for name in ("store", "accum", "store_slice", "accum_slice")
    },
    "maximum": _choose(np.greater),
    "minimum": _choose(np.less),
    "abs": _magnitude,
    "hypot": lambda a, b: np.sqrt(a * a + b * b),
    "sech2": lambda x: 1.0 / np.cosh(x) ** 2,
    "print": lambda *_, **__: None,
    "full": _full,
    "cast": _cast,
    "amax": _extreme(np.argmax),
    "amin": _extreme(np.argmin),
}
