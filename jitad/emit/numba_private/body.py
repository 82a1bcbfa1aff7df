"""What is the body of a function written with, where it is translated from source?"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Collection, Iterable
from functools import reduce
from typing import Any, NamedTuple

from llvmlite import ir
from numba import types
from numba.core import callconv, cgutils, errors, typing
from numba.core import ir as numba_ir

from jitad.emit.numba_private.arrays import Parts, _made, reach
from jitad.emit.numba_private.division import Division
from jitad.emit.numba_private.neighbours import Neighbours
from jitad.emit.numba_private.on_stack import Frame
from jitad.emit.numba_private.registries import load_all
from jitad.emit.numba_private.shared import Shared, called, can_be_handed, declared
from jitad.emit.numba_private.unrolling import Unrolling


class NotTranslated(errors.NumbaError):
    """The source of a function has something that `translate` doesn't know."""

    def __init__(self, what: str) -> None:
        super().__init__(what, highlighting=False)


LONG = 40  # instructions of a call that is written once, if it comes again
_DOUBLE = ir.DoubleType()
_COUNTED = types.MemInfoPointer(types.voidptr)


class Typed(NamedTuple):
    """A value of LLVM's and its Numba type."""

    value: Any
    type: Any


class Body:
    """What the body of a function is written with: operations as Numba types and lowers them."""

    def __init__(
        self, lower: Any, builder: Any = None, arguments: list[Typed] | None = None
    ) -> None:
        """`builder`, `arguments`: of a function of its module instead."""
        self.builder = builder or lower.builder
        self.arguments = arguments if arguments is not None else [
            Typed(v, t) for v, t in zip(lower.fnargs, lower.fndesc.argtypes, strict=True)
        ]  # fmt: skip
        self._lower, self._context = lower, lower.context
        self._typing = self._context.typing_context
        self._known: dict[Any, Any] = {}
        self._ints: dict[int, Typed] = {}
        self._counted: dict[int, tuple[bool, Any]] = {}  # by the id of a type
        self._seldom: Any = None
        self._shared: dict[Any, Shared] = {}
        self._of: Shared | None = None  # the function that this is the body of
        self.recurs = False  # may it call itself, so that its frame is to be small?
        self._long: set[Any] = set()  # calls that take many instructions
        # with lines in the code it is read by people, or by `vector_widths`
        self.shares = not lower.flags.debuginfo
        self.disjoint = bool(lower.flags.noalias)  # does no array overlap another?
        self._exceptions: list[bytes] = []
        self._raised: list[tuple[int, Any]] = []  # number of an exception, block that raises it
        self._failing: Any = None
        self.division = Division(self.builder)
        self._frames: dict[bool, Frame] = {}
        self._unrolling = Unrolling(self.builder)
        self._neighbours = Neighbours(self.builder)

    def line(self, number: int) -> None:
        if not self.shares:
            self._lower.debuginfo.mark_location(self.builder, number)



    def constant(self, value: Any) -> Typed:
        """A number, a text, a class of numbers."""
        if type(value) is float:
            return Typed(ir.Constant(_DOUBLE, value), types.float64)
        if type(value) is int:
            if value not in self._ints:
                self._ints[value] = self._constant(value)
            return self._ints[value]
        return self._constant(value)

    def _constant(self, value: Any) -> Typed:
        kind = types.literal(value) if type(value) in (int, bool, str) else (
            self._typing.resolve_value_type(value)
        )  # fmt: skip
        return Typed(self._context.get_constant_generic(self.builder, kind, value), kind)

    def as_float(self, x: Typed) -> Any:
        """The value of a float, and of an int that stands in the source; else None."""
        if x.type is types.float64:
            return x.value
        if isinstance(x.type, types.IntegerLiteral):
            return ir.Constant(_DOUBLE, float(x.type.literal_value))
        return None

    def is_int(self, x: Typed) -> bool:
        return types.unliteral(x.type) == types.int64

    def common(self, a: Any, b: Any) -> Any:
        """The type of what may be either."""
        a, b = types.unliteral(a), types.unliteral(b)
        both = a if a == b else self._typing.unify_types(a, b)
        if both is None or self.is_counted(both):
            raise NotTranslated(f"either {a} or {b}")
        return both

    def cast(self, x: Typed, kind: Any) -> Any:
        if x.type is kind or x.type == kind:
            return x.value
        return self._context.cast(self.builder, x.value, x.type, kind)

    def together(self, parts: list[Typed]) -> Typed:
        """A tuple."""
        kinds = [types.unliteral(x.type) for x in parts]
        kind = types.BaseTuple.from_types(kinds)
        values = [self.cast(x, t) for x, t in zip(parts, kinds, strict=True)]
        return Typed(self._context.make_tuple(self.builder, kind, values), kind)



    def runs(self, start: Any, stop: Any, step: int) -> Any:
        """Has a loop an iteration?  None if it has for sure."""
        if isinstance(start, ir.Constant) and isinstance(stop, ir.Constant):
            return None if range(start.constant, stop.constant, step) else ir.IntType(1)(0)
        return self.builder.icmp_signed("<" if step > 0 else ">", start, stop)

    def both(self, conditions: list[Any]) -> Any:
        """Do all hold?  None if there are none."""
        return reduce(self.builder.and_, conditions) if conditions else None

    def repeat(self, counter: Any, following: Any, stop: Any, after: Any) -> None:
        """The next iteration of a loop that begins at its counter, or what comes after it."""
        b = self.builder
        counter.add_incoming(following, b.block)
        step = following.operands[1].constant
        more = b.icmp_signed("<" if step > 0 else ">", following, stop)
        self._unrolling.close(b.cbranch(more, counter.parent, after), counter, stop)
        self._neighbours.close(counter)

    def apply(self, function: Any, args: list[Typed]) -> Typed:
        """A call of something that Numba knows."""
        if function in (max, min) and len(args) == 2 and all(map(self.is_int, args)):
            a, b = (self.cast(x, types.int64) for x in args)
            first = self.builder.icmp_signed(">" if function is max else "<", a, b)
            return Typed(self.builder.select(first, a, b), types.int64)
        return self._call(function, None, args)

    def in_frame(self, function: Any, args: list[Typed], result: bool, again: bool) -> Typed:
        """A new array that is soon forgotten, or a `result`; `again`: see `Frame.serving`."""
        if self.recurs or (result and self.builder is not self._lower.builder):
            return self._call(function, None, args)
        if result not in self._frames:
            self._frames[result] = Frame(self.builder, result)
        with self._frames[result].serving(again):
            return self._call(function, None, args)

    def wrapping(self, number: Typed) -> Typed:
        """A number that was just computed, without the promise that it does not overflow."""
        made = number.value
        if isinstance(made, ir.Instruction) and made.opname in ("add", "sub", "mul"):
            made.flags = ()
        return number

    def method(self, owner: Typed, name: str, args: list[Typed]) -> Typed:
        return self._call(name, owner, args)

    def attribute(self, owner: Typed, name: str) -> Typed:
        kind = self._typing.resolve_getattr(owner.type, name)
        if kind is None:
            raise NotTranslated(f"{name} of {owner.type}")
        run = self._context.get_getattr(owner.type, name)
        return Typed(run(self._context, self.builder, owner.type, owner.value, name), kind)

    def _call(self, function: Any, owner: Typed | None, args: list[Typed]) -> Typed:
        of = None if owner is None else owner.type
        # Types are few and live on; to compare them is slow.
        brief = (function, id(of), *[id(x.type) for x in args])
        known = self._known.get(brief)
        if known is None:
            key = (function, of, *(x.type for x in args))
            signature, run = self._resolve(*key)
            shares = owner is None and self.shares and signature.pysig is None and (
                _reaches_arrays(signature)
            )
            known = self._known[brief] = key, signature, run, shares
        key, signature, run, shares = known
        given = self._folded(signature, args)
        if owner is not None:
            given = [owner.value, *given]
        elif shares:
            return self._library(key, signature, run, given)
        return Typed(run(self.builder, given), signature.return_type)

    def _library(self, key: Any, signature: Any, run: Any, given: list[Any]) -> Typed:
        """A call of something that reaches arrays: if it is long, from the second time on of a
        function that is shared."""
        made = signature.return_type
        handed = [k for k, v in enumerate(given) if not isinstance(v, ir.Constant)]
        possible = all(can_be_handed(signature.args[k]) for k in handed)
        if key not in self._long or not possible:
            here, blocks = self.builder.block, self.builder.function.blocks
            length, there = len(here.instructions), len(blocks)
            out = Typed(run(self.builder, given), made)
            new = sum(len(x.instructions) for x in blocks[there:])
            if new + len(here.instructions) - length > LONG:
                self._long.add(key)
            return out
        fixed = tuple(str(v) for v in given if isinstance(v, ir.Constant))

        def write(body: Body) -> Any:
            values = list(given)
            for k, x in zip(handed, body.arguments, strict=True):
                values[k] = x.value
            return body.finish(Typed(run(body.builder, values), made))

        operands = [Typed(given[k], signature.args[k]) for k in handed]
        return self.shared((key, fixed), operands, (), write)

    def shared(
        self, key: Any, operands: list[Typed], alone: Collection[int], write: Callable[[Body], Any]
    ) -> Typed:
        """What a function of the module gives, which `write` writes where `key` is new, as
        `translate` does; `alone`: arrays that no other operand overlaps."""
        context, b = self._context, self.builder
        key = (key, *(x.type for x in operands), *sorted(alone))
        if key not in self._shared:
            inner, values = declared(context, b, operands, alone)
            kinds = [Typed(v, x.type) for v, x in zip(values, operands, strict=True)]
            body = Body(self._lower, inner, kinds)
            body._known, body._shared, body._long = self._known, self._shared, self._long
            body._of = of = self._shared[key] = Shared(inner.function)
            of.result = write(body)
            of.complete = True
        of = self._shared[key]
        if of.result is None:
            raise NotTranslated("a function that calls itself before it says what it gives")
        return Typed(called(context, b, of, operands, lambda: self._fails()[1]), of.result)

    def _resolve(self, function: Any, of: Any, *kinds: Any) -> tuple[Any, Any]:
        name = of is not None
        try:
            what = (self._typing.resolve_getattr(of, function) if name
                    else self._typing.resolve_value_type(function))  # fmt: skip
            signature = what and self._typing.resolve_function_type(what, kinds, {})
            if not signature or name != bool(signature.recvr):
                raise NotTranslated(f"a call of {function}")
            return signature, self._context.get_function(what, signature)
        except (errors.NumbaError, NotImplementedError):
            if not load_all(self._context):
                raise
        return self._resolve(function, of, *kinds)

    def _folded(self, signature: Any, args: list[Typed]) -> list[Any]:
        """The values that are handed over: defaults filled in, those of `*args` in a tuple."""
        if signature.pysig is None:
            return [self.cast(x, t) for x, t in zip(args, signature.args, strict=True)]

        def given(k: int, _: Any, x: Typed) -> Any:
            return self.cast(x, signature.args[k])

        def default(k: int, _: Any, value: Any) -> Any:
            return self._context.get_constant_generic(self.builder, signature.args[k], value)

        def starred(k: int, _: Any, values: list[Typed]) -> Any:
            parts = [self.cast(x, t) for x, t in zip(values, signature.args[k], strict=True)]
            return cgutils.make_anonymous_struct(self.builder, parts)

        return list(typing.fold_arguments(signature.pysig, args, {}, given, default, starred))

    def _place(self, array: Typed, index: list[Typed]) -> Any:
        """A pointer to an element of an array of numbers, its alignment."""
        a = array.type
        plain = isinstance(a, types.Array) and isinstance(a.dtype, (types.Number, types.Boolean))
        if not plain or len(index) != a.ndim or a.ndim == 0:
            raise NotTranslated(f"an index into {a}")
        if not all(isinstance(i.type, types.Integer) for i in index):
            raise NotTranslated("an index that is no int")
        at = [self.cast(i, types.intp) for i in index]
        return reach(self._context, self.builder, a, array.value, at)

    def load(self, array: Typed, index: list[Typed]) -> Typed:
        place, align = self._place(array, index)
        value = self._context.unpack_value(self.builder, array.type.dtype, place, align)
        return Typed(value, array.type.dtype)

    def store(self, array: Typed, index: list[Typed], value: Typed) -> None:
        if not getattr(array.type, "mutable", False):
            raise NotTranslated("a store to what is read only")
        place, align = self._place(array, index)
        kind = array.type.dtype
        self._context.pack_value(self.builder, kind, self.cast(value, kind), place, align)

    def extent(self, array: Typed, axis: int) -> Typed:
        if not isinstance(array.type, types.Array):
            raise NotTranslated(f"the shape of {array.type}")
        parts = Parts(self._context, self.builder, array.type, array.value)
        return Typed(parts.extent(axis), types.intp)



    def memory(self, kind: Any) -> Any:
        """Room for a value of this type; it holds no reference at first."""
        place = self._context.get_value_type(kind)
        return cgutils.alloca_once(self.builder, place, zfill=self.is_counted(kind))

    def is_counted(self, kind: Any) -> bool:
        known = self._counted.get(id(kind))
        if known is None:  # the type is kept, so that no other has its id
            counted = self._context.data_model_manager[kind].contains_nrt_meminfo()
            known = self._counted[id(kind)] = counted, kind
        return known[0]

    def incref(self, x: Typed) -> None:
        self._context.nrt.incref(self.builder, x.type, x.value)

    def decref(self, x: Typed) -> None:
        self._context.nrt.decref(self.builder, x.type, x.value)

    def lent(self, x: Typed) -> Typed | None:
        """An array as a function takes it, if it lies so: contiguous, aligned, writable."""
        a = x.type
        if not (isinstance(a, types.Array) and a.layout == "C" and a.aligned):
            return None
        return Typed(x.value, types.Array(a.dtype, a.ndim, "C"))

    def reshaped(self, x: Typed, extents: Typed) -> Typed | None:
        """The same elements with other extents, if they lie side by side; there are as many."""
        plain = isinstance(extents.type, types.BaseTuple) and all(
            isinstance(t, types.Integer) for t in extents.type
        )
        if not plain or self.lent(x) is None or not extents.type.count:
            return None
        b, kind = self.builder, x.type.copy(ndim=extents.type.count)
        array = Parts(self._context, b, x.type, x.value)
        new = [
            self.cast(Typed(b.extract_value(extents.value, k), t), types.int64)
            for k, t in enumerate(extents.type)
        ]
        made = _made(self._context, b, kind, array.data, new, *array.owner)
        out = Typed(made.value, kind)
        self.incref(out)
        return out

    def references(self, x: Typed) -> Any:
        """What is counted of a value, and nothing else of it: one place an array."""
        held = self._context.nrt.get_meminfos(self.builder, x.type, x.value)
        return cgutils.pack_array(self.builder, [m for _, m in held], ir.IntType(8).as_pointer())

    def owner(self, references: Any) -> Any:
        """Room for such references; there are none at first."""
        return cgutils.alloca_once(self.builder, references.type)

    def let_go(self, owner: Any) -> None:
        """Of what is in there."""
        kept = self.builder.load(owner)
        for k in range(kept.type.count):
            self.decref(Typed(self.builder.extract_value(kept, k), _COUNTED))

    def clear(self, place: Any) -> None:
        self.builder.store(ir.Constant(place.type.pointee, None), place)



    def seldom(self, branch: Any) -> None:
        """The first of its two ways is hardly ever taken."""
        if self._seldom is None:
            branch.set_weights([1, 99])
            self._seldom = branch.metadata["prof"]
        branch.set_metadata("prof", self._seldom)

    def fail_if(self, truth: Any, exception: Any, args: list[Any], line: int) -> None:
        """Raise what is the same every time, on a condition."""
        b = self.builder
        after = b.append_basic_block("after")
        self._know(exception, args, line)
        self.seldom(b.cbranch(truth, self._fails()[0], after))
        b.position_at_end(after)

    def _know(self, exception: Any, args: list[Any], line: int) -> None:
        """The block that is being written goes where an exception of known number is raised."""
        where = (self._lower.func_ir.func_id.func_name, self._lower.func_ir.loc.filename, line)
        self._raised.append((len(self._exceptions), self.builder.block))
        self._exceptions.append(pickle.dumps((exception, tuple(args), where), 4))

    def fail(self, exception: Any, args: list[Any], line: int) -> None:
        """Raise; `args` are what they are in Python, or values of the function."""
        b, conv = self.builder, self._context.call_conv
        known, ending = self._fails()
        if not any(isinstance(a, Typed) for a in args):
            self._know(exception, args, line)
            b.branch(known)
            return
        name = self._lower.func_ir.func_id.func_name
        for a in args:
            if isinstance(a, Typed) and self.is_counted(a.type):
                self.incref(a)
        values = tuple(a.value if isinstance(a, Typed) else a for a in args)
        kinds = tuple(a.type if isinstance(a, Typed) else None for a in args)
        loc = numba_ir.Loc(self._lower.func_ir.loc.filename, line)
        conv.set_dynamic_user_exc(b, exception, values, kinds, loc=loc, func_name=name)
        b.branch(ending)

    def _fails(self) -> tuple[Any, Any]:
        """The blocks where an exception of known number is raised, and where the function ends."""
        if self._failing is None:
            new = self.builder.append_basic_block
            self._failing = new("failing"), new("ending")
        found: tuple[Any, Any] = self._failing
        return found

    def finish(self, x: Typed) -> Any:
        """Return this; gives its type."""
        kind, context, b = types.unliteral(x.type), self._context, self.builder
        made = context.get_return_value(b, kind, self.cast(x, kind))
        b.store(made, b.bitcast(b.function.args[0], made.type.as_pointer()))
        context.call_conv._return_errcode_raw(b, callconv.RETCODE_OK)
        if self._of is not None:
            self._of.result = kind
        return kind

    def close(self, owners: list[Any], slots: Iterable[Any]) -> None:
        """The function is complete; `slots`: memory of names that are bound more than once."""
        if self.builder is self._lower.builder:
            for of in self._shared.values():
                if of.calls == 1:
                    of.function.attributes.discard("noinline")
        known, ending = self._failing or (None, None)
        number = self._fail(known, ending, owners) if self._failing is not None else None
        self.division.cut(known, ending, number, slots)

    def _fail(self, known: Any, ending: Any, owners: list[Any]) -> Any:
        """Where the function fails, say why, and let go of all that is held; gives the number."""
        b, conv, number = self.builder, self._context.call_conv, None
        b.position_at_end(known)
        if self._raised:
            number = b.phi(ir.IntType(64))
            for k, block in self._raised:
                number.add_incoming(ir.Constant(number.type, k), block)
            table = self._table()
            b.store(b.gep(table, [number.type(0), number]), conv._get_excinfo_argument(b.function))
            b.branch(ending)
        else:
            b.unreachable()
        b.position_at_end(ending)
        for place in owners:
            self.let_go(place)
        conv._return_errcode_raw(b, callconv.RETCODE_USEREXC)
        return number

    def _table(self) -> Any:
        """What Numba reads to raise each exception.

        Numba has three globals for each, which cost LLVM more than the rest of a function that
        checks every line.
        """
        word, byte = ir.IntType(32), ir.IntType(8).as_pointer()
        texts = [hashlib.sha1(made).digest() + made for made in self._exceptions]
        all_ = _constant(self.builder.module, cgutils.make_bytearray(b"".join(texts)))
        rows, at = [], 0
        for text in texts:
            start, data = (all_.gep([word(0), word(k)]) for k in (at, at + 20))
            rows.append(ir.Constant.literal_struct(
                [data, word(len(text) - 20), start, ir.Constant(byte, None), word(0)]
            ))  # fmt: skip
            at += len(text)
        kind = ir.ArrayType(callconv.excinfo_t, len(rows))
        return _constant(self.builder.module, ir.Constant(kind, rows))


def _reaches_arrays(signature: Any) -> bool:
    """May a call of it be a function that is shared, and is there an array in it?"""
    plain = signature.return_type == types.none or can_be_handed(signature.return_type)
    return plain and not isinstance(signature.return_type, types.Array) and (
        any(isinstance(t, types.Array) for t in signature.args)
    )


def _constant(module: Any, value: Any) -> Any:
    out = ir.GlobalVariable(module, value.type, module.get_unique_name("jitad_constant"))
    out.linkage, out.global_constant, out.initializer = "internal", True, value
    return out
