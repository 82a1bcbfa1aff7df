"""Programs with derivatives inside derivatives, generic in the operators: the Stalingrad suite.

Each is written once, as a user would, and takes the operators as arguments: `MODES["f"]` is the
gradient by forward mode, `MODES["r"]` that by reverse mode. The first letter of a pair is the mode
of the outer derivative, the second that of the inner one. Importing this package compiles nothing.

Source: J. M. Siskind and B. A. Pearlmutter, *Using polyvariant union-free flow analysis to compile
a higher-order functional-programming language with a first-class derivative operator to efficient
Fortran-like code*, TR-ECE-08-01, Purdue University (2008); the published answers are theirs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

PAIRS = ("ff", "fr", "rf", "rr")


@dataclass(frozen=True)
class Program:
    """A program, its answer, and its derivatives expanded by hand."""

    name: str
    run: Callable[..., Any]  # (*arguments, outer, inner)
    by_hand: Callable[..., Any]  # (*arguments), for Numba
    arguments: tuple[Any, ...]
    answer: Any
    tolerance: float

    def in_modes(self, pair: str) -> Callable[..., Any]:
        """The program with the operators of a pair such as "fr"."""
        modes = import_module("kernels.nested.descent").MODES
        return partial(self.run, outer=modes[pair[0]], inner=modes[pair[1]])


def load(name: str) -> Program:
    """Import one program's module, without compiling anything."""
    module = import_module(f"kernels.nested.{name}")
    return Program(name, module.program, module.by_hand, module.ARGUMENTS, module.ANSWER,
                   module.TOLERANCE)  # fmt: skip


NAMES = ("saddle", "particle")
