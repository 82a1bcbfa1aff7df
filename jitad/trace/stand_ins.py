"""Which functions of Python's library compute by the operators of user code while tracing?

Operators are hooks in rewritten code, which check that integers stay exact and turn loops into
loops of the tape.  What does the same under another name (`sum`, `operator.mul`, `x.__abs__`) must
not get around that.
"""

from __future__ import annotations

import bisect
import contextlib
import functools
import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.polynomial._polybase import ABCPolyBase

from jitad.errors import JitadTypeError
from jitad.plain import as_written, polynomials, powers
from jitad.plain.exit_stack import ExitStack
from jitad.plain.orders import Compared
from jitad.tape.build import Leaf
from jitad.tape.ir import Pos
from jitad.trace import hooks
from jitad.trace.around import distinct
from jitad.trace.calls import HERE, WHILE_TRACING, WRITTEN_OUT, call, special
from jitad.trace.calls import _function as rewritten
from jitad.trace.containers import heaps, listcalls
from jitad.trace.containers.iterables import Counted, made_of, sequence
from jitad.trace.containers.lists import run
from jitad.trace.containers.rows import row_of
from jitad.trace.containers.steady import steady
from jitad.trace.containers.stretch import stretched
from jitad.trace.flow import beside
from jitad.trace.flow.generators import WRITTEN, written
from jitad.trace.identity import COPIES
from jitad.trace.joins.which import told_apart
from jitad.trace.library import native
from jitad.trace.ongoing import current
from jitad.trace.places import METHODS, get_item
from jitad.trace.syntax.hooking import Site
from jitad.trace.texts import converted, text
from jitad.trace.wide import checked
from jitad.values import operators
from jitad.values.active import any_traced
from jitad.values.array import ArrayHandle
from jitad.values.complexes.number import Complex
from jitad.values.functions import implementation
from jitad.values.journal import is_held
from jitad.values.kind import fail, type_of
from jitad.values.number import Number

_ADD, _MULT, _POW = (getattr(hooks, name) for name in ("Add", "Mult", "Pow"))


def _folded(original: Any, operation: Callable[[Any, Any], Any], start: Any) -> Any:
    """The builtin sum, or math.prod: the loop that user code could write instead."""

    def replacement(values: Any, start: Any = start) -> Any:
        found = implementation(original)
        if isinstance(values, ArrayHandle) and found is not None:
            return found(values, start=start)
        trace = current()
        pos = Pos("", 0) if trace is None else trace.builder.pos or Pos("", 0)
        site = Site(pos, ("the sum",), (), frozenset({"the sum"}))
        loop = hooks.for_(values, (start,), site)
        for item, (so_far,) in loop:
            with loop:
                loop.leave((operation(so_far, item),))
        return loop.joined()[0]

    return replacement


def _id(thing: Any) -> int:
    if is_held(thing):
        raise fail(JitadTypeError, COPIES.format("id"), "Compare what is in them.")
    told_apart(thing)
    if (trace := current()) is not None:
        distinct.key(trace.captures, thing)
    return id(thing)


def _abs(x: Any) -> Any:
    """The builtin abs: the smallest integer has none in 64 bits."""
    found = None if type(x) in hooks._PLAIN else special(x, "__abs__")
    return checked("abs", x, None, abs(x)) if found is None else call(found, x)


def _pow(a: Any, b: Any, modulus: Any = None) -> Any:
    if modulus is None:
        return _POW(a, b)
    ints = all(isinstance(x, (int, Leaf)) and type_of(x).dtype[0] in "iub" for x in (a, b, modulus))
    if ints and any_traced((a, b, modulus)):
        return run(powers.power_modulo, a, b, modulus)
    return operators.pow_(a, b, modulus)


def _accumulate(values: Any, func: Any = None, *, initial: Any = None) -> Any:
    add: Any = _ADD
    by = add if func is None else lambda *given: call(func, *given)
    counted = sequence(values)
    if counted is None or counted.static is not None:
        out = itertools.accumulate(steady(values), by, initial=initial)
        return made_of(out, values)
    if initial is not None:
        return written(as_written.each_accumulated_from, values, by, initial)
    if type(values) is Counted:
        values = run(as_written.listed, values)
    return written(as_written.each_accumulated, values, by)


def _tee(values: Any, n: Any = 2) -> Any:
    return tuple(made_of(out, values) for out in itertools.tee(values, n))


def _not(value: Any) -> Any:
    from jitad.trace import hooks  # where this stands in for functions

    return hooks.Not(value)


def _insort(original: Any, how: Any, place: Any) -> Callable[..., Any]:
    def replacement(target: Any, x: Any, *bounds: Any, key: Any = None, **more: Any) -> Any:
        if key is not None:
            at = call(place, target, call(key, x), *bounds, key=key, **more)
            return call(target.insert, at, x)
        plain = stretched(target) is None and not any_traced((x, *target))
        if bounds or more or plain:
            return native(original, target, x, *bounds, **more)
        return run(how, target, x)

    return replacement


def _reflected(hook: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda a, b: hook(b, a)


# the functions and methods that do what operators do
for _name, (_plain, _inplace, _method) in hooks._BINARY.items():
    _function = _method + "_" * (_method in ("and", "or"))
    WHILE_TRACING[getattr(operator, _function)] = getattr(hooks, _name)
    METHODS[f"__{_method}__"] = getattr(hooks, _name)
    METHODS[f"__r{_method}__"] = _reflected(getattr(hooks, _name))
for _name, (_plain, _method) in hooks._UNARY.items():
    WHILE_TRACING[getattr(operator, _method)] = getattr(hooks, _name)
    METHODS[f"__{_method}__"] = getattr(hooks, _name)
METHODS["__abs__"] = _abs
WHILE_TRACING[operator.getitem] = get_item
WHILE_TRACING[operator.contains] = lambda owner, value: hooks.In(value, owner)
WHILE_TRACING[operator.is_], WHILE_TRACING[operator.is_not] = hooks.Is, hooks.IsNot
WHILE_TRACING[id] = _id
HERE[contextlib.ExitStack] = lambda: call(ExitStack)
WHILE_TRACING[functools.cmp_to_key] = lambda mycmp: functools.partial(Compared, mycmp)


def _of_polynomials(by: Callable[..., Any]) -> Callable[..., Any]:
    def written_out(trace: Any, f: Any, args: Any, kwargs: Any) -> Any:
        if trace is None or not _is_coefficients(args[1]):
            return rewritten(trace, f, args, kwargs)
        return run(by, *args)

    return written_out


def _is_coefficients(other: Any) -> bool:
    kinds = (int, float, complex, list, tuple, np.ndarray, np.generic, ABCPolyBase)
    return isinstance(other, (*kinds, ArrayHandle, Complex, Number))


def _place(trace: Any, f: Any, args: Any, kwargs: Any) -> Any:
    at = row_of(*args) if trace is not None else None
    return rewritten(trace, f, args, kwargs) if at is None else at


WRITTEN_OUT[as_written.place.__code__] = _place
for _name, _by in {
    "__add__": polynomials.added, "__radd__": polynomials.added_to,
    "__sub__": polynomials.subtracted, "__rsub__": polynomials.subtracted_from,
    "__mul__": polynomials.multiplied, "__rmul__": polynomials.multiplied_by,
}.items():  # fmt: skip
    WRITTEN_OUT[getattr(ABCPolyBase, _name).__code__] = _of_polynomials(_by)
WHILE_TRACING[itertools.accumulate] = _accumulate
WHILE_TRACING[itertools.groupby] = beside.grouped
WHILE_TRACING[itertools.tee] = _tee
WHILE_TRACING[bisect.insort] = _insort(
    bisect.insort, as_written.insert_right, bisect.bisect_right
)
WHILE_TRACING[bisect.insort_left] = _insort(
    bisect.insort_left, as_written.insert_left, bisect.bisect_left
)
WHILE_TRACING[abs] = WHILE_TRACING[operator.abs] = _abs
WHILE_TRACING[pow] = _pow
WHILE_TRACING[operator.not_], WHILE_TRACING[operator.truth] = _not, lambda x: call(bool, x)
WHILE_TRACING[str], WHILE_TRACING[repr] = converted(str, 115), converted(repr, 114)
WHILE_TRACING[format] = lambda value, form="": text((value, -1, form))
WHILE_TRACING.update(listcalls.STAND_INS | heaps.STAND_INS)
WRITTEN[zip] = beside.zipped
HERE[sum] = _folded(sum, _ADD, 0)
HERE[math.prod] = _folded(math.prod, _MULT, 1)
