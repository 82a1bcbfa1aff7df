"""Does every misuse of the operators say what is the matter?  The line it names is the caller's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import JitadError, derivative, grad, jit, jit_grad, jvp, value_and_grad, vjp
from tests.api.messages import check_message, raised

THREE = np.array([1.0, 2.0, 3.0])


def square(x):
    return x * x


def total(x):
    return np.sum(x)


def pair(x):
    return x, x


def nothing(x):
    x * x


Call = Callable[[], Any]

MISUSE: dict[str, tuple[Call, type, str, str, str, str]] = {
    "an int": (
        lambda: jit_grad(square)(3), TypeError,
        "grad: argument 0 (x) has no floats to differentiate with respect to",
        "lambda: jit_grad(square)(3), TypeError,", "jit_grad(square)(3)",
        "Pass a float (3.0 instead of 3), or choose other argnums.",
    ),
    "an int, eagerly": (
        lambda: grad(square)(4), TypeError,
        "grad: argument 0 (x) has no floats to differentiate with respect to "
        "(it is of type int, 4)",
        "lambda: grad(square)(4), TypeError,", "grad(square)(4)",
        "Pass a float (3.0 instead of 3), or choose other argnums.",
    ),
    "an array of ints": (
        lambda: jit_grad(total)(np.array([1, 2])), TypeError,
        "grad: argument 0 (x) has no floats to differentiate with respect to",
        "lambda: jit_grad(total)(np.array([1, 2])), TypeError,", "jit_grad(total)(np",
        "Pass a float (3.0 instead of 3), or choose other argnums.",
    ),
    "a string": (
        lambda: jit_grad(square)("a"), TypeError,
        "grad: argument 0 (x) has no floats to differentiate with respect to",
        'lambda: jit_grad(square)("a"), TypeError,', "jit_grad(square)",
        "Pass a float (3.0 instead of 3), or choose other argnums.",
    ),
    "objects": (
        lambda: jit_grad(total)(np.array([1.0, None])), TypeError,
        "argument 0 (x) is an array of dtype object",
        "lambda: jit_grad(total)(np.array([1.0, None])), TypeError,", "jit_grad(total)(np",
        "Kernels take floats, ints, bools, complex numbers and arrays of them.",
    ),
    "half precision": (
        lambda: jit_grad(total)(np.ones(3, np.float16)), TypeError,
        "argument 0 (x) is an array of dtype float16",
        "lambda: jit_grad(total)(np.ones(3, np.float16)), TypeError,", "jit_grad(total)(np",
        "Kernels take floats, ints, bools, complex numbers and arrays of them.",
    ),
    "a gradient of a complex number": (
        lambda: jit_grad(square)(1j), TypeError,
        "grad: non-scalar output: square returned a complex value, not a number",
        'lambda: jit_grad(square)(1j), TypeError,', "jit_grad(square)(1j)",
        "Return one number, or use vjp, jvp or derivative for other results.",
    ),
    "a long int": (
        lambda: jit(square)(2**70), OverflowError,
        "argument 0 (x) is an int that needs more than 64 bits",
        "lambda: jit(square)(2**70), OverflowError,", "jit(square)(2**70)",
        "Kernels compute with 64-bit integers: pass a float.",
    ),
    "an array result": (
        lambda: jit_grad(square)(THREE), TypeError,
        "grad: non-scalar output: square returned an array, not a number",
        "lambda: jit_grad(square)(THREE), TypeError,", "jit_grad(square)(THREE)",
        "Return one number, or use vjp, jvp or derivative for other results.",
    ),
    "an array result, eagerly": (
        lambda: grad(square)(THREE), TypeError,
        "grad: non-scalar output: square returned an array of shape (3,), not a number",
        "lambda: grad(square)(THREE), TypeError,", "grad(square)(THREE)",
        "Return one number, or use vjp, jvp or derivative for other results.",
    ),
    "a tuple result": (
        lambda: jit_grad(pair)(2.0), TypeError,
        "grad: non-scalar output: pair returned a structure, not a number",
        "lambda: jit_grad(pair)(2.0), TypeError,", "jit_grad(pair)(2.0)",
        "Return one number, or use vjp, jvp or derivative for other results.",
    ),
    "no result": (
        lambda: grad(nothing)(2.0), TypeError,
        "grad: non-scalar output: nothing returned a NoneType, not a number",
        "lambda: grad(nothing)(2.0), TypeError,", "grad(nothing)(2.0)",
        "Return one number, or use vjp, jvp or derivative for other results.",
    ),
    "a position too many": (
        lambda: jit_grad(square, 2)(1.0), ValueError,
        "grad: argnums=2 with 1 positional arguments",
        "lambda: jit_grad(square, 2)(1.0), ValueError,", "jit_grad(square, 2)(1.0)",
        "Pass the differentiated arguments by position.",
    ),
    "a keyword": (
        lambda: jit_grad(square)(x=1.0), ValueError,
        "grad: argnums=0 with 0 positional arguments",
        "lambda: jit_grad(square)(x=1.0), ValueError,", "jit_grad(square)(x=1.0)",
        "Pass the differentiated arguments by position.",
    ),
    "a name as position": (
        lambda: jit_grad(square, "x"), TypeError,
        "grad: argnums='x' is neither an int nor a tuple of ints",
        'lambda: jit_grad(square, "x"), TypeError,', 'jit_grad(square, "x")',
        "Give the positions of the arguments, such as 0 or (0, 2).",
    ),
    "a position twice": (
        lambda: value_and_grad(square, (0, 0)), TypeError,
        "value_and_grad: argnums=(0, 0) names an argument twice",
        "lambda: value_and_grad(square, (0, 0)), TypeError,", "value_and_grad(square, (0, 0))",
        "Give each position once.",
    ),
    "grad of a number": (
        lambda: grad(square(2.0)), TypeError, "grad takes a function, not a float",
        'lambda: grad(square(2.0)), TypeError, "grad takes a function, not a float",',
        "grad(square(2.0))", "Write grad(f)(x), not grad(f(x)).",
    ),
    "jit of a number": (
        lambda: jit(3), TypeError, "3 is not a function",
        'lambda: jit(3), TypeError, "3 is not a function",', "jit(3)", "Pass a function.",
    ),
    "derivative by an array": (
        lambda: derivative(total)(THREE), TypeError,
        "derivative: argument 0 (x) is an array, not a float",
        "lambda: derivative(total)(THREE), TypeError,", "derivative(total)(THREE)",
        "Pass a float (3.0 instead of 3); for arrays use grad or jvp.",
    ),
    "a tangent of another shape": (
        lambda: jvp(square, (THREE,), (np.ones(5),)), ValueError,
        "jvp: tangent 0 must have shape (3,), but is of shape (5,)",
        "lambda: jvp(square, (THREE,), (np.ones(5),)), ValueError,", "jvp(square",
        "",
    ),
    "a tangent too few": (
        lambda: jvp(square, (THREE,), ()), ValueError, "jvp: 1 primals with 0 tangents",
        'lambda: jvp(square, (THREE,), ()), ValueError, "jvp: 1 primals with 0 tangents",',
        "jvp(square", "Give one tangent a primal.",
    ),
    "a sensitivity of another shape": (
        lambda: vjp(square, THREE)[1](np.ones(4)), ValueError,
        "the sensitivity must have shape (3,), but is of shape (4,)",
        "lambda: vjp(square, THREE)[1](np.ones(4)), ValueError,", "vjp(square",
        "",
    ),
    "a sensitivity of another structure": (
        lambda: vjp(lambda x: {"a": x, "b": [x]}, 1.0)[1]({"a": 1.0, "b": 1.0}), ValueError,
        "the sensitivity must have the structure of the output: "
        "expected a list at ['b'], got a float",
        """lambda: vjp(lambda x: {"a": x, "b": [x]}, 1.0)[1]({"a": 1.0, "b": 1.0}), ValueError,""",
        "vjp(lambda", "",
    ),
    "not called yet": (
        lambda: jit(square).source, JitadError, "square was not compiled yet",
        'lambda: jit(square).source, JitadError, "square was not compiled yet",', "jit(square)",
        "Call it first.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISUSE)
def test_misuse(name: str) -> None:
    call, kind, *message = MISUSE[name]
    check_message(raised(call, kind), __file__, *message)


def test_sensitivities_and_tangents_compiled() -> None:
    """Inside compiled code, where extents are traced."""
    pull = jit(lambda x, s: vjp(square, x)[1](s))
    np.testing.assert_array_equal(pull(THREE, np.ones(3))[0], 2 * THREE)
    e = raised(lambda: pull(THREE, np.ones(4)), ValueError)
    assert str(e).startswith("the sensitivity must have shape (3,), but has shape (4,)")
    push = jit(lambda x, t: jvp(square, (x,), (t,)))
    np.testing.assert_array_equal(push(THREE, np.ones(3))[1], 2 * THREE)
    e = raised(lambda: push(THREE, np.ones(5)), ValueError)
    assert str(e).startswith("jvp: tangent 0 must have shape (3,), but has shape (5,)")
    with pytest.raises(ValueError, match="expected the keys \\['a'\\], got \\['b'\\]"):
        jit(lambda x, s: vjp(lambda x: {"a": x}, x)[1]({"b": s}))(1.0, 1.0)
