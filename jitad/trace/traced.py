"""What does a trace give, and of what?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from jitad.errors import GuardMiss, JitadError, JitadExtentError
from jitad.immutable import immutable
from jitad.tape.ir import Pos, Tape, walk
from jitad.tape.types import Array, Scalar
from jitad.trace.around.paths import Guard, Input, Path
from jitad.trace.output import Output

if TYPE_CHECKING:
    from jitad.trace.commits import Commit

FIRST_ROOM = 256
MOST_ROOM = 2**28


@immutable
class Shaped:
    """An array argument with example extents: an axis of 1 is taken to be 1 always."""

    type: Array
    extents: tuple[int, ...]
    content: np.ndarray | None = field(default=None, compare=False)  # should it be needed


@immutable
class Valued:
    """A number argument with its value in the call that is traced for, should it be needed."""

    type: Scalar
    value: Any


@dataclass(eq=False)
class Room:
    """How many elements the lists may have that grow at one place; kept from call to call."""

    message: str  # by which the kernel says that it does not suffice
    size: int = FIRST_ROOM

    def grow(self) -> None:
        if self.size >= MOST_ROOM:
            raise JitadError(
                f"a list gets longer than {MOST_ROOM} elements", None,
                "Does the loop end?  Keep less, or add up as you go.",
            )  # fmt: skip
        self.size *= 8


@immutable(eq=False)
class Traced:
    """A tape and what a call of it needs.

    The tape's parameters are `inputs` (from arguments) and `captures` (from elsewhere), each of
    which says its `var`; the order is that of `tape.body.params`.  Its results are those of
    `output` and then those of the commits.
    """

    tape: Tape
    inputs: tuple[Input, ...]
    captures: tuple[Input, ...]
    guards: tuple[Guard, ...]
    output: Output
    commits: tuple[Commit, ...]
    guessed: dict[Any, str]  # opaque functions that are taken to give a float
    relied: tuple[tuple[Path, Any], ...] = ()  # arguments that guards ask to have these values
    rooms: tuple[Room, ...] = ()  # of the lists that grow
    new_keys: dict[str, Pos] = field(default_factory=dict)  # of NewKey's: where the dict is made
    ran: tuple[Any, ...] = ()  # the functions that were called, the user's and of libraries

    def arguments(self, function: Any, args: Any = (), kwargs: Any = None) -> list[Any]:
        """The values of all parameters, in order."""
        every: list[Any] = [*self.inputs, *self.captures]
        known = {i.var: i for i in every}
        return [known[v].get(function, args, kwargs) for v in self.tape.body.params]

    def result(
        self, flat: Sequence[Any], function: Any, args: Any = (), kwargs: Any = None
    ) -> tuple[Any, Callable[[], None]]:
        """What the user gets, and what makes all writes, once, after the kernel has succeeded.

        What is written to, and what is written, is found before: then each thing is still there.
        """
        made: dict[int, Any] = {}
        prepared = [(c, c.prepared(flat, function, args, kwargs, made)) for c in self.commits]
        out = self.output.rebuild(flat, function, args, kwargs, made)

        def commit() -> None:
            for c, (target, value) in prepared:
                c.apply(target, value)

        return out, commit

    @property
    def misses(self) -> tuple[type[JitadError], ...]:
        """The errors after which a call is tried again: what prints can't take that back."""
        blocks = [self.tape.body, *(f.body for f in self.tape.functions.values())]
        prints = any(e.op == "print" for b in blocks for e in walk(b))
        return (GuardMiss,) if prints else (GuardMiss, JitadExtentError)

    def missed(self, function: Any, args: Any = (), kwargs: Any = None) -> list[Guard]:
        """The guards that do not hold now."""
        return [g for g in self.guards if not g.holds(function, args, kwargs)]
