"""Does a library that can't take a traced or differentiated number say so in the user's terms?"""

import json
import pickle
import struct
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import pytest

import jitad
from jitad.errors import JitadTypeError

GIVEN = {
    "json.dumps": lambda x: len(json.dumps({"a": [x]})),
    "Decimal": lambda x: float(Decimal(x)),
    "Fraction": lambda x: float(Fraction(x)),
    "struct.pack": lambda x: struct.unpack("d", struct.pack("d", x))[0],
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "timedelta": lambda x: timedelta(seconds=x).total_seconds(),
}
OWN = ("Leaf", "Cell", "Bundle", "ArrayHandle", "Stretch")


@pytest.mark.parametrize("take", [jitad.grad, jitad.jit_grad], ids=["eager", "compiled"])
@pytest.mark.parametrize("name", GIVEN)
def test_it_names_what_and_where(name, take):
    with pytest.raises(JitadTypeError) as error:
        take(GIVEN[name])(1.5)
    text = str(error.value)
    assert "test_libraries.py" in text and f'"{name}"' in text and text.count("\n") >= 3
    assert not any(own in text for own in OWN)


def test_what_the_user_raises_inside_is_the_users():
    def key(v):
        raise TypeError("no order")

    with pytest.raises(TypeError, match="no order"):
        jitad.grad(lambda x: sorted([x, 2.0 * x], key=key)[0])(1.5)


def test_a_library_function_that_knows_numbers_is_called():
    assert jitad.jit_grad(lambda x: x * len(json.dumps([1, 2])))(2.0) == 6.0


def dates(x):
    start, end = datetime(2024, 1, 31), datetime.fromisoformat("2025-03-01")
    years = (end - start).days / 365.25 + timedelta(hours=6).total_seconds() / 86400
    return x**years * (end.year - start.year) * int(end.strftime("%m"))


def test_dates_are_data_and_the_clock_is_not():
    want = 3 * (years := 395 / 365.25 + 0.25) * 1.5 ** (years - 1.0)
    assert jitad.grad(dates)(1.5) == pytest.approx(want)
    assert jitad.jit_grad(dates)(1.5) == pytest.approx(want)
    with pytest.raises(jitad.JitadError, match="something else at every call"):
        jitad.jit_grad(lambda x: x * datetime.now().year)(1.5)
