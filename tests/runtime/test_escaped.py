"""Is a number that outlives the application which made it a plain one?"""

from __future__ import annotations

import json
import math
import pickle
from typing import Any

import numpy as np
import pytest

import jitad


def escaped() -> tuple[Any, Any]:
    kept: list[Any] = []

    def f(x: Any) -> Any:
        kept.append(x * 2.0)
        kept.append(x * np.ones(2))
        return x * x

    assert jitad.grad(f)(3.0) == 6.0
    return kept[0], kept[1]


def test_it_becomes_a_float_and_an_array_again() -> None:
    number, array = escaped()
    assert float(number) == 6.0 and int(number) == 6 and math.sqrt(number) == math.sqrt(6.0)
    assert np.asarray([number, 1.0]).tolist() == [6.0, 1.0] and hash(number) == hash(6.0)
    assert pickle.loads(pickle.dumps(number)) == 6.0 and json.dumps(float(number)) == "6.0"
    assert np.asarray(array).tolist() == [3.0, 3.0]
    assert jitad.grad(lambda x: x * number)(2.0) == 6.0


def test_not_before_its_application_has_returned() -> None:
    def f(x: Any) -> Any:
        return len(pickle.dumps(x)) * jitad.grad(lambda y: y * x)(1.0)

    with pytest.raises(jitad.JitadError, match="can't be pickled"):
        jitad.grad(f)(2.0)
