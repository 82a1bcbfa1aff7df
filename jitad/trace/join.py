"""What becomes of a variable where two paths meet, or where a loop comes round again?

Both values are taken apart (`snapshot`) as they are at the end of their path, because the writes
of a path are undone before the next one is traced.  `unify` gives the form that covers both: what
is the same stays as it is, numbers become a variable of the wider type, arrays a new handle,
containers are unified element by element.  `extract` gives the atoms of a snapshot in such a form,
`build` makes the value again from the joined variables.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType, SimpleNamespace
from typing import Any

import numpy as np

from jitad import closures
from jitad.closures import is_function
from jitad.errors import JitadError, UnknownDepthError
from jitad.tape.build import Builder, Leaf
from jitad.tape.ir import Atom, lit
from jitad.tape.types import Array, Scalar, Type, named, type_of_constant
from jitad.trace.forms import Form, Grown, Handle, Keep, Maybe, Number, Record
from jitad.trace.snapshot import (
    Arr,
    Lost,
    Num,
    Obj,
    Per,
    Rec,
    Snapshot,
    snapshot,
    stretch_of,
)
from jitad.trace.stretch import Stretch
from jitad.trace.unset import UNSET, Perhaps
from jitad.values import extents
from jitad.values.array import ArrayHandle
from jitad.values.complexes import Complex

APPENDED = "appended"  # the slot of the journal for what was added to a list from outside

class Mismatch(Exception):
    """Two values have no common form; the text says what they are."""

    functions = False  # because they are functions, made in different ways


def _mismatch(a: Snapshot, b: Snapshot, text: str) -> Mismatch:
    out = Mismatch(text)
    out.functions = _has_function(a) or _has_function(b)
    return out


def _has_function(s: Snapshot) -> bool:
    match s:
        case Obj(v):
            return callable(v) and not isinstance(v, type)
        case Rec(v, _, parts):
            of_list = isinstance(v, (list, tuple)) and any(map(_has_function, parts))
            return is_function(v) or of_list
        case Per(_, part):
            return part is not None and _has_function(part)
    return False


def same(a: Snapshot, b: Snapshot) -> bool:
    """True where nothing has to be carried or joined."""
    match a, b:
        case Num(x), Num(y):
            return _same_number(x, y)
        case (Arr(x), Arr(y)) | (Rec(x), Rec(y)):
            return x is y  # what is in them is a matter of the journal
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


class Unifier:
    """Unifies pairs of snapshots; an alias on both sides stays an alias."""

    def __init__(self, room: Callable[[], Atom] | None = None) -> None:
        self.pairs: dict[tuple[int, int], Form] = {}
        self.room = room  # for lists that grow in a loop

    def unify(self, a: Snapshot, b: Snapshot, name: str = "") -> Form:
        if same(a, b):
            return Keep(a)
        pair = (id(a), id(b))
        if pair in self.pairs:
            return self.pairs[pair]
        if _is_complex(a) or _is_complex(b):
            a, b = complex_of(a), complex_of(b)
        out: Form
        match a, b:
            case Num(x), Num(y):
                return Number(join_types(_scalar(x), _scalar(y), (x, y)), _content_shape(x))
            case Arr(), Arr():
                out = self.handles(a, b)
            case Rec(value=list()), Rec(value=list()) if name != APPENDED and (
                (form := grown.unified(self, a, b)) is not None
            ):
                out = form
            case Rec(), Rec() if a.keys == b.keys and _kind(a.value) == _kind(b.value):
                out = self.pairs[pair] = Record(a, ())
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
            case Rec(value=tuple() as u), Rec(value=tuple() as v) if type(u) is type(v):
                text = f"a {type(u).__name__} of {len(a.keys)} or of {len(b.keys)} elements"
                raise _mismatch(a, b, text)
            case (Obj(None), Per(_, p, none=True)) | (Per(_, p, none=True), Obj(None)):
                out = Maybe(self.alone(p, name), name, True)  # type: ignore[arg-type]
            case (Obj(None), (Num() | Arr() | Rec()) as other) | (
                (Num() | Arr() | Rec()) as other, Obj(None)
            ):
                out = Maybe(self.alone(other, name), name, True)
            case (Per(_, p, none=True), (Num() | Arr() | Rec()) as other) | (
                (Num() | Arr() | Rec()) as other, Per(_, p, none=True)
            ):
                assert p is not None
                both = self.unify(p, other, name) if b is other else self.unify(other, p, name)
                out = Maybe(both, name, True)
            case Per(_, p, none=True), Per(_, q, none=True):
                out = Maybe(self.unify(p, q, name), name, True)  # type: ignore[arg-type]
            case (Per(none=True), _) | (_, Per(none=True)):
                raise Mismatch(f"{describe(a)} or {describe(b)}")
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
                raise _mismatch(a, b, f"{describe(a)} or {describe(b)}")
        self.pairs[pair] = out
        return out

    def handles(self, a: Arr, b: Arr) -> Form:
        s, t = a.value.type, b.value.type
        if s.ndim != t.ndim:
            raise Mismatch(f"an array of {s.ndim} or of {t.ndim} axes")
        if s.dtype != t.dtype:
            raise Mismatch(f"an array of {np.dtype(s.dtype)} or of {np.dtype(t.dtype)}")
        pairs = zip(a.value.shape, b.value.shape, strict=True)
        known = all(extents.same(p, q) for p, q in pairs)
        return Handle(s, _shape(a) if known else (), (a.value, b.value))

    def alone(self, s: Snapshot, name: str) -> Form:
        """The form of a value that the other path does not have."""
        match s:
            case Num(x):
                return Number(_scalar(x), _content_shape(x))
            case Arr(h, _):
                return Handle(h.type, (), (h,))
            case Rec():
                out = self.pairs[(id(s), 0)] = Record(s, ())
                out.parts = tuple(self.alone(p, name) for p in s.parts)
                return out
        return Keep(s)


def _is_complex(s: Snapshot) -> bool:
    match s:
        case Num(value):
            return isinstance(value, (complex, np.complexfloating))
        case Rec(value):
            return isinstance(value, Complex)
    return False


def complex_of(s: Snapshot) -> Snapshot:
    """A number that is complex on another path, as a complex one."""
    match s:
        case Num(complex() | np.complexfloating() as z):
            kind = np.float64 if isinstance(z, np.generic) else float
            return snapshot(Complex(kind(z.real), kind(z.imag)))
        case Num(x) if not isinstance(_scalar(x), Array):
            return snapshot(Complex(x, 0.0))
    return s


def _kind(value: Any) -> Any:
    return closures.kind(value) if is_function(value) else type(value)


def _shared_cells(f: Any, g: Any) -> dict[str, Any]:
    """The variables that two functions of one code have in common; they stay in common.

    The others are the function's own from here on: nothing may write to them any more.
    """
    if not isinstance(f, FunctionType):
        return {}
    from jitad.trace.context import current

    trace = current()
    shared = {}
    for name in closures.names(f):
        cells = closures.cell(f, name), closures.cell(g, name)
        if cells[0] is cells[1]:
            shared[name] = cells[0]
        elif trace is not None:
            trace.parted.update((id(c), c) for c in cells)
    return shared


def longer(a: Rec, b: Rec) -> Rec:
    return a if len(a.keys) >= len(b.keys) else b


def _shape(a: Arr) -> tuple[Atom, ...]:
    shape = a.value.shape
    return tuple(n.atom if isinstance(n, Leaf) else lit(int(n)) for n in shape)


def _scalar(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return Array(x.dtype.str[1:], x.ndim)
    return x.type if isinstance(x, Leaf) else type_of_constant(x)


def _content_shape(x: Any) -> tuple[Atom, ...]:
    if isinstance(x, np.ndarray):
        return tuple(map(lit, x.shape))
    return x.atom.shape if isinstance(x, Leaf) else ()


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


def describe(s: Snapshot) -> str:
    match s:
        case Num(x):
            return named(_scalar(x)) if isinstance(x, Leaf) else repr(x)
        case Arr(h, _):
            return f"an array ({h.type})"
        case Rec(Complex() as z):
            return f"an array of {z.dtype}" if z.shape else "a complex"
        case Rec() if stretch_of(s) is not None:
            return "a list whose length depends on traced values"
        case Rec(v, _, _) if not is_function(v):
            return f"a {type(v).__name__} of {len(s.keys)}"
        case Per(_, part, none=True):
            return f"{describe(part)} or None"  # type: ignore[arg-type]
        case Per():
            return "nothing"
        case Obj(v) | Rec(v):
            text = repr(v)
            return text if len(text) < 40 else f"a {type(v).__name__}"


# -- atoms ----------------------------------------------------------------------------------------


def extract(
    b: Builder, f: Form, s: Snapshot | None, out: list[Atom], seen: set[int] | None = None
) -> list[Atom]:
    """The atoms of a snapshot in this form, in order; placeholders where s is None."""
    seen = set() if seen is None else seen
    if isinstance(f, (Handle, Record, Grown)):
        if id(f) in seen:
            return out
        seen.add(id(f))
    match f:
        case Keep():
            pass
        case Maybe(part, _, none):
            match s:
                case Obj(None) if none:
                    out.append(lit(False))
                    extract(b, part, None, out, seen)
                case None | Per(_, None):
                    out.append(lit(False))
                    extract(b, part, None, out, seen)
                case Per(flag, inner):
                    out.append(b.atom(flag))
                    extract(b, part, inner, out, seen)
                case _:
                    out.append(lit(True))
                    extract(b, part, s, out, seen)
        case Record():
            s = complex_of(s) if isinstance(s, Num) else s
            parts = s.parts if isinstance(s, Rec) else [None] * len(f.parts)
            for p, q in itertools.zip_longest(f.parts, parts):  # what was appended may be shorter
                extract(b, p, q, out, seen)
        case Grown():
            grown.extract(b, f, s, out)
        case Number(Array()):
            assert isinstance(s, Num)
            out.append(b.atom(s.value))
        case Number(t):
            value = s.value if isinstance(s, Num) else 0
            out.append(cast(b, b.atom(value), t))
        case Handle(t, shape):
            if isinstance(s, Arr):
                if isinstance(s.content, Lost):
                    raise JitadError(s.content.why, b.pos)
                out.append(b.atom(s.content))
            else:  # never read: an empty one will do where extents are free
                zero = lit(np.dtype(t.dtype).type(0))
                dims = shape or (lit(0),) * t.ndim
                out.append(b.emit("full", zero, *dims, dtype=t.dtype))
    return out


def cast(b: Builder, atom: Atom, t: Any) -> Atom:
    if atom.type == t:
        return atom
    return b.emit("cast", atom, dtype=t.dtype, py=t.py)


def kinds(f: Form, out: list[tuple[Type, tuple[Atom, ...]]], seen: set[int]) -> Any:
    """Type and extents of every variable that the form needs."""
    if isinstance(f, (Handle, Record, Grown)):
        if id(f) in seen:
            return out
        seen.add(id(f))
    match f:
        case Number(t, shape):
            out.append((t, shape))
        case Handle(t, shape):
            out.append((t, shape))
        case Grown():
            out += grown.kinds_of(f)
        case Record():
            for p in f.parts:
                kinds(p, out, seen)
        case Maybe(part, _):
            out.append((Scalar("b1", True), ()))
            kinds(part, out, seen)
    return out


def given(name: str) -> str:
    """The name, if it is the user's and not the rewriting's."""
    return "" if name.startswith("_j") else name


def signature(f: Form, numbers: dict[int, int]) -> Any:
    """Equal for forms that need the same variables, aliases in the same places."""
    match f:
        case Keep():
            return "keep"
        case Number(t):
            return t
        case Maybe(part):
            return ("maybe", signature(part, numbers))
    if id(f) in numbers:
        return numbers[id(f)]
    numbers[id(f)] = len(numbers)
    if isinstance(f, Grown):
        return ("grown", f.room, f.spare is None, signature(f.element, {}))
    if isinstance(f, Handle):
        return (f.type, f.shape)
    return (type(f.of.value), *(signature(p, numbers) for p in f.parts))


def build(
    b: Builder, f: Form, atoms: Iterator[Atom], made: dict[int, Any], join: Any
) -> Any:
    """The value in this form, made of these variables; `join(new, sides)` hears of new handles."""
    if id(f) in made:
        return made[id(f)]
    out: Any
    match f:
        case Keep(s):
            out = _rebuilt(s)
        case Number():
            out = b.leaf(next(atoms))
        case Handle(of=of):
            content = b.leaf(next(atoms))
            out = ArrayHandle(content)
            join(out, of)
        case Maybe(part, name, none):
            flag = b.leaf(next(atoms))
            value = build(b, part, atoms, made, join)
            if isinstance(flag, Leaf):
                out = Perhaps(flag, value, name, none)
            else:
                out = value if flag else None if none else UNSET
        case Grown():
            out = grown.build(b, f, atoms, join)
        case Record():
            out = _container(f, [build(b, p, atoms, made, join) for p in f.parts])
    made[id(f)] = out
    return out


def _rebuilt(s: Snapshot) -> Any:
    if isinstance(s, Per):
        return UNSET if s.part is None else Perhaps(s.flag, _rebuilt(s.part), s.name, s.none)
    return s.value


def _container(f: Record, parts: list[Any]) -> Any:
    value = f.of.value
    kind = type(value)
    if isinstance(value, tuple):
        return kind(*parts) if hasattr(kind, "_fields") else kind(parts)
    if isinstance(value, list):
        return kind(parts)
    if isinstance(value, deque):
        return kind(parts, value.maxlen)
    if isinstance(value, Stretch):
        return value.with_parts(parts)
    if isinstance(value, defaultdict):
        return kind(value.default_factory, zip(f.of.keys, parts, strict=True))
    if isinstance(value, Counter):
        return kind(dict(zip(f.of.keys, parts, strict=True)))
    if isinstance(value, dict):
        return kind(zip(f.of.keys, parts, strict=True))
    if is_function(value):
        return closures.again(value, dict(zip(f.of.keys, parts, strict=True)))
    out: Any = SimpleNamespace() if kind is SimpleNamespace else object.__new__(kind)
    own = getattr(value, "__dict__", ())
    for k, p in zip(f.of.keys, parts, strict=True):
        if k in own:  # past descriptors of the same name
            out.__dict__[k] = p
        else:
            object.__setattr__(out, k, p)
    return out


def explain(
    name: str, e: Mismatch, pos: Any, where: str, places: frozenset[Any] = frozenset()
) -> JitadError:
    """`places`: of the conditions around, on which the matter depends as well."""
    what = "the value returned" if name == "_jv" else (name or "an attribute or item")
    if e.functions:
        return UnknownDepthError(
            f"{what} is {e} {where}: how functions nest depends on numbers", pos,
            "Let it depend on ints, or allow the eager engine (fallback=True).", places | {pos},
        )  # fmt: skip
    return JitadError(
        f"{what} is {e} {where}", pos,
        "Give it the same kind of value on every path, or decide on something static.",
    )  # fmt: skip


from jitad.trace import grown  # noqa: E402  which is made of these forms
