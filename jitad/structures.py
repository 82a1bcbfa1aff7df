"""How do structured values (pytrees) come apart into leaves, and together again?

Tuples, lists, dicts, NamedTuples, dataclasses and registered classes are nodes; so are complex
numbers and arrays, whose leaves are their parts, and arrays with fields; `None` is a node without
leaves; anything else is a leaf.  A `Structure` is what is left when the leaves are taken
out: it can be compared, hashed and filled with other leaves.  Places are named as in Python:
`['w'][0].bias`.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from functools import cache
from types import MemberDescriptorType
from typing import Any

import numpy as np

from jitad.errors import JitadValueError
from jitad.immutable import immutable
from jitad.structured import (
    KINDS,
    TRACED,
    WithFields,
    array_of,
    check_fields,
    field_names,
    has_fields,
    layout_of,
)


class GenericZero:
    """The zero of every space of tangents or sensitivities; there is one, `ZERO`."""

    def __repr__(self) -> str:
        return "ZERO"

    def __reduce__(self) -> str:
        return "ZERO"


ZERO = GenericZero()


@immutable(slots=True)
class Structure:
    """A node with its children, or a leaf (kind None)."""

    kind: type | None
    keys: tuple[Hashable, ...] = ()  # one an element: dict keys, field names, indices
    children: tuple[Structure, ...] = ()
    extra: Hashable = None  # what else a registered class needs to be made again

    @property
    def size(self) -> int:
        """How many leaves it takes."""
        return 1 if self.kind is None else sum(c.size for c in self.children)

    def paths(self, prefix: str = "") -> Iterator[str]:
        """The place of every leaf."""
        if self.kind is None:
            yield prefix
            return
        for key, child in zip(self.keys, self.children, strict=True):
            yield from child.paths(prefix + step(self.kind, key))

    def parts_of_complex(self, is_part: bool = False) -> Iterator[bool]:
        """Of every leaf, whether it is a part of a complex number or array."""
        if self.kind is None:
            yield is_part
        for child in self.children:
            yield from child.parts_of_complex(self.kind is complex)


    def check_fields(self) -> None:
        """Structured of other things than numbers would be lost where a function hands them on."""
        if self.kind is WithFields:
            check_fields(self.extra)  # type: ignore[arg-type]
        for child in self.children:
            child.check_fields()


LEAF = Structure(None)
_NONE = Structure(type(None))

Parts = tuple[tuple[Any, ...], Hashable]


@immutable(slots=True)
class Node:
    """How a registered class comes apart and together."""

    parts: Callable[[Any], Parts]
    whole: Callable[[tuple[Any, ...], Hashable], Any]
    place: Callable[[Any], int] = id  # the same of two objects that are one thing


_registered: dict[type, Node] = {}
traced_complex: list[tuple[type, Callable[[Any, Any], Any]]] = []  # and what makes plain ones
_leaf_kinds: set[type] = set()  # classes known to be no nodes
# What registers the classes of Numba's, by their modules, when such a thing is met.
_LATER = dict.fromkeys(
    ("numba.typed.typedlist", "numba.typed.typeddict", "numba.experimental.jitclass.boxing"),
    "jitad.operators.from_numba",
)


def register_structure(
    kind: type, parts: Callable[[Any], Parts], whole: Callable[[tuple[Any, ...], Hashable], Any]
) -> None:
    """Let instances of `kind` be structures: `whole(*parts(value))` is an equal value.

    Parameters
    ----------
    kind : the class.
    parts : gives the children (floats, arrays of any shape and dtype, structures) as a tuple, and
        a hashable rest that has no derivative.
    whole : makes an instance of such children and rest.

    Returns
    -------
    None.  From now on, arguments and results may be or contain instances of the class.

    Raises
    ------
    JitadTypeError : (later) a class that is not registered is differentiated.

    Source: pytrees, as JAX and Optax use them.

    >>> from jitad import grad, register_structure
    >>> class Line:
    ...     def __init__(self, slope, offset):
    ...         self.slope, self.offset = slope, offset
    >>> register_structure(
    ...     Line, lambda line: ((line.slope, line.offset), None), lambda parts, _: Line(*parts)
    ... )
    >>> g = grad(lambda line: 2.0 * line.slope + line.offset)(Line(3.0, 1.0))
    >>> g.slope, g.offset
    (2.0, 1.0)
    """
    enter(kind, Node(parts, whole))


def enter(kind: type, node: Node) -> None:
    """From now on, instances come apart and together so."""
    _registered[kind] = node
    _leaf_kinds.discard(kind)


def identity(thing: Any) -> int:
    """The same of two objects that are one thing: Numba makes a new one at each read of its own."""
    node = _registered.get(type(thing))
    return id(thing) if node is None else node.place(thing)


def is_one(a: Any, b: Any) -> bool:
    """Are two names of one thing?"""
    return a is b or (type(a) is type(b) and identity(a) == identity(b))


def flatten(value: Any) -> tuple[list[Any], Structure]:
    """The leaves in order, and the structure that they came from."""
    leaves: list[Any] = []
    return leaves, _flatten(value, leaves)


def unflatten(structure: Structure, leaves: Any) -> Any:
    """A value of this structure with these leaves."""
    return _build(structure, iter(leaves))


def map_structure(f: Callable[[Any], Any], value: Any) -> Any:
    """The value with `f` applied to every leaf."""
    leaves, structure = flatten(value)
    return unflatten(structure, map(f, leaves))


def is_node(value: Any) -> bool:
    """False for leaves."""
    return _parts(value) is not None


def registered(kind: type) -> Node | None:
    """How instances of a registered class come apart and together; None of other classes."""
    return _registered.get(kind)


def children_of(value: Any) -> tuple[tuple[Hashable, ...], tuple[Any, ...]] | None:
    """Keys and children of a node, None for a leaf."""
    parts = _parts(value)
    return None if parts is None else parts[:2]


def rebuilt(node: Any, children: Any) -> Any:
    """A node like this one, with other children."""
    keys, old, extra = _parts(node)  # type: ignore[misc]
    structure = Structure(_kind(node), keys, (LEAF,) * len(old), extra)
    return _build(structure, iter(children))


def conform(value: Any, structure: Structure, what: str, like: str) -> list[Any]:
    """The leaves of a value that must have the given structure, or an error naming the place.

    Dictionaries may have their keys in another order.  `ZERO` stands for zeros in any place: each
    leaf there is `ZERO`.
    """
    leaves: list[Any] = []
    trouble = _take(value, structure, "", leaves)
    if trouble:
        raise JitadValueError(f"{what} must have the structure of {like}: {trouble}")
    return leaves


# -- inside ---------------------------------------------------------------------------------------


class Conjugate:
    """The kind of a node that is a sensitivity of a complex one: it is handed over conjugated."""


def sensitivities(structure: Structure) -> Structure:
    """The structure that sensitivities have.

    That of f in x + iy is df/dx - i df/dy, as in JAX: the one number c for which f changes by the
    real part of c dz.
    """
    kind = Conjugate if structure.kind is complex else structure.kind
    children = tuple(map(sensitivities, structure.children))
    return Structure(kind, structure.keys, children, structure.extra)


_COMPLEX_KEYS = ("real", "imag")


def is_complex(value: Any) -> bool:
    """True of complex numbers and arrays, traced ones among them."""
    if isinstance(value, (complex, np.complexfloating)):
        return True
    if isinstance(value, np.ndarray):
        return bool(value.dtype.kind == "c")
    return any(type(value) is kind for kind, _ in traced_complex)


def _complex(re: Any, im: Any) -> Any:
    """A complex value of these leaves, whatever they are."""
    if not traced_complex:  # nothing was traced in this process so far
        importlib.import_module("jitad.values.complexes.number")
    kind, plain = traced_complex[0]
    if all(isinstance(x, (float, np.floating, np.ndarray)) for x in (re, im)):
        return plain(re, im)
    return kind(re, im)


def _parts(value: Any) -> tuple[tuple[Hashable, ...], tuple[Any, ...], Hashable] | None:
    """Keys, children and rest of a node; None for a leaf."""
    kind: type = type(value)
    if kind is tuple or kind is list:
        return tuple(range(len(value))), tuple(value), None
    if kind is dict or kind is OrderedDict:
        return tuple(value), tuple(value.values()), None
    if value is None:
        return (), (), None
    if kind in _registered:
        children, extra = _registered[kind].parts(value)
        return tuple(range(len(children))), tuple(children), extra
    if hasattr(kind, "_fields") and is_plain_tuple(kind):
        return kind._fields, tuple(value), None
    if is_complex(value):
        return _COMPLEX_KEYS, (value.real, value.imag), None
    if has_fields(value):
        fields = field_names(value.dtype)
        return fields, tuple(value[n] for n in fields), layout_of(value)
    if kind in TRACED:
        return field_names(value.dtype), value.parts, value.layout
    if is_plain_dataclass(kind):
        held = {f.name: getattr(value, f.name) for f in dataclasses.fields(kind)}
        if not all(_is_kept(kind, n, held[n]) for n in descriptors(kind) & held.keys()):
            return None
        return tuple(held), tuple(held.values()), None
    if is_numbas(kind) and kind not in _registered:
        importlib.import_module(_LATER[kind.__module__]).enter(kind)
        return _parts(value) if kind in _registered else None
    return None


def is_numbas(kind: type) -> bool:
    """Is it a class of lists, of dicts or of objects that Numba holds?"""
    return kind.__module__ in _LATER


def as_pythons(value: Any) -> Any:
    """A list, dict or object that Numba holds, as Python's with its content; None of others."""
    kind: type = type(value)
    if not is_numbas(kind) or _parts(value) is None:
        return None
    node = _registered[kind]
    return node.whole(*node.parts(value))


def is_plain_tuple(kind: type) -> bool:
    """Is it a class of tuples of which one reads what they hold?"""
    return issubclass(kind, tuple) and all(getattr(kind, n) is getattr(tuple, n) for n in _READING)


_READING = ("__getitem__", "__iter__", "__len__")


def is_plain_dataclass(kind: type) -> bool:
    """Is it no exception, dict or the like beside, and are attributes what is stored?"""
    if not dataclasses.is_dataclass(kind) or kind.__getattribute__ is not object.__getattribute__:
        return False
    return all(c is object or c.__flags__ & _MADE for c in kind.__mro__)


_MADE = 1 << 9  # of classes that are made while a program runs (Py_TPFLAGS_HEAPTYPE)


@cache
def descriptors(kind: type) -> frozenset[str]:
    """The attributes of which the class says how they are read and set."""
    said = {k: v for c in reversed(kind.__mro__) for k, v in vars(c).items()}
    ours = {k: v for k, v in said.items() if not isinstance(v, MemberDescriptorType)}
    return frozenset(k for k, v in ours.items() if hasattr(type(v), "__set__"))


def _is_kept(kind: type, name: str, value: Any) -> bool:
    """Does a descriptor give, but for rounding, what it was set to?"""
    number = isinstance(value, (int, float, complex, np.number, np.ndarray))
    if not number and not isinstance(value, (list, tuple, dict)):
        return True  # of a traced one it is not known: the plain one before it was asked about
    try:
        out: Any = object.__new__(kind)
        object.__setattr__(out, name, value)
        read = getattr(out, name)
    except Exception:  # whatever it needs beside
        return False
    if read is value or not number:
        return read is value
    return bool(np.allclose(read, value, rtol=1e-9, atol=0.0, equal_nan=True))


def _flatten(value: Any, leaves: list[Any]) -> Structure:
    if type(value) in _leaf_kinds:
        leaves.append(value)
        return LEAF
    if value is None:
        return _NONE
    if type(value) is np.ndarray and value.dtype.kind not in "cV":
        leaves.append(value)
        return LEAF
    parts = _parts(value)
    if parts is None:
        if not isinstance(value, (np.ndarray, np.void)):  # some have parts
            _leaf_kinds.add(type(value))
        leaves.append(value)
        return LEAF
    keys, children, extra = parts
    return Structure(_kind(value), keys, tuple(_flatten(c, leaves) for c in children), extra)


def _kind(value: Any) -> type:
    if is_complex(value):
        return complex
    kind: type = type(value)
    return WithFields if kind in KINDS or kind in TRACED else kind


def _build(s: Structure, leaves: Iterator[Any]) -> Any:
    kind = s.kind
    if kind is None:
        return next(leaves)
    children = tuple(_build(c, leaves) for c in s.children)
    if kind is tuple or kind is list:
        return kind(children)
    if kind is type(None):
        return None
    if kind is complex:
        return _complex(*children)
    if kind is Conjugate:
        return _complex(children[0], -children[1])
    if kind is WithFields:
        return array_of(children, s.extra)  # type: ignore[arg-type]
    if kind in _registered:
        return _registered[kind].whole(children, s.extra)
    if issubclass(kind, tuple):
        return kind._make(children)  # type: ignore[attr-defined]
    if issubclass(kind, dict):
        return kind(zip(s.keys, children, strict=True))
    # The constructor of a dataclass may do more than assign (InitVar, __post_init__), so the
    # fields are set as they were read.
    out = object.__new__(kind)
    for name, child in zip(s.keys, children, strict=True):
        object.__setattr__(out, str(name), child)
    return out


def step(kind: type, key: Hashable) -> str:
    """A place inside a node, as in Python: `['w']`, `[0]`, `.bias`."""
    plain = issubclass(kind, (list, dict, WithFields, np.ndarray))
    named = kind not in _registered and not plain and isinstance(key, str)
    return f".{key}" if named else f"[{key!r}]"


def _name(s: Structure) -> str:
    if s.kind is None:
        return "a number or array"
    if s.kind is complex or s.kind is Conjugate:
        return "a complex number or array"
    if s.kind is WithFields:
        return "an array with fields"
    return "None" if s.kind is type(None) else f"a {s.kind.__name__}"


def _take(value: Any, want: Structure, path: str, leaves: list[Any]) -> str:
    """Append the leaves; gives what is the matter at the first place that differs, or ""."""
    if value is ZERO:
        leaves.extend([ZERO] * want.size)
        return ""
    parts = _parts(value)
    kind = None if parts is None else _kind(value)
    at = f" at {path}" if path else ""
    if want.kind is complex or want.kind is Conjugate:
        if kind is not complex and parts is not None:
            return f"expected a complex number or array{at}, got {_name(Structure(kind))}"
        if parts is None:
            leaves += [value, ZERO]
        else:
            plain = want.kind is complex or value.imag is ZERO
            leaves += [value.real, value.imag if plain else -value.imag]
        return ""
    if kind is not want.kind:
        got = f"a {type(value).__name__}" if parts is None else _name(Structure(kind))
        return f"expected {_name(want)}{at}, got {got}"
    if parts is None:
        leaves.append(value)
        return ""
    keys, children, extra = parts
    if len(keys) != len(want.keys):
        return f"expected {len(want.keys)} elements{at}, got {len(keys)}"
    named = dict(zip(keys, children, strict=True))
    if named.keys() != set(want.keys):
        return f"expected the keys {list(want.keys)}{at}, got {list(keys)}"
    if extra != want.extra:
        return f"the fixed parts{at} differ"
    for key, child in zip(want.keys, want.children, strict=True):
        trouble = _take(named[key], child, path + step(type(value), key), leaves)
        if trouble:
            return trouble
    return ""
