"""What does a derivative operator do when it is called: is it recorded, or does it run?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitad import runtime
from jitad.trace import ongoing, operators
from jitad.trace.around.outside import Outside
from jitad.trace.pointwise import Fixed, Pointwise, Prepared


def applied(of: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`of(*args, **kwargs)` of an `api.Derivative`."""
    if ongoing.current() is not None:
        f = operators.inner(of)
        match of.operator:
            case "derivative":
                return operators.derivative(f, args[0], args[1:], kwargs)
            case "grad":
                value, gradient = operators.value_and_grad(
                    f, of.argnums, args, kwargs, of.has_aux
                )
                return (gradient, value[1]) if of.has_aux else gradient
            case _:
                return operators.value_and_grad(f, of.argnums, args, kwargs, of.has_aux)
    prepared = Prepared(of.f)
    with Outside():
        match of.operator:
            case "derivative":
                fixed = Fixed(of.f, args[1:], kwargs) if args[1:] or kwargs else of.f

                def made(_: Any, *where: Any) -> Any:
                    return Pointwise(fixed, *where)

                return runtime.derivative(prepared, pointwise=made)(*args, **kwargs)
            case "grad":
                make = runtime.grad
            case _:
                make = runtime.value_and_grad
        return make(prepared, of.argnums, of.has_aux)(*args, **kwargs)


def pulled_back(f: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, Callable[..., Any]]:
    """See `api.vjp`."""
    if ongoing.current() is not None:
        return operators.vjp(f, args)
    with Outside(lasts=True):
        return runtime.vjp(Prepared(f), *args)
