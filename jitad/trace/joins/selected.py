"""What is a variable that is another thing on each path?

Numbers of one kind, and arrays and objects that only one path knows, become one where paths meet
(`join`).  Other things stay what they are, and booleans of the tape say which it is: a handle of
several arrays (`values.chosen`), or an `Among`.  What is done with an `Among` is done with each
thing, under the condition that it is the one (`spread`), and the results are joined.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import FunctionType
from typing import TYPE_CHECKING, Any

from jitad.closures import cell, is_function
from jitad.errors import JitadTypeError
from jitad.plain import as_written
from jitad.tape.build import Builder, Leaf
from jitad.tape.ir import Atom
from jitad.tape.types import Scalar
from jitad.trace.joins.forms import Form, Keep, OneOf, Record, Shown
from jitad.trace.joins.state import Arr, Num, Obj, Per, Rec, Sel, Snapshot
from jitad.trace.joins.unset import Among, Perhaps, among_none, is_among
from jitad.trace.texts import Shown as Part
from jitad.trace.texts import Text
from jitad.values import chosen, extents
from jitad.values.array import ArrayHandle
from jitad.values.journal import made, taken_from
from jitad.values.kind import fail
from jitad.values.number import bind
from jitad.values.views import At, Range, Window

if TYPE_CHECKING:
    from jitad.trace.context import Region

NUMBER = "number"
MOST = 256  # things that one may be: what is done with it is done with each
PAIRED = 64  # of what is done with several that may be several things, with each of one each


# -- which things ---------------------------------------------------------------------------------


def things(s: Snapshot) -> list[Snapshot]:
    """All that it may be."""
    match s:
        case Sel(parts=parts):
            return [t for p in parts for t in things(p)]
        case Per(part=part, none=True) if part is not None:
            return [*things(part), _NONE]
    return [s]


_NONE = Obj(None)


def flagged(s: Snapshot) -> list[tuple[Any, Snapshot]]:
    """All that it may be, and whether it is."""
    match s:
        case Sel(_, flags, parts):
            out: list[tuple[Any, Snapshot]] = []
            left: Any = True
            for k, p in enumerate(parts):
                mine = left if k == len(flags) else flags[k]
                out += [(_and(mine, flag), t) for flag, t in flagged(p)]
                if k < len(flags):
                    left = _and(left, _not(flags[k]))
            return out
        case Per(flag, part, none=True) if part is not None:
            return [*((_and(flag, f), t) for f, t in flagged(part)), (_not(flag), _NONE)]
    return [(True, s)]


def key(s: Snapshot) -> Any:
    """Equal for what is one alternative."""
    match s:
        case Num():
            return NUMBER
        case Obj(None | str() | bytes() | range() as v):
            return (type(v), v)
        case Obj(BaseException()):
            return kind_of_exception(s)
        case Arr(value=v) | Rec(value=v) | Obj(v):
            return id(v)
    return id(s)


def kind_of_exception(s: Snapshot) -> Any:
    """Equal for exceptions that differ in nothing but traced values."""
    match s:
        case Rec(BaseException() as e, keys):
            return (type(e), keys, tuple(map(_told, s.parts)))
        case Obj(BaseException() as e):
            return (type(e), repr(e.args), repr(vars(e)))
    return None


def _told(s: Snapshot) -> Any:
    """What is known of a part of an exception: how many there are, and what stands in texts."""
    match s:
        case Rec(tuple() | Text() | Part() as value, keys):
            return (type(value), keys, tuple(map(_told, s.parts)))
        case Obj(str() as text):
            return text
    return type(s)


def lasting(f: OneOf) -> Iterator[Any]:
    """The keys, the same in each pass through a loop, which raises its exceptions anew."""
    for k, part in zip(f.keys, f.parts, strict=True):
        match part:
            case Keep(Obj(BaseException()) as s) | Record(Rec(BaseException()) as s):
                yield kind_of_exception(s)
            case _:
                yield k


def _and(a: Any, b: Any) -> Any:
    if isinstance(a, bool):
        return b if a else False
    if isinstance(b, bool):
        return a if b else False
    return bind("logical_and", a, b)


def either(a: Any, b: Any) -> Any:
    if isinstance(a, bool):
        return True if a else b
    if isinstance(b, bool):
        return True if b else a
    return bind("logical_or", a, b)


def _not(a: Any) -> Any:
    return not a if isinstance(a, bool) else bind("logical_not", a)


# -- forms ----------------------------------------------------------------------------------------


def unified(
    a: Snapshot, b: Snapshot, alone: Callable[[Snapshot, int], Form],
    wider: Callable[[Form, Snapshot], Form],
) -> OneOf:  # fmt: skip
    """One of all that both may be: `alone` gives the form of one on its path."""
    form = OneOf([], [])
    for side, s in enumerate((a, b)):
        for t in things(s):
            k = key(t)
            if k not in form.keys:
                form.keys.append(k)
                form.parts.append(alone(t, side))
            elif k == NUMBER:
                at = form.keys.index(k)
                form.parts[at] = wider(form.parts[at], t)
    if len(form.parts) > MOST:
        what = next((t.value for t in things(a) if isinstance(t, (Obj, Rec))), None)
        raise _too_many(MOST, f"things, such as {what!r:.60}")
    return form


def _too_many(most: int, what: str) -> JitadTypeError:
    return fail(
        JitadTypeError, f"conditions choose between more than {most} {what}",
        "Each that it may be is traced: choose numbers or indices, and make of them what belongs "
        "to them at the end.",
    )  # fmt: skip


def has_function(s: Snapshot) -> bool:
    return any(is_function(getattr(t, "value", None)) for t in things(s))


def is_nested(s: Snapshot) -> bool:
    """Is it, or may it be, a derivative of a function?"""
    found = [getattr(t, "value", None) for t in things(s)]
    return any(callable(v) and type(v).__module__.startswith("jitad.") for v in found)


def holds_inner(s: Snapshot, region: Region) -> bool:
    """Does a function or an exception hold a variable of this block, which no one else has?"""
    if not isinstance(s, Rec) or not isinstance(s.value, (FunctionType, BaseException)):
        return False
    written = {id(w.write.target) for w in region.written}
    inner = {v for e in region.block.equations for v in e.outs}

    def is_inner(part: Snapshot) -> bool:
        match part:
            case Num(Leaf() as x):
                return x.atom in inner
            case Arr(value):
                return id(value) in region.fresh
            case Rec(tuple(), parts=parts):
                return any(map(is_inner, parts))
        return holds_inner(part, region)

    function = s.value if isinstance(s.value, FunctionType) else None
    return any(
        is_inner(p) and (function is None or id(cell(function, k)) not in written)
        for k, p in zip(s.keys, s.parts, strict=True)
    )


def alike(a: Arr, b: Arr) -> bool:
    """Are both views, which differ in nothing but numbers?"""
    v, w = a.value._view, b.value._view
    if v is None or w is None or type(v) is not type(w):
        return False
    if isinstance(v, Window) and isinstance(w, Window):
        return v.kinds == w.kinds and v.axes == w.axes and _steps(v) == _steps(w)
    return len(v.shape) == len(w.shape)


def _steps(w: Window) -> list[int]:
    return [r.step for r in w.ranges]


def numbers_of(h: ArrayHandle) -> list[Snapshot]:
    """What says which part a view shows."""
    view = h._view
    if isinstance(view, Window):
        out: list[Any] = []
        for e in view.entries:
            out += [e.index] if isinstance(e, At) else [e.start, e.count]
        return [Num(x) for x in out]
    assert view is not None
    return [Num(n) for n in view.shape]


def _shown(f: Shown, parent: ArrayHandle, numbers: Iterator[Any]) -> ArrayHandle:
    view = f.of._view
    if isinstance(view, Window):
        entries = tuple(
            At(next(numbers)) if isinstance(e, At) else Range(next(numbers), e.step, next(numbers))
            for e in view.entries
        )
        return ArrayHandle._onto(parent, Window(entries, view.axes))
    assert view is not None
    return ArrayHandle._onto(parent, replace(view, shape=tuple(numbers)))


Extract = Callable[[Form, Snapshot | None], None]


def extract(b: Builder, f: OneOf | Shown, s: Snapshot | None, out: list[Atom], on: Extract) -> None:
    """The atoms of a snapshot in this form; `on` adds those of a part."""
    if isinstance(f, Shown):
        given = isinstance(s, Arr)
        on(f.parent, s.parent if given else None)  # type: ignore[union-attr]
        numbers = numbers_of(s.value) if given else [None] * len(f.numbers)  # type: ignore[union-attr]
        for p, n in zip(f.numbers, numbers, strict=True):
            on(p, n)
        return
    flags: list[Any] = [False] * len(f.parts)
    found: list[Snapshot | None] = [None] * len(f.parts)
    missing = s is None or (isinstance(s, Per) and s.part is None)  # nobody asks which it is
    for flag, t in [] if missing else flagged(s):  # type: ignore[arg-type]
        k = f.keys.index(key(t))
        flags[k], found[k] = either(flags[k], flag), t
    out += [b.atom(flag) for flag in flags[:-1]]
    for p, there in zip(f.parts, found, strict=True):
        on(p, there)


def kinds(f: OneOf | Shown) -> tuple[list[Any], list[Form]]:
    """Type and extents of the variables of the form itself, and its parts."""
    if isinstance(f, Shown):
        return [], [f.parent, *f.numbers]
    return [(Scalar("b1", True), ())] * (len(f.parts) - 1), list(f.parts)


def build(
    b: Builder, f: OneOf | Shown, atoms: Iterator[Atom], part: Callable[[Form], Any]
) -> Any:
    if isinstance(f, Shown):
        parent = part(f.parent)
        return _shown(f, parent, iter([part(p) for p in f.numbers]))
    flags = [b.leaf(next(atoms)) for _ in f.parts[1:]]
    return one_of(flags, [part(p) for p in f.parts])


def one_of(flags: list[Any], found: list[Any]) -> Any:
    """One of these things, each of which may be so itself."""
    kept: list[tuple[Any, Any]] = []
    for flag, x in zip((*flags, True), found, strict=True):
        if flag is not False:
            kept.append((flag, x))
        if flag is True:
            break
    if len(kept) == 1:
        return kept[0][1]
    for k, (flag, x) in enumerate(kept):
        if x is None:  # which hooks know of
            others = [*kept[:k], *kept[k + 1 :]]
            if k == len(kept) - 1:
                flag = True
                for other, _ in others:
                    flag = _and(flag, _not(other))
            value = one_of([g for g, _ in others[:-1]], [y for _, y in others])
            return Perhaps(_not(flag), value, "", True)
    said = tuple(flag for flag, _ in kept[:-1])
    among = tuple(x for _, x in kept)
    arrays = all(isinstance(x, ArrayHandle) for x in among)
    if not arrays or len({x.type for x in among}) > 1:
        return Among(said, among)
    return ArrayHandle.chosen(chosen.Choice(said, among, _shape(said, among), fork))


def perhaps(flag: Any, value: Any, name: str) -> Any:
    """The value where the flag is true, else None."""
    if isinstance(flag, Leaf):
        return Perhaps(flag, value, name, True)
    return value if flag else None


def _shape(flags: tuple[Any, ...], among: tuple[ArrayHandle, ...]) -> tuple[Any, ...]:
    first, *others = (h.shape for h in among)
    if all(extents.same(n, m) for other in others for n, m in zip(first, other, strict=True)):
        return first
    shape: tuple[Any, ...] = chosen.each(fork, flags, among, lambda h: h.shape)
    return shape


# -- what is done with them -----------------------------------------------------------------------


def fork(test: Any, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    """One or the other; both may write, and what both reach stays the same thing."""
    from jitad.trace.flow.choices import forked  # which joins

    if isinstance(test, bool):
        return then() if test else orelse()
    return forked(test, then, orelse)


def spread(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """f of whatever the arguments are."""
    if is_among((*args, *kwargs.values())):
        given = {id(a): among_none(a) for a in (*args, *kwargs.values()) if is_among((a,))}
        args = tuple(given.get(id(a), a) for a in args)
        kwargs = {k: given.get(id(a), a) for k, a in kwargs.items()}
        several = [a for a in given.values() if type(a) is Among]
        if len(several) > 1 and math.prod(len(a.among) for a in several) > PAIRED:
            raise _too_many(PAIRED, "combinations of what is given here")
        if several:
            a, *_ = several
            return chosen.each(fork, a.flags, a.among, lambda x: spread(
                f, *(x if b is a else b for b in args),
                **{k: x if b is a else b for k, b in kwargs.items()}))  # fmt: skip
    try:
        return f(*args, **kwargs)
    except TypeError as error:
        if not isinstance(error, JitadTypeError):  # raised when the kernel runs, if it is this one
            error.of_program = True  # type: ignore[attr-defined]
        raise


def holds_among(value: Any) -> bool:
    """Is it a sequence, an element of which is one of several things?"""
    return type(value) in (list, tuple) and is_among(value)


def spread_within(f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """f of the arguments, with a sequence of whatever its elements are."""
    k = next(k for k, a in enumerate(args) if holds_among(a))
    kind = type(args[k])
    return spread(lambda *items: f(*args[:k], kind(items), *args[k + 1 :]), *args[k])


def asked(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """The same of what answers for None as for any other thing."""
    named = {k: among_none(a) for k, a in kwargs.items()}
    return spread(f, *map(among_none, args), **named)


def _copied(values: Any) -> list[Any]:
    out = list(values)
    made(out)
    return out


def among_parts(value: Any) -> Any:
    """What is iterated: the elements, of one of several sequences; a list, if lengths differ.

    Of other things one after the other is iterated, each under the condition that it is the one.
    """
    value = among_none(value) if is_among((value,)) else value
    if type(value) is not Among:
        return value
    lengths = {len(x) if isinstance(x, (list, tuple, str)) else None for x in value.among}
    if len(lengths) > 1 and all(isinstance(x, (list, tuple)) for x in value.among):
        one = spread(_copied, value)  # lists that paths have made become one
        if type(one) is not Among:
            return taken_from(one, value.among)
    if len(lengths) > 1 or None in lengths:
        from jitad.trace.flow.generators import written  # whose loops join what paths leave

        return written(as_written.each_of_chosen, _disjoint(value))
    n = len(value.among[0])
    if any(isinstance(x, list) for x in value.among):
        from jitad.trace.containers.iterables import numbered  # which knows of joins

        return numbered(n, lambda read: spread(read, value))
    return [spread(lambda x, k=k: x[k], value) for k in range(n)]


def by_parts(f: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of such a function, what it goes over as `among_parts` has it."""
    own = 1 if f in (map, filter) else 0
    of_any = args[own:] if f is not reversed else ()
    if f is reversed and all(isinstance(x, (list, tuple)) for x in args[0].among):
        of_any = args
    return (*args[:own], *map(among_parts, of_any)) if of_any else args


def _disjoint(value: Among) -> list[tuple[Any, Any]]:
    """All that it may be, and whether it is."""
    left: Any = True
    out = []
    for flag, x in zip((*value.flags, True), value.among, strict=True):
        out.append((_and(left, flag), x))
        left = _and(left, _not(flag))
    return out
