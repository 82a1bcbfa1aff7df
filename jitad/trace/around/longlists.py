"""How does a trace hold a long list of numbers from outside, and a size of the kernel's own?

As arrays, one for each number of an element (`rows.py`), behind the face of a list (`stretch.py`).
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

from jitad.tape.build import Leaf
from jitad.tape.types import INT, Array
from jitad.trace.around import rows
from jitad.trace.around.captures import Captures
from jitad.trace.around.paths import Input, Path, Root
from jitad.trace.containers.grown import of_columns
from jitad.values.array import ArrayHandle


def row_list(
    captures: Captures, out: list[Any], value: Sequence[Any], kind: rows.Kind, path: Path,
    inputs: list[Input],
) -> list[Any]:  # fmt: skip
    """`out` becomes the list that is found at the path, which may be `value` itself."""
    b = captures.builder
    captures.needless.add(path)  # number by number it would do, too, with a length that is known
    name = next((str(k) for _, k in reversed(path.steps) if isinstance(k, str)), "")
    if not name and isinstance(path.root, tuple):
        where = path.root[1]
        name = where if isinstance(where, str) else captures.name_of(where)
    held = []
    for at, leaf in rows.columns(kind):
        extents: tuple[int, ...] = ()
        if isinstance(leaf, Array):
            extents = functools.reduce(operator.getitem, at, value[0]).shape
        t = Array(leaf if isinstance(leaf, str) else leaf.dtype, 1 + len(extents))
        var = captures.add_input(t, name, (len(value), *extents))
        inputs.append(Input(path.then("column", at), t, var))
        captures.columns.add(var)
        held.append(ArrayHandle(Leaf(b, var)))
    if rows.may_be_written(kind):
        captures.copied.add(path)
    out[:] = [of_columns(held, rows.sample(kind, iter(held)))]
    captures.register(out, path)
    return out


def hidden(captures: Captures, thing: Any, name: str) -> Leaf:
    """An int that is no input of the user's: the size of a thing of the kernel's own."""
    var = captures.add_input(INT, name)
    captures.inputs.append(Input(Path(Root(thing), (("attr", "size"),)), INT, var))
    return Leaf(captures.builder, var)
