"""How is a function compiled, one specialisation a combination of argument types, and called?

A call looks at the types of its arguments.  For types seen before, a generated entry function
hands the arguments and the captured values to the kernel; otherwise the function is traced,
specialised and emitted first.  What a trace relied on is checked at every call by the entry
(captured ints, functions, objects) or by the kernel (extents equal to one): a miss traces again.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import types as numba_types

from jitad.calls import outputs, recalled
from jitad.calls.arguments import abstract_leaves, as_numbers, key_of, key_of_type, stand_in
from jitad.calls.bindable import NOWHERE, Bindable
from jitad.calls.entries import finish, python_entry
from jitad.calls.fallback import Unknown, first_run, is_allowed, may_stand_in, warn
from jitad.calls.inspected import Inspected
from jitad.calls.memory import limited
from jitad.calls.native_entries import as_numba_type, native_entry, of_types, serves, with_value
from jitad.calls.raised import raise_as_python
from jitad.calls.shortcuts import shortcut
from jitad.calls.specialisation import Specialisation, kernel_for
from jitad.calls.threads import asked
from jitad.emit import capi, native
from jitad.emit.callable import register
from jitad.emit.undisturbed import undisturbed
from jitad.errors import (
    GuardMiss,
    Guessed,
    JitadError,
    JitadExtentError,
    JitadTypeError,
    RoomMiss,
    UnknownDepthError,
)
from jitad.named import name_of, named
from jitad.room import Room
from jitad.structures import Structure, flatten, unflatten
from jitad.trace import ongoing
from jitad.trace.around.libraries import COMPILED
from jitad.trace.around.paths import Path, overlap, twice
from jitad.trace.around.rows import LONG, packed
from jitad.values.active import any_traced

if TYPE_CHECKING:
    from jitad.primitives.schedules import Snapshots
    from jitad.trace.flow.observe import Decisions

_MISSED = object()
_MOST = 64  # specialisations of one function; more means that something changes at every call
_MOST_LEAVES = 1000  # of arguments for which an entry is written out


@register
class Compiled(Bindable, Inspected):
    """A compiled function; made by `jit`, `jit_grad` and `jit_value_and_grad`.

    Call it as the function itself; call it from `@numba.njit` functions, too.  It takes
    and gives the shapes and dtypes that the function takes and gives.  `out=` takes an array, or a
    structure like the result's, to which arrays of the result are copied when it is complete (so
    it may be an argument, too); of a value and a gradient `out=` is for the gradient.  Numbers in
    it are not looked at.  A function that has an argument `out` itself gets that.

    Parameters
    ----------
    f, fallback, memory, parallel : as for `jit`.

    Attributes
    ----------
    source : the emitted Python of the latest specialisation.
    specialisations : why each one was made.
    explain() : which kernels there are, what became of their loops, which calls had none.
    bound(*args, out=) : a call of which the arguments are known, as a function without any.
    tape(stage) : the tape of the latest specialisation, "traced", "plain" or after a named pass.
    compile(*types) : compile ahead of time, for Numba types or for values of the types.
    address(*types) : the address of a C function.

    Raises
    ------
    JitadTypeError : `f` is not a function; when called: an argument that no kernel takes.
    JitadTypeError, JitadValueError : `out=` has other structure, shapes, dtypes than the result,
        is read-only, or its arrays overlap.
    JitadError : what the function does can't be traced, or `source` before anything is compiled.

    Source: `source` is compiled by Numba; Lam, Pitrou & Seibert, *Numba: a LLVM-based Python JIT
    compiler*, LLVM-HPC 2015.

    >>> from jitad import jit_grad
    >>> g = jit_grad(lambda x: x * x * x)
    >>> g(2.0)
    12.0
    >>> g.specialisations
    ['first call']
    >>> import numpy as np
    >>> slope = np.zeros(2)
    >>> jit_grad(lambda x: np.sum(x * x))(np.array([1.0, 2.0]), out=slope) is slope
    True
    >>> slope
    array([2., 4.])
    """

    # Calling an object finds what is in this place of it, for functions in C without Python's help.
    __slots__ = ("__call__", "__dict__", "__weakref__")
    __call__: Callable[..., Any]

    def __init__(
        self, f: Callable[..., Any], fallback: bool | None = None,
        memory: float | Snapshots | None = None, parallel: bool | int = False,
    ) -> None:  # fmt: skip
        if not callable(f):
            raise JitadTypeError(f"{f!r} is not a function", None, "Pass a function.")
        self.f, self.fallback, self.memory = f, fallback, limited(memory)
        self.threads = asked(parallel)
        functools.update_wrapper(self, f, updated=())
        self.__name__ = getattr(f, "__name__", type(f).__name__)
        self._by_key: dict[Any, list[Specialisation]] = {}
        # argument types for which nesting is not known, kernels whose extents depend on numbers
        self._unknown: dict[Any, Unknown] = {}
        self._all: list[Specialisation] = []
        self._dynamic: frozenset[Path] = frozenset()
        self._tabled: frozenset[Any] = frozenset()  # where dicts are made that get traced keys
        self._exact: dict[Specialisation, list[Specialisation]] = {}  # where that isn't enough
        self._recalled: set[Any] = set()  # traces on disk that were found, or made here
        self._seen: set[Any] = set()  # opaque functions that a call in Python may have shown
        self._native: dict[Any, Any] = {}
        self._entries: dict[Any, Callable[..., Any]] = {}
        self._fast: Callable[..., Any] = self._slow
        self._named: Callable[[Any, Any], Any] = self._slow_named
        self._outs = not outputs.wants(f)  # `out=` is ours
        self._into: Callable[..., Any] = self._slow_into
        self._entries_into: dict[Any, Callable[..., Any]] = {}
        self._like: tuple[Any, list[Any]] | None = None  # what `_fast` is for
        self._shortcuts: dict[Any, Any] = {}
        self.__call__ = self._call

    def _call(self, /, *args: Any, out: Any = NOWHERE, **kwargs: Any) -> Any:
        """Any call; most do not come here (see `calls.shortcuts`)."""
        if out is NOWHERE:
            return self._named(args, kwargs) if kwargs else self._fast(*args)
        if not self._outs:
            return self._named(args, {**kwargs, "out": out})
        return self._slow_into(out, *args, **kwargs) if kwargs else self._into(out, *args)

    def __repr__(self) -> str:
        return f"<jitad.Compiled {self.__name__}>"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled by its name, or as what it was made of: another process finds its kernels on
        disk."""
        if (name := name_of(self)) is not None:
            return named, name
        memory = math.inf if self.memory is None else self.memory
        parallel = False if self.threads is None else self.threads or True
        return type(self), (self.f, self.fallback, memory, parallel)

    # -- calling --------------------------------------------------------------------------------

    def _slow_named(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self._slow(*args, **kwargs)

    def _slow_into(self, out: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Any call with `out=`; prepares the quick way for others like it."""
        if ongoing.current() is not None or any_traced(flatten((args, out))[0]):
            raise JitadTypeError(
                f"{self.__name__} is called with out= where it is part of a trace", None,
                "Leave out= away: the compiled function outside has no arrays in between.",
            )  # fmt: skip
        result = self(*args, **kwargs)
        kind = self._kind_of_out()
        whole = outputs.write(result, out) if kind == "all" else (
            result[0], outputs.write(result[1], out)
        )  # fmt: skip
        self._into = self._slow_into
        if self._like is not None and not kwargs:
            key, leaves = self._like
            if key not in self._entries_into:
                s, structure, _ = key
                made = python_entry(s.traced, s.kernel.dispatcher, self.f, structure, leaves,
                                    self._slow_into, self._call, s.from_types, kind)  # fmt: skip
                self._entries_into[key] = made or self._slow_into
            self._into = self._entries_into[key]
        return whole

    def _slow(self, /, *args: Any, **kwargs: Any) -> Any:
        """Any call: find the specialisation for these arguments, or make it."""
        if ongoing.current() is not None:
            return self._follow(args, kwargs)
        leaves, structure = self._flat(args, kwargs)
        if any_traced(leaves):
            return self._follow(args, kwargs)
        key = (structure, tuple(map(key_of, leaves)))
        ones = any(1 in leaf.shape for leaf in leaves if isinstance(leaf, np.ndarray))
        out = self._known(self._by_key.get(key, ()), args, kwargs, ones)
        if out is not _MISSED:
            return out
        with Room(), ongoing.alone():  # another thread may have made it meanwhile
            tried = self._by_key.setdefault(key, [])
            out = self._known(tried, args, kwargs, ones)
            if out is not _MISSED:
                return out
            other = "other values of what the trace relied on"
            why = other if tried or self._tabled else "other types" if self._all else "first call"
            unknown = self._unknown.get(key)
            name = path = None
            if unknown is None and not self._dynamic and not self._tabled:
                name = recalled.name_of(self.f, leaves, structure, repr(self.memory), self.threads)
            again = name is not None and self._recall(name, structure, tried, args, kwargs, why)
            if unknown is not None:
                path, why = unknown.next_path(), "the path of an earlier call"
            s = failed = None
            try:
                if not again and (unknown is None or path is not None):
                    some, named = unflatten(structure, abstract_leaves(self.f, leaves, structure))
                    s = self._specialise(some, named, why, path=path)
            except Guessed as error:  # this once in Python, which shows what is needed
                if self._seen.issuperset(error.functions):
                    raise
                self._seen |= set(error.functions)
                from jitad.trace.opaque import learning

                with learning():
                    return self.f(*args, **kwargs)
            except UnknownDepthError as reason:
                if not is_allowed(self.fallback):
                    raise
                if not self._unknown:
                    warn(self.__name__, reason)
                unknown = self._unknown.setdefault(key, Unknown(reason, reason.places))
                unknown.found(reason, path)
            except Exception as error:
                failed = error
            if failed is not None:
                if not may_stand_in(failed, self.fallback):
                    raise_as_python(failed, self.f, args, kwargs)
                self._unknown[key], out = first_run(self.__name__, failed, self.f, args, kwargs)
                return out
            if s is not None:
                tried.append(s)
                if name is not None:
                    self._recalled |= recalled.keep(
                        name, structure, s.traced, s.kernel, s.threads, self.f, args, kwargs
                    )
                # here, where no other thread's trace has its own values in what is read
                values = [] if unknown is not None else s.traced.arguments(self.f, args, kwargs)
        if s is not None:
            if unknown is not None:
                out = self._known((s,), args, kwargs, False)
                return out if out is not _MISSED else unknown.run(self.f, args, kwargs)
            try:
                return self._run(s, values, args, kwargs)
            except GuardMiss as miss:  # what Python's functions give was not foreseen
                if not self._learnt(s, miss) and not s.traced.missed(self.f, args, kwargs):
                    raise
            return self._slow(*args, **kwargs)
        if again:
            out = self._known(tried[-1:], args, kwargs, ones)
            return self._slow(*args, **kwargs) if out is _MISSED else out
        assert unknown is not None
        return unknown.run(self.f, args, kwargs)

    def _follow(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call as part of a trace, or of what is differentiated eagerly outside."""
        from jitad.trace import hooks  # not needed for what is found on disk

        outside = ongoing.current()
        with nullcontext() if outside is None else outside.remembering(self.memory):
            return hooks.call(self.f, *args, **kwargs)

    def _recall(
        self, name: str, structure: Structure, tried: list[Specialisation], args: Any,
        kwargs: Any, why: str,
    ) -> bool:  # fmt: skip
        """Was the trace found that another process has made?"""
        found = recalled.found(name, structure, self._recalled, self.f, args, kwargs)
        if found is not None:
            s = Specialisation(
                found.traced, found.kernel, why, threads=found.threads, kept=found.tape
            )
            tried.append(s)
            self._all.append(s)
        return found is not None

    def _flat(self, args: Any, kwargs: Any) -> tuple[list[Any], Structure]:
        """The arguments' leaves, and where they are; long lists are leaves."""
        leaves, structure = flatten((args, kwargs))
        if len(leaves) > LONG:
            leaves, structure = flatten(packed((args, kwargs)))
        return as_numbers(leaves), structure

    def _known(self, tried: Sequence[Specialisation], args: Any, kwargs: Any, ones: bool) -> Any:
        """The result by the first of these specialisations that will do."""
        for s in tuple(tried):
            if s.from_types and ones:
                continue
            with ongoing.alone():  # what is checked is what is read
                missed = s.traced.missed(self.f, args, kwargs)
                values = [] if missed else s.traced.arguments(self.f, args, kwargs)
            if missed and all(g.kind in ("disjoint", "alone") for g in missed):
                return self._run(s, values, args, kwargs)
            # a number that changes is an input from now on
            changed = (g for g in missed if g.kind == "value" and _is_number(g.expected))
            self._dynamic |= {g.path for g in changed}
            if not missed:
                try:
                    return self._run(s, values, args, kwargs)
                except GuardMiss as miss:
                    self._learnt(s, miss)
        return _MISSED

    def _learnt(self, s: Specialisation, miss: GuardMiss) -> bool:
        """Did it find a new key in a dict?  Kernels made from now on foresee them there."""
        pos = s.new_key(miss)
        if pos is None or pos in self._tabled:
            return False
        self._tabled |= {pos}
        for tried in self._by_key.values():
            tried[:] = [t for t in tried if t is not s]
        return True

    def _run(
        self, s: Specialisation, values: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        called = s.traced.guards, self.f, args, kwargs
        wrong = overlap(*called)
        if not s.traced.commits:  # else what is written says more of what is the matter
            wrong = wrong or twice(*called)
        if wrong is not None:
            if not may_stand_in(wrong, self.fallback):
                raise wrong
            return first_run(self.__name__, wrong, self.f, args, kwargs)[1]
        while True:
            try:
                flat = native.call(s.kernel.dispatcher, s.traced.tape.body.params, values)
                break
            except RoomMiss as error:
                short = [r for r in s.traced.rooms if r.message == error.case]
                if not short:
                    raise
                for room in short:
                    room.grow()
                with ongoing.alone():
                    values = s.traced.arguments(self.f, args, kwargs)
            except JitadExtentError as miss:
                return self._exactly(s, miss, args, kwargs)
        leaves, structure = self._flat(args, kwargs)  # before what they hold is written to
        out = finish(s.traced, flat, self.f, args, kwargs)
        self._enter(s, leaves, structure, bool(kwargs))
        return out

    def _exactly(
        self, general: Specialisation, miss: JitadExtentError, args: Any, kwargs: Any
    ) -> Any:
        """The result where a kernel can't take the extents that it found: by one made for them, or
        eagerly, where they depend on numbers."""
        tried = self._exact.setdefault(general, [])
        if general.exact or type(miss) not in general.traced.misses:
            raise miss
        try:
            out = self._known(tried, args, kwargs, False)
            if out is _MISSED:
                leaves, structure = flatten((args, kwargs))
                with ongoing.alone():
                    some, named = unflatten(structure, abstract_leaves(self.f, leaves, structure))
                    tried.append(self._specialise_exactly(some, named, miss))
                out = self._known(tried[-1:], args, kwargs, False)
        except JitadExtentError as error:
            if not tried or not may_stand_in(error, self.fallback):
                raise
            if general in self._unknown:
                return self._unknown[general].run(self.f, args, kwargs)
            self._unknown[general], out = first_run(self.__name__, error, self.f, args, kwargs)
        if out is _MISSED:
            raise miss
        return out

    def _specialise_exactly(self, args: Any, kwargs: Any, miss: JitadExtentError) -> Specialisation:
        try:
            return self._specialise(args, kwargs, "these extents", exact=True)
        except JitadError as error:
            raise (error if isinstance(error, (ValueError, IndexError)) else miss) from None

    def _enter(
        self, s: Specialisation, leaves: list[Any], structure: Structure, named: bool
    ) -> None:
        """From now on, calls like this one go straight to the kernel."""
        if len(leaves) > _MOST_LEAVES:
            return
        key = (s, structure, tuple(map(type, leaves)))
        if key not in self._entries:
            made = python_entry(
                s.traced, s.kernel.dispatcher, self.f, structure, leaves, self._slow, self._call,
                s.from_types,
            )  # fmt: skip
            self._entries[key] = made or self._slow
        if named:
            self._named = self._entries[key]
        else:
            self._fast, self._like = self._entries[key], (key, list(map(stand_in, leaves)))
            if key not in self._shortcuts:
                self._shortcuts[key] = self._shortcut(s, structure, leaves)
            self.__call__ = self._shortcuts[key] or self._fast

    def _shortcut(self, s: Specialisation, structure: Any, leaves: list[Any]) -> Any:
        if s.from_types:
            return None
        return shortcut(s.traced, s.kernel.dispatcher, self.f, structure, leaves, self._call,
                        self._kind_of_out())  # fmt: skip

    def _specialise(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], why: str, from_types: bool = False,
        path: Decisions | None = None, exact: bool = False,
    ) -> Specialisation:
        if len(self._all) >= _MOST:
            raise JitadError(
                f"{self.__name__} was specialised {len(self._all)} times", None,
                "Something that it relies on changes at every call; see .specialisations.",
            )  # fmt: skip
        dynamic = frozenset[Path]() if exact else self._dynamic
        known = dynamic, path, self.memory, exact, self._tabled
        with undisturbed():
            from jitad.trace.trace import trace  # not needed for what is found on disk

            try:
                traced = trace(self.f, args, kwargs, *known)
            except JitadExtentError:  # met while tracing; no kernel has to run to find it
                if exact or from_types:
                    raise
                return self._specialise(args, kwargs, "these extents", path=path, exact=True)
            # for native callers there is no first call to learn from
            if not from_types and not self._seen.issuperset(traced.guessed):
                raise Guessed(traced.guessed)
            made, threads = kernel_for(traced.tape, self.threads)
            s = Specialisation(traced, made, why, from_types, threads, exact)
        self._all.append(s)
        return s

    # -- from native code -----------------------------------------------------------------------

    def compile(self, *signature: Any) -> Compiled:
        """Compile ahead of time; gives the object itself.

        `signature`: for every argument a Numba type (`numba.float64[:]`), or a value of the type.
        """
        self.entry(tuple(map(as_numba_type, signature)), signature)
        return self

    def address(self, *signature: Any) -> int:
        """The address of a C function for these argument types; see `jitad.emit.capi`."""
        kinds = tuple(map(as_numba_type, signature))
        return capi.address(self.entry(kinds, signature), kinds)

    def entry(self, argument_types: tuple[Any, ...], values: tuple[Any, ...] = ()) -> Any:
        """The dispatcher that `@njit` callers with these Numba types are linked to.

        What must be known of the arguments is taken from literal types, from `values`, or else
        from the newest specialisation for such types.
        """
        kinds = tuple(numba_types.unliteral(t) for t in argument_types)
        leaves, structure = of_types(kinds)
        given = (*values, *argument_types[len(values) :])
        args = tuple(map(with_value, unflatten(structure, leaves)[0], given))
        with ongoing.alone():
            known = self._by_key.setdefault((structure, tuple(map(key_of_type, leaves))), [])
            if not any(serves(s.traced, self.f, args) for s in known):
                known.append(self._specialise(args, {}, "a call from native code", True))
            s = [s for s in known if serves(s.traced, self.f, args)][-1]
            if (s, kinds) not in self._native:
                compiled = s.kernel.dispatcher
                self._native[s, kinds] = native_entry(s.traced, compiled, self.f, kinds)
            return self._native[s, kinds]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


COMPILED.add(Compiled)
