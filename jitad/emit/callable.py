"""How is a compiled derivative called from `@njit` code?

`register(cls)` makes Numba accept instances of `cls` as globals, closure variables and arguments.
Where one is called, Numba asks `obj.entry(argument_types)` for a dispatcher that takes exactly
these arguments; its code is linked into the caller, so the call is a native one.

Each object has a Numba type of its own: the type is what the caller was compiled for.  A caller
that Numba keeps on disk would run an old derivative after the objective was edited, in a process
that never looked at the objective.  So callers are marked as not to be kept: the live address of
the object is part of their code, also where the call is inlined into callers of callers.
"""

from __future__ import annotations

from typing import Any, Protocol

from numba import types
from numba.extending import (
    NativeValue,
    box,
    lower_builtin,
    models,
    register_model,
    typeof_impl,
    unbox,
)

from jitad.emit import numba_private
from jitad.errors import JitadTypeError


class Enterable(Protocol):
    """What a registered class offers."""

    def entry(self, argument_types: tuple[Any, ...]) -> Any:
        """A dispatcher for these Numba types (literal types where the caller has literals)."""


class CompiledType(types.Callable, types.Opaque):
    """The Numba type of one object; holds it, so that its identity stays its own."""

    def __init__(self, obj: Any) -> None:
        self.obj = obj
        super().__init__(f"jitad.Compiled<{getattr(obj, '__name__', '')} at {id(obj):#x}>")

    @property
    def key(self) -> int:
        return id(self.obj)

    def dispatcher(self, argument_types: tuple[Any, ...]) -> Any:
        return self.obj.entry(argument_types)

    def get_call_type(self, context: Any, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        if kws:
            raise JitadTypeError(
                f"{self.obj!r} is called with keyword arguments from @njit code",
                remedy="Pass them by position.",
            )
        plain = tuple(types.unliteral(a) for a in args)
        entry = self.dispatcher(tuple(args))
        sig = numba_private.call_type(entry, context, plain)
        # Literals stay in the signature: lowering asks for the same entry.
        return sig.replace(recvr=self, args=tuple(args))

    def get_call_signatures(self) -> tuple[list[Any], bool]:
        return [], True

    def get_impl_key(self, sig: Any) -> type:
        return CompiledType


register_model(CompiledType)(models.OpaqueModel)


@lower_builtin(CompiledType, types.VarArg(types.Any))
def _lower_call(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    me, *argument_types = sig.args
    entry = me.dispatcher(tuple(argument_types))
    numba_private.uncacheable(context, builder, me.obj)
    return numba_private.call(entry, context, builder, sig.return_type, argument_types, args[1:])


@numba_private.lower_constant(CompiledType)
def _lower_constant(context: Any, builder: Any, type: Any, value: Any) -> Any:
    return numba_private.uncacheable(context, builder, value)


@unbox(CompiledType)
def _unbox(type: Any, obj: Any, c: Any) -> Any:
    return NativeValue(obj)


@box(CompiledType)
def _box(type: Any, value: Any, c: Any) -> Any:
    c.pyapi.incref(value)
    return value


def register(cls: type) -> type:
    """Let instances of `cls` (and of its subclasses) be used in `@njit` code; gives `cls`."""

    @typeof_impl.register(cls)
    def typeof(value: Any, c: Any) -> Any:
        return CompiledType(value)

    return cls
