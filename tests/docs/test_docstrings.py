"""Do the examples in the docstrings of jitad's modules work?"""

import doctest
import importlib
import pkgutil

import pytest

import jitad

MODULES = ["jitad"] + [
    module.name
    for module in pkgutil.walk_packages(getattr(jitad, "__path__", []), prefix="jitad.")
    if not module.name.endswith("__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    module = importlib.import_module(name)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, _ = doctest.testmod(module, optionflags=options)
    assert failed == 0, f"see the doctest report of {name} above"
