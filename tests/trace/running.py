"""How do the tests of trace/ run a traced function?  Plain Python is the truth."""

from __future__ import annotations

import copy
import math
import re
from typing import Any

import numpy as np

from jitad import JitadError, grad, jit, jit_grad
from jitad.tape.interpret import interpret
from jitad.tape.types import Array, Scalar, type_of_constant
from jitad.tape.verify import verify
from jitad.trace.trace import trace
from jitad.trace.traced import Shaped, Traced
from tests.engines import in_place_of_a_kernel


def abstract(value: Any, shaped: bool = True) -> Any:
    """Floats and arrays as types, containers of them element by element."""
    if isinstance(value, np.ndarray):
        t = Array(value.dtype.str[1:], value.ndim)
        return Shaped(t, value.shape) if shaped else t
    if isinstance(value, (float, np.floating)):
        return type_of_constant(value)
    if isinstance(value, (list, tuple)):
        parts = [abstract(v) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        return {k: abstract(v) for k, v in value.items()}
    return value


def traced(f: Any, *args: Any, ints: bool = False, **kwargs: Any) -> Traced:
    """The tape for arguments like these; `ints`: integers are traced as well."""
    types = [Scalar("i8", True) if ints and type(a) is int else abstract(a) for a in args]
    out = trace(f, types, {k: abstract(v) for k, v in kwargs.items()})
    verify(out.tape)
    return out


def run(t: Traced, f: Any, *args: Any, **kwargs: Any) -> Any:
    """Interpret the tape, commit the writes."""
    flat = interpret(t.tape.body, t.arguments(f, args, kwargs), functions=t.tape.functions)
    result, commit = t.result(flat, f, args, kwargs)
    commit()
    return result


def check(f: Any, *args: Any, ints: bool = False, others: Any = ()) -> Traced | None:
    """The tape gives what Python gives, and raises what Python raises, here and for `others`."""
    try:
        t = traced(f, *args, ints=ints)
    except (NameError, ArithmeticError) as e:  # raised on every path, or else not at all
        assert outcome(f, *copy.deepcopy(args))[0] in type(e).__mro__
        return None
    for given in (args, *others):
        want = outcome(f, *copy.deepcopy(given))
        got = outcome(lambda *a: run(t, f, *a), *copy.deepcopy(given))
        assert alike(got, want), f"{got} instead of {want} for {given}"
    return t


def outcome(f: Any, *args: Any) -> Any:
    try:
        return f(*args)
    except (ArithmeticError, ValueError, LookupError, AssertionError, NameError) as e:
        return next(
            k for k in type(e).__mro__ if k.__module__ == "builtins"
        ), (str(e.args[0]).split("\n")[0] if e.args and not hasattr(e, "what") else None)


def alike(a: Any, b: Any) -> bool:
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        if len(a) == 2 and isinstance(a[0], type) and isinstance(b[0], type):
            return a[0] is b[0] and (None in (a[1], b[1]) or a[1] == b[1])
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(alike(a[k], b[k]) for k in a)
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=1e-13, equal_nan=True)
    if isinstance(a, (int, float, np.generic)) and isinstance(b, (int, float, np.generic)):
        return math.isclose(a, b, rel_tol=1e-13) or (a != a and b != b)
    return bool(a == b)


def kernel_or_refusal(f: Any, points: Any, why: str) -> bool:
    """Kernels of a function of a number, and of its slope, give what Python gives, or are refused
    for such a reason; the eager engine gives it.  Were there kernels?"""
    there = True
    for x in points:
        want, h = f(x), 1e-6
        slope = (f(x + h) - f(x - h)) / (2.0 * h)
        try:
            np.testing.assert_allclose(jit(f)(x), want, rtol=1e-12)
            np.testing.assert_allclose(jit_grad(f)(x), slope, rtol=1e-5, atol=1e-4)
        except JitadError as e:
            assert re.search(why, str(e)), e
            there = False
        np.testing.assert_allclose(in_place_of_a_kernel(f, x), want, rtol=1e-12)
        np.testing.assert_allclose(grad(f)(x), slope, rtol=1e-5, atol=1e-4)
    return there
