"""What does a set or a deque hold whose elements, or how many there are, only the kernel knows?

It is Python's own, so that all who hold it go on holding it, and has one element, a `Listed`: a
list has the elements, of a set no two that are equal (`gathered.py` says what is done by it).
Paths that leave different elements behind join their lists, as any two lists are joined.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from jitad.errors import JitadError
from jitad.values.journal import made
from jitad.values.kind import fail

SETS = (set, frozenset)
KINDS = (*SETS, deque)
IN_ORDER, UNORDERED = "the elements, in their order", "the elements, in some order"
BY_SIZE = "the elements, which are in the order of their size, if they are small ints"
LISTED = ((IN_ORDER,), (BY_SIZE,), (UNORDERED,))  # its keys where it is taken apart, by strength


class Listed:
    """The content of such a set or deque."""

    __slots__ = ("elements", "order")

    def __init__(self, elements: list[Any], order: str) -> None:
        self.elements = elements
        self.order = order  # in which Python would give them, see `LISTED`

    def _refuse(self, *_: Any) -> Any:
        """What looks inside without asking a hook would take this for an element."""
        raise fail(
            JitadError, "a set or deque whose elements depend on traced values can't be used here",
            "Loop over it, or over sorted(it) if it is a set, or use a list.",
        )  # fmt: skip

    __bool__ = __lt__ = __gt__ = __le__ = __ge__ = __str__ = __format__ = __repr__ = _refuse
    __index__ = __float__ = __int__ = __iter__ = __len__ = __getitem__ = __contains__ = _refuse
    __copy__ = __deepcopy__ = __reduce_ex__ = _refuse
    __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __rsub__ = __array__ = _refuse

    def __eq__(self, other: object) -> bool:
        return self is other or self._refuse()

    def __hash__(self) -> int:
        return id(self)


def listed(value: Any) -> Listed | None:
    """What a set or deque holds, if only the kernel knows its elements."""
    if type(value) in KINDS and len(value) == 1:
        (content,) = value
        return content if type(content) is Listed else None
    return None


def inside(value: Any) -> Any:
    """The list of the elements of such a set or deque; anything else is what it is."""
    content = listed(value)
    return value if content is None else content.elements


def subscripted(owner: Any) -> Any:
    """What `owner[k]` is an element of: the list of such a deque; sets have no places."""
    return owner if isinstance(owner, SETS) else inside(owner)


def key_of(value: Any) -> str:
    """The name of what such a set or deque holds, as a part of it."""
    content = listed(value)
    if content is not None:
        return content.order
    return IN_ORDER if in_order(value) else UNORDERED


def of_both(a: Any, b: Any) -> Any:
    """What is known of the order, of a set or deque that is either of two: by their keys."""
    return max(a, b, key=LISTED.index)


def elements_of(value: Any) -> list[Any]:
    """The elements of any set or deque."""
    content = listed(value)
    if content is not None:
        return content.elements
    out = list(value) if isinstance(value, deque) or not in_order(value) else sorted(value)
    made(out)
    return out


def in_order(value: Any) -> bool:
    """Would it give its elements in this order whatever was in it before?

    Sets of small ints do so: each lies at its own place of the table, however large that is.
    """
    if isinstance(value, deque):
        return True
    table = 8
    while table * 3 <= len(value) * 5:
        table *= 2
    small = all(type(v) is int and 0 <= v < table for v in value)
    return small and list(value) == sorted(value)  # what was in it may have been in the way


def again(like: Any, elements: list[Any], key: str, known: bool) -> Any:
    """A set or deque of these elements; `known`: none of them, nor how many, is traced."""
    content = elements if known else [Listed(elements, key or UNORDERED)]
    return deque(content, like.maxlen) if isinstance(like, deque) else type(like)(content)
