"""All uses of library functions that the tests know."""

from __future__ import annotations

from tests.breadth import (  # noqa: F401  modules add their cases
    applied,
    arrays,
    basics,
    chosen,
    complexes,
    designs,
    distances,
    distributions,
    divided,
    furthered,
    interpolations,
    krylov,
    libraries,
    matrices,
    matrices_of_entries,
    numbers,
    orders,
    orthogonal,
    patterned,
    sampled,
    samples,
    solving,
    special,
    spectra,
    turned,
    waves,
    windows,
    written,
)
from tests.breadth.case import CASES

IDS = [f"{k}-{c.covers}" for k, c in enumerate(CASES)]

__all__ = ["CASES", "IDS"]
