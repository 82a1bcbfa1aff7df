"""What are the derivatives written by hand, run as the Python that they are?

For tests on few numbers: Numba takes a minute to compile all of them.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import cache
from typing import Any
from unittest import mock

from numba.core.dispatcher import Dispatcher

from kernels import module_of


@cache
def by_hand(name: str) -> Callable[..., tuple[float, Any]]:
    """A kernel's `gradient`, not compiled."""
    spec = importlib.util.find_spec(module_of(name))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Modules decorate themselves, or through `kernels.common`, which has the name already.
    with mock.patch("numba.njit", _as_it_is), mock.patch("kernels.common.njit", _as_it_is):
        spec.loader.exec_module(module)
    gradient: Callable[..., tuple[float, Any]] = module.gradient
    assert not isinstance(gradient, Dispatcher)
    return gradient


def _as_it_is(*function: Any, **options: Any) -> Any:
    return function[0] if function else lambda f: f
