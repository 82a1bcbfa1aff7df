"""Do errors at run time keep their class and arguments, eagerly, compiled, and from @njit?"""

from __future__ import annotations

import builtins
import math
import pickle
from typing import Any

import numpy as np
import pytest
from numba import njit

import jitad
from jitad import JitadError, grad, jit_grad
from tests.api.messages import check_message, raised


def square(x):
    return x * x


class TooSmall(Exception):
    def __init__(self, value: float, code: int = 3) -> None:
        super().__init__("too small", value)
        self.value, self.code = value, code


def strict(x, i, values):
    if x < -5.0:
        raise TooSmall(x)
    if x < -4.0:
        raise ValueError(f"{x:.1f} is less than -4 in {values}")
    if x < -3.0:

        class Local(KeyError):
            pass

        raise Local("here", x)
    if x < -2.0:
        raise LookupError
    assert x != -1.5, f"not {2 * x}"
    y = math.sqrt(x + 1.0) * math.exp(100.0 * x)
    return y / (x - 2.0) * values[i]


DATA = np.array([1.0, 2.0])
COMPILED_STRICT = jit_grad(strict)


@njit
def native_strict(x, i, values):
    return COMPILED_STRICT(x, i, values)


RUN_TIME = [
    (-6.0, 0, TooSmall, ("too small", -6.0)),
    (-4.5, 0, ValueError, ("-4.5 is less than -4 in [1. 2.]",)),
    (-3.5, 0, KeyError, ("here", -3.5)),
    (-2.5, 0, LookupError, ()),
    (-1.5, 0, AssertionError, ("not -3.0",)),
    (-1.25, 0, ValueError, "math domain error"),
    (9.0, 0, OverflowError, "math range error"),
    (2.0, 0, ZeroDivisionError, "float division by zero"),
    (0.5, 2, IndexError, "index is out of bounds for axis 0"),
    (0.5, -3, IndexError, "index is out of bounds for axis 0"),
]


@pytest.mark.parametrize(("x", "i", "kind", "args"), RUN_TIME)
@pytest.mark.parametrize("call", [grad(strict), COMPILED_STRICT, native_strict],
                         ids=["eager", "compiled", "njit"])  # fmt: skip
def test_run_time_errors(call: Any, x: float, i: int, kind: type, args: Any) -> None:
    with pytest.raises(kind) as e:
        call(x, i, DATA)
    if isinstance(args, tuple):
        assert e.value.args == args
        assert not isinstance(e.value, JitadError)
    elif call is not grad:
        assert isinstance(e.value, JitadError)
        assert args in str(e.value) or kind is IndexError
        assert __file__ in str(e.value) and "^" in str(e.value)
    if kind is TooSmall:
        assert vars(e.value) == {"value": -6.0, "code": 3}
    if kind is KeyError:
        assert type(e.value).__name__ == "Local"
    # and the next good call works
    assert math.isclose(call(0.5, 1, DATA), grad(strict)(0.5, 1, DATA), rel_tol=1e-12)


def test_run_time_messages_name_the_line() -> None:
    for call in (COMPILED_STRICT, native_strict):
        e = raised(lambda call=call: call(2.0, 0, DATA), ZeroDivisionError)
        source = "return y / (x - 2.0) * values[i]"
        check_message(e, __file__, "float division by zero", source, "y")


def test_errors_can_be_sent_to_other_processes() -> None:
    e = raised(lambda: jit_grad(square)(3))
    again = pickle.loads(pickle.dumps(e))
    assert type(again) is type(e) and str(again) == str(e)


def test_every_class_is_pythons_too() -> None:
    for name in ("Index", "Value", "Type", "Attribute", "ZeroDivision", "Overflow", "UnboundLocal"):
        kind = getattr(jitad.errors, f"Jitad{name}Error")
        assert issubclass(kind, JitadError) and issubclass(kind, getattr(builtins, f"{name}Error"))
