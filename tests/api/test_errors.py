"""Does every misuse say what is the matter, where, and what to do?  The messages are pinned."""

from __future__ import annotations

import math
import pickle
import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import njit

import jitad
from jitad import JitadError, derivative, grad, jit, jit_grad, jvp, value_and_grad, vjp
from tests.api.messages import check_message, raised

THREE = np.array([1.0, 2.0, 3.0])

# -- functions that can't be differentiated so ----------------------------------------------------


def square(x):
    return x * x


def total(x):
    return np.sum(x)


def pair(x):
    return x, x


def nothing(x):
    x * x


def shapes(x):
    return np.sum(x + np.ones(4))


def matrix(x):
    return np.sum(np.ones((2, 4)) @ x)


def reshaped(x):
    return np.sum(x.reshape(2, 2))


def no_axis(x):
    return np.sum(np.sum(x, axis=1))


def stored(x):
    a = np.zeros(2)
    a[:] = x
    return np.sum(a)


def outside(x):
    return x[5]


def beyond(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i + 1]
    return s


def listed(x):
    return [1.0, 2.0, 3.0][x]


def counted(x):
    s = 0.0
    for _ in range(x):
        s += x
    return s


def unsupported(x):
    return np.sum(np.fft.fft(x).real)


def attribute(x):
    return x.foo


def method(x):
    return np.sum(x.tostring())


def recursive(x):
    return x if x < 1.0 else x * recursive(x - 1.0)


def random_factor(x):
    return x * random.random()


def random_numpy(x):
    return x * np.random.rand()


def clock(x):
    return x * time.time()


def as_text(x):
    return float(str(x))


def as_key(x):
    return {x: 1.0}[x]


def caught(x):
    try:
        return 1.0 / x
    except ZeroDivisionError:
        return 0.0


def advanced(x):
    steps = iter([1.0, 2.0])
    y = next(steps)
    if x > 1.0:
        y = y * next(ITERATOR)
    return x * y


ITERATOR = iter([1.0, 2.0])


def too_long(x):
    for _ in [1.0] * 30_000:
        x = x * 1.0
    return x


def no_text(x):
    return len(f"{x}") * x


def unlike(x):
    y = None
    if x > 0.0:
        y = x
    return y


def unbound(x):
    if x > 2.0:
        y = x
    return y


def named_locals(x):
    return x * len(locals())


def evaluated(x):
    return eval("x * 2")


async def waiting(x):
    return x


# name -> (function, arguments, class, what, source, what the caret is under, remedy)
COMPILED: dict[str, tuple[Any, ...]] = {
    "shapes": (
        shapes, [THREE], ValueError,
        "operands could not be broadcast together with shapes (?,) (4,)",
        "return np.sum(x + np.ones(4))", "x + np", "",
    ),
    "matrix product": (
        matrix, [THREE], ValueError,
        "shapes (2,4) and (?,) not aligned: mismatch in the core dimension of a matrix product",
        "return np.sum(np.ones((2, 4)) @ x)", "np.ones", "",
    ),
    "reshape": (
        reshaped, [THREE], ValueError, "cannot reshape array of shape (?,) into shape (2,2)",
        "return np.sum(x.reshape(2, 2))", "x.reshape", "",
    ),
    "axis": (
        no_axis, [THREE], ValueError, "axis 1 is out of bounds for array of dimension 1",
        "return np.sum(np.sum(x, axis=1))", "np.sum(x", "",
    ),
    "assignment": (
        stored, [THREE], ValueError,
        "could not broadcast input array from shape (?,) into shape (2,)", "a[:] = x", "a[:]", "",
    ),
    "index": (
        outside, [THREE], IndexError, "index 5 is out of bounds for axis 0", "return x[5]", "x[5]",
        "",
    ),
    "index in a loop": (
        beyond, [THREE], IndexError, "index is out of bounds for axis 0", "s += x[i + 1]", "x[i",
        "",
    ),
    "float as index": (
        listed, [1.0], TypeError, "the index of a list must be an integer, not a float",
        "return [1.0, 2.0, 3.0][x]", "[1.0", "Convert it with int(...).",
    ),
    "float as bound": (
        counted, [3.0], TypeError, "a bound of range() must be an integer, not a float",
        "for _ in range(x):", "range", "Convert it with int(...).",
    ),
    "unsupported function": (
        unsupported, [THREE], TypeError,
        "numpy.fft.fft is not supported on traced or differentiated values",
        "return np.sum(np.fft.fft(x).real)", "np.fft.fft(x)",
        "Write it with supported functions, or keep its operands plain.",
    ),
    "attribute": (
        attribute, [1.0], AttributeError, "a float has no attribute 'foo' that jitad knows",
        "return x.foo", "x.foo", "",
    ),
    "method": (
        method, [THREE], AttributeError,
        "a NumPy array or number has no attribute 'tostring' that jitad knows",
        "return np.sum(x.tostring())", "x.tostring", "",
    ),
    "recursion": (
        recursive, [3.0], JitadError, "recursive calls itself under a traced condition",
        "return x if x < 1.0 else x * recursive(x - 1.0)", "recursive(",
        "Write it as a loop; recursion on traced values is not supported yet.",
    ),
    "random": (
        random_factor, [1.0], JitadError,
        "Random.random gives something else at every call, which a trace can't",
        "return x * random.random()", "random.random()",
        "Call it outside, and pass the value as an argument.",
    ),
    "NumPy's random": (
        random_numpy, [1.0], JitadError,
        "RandomState.rand gives something else at every call, which a trace can't",
        "return x * np.random.rand()", "np.random.rand()",
        "Call it outside, and pass the value as an argument.",
    ),
    "time": (
        clock, [1.0], JitadError,
        "time gives something else at every call, which a trace can't",
        "return x * time.time()", "time.time()",
        "Call it outside, and pass the value as an argument.",
    ),
    "text": (
        as_text, [1.0], TypeError,
        "a traced number can't become a text here: its value is not known while tracing",
        "return float(str(x))", "str(x)",
        "Keep to if, while, for, arithmetic and arrays, or read it from outside the arguments.",
    ),
    "key": (
        as_key, [1.0], TypeError,
        "a traced number can't become a key of a dict or an element of a set here: "
        "its value is not known while tracing",
        "return {x: 1.0}[x]", "{x",
        "Keep to if, while, for, arithmetic and arrays, or read it from outside the arguments.",
    ),
    "except": (
        caught, [1.0], JitadError, "an exception that depends on traced values can't be caught",
        "return 1.0 / x", "1.0 / x", "Test the condition with `if` instead of `try`.",
    ),
    "iterator": (
        advanced, [1.0], JitadError, "an iterator can't be advanced under a traced condition",
        "y = y * next(ITERATOR)", "next", "Make a list of it first.",
    ),
    "budget": (
        too_long, [1.0], JitadError,
        "this loop is written out, and has more than 20000 iterations",
        "for _ in [1.0] * 30_000:", "for", "Loop over range() or an array.",
    ),
    "characters": (
        no_text, [1.0], TypeError,
        "a text that shows a traced value is known only when the kernel runs",
        'return len(f"{x}") * x', "len", "Print it, raise it or return it; "
        "decide things by the value itself.",
    ),
    "unlike branches": (
        unlike, [1.0], JitadError,
        "y is a float or None after this branch",
        "if x > 0.0:", "if", "Give it the same kind of value on every path, or decide on "
        "something static.",
    ),
    "unbound": (
        unbound, [1.0], UnboundLocalError,
        "cannot access local variable 'y' where it is not associated with a value",
        "return y", "y", "",
    ),
    "async": (
        waiting, [1.0], JitadError, "an async function can't be traced",
        "async def waiting(x):", "async", "Use an ordinary function.",
    ),
    "locals": (
        named_locals, [1.0], JitadError, "locals() can't be traced",
        "return x * len(locals())", "locals", "Name the variables.",
    ),
    "eval": (
        evaluated, [1.0], JitadError, "eval() can't be traced", 'return eval("x * 2")', "eval",
        "Write the expression out.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPILED)
def test_message_compiled(name: str) -> None:
    f, args, kind, *message = COMPILED[name]
    g = jit_grad(f)
    for _ in range(2):  # the second call says the same
        check_message(raised(lambda: g(*args), kind), __file__, *message)
    assert jit_grad(square)(3.0) == 6.0  # nothing is left half-done


# what the eager engine says otherwise: it knows the numbers
EAGER: dict[str, tuple[str, str]] = {
    "shapes": ("shapes (?,) (4,)", "shapes (3,) (4,)"),
    "matrix product": ("(?,)", "(3,)"),
    "reshape": ("(?,)", "(3,)"),
    "axis": ("", ""),
    "assignment": ("(?,)", "(3,)"),
    "index": ("axis 0", "axis 0 with size 3"),
    "index in a loop": ("index is out of bounds for axis 0",
                        "index 3 is out of bounds for axis 0 with size 3"),
    "unsupported function": ("", ""),
    "attribute": ("", ""),
    "method": ("", ""),
    "async": ("", ""),
    "locals": ("", ""),
    "eval": ("", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", EAGER)
def test_message_eager(name: str) -> None:
    f, args, kind, what, *rest = COMPILED[name]
    what = what.replace(*EAGER[name]) if EAGER[name][0] else what
    check_message(raised(lambda: grad(f)(*args), kind), __file__, what, *rest)


# -- misuse of the operators: the line is the caller's --------------------------------------------

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
        "Kernels take floats, ints, bools and arrays of them.",
    ),
    "half precision": (
        lambda: jit_grad(total)(np.ones(3, np.float16)), TypeError,
        "argument 0 (x) is an array of dtype float16",
        "lambda: jit_grad(total)(np.ones(3, np.float16)), TypeError,", "jit_grad(total)(np",
        "Kernels take floats, ints, bools and arrays of them.",
    ),
    "a complex number": (
        lambda: jit_grad(square)(1j), TypeError, "argument 0 (x) is a complex number",
        'lambda: jit_grad(square)(1j), TypeError, "argument 0 (x) is a complex number",',
        "jit_grad(square)(1j)",
        "Pass the real and the imaginary part: kernels compute with real numbers.",
    ),
    "a complex array in a dict": (
        lambda: jit(lambda p: p["w"])({"w": np.array([1j])}), TypeError,
        "argument 0 (p) at ['w'] is an array of dtype complex128",
        """lambda: jit(lambda p: p["w"])({"w": np.array([1j])}), TypeError,""", "jit(lambda",
        "Pass the real and the imaginary part: kernels compute with real numbers.",
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
    assert str(e).startswith("the sensitivity must have shape (?,), but has shape (?,)")
    push = jit(lambda x, t: jvp(square, (x,), (t,)))
    np.testing.assert_array_equal(push(THREE, np.ones(3))[1], 2 * THREE)
    e = raised(lambda: push(THREE, np.ones(5)), ValueError)
    assert str(e).startswith("jvp: tangent 0 must have shape (?,), but has shape (?,)")
    with pytest.raises(ValueError, match="expected the keys \\['a'\\], got \\['b'\\]"):
        jit(lambda x, s: vjp(lambda x: {"a": x}, x)[1]({"b": s}))(1.0, 1.0)


# -- sources ----------------------------------------------------------------------------------------


def test_missing_source() -> None:
    space: dict[str, Any] = {}
    exec("def unseen(x):\n    return x if x > 0 else -x\n", space)
    e = raised(lambda: jit_grad(space["unseen"])(1.0))
    assert str(e) == (
        'the source of unseen is missing\n  File "<string>", line 1\n'
        "Define the function in a file, a notebook cell or a doctest, where its source can be read."
    )


def test_edited_source(tmp_path: Any) -> None:
    file = tmp_path / "objective.py"
    file.write_text("def f(x):\n    return x * x\n")
    space: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), space)
    file.write_text("def f(x):\n    return x * x * x\n")
    e = raised(lambda: jit_grad(space["f"])(2.0))
    check_message(e, str(file), "the source of f is not the code that runs", "def f(x):", "def",
                  "Was the file edited after it was imported? Import it again.")  # fmt: skip


def test_wrong_number_of_arguments_is_pythons_error() -> None:
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        jit_grad(square)(1.0, 2.0)


# -- errors at run time keep their class, from Python and from @njit -------------------------------


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
        check_message(e, __file__, "float division by zero", "return y / (x - 2.0) * values[i]", "y")


def test_errors_can_be_sent_to_other_processes() -> None:
    e = raised(lambda: jit_grad(square)(3))
    again = pickle.loads(pickle.dumps(e))
    assert type(again) is type(e) and str(again) == str(e)


def test_every_class_is_pythons_too() -> None:
    for name in ("Index", "Value", "Type", "Attribute", "ZeroDivision", "Overflow", "UnboundLocal"):
        kind = getattr(jitad.errors, f"Jitad{name}Error")
        assert issubclass(kind, JitadError) and issubclass(kind, getattr(__builtins__, "dict", dict)(
            vars(__import__("builtins")))[f"{name}Error"])  # fmt: skip
