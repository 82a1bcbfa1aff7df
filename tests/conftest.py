"""What do all tests share?  A cache of their own, and random examples that are the same each time.

    --hypothesis-profile=unshrunk    the first failure as it is

More random programs than here: `python -m tests.properties.search`.
"""

import os
import shutil
import tempfile

import pytest
from hypothesis import Phase, settings

settings.register_profile("same", derandomize=True, database=None, deadline=None)
settings.register_profile("unshrunk", settings.get_profile("same"), phases=[Phase.generate])
settings.load_profile("same")

# Set before jitad compiles anything; processes that tests start inherit it.
_CACHE = os.environ["JITAD_CACHE_DIR"] = tempfile.mkdtemp(prefix="jitad-tests-")


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(_CACHE, ignore_errors=True)
