"""Where do the choices of a random program come from, and how is a failing one made smaller?

A program is a function of a list of choices, numbers below a bound.  In the test-suite hypothesis
makes the choices (and shrinks them); the search outside makes them from a seed, and shrinks by
deleting and lowering them, as hypothesis does.  Lower choices mean simpler programs.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Source(Protocol):
    def below(self, bound: int) -> int:
        """A number from 0 to bound - 1."""


class Choices:
    """What the generator asks; notes what was chosen, and which features were used."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.made: list[int] = []

    def below(self, bound: int) -> int:
        if bound <= 1:
            return 0
        self.made.append(self.source.below(bound))
        return self.made[-1]

    def pick(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def chance(self, percent: int) -> bool:
        return self.below(100) >= 100 - percent

    def weighted(self, options: dict[Any, int]) -> Any:
        """A key; the first ones are the simplest."""
        at = self.below(sum(options.values()))
        for key, weight in options.items():
            at -= weight
            if at < 0:
                return key
        raise AssertionError


class Seeded:
    """Choices from a seed."""

    def __init__(self, seed: int, number: int) -> None:
        self.random = random.Random(f"{seed}/{number}")

    def below(self, bound: int) -> int:
        return self.random.randrange(bound)


class Replayed:
    """Choices from a list; beyond its end, and beyond the bound, the simplest ones."""

    def __init__(self, made: Sequence[int]) -> None:
        self.rest = list(reversed(made))

    def below(self, bound: int) -> int:
        return min(self.rest.pop(), bound - 1) if self.rest else 0


class Drawn:
    """Choices that hypothesis draws."""

    def __init__(self, draw: Callable[..., Any]) -> None:
        self.draw = draw

    def below(self, bound: int) -> int:
        from hypothesis import strategies

        return int(self.draw(strategies.integers(0, bound - 1)))


def shrink(
    made: list[int], still_fails: Callable[[list[int]], bool], tries: int = 400
) -> list[int]:
    """Fewer and lower choices for which `still_fails` holds as well."""
    left = tries

    def attempt(candidate: list[int]) -> bool:
        nonlocal made, left
        if left <= 0 or candidate == made:
            return False
        left -= 1
        if still_fails(candidate):
            made = candidate
            return True
        return False

    progress = True
    while progress and left > 0:
        progress = False
        width = max(len(made) // 2, 1)
        while width:
            at = 0
            while at < len(made):
                if attempt(made[:at] + made[at + width :]):
                    progress = True
                else:
                    at += width
            width //= 2
        for at in range(len(made)):
            if at < len(made) and made[at]:
                for lower in (0, made[at] // 2, made[at] - 1):
                    if attempt([*made[:at], lower, *made[at + 1 :]]):
                        progress = True
                        break
    return made
