"""How does a trace hold a long list of floats from outside, and a size of the kernel's own?

As one array, behind the face of a list (`stretch.py`); or number by number, where an earlier trace
has found that its length must be known.
"""

from __future__ import annotations

from typing import Any

from jitad.tape.build import Leaf
from jitad.tape.types import INT, Array, type_of_constant
from jitad.trace.around.captures import Captures
from jitad.trace.around.paths import Guard, Input, Path, Root
from jitad.trace.containers.grown import of_floats


def float_list(
    captures: Captures, out: list[Any], count: int, path: Path, inputs: list[Input]
) -> list[Any]:
    """`out` becomes the list that is found at the path."""
    b = captures.builder
    if path in captures.came_apart:
        captures.guards.append(Guard(path, "keys", (list, count)))
        number = type_of_constant(0.0)
        del out[:]
        for k in range(count):
            inputs.append(Input(path.then("item", k), number, captures.add_input(number, "")))
            out.append(Leaf(b, inputs[-1].var))
    else:
        captures.needless.add(path)
        name = next((str(k) for _, k in reversed(path.steps) if isinstance(k, str)), "")
        if not name and isinstance(path.root, tuple):
            where = path.root[1]
            name = where if isinstance(where, str) else captures.name_of(where)
        t = Array("f8", 1)
        var = captures.add_input(t, name, (count,))
        inputs.append(Input(path.then("floats", None), t, var))
        out[:] = [of_floats(Leaf(b, var))]
    captures.register(out, path)
    return out


def hidden(captures: Captures, thing: Any, name: str) -> Leaf:
    """An int that is no input of the user's: the size of a thing of the kernel's own."""
    var = captures.add_input(INT, name)
    captures.inputs.append(Input(Path(Root(thing), (("attr", "size"),)), INT, var))
    return Leaf(captures.builder, var)
