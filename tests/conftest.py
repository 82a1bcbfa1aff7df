"""What do all tests share?  A cache of their own, and random examples that are the same each time.

The eager engine may not stand in for a kernel, but in tests of just that.

    --hypothesis-profile=unshrunk    the first failure as it is
    --optimised                      no kernels but those that LLVM has optimised

More random programs than here: `python -m tests.properties.search`, and `tests/examples.py`.
"""

import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext

import pytest
from hypothesis import Phase, settings

# A worker has a core: threads of BLAS would wait for those of the other workers.  Read by BLAS
# when NumPy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from jitad import set_fallback
from tests.quickly import quickly

settings.register_profile("same", derandomize=True, database=None, deadline=None)
settings.register_profile("unshrunk", settings.get_profile("same"), phases=[Phase.generate])
settings.load_profile("same")

# Tapes and the compiler's data are many small objects that rarely form cycles: the collector
# would take a sixth of the time.
gc.set_threshold(100_000, 20, 100)

# Set before jitad compiles anything; processes that tests start inherit it.
_CACHE = os.environ["JITAD_CACHE_DIR"] = tempfile.mkdtemp(prefix="jitad-tests-")


# Where compiled functions may run in the eager engine.
FALLBACK = (
    "tests/api/test_untraceable.py",
    "tests/docs/test_examples.py::test_document[LIMITATIONS.md]",
    "tests/docs/test_examples.py::test_document[docs/nesting.md]",
    "tests/nesting/test_unknown_depth.py",
    "tests/seeds/test_compiled.py::test_unknown_depth",
)


@pytest.fixture(autouse=True)
def _fallback(request: pytest.FixtureRequest) -> Iterator[None]:
    before = set_fallback(request.node.nodeid.startswith(FALLBACK))
    yield
    set_fallback(before)


# Where the question is what is computed, and LLVM's optimiser is not asked for more.  What it makes
# of kernels is seen in all others: the catalogue, the kernels by hand, random programs, GradBench,
# what emitted code and the passes before it are tested with, and those programs of users that
# compute with arrays; of theirs that are about Python the tracer has more to fear.
QUICKLY = (
    *(f"tests/{folder}/" for folder in (
        "api", "breadth", "custom", "jacobians", "nesting", "seeds", "solutions", "solvers",
        "sparsity", "sweeps", "trace", "values",
    )),
    *(f"tests/users/test_{name}.py" for name in (
        "collected", "collecting", "control", "everyday", "idioms", "keeping", "looked_up",
        "met", "mixed", "objects", "practised", "projects", "pythonic", "routines", "searched",
        "sequences", "trades",
    )),
)  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def _level(request: pytest.FixtureRequest) -> Iterator[None]:
    quick = request.node.nodeid.startswith(QUICKLY) and not request.config.option.optimised
    with quickly() if quick else nullcontext():
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--optimised", action="store_true", help="optimise all kernels, as for users")


@pytest.fixture(autouse=True, scope="module")
def _frozen() -> Iterator[None]:
    """What a file leaves, compiled functions above all, is not looked through in all later ones."""
    yield
    gc.collect()
    gc.freeze()


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(_CACHE, ignore_errors=True)
