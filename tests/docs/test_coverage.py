"""Is docs/coverage.md what the registry and the tests say?"""

from __future__ import annotations

import numpy as np
import pytest

from jitad import grad
from jitad.errors import JitadTypeError
from tests.docs.coverage import MODULES, PAGE, REASONS, UNCONCERNED, functions, page


def test_the_page_is_true() -> None:
    assert PAGE.read_text() == page(), "python -m tests.docs.coverage writes it anew"


@pytest.mark.parametrize("name", MODULES)
def test_names_that_are_listed_exist(name: str) -> None:
    listed = UNCONCERNED.get(name, "").split()
    for where in REASONS.values():
        listed += where.get(name, "").split()
    assert len(listed) == len(set(listed))
    assert [f for f in listed if not hasattr(MODULES[name], f)] == []


def test_what_is_refused_says_so() -> None:
    """One of each reason; the others take the same way."""
    for f in (np.real_if_close, np.nextafter, np.gcd):
        with pytest.raises(JitadTypeError, match=f"{f.__name__} is not supported|no derivative"):
            grad(lambda a, f=f: np.sum(f(a, a) if f is not np.real_if_close else f(a)))(np.eye(2))


def test_a_module_has_functions() -> None:
    assert all(len(list(functions(name))) > 5 for name in MODULES)
