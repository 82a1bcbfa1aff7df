"""What does a `match` look like in the rewritten tree of a function?

CPython compares the subject with the patterns.  The subject, and the classes in patterns, come
from hooks; where patterns read attributes, so do the names that they bind.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from jitad.trace.patterns import asks_for_truth
from jitad.trace.syntax import names as of
from jitad.trace.syntax.exits import _at
from jitad.trace.syntax.expressions import _later, _load, _store
from jitad.trace.syntax.hooked import hook

Bound = Callable[[ast.match_case], list[ast.stmt]]


def with_hooks(
    s: ast.Match, visit: Callable[[ast.expr], ast.expr], fresh: Callable[[str], str]
) -> tuple[list[ast.stmt], Bound]:
    """Statements that find the classes of patterns, and what a case begins with (in place)."""
    patterns = [n for c in s.cases for n in ast.walk(c.pattern) if isinstance(n, ast.MatchClass)]
    reads = any(n.patterns or n.kwd_patterns for n in patterns)
    how = "matched" if asks_for_truth(s.cases) else "looked_into" if reads else "compared"
    subject = visit(s.subject)
    s.subject = _at(hook(how, subject), subject)
    classes: list[ast.stmt] = []
    for node in patterns:
        name = fresh("t")
        found = hook("pattern_class", _later(visit(node.cls)))
        classes.append(ast.Assign([_store(name)], found))
        node.cls = _load(name)

    def bound(c: ast.match_case) -> list[ast.stmt]:
        names = of.assigned([c.pattern]) if how != "compared" else ()
        return [_at(ast.Assign([_store(n)], hook("bound", _load(n))), c.pattern) for n in names]

    return classes, bound
