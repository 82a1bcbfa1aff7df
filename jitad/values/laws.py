"""What are distributions whose parameters are given first: `norm(mean, deviation)`?"""

from __future__ import annotations

from typing import Any

import scipy.stats as st

from jitad.values.discrete import _DISCRETE
from jitad.values.distributions import _CONTINUOUS
from jitad.values.registry import call, implementation, replaces, unsupported


class Frozen:
    """A distribution: methods with the parameters filled in."""

    def __init__(self, law: Any, args: Any, kwargs: dict[str, Any]) -> None:
        self._law, self._args, self._kwargs = law, args, kwargs

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._law, name)
        if implementation(method) is None:
            raise unsupported(method)
        return lambda x: call(method, x, *self._args, **self._kwargs)


LAWS = {name: entry[0] for name, entry in (*_CONTINUOUS.items(), *_DISCRETE.items())}
LAWS["multivariate_normal"] = st.multivariate_normal

for _law in LAWS.values():
    replaces(_law, plain=False)(lambda *args, law=_law, **kwargs: Frozen(law, args, kwargs))
