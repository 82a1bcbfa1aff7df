"""Write the table of seed programs: `python -m tests.seeds` makes docs/seeds.md anew."""

from __future__ import annotations

from pathlib import Path

from .programs import CASES, SYSTEMS, compilable, outcome

TABLE = Path(__file__).resolve().parents[2] / "docs" / "seeds.md"

HEAD = """# Programs of other systems

The example programs of four systems whose ideas jitad takes up, run through its public interface,
eagerly and compiled, against values that were checked by hand or by a second method
(`tests/seeds/cases.json` has program, value and origin). "-": the program looks at tapes itself.
`python -m tests.seeds` writes this page anew; the tests check every line of it.

| case | of | what | eager | compiled |
|---|---|---|---|---|
"""


def row(case: dict[str, object]) -> str:
    """One line of the table."""
    id = str(case["id"])
    cells = [outcome(case, False), outcome(case, True) if compilable(case) else "-"]
    title = str(case["title"]).replace("|", "\\|")
    return f"| {id} | {SYSTEMS[id[:3]]} | {title} | {' | '.join(cells)} |\n"


if __name__ == "__main__":
    TABLE.write_text(HEAD + "".join(map(row, CASES)), encoding="utf-8")
