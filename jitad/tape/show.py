"""What does a tape look like?  One equation a line, blocks indented."""

from __future__ import annotations

from jitad.tape.ir import Atom, Block, Tape, Var


def show(tape: Tape) -> str:
    """The tape as text, variables and tags numbered in order of definition."""
    names: dict[Var, str] = {}
    taken: set[str] = set()
    tags: dict[int, int] = {}

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

    lines: list[str] = []

    def block(b: Block, indent: int, head: str) -> None:
        pad = "  " * indent
        lines.append(f"{pad}{head}({', '.join(map(typed, b.params))})")
        for e in b.equations:
            shown = {k: getattr(v, "__name__", v) for k, v in e.params.items()}
            if "tag" in shown:
                shown["tag"] = tags.setdefault(shown["tag"], len(tags) + 1)
            params = "".join(f" {k}={v}" for k, v in shown.items())
            left = ", ".join(map(typed, e.outs))
            right = f"{e.op}{params} {' '.join(map(name, e.ins))}".rstrip()
            where = f"  # {e.pos}" if e.pos else ""
            lines.append(f"{pad}  {left + ' = ' if left else ''}{right}{where}")
            for k, inner in enumerate(e.blocks):
                block(inner, indent + 2, f"block{k if len(e.blocks) > 1 else ''}")
        lines.append(f"{pad}  -> {', '.join(map(name, b.results))}")

    block(tape.body, 0, f"tape {tape.name}")
    return "\n".join(lines)
