"""What is the derivative of a function whose result is a function?

Post-composition: `D f x y = d/dx (f x y)`.  The result is a function that, each time it is called,
runs f anew under a fresh tag and differentiates what f's result gives for the arguments at hand.
A tag that were kept from the first run would mix the calls up (Manzyuk, Pearlmutter, Radul,
Rush & Siskind, *Perturbation confusion in forward automatic differentiation of higher-order
functions*, J. Functional Programming 29 (2019)).  In a trace such a function is recorded where
it is called; one that a kernel returns holds the numbers that it needs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitad import runtime
from jitad.closures import is_function
from jitad.runtime import leaves
from jitad.structures import flatten, map_structure
from jitad.trace import ongoing
from jitad.trace.around.outside import Outside

Function = Callable[..., Any]


def call(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    from jitad.trace import hooks  # hooks know of operators, and those of this file

    return hooks.call(f, *args, **kwargs)


def jvp(f: Function, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    """In the engine that is running: recorded in a trace, else eager."""
    if any(is_function(t) for tangent in tangents for t in flatten(tangent)[0]):
        return _along_functions(f, primals, tangents)
    if ongoing.current() is not None:
        from jitad.trace import operators

        return operators.jvp(f, primals, tangents)
    with Outside():
        return runtime.jvp(Prepared(f), primals, tangents, pointwise=Pointwise)


def pushed(
    f: Function, primals: tuple[Any, ...], directions: list[tuple[Any, ...]]
) -> list[Any]:
    """The tangents of f in several directions: recorded as one sweep, eagerly one by one."""
    if ongoing.current() is not None:
        from jitad.trace import operators

        return operators.pushed(f, primals, directions, twin=True)[1]
    return [jvp(f, primals, along)[1] for along in directions]


class Prepared:
    """A user's function in the form the eager engine calls: through the call hook."""

    def __init__(self, f: Function) -> None:
        self.f = self.__wrapped__ = f
        self.__name__ = getattr(f, "__name__", type(f).__name__)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return call(self.f, *args, **kwargs)


class _Made:
    """A function of this file: an object, so that a trace finds all that it reads."""

    closes_over: tuple[str, ...] = ()

    def __repr__(self) -> str:
        of = getattr(self, "f", None)
        name = getattr(of, "__name__", type(of).__name__)
        return f"<jitad {type(self).__name__.lower()} {name}>"

    def inside(self) -> tuple[Any, ...]:
        """What it closes over; of one from outside a trace, as the trace has it."""
        trace = ongoing.current()
        path = None if trace is None else trace.captures.path_of(self)
        if trace is None or path is None:
            return tuple(getattr(self, name) for name in self.closes_over)
        read = trace.captures.read
        return tuple(read(path.then("attr", n), getattr(self, n)) for n in self.closes_over)


class Pointwise(_Made):
    """The derivative of the function that is leaf number `place` of f's result."""

    closes_over = ("f", "place", "primals", "tangents")

    def __init__(
        self, f: Function, place: int, primals: tuple[Any, ...], tangents: tuple[Any, ...]
    ) -> None:
        self.f = f.f if type(f) is Prepared else f
        self.place = place
        self.primals, self.tangents = _as_now(primals), _as_now(tangents)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        f, place, primals, tangents = self.inside()
        return jvp(Composed(f, place, args, kwargs), primals, tangents)[1]


class Composed(_Made):
    """The function of x that is `f(x)(*args)`, for leaf number `place` of f's result."""

    closes_over = ("f", "place", "args", "kwargs")

    def __init__(self, f: Function, place: int, args: tuple[Any, ...], kwargs: Any) -> None:
        self.f, self.place, self.args, self.kwargs = f, place, args, kwargs

    def __call__(self, *primals: Any) -> Any:
        f, place, args, kwargs = self.inside()
        return call(flatten(call(f, *primals))[0][place], *args, **kwargs)


class Anew(_Made):
    """The function that is leaf number `place` of f's result: what a trace has in its place."""

    closes_over = ("f", "place", "primals")

    def __init__(self, f: Function, place: int, primals: tuple[Any, ...]) -> None:
        self.f, self.place, self.primals = f, place, _as_now(primals)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        f, place, primals = self.inside()
        return call(flatten(call(f, *primals))[0][place], *args, **kwargs)


class Fixed(_Made):
    """The function of x that is `f(x, *args)`."""

    closes_over = ("f", "args", "kwargs")

    def __init__(self, f: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.f, self.args, self.kwargs = f, args, kwargs
        self.__name__ = getattr(f, "__name__", "f")

    def __call__(self, *x: Any) -> Any:
        f, args, kwargs = self.inside()
        return call(f, *x, *args, **kwargs)


def _as_now(value: Any) -> Any:
    """The value as it is, whatever is written to its arrays later."""
    return map_structure(leaves.snapshot, value)


# -- functions as vectors -------------------------------------------------------------------------


class Moved(_Made):
    """The function x -> point(x) + step * direction(x)."""

    closes_over = ("point", "direction", "step")

    def __init__(self, point: Any, direction: Any, step: Any) -> None:
        self.point, self.direction, self.step = point, direction, step

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        point, direction, step = self.inside()
        return _moved(call(point, *args, **kwargs), call(direction, *args, **kwargs), step)


def _moved(point: Any, direction: Any, step: Any) -> Any:
    """point + step * direction, in every number and every function."""
    ds = iter(flatten(direction)[0])

    def move(p: Any) -> Any:
        d = next(ds)
        if is_function(d):
            return Moved(p, d, step)
        return p + step * d if leaves.is_real(p) else p

    return map_structure(move, point)


def _along_functions(
    f: Function, primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[Any, Any]:
    """Functions form a vector space pointwise: the derivative of t -> f(p + t * v) at 0."""

    return jvp(_Along(f, primals, tangents), (0.0,), (1.0,))


class _Along(_Made):
    """The function of t that is f(primals + t * tangents)."""

    closes_over = ("f", "primals", "tangents")

    def __init__(self, f: Function, primals: Any, tangents: Any) -> None:
        self.f, self.primals, self.tangents = f, primals, tangents

    def __call__(self, step: Any) -> Any:
        f, primals, tangents = self.inside()
        return call(f, *_moved(primals, tangents, step))
