"""Are texts that show traced values Python's: returned, printed and raised, at every call?"""

# ruff: noqa: UP030, UP031, UP032, F507

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from jitad import JitadError, jit, jit_grad


@dataclass
class Label:
    text: str
    value: float


class Row(NamedTuple):
    text: str
    value: float


MADE = {
    "f-string": lambda x: f"{x[0]:.2f} of {len(x)} {bool(x[1] > 0.0)!r:>6}",
    "percent": lambda x: "%.2f of %d %s %%" % (x[0], len(x), "y"),
    "one value": lambda x: "loss %5.1e" % x.sum(),
    "names": lambda x: "%(a).1f %(b)s" % {"a": x[0], "b": "t"},
    "flags": lambda x: "%+d|%-8.2e|%05d" % (10 * x[0], x[1], len(x)),
    "array": lambda x: "%s %s" % (x, x.shape),
    "format": lambda x: "{:.2f} {} {{}}".format(x[0], len(x)),
    "numbered": lambda x: "{1:.1f} {0!r:>12}".format(float(x[0]), x[1]),
    "named": lambda x: "{a} {b:.1f}".format(a="t", b=x[1]),
    "function": lambda x: str(float(x[0])) + " " + format(x[1], ".3f"),
    "joined": lambda x: ", ".join(f"{v:.1f}" for v in x),
    "joined strings": lambda x: "-".join(["a", "b"]) + f"{x[0]:.1f}",
    "joined map": lambda x: " ".join(map(str, [float(x[0]), 1])),
    "nested": lambda x: "%s and {}".format("b") % "{}".format("%.1f" % x[0]),
}  # fmt: skip
CALLS = ([0.5, 2.0], [0.25, -1.0], [-0.25, 1.0], [3.0, 1.0, 2.0], [1.0, -2.0])


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_texts_that_are_returned(made: Any) -> None:
    def f(x: Any) -> Any:
        return {"text": made(x), "inside": (Label(made(x), x[0]), Row(made(x), x[1]), [made(x)])}

    g = jit(f)
    for call in CALLS:
        x = np.array(call)
        assert g(x) == f(x)


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_texts_that_are_printed_and_raised(made: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        print("now", made(x))
        if x[0] < 0.0:
            raise ValueError(made(x))
        return x @ x

    g = jit_grad(f)
    for call in CALLS:
        x = np.array(call)
        if call[0] < 0.0:
            with pytest.raises(ValueError) as raised:
                g(x)
            assert str(raised.value).startswith(made(x))
        else:
            np.testing.assert_allclose(g(x), 2.0 * x)
        assert capsys.readouterr().out == f"now {made(x)}\n"


def test_texts_in_lists_of_unknown_length() -> None:
    def f(x: Any) -> Any:
        return [(f"{v:.1f}", complex(v, 1.0), "%.2f" % v) for v in x if v > 0.0]

    g = jit(f)
    for call in CALLS:
        assert g(np.array(call)) == f(np.array(call))


def test_what_a_text_refuses() -> None:
    x = np.ones(2)
    with pytest.raises(TypeError, match="not enough arguments"):
        jit(lambda x: "%d %d" % x[0])(x)
    with pytest.raises(TypeError, match="not all arguments"):
        jit(lambda x: "%d" % (x[0], x[1]))(x)
    for f in (lambda x: "%*d" % (5, x[0]), lambda x: "{0[0]}".format(x), lambda x: f"{x[0]}"[0]):
        with pytest.raises(JitadError, match="text") as caught:
            jit(f)(x)
        assert "test_texts.py" in str(caught.value)
