"""How is a program of the catalogue described?

A catalogue module makes one `Catalogue`; its `add` is a decorator that leaves the function as it
is and notes how to draw arguments, which of them to differentiate by, and where the truth of the
derivative comes from ("complex": complex step; "differences": extrapolated central differences).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

Spec = Any  # a function of a random generator, or a constant


@dataclass(frozen=True)
class Program:
    """A function that a user might write, with arguments well inside its smooth region."""

    name: str
    function: Callable[..., Any]
    specs: tuple[Spec, ...]
    argnums: tuple[int, ...] | None  # None: every argument that has a float in it
    tags: frozenset[str]
    truth: str = "complex"
    seed: int = 1

    def sample(self, seed: int = 0) -> tuple[Any, ...]:
        random = np.random.default_rng([self.seed, seed])
        return tuple(spec(random) if callable(spec) else spec for spec in self.specs)


class Catalogue:
    """The programs of one module, in order."""

    def __init__(self) -> None:
        self.programs: dict[str, Program] = {}

    def add(
        self,
        *specs: Spec,
        tags: str = "",
        argnums: tuple[int, ...] | None = None,
        truth: str = "complex",
        name: str = "",
        seed: int = 1,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def note(f: Callable[..., Any]) -> Callable[..., Any]:
            key = name or f.__name__
            assert key not in self.programs, f"two programs are called {key}"
            self.programs[key] = Program(
                key, f, specs, argnums, frozenset(tags.split()), truth, seed
            )
            return f

        return note

    def __iter__(self) -> Iterator[Program]:
        return iter(self.programs.values())


# -- arguments ------------------------------------------------------------------------------------


def scalar(low: float, high: float) -> Spec:
    return lambda random: float(random.uniform(low, high))


def array(*shape: int, low: float = -1.0, high: float = 1.0) -> Spec:
    return lambda random: random.uniform(low, high, shape)


def several(make: Callable[..., Any], *specs: Spec) -> Spec:
    """An argument put together from others: `several(dict_of, scalar(0, 1), ...)`."""
    return lambda random: make(*(s(random) if callable(s) else s for s in specs))
