"""What is the tangent of a result that depends on nothing?  Zero; of what is no number, itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jitad import jit, jvp

X = np.array([1.0, 2.0])

CONSTANTS = {
    "text": (lambda x: "a", "a"),
    "text of extents": (lambda x: str(x.shape), "(2,)"),
    "text of elements": (lambda x: f"{x[0]:.1f} of {len(x)!r}", "1.0 of 2"),
    "dtype": (lambda x: x.dtype, np.dtype(float)),
    "class": (lambda x: type(x), np.ndarray),
    "slice": (lambda x: slice(1), slice(1)),
    "none": (lambda x: None, None),
    "int": (lambda x: 3, 0.0),
    "length": (lambda x: len(x), 0.0),
    "narrow": (lambda x: np.float32(2.0), np.float32(0.0)),
    "complex": (lambda x: np.complex64(2.0), np.complex64(0.0)),
    "infinite": (lambda x: np.inf, 0.0),
    "no number": (lambda x: np.float64(np.nan), 0.0),
    "infinite array": (lambda x: np.array([np.inf, 1.0]), np.zeros(2)),
    "infinite where": (lambda x: np.where(x > 0.0, np.inf, -np.inf), np.zeros(2)),
    "truths": (lambda x: x > 0.0, np.zeros(2, bool)),
    "ints": (lambda x: np.arange(len(x)), np.zeros(2, int)),
}


@pytest.mark.parametrize("constant, tangent", CONSTANTS.values(), ids=CONSTANTS)
@pytest.mark.parametrize("engine", [lambda f: f, jit], ids=["eager", "compiled"])
def test_tangents_of_constants(engine: Any, constant: Any, tangent: Any) -> None:
    def along(x: Any) -> Any:
        return jvp(lambda x: {"square": x * x, "constant": constant(x)}, (x,), (x,))

    value, found = engine(along)(X)
    np.testing.assert_array_equal(found["square"], 2.0 * X * X)
    np.testing.assert_equal(value["constant"], constant(X))
    np.testing.assert_equal(found["constant"], tangent)
    assert isinstance(tangent, float) or type(found["constant"]) is type(tangent)
    np.testing.assert_equal(engine(lambda x: jvp(along, (x,), (x,)))(X)[0][1]["constant"], tangent)
