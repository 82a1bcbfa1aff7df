"""What does user code hold instead of an ndarray while it is traced or differentiated?

An `ArrayHandle`: a mutable handle onto immutable versions.  A root handle holds its `content`: an
ndarray, or a `Number` of array type (a leaf of the tape, a tagged array of the eager engine); that
of a handle without axes is a scalar.  A view has a parent and a map (`views`): it reads the
parent's present content and writes through to it, so that aliases stay aliases.

A handle may stand for one of several others (`chosen`), and hands all on to them.

Every write is noted in the journal first.  Versions are immutable, yet element stores cost O(1)
where nobody else can see the old version:
* a handle *owns* an ndarray that it made and never lent out by `content`; it is written in place,
  unless a journal is running, which has to keep the old one;
* so is a tagged array, by `number.update`: the new version takes over the old one's buffers.
Loads and slices do not lend, because the `slice` row copies.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.errors import JitadValueError
from jitad.primitives.array import slice_key
from jitad.tape.build import Leaf
from jitad.tape.types import Array
from jitad.values import borrowed, journal, stale
from jitad.values.broadcast import fit, one_element, shape_of
from jitad.values.chosen import Choice
from jitad.values.extents import Int, product, same
from jitad.values.indexing import Pick, bools_as_masks, has_bool, has_ellipsis, parse
from jitad.values.kind import check_dtype, fail, number_or_array, read_only, type_of
from jitad.values.layout import Given, gives_view, lies_as, perhaps_of
from jitad.values.number import Number, bind, update
from jitad.values.surface import Surface
from jitad.values.views import At, Entry, Flat, New, Reshaped, Shown, View, Window, all_of


class ArrayHandle(Surface):
    """An array as user code sees it; see the head of this file."""

    __slots__ = ("__weakref__", "_choice", "_content", "_given", "_lost", "_order", "_owned",
                 "_parent", "_view", "born", "or_number")  # fmt: skip
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, content: Any, *, owned: bool = False, or_number: bool = False) -> None:
        if isinstance(content, np.ndarray) and not content.ndim:
            content = content[()]
        if isinstance(content, np.ndarray):
            check_dtype(content)
        self._content = content
        self._owned = owned
        self._parent: ArrayHandle | None = None
        self._view: View | None = None
        self._choice: Choice | None = None
        self._lost, self._order = "", ""  # how NumPy lays a root out, if not in C order (`layout`)
        self._given: tuple[Given, ...] = ()  # arrays from outside, taken to lie in C order
        self.born = borrowed.NEWEST[0]
        self.or_number = or_number  # is it a number on some paths, and so not to be written to?
        journal.made(self)

    def showing(self, shown: Shown) -> ArrayHandle:
        """A view of what a function makes of the present content."""
        return ArrayHandle._onto(self, shown)

    @classmethod
    def chosen(cls, choice: Choice) -> ArrayHandle:
        """One of several."""
        out = cls(None)
        out._choice = choice
        return out

    @classmethod
    def _onto(cls, parent: ArrayHandle, view: View) -> ArrayHandle:
        out = cls(None)
        if isinstance(parent._view, Reshaped) and isinstance(view, Reshaped):
            assert parent._parent is not None
            parent = parent._parent
        out._parent, out._view = parent, view
        return out

    # -- what it is -------------------------------------------------------------------------------

    @property
    def root(self) -> ArrayHandle:
        """The handle that holds the content."""
        h = self
        while h._parent is not None:
            h = h._parent
        return h

    @property
    def concrete(self) -> bool:  # type: ignore[override]
        """True where the content is plain: no tape, no tag."""
        h: ArrayHandle = self
        while h._parent is not None:
            assert h._view is not None
            if isinstance(h._view, Window) and h._view.traced:
                return False
            h = h._parent
        return h._choice is None and not isinstance(h._content, Number)

    @property
    def choice(self) -> Choice | None:
        """What it, or what it is a view of, is chosen from."""
        return self.root._choice

    @property
    def roots(self) -> tuple[ArrayHandle, ...]:
        """The handles one of which holds the content."""
        root = self.root
        if root._choice is None:
            return (root,)
        return tuple(r for h in root._choice.among for r in h.roots)

    @property
    def shape(self) -> tuple[Any, ...]:  # type: ignore[override]
        if self._view is not None:
            return self._view.shape
        if self._choice is not None:
            return self._choice.shape
        return tuple(getattr(self._content, "shape", ()))

    @property
    def type(self) -> Array:
        return Array(type_of(self.roots[0]._content).dtype, len(self.shape))

    @property
    def dtype(self) -> np.dtype[Any]:  # type: ignore[override]
        return np.dtype(self.type.dtype)

    @property
    def base(self) -> ArrayHandle | None:
        """The handle that this one is a view of, as NumPy has it."""
        return None if self._parent is None else self.root

    def retire(self, why: str) -> None:
        """Any later use of this handle raises a JitadError that says why."""
        self._lost = why

    def _refuse(self) -> None:
        stale.refuse_stale(self, self._lost)

    # -- content ----------------------------------------------------------------------------------

    def peek(self) -> Any:
        """The present content for immediate use: an ndarray may change under later writes."""
        if self._lost:
            self._refuse()
        if self._choice is not None:
            return self._choice.each(lambda h: ArrayHandle(h.content)).content
        if self._parent is None:
            return self._content
        assert self._view is not None
        return self._view.read(self._parent.peek())

    @property
    def content(self) -> Any:
        """The present version, which no later write changes."""
        out = self.peek()
        root = self.root
        if isinstance(out, np.ndarray):
            if root._owned and self._parent is not None:
                return np.array(out)
            root._owned = False
        elif not self._is_part:
            root._owned = False
        return out

    @content.setter
    def content(self, value: Any) -> None:
        if self._parent is None:
            self._set(value, owned=False)
        else:
            self._write_all(value)

    @property
    def _is_part(self) -> bool:
        """True where reading is a `slice` of the root's content, which is a copy."""
        parent = self._parent
        if parent is None or parent._parent is not None or not isinstance(self._view, Window):
            return False
        return not self._view.whole(parent.shape)

    def _set(self, content: Any, owned: bool) -> None:
        if self._choice is not None and self.shape:
            return self._write_part(all_of(self.shape), content)
        if self._choice is not None:
            return self._choice.each(lambda h: setattr(h, "content", content))
        if self.or_number:
            raise number_or_array()
        self._record()
        self._content, self._owned = content, owned

    def _record(self) -> None:
        if journal.active() is not None:
            journal.check_free(self)
            journal.record(self, "content", self._content, lambda: self._content, self.restore)
        elif borrowed.is_first(self):
            borrowed.note(self, self._content)

    def restore(self, content: Any) -> None:
        """The content as it was before the writes that were noted."""
        self._content, self._owned = content, False

    @property
    def _alone(self) -> bool:
        """Is the present version this handle's only, which nobody has to keep?"""
        return self._owned and journal.active() is None and not borrowed.is_first(self)

    def _writable(self) -> np.ndarray[Any, Any]:
        """The root's ndarray, to be written in place."""
        if not self._alone:
            self._set(np.array(self._content), owned=True)
        return self._content

    def _store(self, name: str, value: Any, operands: tuple[Int, ...], **params: Any) -> None:
        """A pure store, or the in-place form of it where the old version is this handle's alone."""
        args = (self._content, value, *operands)
        in_place = self._alone and not any(isinstance(a, Leaf) for a in args)
        new = (update if in_place else bind)(name, *args, **params)
        self._set(new, owned=not isinstance(new, Leaf))

    # -- reading and writing parts ----------------------------------------------------------------

    def _load(self, index: tuple[Int, ...]) -> Any:
        match self._view:
            case None if self._choice is not None:
                return self._choice.each(lambda h: h._load(index))
            case None:
                content = self.peek()
                if isinstance(content, np.ndarray) and not _any_number(index):
                    return content[index]
                return bind("load", content, *index) if index else content
            case Window() as w:
                return self._parent._load(w.element(index))  # type: ignore[union-attr]
            case Reshaped() as r:
                assert self._parent is not None
                return self._parent._load(r.element(index, self._parent.shape))
            case Shown() as v:
                assert self._parent is not None
                return ArrayHandle(v.read(self._parent.content))._load(index)

    def _store_element(self, index: tuple[Int, ...], value: Any) -> None:
        if self._lost:
            self._refuse()
        match self._view:
            case Window() as w:
                self._parent._store_element(w.element(index), value)  # type: ignore[union-attr]
            case Reshaped() as r:
                assert self._parent is not None
                self._parent._store_element(r.element(index, self._parent.shape), value)
            case Shown():
                self._write_all(bind("store", self.content, value, *index))
            case None if self._choice is not None:
                self._choice.each(lambda h: h._store_element(index, value))
            case None if not index:
                self._set(value, owned=False)
            case None:
                plain = not isinstance(value, Number) and not _any_number(index)
                if isinstance(self._content, np.ndarray) and plain:
                    self._writable()[index] = value
                else:
                    self._store("store", value, index)

    def _write_all(self, value: Any) -> None:
        """The whole content anew; the value fits (see `fit`)."""
        if self._lost:
            self._refuse()
        match self._view:
            case Window() as w:
                self._parent._write_part(w, w.turn_back(value))  # type: ignore[union-attr]
            case Reshaped():
                assert self._parent is not None
                if _is_array(value):
                    value = Reshaped(self._parent.shape).read(value)
                self._parent._write_all(value)
            case Shown() as v:
                if v.put is None:
                    raise read_only()
                assert self._parent is not None
                self._parent._write_all(v.put(self._parent.content, value))
            case None:
                self._write_part(all_of(self.shape), value) if self.shape else self._set(
                    value, owned=False
                )

    def _write_part(self, window: Window, value: Any) -> None:
        """Write the slice of a window; the value has the slice's layout, or is a scalar."""
        if self._choice is not None:
            self._choice.each(lambda h: h._write_part(window, value))
            return
        if self._view is not None:
            whole = self.content
            if any(isinstance(x, Number) for x in (whole, value, *window.operands)):
                whole = bind("store_slice", whole, value, *window.operands, kinds=window.kinds)
            else:
                whole = np.array(whole)
                whole[slice_key(window.kinds, window.operands)] = value
            self._write_all(whole)
            return
        if not self.shape:
            self._set(one_element(value, self.dtype), owned=False)
            return
        plain = not isinstance(value, Number) and not window.traced
        if isinstance(self._content, np.ndarray) and plain:
            # Overlap of source and destination is NumPy's business here.
            source = np.array(value) if np.may_share_memory(value, self._content) else value
            self._writable()[slice_key(window.kinds, window.operands)] = source
        elif (_is_array(value) and isinstance(value, Number) and window.whole(self.shape)
              and lies_as(value, self._content)):  # fmt: skip
            self._set(value, owned=False)
        else:
            self._store("store_slice", value, window.operands, kinds=window.kinds)

    # -- subscripts -------------------------------------------------------------------------------

    def _element(self, index: Any) -> tuple[int, ...] | None:
        """The place of one element by plain ints of a root of plain extents: the short way."""
        if self._parent is not None or self._lost or self._choice is not None:
            return None
        if type(index) is not tuple:
            index = (index,)
        shape = getattr(self._content, "shape", ())
        if len(index) != len(shape):
            return None
        at = []
        for i, n in zip(index, shape, strict=True):
            if type(i) is not int or type(n) is not int or not -n <= i < n:
                return None
            at.append(i if i >= 0 else i + n)
        return tuple(at)

    def __getitem__(self, index: Any) -> Any:
        at = self._element(index)
        if at:
            content = self._content
            return content[at] if isinstance(content, np.ndarray) else bind("load", content, *at)
        if has_bool(index):
            new, masks = bools_as_masks(index)
            return self[new][masks]
        entries = parse(index, self.shape)
        if any(isinstance(e, Pick) for e in entries):
            from jitad.values.picking import pick

            return pick(self, entries)
        if len(entries) == len(self.shape) and all(isinstance(e, At) for e in entries):
            if entries or index == ():
                if not has_ellipsis(index):
                    return self._load(tuple(e.index for e in entries))  # type: ignore[union-attr]
        if self._choice is not None and any(type(h._view) is Flat for h in self._choice.among):
            return self._choice.each(lambda h: h[index])
        part = self._window(tuple(entries))  # type: ignore[arg-type]
        return part.copy() if type(self._view) is Flat else part

    def __setitem__(self, index: Any, value: Any) -> None:
        place = self._element(index)
        if place and type(value) is float and isinstance(self._content, np.ndarray):
            self._writable()[place] = value
            return
        if place and _is_scalar_tagged(value, self._content):
            self._store("store", value, place)
            return
        if has_bool(index):
            new, masks = bools_as_masks(index)
            self[new][masks] = value
            return
        entries = parse(index, self.shape)
        if any(isinstance(e, Pick) for e in entries):
            from jitad.values.picking import put

            put(self, entries, value)
            return
        every = len(entries) == len(self.shape) and all(isinstance(e, At) for e in entries)
        if every and not has_ellipsis(index):
            at = tuple(e.index for e in entries)  # type: ignore[union-attr]
            if isinstance(value, (list, tuple)) or shape_of(value):
                raise fail(JitadValueError, "setting an array element with a sequence")
            self._store_element(at, fit(value, self.dtype, (), self._traces(value, at)))
            return
        target = self._window(tuple(entries))  # type: ignore[arg-type]
        if target.shows_same(value):
            return  # the second half of `a[1:3] += x`, which wrote through the view already
        target.assign(value)

    def assign(self, value: Any) -> None:
        """Write all elements, as `self[...] = value` does."""
        operands = self._view.operands if isinstance(self._view, Window) else ()
        self._write_all(fit(value, self.dtype, self.shape, self._traces(value, operands)))

    def _traces(self, value: Any, operands: tuple[Int, ...]) -> bool:
        """True where the write will be an equation of a tape."""
        root = self.root
        if root._choice is not None:
            return True
        return isinstance(root._content, Leaf) or any(isinstance(i, Leaf) for i in operands)

    def shows_same(self, other: Any) -> bool:
        """True where the other handle is a view of the same elements in the same order."""
        return (
            isinstance(other, ArrayHandle)
            and self._parent is not None
            and other._parent is self._parent
            and self._view is not None
            and self._view.equals(other._view)
        )

    def row(self, i: Any) -> Any:
        """Element or view number i along the first axis, i being known to be in range."""
        entries: tuple[Entry, ...] = (At(i), *all_of(self.shape).entries[1:])
        return self._load((i,)) if len(entries) == 1 else self._window(entries)

    # -- views ------------------------------------------------------------------------------------

    def _window(self, entries: tuple[Entry, ...]) -> ArrayHandle:
        if isinstance(self._view, Window):
            composed = self._view.compose(entries)
            if composed is not None:
                assert self._parent is not None
                return ArrayHandle._onto(self._parent, composed)
        window = all_of(self.shape).compose(entries)
        assert window is not None
        return ArrayHandle._onto(self, window)

    def permuted(self, perm: tuple[int, ...]) -> ArrayHandle:
        """A view with axes in another order: its axis k is this one's perm[k]."""
        if isinstance(self._view, Window):
            w, parent = self._view, self._parent
        else:
            w, parent = all_of(self.shape), self
        assert parent is not None
        return ArrayHandle._onto(parent, Window(w.entries, tuple(w.axes[k] for k in perm)))

    def without_axes(self, axes: tuple[int, ...]) -> ArrayHandle:
        """A view without these axes, each of extent 1."""
        every = all_of(self.shape).entries
        return self._window(tuple(At(0) if k in axes else e for k, e in enumerate(every)))

    def with_axes(self, axes: tuple[int, ...]) -> ArrayHandle:
        """A view with new axes of extent 1 at these places of the result."""
        own = iter(all_of(self.shape).entries)
        ndim = len(self.shape) + len(axes)
        return self._window(tuple(New() if k in axes else next(own) for k in range(ndim)))

    def reshaped(self, shape: tuple[Int, ...]) -> ArrayHandle:
        """The elements in C order under these extents: a view where NumPy gives one, else a copy.

        Contents of a tape are taken to be in C order.
        """
        if len(shape) == len(self.shape) and all(map(same, shape, self.shape)):
            return self._window(all_of(self.shape).entries)
        if not shape:  # of one element
            return self.without_axes(tuple(range(len(self.shape))))
        is_view = gives_view(self, shape)
        if is_view:
            if not self.shape:
                return self.with_axes(tuple(range(len(shape))))
            return ArrayHandle._onto(self, Reshaped(shape))
        out = wrap(np.array(Reshaped(shape).read(self.peek()))
                   if self.concrete else Reshaped(shape).read(self.content))  # fmt: skip
        return perhaps_of(self, out, is_view)

    def flattened(self, kind: Any = Reshaped) -> ArrayHandle:
        """A view of one axis of the elements in C order, wherever they lie."""
        if not self.shape:
            return self.reshaped((1,))
        return ArrayHandle._onto(self, kind((product(self.shape),)))


def _is_scalar_tagged(value: Any, content: Any) -> bool:
    """True of a tagged scalar of the content's dtype."""
    if not isinstance(value, Number) or not value.tag or _is_array(value):
        return False
    return type_of(value).dtype == type_of(content).dtype


def _any_number(values: tuple[Any, ...]) -> bool:
    return any(isinstance(v, Number) for v in values)


def _is_array(value: Any) -> bool:
    shape: Any = getattr(value, "shape", ())
    return len(shape) > 0


def wrap(content: Any) -> Any:
    """A fresh array content as a handle; scalars stay as they are."""
    if isinstance(content, np.ndarray):
        if content.dtype.kind == "c":
            from jitad.values.complexes.number import split  # which is made of handles

            return split(content)
        return ArrayHandle(content, owned=content.base is None)
    if isinstance(content, Number) and _is_array(content):
        # Not owned: a rule may keep it (that of exp its result), a tangent may be another's.
        return ArrayHandle(content)
    return content


