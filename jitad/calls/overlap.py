"""Does a call give the function one array, list or object under two names, one of which it writes?

A kernel takes what is in the arguments, each by itself; a write by one name would not be seen by
the other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from jitad.errors import JitadError
from jitad.structures import children_of, identity, is_node, is_numbas
from jitad.tape.types import Array
from jitad.trace.around.paths import Path, twice
from jitad.trace.traced import Traced
from jitad.values.memory import share_memory

_REMEDY = "Pass a copy of one of them."


def check_overlap(traced: Traced, function: Any, args: Any, kwargs: Any) -> None:
    """What is written is no other thing that the kernel was given, and shares no memory with it."""
    written = {c.path: c.path.get(function, args, kwargs) for c in traced.commits
               if c.slot[0] not in ("global", "cell")}
    given = [i.path for i in (*traced.inputs, *traced.captures) if isinstance(i.type, Array)]
    for path, thing in written.items():
        for other in given if isinstance(thing, np.ndarray) else ():
            if other != path and share_memory(thing, other.get(function, args, kwargs)):
                raise JitadError(
                    f"{traced.tape.name} writes to {path}, which shares memory with {other}",
                    traced.tape.pos, _REMEDY,
                )  # fmt: skip
    things = {identity(x): path for path, x in written.items() if not isinstance(x, np.ndarray)}
    if things:
        _check_containers(traced, function, args, kwargs, things, written)
    if error := twice(traced.guards, function, args, kwargs):
        raise error


def _check_containers(
    traced: Traced, function: Any, args: Any, kwargs: Any, things: dict[int, Path],
    written: dict[Path, Any],
) -> None:  # fmt: skip
    """No list or object that is written is there under another name."""
    outside = [g.path for g in traced.guards
               if g.kind != "missing" and not isinstance(g.path.root, tuple)]  # fmt: skip
    found = [(path, path.get(function, args, kwargs)) for path in {*outside, *written}
             if not isinstance(path.root, tuple)]  # fmt: skip
    met: dict[int, Path] = {identity(thing): path for path, thing in found}
    for path, thing in _containers(args, kwargs):
        one = identity(thing)
        if one in things and one in met:
            raise JitadError(
                f"{traced.tape.name} writes to {things[one]}: {met[one]} and {path} "
                "are one and the same", traced.tape.pos, _REMEDY,
            )  # fmt: skip
        met[one] = path


def _containers(args: Any, kwargs: Any) -> Iterator[tuple[Path, Any]]:
    """What can be written in the arguments, but for arrays, as often as it is there."""
    todo = deque((Path(("arg", k)), a) for k, a in enumerate(args))
    todo += [(Path(("kwarg", k)), a) for k, a in (kwargs or {}).items()]
    around: set[int] = set()
    while todo:
        path, thing = todo.popleft()
        if isinstance(thing, dict):
            inside = [(path.then("item", k), v) for k, v in thing.items()]
        elif isinstance(thing, (list, tuple)):
            inside = [(path.then("item", k), v) for k, v in enumerate(thing)
                      if type(v) not in (float, int)]  # fmt: skip
        elif is_numbas(type(thing)) and (found := children_of(thing)) is not None:
            inside = [(path.then("part", k), v) for k, v in enumerate(found[1])]
        elif is_node(thing) and hasattr(thing, "__dict__"):
            inside = [(path.then("attr", k), v) for k, v in vars(thing).items()]
        else:
            continue
        if not isinstance(thing, tuple):
            yield path, thing
        if id(thing) not in around:  # it may be in itself
            around.add(id(thing))
            todo += inside
