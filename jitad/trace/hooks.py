"""What do the operations of a rewritten function do?

Rewritten code calls these by name (`hooking.py`): operators and statements are here, reads and
writes in `places.py`.  With plain operands each does what Python does; calls go to the twin of a
user's function or to what stands in for a library's.
"""

from __future__ import annotations

import operator
import sys
from collections import deque
from collections.abc import Callable, ItemsView, ValuesView
from fractions import Fraction
from typing import Any

import numpy as np

from jitad.errors import JitadError
from jitad.plain import orders
from jitad.runtime.forward import Bundle
from jitad.runtime.reverse import Cell
from jitad.structures import is_numbas
from jitad.tape.build import Leaf
from jitad.tape.ir import Var
from jitad.tape.types import BOOL
from jitad.trace.around import outside
from jitad.trace.around.libraries import is_ours
from jitad.trace.around.modules import imported
from jitad.trace.around.telling import is_outside, speaks
from jitad.trace.around.unseen import untouched
from jitad.trace.calls import HERE, call, special
from jitad.trace.comparisons import looks_into
from jitad.trace.containers import gathered, keyed, lists, partial, tabled
from jitad.trace.containers.gathered import set_of
from jitad.trace.containers.in_rows import get_part
from jitad.trace.containers.iterables import leave
from jitad.trace.containers.keyed import made
from jitad.trace.containers.listed import SETS, inside, listed
from jitad.trace.containers.ordering import STAND_INS
from jitad.trace.containers.stretch import stretched
from jitad.trace.containers.swaps import swap
from jitad.trace.containers.unpacking import (
    displayed,
    listed_with,
    mapping,
    part,
    starred,
    tuple_with,
    unpack,
)
from jitad.trace.containers.writing import MUTABLE, note
from jitad.trace.containers.writtenback import writing
from jitad.trace.context import Trace
from jitad.trace.flow import branches, generators, loops
from jitad.trace.flow.attempts import (
    Attempt,
    catches,
    cause,
    raise_,
    rethrow,
    surely,
    thrown,
)
from jitad.trace.flow.branches import if_, truth
from jitad.trace.flow.choices import both, choose, either
from jitad.trace.flow.generators import awaited, taken_in
from jitad.trace.flow.managers import rethrow_known, rethrow_through, swallowed
from jitad.trace.identity import Is, IsNot
from jitad.trace.joins.optional import present
from jitad.trace.joins.selected import among_parts, asked, spread
from jitad.trace.joins.unset import is_among, is_optional
from jitad.trace.joins.which import may_be_another
from jitad.trace.noting import note_cell, note_global, own
from jitad.trace.ongoing import current
from jitad.trace.patterns import bound, compared, looked_into, matched, pattern_class
from jitad.trace.places import (
    append,
    del_attr,
    del_item,
    free,
    get_attr,
    get_item,
    glob,
    local,
    pick_locals,
    set_attr,
    set_item,
)
from jitad.trace.protocols import entering, items
from jitad.trace.texts import Text, f_string, filled, is_late, known
from jitad.trace.wide import checked
from jitad.values import operators
from jitad.values.array import ArrayHandle
from jitad.values.complexes.number import Complex
from jitad.values.journal import is_held, made_if_new
from jitad.values.kind import is_number, type_of, wrong_type
from jitad.values.number import Number, bind
from jitad.values.python_functions import python_type
from jitad.values.ranges import Range
from jitad.values.stand_ins import StandIn, adopt

attempt, for_, while_ = Attempt, loops.for_, loops.while_
And, Or = both, either
HERE.update(STAND_INS)  # which call, too

__all__ = [
    "And", "Is", "IsNot", "Or", "append", "attempt", "bound", "call", "catches", "cause", "choose",
    "compared", "del_attr", "del_item", "delegated", "displayed", "entering", "f_string", "for_",
    "free", "get_attr", "get_item", "get_part", "glob", "if_", "imported", "items", "listed_with",
    "local", "looked_into", "made", "mapping", "matched", "note_cell", "note_global", "own", "part",
    "pattern_class", "pick_locals", "raise_", "rethrow", "rethrow_known", "rethrow_through",
    "set_attr", "set_item", "set_of", "starred", "surely", "swallowed", "swap", "thrown",
    "tuple_with", "unpack", "while_",
]  # fmt: skip

# -- operators ------------------------------------------------------------------------------------


def _remainder(a: Any, b: Any) -> Any:
    if isinstance(a, str):
        shown = "%(" not in a and any(map(speaks, b if type(b) is tuple else (b,)))
        if shown or is_late(b):
            return filled(a, b)
    return operators.mod(a, b)


def _in_place_remainder(a: Any, b: Any) -> Any:
    return _remainder(a, b) if isinstance(a, str) else operators.imod(a, b)


_BINARY: dict[str, tuple[Callable[..., Any], Callable[..., Any], str]] = {
    "Add": (operator.add, operator.iadd, "add"),
    "Sub": (operator.sub, operator.isub, "sub"),
    "Mult": (operator.mul, operator.imul, "mul"),
    "Div": (operators.div, operators.idiv, "truediv"),
    "FloorDiv": (operators.floordiv, operators.ifloordiv, "floordiv"),
    "Mod": (_remainder, _in_place_remainder, "mod"),
    "Pow": (operators.pow_, operators.ipow, "pow"),
    "MatMult": (operator.matmul, operator.imatmul, "matmul"),
    "LShift": (operators.lshift, operators.ilshift, "lshift"),
    "RShift": (operators.rshift, operators.irshift, "rshift"),
    "BitAnd": (operator.and_, operator.iand, "and"),
    "BitOr": (operator.or_, operator.ior, "or"),
    "BitXor": (operator.xor, operator.ixor, "xor"),
}
_COMPARE: dict[str, tuple[Callable[..., Any], str, str]] = {
    "Lt": (operator.lt, "lt", "gt"),
    "LtE": (operator.le, "le", "ge"),
    "Gt": (operator.gt, "gt", "lt"),
    "GtE": (operator.ge, "ge", "le"),
    "Eq": (operator.eq, "eq", "eq"),
    "NotEq": (operator.ne, "ne", "ne"),
}
_UNARY: dict[str, tuple[Callable[..., Any], str]] = {
    "USub": (operator.neg, "neg"),
    "UAdd": (operator.pos, "pos"),
    "Invert": (operator.invert, "invert"),
}
_PLAIN = frozenset({int, float, bool, complex, str, Leaf, ArrayHandle, Complex, Bundle,
                    Cell, np.ndarray, np.float64})  # fmt: skip


def _binary(plain: Callable[..., Any], name: str, reflected: str) -> Callable[[Any, Any], Any]:
    def hook(a: Any, b: Any) -> Any:
        trace = current()
        if trace is not None:
            trace.step(sys._getframe(1))
        if type(a) not in _PLAIN or type(b) not in _PLAIN:
            if is_among((a, b)):
                return spread(hook, a, b)
            if (a is None or b is None) and name in ("eq", "ne"):
                return (Is if name == "eq" else IsNot)(a, b)
            a, b = adopt(present(a)), adopt(present(b))
            if isinstance(a, Number) or isinstance(b, Number):
                a, b = _as_float(a, name), _as_float(b, name)
                if name in ("eq", "ne") and (isinstance(a, tuple) or isinstance(b, tuple)):
                    if is_ours(sys._getframe(1).f_code):
                        return name == "ne"  # keys of dicts, say, which have other hashes
            if stretched(a) is not None or stretched(b) is not None:
                return lists.binary(name, a, b)
            if listed(a) is not None or listed(b) is not None:
                return gathered.binary(name, a, b)
            if type(a) in partial.SUCH or type(b) in partial.SUCH:
                if name == "or" and (partial.is_partial(a) or partial.is_partial(b)):
                    return partial.union(a, b)
                partial.checked(f"an operand of {name}", a, b)
            for x, other, method in ((a, b, name), (b, a, reflected)):
                found = special(x, f"__{method}__")
                if found is not None:
                    out = call(found, x, other)
                    if out is not NotImplemented:
                        return out
                elif name == "ne" and special(x, "__eq__") is not None:
                    return Not(_EQUAL(a, b))
            if (a is None or b is None) and (is_number(a) or is_number(b)):
                raise _not_of_none(plain, a, b)
            if name in _ORDERS and holds_ordered(a) | holds_ordered(b):
                kind = tuple if isinstance(a, tuple) else list
                if isinstance(a, kind) and isinstance(b, kind):
                    return _in_turn(name, a, b)
            if name in ("eq", "ne") and isinstance(a, dict) and isinstance(b, dict):
                if a.keys() == b.keys() and any(map(is_ordered, (*a.values(), *b.values()))):
                    return _in_turn(name, tuple(a.values()), tuple(b[k] for k in a))
            if isinstance(a, str) and name != "mod" and type(b) is not Text:
                known(b)
            if name in ("eq", "ne") and _by_identity(a) and _by_identity(b):
                return (Is if name == "eq" else IsNot)(a, b)
            if name == "mul" and {type(a), type(b)} == {list, Leaf}:
                return lists.repeated(a, b) if type(a) is list else lists.repeated(b, a)
            asked = (x for x, method in ((a, name), (b, reflected)) if _answers(x, method))
            out = untouched(trace, asked, f"this {name}", plain, a, b)
            return checked(name, a, b, made_if_new(out))
        return checked(name, a, b, plain(a, b))

    return hook


def _not_of_none(plain: Callable[..., Any], *operands: Any) -> TypeError:
    """What Python says of a number and None: an end of this path, as any error of the program's."""
    try:
        plain(*(None if x is None else python_type(x)(1) for x in operands))
    except TypeError as error:
        return wrong_type(str(error), "Give it a value on this path, too.")
    raise AssertionError(plain)


def _as_float(value: Any, name: str) -> Any:
    """A fraction beside a number, as Python takes it; comparisons are exact there."""
    if isinstance(value, Fraction) and (name not in _ORDERS or value == Fraction(float(value))):
        return float(value)
    return value


_ORDERS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})


def holds_ordered(value: Any) -> bool:
    """Is it a tuple or list with an element whose order is more than Python's own?"""
    return isinstance(value, (tuple, list)) and any(map(is_ordered, value))


def is_ordered(value: Any) -> bool:
    """Is its order traced, or one of the user's?"""
    if isinstance(value, Number) or is_among((value,)) or holds_ordered(value):
        return True
    if is_optional(value) or is_held(value) or may_be_another(value):
        return True
    if listed(value) is not None or stretched(value) is not None:
        return True
    if any(special(value, name) for name in ("__lt__", "__gt__", "__eq__")):
        return True
    return is_outside(current(), value)  # which says itself how it is compared


def _answers(value: Any, method: str) -> bool:
    """Has its class this method, other than the one that all have?"""
    names = ("__ne__", "__eq__") if method == "ne" else (f"__{method}__",)
    return any(getattr(type(value), n, None) is not getattr(object, n, None) for n in names)


def _by_identity(value: Any) -> bool:
    """Is it equal to itself alone?"""
    method: Any = type(value).__eq__
    return method is object.__eq__


def _in_turn(name: str, a: Any, b: Any) -> Any:
    """What the first elements say that differ, as for all sequences of Python's."""
    if name in ("eq", "ne") and len(a) != len(b):
        return name == "ne"

    def says(k: int) -> Any:
        if k == min(len(a), len(b)):
            return {o: f for f, o, _ in _COMPARE.values()}[name](len(a), len(b))
        x, y = a[k], b[k]
        this = next(globals()[n] for n, (_, o, _) in _COMPARE.items() if o == name)
        return choose(x is y or _EQUAL(x, y), lambda: says(k + 1), lambda: _said(this, x, y))

    return says(0)


def _said(compare: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """A comparison which may be one that has no meaning, though it is never made."""
    try:
        return compare(x, y)
    except TypeError as error:
        if isinstance(error, JitadError) or current() is None:
            raise
        return lists.run(orders.have_none, str(error))


def _in_place(plain: Callable[..., Any], name: str, fallback: Any) -> Callable[[Any, Any], Any]:
    def hook(a: Any, b: Any) -> Any:
        trace = current()
        if trace is not None:
            trace.step(sys._getframe(1))
        if is_among((a, b)):
            return spread(hook, a, b)
        a, b = present(a), present(b)
        if stretched(a) is not None or (type(a) is list and stretched(b) is not None):
            with writing(a):
                return lists.in_place(name, a, b)
        if listed(a) is not None or (type(a) in SETS and listed(b) is not None):
            return gathered.in_place(name, a, b)
        if type(a) not in _PLAIN or type(b) not in _PLAIN:
            found = special(a, f"__i{name}__")
            if found is not None:
                return call(found, a, b)
            if isinstance(a, StandIn):
                return plain(a, b)
            if isinstance(a, MUTABLE):
                with writing(a):
                    if partial.in_place(name, a, b) or (name == "add" and taken_in(a, b)):
                        return a
                    note(a)
                    return checked(name, a, b, plain(a, items(b)))
            elif type(a) not in _PLAIN or b is None or special(b, f"__r{name}__") is not None:
                return fallback(a, b)
        if trace is None:
            outside.check_writable(a)
            return plain(a, b)
        return checked(name, a, b, plain(a, b))

    return hook


def _unary(plain: Callable[..., Any], name: str) -> Callable[[Any], Any]:
    def hook(a: Any) -> Any:
        trace = current()
        if trace is not None:
            trace.step(sys._getframe(1))
        if is_among((a,)):
            return spread(hook, a)
        a = present(a)
        if type(a) in _PLAIN:
            return checked(name, a, None, plain(a))
        if a is None:
            raise _not_of_none(plain, a)
        found = special(a, f"__{name}__")
        if found is not None:
            return call(found, a)
        return checked(name, a, None, untouched(trace, (a,), f"this {name}", plain, a))

    return hook


def named(name: str, value: Any) -> Any:
    """What the user calls a value; the first name stays."""
    if (type(value) is np.ndarray or is_numbas(type(value))) and current() is None:
        return outside.met(value)  # an element of a list from outside, say
    if isinstance(value, Complex):
        named(f"{name}_re", value.re)
        named(f"{name}_im", value.im)
        return value
    own = isinstance(value, ArrayHandle) and value.base is None and value.choice is None
    content = value.content if own else value
    if isinstance(content, Leaf) and isinstance(content.atom, Var) and not content.atom.name:
        content.atom.name = name
    return value


for _name, (_plain, _inplace, _method) in _BINARY.items():
    globals()[_name] = _binary(_plain, _method, "r" + _method)
    globals()["I" + _name] = _in_place(_inplace, _method, globals()[_name])
    HERE[getattr(operator, "i" + _method)] = globals()["I" + _name]
for _name, (_plain, _method, _other) in _COMPARE.items():
    globals()[_name] = _binary(_plain, _method, _other)
for _name, (_plain, _method) in _UNARY.items():
    globals()[_name] = _unary(_plain, _method)


HERE[operator.iconcat] = HERE[operator.iadd]
_EQUAL: Callable[[Any, Any], Any] = globals()["Eq"]


def In(a: Any, b: Any) -> Any:
    if is_among((a, b)):
        return spread(In, a, b)
    if is_optional(a):
        return asked(In, a, b)
    b = partial.seen(inside(present(b)))
    if stretched(b) is not None:
        return lists.contains(b, a)
    if type(b) in keyed.DICTS:
        a = keyed.plain(a, b)
        if tabled.is_tabled(b):
            return tabled.contains(b, a)
        if keyed.is_traced(a):
            return keyed.contains(b, a)
    if partial.slot(b, a):
        return partial.contains(b, a)
    if type(b) is partial.View:
        if b.kind == "keys":
            return In(a, b.owner)
        if tabled.is_tabled(b.owner):
            return lists.contains(tabled.seen_through(b.owner, b.kind), a)
        raise partial.refused("asked for what is in its values")
    if isinstance(b, Range) and type_of(a).dtype[0] in "iu":
        return b.holds(a)
    found = None if type(b) in _PLAIN else special(b, "__contains__")
    if found is not None:
        said = call(found, b, a)
        plain = isinstance(said, bool) or (isinstance(said, Leaf) and type_of(said) == BOOL)
        return said if plain else Not(Not(said))
    if isinstance(a, Leaf) or isinstance(b, Range) or (
        isinstance(b, (list, tuple)) and any(isinstance(x, Number) for x in b)
    ):
        return _among(a, b)
    if isinstance(b, SETS):
        if gathered.is_unknown(a):
            return _among(a, items(b))
        keyed.hashable(a, among=b)
    alike = isinstance(b, _ONE_BY_ONE) and any(special(x, "__eq__") for x in (a, *b))
    ours = looks_into if isinstance(b, _ONE_BY_ONE) else is_held  # a memo's keys are to be known
    copies = isinstance(b, (*_ONE_BY_ONE, *_BY_HASH)) and any(map(ours, (a, *b)))
    if alike or copies or not hasattr(type(b), "__contains__"):
        return _among(a, items(b))
    return untouched(current(), (b,), "looking in it", operator.contains, b, a)


_ONE_BY_ONE = (list, tuple, deque, ValuesView, ItemsView)  # compare what they hold
_BY_HASH = (dict, set, frozenset)


def _among(a: Any, values: Any) -> Any:
    out: Any = False
    for x in values:
        def same(x: Any = x) -> Any:
            return a is x or _EQUAL(x, a)
        out = either(out, same)
        if truth(out) is True:  # an iterator goes on here
            return out
    if out is not False and (trace := current()) is not None:
        leave(trace.left, values)  # if it is an iterator, of which all was taken here
    return out


def NotIn(a: Any, b: Any) -> Any:
    return Not(In(a, b))


def Not(a: Any) -> Any:
    known = truth(a)
    return not known if isinstance(known, bool) else bind("logical_not", known)


def test(a: Any) -> Any:
    """The truth of an operand of `and` or `or`, where no more is asked of it."""
    if stretched(a) is None:
        return a
    return truth(a)


def chain(ops: tuple[str, ...], left: Any, *rest: Callable[[], Any]) -> Any:
    """left op rest[0]() op rest[1]() ..., each evaluated once and only while all hold."""
    right = rest[0]()
    first = globals()[ops[0]](left, right)
    if len(ops) == 1:
        return first
    return both(first, lambda: chain(ops[1:], right, *rest[1:]))


# -- statements -----------------------------------------------------------------------------------


def assert_(condition: Any, text: Callable[[], Any] | None = None) -> None:
    known = truth(condition)
    if isinstance(known, bool):
        if not known:
            raise AssertionError(*(() if text is None else (text(),)))
        return
    trace = current()
    assert trace is not None
    trace.step(sys._getframe(1))
    branches.require_or_raise(trace, known, lambda: () if text is None else (text(),))


def decorating(decorator: Any) -> Any:
    """What stands behind an @."""
    return lambda thing: call(decorator, thing)


def delegated(value: Any) -> Any:
    """What `yield from` goes through."""
    return items(generators.one_by_one(among_parts(present(value))))


def yielding(value: Any, around: tuple[Any, ...]) -> Any:
    """In a block of the tape a generator may wait for a loop only, which goes on there."""
    trace: Trace | None = current()
    if trace is None or not any(s.traced for s in around):
        return value
    frame = sys._getframe(1)
    if not awaited(trace, frame):
        generators.only_for_loops(trace, frame)
        raise JitadError("yield under a traced condition can't be traced", trace.builder.pos,
                         "Loop over it with `for`, or collect the values in an array.")  # fmt: skip
    return value

