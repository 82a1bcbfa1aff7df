"""Does every refused construct say what is the matter, where, and what to do?

The messages are pinned.
"""

from __future__ import annotations

import random
import time
from typing import Any

import numpy as np
import pytest

from jitad import JitadError, custom_jvp, grad, jit_grad
from tests.api.messages import check_message, raised

THREE = np.array([1.0, 2.0, 3.0])

# -- functions that can't be differentiated so ----------------------------------------------------


def square(x):
    return x * x


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
    return np.sum(np.real_if_close(x))


def attribute(x):
    return x.foo


def method(x):
    return np.sum(x.tobytes())


def random_factor(x):
    return x * random.random()


def random_numpy(x):
    return x * np.random.rand()  # noqa: NPY002


def clock(x):
    return x * time.localtime().tm_sec


def as_text(x):
    return float(str(x))


def as_key(x):
    return {x: 1.0} == {}


@custom_jvp
def inverse(x):
    return 1.0 / x


inverse.defjvp(lambda p, t: (inverse(*p), -t[0] * inverse(*p) ** 2))


def caught(x):
    try:
        return inverse(x)
    except ZeroDivisionError:
        return 0.0


def advanced(x):
    steps = iter([1.0, 2.0])
    y = next(steps)
    if x > 1.0:
        y = y * next(steps)
    return x * y


def advanced_outside(x):
    return x * next(ITERATOR)


ITERATOR = iter([1.0, 2.0])


def ordered(x):
    return sorted(x.tolist())[0]


def of_range(x):
    return np.array(range(int(x)))


def too_long(x):
    for _ in [1.0] * 30_000:
        x = x * 1.0
    return x


def no_text(x):
    return len(f"{x}") * x


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
        "operands could not be broadcast together with shapes (3,) (4,)",
        "return np.sum(x + np.ones(4))", "x + np", "",
    ),
    "matrix product": (
        matrix, [THREE], ValueError,
        "shapes (2,4) and (3,) not aligned: mismatch in the core dimension of a matrix product",
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
        "could not broadcast input array from shape (3,) into shape (2,)", "a[:] = x", "a[:]", "",
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
        "numpy.real_if_close is not supported on traced or differentiated values",
        "return np.sum(np.real_if_close(x))", "np.real_if_close(x)",
        "Write it with supported functions, or keep its operands plain.",
    ),
    "attribute": (
        attribute, [1.0], AttributeError, "'float' object has no attribute 'foo'",
        "return x.foo", "x.foo", "",
    ),
    "method": (
        method, [THREE], AttributeError,
        "the attribute 'tobytes' of arrays is not supported on traced or differentiated arrays",
        "return np.sum(x.tobytes())", "x.tobytes", "Write it with supported functions.",
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
        "return x * np.random.rand()  # noqa: NPY002", "np.random.rand()",
        "Call it outside, and pass the value as an argument.",
    ),
    "time": (
        clock, [1.0], JitadError,
        "localtime gives something else at every call, which a trace can't",
        "return x * time.localtime().tm_sec", "time.localtime()",
        "Call it outside, and pass the value as an argument.",
    ),
    "text": (
        as_text, [1.0], TypeError,
        "a text that shows a traced value is known only when the kernel runs",
        "return float(str(x))", "float(",
        "Print it, raise it or return it; decide things by the value itself.",
    ),
    "key": (
        as_key, [1.0], JitadError,
        "a dict whose keys depend on traced values can't be an operand of eq",
        "return {x: 1.0} == {}", "{x",
        "Give the dict all its keys first (`dict.fromkeys(range(n), 0.0)`), or use two lists.",
    ),
    "except": (
        caught, [1.0], JitadError,
        "an exception that depends on traced values can't be caught outside of a function "
        "with derivative rules, a batch or a solver",
        "return 1.0 / x", "1.0 / x",
        "Catch it inside, or test the condition with `if`.",
    ),
    "iterator": (
        advanced, [1.0], JitadError, "an iterator can't be advanced under a traced condition",
        "y = y * next(steps)", "next", "Make a list of it first.",
    ),
    "iterator from outside": (
        advanced_outside, [1.0], TypeError,
        "ITERATOR is a list_iterator from outside, which a call would advance",
        "return x * next(ITERATOR)", "ITERATOR",
        "Make it a list, or make it anew inside the function.",
    ),
    "sorted": (
        ordered, [np.arange(33.0)], JitadError, "more than 32 traced numbers can't be sorted here",
        "return sorted(x.tolist())[0]", "sorted", "Sort an array with np.sort.",
    ),
    "array of a range": (
        of_range, [3.0], TypeError, "a range of traced length can't become an array",
        "return np.array(range(int(x)))", "np.array", "Use np.arange.",
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
    "shapes": ("", ""),
    "matrix product": ("", ""),
    "reshape": ("(?,)", "(3,)"),
    "axis": ("", ""),
    "assignment": ("", ""),
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
