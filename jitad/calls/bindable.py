"""How is one call made again and again, without handing its arguments over each time?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitad.calls.arguments import key_of
from jitad.calls.shortcuts import bound
from jitad.calls.specialisation import Specialisation
from jitad.structures import Structure

NOWHERE: Any = object()


class Bindable:
    """Its calls can be bound to arguments."""

    __slots__ = ()
    __name__: str
    f: Callable[..., Any]
    _outs: bool
    _by_key: dict[Any, list[Specialisation]]
    _flat: Callable[[Any, Any], tuple[list[Any], Structure]]
    __call__: Callable[..., Any]

    def bound(self, /, *args: Any, out: Any = NOWHERE, **kwargs: Any) -> Callable[[], Any]:
        """The call with these arguments, as a function that takes none: for inner loops.

        It gives what `self(*args, out=out, **kwargs)` gives whenever it is called: arrays among the
        arguments, those that the function captures, and `out` are read and written where they are.
        What it saves is to look at arguments: with `out=`, about half a microsecond where there
        are many.  The call is made once to begin with.

        Parameters, errors : those of the call.

        Source: the buffers of CasADi's functions (Andersson et al., *CasADi*, Mathematical
        Programming Computation 2019).

        >>> import numpy as np
        >>> from jitad import jit_grad
        >>> x, slope = np.array([1.0, -2.0]), np.zeros(2)
        >>> step = jit_grad(lambda x: np.sum(x * x)).bound(x, out=slope)
        >>> for _ in range(3):
        ...     x -= 0.25 * step()
        >>> x
        array([ 0.125, -0.25 ])
        """
        given = kwargs if out is NOWHERE else {**kwargs, "out": out}

        def call() -> Any:
            return self(*args, **given)

        call()
        kind = None if out is NOWHERE else self._kind_of_out()
        if kwargs or (out is not NOWHERE and kind is None):
            return call
        leaves, structure = self._flat(args, {})
        for s in self._by_key.get((structure, tuple(map(key_of, leaves))), ()):
            if not s.from_types and not s.traced.missed(self.f, args, {}):
                at = s.kernel.dispatcher, self.f, structure, leaves
                return bound(s.traced, *at, call, kind, out) or call
        return call

    def _kind_of_out(self) -> str | None:
        """What `out=` is for: all of the result, or the gradient; None: it is the function's."""
        if not self._outs:
            return None
        return "gradient" if getattr(self.f, "operator", "") == "value_and_grad" else "all"
