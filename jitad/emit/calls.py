"""How do functions of the tape become functions of Python that call themselves?

Each is a function of the module beside the kernel, with one parameter more: the address below
which its frame may not lie (`depth`).  Parameters have one type each, whatever the kernel was
called with; arrays are handed over as whole buffers, which the function does not write but for
those that it is `lent`, and those that come back are nobody else's.  A stack is handed over as its
buffer and its top, and comes back as such.
"""

from __future__ import annotations

from jitad.emit import nests, stacks
from jitad.emit.access import Access, Affine, identity, index
from jitad.emit.buffers import Root, Roots, origins
from jitad.emit.kernel import Entangled
from jitad.emit.print_python import Expr, dtype_name
from jitad.emit.scope import Scope
from jitad.errors import FINISHED, JitadRecursionError, message
from jitad.tape.ir import Atom, Equation, Tape, Var, is_array
from jitad.tape.lent import Lent
from jitad.tape.types import Array, Scalar, Stack


def entrance(tape: Tape, s: Scope, given: Lent) -> list[str]:
    """What a recursive function begins with: is there room for one more call?

    A `return` of the right types comes before all calls, for Numba to infer types by; it is
    never taken.
    """
    cls = s.exceptions[JitadRecursionError]
    text = message(f"{tape.name} calls itself too deeply for the stack", tape.pos,
                   "Write it as a loop, or run it in a thread with a larger stack.")  # fmt: skip
    back = [a for j, a in enumerate(tape.body.results) if j not in given.values()]
    samples = "".join(f"{_sample(a)}, " for a in back)
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
    """Arrays are handed over as whole buffers, and come back as such, or changed in place."""
    function = e.params["function"]
    given = s.handed.arrays[function]
    taken: Roots = frozenset()
    names: dict[int, str] = {}
    for k, j in given.items():
        names[k] = _lent(s, e, k, e.outs[j], taken)
        taken |= s.buffers.roots[e.outs[j]]
    operands: list[str] = []
    for k, a in enumerate(e.ins):
        if isinstance(a.type, Stack):
            buffer, top = s.stacks[a]
            operands += [buffer, _plain(top, "i8")]  # at first it is a literal's name
        elif k in names:
            operands.append(names[k])
        elif isinstance(a, Var) and is_array(a):
            operands.append(_handed(s, a))
        else:
            operands.append(_plain(s.expr(a).text, a.type.dtype))
    # a stack that comes back keeps its name: arrays popped before are read of what the name means
    same = {j: s.stacks[e.ins[k]] for k, j in s.handed.stacks[function].items()}  # type: ignore[index]
    back: list[str] = []
    arrays: list[tuple[Var, str]] = []
    for j, v in enumerate(e.outs):
        if isinstance(v.type, Stack):
            s.stacks[v] = same[j] if j in same else stacks.names(s, v)
            back += s.stacks[v]
        elif j not in given.values():
            name = s.new_name(v)
            back.append(name)
            s.exprs[v] = Expr(name)
            if is_array(v):
                arrays.append((v, name))
    left = f"{', '.join(back)}{',' * (len(back) == 1)} = " if back else ""
    s.page.write(f"{left}{s.called[function]}({', '.join([*operands, s.room])})")
    for v, n in arrays:
        extents = tuple(
            s.temporary(Expr(f"{n}.shape[{k}]"), "n") for k in range(len(v.shape))
        )
        s.natural.update(x.text for x in extents)
        s.bind(v, Access(n, identity(len(extents))), extents)
        s.buffers.place(v, frozenset([Root(True, len(s.loops), len(s.loops))]))


def spread(s: Scope, e: Equation) -> None:
    """A function for each part of a loop; what the parts add to in copies is added up in order."""
    _, parts, *_ = e.ins
    summed, changed, late = e.params["summed"], e.params["changed"], e.params["late"]
    lent = s.handed.arrays
    if list(lent[e.params["function"]]) != list(changed):
        raise Entangled(e.params["function"], lent, changed)
    taken: Roots = frozenset()
    names: dict[int, str] = {}
    for k, v in zip(changed, e.outs, strict=True):
        names[k] = _lent(s, e, k, v, taken)
        taken |= s.buffers.roots[v]
    operands: list[str] = []
    for k, a in list(enumerate(e.ins))[2:]:
        if k in names:
            operands.append(names[k])
        elif isinstance(a, Var) and is_array(a):
            operands.append(_handed(s, a))
        else:
            operands.append(_plain(s.local(a).text, a.type.dtype))  # type: ignore[union-attr]
    times = s.local(parts)
    if not times.is_name and not times.text.isdecimal():
        times = s.temporary(times, "parts")
    more = s.temporary(Expr(f"{times.text} - 1"), "more") if summed else times
    s.natural.add(more.text)
    own: list[tuple[str, Var]] = []
    for k in range(2, 2 + summed):
        v = e.outs[changed.index(k)]
        name = s.names.new(f"{names[k]}_own")
        s.allocate_as(name, v.type.dtype, (more, *s.extents[v]), "zeros", hoist=False)
        own.append((name, v))
    copies = [name for name, _ in own]
    most = e.params["most"]
    arguments = [s.called[e.params["function"]], times.text, str(most), str(int(late)), str(summed),
                 *operands[:summed], *copies, *operands[summed:]]  # fmt: skip
    s.page.write(f"spread({', '.join(arguments)})")
    for name, v in own:
        counters = s.counters(len(s.extents[v]) + 1)
        with nests.loops(s, counters, (more, *s.extents[v]), {}):
            at = ", ".join(counters[1:])
            s.page.write(f"accum({s.access[v].name}, {name}[{', '.join(counters)}], {at})")


def _handed(s: Scope, a: Var) -> str:
    """An array that the function only reads."""
    as_it_is = not s.is_kernel or all(r.owned for r in s.buffers.roots[a])
    if not s.whole(a):
        if as_it_is and (part := _run_of(s, a)):
            return part
        name, _ = s.allocate(a, s.extents[a])
        nests.copy(s, name, a)
        return name
    name = s.access[a].name
    return name if as_it_is else f"handed({name})"


def _run_of(s: Scope, a: Var) -> str:
    """Neighbouring elements of an array, where they lie; nothing where they are none."""
    access = s.access[a]
    *row, last = access.map
    if len(s.extents[a]) != 1 or last.terms != ((0, 1),) or any(x.terms for x in row):
        return ""
    (count,) = s.extents[a]
    start = [index(Affine(x.constant, x.names), ()).text for x in access.map]
    return f"run_of({access.name}, max({count.text}, 0), {', '.join(start)})"


def _lent(s: Scope, e: Equation, k: int, v: Var, taken: Roots) -> str:
    """Memory that the function may write: the operand's, which becomes the result's, or a copy."""
    a = e.ins[k]
    assert isinstance(a, Var)
    others = [x for j, x in enumerate(e.ins) if j != k and isinstance(x, Var) and is_array(x)]
    around = origins(taken.union(*(s.buffers.roots[x] for x in others)))
    roots = s.buffers.roots[a]
    if s.whole(a) and s.buffers.writable(a) and around.isdisjoint(origins(roots)):
        s.bind(v, s.access[a], s.extents[a])
        s.buffers.place(v, roots)
    else:
        nests.copy(s, s.new_array(v, s.extents[a]), a)
    return s.access[v].name


def given_back(
    s: Scope, tape: Tape, given: Lent, results: list[Expr], alone: bool
) -> list[str]:
    """At the end of a function what it was lent is where it was; lines for its beginning.

    Where others write to the array at the same time it can't be copied there.
    """
    lines: list[str] = []
    for k, j in given.items():
        p, r = tape.body.params[k], tape.body.results[j]
        assert isinstance(r, Var)
        if s.whole(r) and s.buffers.roots[r] == s.buffers.roots[p]:
            continue
        if not alone:
            raise Entangled(tape.name)
        if not lines:  # they may read what is written now
            results[:] = [x if x.is_name else s.temporary(x, "t") for x in results]
        place = s.names.new("", "lent")
        lines.append(f"    {place} = {s.given[p]}\n")
        nests.copy(s, place, r)
    return lines
