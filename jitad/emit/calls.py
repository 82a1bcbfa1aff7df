"""How do functions of the tape become functions of Python that call themselves?

Each is a function of the module beside the kernel, with one parameter more: the address below
which its frame may not lie (`depth`).  Parameters have one type each, whatever the kernel was
called with; arrays are handed over as whole buffers, which the function does not write, and those
that come back are nobody else's.  A stack is handed over as its buffer and its top, and comes back
as such.
"""

from __future__ import annotations

from jitad.emit import nests, stacks
from jitad.emit.access import Access, identity
from jitad.emit.buffers import Root
from jitad.emit.print_python import Expr, dtype_name
from jitad.emit.scope import Scope
from jitad.errors import FINISHED, JitadRecursionError, message
from jitad.tape.ir import Atom, Equation, Tape, Var, is_array
from jitad.tape.types import Array, Scalar, Stack


def entrance(tape: Tape, s: Scope) -> list[str]:
    """What a recursive function begins with: is there room for one more call?

    A `return` of the right types comes before all calls, for Numba to infer types by; it is
    never taken.
    """
    cls = s.exceptions[JitadRecursionError]
    text = message(f"{tape.name} calls itself too deeply for the stack", tape.pos,
                   "Write it as a loop, or run it in a thread with a larger stack.")  # fmt: skip
    samples = "".join(f"{_sample(a)}, " for a in tape.body.results)
    return [
        f"    if deep({s.room}):\n",
        f"        if {s.room} == 0:\n            return ({samples.rstrip()})\n",
        f"        raise {cls}({text!r}, {FINISHED!r})\n",
    ]


def _sample(a: Atom) -> str:
    match a.type:
        case Array(dtype, ndim):
            return f"empty({dtype_name(dtype)}, {', '.join('0' * ndim)})"
        case Scalar(dtype, py):
            return "0.0" if dtype == "f8" else "0" if (dtype, py) == ("i8", True) else (
                f"{dtype_name(dtype)}(0)")  # fmt: skip
        case Stack(kind):
            return f"empty({dtype_name(kind.dtype)}, 0), 0"


def _plain(text: str, dtype: str) -> str:
    """A number whose type is not that of a literal: Numba would make a function of its own for
    it, whose calls of the other are not linked in code that is kept on disk."""
    return text if dtype[0] == "f" else f"{dtype_name(dtype)}({text})"


def call(s: Scope, e: Equation) -> None:
    """Arrays are handed over as whole buffers, and come back as such."""
    operands: list[str] = []
    for a in e.ins:
        if isinstance(a.type, Stack):
            operands += s.stacks[a]
            continue
        if not isinstance(a, Var) or not is_array(a):
            operands.append(_plain(s.expr(a).text, a.type.dtype))
            continue
        if s.whole(a):
            name = s.access[a].name
            if not all(r.owned for r in s.buffers.roots[a]):
                name = f"handed({name})"
        else:
            name, _ = s.allocate(a, s.extents[a])
            nests.copy(s, name, a)
        operands.append(name)
    # stacks are used once, so those that come back take the names of those that were handed over
    free = [(a.type, s.stacks[a]) for a in e.ins if isinstance(a, Var) and a in s.stacks]
    for v in e.outs:
        if isinstance(v.type, Stack):
            found = next((pair for pair in free if pair[0] == v.type), None)
            if found is not None:
                free.remove(found)
            s.stacks[v] = found[1] if found is not None else stacks.names(s, v)
    values = [v for v in e.outs if not isinstance(v.type, Stack)]
    named = {v: s.new_name(v) for v in values}
    arrays = [(v, n) for v, n in named.items() if is_array(v)]
    names = [n for v in e.outs for n in (s.stacks[v] if v not in named else (named[v],))]
    function = s.called[e.params["function"]]
    left = f"{', '.join(names)}{',' * (len(names) == 1)} = " if names else ""
    s.page.write(f"{left}{function}({', '.join([*operands, s.room])})")
    for v, n in named.items():
        s.exprs[v] = Expr(n)
    for v, n in arrays:
        extents = tuple(
            s.temporary(Expr(f"{n}.shape[{k}]"), "n") for k in range(len(v.shape))
        )
        s.natural.update(x.text for x in extents)
        s.bind(v, Access(n, identity(len(extents))), extents)
        s.buffers.place(v, frozenset([Root(True, len(s.loops), len(s.loops))]))
