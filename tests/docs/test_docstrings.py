"""Is every public name documented, and do the examples in jitad's docstrings work?"""

import doctest
import importlib
import inspect
import pkgutil
import re

import pytest

import jitad

MODULES = ["jitad"] + [
    module.name
    for module in pkgutil.walk_packages(getattr(jitad, "__path__", []), prefix="jitad.")
    if not module.name.endswith("__main__")
]


def examples(name: str) -> list[doctest.DocTest]:
    module = importlib.import_module(name)
    return [t for t in doctest.DocTestFinder(exclude_empty=True).find(module) if t.examples]


WITH_EXAMPLES = {name: found for name in MODULES if (found := examples(name))}


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_docstrings(name: str) -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for test in WITH_EXAMPLES[name]:
        runner.run(test)
    assert runner.failures == 0, f"see the doctest report of {name} above"


@pytest.mark.parametrize("name", jitad.__all__)
def test_a_public_name_is_documented(name: str) -> None:
    """One shape for all: summary, parameters, result, errors, source of the method, example."""
    thing = getattr(jitad, name)
    doc = inspect.getdoc(thing)
    assert doc, f"{name} has no docstring"
    summary, *_ = doc.split("\n")
    assert summary.endswith((".", "?")), "the first line is a sentence"
    wanted = ["Parameters\n-----"]
    if not isinstance(thing, type):
        wanted += ["Returns\n-----"]
    if not (isinstance(thing, type) and issubclass(thing, Exception)):
        wanted += ["Raises\n-----"]
        assert re.search(r"\bshapes?\b", doc), f"{name}: of what shapes?"
        assert re.search(r"\bdtypes?\b|float(32|64)", doc), f"{name}: of what dtypes?"
    for part in [*wanted, "Source: ", ">>> "]:
        assert part in doc, f"{name}: no {part.split()[0]}"
    for parameter in inspect.signature(thing).parameters:
        described = doc.partition("Parameters\n-----")[2].partition("\n\n")[0]
        assert re.search(rf"\b{parameter}\b", described), f"{name}: what is {parameter}?"
    ran = [t for tests in WITH_EXAMPLES.values() for t in tests if t.name.endswith("." + name)]
    assert ran, f"{name}: its example doesn't run"
