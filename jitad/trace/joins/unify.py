"""Which form covers what two paths left in a variable?

What is the same stays as it is, numbers become a variable of the wider type, arrays a new handle,
containers are unified element by element.  What has no common form stays apart where it may:
`selected` says which of the two it is.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from jitad import closures
from jitad.closures import is_function
from jitad.tape.build import Leaf
from jitad.tape.ir import Atom, lit
from jitad.tape.types import Array, Scalar
from jitad.trace.containers.listed import of_both
from jitad.trace.containers.partial import DISORDER, merged
from jitad.trace.containers.stretch import Stretch
from jitad.trace.containers.tabled import KINDS
from jitad.trace.joins import selected
from jitad.trace.joins.as_complex import array_as_complex, complex_of, is_complex
from jitad.trace.joins.forms import Form, Grown, Handle, Keep, Maybe, Number, Record, Shown
from jitad.trace.joins.mismatch import Mismatch, describe, either, mismatch, scalar
from jitad.trace.joins.snapshot import by_elements, by_keys
from jitad.trace.joins.state import Arr, Num, Obj, Per, Rec, Sel, Snapshot
from jitad.trace.texts import Shown as Part
from jitad.trace.texts import Text
from jitad.values import extents
from jitad.values.complexes.number import Complex
from jitad.values.journal import is_made
from jitad.values.stale import refuse_stale

APPENDED = "appended"  # the slot of the journal for what was added to a list from outside

def same(a: Snapshot, b: Snapshot) -> bool:
    """True where nothing has to be carried or joined."""
    match a, b:
        case Num(x), Num(y):
            return _same_number(x, y)
        case (Arr(x), Arr(y)) | (Rec(x), Rec(y)):
            return x is y  # what is in them is a matter of the journal
        case ((Obj(x), Rec(y)) | (Rec(x), Obj(y))) if x is y:
            return True
        case Obj(x), Obj(y):
            if x is y:
                return True
            plain = isinstance(x, (str, bytes, range, slice, MethodType, frozenset))
            return plain and type(x) is type(y) and bool(x == y)
        case Per(f, p), Per(g, q):
            if p is None or q is None:
                return p is q
            return a.none == b.none and _same_number(f, g) and same(p, q)
    return False


def _same_number(x: Any, y: Any) -> bool:
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        return x is y
    if isinstance(x, Leaf) or isinstance(y, Leaf):
        return isinstance(x, Leaf) and isinstance(y, Leaf) and x.atom is y.atom
    return type(x) is type(y) and repr(x) == repr(y)


def _may_be_missing(s: Snapshot) -> bool:
    return isinstance(s, Per) and not s.none


class Unifier:
    """Unifies pairs of snapshots; an alias on both sides stays an alias."""

    def __init__(
        self, room: Callable[[], Atom] | None = None, paths: Paths | None = None,
        free: bool = False,
    ) -> None:  # fmt: skip
        self.pairs: dict[tuple[int, int], Form] = {}  # by their ids, which `alive` keeps theirs
        self.alive: list[tuple[Snapshot, Snapshot]] = []
        self.room = room  # for lists that grow in a loop
        self.free = free  # may each list bring as many rows as it has?
        self.paths = paths  # None where one thing can't be another on each path

    def unify(self, a: Snapshot, b: Snapshot, name: str = "", content: bool = False) -> Form:
        """`content`: it is what a container holds, which stays the container that it is."""
        if same(a, b):
            return Keep(a)
        pair = (id(a), id(b))
        if pair in self.pairs:
            return self.pairs[pair]
        self.alive.append((a, b))
        if Sel in (type(a), type(b)) and not _may_be_missing(a) and not _may_be_missing(b):
            if self.paths is None or not self.paths.selects(a, b):
                raise mismatch(a, b, either(a, b))
            out = self.pairs[pair] = self.one_of(a, b)
            return out
        if self.paths is None or content or name == APPENDED:
            return self.unified(a, b, name, pair)
        if self.paths.apart and (found := self.apart(a, b)) is not None:
            self.pairs[pair] = found
            return found
        try:
            return self.unified(a, b, name, pair)
        except Mismatch:
            if not self.paths.selects(a, b):
                raise
            out = self.pairs[pair] = self.one_of(a, b)
            return out

    def one_of(self, a: Snapshot, b: Snapshot) -> Form:
        return selected.unified(
            a, b, lambda t, side: Keep(t) if _is_known(t) else self.of_one_path(t, side), _wider)

    def one_of_these(self, s: Snapshot, side: int | None = None) -> Form:
        """The form of several things of one path, if the other does not have them."""
        return selected.unified(s, s, lambda t, _: self.of_one_path(t, side), _wider)

    def of_one_path(self, s: Snapshot, side: int | None) -> Form:
        """The form of one of several things: what was there before is what it is.

        `side` is None where the other path does not have it, whichever that is.
        """
        assert self.paths is not None
        made: dict[int, Form] = {}
        there, sides = self.paths.made, (0, 1) if side is None else (side,)

        def is_new(s: Snapshot) -> bool:
            return any(there(s, k) for k in sides)

        def form(s: Snapshot) -> Form:
            if id(s) in made:
                return made[id(s)]
            match s:
                case Num(x) if not isinstance(scalar(x), Array):
                    return Number(scalar(x))
                case Arr(h) if is_new(s):
                    if s.parent is None:
                        out: Form = Handle(h.type, (), (h,), h.or_number)
                    else:
                        numbers = tuple(map(form, selected.numbers_of(h)))
                        out = Shown(h, form(s.parent), numbers)
                case Rec(Stretch()) if self.room is not None:
                    raise Mismatch("one of several lists, which the loop makes longer")
                case Rec(value) if isinstance(value, _VALUES) or is_new(s):
                    kept = in_cells(s) or as_shown(s)
                    made[id(s)] = out = Record(s, ())
                    parts = zip(s.keys, s.parts, strict=True)
                    out.parts = tuple(kept.get(k) or form(p) for k, p in parts)
                    if kept and len(kept) == len(s.keys):
                        out = Keep(s)
                case Per(_, part, name, none) if part is not None:
                    out = Maybe(form(part), name, none)
                case Sel():
                    return self.one_of_these(s, side)
                case _:
                    return Keep(s)
            made[id(s)] = out
            return out

        return form(s)

    def apart(self, a: Snapshot, b: Snapshot) -> Form | None:
        """The form of two mutable things that other names may reach; None of anything else."""
        assert self.paths is not None
        match a, b:
            case Arr(), Arr():
                pass
            case Rec(Complex() as x), Rec(Complex() as y) if x.ndim != y.ndim:
                return self.one_of(a, b) if self.paths.selects(a, b) else None
            case Rec(x), Rec(y) if not any(isinstance(v, _UNNAMED) for v in (x, y)):
                if is_function(x) and not self.paths.made(a, 0) and not self.paths.made(b, 1):
                    return None if _kind(x) == _kind(y) else self.one_of(a, b)
            case _:
                return None
        both = self.paths.made(a, 0) and self.paths.made(b, 1)
        if both and not (isinstance(a, Arr) and a.parent is not None):
            return None
        if not self.paths.selects(a, b):
            return None
        return self.one_of(a, b)

    def unified(self, a: Snapshot, b: Snapshot, name: str, pair: tuple[int, int]) -> Form:
        if is_complex(a) or is_complex(b):
            a, b = complex_of(a), complex_of(b)
            if self.room is not None:  # in a loop it is of one kind from the beginning
                a, b = array_as_complex(a), array_as_complex(b)
        from jitad.trace.containers import grown  # which is made of these forms

        out: Form
        match a, b:
            case Num(x), Num(y):
                return Number(join_types(scalar(x), scalar(y), (x, y)), content_shape(x))
            case Arr(), Arr():
                out = self.shown(a, b) or self.handles(a, b)
            case (Num(x), Arr(h)) if not h.type.ndim and self._made(b, 1):
                out = number_or_array(Handle(h.type, (), (h,)), scalar(x), (None, x))
            case (Arr(h), Num(x)) if not h.type.ndim and self._made(a, 0):
                out = number_or_array(Handle(h.type, (), (h,)), scalar(x), (None, x))
            case Rec(value=list() | tuple()), Rec(value=list() | tuple()) if (
                name != APPENDED and (form := grown.unified(self, a, b)) is not None
            ):
                out = form
            case (Rec() | Obj()), (Rec() | Obj()) if (pair_of := _by_elements(a, b)):
                u, v = pair_of
                keys = of_both(u.keys, v.keys)
                out = self.pairs[pair] = Record(Rec(u.value, keys, ()), (), (u.value, v.value))
                of_list = self.unify(u.parts[0], v.parts[0], name, content=True)
                if isinstance(of_list, Grown):
                    of_list.sides = ()  # nothing else has these lists
                out.of.parts, out.parts = u.parts, (of_list,)
            case Rec(x), Rec(y) if a.keys == b.keys and _kind(x) == _kind(y) and (
                selected.kind_of_exception(a) == selected.kind_of_exception(b)
            ):
                out = self.pairs[pair] = Record(a, (), (a.value, b.value))
                check_read(a, b)
                shared = _shared_cells(a.value, b.value)
                out.parts = tuple(
                    Keep(Obj(shared[k])) if k in shared else self.unify(p, q, name)
                    for k, p, q in zip(a.keys, a.parts, b.parts, strict=True)
                )
            case Rec(value=list()), Rec(value=list()) if name == APPENDED:
                if self.room is not None:
                    raise Mismatch("a list from outside that gets longer")
                out = self.pairs[pair] = Record(longer(a, b), ())
                pairs = itertools.zip_longest(a.parts, b.parts, fillvalue=Per(False, None))
                out.parts = tuple(self.unify(p, q, "") for p, q in pairs)
            case Rec(value=dict() as u), Rec(value=dict() as v) if _alike(u, v):
                out = self.pairs[pair] = Record(Rec(u, merged(a.keys, b.keys), ()), (), (u, v))
                out.of.parts = by_keys(a, out.of.keys)
                check_read(a, b)
                out.parts = tuple(
                    Keep(Per(True, Num(0))) if k is DISORDER else self.unify(p, q, repr(k))
                    for k, p, q in zip(out.of.keys, out.of.parts, by_keys(b, out.of.keys),
                                       strict=True)
                )  # fmt: skip
            case Rec(value=dict()), Rec(value=dict()) if set(a.keys) != set(b.keys):
                key = next(k for k in (*a.keys, *b.keys) if k not in a.keys or k not in b.keys)
                error = mismatch(a, b, f"a dict that has the key {key!r} on some paths only")
                error.remedy = "Put the key in on every path, with None where there is nothing."
                raise error
            case Rec(value=tuple() as u), Rec(value=tuple() as v) if type(u) is type(v):
                text = f"a {type(u).__name__} of {len(a.keys)} or of {len(b.keys)} elements"
                raise mismatch(a, b, text)
            case (Obj(None), Per(_, p, none=True)) | (Per(_, p, none=True), Obj(None)):
                out = Maybe(self.alone(p, name), name, True)  # type: ignore[arg-type]
            case (Obj(None), (Num() | Arr() | Rec()) as other) | (
                (Num() | Arr() | Rec()) as other, Obj(None)
            ):
                known = self.paths is not None and _is_known(other)
                out = Maybe(Keep(other) if known else self.alone(other, name), name, True)
            case (Per(_, p, none=True), (Num() | Arr() | Rec()) as other) | (
                (Num() | Arr() | Rec()) as other, Per(_, p, none=True)
            ):
                assert p is not None
                both = self.unify(p, other, name) if b is other else self.unify(other, p, name)
                out = Maybe(both, name, True)
            case Per(_, p, none=True), Per(_, q, none=True):
                out = Maybe(self.unify(p, q, name), name, True)  # type: ignore[arg-type]
            case (Per(_, None), Per(none=True) as other) | (Per(none=True) as other, Per(_, None)):
                out = Maybe(self.alone(other, name), name)
            case Per(_, p, none=False), Per(none=True):
                out = Maybe(self.unify(p, b, name), name)  # type: ignore[arg-type]
            case Per(none=True), Per(_, p, none=False):
                out = Maybe(self.unify(a, p, name), name)  # type: ignore[arg-type]
            case (Per(none=True), _) | (_, Per(none=True)):
                raise Mismatch(either(a, b))
            case Per(_, p), Per(_, q) if p is not None and q is not None:
                out = Maybe(self.unify(p, q, name), name)
            case (Per(_, None), Per(_, q) as other) | (Per(_, q) as other, Per(_, None)):
                out = Maybe(self.alone(other.part, name), name)  # type: ignore[arg-type]
            case (Per(_, None), other) | (other, Per(_, None)):
                out = Maybe(self.alone(other, name), name)
            case (Per(_, p), other):
                out = Maybe(self.unify(p, other, name), name)  # type: ignore[arg-type]
            case (other, Per(_, p)):
                out = Maybe(self.unify(other, p, name), name)  # type: ignore[arg-type]
            case _:
                raise mismatch(a, b, either(a, b))
        self.pairs[pair] = out
        return out

    def shown(self, a: Arr, b: Arr) -> Form | None:
        """Two views of one array, which differ in numbers."""
        p, q = a.parent, b.parent
        if p is None or q is None or self.paths is None or not selected.alike(a, b):
            return None
        if not same(p, q):
            apart = self.paths.apart or getattr(p, "value", a.value).choice
            if not apart or p.value.type != q.value.type:  # type: ignore[union-attr]
                return None
        pairs = zip(selected.numbers_of(a.value), selected.numbers_of(b.value), strict=True)
        return Shown(a.value, self.unify(p, q), tuple(self.unify(m, n) for m, n in pairs))

    def handles(self, a: Arr, b: Arr) -> Form:
        s, t = a.value.type, b.value.type
        if s.ndim != t.ndim:
            raise Mismatch(f"an array of {s.ndim} or of {t.ndim} axes")
        if s.dtype != t.dtype:
            raise Mismatch(f"an array of {np.dtype(s.dtype)} or of {np.dtype(t.dtype)}")
        pairs = zip(a.value.shape, b.value.shape, strict=True)
        known = all(extents.same(p, q) for p, q in pairs)
        either = a.value.or_number or b.value.or_number
        return Handle(s, _shape(a) if known else (), (a.value, b.value), either)

    def _made(self, s: Arr, side: int) -> bool:
        paths = self.paths
        return paths is None or not paths.apart or s.value.or_number or paths.made(s, side)

    def alone(self, s: Snapshot, name: str) -> Form:
        """The form of a value that the other path does not have."""
        if self.paths is not None and self.paths.apart and isinstance(s, (Arr, Rec)):
            return self.of_one_path(s, None)  # with the flag, what was there before is what it is
        match s:
            case Num(x):
                return Number(scalar(x), content_shape(x))
            case Arr(h, _):
                shape = _shape(s)
                known = self.paths is not None and all(map(self.paths.outside, shape))
                return Handle(h.type, shape if known else (), (h,), h.or_number)
            case Rec(value):
                if (id(s), 0) in self.pairs:
                    return self.pairs[(id(s), 0)]
                if self.paths is not None and is_mutable(value) and not self.paths.new(s):
                    return Keep(s)  # other names may reach it
                kept = in_cells(s) or as_shown(s)
                if kept and len(kept) == len(s.keys):
                    return Keep(s)
                out = self.pairs[(id(s), 0)] = Record(s, ())
                parts = zip(s.keys, s.parts, strict=True)
                out.parts = tuple(kept.get(k) or self.alone(p, name) for k, p in parts)
                return out
            case Per(_, part, _, none) if part is not None:
                return Maybe(self.alone(part, name), name, none)
            case Sel():
                if self.paths is None:
                    raise Mismatch(describe(s))
                return self.one_of_these(s)
        return Keep(s)


def _is_known(s: Snapshot) -> bool:
    """Is it an option, maybe, that is an int on some paths, and must be known to be one?"""
    return isinstance(s, Num) and type(s.value) is int


# what is nothing else than its parts, wherever it was made
_UNNAMED = (tuple, Complex, Text, Part)
_VALUES = (*_UNNAMED, Stretch)


def as_shown(s: Rec) -> dict[Any, Form]:
    """How a text shows a value is known."""
    shown = zip(s.keys, s.parts, strict=True) if isinstance(s.value, Part) else ()
    return {k: Keep(p) for k, p in shown if k != "value"}


def _wider(f: Form, s: Snapshot) -> Form:
    if isinstance(f, Keep) and isinstance(f.of, Num) and isinstance(s, Num):
        if same(f.of, s):
            return f
        f = Number(scalar(f.of.value))
    if not (isinstance(f, Number) and isinstance(s, Num)):
        raise Mismatch("one of several things of other kinds")
    return Number(join_types(f.type, scalar(s.value)))


class Paths:
    """What two paths that meet have made, and what may be another thing on each."""

    def __init__(
        self, apart: bool, made: Callable[[Snapshot, int], bool],
        selects: Callable[[Snapshot, Snapshot], bool], outside: Callable[[Atom], bool],
        held: Callable[[Rec, int], bool],
    ) -> None:  # fmt: skip
        self.apart = apart  # do other names tell the things of the two paths apart?
        self.made, self.selects = made, selects
        self.held = held  # did a list become an element of another on this path?
        self.outside = outside  # of a number: was it known before the paths parted?


    def new(self, s: Snapshot) -> bool:
        """Was it made on one of the paths?"""
        return self.made(s, 0) or self.made(s, 1)


def is_mutable(value: Any) -> bool:
    """Of what is taken apart: may it be written, so that other names for it matter?"""
    fixed = isinstance(value, (*_VALUES, BaseException))
    return not fixed and not is_function(value)


def check_read(*snapshots: Rec) -> None:
    for s in snapshots:
        if s.lost:
            refuse_stale(s.value, s.lost)


def _alike(u: dict[Any, Any], v: dict[Any, Any]) -> bool:
    """Are they dicts of one kind, which may have a key on some paths only?"""
    makers = (getattr(d, "default_factory", None) for d in (u, v))
    return type(u) is type(v) and type(u) in KINDS and same(*map(Obj, makers))


def _by_elements(a: Snapshot, b: Snapshot) -> tuple[Rec, Rec] | None:
    """Two sets, or deques of different lengths, as what holds lists of their elements."""
    u, v = by_elements(a), by_elements(b)
    if u is None or v is None or type(u.value) is not type(v.value):
        return None
    if isinstance(u.value, deque):
        alike = isinstance(a, Rec) and isinstance(b, Rec) and a.keys == b.keys
        if alike or u.value.maxlen != v.value.maxlen:
            return None
    return u, v


def _kind(value: Any) -> Any:
    return closures.kind(value) if is_function(value) else type(value)


def _shared_cells(f: Any, g: Any) -> dict[str, Any]:
    """The variables that two functions of one code have in common; they stay in common.

    The others are the function's own from here on: nothing may write to them any more.
    """
    if not isinstance(f, FunctionType):
        return {}
    from jitad.trace.ongoing import current

    trace = current()
    shared = {}
    for name in closures.names(f):
        cells = closures.cell(f, name), closures.cell(g, name)
        if cells[0] is cells[1]:
            shared[name] = cells[0]
        elif trace is not None:
            trace.parted.update((id(c), c) for c in cells)
    return shared


def in_cells(s: Rec, is_kept: Callable[[Any], bool] = is_made) -> dict[Any, Form]:
    """Of a function's parts, those in cells of calls that are going on: they stay in them.

    The other variables, and the default values, become the function's own.
    """
    if not isinstance(s.value, FunctionType):
        return {}
    cells = {k: closures.cell(s.value, k) for k in s.keys}
    return {k: Keep(Obj(c)) for k, c in cells.items() if c is not None and is_kept(c)}


def longer(a: Rec, b: Rec) -> Rec:
    return a if len(a.keys) >= len(b.keys) else b


def _shape(a: Arr) -> tuple[Atom, ...]:
    shape = a.value.shape
    return tuple(n.atom if isinstance(n, Leaf) else lit(int(n)) for n in shape)


def content_shape(x: Any) -> tuple[Atom, ...]:
    if isinstance(x, np.ndarray):
        return tuple(map(lit, x.shape))
    return x.atom.shape if isinstance(x, Leaf) else ()


def number_or_array(h: Handle, t: Scalar, values: tuple[Any, ...] = ()) -> Handle:
    """The form of an array without axes that is a number of this type on other paths."""
    wide = join_types(Scalar(h.type.dtype), t, values)
    return Handle(Array(wide.dtype, 0), (), h.of, True)


def join_types(s: Any, t: Any, values: tuple[Any, ...] = ()) -> Any:
    """The type that holds the values of both exactly where there is one."""
    if s == t:
        return s
    if isinstance(s, Array) or isinstance(t, Array):
        raise Mismatch(f"{s} or {t}")
    wide = np.promote_types(s.dtype, t.dtype).str[1:]
    if not (s.py and t.py):
        # a Python number adapts to a NumPy one that holds it exactly
        for a, b, v in ((s, t, values[:1]), (t, s, values[1:])):
            if a.py and not b.py and b.dtype[0] in "fc" and a.dtype[0] in "bif" and v:
                if not isinstance(v[0], Leaf) and np.dtype(b.dtype).type(v[0]) == v[0]:
                    wide = b.dtype
    return Scalar(wide, s.py and t.py)


