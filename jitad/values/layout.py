"""How do the elements of an array lie in memory, and does NumPy reshape it by a view?

Where extents are plain this is asked of NumPy itself, of an ndarray that lies as the array does.
Arguments of a tape are taken to be in C order, and so is what is made of such.  Where a tape can't
tell, a reshaped array is a copy, and whoever needs to know is refused (`journal.unsure`).  What the
eager engine makes in place of NumPy is laid out as NumPy would.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from jitad.tape.build import Leaf
from jitad.values import extents, journal
from jitad.values.broadcast import stretch
from jitad.values.extents import Int, product
from jitad.values.memory import ascending
from jitad.values.number import Number, bind
from jitad.values.views import At, Reshaped, Shown, Window

if TYPE_CHECKING:
    from jitad.values.array import ArrayHandle


_ONE_PIECE = "whether these elements lie one after the other depends on an extent, which is 1"
_COPY = "Where one is to be written without the other, copy first: np.array(a)."
LOOSE = "loose"  # of a tape: as its operands lay, which were not in C order, or by another rule
GAPPED = "gapped"  # of a tape: with gaps or backwards on one path, if in the order of C
SPACED = "spaced"  # a part of a complex array: every other number


@dataclass(slots=True, eq=False)
class Source:
    """An array from outside: where it is found, and what it is in the call that is traced for."""

    path: Any
    content: np.ndarray[Any, Any] | None  # as one of its kind lies; None where only types are known
    decides: list[Given] = field(default_factory=list)

    def needs(self) -> set[str]:
        """What it has to be, "whole" or "ascending", for NumPy to choose as a tape does.

        It makes a difference where one of a view and a copy is written.
        """
        return {g.need for g in self.decides if g.asked and g.written}


@dataclass(slots=True, eq=False)
class Given:
    """That an array lies in C order if its sources do."""

    need: str  # of the sources: "whole", C contiguous, as itself; "ascending", in that order
    of: tuple[Source, ...]
    asked: bool = False  # was it reshaped, by a view or a copy, as one that lies in C order?
    written: bool = False  # was it, or such a copy?

    def __post_init__(self) -> None:
        for source in self.of:
            source.decides.append(self)


def gives_view(a: ArrayHandle, shape: tuple[Int, ...]) -> bool | None:
    """Is `a.reshape(shape)` a view of a?  None where a tape can't tell."""
    known = not any(isinstance(n, Number) for n in shape)
    plain = laid_out(a, of_tape=True) if known else None
    if isinstance(plain, np.ndarray) and plain.size:
        return bool(np.shares_memory(plain, plain.reshape(shape)))
    if sum(not isinstance(n, int) or n != 1 for n in a.shape) < 2:
        return True  # of one axis, whatever its steps are
    if evenly(a):
        return True
    found = contiguous(a)
    if found is False and isinstance(a._view, Window):
        # axes that are not merged, and steps that go on in the next row, need no copy
        plain_steps = all(r.step == 1 for r in a._view.ranges)
        if len(shape) == 1 and plain_steps:
            return False
        of_order = a._parent is not None and contiguous(a._parent)
        return False if of_order and _no_axes_merge(a._view, shape) else None
    return found


def _no_axes_merge(view: Window, shape: tuple[Int, ...]) -> bool:
    """Of an array in C order: has this shape fewer axes, and can no two become one in memory?

    In memory one goes through all that the next one does only if it comes right before it.
    """
    counts = [r.count for r in view.ranges]
    kept = [k for k in view.axes if k is not None and not extents.same(counts[k], 1)]
    if len([n for n in shape if not extents.same(n, 1)]) >= len(kept):
        return False
    for p, q in itertools.pairwise(kept):
        if q > p and not any(p < k < q for k in kept):
            return False
    plain = all(isinstance(r.step, int) for r in view.ranges)
    return plain and extents.checked_not_one([counts[k] for k in kept], _ONE_PIECE, _COPY)


def evenly(a: ArrayHandle) -> bool:
    """Are the elements known to lie in C order in equal steps, as all first ones of pairs do?"""
    if not isinstance(a._view, Window) or a._parent is None or not contiguous(a._parent):
        return False
    entries, shape = list(a._view.entries), list(a._parent.shape)
    while entries and isinstance(entries[-1], At):
        entries.pop()
        shape.pop()
    return bool(Window(tuple(entries), a._view.axes).contiguous(tuple(shape)))


def contiguous(a: ArrayHandle, check: bool = True) -> bool | None:
    """Do the elements lie one after the other in memory, in C order?  None: a tape can't tell.

    `check`: of extents that the answer depends on a check says that they are not 1.
    """
    if a._lost:  # on a path that is left, where it may lie anyhow
        return None
    plain = a.peek() if a.concrete else laid_out(a)
    if a.concrete or plain is not None:
        return not isinstance(plain, np.ndarray) or bool(plain.flags.c_contiguous)
    if check:
        _ask(a.root)
    if a._choice is not None:
        ones = {contiguous(h, check) for h in a._choice.among}
        return ones.pop() if len(ones) == 1 else None
    if isinstance(a._view, Window):
        assert a._parent is not None
        shape = a._parent.shape
        whole = contiguous(a._parent, check)
        found = whole and a._view.contiguous(shape)
        if check and whole and found is False and a._view.contiguous(shape, ones=True):
            counts = [r.count for r in a._view.ranges]
            return False if extents.checked_not_one([*counts, *shape], _ONE_PIECE, _COPY) else None
        return found
    if a.root._order in (LOOSE, GAPPED):
        return None
    return not isinstance(a._view, Shown)


def _ask(root: ArrayHandle) -> None:
    """What decides how it lies makes a difference where it is written, too."""
    for given in root._given:
        given.asked = True


def perhaps_of(a: ArrayHandle, copy: ArrayHandle, view: bool | None) -> ArrayHandle:
    """A copy of an array, where NumPy gives a view if `view`; None: a tape can't tell."""
    if view is None:
        journal.unsure(loosen(copy).root, a.roots)  # a view lies as its array does
    else:
        copy.root._given = _given_of(a.roots)
    return copy


def _given_of(roots: Iterable[ArrayHandle]) -> tuple[Given, ...]:
    """What decides how these lie."""
    return tuple(given for root in roots for given in root._given)


def spaced(part: Any) -> Any:
    """A part of a complex number or array."""
    if hasattr(part, "_parent"):
        part.root._order = part.root._order or SPACED
    return part


def is_spaced(a: ArrayHandle) -> bool | None:
    """Is it (of) a part of a complex array, of more than one element?  None: a tape can't tell."""
    if a.root._order != SPACED:
        return False
    unknown = [n for n in a.shape if isinstance(n, Number)]
    if any(n != 1 for n in a.shape if not isinstance(n, Number)):
        return True
    return bool(unknown) and (extents.checked_not_one(unknown, _ONE_PIECE, _COPY) or None)


def follows(made: Any, operands: Iterable[Any]) -> None:
    """Note of an array of the tape, made just now, that it lies as its operands do.

    NumPy gives `x.T + 1` the order of `x.T`.
    """
    operands = tuple(operands)
    if made.root._order in ("", SPACED) and len(made.shape) > 1:
        if all(map(in_order, operands)):
            _is_made_of(made.root, operands)
        else:
            loosen(made)


def _is_made_of(root: ArrayHandle, operands: tuple[Any, ...]) -> None:
    """Note of an array of the tape that it lies in C order if these do."""
    if of := {source: None for g in _given_of(_roots(operands)) for source in g.of}:
        root._given = (*root._given, Given("ascending", tuple(of)))


def is_one_of(made: Any, ones: Iterable[Any]) -> Any:
    """Note of an array of the tape, made just now, that it is one of these on each path."""
    ones = tuple(a for a in ones if hasattr(a, "roots"))
    if not ones:
        return made
    made._given = _given_of(root for a in ones for root in a.roots)
    follows(made, ones)
    if not made._order and not all(contiguous(a, check=False) for a in ones):
        made._order = GAPPED
    return made


def in_order(a: Any) -> bool:
    """Does no axis go in larger steps than one before it?"""
    if isinstance(a, np.ndarray):
        return ascending(a)
    if isinstance(a, (list, tuple)):
        return all(map(in_order, a))
    if hasattr(a, "re"):
        return in_order(a.re)
    if not hasattr(a, "_parent") or len(a.shape) < 2:
        return True
    if a._lost:
        return False
    plain = a.peek() if a.concrete else laid_out(a)
    if plain is not None:
        return in_order(plain)
    if a._choice is not None:
        return all(map(in_order, a._choice.among))
    if a._parent is None:
        return a.root._order != LOOSE
    if isinstance(a._view, Shown):  # in steps of zero, as a rule
        return False
    kept = [k for k in a._view.axes if k is not None] if isinstance(a._view, Window) else []
    ahead = kept == sorted(kept)
    return ahead and in_order(a._parent)


def in_c_order(a: ArrayHandle) -> ArrayHandle:
    """A new array of the same elements, in C order."""
    if a.concrete:
        return type(a)(np.array(a.peek(), order="C"), owned=True)
    content = a.content
    if content.tag and a.shape:  # whose ndarrays lie as they do
        flat = Reshaped((product(a.shape),)).read(content)
        if not _plain(flat).flags.c_contiguous:  # type: ignore[union-attr]  # but backwards, or in steps
            flat = bind("mul", flat, 1)
        content = Reshaped(a.shape).read(flat)
    return type(a)(content)


def packed(a: ArrayHandle) -> ArrayHandle:
    """A copy as NumPy makes it: without gaps, its axes in memory in the order that they had."""
    plain = _plain(a._content)
    if plain is None or a.concrete or (like := np.empty_like(plain)).strides == plain.strides:
        return a
    return laid_like(a, like)


def laid_like(a: ArrayHandle, like: np.ndarray[Any, Any]) -> ArrayHandle:
    """A new array of the same elements, its axes in memory in the order of another's."""
    axes = tuple(int(k) for k in np.argsort([-abs(s) for s in like.strides], kind="stable"))
    return in_c_order(a.permuted(axes)).permuted(tuple(int(k) for k in np.argsort(axes)))


def as_it_lies(made: Any, like: Any) -> Any:
    """An array of equal numbers, in the order in which another lies."""
    like = getattr(like, "re", like)
    if hasattr(made, "re"):
        return _of_parts(made, lambda part: as_it_lies(part, like))
    if not hasattr(made, "_parent") or not hasattr(like, "_parent") or len(made.shape) < 2:
        return made
    plain = laid_out(like)
    if isinstance(plain, np.ndarray) and made.concrete:
        return type(made)(np.array(np.full_like(plain, 0), made.dtype, order="K") +
                          made.peek().ravel()[:1], owned=True) if made.size else made  # fmt: skip
    if isinstance(plain, np.ndarray) and _plain(made.root._content) is not None:
        return laid_like(made, np.empty_like(plain))
    follows(made, (like,))
    return made


def lies_as(content: Any, before: Any) -> bool:
    """May this take the place of all of an array, whose memory stays where it is?

    On a tape it may: what an array's memory is like is known otherwise there.
    """
    a, b = _plain(content), _plain(before)
    return a is None or b is None or a.strides == b.strides


def _plain(content: Any) -> np.ndarray[Any, Any] | None:
    """The ndarray of a content without its tags; None on a tape."""
    while isinstance(content, Number) and content.tag:
        content = content.primal  # type: ignore[attr-defined]
    return content if isinstance(content, np.ndarray) else None


def placed(made: Any, operands: Iterable[Any]) -> Any:
    """What a function gave, as it lies in memory: in C order if its operands do."""
    operands = tuple(operands)
    if hasattr(made, "re"):
        return _of_parts(made, lambda part: placed(part, operands))
    if not hasattr(made, "_parent") or len(made.shape) < 2:
        return made
    if _plain(made.root._content) is not None:  # of the eager engine, which sees how it lies
        if contiguous(made) or _is_of(made, operands):
            return made
        return in_c_order(made) if all(map(in_order, operands)) else made
    if made._parent is None:
        follows(made, operands)
    elif not _is_of(made, operands):
        if contiguous(made, check=False) is not False:  # nobody else sees it, view or copy
            follows(made, operands)
        elif all(map(in_order, operands)):
            made = in_c_order(made)
            _is_made_of(made.root, operands)
        else:
            loosen(made)
    return made


def _of_parts(z: Any, f: Callable[[Any], Any]) -> Any:
    """The complex array with these parts; itself, if they are its own."""
    re, im = f(z.re), f(z.im)
    return z if re is z.re and im is z.im else type(z)(re, im)


def _is_of(made: ArrayHandle, operands: Iterable[Any]) -> bool:
    """Is it, or may it be, (a view of) one of the operands?  Such stays where it is."""
    of = _roots(operands)
    return any(root is r for root in made.roots for r in of)


def asked(made: Any, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the eager engine has made in place of NumPy, as NumPy's own results lie in memory.

    NumPy is called for that where operands are in another order than C, in which functions differ.
    """
    several = isinstance(made, tuple)
    each = made if several else (made,)
    if not any(map(_may_lie_otherwise, each)):
        return made
    if kwargs.get("out") is not None or any(map(callable, args)):
        return made
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            like = original(*map(_bare, args), **{k: _bare(v) for k, v in kwargs.items()})
    except Exception:  # of what is no NumPy array
        return made
    likes = like if several else (like,)
    if len(likes) != len(each):
        return made

    def laid(m: Any, like: Any) -> Any:
        if hasattr(m, "re"):
            return _of_parts(m, lambda part: laid(part, like))
        same = isinstance(like, np.ndarray) and _may_lie_otherwise(m) and like.shape == m.shape
        return laid_like(m, like) if same and not _is_of(m, args) else m

    out = [laid(m, x) for m, x in zip(each, likes, strict=True)]
    return out[0] if not several else type(made)(*out) if hasattr(made, "_fields") else tuple(out)


def _may_lie_otherwise(made: Any) -> bool:
    """Is it (of) an array of the eager engine, of more than one axis?"""
    if hasattr(made, "re"):
        return _may_lie_otherwise(made.re) or _may_lie_otherwise(made.im)
    if not hasattr(made, "_parent") or len(made.shape) < 2:
        return False
    return _plain(made.root._content) is not None


def _bare(value: Any) -> Any:
    """An operand without its tags, lying as it does, that may be overwritten."""
    if hasattr(value, "re"):
        return _bare(value.re) + 1j * _bare(value.im)
    if hasattr(value, "_parent"):
        value = laid_out(value)
    if isinstance(value, np.ndarray):
        return value.copy(order="K")
    if isinstance(value, (list, tuple)):
        return type(value)(map(_bare, value))
    while isinstance(value, Number) and value.tag:
        value = value.primal  # type: ignore[attr-defined]
    return value


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
        elif hasattr(a, "re"):
            out += _roots((a.re, a.im))
    return out


def laid_out(a: ArrayHandle, of_tape: bool = False) -> Any:
    """An ndarray that lies in memory as this one does; None on a tape, and of what is shown.

    `of_tape`: of an array of the tape, too, if its extents are known and it is made of one in C
    order; that has no content.
    """
    if a._parent is None:
        plain = _plain(a._content)
        if of_tape and plain is None and a._choice is None and not a._order:
            if all(isinstance(n, int) for n in a.shape):
                _ask(a)
                return np.empty(a.shape, a.dtype)
        return plain
    parent, view = laid_out(a._parent, of_tape), a._view
    if parent is None or view is None or view.traced:
        return None
    if isinstance(view, Shown):  # what repeats elements is a view to NumPy, too
        if not isinstance(parent, np.ndarray) or any(isinstance(n, Number) for n in view.shape):
            return None
        # of one element a content is a number, which shares nothing
        shown = np.broadcast_to(parent, view.shape) if view.make is stretch else view.read(parent)
        return shown if np.may_share_memory(shown, parent) else None
    return view.read(parent)
