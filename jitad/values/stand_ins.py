"""Which objects of libraries can a function look into: sparse matrices, splines, distributions?

A `StandIn` takes the place of such an object where it is met.  It has the object's methods, over
its parts, which are read by name: in a trace a sparse matrix's numbers are inputs, as those of an
array would be, so nothing is baked into a kernel.  `stands_for(kinds)` enters one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from jitad.errors import JitadTypeError
from jitad.values import registry
from jitad.values.kind import fail, missing

# The attribute of a name, as trace or engine have it; with a second name that of what a method
# of this name gives.  Without a name: the object itself, of which another one is another matter.
Read = Callable[..., Any]
_makers: dict[type, Callable[[Any, Read], Any]] = {}


class StandIn:
    """What stands for an object; `_original` is that, where its parts are plain."""

    _original: Any = None
    _given: Mapping[str, Any] = MappingProxyType({})  # attributes as they were read
    _what = "object"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_original":
            raise AttributeError(name)
        if name in self._given:
            return self._given[name]
        if self._original is not None:
            return getattr(self._original, name)
        raise missing(f"{name!r} of a {self._what} is not supported on traced or differentiated "
                      "values", "Use it outside, and pass the result.")  # fmt: skip

    def _takes(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        """What a library's function gives for the object, where it is not asked itself."""
        return NotImplemented

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise fail(JitadTypeError, f"a {self._what} can't become a NumPy array here")

    def whole(self) -> Any:
        """The array that `np.asarray` makes of it; None where that is nothing to be made here."""
        return None

    def lent(self) -> Any:
        """The object itself, for library code that knows nothing of stand-ins."""
        if self._original is None:
            raise fail(JitadTypeError, f"this function is not supported on a {self._what} whose "
                       "numbers are traced", "Call it outside, and pass the result.")  # fmt: skip
        return self._original


def stands_for(*kinds: type) -> Callable[[Callable[[Any, Read], Any]], Any]:
    """Enter what makes the stand-in of an object of these classes."""

    def enter(make: Callable[[Any, Read], Any]) -> Callable[[Any, Read], Any]:
        for kind in kinds:
            _makers[kind] = make
        return make

    return enter


def maker(value: Any) -> Callable[[Any, Read], Any] | None:
    """What makes the stand-in of a value; None where it needs none."""
    kind = type(value)
    found = _makers.get(kind)
    if found is None and registry.waiting and kind.__module__.startswith("scipy."):
        if registry.enter_later():
            return maker(value)
    return found


def lent(given: Any) -> Any:
    """Arguments, in a tuple or dict, with the objects themselves for their stand-ins."""
    parts = given.values() if isinstance(given, dict) else given
    if not any(isinstance(v, StandIn) for v in parts):
        return given
    own = [v.lent() if isinstance(v, StandIn) else v for v in parts]
    return dict(zip(given, own, strict=True)) if isinstance(given, dict) else tuple(own)


def adopt(value: Any) -> Any:
    """A plain object as its stand-in; anything else as it is."""
    make = maker(value)
    if make is None:
        return value

    def read(name: str, via: str = "") -> Any:
        if not name:
            return value
        return getattr(getattr(value, via)() if via else value, name)

    out = make(value, read)
    out._original = value
    return out
