"""What does a function read besides its arguments, and where is it found at the next call?

Floats and arrays that are read from globals, closure cells, attributes and containers become
inputs of the tape: nothing is baked in.  Everything else (ints, texts, functions, lengths of lists)
is static, and guarded.  Both are found again by a `Path` from the function or its arguments, so
that functions that differ only in what they close over share a kernel.  Lists and dicts from
outside have their elements replaced by inputs while the trace runs.
"""

from __future__ import annotations

import importlib
import inspect
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from jitad.errors import GuardMiss, JitadError, JitadTypeError
from jitad.structured import field_names, has_fields, layout_of
from jitad.structures import as_pythons, identity
from jitad.tape.build import Builder, Leaf
from jitad.tape.ir import Atom, Lit, Var, lit
from jitad.tape.types import DTYPES, Array, Scalar, type_of_constant
from jitad.trace.around.containers import read_container, read_tuple, read_whole
from jitad.trace.around.libraries import CACHED, is_fixed_by_numba, is_library, is_library_thing
from jitad.trace.around.objects import check_visible, holds_attributes, is_unchanging
from jitad.trace.around.paths import (
    PLAIN_ARRAYS,
    Guard,
    Input,
    Path,
    Root,
    of_type,
)
from jitad.trace.joins.unset import UNSET, Perhaps
from jitad.values.array import ArrayHandle
from jitad.values.complexes.number import Complex
from jitad.values.journal import MISSING, found
from jitad.values.layout import GAPPED, LOOSE, Given, Source
from jitad.values.memory import is_as_needed
from jitad.values.number import Number
from jitad.values.numpy.structured import of_parts
from jitad.values.stand_ins import maker

WRITTEN_OUT = 16  # so many elements of an array that the trace has made are literals
MAX_KNOWN = 1_000  # numbers of an array of ints that a call may be compiled for
MAX_NUMBERS = 1_000  # that are inputs of their own; compile time grows with their square
MAX_ARRAYS = 500  # the same of arrays


class TooManyInputs(JitadError):
    """What is outside comes apart into more of them than a kernel can have."""


@dataclass(eq=False)
class Captures:
    """What one trace reads from outside."""

    builder: Builder
    dynamic: frozenset[Path] = frozenset()  # numbers that are inputs because they have changed
    names: tuple[str, ...] = ()  # of the function's parameters
    inputs: list[Input] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)
    constants: list[tuple[Var, np.ndarray]] = field(default_factory=list)
    _known: dict[Path, Any] = field(default_factory=dict)
    _paths: dict[int, tuple[Any, Path]] = field(default_factory=dict)
    _arrays: dict[int, ArrayHandle] = field(default_factory=dict)
    handles: dict[int, tuple[Path, Any]] = field(default_factory=dict)
    _complexes: dict[int, tuple[Path, Any, Complex]] = field(default_factory=dict)
    _arrays_with_fields: dict[int, tuple[Path, Any, Any]] = field(default_factory=dict)
    _numbas_own: dict[int, tuple[Path, Any, Any]] = field(default_factory=dict)
    _lengths: dict[int, int] = field(default_factory=dict)
    _looked_into: set[int] = field(default_factory=set)
    _restores: list[Callable[[], None]] = field(default_factory=list)
    came_apart: frozenset[Any] = frozenset()  # where lists of floats are that come apart
    needless: set[Any] = field(default_factory=set)  # those that might
    contents: bool = False  # the numbers in arrays of ints, and extents, must be known
    ints: set[Any] = field(default_factory=set)  # where such arrays are, or their names
    known_floats: bool = False  # plain numbers from outside must be known
    floats: set[Path] = field(default_factory=set)  # where they are that are not
    scratch: dict[int, Any] = field(default_factory=dict)  # what derivatives have written to
    arrays: int = 0  # inputs
    copied: set[Path] = field(default_factory=set)  # long lists of what others may write to
    columns: set[Var] = field(default_factory=set)  # of long lists: what they hold is never known
    orders: dict[Path, str] = field(default_factory=dict)  # of arrays that don't lie in C order
    keys: dict[int, Path] = field(default_factory=dict)  # what is told apart by `id`
    _sources: list[Source] = field(default_factory=list)

    def name_of(self, position: int) -> str:
        """What the user calls an argument."""
        return self.names[position] if position < len(self.names) else f"x{position}"

    # -- where things are ---------------------------------------------------------------------

    def register(self, thing: Any, path: Path, whole: bool = False) -> None:
        """The thing is found at this path; `whole`: the trace has its elements, too."""
        self._paths.setdefault(id(thing), (thing, path))
        if whole:
            self._looked_into.add(id(thing))

    def path_of(self, thing: Any) -> Path | None:
        known = self._paths.get(id(thing))
        return known[1] if known else None

    def known(self) -> list[tuple[Any, Path]]:
        """All that was found."""
        return list(self._paths.values())

    def register_function(self, f: FunctionType) -> None:
        """A function from outside is called: its cells and globals are found through it."""
        path = self.path_of(f)
        if path is None:
            return
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            self.register(cell, path.then("cell", name))
        if id(f.__globals__) not in self._paths:
            self._paths[id(f.__globals__)] = (f.__globals__, path)

    def looks_into(self, thing: Any) -> bool:
        """True of a list whose elements the trace has read."""
        return id(thing) in self._looked_into

    def length_of(self, thing: list[Any]) -> int:
        """How long a list was that is only appended to."""
        return self._lengths.setdefault(id(thing), len(thing))

    # -- reading ------------------------------------------------------------------------------

    def read(self, path: Path, value: Any, whole: bool = True) -> Any:
        """The value at a path outside, as the trace has it: an input, or guarded.

        A list that is only appended to (`whole` is False) is not looked into.
        """
        if not whole and type(value) is list and path not in self._known:
            self.register(value, path)
            return value
        if isinstance(value, (Number, ArrayHandle, Complex, Perhaps)) or value is UNSET:
            return value
        if path in self._known:
            return self._known[path]
        out = self._known[path] = self._read(path, value)
        return out

    def rely_on_none(self, path: Path) -> None:
        """Nothing is there, and so it must be."""
        if path not in self._known:
            self._known[path] = MISSING
            self.guards.append(Guard(path, "missing", None))

    def _read(self, path: Path, value: Any) -> Any:
        if (python := as_pythons(value)) is not None:
            return self._numbas(path, value, python)
        make = maker(value)
        if make is not None:
            return self._standing(path, value, make)
        if has_fields(value):
            return self._with_fields(path, value)
        match value:
            case Enum():  # which never changes, but may be another one's turn
                return self._thing(path, value, Guard(path, "is", value))
            case str() | bytes() | int() | float() | complex() if _is_of_users(type(value)):
                self.guards.append(Guard(path, "value", value))
                self.register(value, path)  # it may have attributes
                return value
            case complex() | np.complexfloating():
                return self._complex(path, value, Guard(path, "type", type(value)))
            case np.ndarray() if value.ndim and value.dtype.kind == "c":
                return self._complex_array(path, value)
            case np.floating() if value.dtype.str[1:] not in DTYPES:
                self.guards.append(Guard(path, "value", value))
                return value
            case float() | np.floating():
                if path not in self.dynamic:
                    if self.known_floats or abs(value) == np.inf:  # an end of an integral, say
                        self.guards.append(Guard(path, "value", value))
                        return value
                    self.floats.add(path)
                return self._input(path, type_of_constant(value))
            case np.ndarray() if not value.ndim:
                return self.read(path.then("item", ()), value[()])
            case np.ndarray():
                return self._array(path, value)
            case bool() | int() | np.integer() | np.bool_() if (
                path in self.dynamic and of_type(value, type_of_constant(value))
            ):
                return self._input(path, type_of_constant(value), value=value)
            case bool() | int() | np.generic() | str() | bytes() | None:
                self.guards.append(Guard(path, "value", value))
                return value
            case FunctionType():
                if value.__closure__ and is_library(value):  # what it wraps is not looked into
                    self.guards.append(Guard(path, "is", value))
                return self._thing(path, value, Guard(path, "code", value.__code__))
            case MethodType():  # its function and its object are read when it is called
                return self._thing(path, value, Guard(path, "type", MethodType))
            case type() | ModuleType():
                self.guards.append(Guard(path, "is", value))
                if not is_library_thing(value):
                    self.register(value, path)
                return value
            case tuple() if not hasattr(type(value), "n_sequence_fields"):  # of C: as a whole
                return read_tuple(self, path, value)
            case list() | dict() if type(value) in (list, dict):
                return read_container(self, path, value)
            case list() | dict() | set() | frozenset() | deque() | tuple():
                return read_whole(self, path, value)
        if isinstance(inspect.getattr_static(value, "py_func", None), FunctionType):
            inner = path.then("attr", "py_func")
            self._thing(path, value, Guard(inner, "code", value.py_func.__code__))
            if importlib.import_module("jitad.operators.declared").converts(value):
                self.guards.append(Guard(path, "is", value))  # how is not looked at
            self.register(value.py_func, inner)
            return value
        if callable(value) and type(value).__module__ == "builtins":
            self.guards.append(Guard(path, "is", value))
            return value
        # nobody looks into functions that keep their results, nor into what Numba makes of some
        if isinstance(value, (np.ufunc, CACHED)) or is_fixed_by_numba(value):
            return self._thing(path, value, Guard(path, "is", value))
        check_visible(value, path, self.builder.pos)
        if is_unchanging(value):
            self.guards.append(Guard(path, "unchanged", value))
            self.register(value, path)
            return value
        kind = "type" if holds_attributes(value) else "is"
        return self._thing(path, value, Guard(path, kind, type(value) if kind == "type" else value))

    def _thing(self, path: Path, value: Any, guard: Guard) -> Any:
        """An object whose parts are found through one path: what is read at another is the same."""
        known = self.path_of(value)
        if known is not None and known != path:
            guard = Guard(path, "same", known)
        self.guards.append(guard)
        self.register(value, path)
        return value

    def _standing(self, path: Path, value: Any, make: Callable[[Any, Any], Any]) -> Any:
        """What stands for an object of a library: its parts are read one by one."""
        self._thing(path, value, Guard(path, "type", type(value)))

        def read(name: str, via: str = "") -> Any:
            at, thing = path, value
            if not name:
                self.guards.append(Guard(path, "is", value))
                return value
            if via:
                at, thing = path.then("call", via), getattr(value, via)()
            return self.read(at.then("attr", name), getattr(thing, name))

        with self.builder.at_root():  # what it computes of its parts serves all places
            return make(value, read)

    def _numbas(self, path: Path, value: Any, out: Any) -> Any:
        """What Numba holds, as Python's: it is read and written as what it stands for."""
        self.guards.append(Guard(path, "type", type(value)))
        first, _, known = self._numbas_own.setdefault(identity(value), (path, value, out))
        if first != path:
            self.guards.append(Guard(path, "same", first))
            return known
        if isinstance(out, (list, dict)):
            return read_container(self, path, out, value)
        self.register(out, path)
        return out

    def given(self, handle: ArrayHandle, path: Path, content: Any) -> ArrayHandle:
        """The handle of an array from outside, which is asked how it lies: see `keep_in_order`."""
        source, order = Source(path, content), self.orders.get(path, "")
        handle._order = order or handle._order
        if order != LOOSE:
            handle._given = (Given("ascending" if order else "whole", (source,)),)
        self._sources.append(source)
        return handle

    def keep_in_order(self) -> frozenset[tuple[Path, str]]:
        """What is reshaped, and written, lies in C order in other calls, too.

        Gives what doesn't: with that known, the trace must start anew.
        """
        others = set()
        for source in self._sources:
            for need in sorted(source.needs()):
                if source.content is None or is_as_needed(source.content, need):
                    self.guards.append(Guard(source.path, "order", need))
                else:
                    ascending = is_as_needed(source.content, "ascending")
                    others.add((source.path, GAPPED if ascending else LOOSE))
        return frozenset(others)

    def replace(
        self, path: Path | None, read: Callable[[], Any], assign: Callable[[Any], None]
    ) -> None:
        """Before a place outside is written: let it hold its value as the trace has it."""
        value = read()
        if path is not None and value is not MISSING:
            new = self.read(path, value)
            if new is not value:
                assign(new)
                self._restores.append(lambda: assign(value))

    def restore(self) -> None:
        """Give the places outside their own values back, and let go of the arguments' arrays."""
        while self._restores:
            self._restores.pop()()
        for source in self._sources:
            source.content = None

    def _array(self, path: Path, value: np.ndarray) -> ArrayHandle:
        known = self._arrays.get(id(value))
        if known is not None:
            here, _ = self.handles[id(known)]
            if here != path:  # the two names must go on to mean one array
                self.guards.append(Guard(path, "same", here))
            return known
        if type(value) not in PLAIN_ARRAYS:
            raise JitadTypeError(
                f"{path} is a {type(value).__name__}, whose arithmetic is its own",
                self.builder.pos, "Make it an ordinary array: np.asarray(a).",
            )  # fmt: skip
        if value.dtype.str[1:] not in DTYPES or not value.dtype.isnative:
            raise JitadTypeError(
                f"{path} is an array of {value.dtype}", self.builder.pos,
                "Only arrays of integers, and of floats of 32 and 64 bits, in the machine's byte "
                "order, can be traced.",
            )  # fmt: skip
        if self.must_be_known(path, value):
            handle = self.known_array(path, value)
        else:
            leaf = self._input(path, Array(value.dtype.str[1:], value.ndim), value.shape)
            handle = self.given(ArrayHandle(leaf), path, value)
            self.register(handle, path)
        found(handle)
        self._arrays[id(value)] = handle
        self.handles[id(handle)] = (path, value)
        return handle

    def must_be_known(self, path: Path, value: np.ndarray) -> bool:
        """Whether this is an array of ints, or of bools, whose numbers the trace has to know."""
        if value.dtype.kind not in "biu" or value.size > MAX_KNOWN:
            return False
        self.ints.add(path)
        return self.contents

    def known_array(self, path: Path, value: np.ndarray) -> ArrayHandle:
        """An array from outside as it is now, which a guard asks for."""
        self.guards.append(Guard(path, "content", value.copy()))
        handle = ArrayHandle(value.copy())
        self.register(handle, path)
        return handle

    def _complex(self, path: Path, value: Any, guard: Guard) -> Complex:
        self.guards.append(guard)
        parts = (self.read(path.then("attr", k), getattr(value, k)) for k in ("real", "imag"))
        return self.whole(Complex(*parts), path, value.real)

    def whole(self, z: Complex, path: Path, real: Any = None) -> Complex:
        """The parts of an array that is an input have the same extents, and lie as it does."""
        if isinstance(z.re, ArrayHandle):
            z.im.peek().atom.shape = z.re.peek().atom.shape
            if isinstance(real, np.ndarray):  # both lie as pairs of them do
                real = as_strided(real, (*real.shape, 2), (*real.strides, real.itemsize))
            apart = {s for part in (z.re, z.im) for g in part._given for s in g.of}
            self._sources = [s for s in self._sources if s not in apart]
            self.given(z.re, path, real)
            z.im._given, z.im._order = z.re._given, z.re._order
        return z

    def _complex_array(self, path: Path, value: np.ndarray) -> Complex:
        if id(value) not in self._complexes:
            guard = Guard(path, "dtype", Array(value.dtype.str[1:], value.ndim))
            self._complexes[id(value)] = (path, value, self._complex(path, value, guard))
            self.register(self._complexes[id(value)][2], path)
        here, _, known = self._complexes[id(value)]
        if here != path:
            self.guards.append(Guard(path, "same", here))
        return known

    def _with_fields(self, path: Path, value: Any) -> Any:
        """An array with fields, or an element of one; each field of numbers is read."""
        layout = layout_of(value)
        self.guards.append(Guard(path, "fields", layout))
        first = self._arrays_with_fields.get(id(value))
        if first is not None:
            here, _, known = first
            self.guards.append(Guard(path, "same", here))
            return known
        names = field_names(value.dtype)
        out = of_parts([self.read(path.then("item", n), value[n]) for n in names], layout, True)
        self._arrays_with_fields[id(value)] = (path, value, out)
        self.register(out, path)
        return out

    # -- inputs -------------------------------------------------------------------------------

    def _input(
        self, path: Path, type: Scalar | Array, extents: Any = None, value: Any = None
    ) -> Leaf:
        name = next((str(k) for _, k in reversed(path.steps) if isinstance(k, str)), "")
        var = self.add_input(type, name, extents)
        self.inputs.append(Input(path, type, var))
        self.guards.append(Guard(path, "dtype", type))
        if isinstance(value, (int, np.integer, np.bool_)):
            self.builder.examples[var] = value
        return Leaf(self.builder, var)

    def add_input(self, type: Scalar | Array, name: str, extents: Any = None) -> Var:
        """A parameter of the tape; axes of extent 1 are literal, the others are not 1.

        Where contents must be known, so must all extents.
        """
        b = self.builder
        arrays = isinstance(type, Array)
        what, most = ("arrays", MAX_ARRAYS) if arrays else ("numbers", MAX_NUMBERS)
        self.arrays += arrays
        if (self.arrays if arrays else len(b.blocks[0].params)) > most:
            raise TooManyInputs(
                f"more than {most} {what} are read one by one, such as those of {name}",
                b.pos, "Put them into an array.",
            )  # fmt: skip
        with b.at_root():
            var = b.input(type, name)
            if extents is not None and isinstance(type, Array):
                self.ints |= {name} if extents else set()
                shape: list[Atom] = []
                for n, dim in zip(extents, var.shape, strict=True):
                    fixed = n == 1 or self.contents
                    test = b.emit("eq", dim, lit(n)) if fixed else b.emit("ne", dim, lit(1))
                    what = f"an extent of {name} is {n if fixed else 'not 1'}"
                    b.emit("check", test, exception=GuardMiss, message=what)
                    shape.append(lit(n) if fixed else dim)
                    b.examples[dim] = n
                var.shape = tuple(shape)
            return var

    def constant(self, array: np.ndarray) -> Atom:
        """An array that the trace itself has made; of few elements, it is written out."""
        if array.ndim and 0 < array.size <= WRITTEN_OUT:
            kind = Scalar(array.dtype.str[1:])
            b = self.builder
            packed = b.emit("pack", *(Lit(e, kind) for e in array.ravel()))
            return b.emit("reshape", packed, *map(lit, array.shape)) if array.ndim > 1 else packed
        for var, known in self.constants:
            if known is array:
                return var
        var = self.add_input(Array(array.dtype.str[1:], array.ndim), "constant", array.shape)
        self.constants.append((var, array))
        self.inputs.append(Input(Path(Root(array)), var.type, var))  # type: ignore[arg-type]
        return var


def _is_of_users(kind: type) -> bool:
    """Is it a class of numbers or texts that the user has written, or a library for him?"""
    return kind.__module__ not in ("builtins", "numpy")
