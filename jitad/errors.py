"""How does jitad tell a user what is the matter?

Every error names the user's file, line and source text, says what is the matter and what to do.
Those that NumPy or Python would raise as well keep that class beside `JitadError`.
"""

from __future__ import annotations

import linecache

import numpy as np

from jitad.tape.ir import Pos
from jitad.where import users

FINISHED = ""  # in the place of `where`: the text is a whole message


class JitadError(Exception):
    """What was done, where, why it can't be, and what to do instead.

    Parameters
    ----------
    what : what is the matter.
    where : the place in the user's source; unless given, that which is running.  The message
        shows its line with a caret.
    remedy : what to do instead.

    Errors that NumPy or Python would raise as well are of a subclass that is an IndexError,
    ValueError, TypeError, ... too: `except ValueError` catches them; their `of_program` is True.
    What jitad alone refuses, no `except` catches in a function that is traced or differentiated.

    Source: the form of messages is that of Python's own SyntaxError.

    >>> from jitad import JitadError, grad
    >>> try:
    ...     grad(lambda x: x * x)(3)
    ... except JitadError as e:
    ...     print(e.what)
    grad: argument 0 (x) has no floats to differentiate with respect to (it is of type int, 3)
    """

    of_program = False  # what comes after an `except` that caught it would be a wrong result

    def __init__(self, what: str, where: Pos | str | None = None, remedy: str = "") -> None:
        if where != FINISHED:
            where = users(where if isinstance(where, Pos) else None)
        self.what, self.where, self.remedy = what, where, remedy
        super().__init__(message(what, where, remedy))

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.what, self.where, self.remedy))


def is_refusal(error: object) -> bool:
    """Is it what jitad alone raises, or a class of that?  A user's function may not catch it."""
    kind = error if isinstance(error, type) else type(error)
    return issubclass(kind, JitadError) and not error.of_program  # type: ignore[attr-defined]


class JitadIndexError(JitadError, IndexError):
    """An index out of bounds."""

    of_program = True


class JitadValueError(JitadError, ValueError):
    """A wrong shape or value."""

    of_program = True


class JitadTypeError(JitadError, TypeError):
    """A wrong type, such as an integer that is to be differentiated."""


class JitadWrongTypeError(JitadTypeError):
    """What Python or NumPy raise, too: None in the place of a value, too many arguments."""

    of_program = True


class JitadUnboundLocalError(JitadError, UnboundLocalError):
    """A name is read on a path where nothing was assigned to it."""

    of_program = True


class JitadAttributeError(JitadError, AttributeError):
    """An attribute that an object has not, or that the original has and what stands for it has not.

    Of the second, `of_program` is False.
    """

    of_program = True


class JitadZeroDivisionError(JitadError, ZeroDivisionError):
    """A Python division by zero."""

    of_program = True


class JitadOverflowError(JitadError, OverflowError):
    """A `math` function past the largest float, or an integer past those of a dtype."""

    of_program = True


class JitadIntegerError(JitadOverflowError):
    """A Python integer past 64 bits, which kernels and derivatives don't have."""

    of_program = False


class UnrepeatableError(JitadError):
    """What would give something else, or do something, at every call: a clock, a draw, a file.

    The eager engine does not stand in for a kernel here, as it does where a trace can't go on.
    """


class UnknownDepthError(JitadError):
    """How deep calls or derivatives nest is decided by numbers that a trace doesn't know.

    `jit` then uses the eager engine, unless that is forbidden.
    """

    def __init__(
        self, what: str, where: Pos | str | None = None, remedy: str = "",
        places: frozenset[Pos] = frozenset(),
    ) -> None:  # fmt: skip
        self.places = places  # of the conditions that decide
        super().__init__(what, where, remedy)

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.what, self.where, self.remedy, self.places))


class FallbackWarning(UserWarning):
    """A compiled function ran in the eager engine: `jit` gives this warning once a function.

    Its trace could not go on where a number decides what Python does (a key of a dict, how
    functions nest); results are the same, but take Python's time.

    Parameters
    ----------
    message : which function, and why.  Results have the shapes and dtypes that a kernel's have.

    Source: see `set_fallback`.

    >>> import math, warnings
    >>> from jitad import FallbackWarning, derivative, jit
    >>> def first_large(x):
    ...     f = math.sin
    ...     while not f(x) > 0.5:
    ...         f = derivative(f)
    ...     return f(x)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     jit(first_large, fallback=True)(0.0)
    1.0
    >>> caught[0].category is FallbackWarning
    True
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)


class JitadConvergenceError(JitadError, RuntimeError):
    """An iteration for a fixed point, a root or a minimum that did not converge."""

    of_program = True


class JitadUnsolvedError(JitadConvergenceError):
    """The same, where SciPy goes on with what it has, which has no derivative."""

    of_program = False


class JitadMemoryError(JitadError, MemoryError):
    """A loop whose derivative needs more memory than it was given."""


class JitadRecursionError(JitadError, RecursionError):
    """A recursion deeper than the stack of the thread that it runs in."""


class JitadLinAlgError(JitadError, np.linalg.LinAlgError):
    """A matrix that is singular, or not positive definite."""

    of_program = True


class GuardMiss(JitadError):
    """A kernel met a value that its trace did not foresee.

    Called from Python it is traced again; callers from native code get this error.
    """

    def __init__(self, what: str) -> None:
        self.case = what
        super().__init__(
            f"a compiled function was made for calls in which {what}", None,
            "Call it from Python with arguments like these once (or give them to its compile()), "
            "then compile the @njit function that calls it anew.",
        )  # fmt: skip

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.case,))


class JitadExtentError(JitadValueError):
    """Extents that NumPy takes, it may be, but of which a trace could not know that.

    Called from Python the function is traced again, with the extents and ints of this call.
    Callers from native code get this error; so do they where extents depend on numbers.
    """

    of_program = False


class RoomMiss(GuardMiss):
    """There is no room for all elements of a list; `case` says of which one.

    Called from Python the kernel runs again with more; callers from native code get this error.
    """


class NewKey(GuardMiss):
    """A key that only the kernel knows is new in a dict; `case` says in which one.

    Called from Python the function is traced again; callers from native code get this error.
    """


class Guessed(JitadError):
    """A trace took opaque functions to give floats; `functions` has their names."""

    def __init__(self, functions: dict[object, str], why: str = "") -> None:
        self.functions, self.why = functions, why
        names = ", ".join(dict.fromkeys(functions.values()))
        super().__init__(
            f"what {names} gives is not known, and a float does not fit: {why}", None,
            "Show what it gives: jitad.opaque(f, like=...).",
        )  # fmt: skip

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (dict(enumerate(self.functions.values())), self.why))


ACTIVE = "by policy nothing that is differentiated may be given to"
MET = "by policy differentiated code may not call"


def unknown_functions(
    functions: tuple[str, ...], where: Pos | None,
    why: str = "a derivative that is not zero depends on",
) -> JitadError:  # fmt: skip
    """No derivative rule is known of these, and one is needed; each is `name (file:line)`."""
    *first, last = functions
    names = f"{', '.join(first)} and {last}" if first else last
    return JitadTypeError(
        f"no derivative rule is known for {names}, and {why} {'them' if first else 'it'}", where,
        "Give it one: make it a jitad.primitive, with defjvp or defvjp.",
    )  # fmt: skip


def message(what: str, where: Pos | str | None, remedy: str) -> str:
    """At most five lines: what, where, the source line, a caret, the remedy."""
    lines = [what]
    if isinstance(where, Pos) and (where := users(where)) is not None:
        lines.append(f'  File "{where.file}", line {where.line}')
        text = linecache.getline(where.file, where.line).rstrip("\n")
        if text.strip():
            indent = len(text) - len(text.lstrip())
            lines.append("    " + text.strip())
            before = text.encode()[: where.column].decode(errors="replace")  # columns are bytes
            lines.append("    " + " " * max(len(before) - indent, 0) + "^")
    if remedy:
        lines.append(remedy)
    return "\n".join(lines)
