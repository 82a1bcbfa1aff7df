"""Tests write to a cache folder of their own."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def cache_folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JITAD_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
