"""What do users call?

Derivative operators take a function and give a function.  Called in ordinary Python they run
eagerly, on tagged numbers; called inside a function that is being traced they are recorded; `jit`
traces and compiles.  `jit_grad(f)` is `jit(grad(f))`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jitad.calls.compiled import Compiled
from jitad.errors import JitadTypeError
from jitad.named import name_of, named

if TYPE_CHECKING:
    from jitad.primitives.schedules import Snapshots

Function = Callable[..., Any]
Argnums = int | tuple[int, ...]


class Derivative:
    """A function made from the function `f` by a derivative operator."""

    closes_over = ("f",)

    def __init__(
        self, operator: str, f: Function, argnums: Argnums = 0, has_aux: bool = False
    ) -> None:
        if not callable(f):
            raise JitadTypeError(
                f"{operator} takes a function, not a {type(f).__name__}", None,
                f"Write {operator}(f)(x), not {operator}(f(x)).",
            )  # fmt: skip
        if operator != "derivative" and not _is_argnums(argnums):
            raise JitadTypeError(
                f"{operator}: argnums={argnums!r} is neither an int nor a tuple of ints", None,
                "Give the positions of the arguments, such as 0 or (0, 2).",
            )  # fmt: skip
        if isinstance(argnums, tuple) and len(set(argnums)) < len(argnums):
            raise JitadTypeError(
                f"{operator}: argnums={argnums!r} names an argument twice", None,
                "Give each position once.",
            )  # fmt: skip
        self.operator, self.f, self.argnums, self.has_aux = operator, f, argnums, bool(has_aux)
        # All that it is besides f; a trace relies on it.
        self.manner = f"{operator} by {argnums}" + " and more" * self.has_aux
        self.__wrapped__ = f  # for its signature
        self.__name__ = self.__qualname__ = (
            f"{operator}({getattr(f, '__name__', type(f).__name__)})"
        )
        self.__doc__ = f"The {operator} of {getattr(f, '__qualname__', type(f).__name__)}."

    def __repr__(self) -> str:
        return f"<jitad {self.__name__}>"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickled by its name, if it has one."""
        name = name_of(self)
        return (named, name) if name is not None else super().__reduce_ex__(protocol)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        from jitad.operators.applied import applied  # the engines: a kernel needs neither

        return applied(self, args, kwargs)


def _is_argnums(argnums: Any) -> bool:
    kinds = argnums if isinstance(argnums, tuple) else (argnums,)
    return bool(kinds) and all(isinstance(k, int) and not isinstance(k, bool) for k in kinds)


def grad(f: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """The gradient of a function with a scalar result, by reverse mode.

    Parameters
    ----------
    f : function of floats, float64 or float32 arrays of any shape and strides, and nested tuples,
        lists, dicts, NamedTuples and dataclasses of them; ints and bools are data.
    argnums : which positional arguments to differentiate with respect to; an int or a tuple.
    has_aux : whether `f` returns a pair: the scalar, and anything else, which is not
        differentiated (predictions, states, counts).

    Returns
    -------
    A function of the same arguments.  Its result has the structure, shapes and dtypes of the
    chosen argument (a tuple of those for a tuple of `argnums`).  With `has_aux` it is a pair: that,
    and what else `f` returned.

    Raises
    ------
    JitadTypeError : the result of `f` is not a number (with `has_aux`: not a pair that begins with
        one), or an argument has no floats.
    JitadValueError : `argnums` names an argument that the call doesn't give.

    Source: reverse accumulation; Griewank & Walther, *Evaluating Derivatives*, ch. 3.2.

    >>> from jitad import grad
    >>> def f(x, y):
    ...     return x * x * y
    >>> grad(f)(3.0, 2.0)
    12.0
    >>> grad(f, (0, 1))(3.0, 2.0)
    (12.0, 9.0)
    >>> grad(lambda x: (x * x, {"twice": 2.0 * x}), has_aux=True)(3.0)
    (6.0, {'twice': 6.0})
    """
    return Derivative("grad", f, argnums, has_aux)


def value_and_grad(f: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """The value of `f` together with its gradient, from one run.

    Parameters
    ----------
    f, argnums, has_aux : as for `grad`.

    Returns
    -------
    A function of the same arguments, which gives `(f(...), grad(f, argnums)(...))`: the value (with
    `has_aux` the pair) with
    the dtype that `f` gives it, the gradient with the structure, shapes and dtypes of what it is
    taken by.

    Raises
    ------
    JitadTypeError, JitadValueError : as `grad`.

    Source: reverse accumulation, see `grad`.

    >>> from jitad import value_and_grad
    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """

    return Derivative("value_and_grad", f, argnums, has_aux)


def derivative(f: Function) -> Function:
    """The derivative of a function of one real number, by forward mode.

    Parameters
    ----------
    f : function of a float (float64 or float32), and of further arguments, which are held
        constant.  It may return anything: a number, an array of any shape, a structure of them,
        or a function.

    Returns
    -------
    A function of the same arguments.  Its result has the structure, shapes and dtypes of that of
    `f`; a function is differentiated pointwise: `derivative(f)(x)(y)` is the derivative of
    `f(x)(y)` by x.

    Raises
    ------
    JitadTypeError : the first argument is not a float.

    Source: forward accumulation; R. E. Wengert, *A simple automatic derivative evaluation
    program*, Comm. ACM 7 (1964).

    >>> import math
    >>> from jitad import derivative
    >>> derivative(math.sin)(0.0)
    1.0
    >>> derivative(lambda t: (t * t, [3.0 * t]))(2.0)
    (4.0, [3.0])
    """

    return Derivative("derivative", f)


def jvp(f: Function, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    """The value of `f` and its derivative in one direction, by forward mode.

    Parameters
    ----------
    f : function of floats, float arrays of any shape and structures of them; ints and bools are
        data, whose tangents are not looked at.
    primals : the positional arguments of `f`.
    tangents : the direction: for each primal a value of its structure and shapes.

    Returns
    -------
    `(f(*primals), tangent)`; the tangent has the structure, shapes and dtypes of the value.

    Raises
    ------
    JitadValueError : the tangents are not as many as the primals, or of other shapes.

    Source: forward accumulation; Griewank & Walther, *Evaluating Derivatives*, ch. 3.1.

    >>> from jitad import jvp
    >>> jvp(lambda x, y: x * y, (3.0, 2.0), (1.0, 0.5))
    (6.0, 3.5)
    """
    from jitad.trace import pointwise

    return pointwise.jvp(f, tuple(primals), tuple(tangents))


def _call(f: Function, *args: Any) -> Any:
    return f(*args)


def vjp(f: Function, *args: Any, closure: bool = False) -> tuple[Any, Function]:
    """The value of `f` and its pullback, by reverse mode.

    Parameters
    ----------
    f : function of floats, float arrays of any shape and structures of them; ints and bools are
        data.  Its value may be any structure of numbers and arrays.
    args : its positional arguments.  Where one is, or holds, a function or a plain object, its
        sensitivity is a dict: that of each float, array or structure that the function closes
        over, or that the object has for an attribute.
    closure : whether the pullback also gives, before the others, the sensitivity of `f` itself.

    Returns
    -------
    `(f(*args), pullback)`.  `pullback(sensitivity)` takes a sensitivity of the structure and
    shapes of the value, and gives a tuple with one sensitivity an argument, of the structure,
    shapes and dtypes of that argument.  It may be called more than once.  `linear.ZERO` may stand
    for zeros in a sensitivity.  What `f` writes to what it closes over doesn't leave it if
    `closure` is asked for: it has copies.

    Raises
    ------
    JitadValueError : a sensitivity that doesn't conform to the value (from the pullback).

    Source: reverse accumulation; Griewank & Walther, *Evaluating Derivatives*, ch. 3.2.

    >>> from jitad import vjp
    >>> value, pullback = vjp(lambda x, y: (x * y, x), 3.0, 2.0)
    >>> value, pullback((1.0, 10.0))
    ((6.0, 3.0), (12.0, 3.0))
    >>> def scaled(by):
    ...     return lambda x: by * x
    >>> vjp(scaled(5.0), 3.0, closure=True)[1](1.0)
    ({'by': 3.0}, 5.0)
    """
    if closure:
        return vjp(_call, f, *args)
    from jitad.operators.applied import pulled_back

    return pulled_back(f, args)


def jit(
    f: Function, *, fallback: bool | None = None, memory: float | Snapshots | None = None,
    parallel: bool | int = False,
) -> Compiled:
    """Compile a function to a native kernel, one for each combination of argument types.

    The function is traced when it is first called with new types (lengths of arrays are not part
    of a type).  It computes what `f` computes and writes what `f` writes.

    Parameters
    ----------
    f : function of floats, ints, bools, arrays of them of any shape, strides and dtype (but
        complex), and nested tuples, lists, dicts, NamedTuples and dataclasses of those.  What it
        takes from around it is read anew at every call.
    fallback : what to do where a trace can't go on, because numbers decide what only Python can do
        (a key of a dict; how deep derivatives nest: `while f(x) < 0.0: f = derivative(f)`).
        True: such calls run in the eager engine, with a `FallbackWarning` the first time; paths on
        which derivatives nest are compiled as well.  False: they raise `JitadError`.  None: as
        `set_fallback` says.
    memory : how many bytes the records of loops may take in the reverse mode of each derivative.
        Loops whose records fit are recorded; others keep snapshots of what they carry, and run
        again from there, as often as that demands.  `Snapshots(n)`: n of those, whatever they
        take.  None: as `set_memory` says, which is no limit at first.
    parallel : True: loops whose iterations may run in any order run on threads, as many as
        `set_num_threads` says, where there is enough to do.  An int: on so many at most.  Sums may
        differ in the last bits from those of one thread; they are the same in each call.

    Returns
    -------
    A `Compiled` function of the same arguments with the same results.

    Raises
    ------
    JitadTypeError : `f` is not a function; when called: an argument that no kernel takes.
    JitadError : when called: what the function does can't be traced, and not run in the eager
        engine either, or may not; the message has the line.
    JitadMemoryError : when called: `memory` is less than one step of a loop takes.
    Exceptions that `f` raises keep their class.

    Source: tracing as in Frostig, Johnson & Leary, *Compiling machine learning programs via
    high-level tracing*, SysML 2018, with control flow rewritten into calls of the tracer.

    >>> import numpy as np
    >>> from jitad import jit
    >>> @jit
    ... def total(x):
    ...     s = 0.0
    ...     for e in x:
    ...         s += e * e
    ...     return s
    >>> total(np.arange(4.0))
    14.0
    """
    return Compiled(f, fallback, memory, parallel)


def jit_grad(
    f: Function, argnums: Argnums = 0, has_aux: bool = False, *, fallback: bool | None = None,
    memory: float | Snapshots | None = None, parallel: bool | int = False,
) -> Compiled:
    """`jit(grad(f, argnums))`: the gradient as a native kernel.

    Parameters
    ----------
    f, argnums, has_aux : as for `grad`; fallback, memory, parallel : as for `jit`.

    Returns
    -------
    A `Compiled` function of the same arguments; shapes and dtypes of its result as of `grad`.

    Raises
    ------
    JitadTypeError, JitadValueError : as `grad`.
    JitadError : what the function does can't be traced; the message has the line.

    Source: reverse mode as a transformation of the tape, with values kept or computed again as a
    minimum cut decides; Hascoet & Pascual, *The Tapenade automatic differentiation tool*, ACM
    TOMS 39 (2013).

    >>> import numpy as np
    >>> from jitad import jit_grad
    >>> jit_grad(lambda x: np.sum(x * x))(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return Compiled(grad(f, argnums, has_aux), fallback, memory, parallel)


def jit_value_and_grad(
    f: Function, argnums: Argnums = 0, has_aux: bool = False, *, fallback: bool | None = None,
    memory: float | Snapshots | None = None, parallel: bool | int = False,
) -> Compiled:
    """`jit(value_and_grad(f, argnums))`: what optimisers want.

    Parameters
    ----------
    f, argnums, has_aux : as for `grad`; fallback, memory, parallel : as for `jit`.

    Returns
    -------
    A `Compiled` function of the same arguments; shapes and dtypes of its results as of
    `value_and_grad`.

    Raises
    ------
    JitadTypeError, JitadValueError, JitadError : as `jit_grad`.

    Source: as `jit_grad`.

    >>> import numpy as np
    >>> from scipy.optimize import minimize
    >>> from jitad import jit_value_and_grad
    >>> def rosenbrock(x):
    ...     return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)
    >>> fit = minimize(jit_value_and_grad(rosenbrock), np.zeros(5), jac=True)
    >>> bool(np.allclose(fit.x, 1.0, atol=1e-4))
    True
    """
    return Compiled(value_and_grad(f, argnums, has_aux), fallback, memory, parallel)
