"""What are distributions whose parameters are given first: `norm(mean, deviation)`?"""

from __future__ import annotations

from typing import Any

import scipy.stats as st

from jitad.values.active import any_traced
from jitad.values.registry import call, call_plain, implementation, replaces, unsupported
from jitad.values.scipy.discrete import _DISCRETE
from jitad.values.scipy.distributions import _CONTINUOUS
from jitad.values.stand_ins import Read, StandIn, stands_for


class Frozen(StandIn):
    """A distribution: methods with the parameters filled in."""

    _what = "distribution"

    def __init__(self, law: Any, args: Any, kwargs: dict[str, Any]) -> None:
        self._law, self._args, self._kwargs = law, args, kwargs

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._law, name, None)
        if name.startswith("_") or method is None:
            return super().__getattr__(name)
        if implementation(method) is not None:
            return lambda *given: call(method, *given, *self._args, **self._kwargs)
        if any_traced(self._args) or any_traced(self._kwargs.values()):
            raise unsupported(method)
        return getattr(call_plain(self._law, self._args, self._kwargs), name)


LAWS = {name: entry[0] for name, entry in (*_CONTINUOUS.items(), *_DISCRETE.items())}
LAWS["multivariate_normal"] = st.multivariate_normal


def enter(name: str, law: Any) -> None:
    LAWS[name] = law
    replaces(law, plain=False)(lambda *args, **kwargs: Frozen(law, args, kwargs))


for _name, _law in tuple(LAWS.items()):
    enter(_name, _law)


@stands_for(type(st.norm()), type(st.poisson(1.0)))
def frozen(value: Any, read: Read) -> Any:
    """A distribution that was frozen outside."""
    law = LAWS.get(value.dist.name)
    if type(law) is not type(value.dist):
        law = value.dist  # whose methods are refused
    return Frozen(law, read("args"), read("kwds"))
