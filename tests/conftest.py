"""What do all tests share?  A cache of their own, and random examples that are the same each time.

The eager engine may not stand in for a kernel, but in tests of just that.

    --hypothesis-profile=unshrunk    the first failure as it is

More random programs than here: `python -m tests.properties.search`.
"""

import gc
import os
import shutil
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import Phase, settings

# A worker has a core: threads of BLAS would wait for those of the other workers.  Read by BLAS
# when NumPy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from jitad import set_fallback

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


@pytest.fixture(autouse=True)
def _as_numpy_warns() -> Iterator[None]:
    """What NumPy warns of is as it was: derivatives switch it off, and on again."""
    before = np.geterr()
    yield
    after = np.geterr()
    np.seterr(**before)
    assert after == before


@pytest.fixture(autouse=True, scope="module")
def _frozen() -> Iterator[None]:
    """What a file leaves, compiled functions above all, is not looked through in all later ones."""
    yield
    gc.collect()
    gc.freeze()


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(_CACHE, ignore_errors=True)
