"""How is emitted code written down?  Expressions with as few parentheses as needed, names, lines.

An `Expr` is text with the precedence of its outermost operator.  `Names` gives every variable a
Python identifier of its own, the user's where known.  A `Page` is a nested list of lines: a slot
kept in front of a loop can be filled while the loop's body is being written.
"""

from __future__ import annotations

import ast
import functools
import keyword
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from jitad.immutable import immutable
from jitad.tape.ir import Lit

LIMIT = 64  # a longer expression gets a name of its own

# Python's precedences, loosest first
TERNARY, OR, AND, NOT, COMPARE, BITOR, BITXOR, BITAND, SHIFT, SUM, PRODUCT, UNARY, ATOM = range(13)

_LEVELS: dict[type, int] = {
    ast.Add: SUM, ast.Sub: SUM, ast.Mult: PRODUCT, ast.Div: PRODUCT, ast.FloorDiv: PRODUCT,
    ast.Mod: PRODUCT, ast.BitOr: BITOR, ast.BitXor: BITXOR, ast.BitAnd: BITAND,
    ast.LShift: SHIFT, ast.RShift: SHIFT, ast.And: AND, ast.Or: OR, ast.Not: NOT,
    ast.USub: UNARY, ast.Invert: UNARY,
}  # fmt: skip


@immutable(slots=True)
class Expr:
    """Python text and the precedence of its outermost operator."""

    text: str
    level: int = ATOM

    @property
    def is_name(self) -> bool:
        return self.text.isidentifier()

    def within(self, level: int) -> str:
        """The text as an operand of something that binds as tightly as `level`."""
        return self.text if self.level >= level else f"({self.text})"


@functools.cache
def _shape(template: str) -> tuple[int, tuple[int, ...]]:
    """The level of a row's `emit` template, and what level each operand must have."""
    count = len(set(re.findall(r"\{(\d)\}", template)))
    node = ast.parse(template.format(*"abcdefgh"), mode="eval").body
    match node:
        case ast.BinOp(op=op):
            level = _LEVELS[type(op)]
            return level, (level, level + 1)
        case ast.BoolOp(op=op):
            level = _LEVELS[type(op)]
            return level, (level, level + 1)
        case ast.UnaryOp(op=op):
            level = _LEVELS[type(op)]
            return level, (level if level == NOT else level + 1,)
        case ast.Compare():
            return COMPARE, (COMPARE + 1, COMPARE + 1)
        case ast.IfExp():
            return TERNARY, (OR, OR, OR)
        case _:
            return ATOM, (TERNARY,) * count


def apply(template: str, *operands: Expr) -> Expr:
    """A template filled in, with the parentheses that are needed."""
    level, needed = _shape(template)
    parts = [e.within(n) for e, n in zip(operands, needed, strict=True)]
    return Expr(template.format(*parts), level)


def negated(e: Expr) -> Expr:
    """not e; `==` and `!=` are each other's opposite, also of nan."""
    if e.level == COMPARE and "(" not in e.text:
        for sign, opposite in ((" == ", " != "), (" != ", " == ")):
            if sign in e.text:
                return Expr(e.text.replace(sign, opposite), COMPARE)
    if e.text.startswith("not ") and e.level == NOT:
        return Expr(e.text[4:], NOT)
    return Expr(f"not {e.within(NOT)}", NOT)


def literal(lit: Lit) -> Expr:
    """A number as Python and Numba read it back, of exactly its type."""
    value: Any = lit.value
    dtype = lit.type.dtype
    match dtype[0]:
        case "b":
            return Expr(repr(bool(value)))
        case "i" | "u":
            out = _signed(repr(int(value)))
        case "f":
            out = _float(float(value))
        case _:
            value = complex(value)
            out = Expr(f"complex({_float(value.real).text}, {_float(value.imag).text})")
    return out if dtype in ("i8", "f8", "c16") else cast(out, dtype)


def _signed(text: str) -> Expr:
    return Expr(text, UNARY if text[0] == "-" else ATOM)


def _float(value: float) -> Expr:
    if value != value:
        return Expr("np.nan")
    if value in (np.inf, -np.inf):
        return _signed("np.inf" if value > 0 else "-np.inf")
    return _signed(repr(value))


def cast(e: Expr, dtype: str) -> Expr:
    """A number as another type."""
    if dtype == "b1":
        return Expr(f"{e.within(COMPARE + 1)} != 0", COMPARE)
    return Expr(f"{dtype_name(dtype)}({e.text})")


def dtype_name(dtype: str) -> str:
    """NumPy's name of a dtype code, as emitted code spells it."""
    return "np.bool_" if dtype == "b1" else f"np.{np.dtype(dtype).name}"


# -- names ----------------------------------------------------------------------------------------


_TAKEN = {"np", "abs", "complex", "len", "max", "range", "show", "ask"}  # by emitted code


class Names:
    """Identifiers, each given once."""

    def __init__(self, reserved: set[str], wishes: set[str]) -> None:
        self._wishes = wishes  # what the user calls things: not for loop counters
        self._used = set(reserved) | set(keyword.kwlist) | _TAKEN
        self._next: dict[str, int] = {}
        self._counters: list[str] = []

    def new(self, wish: str, otherwise: str = "t") -> str:
        base = re.sub(r"\W+", "_", wish, flags=re.ASCII).strip("_") or otherwise
        if base[0].isdigit():
            base = f"{otherwise}{base}"
        if wish and base not in self._used:
            self._used.add(base)
            return base
        k = self._next.get(base, 1)
        form = "{}_{}" if base[-1].isdigit() or wish else "{}{}"
        while (name := form.format(base, k)) in self._used:
            k += 1
        self._next[base] = k + 1
        self._used.add(name)
        return name

    def extent(self, axis: int) -> str:
        """A name for an extent of an argument."""
        name = "nmpq"[axis] if axis < 4 else "n"
        return self.new(name if name not in self._wishes else f"{name}_{axis}")

    def counters(self, n: int) -> list[str]:
        """Loop counters of array expressions: they live in one nest only, so nests share them."""
        while len(self._counters) < n:
            free = (c for c in "ijklmpqr" if c not in self._used | self._wishes)
            self._counters.append(self.new(next(free, "i")))
        return self._counters[:n]


# -- lines ----------------------------------------------------------------------------------------


class Page:
    """Lines of Python, indented as they are written."""

    def __init__(self) -> None:
        self.lines: list[Any] = []
        self.indent = 0
        self._noted = ""
        self._note = ""

    def note(self, comment: str) -> None:
        """A comment in front of the next line, unless it was the last one."""
        self._note = comment

    def inner(self) -> Page:
        """A page for the body of a compound statement that is still to be written."""
        page = Page()
        page.indent = self.indent + 1
        return page

    def write(self, line: str) -> None:
        if self._note != self._noted:
            self._noted = self._note
            self.lines.append("    " * self.indent + self._note)
        self.lines.append("    " * self.indent + line)

    def insert(self, at: int, lines: list[str]) -> None:
        """Lines in front of one that is written already."""
        self.lines[at:at] = ["    " * self.indent + line for line in lines]

    def slot(self) -> Page:
        """A place here and at this indentation that can be written to later."""
        inner = Page()
        inner.indent = self.indent
        self.lines.append(inner.lines)
        return inner

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Lines written inside are the body of a compound statement (`pass` if there are none)."""
        self.write(head)
        before = len(self.lines)
        self.indent += 1
        yield
        if len(self.lines) == before:
            self.write("pass")
        self.indent -= 1

    def text(self) -> str:
        return "\n".join(_flat(self.lines)) + "\n"


def _flat(lines: list[Any]) -> Iterator[str]:
    stack = [iter(lines)]
    while stack:
        for item in stack[-1]:
            if isinstance(item, list):
                stack.append(iter(item))
                break
            yield item
        else:
            stack.pop()
