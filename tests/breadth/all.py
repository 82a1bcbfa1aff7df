"""All uses of library functions that the tests know."""

from __future__ import annotations

from tests.breadth import arrays, matrices, orders  # noqa: F401  modules add their cases
from tests.breadth.case import CASES

__all__ = ["CASES"]
