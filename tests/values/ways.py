"""How can one function of arrays be run?  On ndarrays, plain handles, a tape, and tagged arrays.

`f` is written against a namespace `np`, because library functions are replaced by the tracer:
on ndarrays it is NumPy, otherwise each attribute is its replacement.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import scipy.special

from jitad.errors import JitadError
from jitad.runtime import jvp
from jitad.tape.build import Builder, Leaf
from jitad.tape.interpret import interpret
from jitad.tape.ir import Tape, Var, lit
from jitad.tape.types import Array, type_of_constant
from jitad.tape.verify import verify
from jitad.values.array import ArrayHandle
from jitad.values.functions import implementation
from jitad.values.kind import building


class Namespace:
    """A module whose functions are replaced where there is a replacement."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        original = getattr(self._module, name)
        if type(original) is type(numpy):
            return Namespace(original)
        try:
            return implementation(original) or original
        except TypeError:
            return original


np = Namespace(numpy)
sp = Namespace(scipy.special)

F = Callable[..., Any]


def flat(out: Any) -> list[Any]:
    if isinstance(out, (tuple, list)):
        return [x for o in out for x in flat(o)]
    return [out]


def contents(out: Any) -> list[Any]:
    return [o.content if isinstance(o, ArrayHandle) else o for o in flat(out)]


def on_ndarrays(f: F, *args: Any) -> list[Any]:
    copies = [numpy.array(a) if isinstance(a, numpy.ndarray) else a for a in args]
    return flat(f(numpy, *copies))


def on_handles(f: F, *args: Any) -> list[Any]:
    handles = [ArrayHandle(numpy.array(a), owned=True) if isinstance(a, numpy.ndarray) else a
               for a in args]  # fmt: skip
    return contents(f(np, *handles))


def record(f: F, *args: Any, ints: bool = False) -> tuple[Tape, list[Any]]:
    """The tape of f and the arguments to interpret it with; extents of 1 are literal."""
    given: list[Any] = []

    def constant(a: Any) -> Var:
        var = Var(Array(a.dtype.str[1:], a.ndim), tuple(lit(n) for n in a.shape))
        builder.blocks[0].params.append(var)
        given.append(a)
        return var

    builder = Builder(constant)
    handles: list[Any] = []
    for a in args:
        if isinstance(a, numpy.ndarray):
            var = builder.input(Array(a.dtype.str[1:], a.ndim))
            shape = zip(a.shape, var.shape, strict=True)
            var.shape = tuple(lit(1) if n == 1 else d for n, d in shape)
            builder.examples.update(zip(var.shape, a.shape, strict=True))
            handles.append(ArrayHandle(Leaf(builder, var)))
            given.append(a)
        elif isinstance(a, float) or (ints and type(a) is int):
            handles.append(Leaf(builder, builder.input(type_of_constant(a))))
            given.append(a)
        else:
            handles.append(a)
    with building(builder):
        out = contents(f(np, *handles))
    builder.blocks[0].results = [builder.atom(x) for x in out]
    return verify(Tape("f", builder.blocks[0])), given


def on_tape(f: F, *args: Any, ints: bool = False) -> list[Any]:
    tape, given = record(f, *args, ints=ints)
    return interpret(tape.body, given)


def on_tagged(f: F, *args: Any) -> list[Any]:
    """The primal values that forward mode computes, all float arguments being active."""
    active = [k for k, a in enumerate(args) if numpy.asarray(a).dtype.kind == "f"]

    def g(*some: Any) -> Any:
        full = [ArrayHandle(a) if isinstance(a, numpy.ndarray) else a for a in args]
        for k, a in zip(active, some, strict=True):
            full[k] = a
        return tuple(flat(f(np, *full)))

    primals = tuple(args[k] for k in active)
    tangents = tuple(numpy.ones_like(p) if isinstance(p, numpy.ndarray) else 1.0 for p in primals)
    value, _ = jvp(g, primals, tangents)
    return contents(value)


__all__ = ["JitadError"]

WAYS = {"handles": on_handles, "tape": on_tape, "tagged": on_tagged}


def assert_same(found: list[Any], want: list[Any], dtypes: bool = True) -> None:
    """Equal to rounding, with equal shapes and dtypes."""
    assert len(found) == len(want)
    for a, b in zip(found, want, strict=True):
        assert numpy.shape(a) == numpy.shape(b)
        if dtypes:
            assert numpy.asarray(a).dtype == numpy.asarray(b).dtype
        numpy.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
