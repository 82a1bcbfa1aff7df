"""What do the operations of a rewritten function do?

Rewritten code calls these by name (`hooking.py`).  With plain operands each does what Python does;
what is read from outside the trace is captured, writes are noted in the journal, and calls go to
the twin of a user's function or to what stands in for a library's.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from types import CellType, FunctionType, ModuleType
from typing import Any

from jitad.errors import (
    JitadAttributeError,
    JitadError,
    JitadIndexError,
    JitadUnboundLocalError,
    JitadValueError,
)
from jitad.tape.build import Leaf
from jitad.trace import branches, loops, outside
from jitad.trace.branches import both, choose, either, if_, truth
from jitad.trace.calls import WHILE_TRACING, call, special
from jitad.trace.captures import Guard, is_library_module
from jitad.trace.containers import note
from jitad.trace.context import Trace, current
from jitad.trace.iterables import Counted, pick
from jitad.trace.texts import text
from jitad.trace.unset import UNSET, Perhaps
from jitad.values import operators
from jitad.values.array import ArrayHandle
from jitad.values.extents import as_int
from jitad.values.journal import MISSING, record
from jitad.values.journal import made as note_made
from jitad.values.kind import is_python, require, type_of
from jitad.values.number import Number, bind

for_, while_ = loops.for_, loops.while_
And, Or = both, either

__all__ = ["And", "Or", "call", "choose", "for_", "if_", "text", "while_"]

# -- operators ------------------------------------------------------------------------------------

_BINARY: dict[str, tuple[Callable[..., Any], Callable[..., Any], str]] = {
    "Add": (operator.add, operator.iadd, "add"),
    "Sub": (operator.sub, operator.isub, "sub"),
    "Mult": (operator.mul, operator.imul, "mul"),
    "Div": (operators.div, operators.idiv, "truediv"),
    "FloorDiv": (operators.floordiv, operators.ifloordiv, "floordiv"),
    "Mod": (operators.mod, operators.imod, "mod"),
    "Pow": (operators.pow_, operators.ipow, "pow"),
    "MatMult": (operator.matmul, operator.imatmul, "matmul"),
    "LShift": (operator.lshift, operator.ilshift, "lshift"),
    "RShift": (operator.rshift, operator.irshift, "rshift"),
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
_PLAIN = frozenset({int, float, bool, str, tuple, Leaf, ArrayHandle})


def _binary(plain: Callable[..., Any], name: str, reflected: str) -> Callable[[Any, Any], Any]:
    def hook(a: Any, b: Any) -> Any:
        trace = current()
        if trace is None:
            return plain(a, b)
        trace.step(sys._getframe(1))
        if type(a) not in _PLAIN or type(b) not in _PLAIN:
            for x, other, method in ((a, b, name), (b, a, reflected)):
                found = special(x, f"__{method}__")
                if found is not None:
                    out = call(found, x, other)
                    if out is not NotImplemented:
                        return out
        return plain(a, b)

    return hook


def _in_place(plain: Callable[..., Any], name: str, fallback: Any) -> Callable[[Any, Any], Any]:
    def hook(a: Any, b: Any) -> Any:
        trace = current()
        if trace is None:
            if type(a) in (list, dict, set):
                note(a)
            else:
                outside.check_writable(a)
            return plain(a, b)
        trace.step(sys._getframe(1))
        if type(a) in (list, dict, set):
            note(a)
        elif type(a) not in _PLAIN:
            found = special(a, f"__i{name}__")
            return call(found, a, b) if found is not None else fallback(a, b)
        return plain(a, b)

    return hook


def _unary(plain: Callable[..., Any], name: str) -> Callable[[Any], Any]:
    def hook(a: Any) -> Any:
        trace = current()
        if trace is None:
            return plain(a)
        trace.step(sys._getframe(1))
        found = None if type(a) in _PLAIN else special(a, f"__{name}__")
        return plain(a) if found is None else call(found, a)

    return hook


for _name, (_plain, _inplace, _method) in _BINARY.items():
    globals()[_name] = _binary(_plain, _method, "r" + _method)
    globals()["I" + _name] = _in_place(_inplace, _method, globals()[_name])
for _name, (_plain, _method, _other) in _COMPARE.items():
    globals()[_name] = _binary(_plain, _method, _other)
for _name, (_plain, _method) in _UNARY.items():
    globals()[_name] = _unary(_plain, _method)

Is, IsNot = operator.is_, operator.is_not


def In(a: Any, b: Any) -> Any:
    if isinstance(a, Leaf) or (
        isinstance(b, (list, tuple)) and any(isinstance(x, Number) for x in b)
    ):
        parts = [(lambda x=x: _COMPARE["Eq"][0](a, x)) for x in b]
        return either(False, *parts)
    found = None if type(b) in _PLAIN else special(b, "__contains__")
    return (a in b) if found is None else call(found, b, a)


def NotIn(a: Any, b: Any) -> Any:
    return Not(In(a, b))


def Not(a: Any) -> Any:
    known = truth(_boolean(a))
    return not known if isinstance(known, bool) else bind("logical_not", known)


def _boolean(a: Any) -> Any:
    """What decides the truth of an object of the user's own class."""
    if type(a) in _PLAIN or current() is None:
        return a
    for name in ("__bool__", "__len__"):
        found = special(a, name)
        if found is not None:
            return call(found, a)
    return a


def chain(ops: tuple[str, ...], left: Any, *rest: Callable[[], Any]) -> Any:
    """left op rest[0]() op rest[1]() ..., each evaluated once and only while all hold."""
    right = rest[0]()
    first = globals()[ops[0]](left, right)
    if len(ops) == 1:
        return first
    return both(first, lambda: chain(ops[1:], right, *rest[1:]))


# -- names ----------------------------------------------------------------------------------------


def local(value: Any) -> Any:
    """A local variable that may have got its value on some paths only."""
    if isinstance(value, Perhaps):
        name = f"local variable '{value.name}'"
        text = f"cannot access {name} where it is not associated with a value"
        require(value.flag, JitadUnboundLocalError, text)
        return value.value
    return value


def free(value: Any, thunk: Any, whole: bool = True) -> Any:
    """A variable of a function around this one."""
    trace = current()
    if trace is None:
        return outside.met(value)
    cell = thunk.__closure__[0]
    path = trace.captures.path_of(cell)
    if path is not None and not trace.journal.touched(cell, "cell"):
        return trace.captures.read(path, value, whole)
    return local(value)


def glob(value: Any, name: str, whole: bool = True) -> Any:
    """A global variable, or a builtin."""
    trace = current()
    if trace is None:
        return outside.met(value)
    frame = sys._getframe(1)
    module = frame.f_globals
    if name not in module or trace.journal.touched(module, name):
        return value
    path = trace.captures.path_of(module)
    if path is None:
        return value
    trace.step(frame)
    return trace.captures.read(path.then("global", name), value, whole)


def pick_locals(variables: dict[str, Any], names: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(variables.get(n, UNSET) for n in names)


def note_global(name: str) -> None:
    module = sys._getframe(1).f_globals

    def assign(value: Any) -> None:
        if value is MISSING:
            module.pop(name, None)
        else:
            module[name] = value

    def read() -> Any:
        return module.get(name, MISSING)

    _note_place(module, name, read, assign, ("global", name))


def note_cell(cell: CellType) -> None:
    def read() -> Any:
        try:
            return cell.cell_contents
        except ValueError:
            return MISSING

    def assign(value: Any) -> None:
        if value is MISSING:
            del cell.cell_contents
        else:
            cell.cell_contents = value

    _note_place(cell, "cell", read, assign, None)


def _note_place(target: Any, slot: Any, read: Any, assign: Any, step: Any) -> None:
    """A place is about to be written; if it is outside, its old value becomes the trace's."""
    trace = current()
    if trace is None:
        outside.note(target, slot, read, assign)
        return
    path = trace.captures.path_of(target)
    if path is not None and not trace.journal.touched(target, slot):
        trace.captures.replace(path if step is None else path.then(*step), read, assign)
    record(target, slot, read(), read, assign)


def append(target: Any, item: Any) -> None:
    """target.append(item): of a list from outside that is never looked into, only this is known."""
    trace = current()
    if trace is None or type(target) is not list:
        call(target.append, item)
        return
    trace.step(sys._getframe(1))
    captures = trace.captures
    if captures.path_of(target) is None or captures.looks_into(target):
        note(target)
        target.append(item)
        return
    start = captures.length_of(target)

    def assign(content: Any) -> None:
        target[start:] = content

    record(target, "appended", target[start:], lambda: target[start:], assign)
    target.append(item)


# -- attributes and items -------------------------------------------------------------------------


def get_attr(owner: Any, name: str, whole: bool = True) -> Any:
    trace = current()
    if isinstance(owner, (Number, ArrayHandle)):
        if trace is not None:
            trace.step(sys._getframe(1))
        return _attribute_of_number(owner, name)
    if trace is None:
        return outside.met(getattr(owner, name))
    trace.step(sys._getframe(1))
    prop = getattr(type(owner), name, None)
    if isinstance(prop, property) and isinstance(prop.fget, FunctionType):
        return call(prop.fget, owner)
    value = getattr(owner, name)
    captures = trace.captures
    if isinstance(owner, ModuleType) and is_library_module(owner):
        return value
    path = captures.path_of(owner)
    if path is None or trace.journal.touched(owner, ("attr", name)):
        return local(value)
    if getattr(value, "__self__", None) is owner and hasattr(value, "__func__"):
        captures.read(path.then("attr", name).then("attr", "__func__"), value.__func__)
        return value
    return captures.read(path.then("attr", name), value, whole)


def _attribute_of_number(owner: Any, name: str) -> Any:
    try:
        return getattr(owner, name)
    except AttributeError as e:
        if isinstance(e, JitadError):
            raise
        python = isinstance(owner, Number) and is_python(owner)
        kinds = {"f": "float", "i": "int", "b": "bool"}
        kind = kinds[type_of(owner).dtype[0]] if python else "NumPy array or number"
        raise JitadAttributeError(f"a {kind} has no attribute {name!r} that jitad knows") from None


def set_attr(value: Any, owner: Any, name: str) -> None:
    trace = current()
    if trace is None:
        _note_attr(owner, name)
        setattr(owner, name, value)
        return
    trace.step(sys._getframe(1))
    prop = getattr(type(owner), name, None)
    if isinstance(prop, property) and isinstance(prop.fset, FunctionType):
        call(prop.fset, owner, value)
        return
    _note_attr(owner, name)
    setattr(owner, name, value)


def del_attr(owner: Any, name: str) -> None:
    _note_attr(owner, name)
    delattr(owner, name)


_REQUIRED = object()


def _getattr(owner: Any, name: str, default: Any = _REQUIRED) -> Any:
    """The builtin getattr."""
    try:
        return get_attr(owner, name)
    except AttributeError:
        if default is _REQUIRED:
            raise
        trace = current()
        path = trace.captures.path_of(owner) if trace is not None else None
        if trace is not None and path is not None:
            trace.captures.guards.append(Guard(path.then("attr", name), "missing", None))
        return default


def _hasattr(owner: Any, name: str) -> bool:
    found = object()
    return _getattr(owner, name, found) is not found


def _setattr(owner: Any, name: str, value: Any) -> None:
    set_attr(value, owner, name)


def _set_past(owner: Any, name: str, value: Any) -> None:
    """object.__setattr__, which frozen dataclasses need."""
    _note_attr(owner, name)
    object.__setattr__(owner, name, value)


WHILE_TRACING.update({
    getattr: _getattr,
    hasattr: _hasattr,
    setattr: _setattr,
    delattr: lambda owner, name: del_attr(owner, name),
    vars: lambda owner: get_attr(owner, "__dict__"),
    object.__setattr__: _set_past,
})  # fmt: skip


def _note_attr(owner: Any, name: str) -> None:
    if isinstance(owner, (Number, ArrayHandle)):
        return

    def read() -> Any:
        return vars(owner).get(name, MISSING) if hasattr(owner, "__dict__") else getattr(
            owner, name, MISSING
        )

    def assign(value: Any) -> None:
        if value is MISSING:
            object.__delattr__(owner, name)
        else:
            object.__setattr__(owner, name, value)

    if isinstance(owner, (type, ModuleType)):
        def assign(value: Any) -> None:
            delattr(owner, name) if value is MISSING else setattr(owner, name, value)

    _note_place(owner, ("attr", name), read, assign, ("attr", name))


def get_item(owner: Any, index: Any) -> Any:
    if isinstance(owner, Number) and isinstance(index, tuple) and not index:
        return owner  # as of a NumPy scalar
    trace = current()
    if trace is None:
        return outside.met(owner[index]) if type(owner) in (list, tuple, dict) else owner[index]
    trace.step(sys._getframe(1))
    if isinstance(index, Leaf) and isinstance(owner, (list, tuple)):
        return _traced_item(owner, as_int(index, f"the index of a {type(owner).__name__}"))
    if type(owner) not in (list, tuple, dict, ArrayHandle):
        found = special(owner, "__getitem__")
        if found is not None:
            return call(found, owner, index)
    if isinstance(owner, Counted):
        return owner.item(index)
    return owner[index]


def _traced_item(owner: Any, index: Leaf) -> Any:
    n = len(owner)
    positive = bind("where", bind("lt", index, 0), bind("add", index, n), index)
    inside = bind("logical_and", bind("ge", positive, 0), bind("lt", positive, n))
    require(inside, JitadIndexError, f"{type(owner).__name__} index out of range")
    return pick(owner, positive)


def set_item(value: Any, owner: Any, index: Any) -> None:
    trace = current()
    if trace is not None:
        trace.step(sys._getframe(1))
        if type(owner) in (list, dict):
            note(owner)
        else:
            found = special(owner, "__setitem__")
            if found is not None:
                call(found, owner, index, value)
                return
    elif type(owner) in (list, dict):
        note(owner)
    else:
        outside.check_writable(owner)
    owner[index] = value


def del_item(owner: Any, index: Any) -> None:
    if current() is not None:
        if type(owner) in (list, dict):
            note(owner)
        elif (found := special(owner, "__delitem__")) is not None:
            call(found, owner, index)
            return
    del owner[index]


def unpack(value: Any, count: int | None) -> Any:
    """The parts of a value that is assigned to several targets."""
    if isinstance(value, ArrayHandle) and count is not None:
        n = value.shape[0]
        if isinstance(n, Leaf):
            require(bind("eq", n, count), JitadValueError, f"expected {count} values to unpack")
            return [value.row(k) for k in range(count)]
    return value


def made(thing: Any) -> Any:
    """A list, dict or set that was written down just now."""
    note_made(thing)
    return thing


# -- statements -----------------------------------------------------------------------------------


def assert_(condition: Any, text: Callable[[], Any] | None = None) -> None:
    known = truth(_boolean(condition))
    if isinstance(known, bool):
        if not known:
            raise AssertionError(*(() if text is None else (text(),)))
        return
    trace = current()
    assert trace is not None
    trace.step(sys._getframe(1))
    branches.require_or_raise(trace, known, lambda: () if text is None else (text(),))


class trying:
    """The body of a `try` with handlers: a check in it must not be one that they would catch."""

    def __init__(self, types: Callable[[], tuple[type, ...]]) -> None:
        self.types, self.trace = types, current()

    def __enter__(self) -> None:
        if self.trace is not None:
            flat: list[Any] = []
            given: tuple[Any, ...] = self.types()
            for t in given:
                flat += t if isinstance(t, tuple) else [t]
            self.caught = tuple(flat)
            self.trace.trying.append(self.caught)
            self.block = self.trace.builder.blocks[-1]
            self.at = len(self.block.equations)

    def __exit__(self, kind: Any, *_: object) -> None:
        if self.trace is None:
            return
        self.trace.trying.pop()
        from jitad.tape.ir import Block, walk

        inside = Block([], self.block.equations[self.at :])
        for e in walk(inside):
            caught = e.op == "check" and issubclass(e.params["exception"], self.caught)
            if caught and e.params["exception"].__name__ != "GuardMiss":
                raise JitadError(
                    "an exception that depends on traced values can't be caught", e.pos,
                    "Test the condition with `if` instead of `try`.",
                )  # fmt: skip


def yielding(value: Any, around: tuple[Any, ...]) -> Any:
    """A generator may not wait inside a branch or loop that becomes a block of the tape."""
    trace: Trace | None = current()
    if trace is not None and any(s.traced for s in around):
        raise JitadError("yield under a traced condition can't be traced", trace.builder.pos,
                         "Collect the values in an array.")  # fmt: skip
    return value

