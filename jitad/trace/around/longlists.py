"""How does a trace hold a long list of numbers from outside, and a size of the kernel's own?

As arrays, one for each number of an element (`rows.py`), behind the face of a list (`stretch.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from jitad.tape.build import Leaf
from jitad.tape.types import INT, Array, Scalar
from jitad.trace.around import rows
from jitad.trace.around.captures import Captures
from jitad.trace.around.paths import Input, Path, Root
from jitad.trace.containers.grown import of_columns
from jitad.trace.containers.stretch import Stretch
from jitad.trace.joins.forms import Number
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
        inside = leaf.ndim if isinstance(leaf, Array) else 0
        t = Array(leaf.dtype if isinstance(leaf, Array) else leaf, 1 + inside)
        extents = rows.column(value, at).shape if inside else (len(value),)
        var = captures.add_input(t, name, extents)
        inputs.append(Input(path.then("column", at), t, var))
        captures.columns.add(var)
        held.append(ArrayHandle(Leaf(b, var)))
    if rows.may_be_written(kind):
        captures.copied.add(path)
    out[:] = [of_columns(held, _sample(kind, iter(held)))]
    captures.register(out, path)
    return out


def _sample(kind: rows.Kind, held: Iterator[ArrayHandle]) -> Any:
    """Some element of this kind, with rows of the columns that are held."""
    if isinstance(kind, str):
        next(held)
        return _SAMPLES[kind]
    if isinstance(kind, Array):
        return next(held).row(0)
    if isinstance(kind, rows.Many):
        count, numbers = next(held).row(0), next(held).row(0)
        return [Stretch(count, (numbers,), Number(Scalar(kind.dtype, py=True)), 0)]
    of, keys, parts = kind
    given = [_sample(part, held) for part in parts]
    if of is dict:
        return dict(zip(keys, given, strict=True))
    return given if of is list else tuple.__new__(of, given)


_SAMPLES: dict[Any, Any] = {"f8": 0.0, "i8": 0, "b1": False}


def hidden(captures: Captures, thing: Any, name: str) -> Leaf:
    """An int that is no input of the user's: the size of a thing of the kernel's own."""
    var = captures.add_input(INT, name)
    captures.inputs.append(Input(Path(Root(thing), (("attr", "size"),)), INT, var))
    return Leaf(captures.builder, var)
