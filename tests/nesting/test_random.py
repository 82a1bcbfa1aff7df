"""Random programs with several live tags: do eager engine, tape, kernel and truth agree?

A program is made of arithmetic, loops, branches, local functions and derivatives by either mode,
each of which may use every variable around it, whatever it is being differentiated for.  Truth is
the same text on numbers of 120 digits, with differences in the place of derivatives.
"""

from __future__ import annotations

import importlib.util
import itertools
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import jitad
from tests.engines import ENGINES
from tests.examples import examples

_serial = itertools.count()


class Writer:
    """Writes one program; `draw` decides."""

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.count = 0
        self.live = 0  # derivatives around the present place
        self.deepest = 0
        self.features: set[str] = set()

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def pick(self, options: list[str]) -> str:
        return self.draw(st.sampled_from(options))

    def atom(self, names: list[str]) -> str:
        return self.pick([*names, *names, "0.5", "1.25"])

    def expression(self, names: list[str], depth: int = 2) -> str:
        if depth == 0:
            return self.atom(names)
        a, b = self.expression(names, depth - 1), self.expression(names, depth - 1)
        return self.pick([
            f"({a} + {b})", f"({a} - 0.5 * {b})", f"({a} * {b})", f"sin({a})", f"exp(-{a} * {a})",
            f"({a} / (2.0 + {b} * {b}))",
        ])  # fmt: skip

    def statements(self, names: list[str], indent: str, depth: int, result: str) -> None:
        """Statements that leave a value in `result`, which has one already."""
        for _ in range(self.draw(st.integers(1, 2))):
            kind = self.pick(["assign", "loop", "branch", "derivative", "derivative"])
            kind = "assign" if depth == 0 else kind
            self.features.add(kind)
            write = self.lines.append
            match kind:
                case "assign":
                    write(f"{indent}{result} = {self.expression([*names, result])}")
                case "loop":
                    k = self.fresh("k")
                    write(f"{indent}for {k} in range({self.draw(st.integers(1, 6))}):")
                    write(f"{indent}    {result} = 0.7 * {result} + 0.1 * {k}")
                    self.statements(names, indent + "    ", depth - 1, result)
                case "branch":
                    write(f"{indent}if {self.atom(names)} + 0.03 < {self.atom([result, *names])}:")
                    self.statements(names, indent + "    ", depth - 1, result)
                    write(f"{indent}else:")
                    self.statements(names, indent + "    ", depth - 1, result)
                case "derivative":
                    self.derivative(names, indent, depth, result)

    def derivative(self, names: list[str], indent: str, depth: int, result: str) -> None:
        f, t, r = self.fresh("f"), self.fresh("t"), self.fresh("r")
        write = self.lines.append
        self.live += 1
        self.deepest = max(self.deepest, self.live)
        write(f"{indent}def {f}({t}):")
        write(f"{indent}    {r} = {self.expression([t, *names, result], 1)} * {t}")
        self.statements([*names, t], indent + "    ", depth - 1, r)
        write(f"{indent}    return {r}")
        self.live -= 1
        operator = self.pick(["derivative", "grad"])
        self.features.add(operator)
        # the result is read by `f`: a closure over what is being computed
        new = f"{operator}({f})({self.atom([*names, result])})"
        write(f"{indent}{result} = 0.5 * {result} + {new}")


@st.composite
def programs(draw: Any) -> tuple[str, int, set[str]]:
    """Its text, how many tags are live at once at most, and what is in it."""
    writer = Writer(draw)
    writer.lines.append("def program(x):")
    writer.lines.append("    r = 0.3 * x")
    writer.live = 1
    writer.derivative(["x"], "    ", 3, "r")
    writer.statements(["x"], "    ", 2, "r")
    writer.lines.append("    return r")
    return "\n".join(writer.lines) + "\n", writer.deepest, writer.features


def loaded(text: str, folder: Path, names: dict[str, Any]) -> Callable[[float], Any]:
    name = f"nested_{next(_serial)}"
    file = folder / f"{name}.py"
    file.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    module.__dict__.update(names)
    spec.loader.exec_module(module)
    return module.program  # type: ignore[attr-defined,no-any-return]


def exact(text: str, f_of: Callable[[Any], Any], x: float) -> float:
    """On 120 digits: central differences within differences lose some at every level."""
    scope: dict[str, Any] = {"sin": mpmath.sin, "exp": mpmath.exp}
    step = mpmath.mpf(10) ** -12

    def slope(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
        # of sixth order, so the error is of the order of 1e-72
        def difference(t: Any) -> Any:
            terms = ((1, mpmath.mpf(3) / 4), (2, mpmath.mpf(-3) / 20), (3, mpmath.mpf(1) / 60))
            return sum(c * (f(t + k * step) - f(t - k * step)) for k, c in terms) / step

        return difference

    scope.update(derivative=slope, grad=slope)
    exec(text, scope)
    with mpmath.workdps(120):
        return float(f_of(slope)(scope["program"])(mpmath.mpf(x)))


SETTINGS = settings(
    max_examples=examples(12), deadline=None, suppress_health_check=[*HealthCheck], derandomize=True
)


def check(text: str, folder: Path, x: float, engines: tuple[str, ...]) -> None:
    names = {"sin": math.sin, "exp": math.exp, "derivative": jitad.derivative, "grad": jitad.grad}
    program = loaded(text, folder, names)
    for outer in (None, jitad.derivative, jitad.grad):
        want = exact(text, lambda d, o=outer: (lambda f: f if o is None else d(f)), x)
        f = program if outer is None else outer(program)
        for engine in engines:
            got = ENGINES[engine](f, x)
            close = got == pytest.approx(want, rel=1e-8, abs=1e-8)
            assert close, (outer, engine, got, want, text)


@SETTINGS
@given(programs(), st.sampled_from([0.35, 0.8, 1.2]))
def test_engines_agree(tmp_path_factory: Any, drawn: tuple[str, int, set[str]], x: float) -> None:
    check(drawn[0], tmp_path_factory.mktemp("nested"), x, ("eager", "tape"))


@settings(SETTINGS, max_examples=3)
@given(programs(), st.sampled_from([0.35, 0.8]))
def test_kernels_agree(tmp_path_factory: Any, drawn: tuple[str, int, set[str]], x: float) -> None:
    check(drawn[0], tmp_path_factory.mktemp("nested"), x, ("native",))


def test_programs_have_everything() -> None:
    features: set[str] = set()
    deepest = 0

    @settings(SETTINGS, max_examples=60)
    @given(programs())
    def look(drawn: tuple[str, int, set[str]]) -> None:
        nonlocal deepest
        features.update(drawn[2])
        deepest = max(deepest, drawn[1])

    look()
    assert features == {"assign", "loop", "branch", "derivative", "grad"}
    assert deepest >= 4  # of them live at once, the program's own derivative being one
