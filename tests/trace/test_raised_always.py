"""What does a function raise that raises whatever its arguments are?

Its trace ends there, with a text that shows no values and past conditions that may raise before.
Plain Python says what is right.
"""

import math
import traceback

import pytest

import jitad


class TooLarge(Exception):
    def __init__(self, value):
        super().__init__(f"{value:.3f} is too large")
        self.value = value


def one_of_two(x):
    if x > 5.0:
        raise ValueError("large")
    raise KeyError(f"x = {x}")


def with_a_value(x):
    raise TooLarge(2.0 * x)


def the_first_of_a_loop(x):
    for i in range(3):
        if x > 3.0 * i:
            raise ValueError(f"step {i} at {x:.2f}")
    raise TooLarge(x)


def in_a_library(x):
    if x > 5.0:
        raise TooLarge(x)
    return x * math.sqrt(-1.0)


def from_another(x):
    try:
        if x > 5.0:
            raise KeyError(x)
        return {}["missing"] * x
    except KeyError as error:
        raise TooLarge(x) from error


PROGRAMS = (
    one_of_two, with_a_value, the_first_of_a_loop, in_a_library, from_another,
)  # fmt: skip


def raised(f, x):
    with pytest.raises(Exception) as caught:
        f(x)
    return caught.value


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [-1.0, 2.0, 7.0])
def test_raises_as_python(program, x):
    want = raised(program, x)
    for made in (jitad.jit(program), jitad.jit_grad(program), jitad.grad(program)):
        got = raised(made, x)
        assert isinstance(got, type(want))
        assert str(got).splitlines()[0] == str(want)
        assert getattr(got, "value", None) == getattr(want, "value", None)
        assert type(got.__cause__) is type(want.__cause__)
        assert "<traced" not in "".join(traceback.format_exception(got))


def test_happens_once(capsys):
    def told(x):
        print("at", x)
        raise TooLarge(x)

    for _ in range(2):
        raised(jitad.jit_grad(told), 2.0)
    assert capsys.readouterr().out == "at 2.0\nat 2.0\n"


def test_what_a_library_raises_names_the_line():
    with pytest.raises(jitad.JitadError, match=r"(?s)math domain error.*sqrt\(-1.0\).*\^"):
        jitad.jit(in_a_library)(1.0)
