"""What do the names in the seed programs mean, in terms of the eager engine?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitad import fixed_point
from jitad.runtime import derivative, grad, jvp, value_and_grad, vjp
from jitad.structures import flatten, unflatten
from jitad.values.number import Number, o

Operator = Callable[..., Any]


class Box:
    """A mutable cell that is compared by identity."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def get(self) -> Any:
        return self._value

    def set(self, value: Any) -> None:
        self._value = value


def made_of(
    derivative: Operator, grad: Operator, jvp: Operator, value_and_grad: Operator, vjp: Operator
) -> dict[str, Any]:
    """The operators that programs use, in terms of those of an engine."""

    def grad_all(f: Callable[..., Any]) -> Callable[..., Any]:
        """Gradients by every positional argument; ints get a zero of their kind."""

        def gradients(*args: Any) -> Any:
            return vjp(f, *args)[1](1.0)

        return gradients

    def gradient_f(f: Callable[..., Any]) -> Callable[..., Any]:
        """The gradient by one forward run for each leaf."""

        def gradient(point: Any) -> Any:
            leaves, structure = flatten(point)
            parts = []
            for k in range(len(leaves)):
                unit = [1.0 if i == k else 0.0 for i in range(len(leaves))]
                parts.append(jvp(f, (point,), (unflatten(structure, unit),))[1])
            return unflatten(structure, parts)

        return gradient

    def jacobian_r(f: Callable[..., Any]) -> Callable[..., Any]:
        """A row (the gradient) for each output."""

        def rows(point: Any) -> Any:
            value, pullback = vjp(f, point)
            count = len(flatten(value)[0])
            _, structure = flatten(value)
            units = [[float(i == k) for i in range(count)] for k in range(count)]
            return [pullback(unflatten(structure, unit))[0] for unit in units]

        return rows

    def hessian(f: Callable[..., Any], inner: str, outer: str) -> Callable[..., Any]:
        gradient = {"f": gradient_f, "r": grad}[inner](f)
        return {"f": gradient_f_of_list, "r": jacobian_r}[outer](gradient)

    def gradient_f_of_list(f: Callable[..., Any]) -> Callable[..., Any]:
        """The Jacobian of a function from lists to lists, by forward mode, transposed to rows."""

        def rows(point: Any) -> Any:
            units = [[float(i == k) for i in range(len(point))] for k in range(len(point))]
            columns = [jvp(f, (point,), (unit,))[1] for unit in units]
            return [list(row) for row in zip(*columns, strict=True)]

        return rows

    def directional_derivative(f: Callable[..., Any], point: Any, direction: Any) -> Any:
        """The derivative of e -> f(point + e * direction) at 0; functions are vectors."""

        def moved(p: Any, d: Any, e: Any) -> Any:
            if callable(p) and not isinstance(p, Number):
                return lambda *args: moved(p(*args), d(*args), e)
            ps, structure = flatten(p)
            ds, _ = flatten(d)
            if len(ps) == 1:
                return p + e * d
            return unflatten(structure, [moved(a, b, e) for a, b in zip(ps, ds, strict=True)])

        return derivative(lambda e: f(moved(point, direction, e)))(0.0)

    return {
        "np": np,
        "Box": Box,
        "derivative": derivative,
        "grad": grad,
        "grad_all": grad_all,
        "gradient_f": gradient_f,
        "value_and_grad": value_and_grad,
        "vjp": vjp,
        "jvp": jvp,
        "jacobian_r": jacobian_r,
        "hessian": hessian,
        "directional_derivative": directional_derivative,
    }


NAMES: dict[str, Any] = {
    **made_of(derivative, grad, jvp, value_and_grad, vjp),
    "fixed_point": fixed_point,
    **{name: getattr(o, name) for name in "sin cos exp log sqrt tanh atan2".split()},
}
