"""How long does a vector get, at most, whose length the counters of loops around it decide?

`x[i:]` in a loop over i is n - i long.  A length that goes straight up or down with the counters is
greatest where each of them is at one of its ends, and these are known in front of the loops.  So
are a few lengths of nested loops, whose inner ends hang on outer counters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import reduce

Ends = tuple[str, int, str]  # where a counter starts, by what it goes on, and how often
Form = Counter[str]  # a sum of so many times each of these names, and of a number: that of ""

_PRODUCT = r"-?\w+(?: \* \d+)?"
_SUM = re.compile(rf"{_PRODUCT}(?: [+-] {_PRODUCT})*")
_TERM = re.compile(r"(?:([+-]) )?(-?\w+)(?: \* (\d+))?")
_CLIPPED = re.compile(rf"maximum\(({_SUM.pattern}), 0\)")
_NAME = re.compile(r"[A-Za-z_]\w*")
_ENDS = 4  # that are compared


def longest(
    length: str, integers: Mapping[str, str], loops: Iterable[tuple[str, Ends | None]]
) -> tuple[str | None, set[str]]:
    """The greatest length as Python, and the names in it; None where it isn't known.

    `integers` says what names stand for; `loops` are those around, innermost first, by the names of
    their counters.
    """
    text = integers.get(length, length)
    clipped = _CLIPPED.fullmatch(text)
    found = [_form(clipped[1] if clipped else length, integers)]
    for counter, ends in loops:
        if not counter or not any(counter in form for form in found):
            continue
        if ends is None or 2 * len(found) > _ENDS:
            return None, set()
        start, step, count = ends
        first = _form(start, integers)
        last = _added(first, _added(_form(count, integers), Counter({"": -1})), step)
        found = [
            _added(Counter({k: c for k, c in form.items() if k != counter}), end, form[counter])
            for form in found for end in (first, last)
        ]  # fmt: skip
    names = {name for form in found for k in form for name in _NAME.findall(k)}
    numbers = [form[""] for form in found if form.keys() <= {""}]
    sums = [_text(form) for form in found if not form.keys() <= {""}]
    texts = dict.fromkeys([*sums, str(max([0, *numbers]))])
    return reduce(lambda x, y: f"max({x}, {y})", texts), names


def _form(text: str, integers: Mapping[str, str]) -> Form:
    out: Form = Counter()
    if not _SUM.fullmatch(text):
        return Counter({f"({text})": 1})
    for sign, term, factor in _TERM.findall(text):
        c = (-1 if sign == "-" else 1) * int(factor or 1)
        if term.lstrip("-").isdecimal():
            out[""] += c * int(term)
        elif _SUM.fullmatch(of := integers.get(term, "")):
            out = _added(out, _form(of, integers), c)
        else:
            out[term] += c
    return out


def _added(one: Form, other: Form, times: int = 1) -> Form:
    out = Counter(one)
    for k, c in other.items():
        out[k] += times * c
    return Counter({k: c for k, c in out.items() if c})


def _text(form: Form) -> str:
    """The sum as Python, positive terms first."""
    parts = [(k if abs(c) == 1 else f"{abs(c)} * {k}", c) for k, c in form.items() if k]
    parts.sort(key=lambda part: part[1] < 0)
    if form[""]:
        parts.append((str(abs(form[""])), form[""]))
    text = parts[0][0] if parts[0][1] >= 0 else f"0 - {parts[0][0]}"
    return text + "".join(f" {'-' if c < 0 else '+'} {x}" for x, c in parts[1:])
