"""How do the elements of an array lie in memory, and does NumPy reshape it by a view?

Where extents are plain this is asked of NumPy itself, of an ndarray that lies as the array does.
Arguments of a tape are taken to be in C order, and so is what is made of such.  Where a tape can't
tell, a reshaped array is a copy, and whoever needs to know is refused (`journal.unsure`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from jitad.tape.build import Leaf
from jitad.values.extents import Int, product
from jitad.values.number import Number
from jitad.values.views import Reshaped, Shown, Window

if TYPE_CHECKING:
    from jitad.values.array import ArrayHandle


LOOSE = "loose"  # of a tape: as its operands lay, which were not in C order, or by another rule
SPACED = "spaced"  # a part of a complex array: every other number


def gives_view(a: ArrayHandle, shape: tuple[Int, ...]) -> bool | None:
    """Is `a.reshape(shape)` a view of a?  None where a tape can't tell."""
    plain = None if any(isinstance(n, Number) for n in shape) else _laid_out(a)
    if isinstance(plain, np.ndarray) and plain.size:
        return bool(np.shares_memory(plain, plain.reshape(shape)))
    if sum(not isinstance(n, int) or n != 1 for n in a.shape) < 2:
        return not isinstance(a._view, Shown)  # of one axis, whatever its steps are
    found = contiguous(a)
    if found is False and isinstance(a._view, Window):
        # axes that are not merged, and steps that go on in the next row, need no copy
        plain_steps = all(r.step == 1 for r in a._view.ranges)
        return False if len(shape) == 1 and plain_steps else None
    return found


def contiguous(a: ArrayHandle) -> bool | None:
    """Do the elements lie one after the other in memory, in C order?  None: a tape can't tell."""
    if a.concrete:
        plain = a.peek()
        return not isinstance(plain, np.ndarray) or bool(plain.flags.c_contiguous)
    if a._choice is not None:
        found = {contiguous(h) for h in a._choice.among}
        return found.pop() if len(found) == 1 else None
    if isinstance(a._view, Window):
        assert a._parent is not None
        whole = contiguous(a._parent)
        return whole and a._view.contiguous(a._parent.shape)
    if a._order == LOOSE:
        return None
    return not isinstance(a._view, Shown)


def spaced(part: Any) -> Any:
    """A part of a complex number or array."""
    if hasattr(part, "_parent"):
        part.root._order = part.root._order or SPACED
    return part


def is_spaced(a: ArrayHandle) -> bool:
    """Is it (of) a part of a complex array?"""
    return a.root._order == SPACED


def follows(made: Any, operands: Iterable[Any]) -> None:
    """Note of an array of the tape, made just now, that it lies as its operands do.

    NumPy gives `x.T + 1` the order of `x.T`.
    """
    if not made.root._order and len(made.shape) > 1 and not all(map(_in_order, operands)):
        loosen(made)


def _in_order(a: Any) -> bool:
    """Does no axis go in larger steps than one before it?"""
    if isinstance(a, np.ndarray):
        steps = [abs(s) for s, n in zip(a.strides, a.shape, strict=True) if n != 1]
        return steps == sorted(steps, reverse=True)
    if isinstance(a, (list, tuple)):
        return all(map(_in_order, a))
    if hasattr(a, "re"):
        return _in_order(a.re)
    if not hasattr(a, "_parent") or len(a.shape) < 2:
        return True
    if a.concrete:
        return _in_order(a.peek())
    if a._choice is not None:
        return all(map(_in_order, a._choice.among))
    if a._parent is None:
        return a._order != LOOSE
    kept = [k for k in a._view.axes if k is not None] if isinstance(a._view, Window) else []
    ahead = kept == sorted(kept)
    return ahead and _in_order(a._parent)


def in_c_order(a: ArrayHandle) -> ArrayHandle:
    """A new array of the same elements, in C order."""
    if a.concrete:
        return type(a)(np.array(a.peek(), order="C"), owned=True)
    content = a.content
    if content.tag:  # whose ndarrays lie as they do
        flat = Reshaped((product(a.shape),)).read(content)
        content = Reshaped(a.shape).read(flat)
    return type(a)(content)


def as_it_lies(made: Any, like: Any) -> Any:
    """An array of equal numbers, in the order in which another lies."""
    if not hasattr(made, "_parent") or not hasattr(like, "_parent") or len(made.shape) < 2:
        return made
    plain = _laid_out(like)
    if isinstance(plain, np.ndarray) and made.concrete:
        return type(made)(np.array(np.full_like(plain, 0), made.dtype, order="K") +
                          made.peek().ravel()[:1], owned=True) if made.size else made  # fmt: skip
    follows(made, (like,))
    return made


def laid_as(content: Any, before: Any) -> Any:
    """What is written to all of an array, whose memory stays where it is (a tape's is moved)."""
    a, b = _plain(content), _plain(before)
    if a is None or b is None or not b.flags.c_contiguous or a.flags.c_contiguous:
        return content
    flat = Reshaped((a.size,)).read(content)
    return Reshaped(a.shape).read(flat)


def _plain(content: Any) -> np.ndarray[Any, Any] | None:
    """The ndarray of a content without its tags; None on a tape."""
    while isinstance(content, Number) and content.tag:
        content = content.primal  # type: ignore[attr-defined]
    return content if isinstance(content, np.ndarray) else None


def placed(made: Any, operands: Iterable[Any]) -> Any:
    """What a function gave, as it lies in memory: in C order if its operands do."""
    if not hasattr(made, "_parent") or len(made.shape) < 2:  # of a complex array the parts are
        return made
    operands = tuple(operands)
    if made._parent is None:
        follows(made, operands)
    elif not any(made.root is r for r in _roots(operands)) and contiguous(made) is False:
        if all(map(_in_order, operands)):
            return in_c_order(made)
        loosen(made)
    elif not any(made.root is r for r in _roots(operands)):
        follows(made, operands)
    return made


def loosen(made: Any) -> Any:
    """Note of an array of the tape that it may lie in another order than C."""
    if hasattr(made, "_parent") and isinstance(made.root._content, Leaf):
        made.root._order = LOOSE
    return made


def _roots(operands: Iterable[Any]) -> list[Any]:
    out: list[Any] = []
    for a in operands:
        if isinstance(a, (list, tuple)):
            out += _roots(a)
        elif hasattr(a, "roots"):
            out += a.roots
    return out


def _laid_out(a: ArrayHandle) -> Any:
    """An ndarray that lies in memory as this one does; None on a tape, and of what is shown."""
    if a._parent is None:
        return _plain(a._content)
    parent, view = _laid_out(a._parent), a._view
    if parent is None or view is None or view.traced or isinstance(view, Shown):
        return None
    return view.read(parent)
