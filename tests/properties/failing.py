"""What may a random program be in which much can fail, and is caught?

The same programs as `generate` makes, with attempts that may fail in several places one after the
other: quotients, roots, indices, keys, conditions under which something is raised, helpers and
loops that raise, attempts in attempts, handlers that look at the exception, raise it again, leave
a loop or go on, and what is written before it comes to that.
"""

from __future__ import annotations

from tests.properties.choices import Choices
from tests.properties.generate import HEAD as USUAL
from tests.properties.generate import Generated, Statements

HEAD = '''\
import math

import numpy as np


class TooLarge(Exception):
    def __init__(self, value, place=0):
        super().__init__(value, place)
        self.value, self.place = value, place


def positive(v):
    if v < 0.0:
        raise ValueError("negative", 0.25)
    return v + 0.1


def apart(v, least=0.3):
    if v * v < least * least:
        raise ZeroDivisionError("near zero")
    return v


def moderate(v, count=2):
    for k in range(count):
        v = v * 1.5 + 0.1
        if v > 1.2:
            raise TooLarge(0.5 * v, k)
        if v < -2.0:
            raise KeyError(k)
    return 0.5 * v


def halves(v):
    while True:
        if v * v > 1.0:
            raise TooLarge(v)
        yield 0.5 * v
        v = 1.7 * v - 0.1


'''
_RAISED = ("ValueError", "KeyError", "IndexError", "ZeroDivisionError", "TooLarge")


def program(choices: Choices) -> Generated:
    made = Failing(choices).module()
    return Generated(HEAD + made.source.removeprefix(USUAL), made.features, made.made)


class Failing(Statements):
    """Attempts, mostly; the other statements as they are."""

    least = 4

    def __init__(self, choices: Choices) -> None:
        super().__init__(choices)
        self.left = 20
        self.caught: list[str] = []  # kinds that somebody around catches

    def statement(self) -> bool:
        if self.caught and self.c.below(3):
            self.failing()
            return True
        if self.indent < 4 and not self.c.below(3):
            self.do_attempt()
            return True
        return super().statement()

    def failing(self) -> None:
        """One that may raise what is caught."""
        kind, e = self.c.pick(self.caught), self.bounded(1)
        match kind, self.c.below(3):
            case "ValueError", 0 | 1:
                self.assigned(f"0.4 * math.sqrt(positive({e}))")
            case "ZeroDivisionError", 0 | 1:
                self.assigned(f"0.1 / apart({e})")
            case "IndexError", 0 | 1:
                self.assigned(f"[{e}, 0.2, -0.3][{self.int()} % 5]")
            case "KeyError", 0 if "TooLarge" not in self.caught:
                self.assigned(f"{{0: 0.3, 1: {e}, 3: 0.1}}[{self.int()} % 4]")
            case "TooLarge", 0 if "KeyError" in self.caught:
                self.assigned(f"moderate({e})")
            case "TooLarge", 1:
                self.use("generator that raises")
                k, v = self.new("k"), self.new("e")
                self.say(f"for {k}, {v} in zip(range({2 + self.c.below(2)}), halves({e})):")
                self.guarded(lambda: self.assigned(f"0.5 * {v} + {self.bounded(1)}"))
            case _:
                argument = self.c.pick(["1", "0.5", repr(kind)])
                if kind == "TooLarge":
                    argument = e
                self.say(f"if {self.condition()}:")
                self.guarded(lambda: self.say(f"raise {kind}({argument})"))

    def do_attempt(self) -> None:
        self.use("attempt")
        first, *others = self.kinds()
        self.use("several attempts in one another" if self.caught else "attempt of its own")
        around, self.caught = self.caught, [*self.caught, first, *others]
        self.say("try:")

        def body() -> None:
            self.failing()
            self.statements(2 + self.c.below(4))
            self.failing()

        self.guarded(body)
        self.caught = around
        for kinds in ([first, *others],) if self.c.below(2) else ([first], others):
            if kinds:
                self.handler(kinds)
        if not self.c.below(3):
            self.say("else:")
            self.guarded(lambda: self.statements(1 + self.c.below(2)))
        if not self.c.below(4):
            self.use("finally")
            self.say("finally:")
            self.guarded(self.do_assign)

    def kinds(self) -> list[str]:
        found = [k for k in _RAISED if self.c.below(2)]
        return found or [self.c.pick(list(_RAISED))]

    def handler(self, kinds: list[str]) -> None:
        caught = kinds[0] if len(kinds) == 1 else f"({', '.join(kinds)})"
        named = self.c.below(3) == 0 and kinds == ["TooLarge"]
        self.say(f"except {caught}{' as error' if named else ''}:")

        def body() -> None:
            if named:
                self.use("exception that tells a value")
                self.assigned("0.3 * error.value + 0.1 * error.place")
            match self.c.below(6):
                case 0 if set(kinds) <= set(self.caught):
                    self.use("raised again")
                    self.say("raise")
                case 1 if self.loops:
                    self.say(self.c.pick(["break", "continue"]))
                case 2:
                    self.use("handler that returns")
                    self.say(f"return {self.bounded(1)}")
                case 3:
                    self.statements(1 + self.c.below(2))
                case _:
                    self.do_assign()

        self.guarded(body)
