"""Are the derivatives that the engine gives of a function right?

`check_grads` compares forward mode, reverse mode and differences of the function's own values,
element by element, to any order: the derivative of order k + 1 is checked as the derivative of
the functions that gave order k.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from jitad.debug.differences import truth
from jitad.errors import JitadTypeError
from jitad.immutable import immutable
from jitad.structures import Structure, conform, flatten, unflatten

Function = Callable[..., Any]


def check_grads(
    f: Function,
    args: Sequence[Any],
    order: int = 2,
    modes: Sequence[str] = ("forward", "reverse"),
    *,
    rtol: float = 1e-6,
    atol: float = 1e-6,
    elements: int = 20,
    seed: int = 0,
    jvp: Function | None = None,
    vjp: Function | None = None,
) -> None:
    """Check derivatives of `f` at `args`, or raise an AssertionError that shows where they differ.

    Parameters
    ----------
    f : the function; arguments and results may be structures of floats and float arrays of any
        shape, float64 or float32.
    args : the point, a sequence of positional arguments.  Ints and bools are data.
    order : 1 checks first derivatives, 2 those of the gradient too, and so on.
    modes : "forward", "reverse" or both; orders above 1 take every sequence of modes.
    rtol, atol : allowed error, relative and absolute; float32 numbers get 1e-3 at least.
    elements : of larger arguments so many elements are picked at random.
    seed : of the random choices.
    jvp, vjp : the operators to check; jitad's own unless given.

    Returns
    -------
    None, where all agree.

    Raises
    ------
    AssertionError : derivatives differ; the message has the mode, the place and both numbers.
    JitadTypeError : there are no floats to check.
    ValueError : an unknown mode.

    Source: differences extrapolated as by C. J. F. Ridders, *Accurate computation of F'(x) and
    F'(x)F''(x)*, Adv. Eng. Software 4 (1982).

    >>> import math
    >>> from jitad import check_grads
    >>> check_grads(lambda x, y: math.sin(x) * y, (0.5, 2.0))
    """
    if jvp is None or vjp is None:
        api = importlib.import_module("jitad.operators.api")  # the engine as users have it
        jvp, vjp = jvp or api.jvp, vjp or api.vjp
    for mode in modes:
        if mode not in ("forward", "reverse"):
            raise ValueError(f'modes are "forward" and "reverse", not {mode!r}')
    check = _Check(jvp, vjp, tuple(modes), rtol, atol, elements, np.random.default_rng(seed))
    check.run(f, tuple(args), order, getattr(f, "__name__", "f"))


@immutable(slots=True)
class _Point:
    """Arguments taken apart: real leaves as float64 arrays, the rest fixed."""

    structure: Structure
    leaves: list[Any]
    paths: list[str]

    @classmethod
    def of(cls, args: tuple[Any, ...]) -> _Point:
        leaves, structure = flatten(args)
        paths = []
        for path in structure.paths():
            number, _, rest = path[1:].partition("]")
            paths.append(f"argument {number}" + (f" at {rest}" if rest else ""))
        return cls(structure, leaves, paths)

    def real(self) -> list[int]:
        return [k for k, leaf in enumerate(self.leaves) if is_real(leaf)]

    def directions(self, make: Callable[[Any], Any]) -> tuple[Any, ...]:
        """A tangent of the arguments, `make(leaf)` for the real ones."""
        parts = [make(leaf) if is_real(leaf) else leaf for leaf in self.leaves]
        return unflatten(self.structure, parts)

    def moved(self, k: int, index: tuple[int, ...], by: Any) -> tuple[Any, ...]:
        """The arguments with one element moved; float32 is widened so that differences resolve."""
        parts = [wide(leaf, leaf) if is_real(leaf) else leaf for leaf in self.leaves]
        if np.ndim(parts[k]):
            parts[k] = parts[k].astype(np.result_type(parts[k], type(by)))
            parts[k][index] += by
        else:
            parts[k] = parts[k] + by
        return unflatten(self.structure, parts)


def is_real(leaf: Any) -> bool:
    kind = getattr(getattr(leaf, "dtype", None), "kind", "")
    return isinstance(leaf, float) or kind == "f"


def wide(value: Any, like: Any) -> Any:
    """A copy in double precision: an array where `like` is one, else a float."""
    return np.array(value, float) if np.ndim(like) else float(value)


@immutable(slots=True)
class _Check:
    jvp: Function
    vjp: Function
    modes: tuple[str, ...]
    rtol: float
    atol: float
    elements: int
    random: np.random.Generator

    def run(self, f: Function, args: tuple[Any, ...], order: int, name: str) -> None:
        point = _Point.of(args)
        value = f(*args)
        weights = self._weights(value, name)
        self._first_order(f, args, point, value, weights, name)
        if order <= 1:
            return
        if "forward" in self.modes:
            tangent = point.directions(self._random_like)
            self.run(lambda *a: self.jvp(f, a, tangent)[1], args, order - 1, f"jvp of {name}")
        if "reverse" in self.modes:
            self.run(lambda *a: _floats_only(self.vjp(f, *a)[1](weights)), args, order - 1,
                     f"vjp of {name}")  # fmt: skip

    def _random_like(self, leaf: Any) -> Any:
        drawn = self.random.standard_normal(np.shape(leaf))
        return drawn.astype(leaf.dtype) if np.ndim(leaf) else float(drawn)

    def _weights(self, value: Any, name: str) -> Any:
        """A random sensitivity of the result, which makes one number of it (1 for a number)."""
        leaves, structure = flatten(value)
        if len(leaves) == 1 and is_real(leaves[0]) and not np.ndim(leaves[0]):
            return unflatten(structure, [1.0])
        if not any(map(is_real, leaves)):
            raise JitadTypeError(f"check_grads: the result of {name} has no floats in it",
                                 remedy="Check functions that return floats or float arrays.")
        return unflatten(structure, [self._random_like(v) if is_real(v) else v for v in leaves])

    def _first_order(
        self, f: Function, args: tuple[Any, ...], point: _Point, value: Any, weights: Any, name: str
    ) -> None:
        gradient: list[Any] | None = None
        if "reverse" in self.modes:
            primal, pullback = self.vjp(f, *args)
            _same_value(primal, value, f"{name}: the value that vjp gives")
            gradient = conform(pullback(weights), point.structure, "the gradient", "the arguments")

        def weighted(k: int, index: tuple[int, ...], h: Any) -> Any:
            """The weighted result as a function of one element's change."""
            return _dot(weights, f(*point.moved(k, index, h)))

        for k, index in self._places(point):
            leaf = point.leaves[k]
            found: dict[str, float] = {}
            if gradient is not None:
                found["reverse"] = float(gradient[k][index] if index else gradient[k])
            if "forward" in self.modes:
                unit = self._unit(point, k, index)
                primal, tangent = self.jvp(f, args, unit)
                _same_value(primal, value, f"{name}: the value that jvp gives")
                found["forward"] = float(_dot(weights, tangent))
            at = float(leaf[index] if index else leaf)
            expected, error, how = truth(
                partial(weighted, k, index), 0.05 * max(abs(at), 0.2),
            )
            place = point.paths[k] + (str(list(index)) if index else "")
            self._compare(found, expected, error, how, _is_single(leaf, value), f"{name}, {place}")

    def _compare(
        self, found: dict[str, float], expected: float, error: float, how: str, single: bool,
        place: str,
    ) -> None:  # fmt: skip
        rtol = max(self.rtol, 1e-3) if single else self.rtol
        allowed = (max(self.atol, 1e-3) if single else self.atol) + rtol * abs(expected)
        if not error <= max(1e-2 * abs(expected), 1e-2):
            raise AssertionError(
                f"check_grads: {place}: differences do not converge "
                f"({expected:.6g} with error {error:.1g}); is the function smooth there?"
            )
        for mode, got in found.items():
            if not abs(got - expected) <= allowed + 10.0 * error:
                others = "".join(f"  {m:8} {v:.12g}\n" for m, v in found.items())
                raise AssertionError(
                    f"check_grads: {place}: {mode} mode is off by {abs(got - expected):.3g}\n"
                    f"{others}  expected {expected:.12g} ({how}, error about {error:.1g})"
                )

    def _places(self, point: _Point) -> Iterator[tuple[int, tuple[int, ...]]]:
        """The elements to check: all of small arguments, a random choice of large ones."""
        every = [(k, i) for k in point.real() for i in np.ndindex(np.shape(point.leaves[k]))]
        if len(every) <= self.elements:
            yield from every
            return
        for n in sorted(self.random.choice(len(every), self.elements, replace=False)):
            yield every[n]

    def _unit(self, point: _Point, k: int, index: tuple[int, ...]) -> tuple[Any, ...]:
        parts: list[Any] = [np.zeros_like(v) if np.ndim(v) else (0.0 if is_real(v) else v)
                 for v in point.leaves]  # fmt: skip
        if index:
            parts[k][index] = 1.0
        else:
            parts[k] = 1.0 if not np.ndim(parts[k]) else np.ones_like(parts[k])
        return unflatten(point.structure, parts)


def _dot(weights: Any, value: Any) -> Any:
    """The sum of weight times result over all real leaves."""
    total: Any = 0.0
    for w, v in zip(flatten(weights)[0], flatten(value)[0], strict=True):
        if is_real(w):
            total = total + (np.sum(np.asarray(w, float) * v))
    return total


def _floats_only(value: Any) -> tuple[Any, ...]:
    """The real leaves: what can be differentiated once more."""
    return tuple(leaf for leaf in flatten(value)[0] if is_real(leaf) or hasattr(leaf, "tag"))


def _is_single(leaf: Any, value: Any) -> bool:
    return any(getattr(v, "dtype", None) == np.float32 for v in (leaf, *flatten(value)[0]))


def _same_value(got: Any, want: Any, what: str) -> None:
    for g, w in zip(flatten(got)[0], flatten(want)[0], strict=True):
        if is_real(w):
            single = getattr(w, "dtype", None) == np.float32
            close = np.allclose(np.asarray(g, float), w, rtol=1e-5 if single else 1e-10,
                                atol=1e-12, equal_nan=True)  # fmt: skip
            if not close:
                raise AssertionError(f"check_grads: {what} is {g!r}; the function's own is {w!r}")
