"""Are the first and the last mention of a name found, through loops and branches?"""

from __future__ import annotations

import ast

from jitad.emit.names_in_source import mentions

TEXT = """
def f(x, n):
    once = x + 1
    kept = 0
    for i in range(n):
        inner = once * i
        if inner > 3:
            deep = inner
            kept = kept + deep
        else:
            kept = 2
    late = kept
    if n:
        away = 1
    away2 = n
    while away2 > 0:
        away2 -= 1
    return late + away
"""


def _found() -> tuple[ast.FunctionDef, dict[str, int], frozenset[str], frozenset[str]]:
    (function,) = ast.parse(TEXT).body
    assert isinstance(function, ast.FunctionDef)
    found = mentions(function)
    lists = {id(b): b for n in ast.walk(function) for b in (getattr(n, "body", None),
             getattr(n, "orelse", None)) if isinstance(b, list)}  # fmt: skip
    ends = {
        name: lists[body][k].lineno for (body, k), names in found.ends.items() for name in names
    }
    return function, ends, found.single, found.counters


def test_names_that_are_bound_once_and_read_further_in() -> None:
    _, _, single, counters = _found()
    # `away` is read where its branch may not have been taken
    assert single == {"x", "n", "once", "inner", "deep", "late"}
    assert counters == {"i"}


def test_the_last_mention_is_in_the_list_around_all() -> None:
    _, ends, _, _ = _found()
    assert ends == {"x": 3, "n": 15, "once": 5, "kept": 12, "inner": 7, "deep": 9, "late": 18,
                    "away": 18, "away2": 16}  # fmt: skip
