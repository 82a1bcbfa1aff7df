"""What happens with functions that jitad can't or shall not look into?

`opaque` marks them: they are called as they are, by kernels through a callback into Python.  Their
derivatives are unknown.  What that means is a *policy*; by default it means nothing until a
derivative that isn't zero depends on one.  `primitive` is an opaque function whose rules the user
gives.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import numpy as np

from jitad.errors import MET, JitadTypeError, JitadValueError
from jitad.operators.custom import Custom
from jitad.runtime import custom as eager
from jitad.runtime import leaves, tags
from jitad.runtime.custom import Rules
from jitad.runtime.tags import nested
from jitad.runtime.unknown import Unknown
from jitad.structures import flatten, unflatten
from jitad.tape.build import Leaf
from jitad.trace import custom as traced
from jitad.trace import ongoing
from jitad.trace import opaque as callbacks
from jitad.trace.around.paths import Guard, Path, Root
from jitad.trace.operators import dress
from jitad.values.array import ArrayHandle
from jitad.values.number import Number
from jitad.values.registry import call
from jitad.where import caller

Function = Callable[..., Any]
Policy = str | Callable[..., Any]

POLICIES = ("reached", "active", "met")


class _Policy(threading.local):
    """The policy of the innermost `unknown_policy` of this thread."""

    value: Policy = "reached"


_policy = _Policy()


@contextmanager
def unknown_policy(policy: Policy) -> Iterator[None]:
    """Say when a function without derivative rules is an error.

    Parameters
    ----------
    policy : "reached" (the default): when a derivative that isn't symbolically zero depends on it,
        on the branch that is taken.  "active": when its arguments are being differentiated.  "met":
        when differentiated code calls it at all.  Or a function that is called with the function
        and its arguments each time one is met; it gives one of the three, or `None` for the
        default, or raises.

    Returns
    -------
    A context manager.  Functions that `opaque` gave a policy keep it.  (Of numbers and arrays of
    any shapes and dtypes: a policy looks at functions only.)

    Raises
    ------
    JitadValueError : an unknown policy.
    JitadTypeError : (later) a derivative is missing; the message names all that are.

    Source: the policies of rackpropagator, a Racket library for reverse mode.

    >>> import math
    >>> from jitad import grad, opaque, unknown_policy
    >>> is_large = opaque(lambda x: x > 100.0)
    >>> def f(x):
    ...     return x * x if is_large(x) else 3.0 * x
    >>> grad(f)(2.0)
    3.0
    >>> with unknown_policy("active"):
    ...     grad(f)(2.0)
    Traceback (most recent call last):
    jitad.errors.JitadTypeError: no derivative rule is known for <lambda>...
    """
    _checked(policy)
    before, _policy.value = _policy.value, policy
    try:
        yield
    finally:
        _policy.value = before


def _checked(policy: Any) -> None:
    if not callable(policy) and policy not in POLICIES:
        raise JitadValueError(f"{policy!r} is no policy for unknown functions", caller(),
                              f"Take one of {', '.join(POLICIES)}, or a function.")  # fmt: skip


class Opaque(Custom):
    """A function that is not looked into; made by `opaque` and `primitive`."""

    def __init__(
        self, f: Function, nondiff_argnums: tuple[int, ...] = (), like: Any = None,
        policy: Policy | None = None,
    ) -> None:  # fmt: skip
        super().__init__(f, nondiff_argnums)
        if policy is not None:
            _checked(policy)
        self.like, self.policy = like, policy

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        trace = ongoing.current()
        if kwargs or self.data:
            args = self._positional(args, kwargs)
        if trace is None and not eager.newest_tag(args):
            if nested():
                self._met(args)
            return self._plain(*args)
        rules, rest = self._rules(args)
        return eager.call(rules, rest) if trace is None else traced.call(rules, rest)

    def _plain(self, *args: Any) -> Any:
        """The function itself, on plain numbers and arrays of its own."""
        flat, structure = flatten(args)
        given = unflatten(structure, [
            leaves.snapshot(leaf).peek().copy() if isinstance(leaf, ArrayHandle) else leaf
            for leaf in flat
        ])  # fmt: skip
        out = self.f(*given)
        callbacks.saw(self.f, args, out)
        return _handles(out) if any(isinstance(x, ArrayHandle) for x in flat) or nested() else out

    def _apply(self, *args: Any) -> Any:
        """The function where no tag is looked at: called now, or by the kernel."""
        if ongoing.current() is None:
            return self(*args) if eager.newest_tag(args) else self._plain(*args)
        return callbacks.call(traced.part(self, "f"), args, self.like)

    def _rules(self, args: tuple[Any, ...]) -> tuple[Rules, tuple[Any, ...]]:
        rules, rest = super()._rules(args)
        whole = self._whole(args)
        if self.jvp is not None or self.backward is not None:
            return Rules(self.__name__, lambda *p: self._apply(*whole(*p)), rules.jvp,
                         rules.forward, rules.backward), rest  # fmt: skip
        where = caller()
        what = f"{self.__name__} ({where})" if where else self.__name__
        refused = what if self._met(args) == "active" else ""

        def again(*primals: Any) -> Any:
            return self(*whole(*primals))

        def jvp(primals: Any, tangents: Any) -> Any:
            value = again(*primals)
            return value, _unknown(what, value, tangents)

        return Rules(
            self.__name__, lambda *p: self._apply(*whole(*p)), jvp,
            lambda *primals: (again(*primals), primals),
            lambda primals, ct: tuple(_unknown(what, p, ct) for p in primals), refused,
        ), rest  # fmt: skip

    def _met(self, args: tuple[Any, ...]) -> str:
        """The policy for this call; raises where the function must not be met."""
        policy: Any = self.policy
        if policy is None:
            policy = _policy.value
            trace = ongoing.current()
            if trace is not None:
                kind = "is" if callable(policy) else "value"
                at = Path(Root(_policy), (("attr", "value"),))
                trace.captures.guards.append(Guard(at, kind, policy))
        if callable(policy):
            policy = policy(self.f, *args) or "reached"
            _checked(policy)
        if policy == "met" and self.jvp is None and self.backward is None:
            self._refuse()
        return str(policy)

    def _refuse(self) -> None:
        """An error when the innermost derivative ends, which names all that it has met."""
        where = caller()
        met = (f"{self.__name__} ({where})", MET)
        trace = ongoing.current()
        if trace is None and nested():
            tags.REFUSED.setdefault(tags.innermost(), {})[met] = where
        elif trace is not None and trace.orders:
            trace.refused[met] = where


def _handles(value: Any) -> Any:
    """Arrays as code that is differentiated holds them."""
    flat, structure = flatten(value)
    return unflatten(structure, [ArrayHandle(np.array(x)) if type(x) is np.ndarray else x
                                 for x in flat])  # fmt: skip


def _unknown(what: str, value: Any, depends: Any) -> Any:
    """Unknown derivatives in the place of all numbers that have one."""
    trace = ongoing.current()
    others = [leaf for leaf in flatten(depends)[0] if isinstance(leaf, (Leaf, ArrayHandle))]

    def unknown(leaf: Any) -> Any:
        if not leaves.is_real(leaf):
            if isinstance(leaf, ArrayHandle):  # whose extents only the kernel may know
                return call(np.zeros_like, leaf)
            return leaves.zero_of(leaf) if not isinstance(leaf, Number) else 0
        if trace is None:
            return Unknown((what,), getattr(leaf, "shape", ()))
        b = trace.builder
        atoms = [b.atom(x.content if isinstance(x, ArrayHandle) else x) for x in (leaf, *others)]
        return dress(b, b.emit("unknown", *atoms, missing=what), leaf)

    flat, structure = flatten(value)
    return unflatten(structure, map(unknown, flat))


def opaque(f: Function, *, like: Any = None, policy: Policy | None = None) -> Opaque:
    """Let `f` be called as it is: neither traced nor differentiated.

    Parameters
    ----------
    f : any function of numbers, arrays of any shape and dtype, structures of them, and other
        things.  Arrays that it is given are its own.
    like : a value like those it returns, which tells compiled code their structure, dtypes and
        numbers of axes.  Without it they are found out by calling `f`: by default it is taken to
        return a float; if not, it is called once more.
    policy : as for `unknown_policy`, for this function.

    Returns
    -------
    A function of the same arguments.  What it returns in compiled code is made of numbers and
    arrays.  Exceptions that `f` raises leave the kernel as they are.

    Raises
    ------
    JitadTypeError : when differentiated: a derivative is missing, or, compiled, a result that is
        neither a number nor an array.
    JitadError : when compiled: `f` was made on the way and closes over a traced value.

    Source: the policies are those of rackpropagator; calls back into Python as in JAX's
    `pure_callback`.

    >>> from jitad import grad, jit_grad, opaque
    >>> lookup = opaque(lambda n: {1: 10.0, 2: 20.0}[n])
    >>> def f(x, n):
    ...     return x * lookup(n)
    >>> grad(f)(3.0, 2), jit_grad(f)(3.0, 2)
    (20.0, 20.0)
    """
    return Opaque(f, like=like, policy=policy)


def primitive(f: Function, nondiff_argnums: tuple[int, ...] = (), *, like: Any = None) -> Custom:
    """Make a function that jitad does not look into differentiable, by rules.

    Parameters
    ----------
    f : as for `opaque`.  An `@njit` function is compiled into kernels; others are called back in
        Python.
    nondiff_argnums : as for `custom_jvp`.
    like : as for `opaque`: a value like those that it returns, of their shapes and dtypes.

    Returns
    -------
    A function of the same arguments, with `defjvp` and `defvjp` as `custom_jvp` and `custom_vjp`
    have them; one of the two will do, where the rule is linear.  Without rules it is an opaque
    function.

    Raises
    ------
    As `opaque` and `custom_vjp`.

    Source: autograd's `primitive`.

    >>> import math
    >>> from jitad import derivative, jit_grad, primitive
    >>> @primitive
    ... def bessel(x):
    ...     from scipy.special import j0
    ...     return float(j0(x))
    >>> @bessel.defjvp
    ... def rule(primals, tangents):
    ...     from scipy.special import j1
    ...     (x,), (t,) = primals, tangents
    ...     return bessel(x), -minus_slope(x) * t
    >>> @primitive
    ... def minus_slope(x):
    ...     from scipy.special import j1
    ...     return float(j1(x))
    >>> round(derivative(bessel)(1.0), 6), round(jit_grad(bessel)(1.0), 6)
    (-0.440051, -0.440051)
    """
    if isinstance(getattr(f, "py_func", None), FunctionType):
        return Custom(f, nondiff_argnums)
    if not callable(f):
        raise JitadTypeError(f"{f!r} is not a function", None, "Pass a function.")
    return Opaque(f, nondiff_argnums, like)


# SciPy has many functions of numbers without a rule here: they are unknown functions, too.
of_ufunc = functools.cache(opaque)
