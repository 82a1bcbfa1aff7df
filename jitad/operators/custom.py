"""How does a user give a function derivative rules of its own?

`custom_jvp` and `custom_vjp` do it for functions that can be traced, in the way of JAX;
`stop_gradient` and `checkpoint` are what such rules are most often written for.  The rules are
ordinary functions: they are traced, compiled and differentiated like any other, so that
derivatives of derivatives need no further rules.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from jitad.errors import JitadError, JitadTypeError, JitadValueError
from jitad.named import name_of, named
from jitad.runtime import custom as eager
from jitad.runtime.custom import Rules
from jitad.structures import flatten
from jitad.trace import custom as traced
from jitad.trace import hooks, ongoing
from jitad.trace.around import outside
from jitad.trace.runs import leaving_nothing, taken_back
from jitad.values.active import any_traced
from jitad.where import caller

Function = Callable[..., Any]


class Custom:
    """A function with derivative rules; made by `custom_jvp` and `custom_vjp`.

    Parameters
    ----------
    f : the function, of floats, float arrays of any shape and structures of them; ints and bools
        are data.
    nondiff_argnums : positions of arguments that are data whatever they are; rules get them
        first.

    Methods
    -------
    defjvp(rule), defvjp(forward, backward) : see `custom_jvp` and `custom_vjp`; a function may have
        both.

    Raises
    ------
    JitadError : when differentiated: it has no rule yet, or it depends on what is differentiated
        otherwise than by its arguments.

    Source: JAX's functions of these names.

    >>> from jitad import custom_jvp
    >>> square = custom_jvp(lambda x: x * x)
    >>> square(3.0)
    9.0
    """

    def __init__(self, f: Function, nondiff_argnums: tuple[int, ...] = ()) -> None:
        if not callable(f):
            raise JitadTypeError(f"{f!r} is not a function", None, "Pass a function.")
        self.f = f
        self.data = tuple(sorted(nondiff_argnums))
        self.jvp: Function | None = None
        self.forward: Function | None = None
        self.backward: Function | None = None
        functools.update_wrapper(self, f, updated=())
        self.__name__ = getattr(f, "__name__", type(f).__name__)

    def __repr__(self) -> str:
        return f"<jitad function with rules {self.__name__}>"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickled by its name, if it has one."""
        name = name_of(self)
        return (named, name) if name is not None else super().__reduce_ex__(protocol)

    def defjvp(self, rule: Function) -> Function:
        """Set the forward rule: `rule(primals, tangents)` gives `(value, tangent)`."""
        self.jvp = rule
        return rule

    def defvjp(self, forward: Function, backward: Function) -> None:
        """Set the reverse rule, see `custom_vjp`."""
        self.forward, self.backward = forward, backward

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        trace = ongoing.current()
        if trace is None and not any_traced(flatten((args, kwargs))[0]):
            return self._plainly(args, kwargs)
        args = self._positional(args, kwargs)
        if self.jvp is None and self.backward is None:
            raise JitadError(f"{self.__name__} has no derivative rule yet", caller(),
                             "Give it one with defjvp or defvjp.")  # fmt: skip
        rules, rest = self._rules(args)
        if trace is not None:
            return traced.call(rules, rest)
        f, jvp, forward = (g and leaving_nothing(rules.name, g, "new numbers")
                           for g in (rules.f, rules.jvp, rules.forward))  # fmt: skip
        assert f is not None
        own = replace(rules, f=f, jvp=jvp, forward=forward, apart=taken_back)
        return eager.call(own, rest)

    def _plainly(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Where no derivative is taken; one that goes on around it sees what is written."""
        f = functools.partial(hooks.call, self.f) if outside.differentiates() else self.f
        return f(*args, **kwargs)

    def _positional(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """All arguments by position, defaults filled in: rules take them like that."""
        try:
            signature = inspect.signature(self.f)
        except (TypeError, ValueError):
            signature = None
        if signature is None:
            if kwargs:
                raise JitadTypeError(f"{self.__name__} takes no keyword arguments", caller())
            return args
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if bound.kwargs:
            raise JitadTypeError(
                f"{self.__name__} has rules, which take arguments by position, and can't be given "
                f"{', '.join(bound.kwargs)}", caller(), "Make it a positional argument.",
            )  # fmt: skip
        return bound.args

    def _whole(self, args: tuple[Any, ...]) -> Function:
        """A function that puts the data arguments among the others."""
        where = {k + len(args) if k < 0 else k for k in self.data}

        def whole(*primals: Any) -> tuple[Any, ...]:
            supply = iter(primals)
            return tuple(a if k in where else next(supply) for k, a in enumerate(args))

        return whole

    def _rules(self, args: tuple[Any, ...]) -> tuple[Rules, tuple[Any, ...]]:
        """The rules with the data arguments bound in, and the other arguments."""
        where = sorted(k + len(args) if k < 0 else k for k in self.data)
        if where and not 0 <= where[0] <= where[-1] < len(args):
            raise JitadValueError(
                f"{self.__name__}: nondiff_argnums={self.data} with {len(args)} arguments",
                caller(), "Give positions of arguments.",
            )  # fmt: skip
        data = tuple(args[k] for k in where)
        rest = tuple(a for k, a in enumerate(args) if k not in where)
        whole = self._whole(args)

        def rule(name: str, *before: Any) -> Function | None:
            found = getattr(self, name)
            if found is None:
                return None
            return lambda *given: hooks.call(traced.part(self, name), *before, *given)

        def on_all(name: str) -> Function | None:
            if getattr(self, name) is None:
                return None
            return lambda *primals: hooks.call(traced.part(self, name), *whole(*primals))

        f = on_all("f")
        assert f is not None
        rules = Rules(self.__name__, f, rule("jvp", *data), on_all("forward"),
                      rule("backward", *data))  # fmt: skip
        return rules, rest


def custom_jvp(f: Function, nondiff_argnums: tuple[int, ...] = ()) -> Custom:
    """Let `f` have a forward rule of its own; reverse mode follows by transposition.

    Parameters
    ----------
    f : function of floats, float arrays of any shape and structures of them; ints and bools are
        data.  An `@njit` function will do.
    nondiff_argnums : positions of arguments that are data whatever they are.

    Returns
    -------
    A `Custom` function.  Give it the rule with its `defjvp`: `rule(primals, tangents)`, two tuples
    with one entry an argument, gives `(value, tangent)`; the tangent has the structure, shapes and
    dtypes of the value and is linear in the tangents.  Arguments that are data come first:
    `rule(*data, primals, tangents)`.  Tangents of data inside structures are zeros.

    Raises
    ------
    JitadError : when differentiated: no rule was given; reverse mode is wanted and the rule is not
        linear; `f` closes over what is differentiated.
    JitadValueError, JitadTypeError : when differentiated: what the rule gives doesn't conform.

    Source: JAX's function of this name.

    >>> import numpy as np
    >>> from jitad import custom_jvp, grad, jit_grad
    >>> @custom_jvp
    ... def log1pexp(x):
    ...     return np.log(1.0 + np.exp(x))
    >>> @log1pexp.defjvp
    ... def rule(primals, tangents):
    ...     (x,), (t,) = primals, tangents
    ...     return log1pexp(x), (1.0 - 1.0 / (1.0 + np.exp(x))) * t
    >>> grad(log1pexp)(100.0), jit_grad(log1pexp)(100.0)
    (1.0, 1.0)
    """
    return Custom(f, nondiff_argnums)


def custom_vjp(f: Function, nondiff_argnums: tuple[int, ...] = ()) -> Custom:
    """Let `f` have a reverse rule of its own; forward mode follows by transposition.

    Parameters
    ----------
    f, nondiff_argnums : as for `custom_jvp`.

    Returns
    -------
    A `Custom` function.  Give it the rule with its `defvjp(forward, backward)`:
    `forward(*args)` gives `(value, kept)`, `backward(*data, kept, sensitivity)` a tuple with one
    sensitivity for each argument that is not data.  The sensitivity that comes in has the
    structure, shapes and dtypes of the value, those that go out have those of the arguments;
    `None` and `linear.ZERO` stand for zeros.

    Raises
    ------
    As `custom_jvp`; of forward mode where `backward` is not linear.

    Source: JAX's function of this name.

    >>> import numpy as np
    >>> from jitad import custom_vjp, grad, jit_grad
    >>> @custom_vjp
    ... def clipped(x, limit):
    ...     return 1.0 * x
    >>> def forward(x, limit):
    ...     return clipped(x, limit), limit
    >>> def backward(limit, sensitivity):
    ...     return np.clip(sensitivity, -limit, limit), None
    >>> clipped.defvjp(forward, backward)
    >>> grad(lambda x: 10.0 * clipped(x, 1.0))(3.0)
    1.0
    >>> jit_grad(lambda x: 10.0 * clipped(x, 1.0))(3.0)
    1.0
    """
    return Custom(f, nondiff_argnums)


class Checkpoint(Custom):
    """A function that reverse mode runs again instead of recording it."""

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        trace = ongoing.current()
        if trace is None and not any_traced(flatten((args, kwargs))[0]):
            return self._plainly(args, kwargs)
        args = self._positional(args, kwargs)

        def run(*primals: Any) -> Any:
            return hooks.call(traced.part(self, "f"), *primals)

        if trace is not None:
            return traced.call(Rules(self.__name__, run, None, None, None), args)
        return eager.checkpointed(self.__name__, leaving_nothing(self.__name__, run), args)


def checkpoint(f: Function) -> Custom:
    """Let reverse mode compute `f` again when it needs it, and keep nothing but its arguments.

    Parameters
    ----------
    f : function of floats, float arrays of any shape and structures of them; ints and bools are
        data.

    Returns
    -------
    A function of the same arguments with the same results and derivatives, of the same shapes and
    dtypes.  Records of loops inside `f` take less memory, and one more run of `f` takes time.

    Raises
    ------
    JitadError : when differentiated: `f` writes to its arguments or to things outside, which a
        second run would do again.

    Source: Griewank & Walther, *Evaluating Derivatives*, ch. 12; JAX's function of this name.

    >>> import math
    >>> from jitad import checkpoint, jit_grad
    >>> @checkpoint
    ... def step(x):
    ...     return math.sin(math.exp(math.cos(x)))
    >>> def walk(x):
    ...     for _ in range(100):
    ...         x = step(x)
    ...     return x
    >>> round(jit_grad(walk)(1.0), 6) == round(jit_grad(lambda x: walk(x))(1.0), 6)
    True
    """
    return Checkpoint(f)


def stop_gradient(x: Any) -> Any:
    """`x` itself, which derivatives take for a constant.

    Parameters
    ----------
    x : a float, a float array of any shape, or a structure of them.

    Returns
    -------
    The same value, of the same structure, shapes and dtypes.  Its derivative, of any order and in
    both modes, is zero.

    Raises
    ------
    Nothing of its own.

    Source: JAX's function of this name.

    >>> from jitad import grad, stop_gradient
    >>> grad(lambda x: x * stop_gradient(x))(3.0)
    3.0
    """
    return eager.stopped(x) if ongoing.current() is None else traced.stopped(x)
