"""What is called when a rewritten function calls something?

A user's function: its twin.  A library function: what stands in for it, if anything.  Methods,
partials, `@njit` functions and callable objects lead to one of the two; objects of a user's class
are made in `instances.py`.  Functions handed to library code are handed on as twins.
"""

from __future__ import annotations

import builtins
import contextlib
import copy
import dataclasses
import functools
import importlib
import inspect
import itertools
import math
import operator
import sys
import typing
import weakref
from types import (
    BuiltinMethodType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from jitad.errors import JitadError
from jitad.plain.remembered import remembered
from jitad.tape.build import Leaf
from jitad.trace import acts
from jitad.trace.around import modules
from jitad.trace.around.libraries import (
    CACHED,
    COMPILED,
    as_dtype,
    is_library,
    is_ours,
    is_ufunc_of_numba,
)
from jitad.trace.around.outside import as_numpys_own, met
from jitad.trace.around.paths import Path, Root
from jitad.trace.around.telling import is_shown_by_repr
from jitad.trace.comparisons import generated, is_generated
from jitad.trace.containers import iterables
from jitad.trace.containers.writing import MUTABLE, method_called, writes
from jitad.trace.containers.writtenback import writing
from jitad.trace.context import Trace
from jitad.trace.flow import recurring
from jitad.trace.joins.optional import (
    all_present,
    answers_for_none,
    contents_present,
    options,
    present,
    refuse_among,
)
from jitad.trace.joins.selected import asked, by_parts, holds_among, spread, spread_within
from jitad.trace.joins.unset import is_among, is_optional
from jitad.trace.joins.which import told_apart_within
from jitad.trace.ongoing import current
from jitad.trace.rewrite import is_known, is_rewritten, rewrite
from jitad.trace.texts import in_errors
from jitad.values.active import any_traced
from jitad.values.array import ArrayHandle
from jitad.values.complexes.number import Complex
from jitad.values.functions import implementation
from jitad.values.journal import made, made_if_new
from jitad.values.kind import fail
from jitad.values.number import Number
from jitad.values.numpy.structured import Structured
from jitad.values.ranges import Range
from jitad.values.registry import call_plain, calling
from jitad.values.stand_ins import StandIn, adopt

# methods of containers that compare elements
_COMPARING = frozenset({"index", "count", "remove", "sort", "__contains__"})
_LAZY = (enumerate, zip, map, filter, itertools.chain, iter, reversed)


def call(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """f(*args, **kwargs), traced."""
    trace = current()
    if trace is not None:
        trace.step(sys._getframe(1))
    elif type(f) is np.ufunc:
        if (own := as_numpys_own(f, args, kwargs)) is not None:
            return f(*own[0], **own[1])
        return (implementation(f) or f)(*args, **kwargs)
    if not callable(f) and not is_among((f,)) and not is_optional(f):
        raise TypeError(f"{type(f).__name__!r} object is not callable")
    if type(f) is operator.itemgetter and len(args) == 1 and not kwargs:
        return protocols.items_got(f, *args)
    if trace is not None:
        if is_among((f,)):
            return spread(lambda g: call(g, *args, **kwargs), f)
        f = present(f) if is_optional(f) else f
        if is_among(args) and any(f is g for g in _LAZY):  # which go on in another block
            args = by_parts(f, args)
        args = in_errors(f, args)
        if is_among((*args, *kwargs.values())) and not takes_anything(f):
            return spread(lambda *a, **k: call(f, *a, **k), *args, **kwargs)
        if any(map(is_optional, args)) and answers_for_none(f):
            return asked(lambda *a: call(f, *a, **kwargs), *args)
        if any(map(is_optional, (*args, *kwargs.values()))) and not takes_anything(f):
            given = options(f, args, kwargs)
            if given is not None:
                return spread(lambda *a, **k: call(f, *a, **k), *given[0], **given[1])
            args = contents_present(f, args)
        from jitad.trace.containers import gathered, listcalls  # which call here
        from jitad.trace.flow import generators  # which call here

        args = protocols.by_own_methods(f, args)
        if any(map(generators.is_generator, args)) or generators.stops(f, args):
            if (found := generators.instead(f, args)) is not None:
                return found(*args, **kwargs)
        special_case = gathered.function(f, args) or listcalls.function(
            f, (*args, *kwargs.values())) or partial.function(f, args)  # fmt: skip
        if special_case is not None:
            return special_case(*all_present(args), **kwargs)
    args = protocols.iterated(f, args)
    name = _NATIVE_SPECIAL.get(f) if args and _hashable(f) else None
    if name and isinstance(args[0], StandIn) and hasattr(type(args[0]), name):
        if name != "__array__":  # which is refused, by what needs it
            return getattr(args[0], name)(*args[1:], **kwargs)
    method = name and special(args[0], name)
    if name == "__str__" and method is None and is_shown_by_repr(args[0]):
        method = special(args[0], "__repr__")
    if method:
        return call(method, *args, **kwargs)
    replacement = _replacement(trace, f, args)
    if replacement is not None:
        args, kwargs = tuple(map(as_dtype, args)), {k: as_dtype(v) for k, v in kwargs.items()}
        if replacement is implementation(f) or f is range:
            args = answers.given(trace, f, args)
        if type(f) in _LIBRARY and f in calling:
            args, kwargs = _handed(args), {k: _handed((v,))[0] for k, v in kwargs.items()}
        if trace is not None and replacement is implementation(f) and any(map(holds_among, args)):
            return spread_within(lambda *a: call(f, *a, **kwargs), args)
        if trace is None and (own := as_numpys_own(f, args, kwargs)) is not None:
            return run_native(None, f, *own)
        out = replacement(*all_present(args), **kwargs)
        return made_if_new(out) if type(out) is list else out  # as of `np.split`
    match f:
        case FunctionType():
            written = WRITTEN_OUT.get(f.__code__)
            if written is not None:
                return written(trace, f, args, kwargs)
            return _function(trace, f, args, kwargs)
        case MethodType() | BuiltinMethodType() if is_ufunc_of_numba(f.__self__):
            method = importlib.import_module("jitad.operators.vectorized").method_of_numba
            return method(f.__self__, f.__name__)(*args, **kwargs)
        case MethodType() if f.__name__ == "astype" and args and as_dtype(args[0]) is not args[0]:
            return call(f, as_dtype(args[0]), *args[1:], **kwargs)
        case MethodType():
            return call(_read(trace, f, "__func__"), _read(trace, f, "__self__"), *args, **kwargs)
        case functools.partial():
            return call(_read(trace, f, "func"), *_read(trace, f, "args"), *args,
                        **{**_read(trace, f, "keywords"), **kwargs})  # fmt: skip
        case type():
            return instances.instance(f, args, kwargs)
        case MethodWrapperType() if f.__name__ == "__call__" and isinstance(f.__self__, type):
            return instances.constructed(f.__self__, args, kwargs)
        case MethodWrapperType() if f.__name__ == "__setattr__":
            return call(object.__setattr__, f.__self__, *args)
        case MethodDescriptorType() | WrapperDescriptorType() if (
            args and isinstance(args[0], MUTABLE)
        ):
            return call(f.__get__(args[0]), *args[1:], **kwargs)
        case operator.attrgetter() if not kwargs and len(args) == 1:
            return protocols.attributes_got(f, args[0])
        case operator.methodcaller() if not kwargs and len(args) == 1:
            return protocols.method_called(f, args[0])
        case BuiltinMethodType() | MethodWrapperType() if isinstance(f.__self__, MUTABLE):
            container: Any = f.__self__
            if f.__name__ == "__getitem__" and isinstance(container, dict):
                return keyed.dict_item(container, *args)
            if f.__name__ == "get" and keyed.is_traced(keyed.plain(args[0])):
                return keyed.get_or(container, *args)
            if keyed.is_traced_key(container, f.__name__, args):
                return keyed.method(container, f.__name__, args)
            if isinstance(container, (dict, set)):
                keyed.hashable(*args[:1], among=container)
            if f.__name__ in _COMPARING:
                refuse_among((*args, *container))
            protocols.check_taken(f.__name__, args)
            with writing(container) if writes(container, f.__name__) else contextlib.nullcontext():
                method_called(container, f.__name__)
                if trace is not None and isinstance(container, list) and f.__name__ == "sort":
                    new = call(sorted, container, *args, **kwargs)
                    return container.__setitem__(slice(None), new)
                if f.__name__ in ("pop", "insert") and keyed.by_rows(container, *args):
                    return call(getattr(container, f.__name__), *args)
                return made_if_new(f(*args, **kwargs))
        case BuiltinMethodType() if trace is not None and isinstance(f.__self__, CACHED):
            if f.__name__ == "cache_clear":
                for number in [n for key, n in trace.keeping.items() if key[0] is f.__self__]:
                    call(trace.kept.pop, number, None)
                return None
            raise fail(JitadError, f"{f.__name__} tells what functools.cache has kept, which a "
                       "kernel doesn't know",
                       "Keep the results in a dict, and count in a variable.")  # fmt: skip
        case weakref.ref() if trace is not None and (path := trace.captures.path_of(f)):
            return trace.captures.read(path.then("call", "__call__"), f())
    if type(f) in COMPILED:
        compiled: Any = f
        with contextlib.nullcontext() if trace is None else trace.remembering(compiled.memory):
            return call(_read(trace, f, "f"), *args, **kwargs)
    if isinstance(f, np.vectorize):
        if trace is not None:
            _read(trace, f, "pyfunc")
        return importlib.import_module("jitad.operators.vectorized").called(f, *args, **kwargs)
    stencil = type(f).__name__ == "StencilFunc"
    if stencil or is_ufunc_of_numba(f):
        operands = len(args) if stencil else getattr(f, "nin", 0)
        if not kwargs and len(args) <= operands and not any_traced(args):
            return call_plain(f, args, {})
        by = "stencils" if stencil else "vectorized"
        module = importlib.import_module(f"jitad.operators.{by}")
        return module.of_numba(f)(*args, **kwargs)
    if (cast := as_dtype(f)) is not f:  # as compiled code has it
        return call(cast, *args)
    python = inspect.getattr_static(f, "py_func", None)
    if type(f).__name__ == "CFunc":
        python = inspect.unwrap(f)
    if isinstance(python, FunctionType):
        of = importlib.import_module("jitad.operators.declared")
        return of.applied(f, python, args, kwargs, functools.partial(_function, trace, python))
    method = special(f, "__call__")
    if method is not None:
        return call(method, f, *args, **kwargs)
    if isinstance(f, CACHED):
        # What one made in the function keeps has been made in a block, which knows of it alone.
        kept: Any = f.__wrapped__
        here = trace is not None and type(kept) is FunctionType and is_rewritten(kept)
        if here or any(isinstance(a, Number) for a in (*args, *kwargs.values())):
            return _cached(trace, f, args, kwargs)
    if type(f).__module__ == "typing" and isinstance(typing.get_origin(f), type):
        return call(typing.get_origin(f), *args, **kwargs)  # a generic class: `Box[float](x)`
    return run_native(trace, adopt(f), args, kwargs)


def takes_anything(f: Any) -> bool:
    """Is it a function or class of the user's, which is called with whatever it is given?"""
    match f:
        case FunctionType():
            return not is_library(f)
        case MethodType():
            return takes_anything(f.__func__)
        case functools.partial():
            return takes_anything(f.func)
        case type():
            init = vars(f).get("__init__")
            return isinstance(init, FunctionType) and not is_library(init)
        case BuiltinMethodType():
            return isinstance(f.__self__, list) and f.__name__ in ("append", "insert")
    return type(f) in COMPILED or special(f, "__call__") is not None


def _context_manager(trace: Trace | None, f: Any, args: Any, kwargs: Any) -> Any:
    """A function that `contextlib.contextmanager` has made: its generator is rewritten."""
    own = _read(trace, f, "__wrapped__")

    def generator(*a: Any, **k: Any) -> Any:
        return call(own, *a, **k)

    return contextlib.contextmanager(functools.wraps(own)(generator))(*args, **kwargs)


def _dispatched(trace: Trace | None, f: Any, args: Any, kwargs: Any) -> Any:
    """A function that `functools.singledispatch` has made."""
    return call(protocols.dispatched(f, args), *args, **kwargs)


def _copied(name: str, trace: Trace | None, f: Any, args: Any, kwargs: Any) -> Any:
    """copy.copy and copy.deepcopy, of an object that knows how."""
    method = special(args[0], name)
    if method is None:
        if trace is not None and name == "__deepcopy__":
            told_apart_within(args[0])
        return _function(trace, f, args, kwargs)
    return call(method, args[0], *([{}] if name == "__deepcopy__" else []))


# functions of Python's library that call a user's function
WRITTEN_OUT: dict[Any, Any] = {
    contextlib.contextmanager(iter).__code__: _context_manager,
    functools.singledispatch(lambda x: x).__code__: _dispatched,  # type: ignore[attr-defined]
    copy.copy.__code__: lambda *given: _copied("__copy__", *given),
    copy.deepcopy.__code__: lambda *given: _copied("__deepcopy__", *given),
    dataclasses.replace.__code__: lambda trace, f, args, kwargs: instances.replace(*args, **kwargs),
}

_LIBRARY = (type(np.piecewise), FunctionType)


def _cached(trace: Trace | None, f: Any, args: Any, kwargs: Any) -> Any:
    """A function that keeps its results, by known arguments and by traced numbers.

    What is immutable and comes of no side effect a block of the tape may have made again.  Else it
    counts who was the first to call: what is kept is in a dict, as in a user's own memo.
    """
    original = _read(trace, f, "__wrapped__")
    if trace is None:
        return call(original, *args, **kwargs)
    given = (*args, *kwargs, *kwargs.values())
    key = (f, *(a.atom if isinstance(a, Leaf) else (type(a), a) for a in given))
    if key not in trace.keeping:
        found = trace.builder.known(key)
        if found is not None:
            return found[0]
        trace.journal.open()
        value = call(original, *args, **kwargs)
        alone = not trace.journal.written() and isinstance(value, _IMMUTABLE)
        trace.journal.merge()
        if alone:
            trace.builder.remember(key, (value,))
            return value
        trace.keeping[key] = len(trace.keeping)
        call(trace.kept.__setitem__, trace.keeping[key], value)
        return value
    from jitad.trace.containers.lists import run  # which calls here

    return run(remembered, trace.kept, trace.keeping[key], original, args, kwargs)


_IMMUTABLE = (Number, Complex, bool, int, float, str, type(None))


def _read(trace: Trace | None, owner: Any, name: str) -> Any:
    value = getattr(owner, name)
    path = trace.captures.path_of(owner) if trace is not None else None
    if trace is None or path is None:
        return value
    return trace.captures.read(path.then("attr", name), value)


def special(thing: Any, name: str) -> FunctionType | None:
    """A special method that a user's class defines in Python, or `dataclass` for it."""
    return method_of(type(thing), name, thing)


def method_of(kind: type, name: str, thing: Any = None) -> FunctionType | None:
    """The same, of the things of this class."""
    found = getattr(kind, name, None)
    if not is_users(found):
        return generated(kind, name, found)
    if (trace := current()) is not None:
        holder = next((c for c in kind.__mro__ if name in vars(c)), None)
        if holder is not None:
            modules.rely_on(trace, kind, holder, name, found, thing)
    return found


def is_users(f: Any) -> bool:
    """True of a function that the user has written."""
    return isinstance(f, FunctionType) and not is_library(f) and not is_generated(f)


# -- Python functions -----------------------------------------------------------------------------


def _function(trace: Trace | None, f: FunctionType, args: Any, kwargs: Any, typed: Any = ()) -> Any:
    if (f.__module__ or "").startswith("numpy.polynomial.") and all(
        type(a) in _KNOWN for a in (*args, *kwargs.values())
    ):
        return run_native(trace, f, args, kwargs)  # nodes and weights, say
    if is_known(f, typed):
        twin = rewrite(f, typed)
    elif is_rewritten(f):
        twin = f
    elif is_library(f) or is_generated(f):
        return run_native(trace, f, args, kwargs)
    else:
        twin = rewrite(f, typed)
    if trace is None:
        return twin(*map(met, args), **{k: met(v) for k, v in kwargs.items()})
    trace.ran[id(f)] = f
    captures = trace.captures
    if twin is not f and captures.path_of(f) is None:
        captures.register(f, Path(Root(f)))  # a method, say: its module's globals may change
    captures.register_function(f)
    path = captures.path_of(f)
    if path is not None and (f.__defaults__ or f.__kwdefaults__):
        twin = FunctionType(twin.__code__, twin.__globals__, twin.__name__,
                            captures_defaults(captures, path, f), twin.__closure__)  # fmt: skip
        twin.__kwdefaults__ = {
            k: captures.read(path.then("kwdefault", k), v)
            for k, v in (f.__kwdefaults__ or {}).items()
        }
    if f.__code__ in trace.insight.recursive:
        return recurring.on_tape(trace, f, twin, args, kwargs)
    with recurring.noticed(trace, f, args, kwargs):
        out = twin(*args, **kwargs)
    if hasattr(out, "gi_frame"):
        made(out)
    return out


_KNOWN = frozenset((bool, int, float, str, type(None)))


def captures_defaults(captures: Any, path: Any, f: FunctionType) -> tuple[Any, ...]:
    values = enumerate(f.__defaults__ or ())
    return tuple(captures.read(path.then("default", k), v) for k, v in values)


# -- the others -----------------------------------------------------------------------------------

WHILE_TRACING: dict[Any, Any] = {}  # stand-ins that other files add: getattr and the like
HERE: dict[Any, Any] = {
    enumerate: iterables.enumerate_,
    zip: iterables.zip_,
    reversed: iterables.reversed_,
}


def _replacement(trace: Trace | None, f: Any, args: tuple[Any, ...]) -> Any:
    if (act := acts.instead(trace, f)) is not None:
        return act
    if _hashable(f) and f in HERE:
        return HERE[f]
    if f is np.vectorize:  # a batch, which is made of what stands above
        return importlib.import_module("jitad.operators.vectorized").vectorized
    if trace is not None and _hashable(f) and f in WHILE_TRACING:
        return WHILE_TRACING[f]
    found = implementation(f)
    if found is None or (f in (builtins.type, builtins.isinstance) and trace is None):
        return found
    if f is len and not isinstance(args[0], (ArrayHandle, Complex, Structured)):
        return Range.size if isinstance(args[0], Range) else None
    return found


def _hashable(f: Any) -> bool:
    return isinstance(f, (type, BuiltinMethodType, WrapperDescriptorType))


_NATIVE_SPECIAL: dict[Any, str] = {
    len: "__len__", abs: "__abs__", iter: "__iter__", next: "__next__", bool: "__bool__",
    float: "__float__", int: "__int__", repr: "__repr__", str: "__str__", complex: "__complex__",
    round: "__round__", reversed: "__reversed__", divmod: "__divmod__", hash: "__hash__",
    math.floor: "__floor__", math.ceil: "__ceil__", math.trunc: "__trunc__",
    operator.index: "__index__", np.asarray: "__array__", np.array: "__array__",
}  # fmt: skip

def _handed(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments with the user's functions, also those in lists, as their twins."""
    return tuple([*map(callback, a)] if type(a) is list else callback(a) for a in args)


def callback(value: Any, called: bool = True) -> Any:
    """A function that library code will call: a user's, or one that something stands in for.

    What is certain to be `called` is so through the hook, whatever it is; other objects that can
    be called stay what they are.
    """
    if _hashable(value) and not isinstance(value, type):
        if value in HERE or value in WHILE_TRACING:
            return HERE.get(value) or WHILE_TRACING[value]
    inside: Any = value.__func__ if isinstance(value, MethodType) else value
    is_function = isinstance(inside, FunctionType)
    twin = is_function and is_rewritten(inside)
    own = is_function and not twin and not is_library(inside)
    ours = is_function and is_ours(inside.__code__)
    own |= called and callable(value) and not (isinstance(value, type) or twin or ours)
    replaced = isinstance(value, BuiltinMethodType) and implementation(value) is not None
    if own or replaced or type(value) in COMPILED or _changes(value):
        handed = functools.wraps(value)(lambda *a, **k: call(value, *a, **k))
        handed.users = value  # type: ignore[attr-defined]
        return handed
    return value


def _changes(f: Any) -> bool:
    """Does it change a container of Python's, or may it, or an object?"""
    if isinstance(f, (operator.methodcaller, operator.attrgetter, operator.itemgetter)):
        return True
    if isinstance(f, MethodWrapperType) and f.__name__ in ("__setattr__", "__delattr__"):
        return True
    if isinstance(f, (MethodDescriptorType, WrapperDescriptorType)):
        return f.__objclass__ in MUTABLE
    owner = getattr(f, "__self__", None) if isinstance(f, _METHODS) else None
    return partial.is_partial(owner) or (isinstance(owner, MUTABLE) and writes(owner, f.__name__))


_METHODS = (BuiltinMethodType, MethodWrapperType)


from jitad.trace import answers, instances, protocols  # noqa: E402  (which call)
from jitad.trace.containers import keyed, partial  # noqa: E402  (which call)
from jitad.trace.library import run_native  # noqa: E402
