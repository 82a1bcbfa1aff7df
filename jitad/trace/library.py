"""What happens when library code is run as it is, and nothing stands in for it?

It is given the user's functions as such that trace, and what it makes is noted.  Where it acts on
the world, reads what a trace would not see, or can't take traced or differentiated numbers, that is
an error which names the user's line.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import sys
from collections.abc import Callable
from types import BuiltinMethodType, FunctionType
from typing import Any

import numpy as np

from jitad.errors import JitadAttributeError, JitadError, JitadTypeError
from jitad.trace import randomness
from jitad.trace.around.libraries import CACHED, is_library, is_library_thing
from jitad.trace.around.paths import Guard
from jitad.trace.around.telling import TELLING, is_outside, told
from jitad.trace.around.unseen import may_change, note_written, unaltered, untouched
from jitad.trace.containers import iterables
from jitad.trace.containers.steady import steady
from jitad.trace.containers.writing import WRITERS, kind_of, note
from jitad.trace.context import Trace
from jitad.trace.joins.optional import all_present, present
from jitad.trace.ongoing import current
from jitad.trace.refused import check_called
from jitad.trace.rewrite import is_rewritten_code
from jitad.trace.texts import known, of_method
from jitad.values.active import any_traced
from jitad.values.array import ArrayHandle, wrap
from jitad.values.journal import made, made_if_new
from jitad.values.kind import fail
from jitad.values.number import Number
from jitad.values.python_functions import python_type
from jitad.values.registry import unsupported
from jitad.values.stand_ins import adopt, lent


def native(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Library code, run as it is, although something stands in for it."""
    return run_native(current(), f, args, kwargs)


def run_native(trace: Trace | None, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Library code, run as it is."""
    if (key := f if getattr(f, "__hash__", None) else None) in WRITERS:
        note(args[0])
    if trace is None:
        f = randomness.drawing(f, args)
        if not (getattr(f, "__module__", None) or "").startswith("jitad."):
            args, kwargs = lent(args), lent(kwargs)
        note_written(args[0] if type(f) is FunctionType and args else None, f)
        args, kwargs = _with_callbacks(f, args, kwargs)
        return adopt(_run(f, f, args, kwargs))
    trace.ran[id(f)] = f
    args = all_present(args)
    kwargs = {k: present(v) for k, v in kwargs.items()}
    if randomness.makes(f):
        return randomness.made(trace, f, args, kwargs)
    if (drawn := randomness.method(trace, f, args)) is not None:
        out = randomness.drawn(trace, *drawn, kwargs)
        return ArrayHandle(out) if isinstance(out, np.ndarray) else out
    randomness.check_seeded(trace, f, args, kwargs)
    module = getattr(f, "__module__", None) or type(getattr(f, "__self__", None)).__module__
    check_called(f, module, trace.builder.pos)
    advanced = _advanced(trace, f, args)
    if advanced is not None and trace.moved is not None:
        trace.moved.append(advanced)
    for thing in (getattr(f, "__self__", None), *args) if trace.left else ():
        iterables.go_on(trace.left, thing)
    if len(trace.regions) and advanced is not None and not trace.journal.is_fresh(advanced):
        raise JitadError("an iterator can't be advanced under a traced condition",
                         trace.builder.pos, "Make a list of it first.")  # fmt: skip
    if isinstance(form := getattr(f, "__self__", None), str):
        args = (list(args[0]),) if f.__name__ == "join" and args else args
        if (shown := of_method(form, f.__name__, args, kwargs)) is not None:
            return shown
        known(args, kwargs)
    if key in TELLING and len(args) == 1 and is_outside(trace, args[0]):
        return told(f, args[0])
    ours = type(f).__module__.startswith("jitad.") or module.startswith("jitad.")
    name = getattr(f, "__qualname__", type(f).__name__)
    if not ours:  # which calls through the hook
        if key not in _BLIND and not partial.kept_whole(f):
            partial.checked(f"given to {name}", *args, *kwargs.values())
        args, kwargs = iterables.with_ints(f, args, kwargs)
        args, kwargs = _with_callbacks(f, lent(args), lent(kwargs))
        if f is iter or (isinstance(f, type) and hasattr(f, "__next__")):
            args = tuple(map(steady, args))
    if ours:
        out = f(*args, **kwargs)
    else:
        owner = args[0] if type(f) is FunctionType and args else getattr(f, "__self__", None)
        note_written(owner, f)
        run = functools.partial(_run, lambda *a, **k: protocols.watched(f, a, k))
        things = (getattr(f, "__self__", f), *args, *kwargs.values())
        looked = unaltered if key in _BLIND else untouched
        out = looked(trace, things, name, run, f, args, kwargs)
        if isinstance(f, CACHED) and (path := trace.captures.path_of(f)) is not None:
            trace.captures.guards.append(Guard(path, "gives", (args, kwargs, out)))
    partial.certain(out)
    out = _arrays_met(out)
    if isinstance(f, type) and kind_of(out) is not None:
        made(out)
    made_if_new(out, isinstance(f, type) and may_change(out))
    tabled.begun(out)
    out = adopt(out)
    if not hasattr(out, "__next__"):
        return out
    return iterables.made_of(out, getattr(f, "__self__", None), *args, *kwargs.values())


def _arrays_met(out: Any) -> Any:
    """What library code gave, its arrays as the trace knows them, which traced ones may index."""
    if isinstance(out, np.ndarray):
        if type(out) is not np.ndarray or out.dtype.kind not in "biufc":
            return out
        return wrap(out) if out.dtype.kind == "c" else ArrayHandle(out)
    if type(out) is not tuple and not (isinstance(out, tuple) and hasattr(out, "_fields")):
        return out
    held = tuple(tuple.__iter__(out))  # whatever methods of its class say
    parts = [_arrays_met(v) for v in held]
    if all(p is v for p, v in zip(parts, held, strict=True)):
        return out
    return tuple.__new__(type(out), parts)


# These call what they are given, rather than keep it, or look at it: which argument?
_CALLING = {id(f): k for k, fs in (
    (0, (map, filter, iter, functools.reduce, itertools.starmap, itertools.filterfalse,
         itertools.takewhile, itertools.dropwhile)),
    (1, (itertools.accumulate, itertools.groupby)), (None, (sorted, min, max)),
) for f in fs}  # fmt: skip


_EACH = (map, filter, itertools.starmap, itertools.filterfalse)


def _with_callbacks(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Arguments with what library code can call in the place of the functions among them."""
    of = args[0] if args and any(f is g for g in _EACH) else None
    if isinstance(of, (type, BuiltinMethodType)):
        args = (lambda *a: call(of, *a), *args[1:])  # float, say
    known = id(f) in _CALLING
    called = _CALLING[id(f)] if known else None
    named = {k: callback(v, known and k in ("key", "func")) for k, v in kwargs.items()}
    return tuple(callback(a, k == called) for k, a in enumerate(args)), named


GENERATORS = contextlib._GeneratorContextManager  # what `contextlib.contextmanager` makes


def _advanced(trace: Trace, f: Any, args: tuple[Any, ...]) -> Any:
    """The iterator that a function moves on; where it stands, no place of the journal says."""
    if f is next:
        return args[0] if args else None
    asked = len(trace.regions) or trace.moved is not None
    if asked and not (isinstance(f, type) and hasattr(f, "__next__")):
        for a in () if any(f is g for g in _BLIND) else args:
            if hasattr(type(a), "__next__"):
                return a  # as `list` does, say
    if args and isinstance(args[0], GENERATORS) and f.__name__ in ("__enter__", "__exit__"):
        return args[0].gen
    owner = getattr(f, "__self__", None)
    moving = getattr(f, "__name__", "") in ("__next__", "send", "throw", "close")
    return owner if moving and hasattr(owner, "__next__") else None


# builtins that look at no attribute which the trace should hear of
_BLIND = frozenset({isinstance, issubclass, id, type, callable, hash, repr, str, len, iter, next})


def _run(run: Callable[..., Any], f: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """What library code can't do with traced numbers it says in words that are not the user's."""
    try:
        return run(*args, **kwargs)
    except Exception as error:
        home = type(error).__module__.partition(".")[0]
        theirs = isinstance(error, TypeError) or home in _LIBRARIES
        if isinstance(error, (JitadTypeError, JitadAttributeError)) and _is_not_entered(f):
            # Where in its code it met what it can't take is not the user's matter.
            if not _is_by_user(error) and any(map(_holds_traced, (*args, *kwargs.values()))):
                raise unsupported(f) from None
        if isinstance(error, JitadError) or not theirs or _is_by_user(error):
            raise
        if not any(map(_holds_traced, (*args, *kwargs.values(), getattr(f, "__self__", None)))):
            raise
        name = getattr(f, "__qualname__", type(f).__name__)
        module = getattr(f, "__module__", None)
        name = name if module in (None, "builtins") else f"{module.lstrip('_')}.{name}"
        refused = fail(JitadTypeError, f"{name} can't take a traced or differentiated number",
                       "Compute with math, NumPy and arithmetic; make texts and files of results.")
        refused.of_program = _refused_by_python(f, args)
    raise refused  # fmt: skip


def _refused_by_python(f: Any, args: tuple[Any, ...]) -> bool:
    """Does a builtin not take numbers and arrays of these kinds, either?"""
    if not any(f is g for g in _OF_ITEMS):
        return False
    try:
        f(*map(_like, args))
    except TypeError:
        return True
    return False


_OF_ITEMS = (len, iter, list, tuple, set, frozenset, dict, hash, sorted, reversed, enumerate)


def _like(value: Any) -> Any:
    """A plain number, or array, of the same kind."""
    if isinstance(value, ArrayHandle):
        return np.ones((2,) * value.ndim)
    return python_type(value)(1) if isinstance(value, Number) else value


def _is_not_entered(f: Any) -> bool:
    """True of functions and classes of libraries that are written in Python, and of SciPy's."""
    if isinstance(f, type):
        return is_library_thing(f)
    home = (getattr(f, "__module__", None) or "").partition(".")[0]
    if home == "jitad":  # a method of what stands for an array
        return False
    return home == "scipy" or (isinstance(f, FunctionType) and is_library(f))


_LIBRARIES = (sys.stdlib_module_names | {"numba", "numpy", "scipy", "pandas"}) - {"builtins"}


def _is_by_user(error: BaseException) -> bool:
    """Was it raised in a function of the user's that the library has called?"""
    at = error.__traceback__
    while at is not None:
        if is_rewritten_code(at.tb_frame.f_code):
            return True
        at = at.tb_next
    return False


def _holds_traced(value: Any, depth: int = 4) -> bool:
    if any_traced((value,)):
        return True
    if not depth or not isinstance(value, (list, tuple, dict)):
        return False
    inside = value.values() if isinstance(value, dict) else value
    return any(_holds_traced(v, depth - 1) for v in inside)


from jitad.trace import protocols  # noqa: E402  which calls
from jitad.trace.calls import call, callback  # noqa: E402
from jitad.trace.containers import partial, tabled  # noqa: E402  which calls
