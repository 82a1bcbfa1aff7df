"""What does `is` say of traced values?

Identity is what a stand-in does not share with the value that it stands for.  `c is True` is asked
of the value.
"""

from __future__ import annotations

import functools
from typing import Any

from jitad.errors import JitadTypeError
from jitad.tape.build import Leaf
from jitad.trace.containers.writtenback import one_element
from jitad.trace.joins.selected import asked, spread
from jitad.trace.joins.unset import is_among, is_optional
from jitad.trace.joins.which import told_apart
from jitad.values.array import ArrayHandle
from jitad.values.copies import is_copy
from jitad.values.kind import fail, is_number
from jitad.values.number import bind
from jitad.values.python_functions import python_type

COPIES = (
    "`{}` can't be asked of elements of a list whose length depends on traced values, nor of a "
    "tuple that is another one on other paths: they are copies"
)


def Is(a: Any, b: Any) -> Any:
    """`a is b`; Python's bools are two objects, so there it is equality."""
    if is_among((a, b)):
        return spread(Is, a, b)
    for x, y in ((a, b), (b, a)):
        if isinstance(x, ArrayHandle) and x._choice is not None:
            return a is b or x._choice.each(functools.partial(Is, y))
    if is_optional(a) or is_optional(b):
        if a is b:
            return True
        if a is None or b is None:
            return bind("logical_not", (b if a is None else a).flag)
        return asked(Is, a, b)
    if (isinstance(a, Leaf) or isinstance(b, Leaf)) and is_number(a) and is_number(b):
        return a is b or _one_number(a, b)
    if a is not b and type(a) is type(b):
        if is_copy(a) or is_copy(b):
            if (same := one_element(a, b)) is not None:
                return same
            raise fail(JitadTypeError, COPIES.format("is"), "Compare what is in them.")
        told_apart(a, b)
        _stay_apart(a, b)
    return a is b


def _one_number(a: Any, b: Any) -> Any:
    """Are two numbers, of which the trace knows one at most, one object?

    CPython has each bool and each small int once.  A float that is computed is none that was there
    before; one that was given, chosen or kept may be any.
    """
    kind = python_type(a)
    if kind is not python_type(b):
        return False
    if kind is bool or (kind is int and any(type(x) is int and -5 <= x <= 256 for x in (a, b))):
        return bind("eq", a, b)
    if kind is not int and (_is_computed_after(a, b) or _is_computed_after(b, a)):
        return False
    raise fail(JitadTypeError, "a kernel can't tell whether two numbers are one object",
               "Compare them by ==, and take None for what is missing.")  # fmt: skip


def _is_computed_after(x: Any, y: Any) -> bool:
    """Was y there when x was computed?"""
    source = x.builder.sources.get(x.atom) if isinstance(x, Leaf) else None
    if source is None or source.op not in _ARITHMETIC:
        return False
    given = not isinstance(y, Leaf) or y.atom in y.builder.blocks[0].params
    return given or x.atom.serial > y.atom.serial


# What gives another object each time, whatever it is given.
_ARITHMETIC = frozenset(
    "add sub mul div floordiv mod neg pow abs sqrt exp log sin cos tan tanh hypot arctan2".split()
)


def _stay_apart(a: Any, b: Any) -> None:
    from jitad.trace.around import distinct  # which reads what is rewritten
    from jitad.trace.ongoing import current  # which rewrites by what is here

    if (trace := current()) is not None:
        distinct.two(trace.captures, a, b)


def IsNot(a: Any, b: Any) -> Any:
    same = Is(a, b)
    return bind("logical_not", same) if isinstance(same, Leaf) else not same
