"""Does every seed program give what the table in docs/seeds.md says?"""

from __future__ import annotations

from typing import Any

import pytest

from .__main__ import HEAD, TABLE, row
from .programs import CASES

LINES = TABLE.read_text(encoding="utf-8").removeprefix(HEAD).splitlines(keepends=True)


def test_the_table_has_every_case() -> None:
    assert TABLE.read_text(encoding="utf-8").startswith(HEAD)
    assert [line.split("|")[1].strip() for line in LINES] == [c["id"] for c in CASES]
    assert len(CASES) == 94


@pytest.mark.parametrize(("case", "line"), list(zip(CASES, LINES, strict=True)),
                         ids=[c["id"] for c in CASES])  # fmt: skip
def test_a_line(case: dict[str, Any], line: str) -> None:
    assert row(case) == line
    eager, compiled = (cell.strip() for cell in line.split("|")[-3:-1])
    assert eager == "right" and compiled in ("right", "-")
