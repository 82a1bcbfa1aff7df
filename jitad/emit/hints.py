"""What are variables called in emitted code?  As the user calls them, or what they become."""

from __future__ import annotations

from jitad.tape.ir import Atom, Block, Var
from jitad.tape.lent import STORES


def hints_of(body: Block) -> dict[Var, str]:
    """Names for variables: their own, else that of what they become."""
    hints: dict[Var, str] = {}

    def become(a: Atom, v: Var) -> None:
        if isinstance(a, Var) and a not in hints and v in hints:
            hints[a] = hints[v]

    def visit(block: Block) -> None:
        for e in reversed(block.equations):
            for v in e.outs:
                if v.name:
                    hints[v] = v.name
            match e.op:
                case _ if e.op in (*STORES, "push", "copy"):
                    become(e.ins[0], e.outs[0])
                case "for" | "while":
                    b = e.blocks[-1]
                    params = b.params[1:] if e.op == "for" else b.params
                    init = e.ins[3:] if e.op == "for" else e.ins
                    for i, p, r, v in zip(init, params, b.results, e.outs, strict=True):
                        if p.name:
                            hints[p] = p.name
                        become(p, v)
                        become(v, p)
                        become(r, p)
                        become(i, p)
                case "if":
                    for b in e.blocks:
                        for r, v in zip(b.results, e.outs, strict=True):
                            become(r, v)
            for b in e.blocks:
                for p in b.params:
                    if p.name:
                        hints[p] = p.name
                visit(b)

    for p in body.params:
        if p.name:
            hints[p] = p.name
    visit(body)
    return hints
