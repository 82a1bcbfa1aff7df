"""Are texts that show traced values Python's: returned, printed and raised, at every call?"""

# ruff: noqa: UP030, UP031, UP032, F507

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from jitad import JitadError, jit, jit_grad, jit_value_and_grad


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


WEIGHTS = {"w_up": 2.0, "w_down": 3.0, "  up": 5.0, "down": 7.0, "up-2": 11.0, "down-2": 13.0}


def keyed_by_f_strings(x):
    total = 0.0
    for v in x:
        way = "up" if v > 0.0 else "down"
        total += WEIGHTS[f"w_{way}"] * v + WEIGHTS[f"{way:>4}"] * v * v
        total += WEIGHTS["-".join([way, "2"])] * len(f"{way!r}")
    return total


class Wrong(Exception):
    def __init__(self, way):
        super().__init__(f"wrong {way}")
        self.way = way


def said_and_raised(x):
    way = "up" if x > 0.0 else "down"
    print(f"going {way}", f"{way}: {x:.2f}", "/".join((way, way)))
    try:
        raise ValueError(f"no {way}")
    except ValueError as error:
        print(error)
    try:
        if x > -9.0:
            raise Wrong(way)
    except Wrong as error:
        print(error, WEIGHTS[f"w_{error.way}"])
    try:
        raise KeyError("%s!" % way)
    except KeyError as error:
        print("not there:", error)
    return f"way {way}"


def refused(x):
    way = "up" if x > 0.0 else "down"
    if abs(x) > 1.0:
        raise ValueError(f"not {way}")
    return x


def test_texts_of_words_that_conditions_chose_are_known():
    x = np.array([1.0, -2.0, 3.0])
    g = jit_value_and_grad(keyed_by_f_strings, fallback=False)
    for at in (x, -x):
        value, slope = g(at)
        assert value == keyed_by_f_strings(at)
        step = 1e-5 * np.eye(3)
        want = [(keyed_by_f_strings(at + h) - keyed_by_f_strings(at - h)) / 2e-5 for h in step]
        np.testing.assert_allclose(slope, want, rtol=1e-8)


def test_such_texts_are_printed_raised_and_returned(capsys):
    said = jit(said_and_raised, fallback=False)
    for x in (1.5, -2.25):
        want = said_and_raised(x)
        printed = capsys.readouterr().out
        assert said(x) == want
        assert capsys.readouterr().out == printed
    for x, text in ((1.5, "not up"), (-1.5, "not down")):
        with pytest.raises(ValueError, match=f"^{text}"):
            jit(refused, fallback=False)(x)


class Report:
    text = None


def on_some_paths(x, y):
    """A text of what only a branch in a branch knows, joined with None and with other texts."""
    report, e = Report(), x * y
    if x > 0.5:
        e = e * 1.1
        if e > 3.0:
            report.text = "large {0:f}".format(e)
        elif e > 2.0:
            report.text = f"{e:.2f} and {x}"
    z = 2.0 * e
    if z < 0.0:
        report.text = "negative {0:f}".format(z)
    return (z if report.text is None else z * x), report.text


def test_texts_that_some_paths_have():
    run = jit(on_some_paths, fallback=False)
    slope = jit_grad(lambda x, y: on_some_paths(x, y)[0], fallback=False)
    for x, y, factor in ((0.2, 1.0, 1.0), (1.0, 4.0, 2.2), (1.0, 2.5, 2.2), (1.0, 0.5, 0.0),
                         (-0.3, 2.0, 2.0)):  # fmt: skip
        assert run(x, y) == on_some_paths(x, y)
        told = on_some_paths(x, y)[1] is not None
        want = 2.0 * factor * x * y if told else 2.0 * (1.1 if x > 0.5 else 1.0) * y
        assert slope(x, y) == pytest.approx(want, rel=1e-14)
