"""How do the threads of the team run a function that was compiled for the parts of a loop?"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, compiler

from jitad.emit.numba_private.compiler import KernelCompiler
from jitad.emit.numba_private.declarations import declare


class Spread:
    """The code that runs a compiled function for each part of a loop, on the threads of the team.

    A thread gets the address of a structure: the number of parts, the operands, and for each part
    a place for how its call ended.  The function is compiled into the module of its caller, who
    sees to it that no array that it writes is another of its operands.
    """

    def __init__(
        self, context: Any, builder: Any, dispatcher: Any, kinds: tuple[Any, ...], most: int
    ) -> None:
        self.context, self.builder, self.kinds, self.most = context, builder, kinds, most
        options = dispatcher.targetdescr.options
        flags = compiler.Flags()
        options.parse_as_flags(flags, dispatcher.targetoptions)
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.noalias = True
        flags.debuginfo = False
        dispatcher.kinds_of_parts = kinds  # for `vector_widths`
        run = KernelCompiler(dispatcher.targetdescr.typing_context, context,
                             context.active_code_library, kinds, None, flags, {})  # fmt: skip
        made = run.compile_extra(dispatcher.py_func)
        self.result = made.signature.return_type
        self.callee = context.declare_function(builder.module, made.fndesc)

    def all(
        self, parts: Any, operands: Any, most: int, summed: int, late: int, team: str
    ) -> None:
        """Run them, and raise what the first of those that raise has raised."""
        b, word, byte = self.builder, ir.IntType(64), ir.IntType(8).as_pointer()
        call_conv = self.context.call_conv
        number = self.callee.ftype.return_type
        self.ends = ir.LiteralStructType([number, self.callee.args[1].type.pointee])
        values = [v.type for v in operands]
        self.data = ir.LiteralStructType([word, ir.ArrayType(self.ends, self.most), *values])
        with b.goto_entry_block():
            data = b.alloca(self.data)  # as it comes: Numba's own would be cleared, field by field
        b.store(parts, self.field(b, data, 0))
        for k, v in enumerate(operands):
            b.store(v, self.field(b, data, 2 + k))
        thunk = self.thunk(summed)
        kind = ir.FunctionType(ir.VoidType(), [thunk.type, byte, word, word])
        ins = [thunk, b.bitcast(data, byte), parts, word(most)]
        b.call(declare(b.module, kind, team, ()), ins)
        with cgutils.for_range(b, parts) as loop:
            end = b.load(self.end_of(b, data, loop.index))
            self.propagate(b.extract_value(end, 0), b.extract_value(end, 1))
            if late:
                arguments = self.arguments(b, data, b.add(parts, loop.index), summed, False)
                status, _ = call_conv.call_function(
                    b, self.callee, self.result, self.kinds, arguments
                )
                with b.if_then(status.is_error, likely=False):
                    call_conv.return_status_propagate(b, status)

    def propagate(self, code: Any, about: Any) -> None:
        b, call_conv = self.builder, self.context.call_conv
        status = call_conv._get_return_status(b, code, about)
        with b.if_then(status.is_error, likely=False):
            call_conv.return_status_propagate(b, status)

    def field(self, b: Any, data: Any, k: int) -> Any:
        return b.gep(data, [ir.IntType(32)(0), ir.IntType(32)(k)], inbounds=True)

    def end_of(self, b: Any, data: Any, part: Any) -> Any:
        zero = ir.IntType(32)(0)
        return b.gep(data, [zero, ir.IntType(32)(1), part], inbounds=True)

    def thunk(self, summed: int) -> Any:
        """The function that the team calls with the structure and the number of a part."""
        word, byte = ir.IntType(64), ir.IntType(8).as_pointer()
        module = self.builder.module
        kind = ir.FunctionType(ir.VoidType(), [byte, word])
        name = module.get_unique_name(f"{self.callee.name}.part")
        thunk = ir.Function(module, kind, name)
        thunk.linkage = "internal"
        b = ir.IRBuilder(thunk.append_basic_block("entry"))
        data = b.bitcast(thunk.args[0], self.data.as_pointer())
        part = thunk.args[1]
        arguments = self.arguments(b, data, part, summed, True)
        status, _ = self.context.call_conv.call_function(
            b, self.callee, self.result, self.kinds, arguments
        )
        end = self.end_of(b, data, part)
        for k, v in enumerate((status.code, status.excinfoptr)):
            b.store(v, self.field(b, end, k))
        b.ret_void()
        return thunk

    def arguments(self, b: Any, data: Any, part: Any, summed: int, private: bool) -> list[Any]:
        """What a part is called with; `private`: with copies of its own, but for the first."""
        word = ir.IntType(64)
        values = [b.load(self.field(b, data, 2 + k)) for k in range(len(self.data.elements) - 2)]
        arrays, own, others = values[:summed], values[summed : 2 * summed], values[2 * summed :]
        if private:
            first = b.icmp_signed("==", part, word(0))
            for k, (a, copies) in enumerate(zip(arrays, own, strict=True)):
                t = self.kinds[2 + k]
                target = self.context.make_array(t)(self.context, b, a)
                many = self.context.make_array(t.copy(ndim=t.ndim + 1))(self.context, b, copies)
                at = b.mul(b.sub(part, word(1)), target.nitems)
                mine = b.gep(many.data, [at])
                target.data = b.select(first, target.data, mine)
                arrays[k] = target._getvalue()
        return [part, b.load(self.field(b, data, 0)), *arrays, *others]
