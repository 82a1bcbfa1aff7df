"""Is the truth about the catalogue's programs true?  Complex steps against differences."""

from __future__ import annotations

import numpy as np
import pytest

from tests.programs import MODULE, PROGRAMS
from tests.truth import (
    argnums,
    complex_step,
    differences,
    fresh,
    leaves,
    random_direction,
)


@pytest.mark.parametrize("name", PROGRAMS)
def test_truth(name: str) -> None:
    program = PROGRAMS[name]
    for seed in range(2):
        args = program.sample(seed)
        value = program.function(*fresh(args))
        assert np.shape(value) == () and np.isfinite(value)
        positions = argnums(program, args)
        direction = random_direction(args, positions, seed)
        expected, error = differences(program.function, args, positions, direction)
        assert error < 1e-6 * max(1.0, abs(expected)), "the program is not smooth here"
        if program.truth == "complex":
            exact = complex_step(MODULE[name], name, args, positions, direction)
            assert abs(exact - expected) <= 1e-7 * max(1.0, abs(exact)) + 10 * error


def test_the_catalogue_is_wide() -> None:
    tags = {tag for p in PROGRAMS.values() for tag in p.tags}
    assert len(PROGRAMS) >= 150
    assert {"while", "for", "branch", "inplace", "slice", "closure", "njit", "break"} <= tags
    assert all(leaves(p.sample()) for p in PROGRAMS.values())
