"""When may a traced function draw random numbers?  When it has made their generator, from a seed.

Then they are the same at every call: data, which the trace draws and a kernel has as constants.  A
kernel that draws again in a branch or an iteration would need the generator, so they are drawn in
the block of the tape in which the generator was made.  Normal and uniform numbers may have traced
parameters, by which they are moved and scaled, as NumPy does.
"""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import numpy as np

from jitad.errors import JitadError, UnrepeatableError
from jitad.tape.build import Leaf
from jitad.trace.around import outside
from jitad.trace.context import Trace
from jitad.values.active import any_traced
from jitad.values.array import ArrayHandle
from jitad.values.kind import fail

_NAMES = {False: (("loc", "scale"), ("low", "high")), True: (("mu", "sigma"), ("a", "b"))}
_KINDS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator,
          np.random.SeedSequence, random.Random)  # fmt: skip
_WRITING = frozenset({"shuffle", "permuted", "seed", "setstate", "set_state"})
_SHIFTED = frozenset({"normal", "gauss", "normalvariate", "uniform"})


def makes(f: Any) -> bool:
    """Does it make a generator?"""
    if _is_engine(f):
        return True
    return f is np.random.default_rng or (isinstance(f, type) and issubclass(f, _KINDS))


def _is_engine(f: Any) -> bool:
    """Is it a class of `scipy.stats.qmc`?  Its objects are drawn from as generators are."""
    return isinstance(f, type) and f.__module__ == "scipy.stats._qmc"


def made(trace: Trace, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A generator, of which it is noted if it is made of a number, or of one that is.

    One that gives something else at every call may be made, and kept, but not drawn from.
    """
    if _is_engine(f):
        check_seeded(trace, f, args, kwargs)
    args, kwargs = tuple(map(_known, args)), {k: _known(v) for k, v in kwargs.items()}
    out, given = f(*args, **kwargs), (*args, *kwargs.values())
    if _is_engine(f) or (
        given and all(type(a) is int or id(a) in trace.seeded for a in given)
    ):
        trace.seeded[id(out)] = out, trace.regions[-1] if trace.regions else None
    return out


def method(trace: Trace, f: Any, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]] | None:
    """A method of a generator that was made from a seed here, bound; None of anything else."""
    if id(getattr(f, "__self__", None)) in trace.seeded:
        return f, args
    if args and id(args[0]) in trace.seeded and hasattr(args[0], getattr(f, "__name__", "")):
        return getattr(args[0], f.__name__), args[1:]
    return None


def check_seeded(trace: Trace, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise for a function of SciPy's that draws by itself, or in a block that may not happen."""
    given = (*args, *kwargs.values())
    for generator in (x for x in given if isinstance(x, _KINDS) and id(x) in trace.seeded):
        _check_region(trace, generator)
    name = getattr(f, "__name__", "")
    if name not in _DRAWING or not _of_scipy(f):
        return
    words = {k for k, v in kwargs.items() if k in _SEEDS and _is_seed(trace, _known(v))}
    last = args[-1] if args and isinstance(args[-1], _KINDS) else None
    if not words and not _is_seed(trace, last) and not _draws_nothing(name, kwargs):
        raise fail(
            UnrepeatableError, f"{name} gives something else at every call, which a trace can't",
            "Give it a seed (rng=0, random_state=0), or draw outside and pass the numbers as an "
            "argument.",
        )  # fmt: skip


_SEEDS = ("rng", "random_state", "seed")
# what SciPy draws random numbers in, whatever its arguments are; `rvs` is a method
_DRAWING = frozenset("""
    rvs resample bootstrap permutation_test dunnett goodness_of_fit multiscale_graphcorr
    sobol_indices rand random random_array clarkson_woodruff_transform kmeans kmeans2 Halton
    LatinHypercube MultinomialQMC MultivariateNormalQMC PoissonDisk Sobol
""".split())


def _draws_nothing(name: str, kwargs: dict[str, Any]) -> bool:
    """Is it a sequence that is what it is?  Other engines draw though they scramble nothing."""
    plain = kwargs.get("scramble") is False and kwargs.get("optimization") is None
    return name in ("Sobol", "Halton") and plain


def _of_scipy(f: Any) -> bool:
    owner = getattr(f, "__self__", None)
    found = (getattr(f, "__module__", None), type(owner).__module__)
    return any((m or "").partition(".")[0] == "scipy" for m in found)


def _is_seed(trace: Trace, value: Any) -> bool:
    return type(value) is int or isinstance(value, np.integer) or id(value) in trace.seeded


def _check_region(trace: Trace, generator: Any) -> None:
    _, region = trace.seeded[id(generator)]
    if region is not (trace.regions[-1] if trace.regions else None):
        raise fail(
            JitadError, "random numbers are drawn under a traced condition, or in a loop of the "
            "kernel", "Draw all at once before: rng.normal(size=n).",
        )  # fmt: skip


def drawn(trace: Trace, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What f(*args, **kwargs) gives at every call."""
    _check_region(trace, f.__self__)
    if f.__name__ in _WRITING:
        raise fail(
            JitadError, "random numbers are drawn into an array, or by a method that changes how "
            "they are drawn", "Draw all at once before: rng.permutation(x).",
        )  # fmt: skip
    args = tuple(map(_known, args))
    kwargs = {k: _known(v) for k, v in kwargs.items()}
    return _moved(f, args, kwargs) if any_traced((*args, *kwargs.values())) else f(*args, **kwargs)


def drawing(f: Any, args: tuple[Any, ...]) -> Any:
    """The function itself, or for the eager engine one that takes parameters which are tagged.

    That a generator is drawn from is noted as a write to it.
    """
    for owner in (getattr(f, "__self__", None), *args[:1]):
        if isinstance(owner, _KINDS):
            outside.note_place(owner, "drawn", partial(_state, owner), partial(_set_state, owner))
    if getattr(f, "__name__", "") == "shuffle" and any(isinstance(a, ArrayHandle) for a in args):
        return partial(_shuffled, f)
    if getattr(f, "__name__", "") not in _SHIFTED or not args or not isinstance(args[0], _KINDS):
        return f
    return lambda *given, **named: (
        _moved(getattr(args[0], f.__name__), given[1:], named)
        if any_traced((*given, *named.values())) else f(*given, **named)
    )


def _shuffled(f: Any, *args: Any, axis: int = 0) -> None:
    """An array is put into the order that indices get by the same draws."""
    *owner, x = args[:2] if isinstance(args[0], _KINDS) else args[:1]
    axis = (*args, axis)[len(owner) + 1]
    order = np.arange(x.shape[axis])
    f(*owner, order)
    x[...] = x[(*[slice(None)] * (axis % x.ndim), order)]


def _moved(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Numbers of a distribution that differs from a standard one by being moved and scaled."""
    if f.__name__ in _SHIFTED:
        names = _NAMES[isinstance(f.__self__, random.Random)][f.__name__ == "uniform"]
        given = dict(zip((*names, "size"), args, strict=False)) | kwargs
        first, second = (given.pop(n, d) for n, d in zip(names, (0.0, 1.0), strict=True))
        one_each = not any(getattr(v, "ndim", 0) for v in (first, second))
        if one_each or given.get("size") is not None:
            z = f(0.0, 1.0, **given)
            return first + (second - first if f.__name__ == "uniform" else second) * z
    raise fail(JitadError, f"{f.__name__} is given traced values, and draws what depends on them",
               "Draw standard numbers, and move and scale them yourself.")  # fmt: skip


def _known(value: Any) -> Any:
    """Sizes are relied on."""
    if isinstance(value, Leaf) and value.type.dtype[0] == "i":  # type: ignore[union-attr]
        return value.known("how many random numbers are drawn")
    return tuple(map(_known, value)) if type(value) is tuple else value


class _State:
    """Where a generator is."""

    def __init__(self, content: Any) -> None:
        self.content = content


def _state(generator: Any) -> _State:
    match generator:
        case random.Random():
            return _State(generator.getstate())
        case np.random.RandomState():
            return _State(generator.get_state(legacy=False))
        case np.random.Generator():
            return _State(generator.bit_generator.state)
        case np.random.BitGenerator():
            return _State(generator.state)
    return _State(None)  # what makes seeds


def _set_state(generator: Any, state: _State) -> None:
    match generator:
        case random.Random():
            generator.setstate(state.content)
        case np.random.RandomState():
            generator.set_state(state.content)
        case np.random.Generator():
            generator.bit_generator.state = state.content
        case np.random.BitGenerator():
            generator.state = state.content
