"""What is a text that shows traced values: an f-string, `form.format(x)`, `form % x`?

A `Text`: its parts, to be formatted when the kernel has run so far.  It may be printed, raised,
returned, stored and joined with other texts; whatever would look at the characters is refused.
"""

from __future__ import annotations

import itertools
import math
import re
import string
from collections.abc import Callable
from types import FunctionType
from typing import Any

from jitad.errors import JitadTypeError
from jitad.immutable import immutable
from jitad.structures import flatten
from jitad.tape.build import Leaf
from jitad.trace.around.telling import speaks, spoken, told
from jitad.values.array import ArrayHandle
from jitad.values.kind import fail
from jitad.values.number import Number

PERCENT = 37  # the format is one of `%`
_CONVERSIONS: dict[int, Callable[[Any], Any]] = {-1: lambda x: x, 115: str, 114: repr, 97: ascii}


@immutable
class Shown:
    """A value in a text, with the conversion (`!r`) and the format after the colon."""

    value: Any
    conversion: int
    format: str

    def __str__(self) -> str:
        if self.conversion == PERCENT:
            return self.format % (self.value,)
        return format(_CONVERSIONS[self.conversion](self.value), self.format)


@immutable(eq=False)
class Text:
    """A text of which some parts are known when the kernel runs."""

    parts: tuple[str | Shown, ...]

    def __str__(self) -> str:
        if any(isinstance(p, Shown) and is_late(p.value) for p in self.parts):
            raise JitadTypeError(
                "a text that shows a traced value is known only when the kernel runs", None,
                "Print it, raise it or return it; decide things by the value itself.",
            )  # fmt: skip
        return "".join(map(str, self.parts))

    def __add__(self, other: Any) -> Any:
        return text(self, other) if isinstance(other, (str, Text)) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return text(other, self) if isinstance(other, str) else NotImplemented

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(str, name):
            raise AttributeError(name)
        return getattr(str(self), name)

    def __format__(self, form: str) -> str:
        return format(str(self), form)

    def __float__(self) -> float:
        return float(str(self))

    def __int__(self) -> int:
        return int(str(self))

    def __complex__(self) -> complex:
        return complex(str(self))

    def __len__(self) -> int:
        return len(str(self))

    def __bool__(self) -> bool:
        return any(isinstance(p, str) for p in self.parts) or bool(str(self))

    def __iter__(self) -> Any:
        return iter(str(self))

    def __getitem__(self, index: Any) -> str:
        return str(self)[index]

    def __contains__(self, other: Any) -> bool:
        return other in str(self)

    def __eq__(self, other: object) -> bool:
        return str(self) == other

    def __hash__(self) -> int:
        return hash(str(self))

    def __mod__(self, values: Any) -> str:
        return str(self) % values


def is_late(value: Any) -> bool:
    """True of what holds a number that is not known while tracing."""
    leaves, _ = flatten(value)
    return any(
        isinstance(x, (Leaf, Text)) or (isinstance(x, ArrayHandle) and _is_traced(x))
        for x in leaves
    )


def known(*values: Any) -> None:
    """Library code makes a text of these, which it can't of what is not known."""
    if any(map(is_late, values)):
        what = "a traced number can't become a text here: its value is not known while tracing"
        raise fail(JitadTypeError, what, "Use an f-string, and print, raise or return it.")


def converted(original: Callable[..., Any], conversion: int) -> Callable[..., Any]:
    """`str` or `repr`: of what shows traced values, a text that is known later."""
    def replacement(*args: Any, **kwargs: Any) -> Any:
        value = args[0] if len(args) == 1 else None
        if isinstance(value, BaseException) and is_late(value.args):
            if conversion == 114 or not _shows_arguments(value):
                known(value.args)
            value = value.args[0] if len(value.args) == 1 else value.args
        if is_late(value):
            return text((value, conversion, ""))
        return told(original, *args) if len(args) == 1 else original(*args, **kwargs)

    return replacement


def _shows_arguments(error: BaseException) -> bool:
    return type(error).__str__ is BaseException.__str__


def _is_traced(handle: ArrayHandle) -> bool:
    content = handle.content
    return isinstance(content, Number) and isinstance(content, Leaf)


MOST_TEXTS = 16  # that are made of words which conditions chose


def _of_words(make: Callable[..., Any], values: list[Any]) -> Any:
    """The texts that these values may give, one of which it is; None where one shows a number."""
    from jitad.trace.joins.selected import spread  # which shows things
    from jitad.trace.joins.unset import Among

    chosen = [v for v in values if isinstance(v, Among)]
    if not chosen or math.prod(len(v.among) for v in chosen) > MOST_TEXTS:
        return None
    if not all(isinstance(w, (str, int)) for v in chosen for w in v.among):
        return None
    if any(is_late(v) for v in values if not isinstance(v, Among)):
        return None
    return spread(make, *values)


def f_string(*parts: Any) -> Any:
    """An f-string of the user's."""
    values = [v for p in parts if isinstance(p, tuple) for v in (p[0], p[2])]

    def made(*given: Any) -> Any:
        supply = iter(given)
        return text(*((next(supply), p[1], next(supply)) if isinstance(p, tuple) else p
                      for p in parts))  # fmt: skip

    found = _of_words(made, values)
    return text(*parts) if found is None else found


def in_errors(f: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments of an exception, with texts known later for words that conditions chose."""
    made = isinstance(f, type) and issubclass(f, BaseException)
    if made and isinstance(f.__init__, FunctionType):
        return args
    if not made and not isinstance(getattr(f, "__self__", None), BaseException):
        return args
    from jitad.trace.joins.unset import Among

    def is_word(a: Any) -> bool:
        return isinstance(a, Among) and all(isinstance(w, str) for w in a.among)

    return tuple(text((a, -1, "")) if is_word(a) else a for a in args)


def text(*parts: Any) -> Any:
    """A text: parts are texts, or tuples of value, conversion and format."""
    out: list[str | Shown] = []
    for p in parts:
        if isinstance(p, tuple):
            value, conversion, form = spoken(p[0], p[1], str(p[2]), PERCENT)
            if isinstance(value, Text) and not form and conversion in (-1, 115):
                p = value
            elif is_late(value):
                p = Shown(value, conversion, form)
            else:
                p = str(Shown(value, conversion, form))
        for q in p.parts if isinstance(p, Text) else (p,):
            if isinstance(q, str) and out and isinstance(out[-1], str):
                out[-1] += q
            else:
                out.append(q)
    if all(isinstance(p, str) for p in out):
        return "".join(out)  # type: ignore[arg-type]
    return Text(tuple(out))


# -- other ways to make one -----------------------------------------------------------------------

_NAMED = {None: -1, "s": 115, "r": 114, "a": 97}
_FIELD = re.compile(r"%(?:\((?P<key>[^)]*)\))?(?P<how>[#0\- +]*\d*(?:\.\d*)?)[hlL]?(?P<kind>.)")


def filled(form: str, values: Any) -> Any:
    """form % values, where some of them are known later."""
    if "*" in form:  # a width that is one of the values
        known(values)
    parts: list[Any] = []
    supply, end = iter(values if type(values) is tuple else (values,)), 0
    for field in _FIELD.finditer(form):
        parts.append(form[end : field.start()])
        end, key = field.end(), field["key"]
        if field["kind"] == "%":
            parts.append("%")
            continue
        try:
            value = next(supply) if key is None else values[key]
        except StopIteration:
            raise TypeError("not enough arguments for format string") from None
        parts.append((value, PERCENT, f"%{field['how']}{field['kind']}"))
    if not isinstance(values, dict) and any(True for _ in supply):
        raise TypeError("not all arguments converted during string formatting")
    return text(*parts, form[end:])


def of_method(form: str, name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """What `format` and `join` of a text give where values are known later; else None."""
    if name == "join" and (found := _of_words(lambda *w: form.join(w), args[0])) is not None:
        return found
    if name == "join" and any(isinstance(x, Text) for x in args[0]):
        return text(*[p for x in args[0] for p in (form, x)][1:])
    if name != "format" or not (is_late((args, kwargs)) or any(map(speaks, args))):
        return None
    parts: list[Any] = []
    places = itertools.count()
    for literal, field, how, conversion in string.Formatter().parse(form):
        parts.append(literal)
        if field is None:
            continue
        if "." in field or "[" in field or "{" in (how or ""):
            known(args, kwargs)
        field = field or str(next(places))
        value = args[int(field)] if field.isdigit() else kwargs[field]
        parts.append((value, _NAMED[conversion], how))
    return text(*parts)
