"""How does emitted code call a function that only Python can run?

`answer = ask(key, kinds, *operands)` gives a tuple.  Each number in it gets a name, and each array
is memory of the kernel's own, because Python's side has copied it.
"""

from __future__ import annotations

from jitad.emit.access import Access, identity
from jitad.emit.buffers import Root
from jitad.emit.print_python import Expr
from jitad.emit.scope import Scope
from jitad.tape.ir import Equation, Var, is_array
from jitad.tape.types import Array


def call(s: Scope, e: Equation) -> None:
    given = "".join(
        f", {s.access[a].name if isinstance(a, Var) and is_array(a) else s.expr(a).text}"
        for a in e.ins
    )
    answer = s.names.new("", "answer")
    kinds = " ".join(kind.removesuffix("p") for kind in e.params["kinds"])
    s.page.write(f"{answer} = ask({e.params['late'].key!r}, {kinds!r}{given})")
    here = len(s.loops)
    for k, v in enumerate(e.outs):
        if not isinstance(v.type, Array):
            s.pinned.add(s.name(v, Expr(f"{answer}[{k}]")))
            continue
        name = s.new_name(v)
        s.page.write(f"{name} = {answer}[{k}]")
        ndim = v.type.ndim
        extents = tuple(s.temporary(Expr(f"{name}.shape[{j}]"), "n") for j in range(ndim))
        s.bind(v, Access(name, identity(ndim)), extents)
        s.buffers.place(v, frozenset([Root(True, here, here)]))
