"""Has each kernel of a function, made for things of another form, its own texts?"""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import jit

K: Any = None


def printed(x: float) -> float:
    print(K)
    return 2.0 * x


def printed_in_a_text(x: float) -> float:
    print(f"{K!r} {x > 0}", sep="")
    return 2.0 * x


def raised(x: float) -> float:
    if x > 0.0:
        raise ValueError(f"bad {K}")
    return x


def raised_with_it(x: float) -> float:
    if x > 0.0:
        raise KeyError("bad", K)
    return x


def asserted(x: float) -> float:
    if x > 0.0:  # as `assert` does; pytest writes that otherwise
        raise AssertionError(K)
    return x


def logged(x: float) -> float:
    logging.getLogger("jitad.tests.texts").warning("it is %s", K)
    return x


def warned(x: float) -> float:
    warnings.warn(f"it is {K}", stacklevel=1)
    return x


FORMS: dict[str, list[Any]] = {
    "numbers": [1.5, 2, None, True, np.float64(1.5), np.float32(2.5), np.int64(3), 1j, "a", 2.5],
    "lists": [[1.0, 2], [3.0], [[4.0], 5], [], [1, 2.0]],
    "dicts": [{"a": 1.0}, {"a": 2.0, "b": 1}, {"b": 2.0}, {"a": [1.0]}],
    "tuples": [(1.0, "a"), (1.0, "b"), (2.5, "b", 3), ((1.0,), "a")],
    "arrays": [np.ones(2), np.zeros(3), np.arange(3), np.ones((2, 2)), np.ones(2, np.float32)],
    "mixed": [[1.0], (1.0,), np.ones(1), {0: 1.0}, 1.0, [(1.0,)], [np.ones(1)]],
}


def outcome(f: Callable[[float], Any]) -> Any:
    out, seen = io.StringIO(), []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append(record.getMessage())

    logger, kept = logging.getLogger("jitad.tests.texts"), Kept()
    logger.addHandler(kept)
    try:
        with contextlib.redirect_stdout(out), warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            try:
                result = f(1.0)
            except (ValueError, KeyError, AssertionError) as error:
                result = str(error)
    finally:
        logger.removeHandler(kept)
    return result, out.getvalue(), seen, [str(w.message) for w in given]


@pytest.mark.parametrize("forms", FORMS)
@pytest.mark.parametrize(
    "f", [printed, printed_in_a_text, raised, raised_with_it, asserted, logged, warned]
)
def test_each_kernel_has_its_own_text(f: Callable[[float], float], forms: str) -> None:
    global K
    compiled = jit(f)
    for k in FORMS[forms] * 2:
        K = k
        assert outcome(compiled) == outcome(f), k
