"""What does a tape look like?  One equation a line, blocks indented."""

from __future__ import annotations

from typing import Any

from jitad.tape.ir import Atom, Block, Tape, Var, walk


def show(tape: Tape) -> str:
    """The tape as text, variables numbered in order of definition, tags from 1, newest last."""
    bodies = [t.body for t in (*tape.functions.values(), tape)]
    tags = sorted({e.params["tag"] for b in bodies for e in walk(b) if "tag" in e.params})
    names: dict[Var, str] = {}
    taken: set[str] = set()

    def name(atom: Atom) -> str:
        if not isinstance(atom, Var):
            return repr(atom)
        if atom not in names:
            base = atom.name or "v"
            text = base if atom.name and base not in taken else f"{base}{len(names)}"
            taken.add(text)
            names[atom] = text
        return names[atom]

    def typed(var: Var) -> str:
        return f"{name(var)}:{var.type}"

    def shown(key: str, value: Any) -> str:
        return str(tags.index(value) + 1 if key == "tag" else getattr(value, "__name__", value))

    lines: list[str] = []

    def block(b: Block, indent: int, head: str) -> None:
        pad = "  " * indent
        lines.append(f"{pad}{head}({', '.join(map(typed, b.params))})")
        for e in b.equations:
            told = {k: v for k, v in e.params.items() if k != "results"}  # the types say it
            params = "".join(f" {k}={shown(k, v)}" for k, v in told.items())
            left = ", ".join(map(typed, e.outs))
            right = f"{e.op}{params} {' '.join(map(name, e.ins))}".rstrip()
            where = f"  # {e.pos}" if e.pos else ""
            lines.append(f"{pad}  {left + ' = ' if left else ''}{right}{where}")
            for k, inner in enumerate(e.blocks):
                block(inner, indent + 2, f"block{k if len(e.blocks) > 1 else ''}")
        lines.append(f"{pad}  -> {', '.join(map(name, b.results))}")

    for function, t in tape.functions.items():
        block(t.body, 0, f"function {function}")
    block(tape.body, 0, f"tape {tape.name}")
    return "\n".join(lines)
