"""How does the source of a kernel become LLVM code, statement by statement?

Numba finds the types of a function's variables by rounds over its bytecode.  Emitted source needs
none: what a name stands for is bound before it is read, and has one type.  So one walk over the
source types and translates it; what an operation or a function of the preamble is made of is
Numba's to say, as ever (`numba_private.Body`), so the code is the same, in a tenth of the time.

What this walk does not know (`NotTranslated`: functions beside the kernel, a name of two types)
is left to Numba.

References: a parameter is the caller's.  What a call gives is owned by the name that it is bound
to, which lets go of it after its last mention, or where the function fails (`Body.failing`).
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba import types

from jitad.emit.cheap import is_cheap
from jitad.emit.names_in_source import checked, is_float_of, longest, mentions
from jitad.emit.numba_private import Body, NotTranslated, Typed, can_be_handed
from jitad.emit.operations import OF_FLOATS, OPERATORS, literal
from jitad.emit.passing import Passing
from jitad.emit.repeated import disjoint, function_of, repeated


def translate(function: ast.FunctionDef, space: dict[str, Any], body: Body) -> Any:
    """Write the function's code; gives the type of its result.  `space`: its globals."""
    return _Translation(function, space, body).run()


class _Translation:
    def __init__(self, function: ast.FunctionDef, space: dict[str, Any], body: Body) -> None:
        self.function, self.space, self.body = function, space, body
        self.b = body.builder
        self.mentions = mentions(function)
        self.values: dict[str, Typed] = {}  # names that are bound once
        self.slots: dict[str, tuple[Any, Any]] = {}  # the others: memory, type
        self.owners: dict[str, Any] = {}  # memory that holds references
        self.borrowed = {a.arg for a in function.args.args}
        self.loops: list[Any] = []  # the blocks behind the loops around
        self.result: Any = None
        self.passing = Passing(function)
        self.checked = checked(function)
        self.longest = longest(function.body)
        self.repeated = repeated(function, self.mentions, self.checked) if body.shares else {}
        self.disjoint = disjoint(function, self.mentions) if self.repeated else set()
        self.wraps = False  # may what is computed overflow, which a check then sees?

    def run(self) -> Any:
        for a, value in zip(self.function.args.args, self.body.arguments, strict=True):
            if a.arg not in self.mentions.single:
                raise NotTranslated(f"the parameter {a.arg} is bound anew")
            self.values[a.arg] = value
        self.block(self.function.body)
        if not self.b.block.is_terminated or self.result is None:
            raise NotTranslated("there is no return at the end")
        numbers = [slot for name, (slot, _) in self.slots.items() if name not in self.owners]
        self.body.close(list(self.owners.values()), numbers)
        return self.result

    # -- statements -------------------------------------------------------------------------------

    def block(self, statements: list[ast.stmt]) -> None:
        here = id(statements)
        for number, statement in enumerate(statements):
            if self.b.block.is_terminated:
                raise NotTranslated("code that is never reached")
            self.body.line(statement.lineno)
            if statements is self.longest:
                if isinstance(statement, ast.Return):
                    self.body.division.end()
                else:
                    self.body.division.statement()
            if not (id(statement) in self.repeated and self.shared(statement)):
                self.statement(statement)
            if not self.b.block.is_terminated:
                for name in self.mentions.ends.get((here, number), ()):
                    self.release(name)
        if statements is self.longest and not self.b.block.is_terminated:
            self.body.division.end()

    def statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign([ast.Name(id=name)], ast.Call(func=of, args=args)) if (
                where := self.passing.where(name, of, bool(self.loops))
            ):
                given = [self.value(a) for a in args]
                self.bind(name, self.body.in_frame(self.constant(of), given, *where), True)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                with self.wrapping(name in self.checked):
                    found = self.owned(value)
                self.bind(name, *found)
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                self.store(target, self.value(value))
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                self.exchange(targets, values)
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                with self.wrapping(name in self.checked):
                    new = self.operation(op, self.read(name), self.value(value))
                self.bind(name, new, True)
            case ast.AugAssign(target=ast.Subscript() as target, op=op, value=value):
                array, index = self.place(target)
                old = self.body.load(array, index)
                self.body.store(array, index, self.operation(op, old, self.value(value)))
            case ast.For(target=ast.Name(id=name), iter=over, body=inner, orelse=[]):
                self.for_(name, over, inner)
            case ast.While(test=test, body=inner, orelse=[]):
                self.while_(test, inner)
            case ast.If(test=test, body=then, orelse=other):
                self.if_(test, then, other)
            case ast.Break() if self.loops:
                self.b.branch(self.loops[-1])
            case ast.Raise(exc=ast.Call(func=ast.Name(id=name), args=args, keywords=[])):
                self.raise_(name, args, statement.lineno)
            case ast.Return(value=ast.expr() as value):
                self.return_(value)
            case ast.Expr(value=ast.Call() as call):
                self.drop([(self.value(call), True)])
            case ast.Pass():
                pass
            case _:
                raise NotTranslated(f"{type(statement).__name__}")

    def bind(self, name: str, value: Typed, fresh: bool) -> None:
        """Let a name stand for a value; of one that isn't `fresh` another reference is taken."""
        if name in self.mentions.counters or name in self.borrowed:
            raise NotTranslated(f"{name} is bound in two ways")
        kind = types.unliteral(value.type)
        counted = self.body.is_counted(kind)
        if counted and not fresh:
            self.body.incref(value)
        if name in self.mentions.single:
            self.values[name] = value
            if counted:
                self.own(name, value, bool(self.loops))
            return
        seen = name in self.slots
        if not seen:
            self.slots[name] = self.body.memory(kind), kind
        slot, expected = self.slots[name]
        if kind != expected:
            raise NotTranslated(f"{name} is of two types")
        self.b.store(self.body.cast(value, kind), slot)
        if counted:
            self.own(name, value, seen or bool(self.loops))

    def own(self, name: str, value: Typed, had: bool) -> None:
        """Keep a reference, and let go of what the name may have had before."""
        kept = self.body.references(value)
        if name not in self.owners:
            self.owners[name] = self.body.owner(kept)
        if had:
            self.body.let_go(self.owners[name])
        self.b.store(kept, self.owners[name])

    def release(self, name: str) -> None:
        if name in self.owners:
            self.body.let_go(self.owners[name])
            self.body.clear(self.owners[name])

    def exchange(self, targets: list[ast.expr], values: list[ast.expr]) -> None:
        names = [t.id for t in targets if isinstance(t, ast.Name)]
        if len(names) != len(targets) or len(values) != len(targets):
            raise NotTranslated("an assignment to something else than names")
        found = [self.owned(v) for v in values]
        sources = [v.id for v in values if isinstance(v, ast.Name)]
        if sorted(sources) == sorted(names) and all(n in self.slots for n in names):
            # they change places, so that references stay as many as they are
            for name, (value, _) in zip(names, found, strict=True):
                slot, kind = self.slots[name]
                if value.type != kind:
                    raise NotTranslated(f"{name} is of two types")
                self.b.store(value.value, slot)
                if name in self.owners:
                    self.b.store(self.body.references(value), self.owners[name])
            return
        for value, fresh in found:
            if not fresh:
                self.body.incref(value)
        for name, (value, _) in zip(names, found, strict=True):
            self.bind(name, value, True)

    def store(self, target: ast.Subscript, value: Typed) -> None:
        array, index = self.place(target)
        self.body.store(array, index, value)

    def for_(self, name: str, over: ast.expr, inner: list[ast.stmt]) -> None:
        match over:
            case ast.Call(func=ast.Name(id="range"), args=args, keywords=[]):
                bounds = [self.value(a) for a in args]
            case _:
                raise NotTranslated("a loop over something else than a range")
        step = literal(args[2]) if len(args) == 3 else 1
        if step is None or not step or not all(self.body.is_int(x) for x in bounds):
            raise NotTranslated("a range of other numbers, or of unknown direction")
        first, last = bounds[:2] if len(bounds) > 1 else (self.body.constant(0), bounds[0])
        start, stop = (self.body.cast(x, types.int64) for x in (first, last))
        b, before = self.b, self.b.block
        head, body, after = (b.append_basic_block(n) for n in ("for", "body", "done"))
        b.branch(head)
        b.position_at_end(head)
        counter = b.phi(start.type, name)
        counter.add_incoming(start, before)
        b.cbranch(b.icmp_signed("<" if step > 0 else ">", counter, stop), body, after)
        b.position_at_end(body)
        outer = self.values.get(name)
        self.values[name] = Typed(counter, types.int64)
        self.loops.append(after)
        self.block(inner)
        self.loops.pop()
        if not b.block.is_terminated:
            following = b.add(counter, start.type(step), flags=["nsw"])
            self.body.repeat(counter, following, stop)
        b.position_at_end(after)
        del self.values[name]
        if outer is not None:
            self.values[name] = outer

    def shared(self, statement: ast.stmt) -> bool:
        """Write a nest as a call of the function that it is elsewhere, too, if it can be one."""
        nest = self.repeated[id(statement)]
        if any(name not in self.slots or name in self.owners for name in nest.carried):
            return False
        given = [self.read(name) for name in (*nest.operands, *nest.carried)]
        kinds = [types.unliteral(x.type) for x in given]
        if self.loops or not all(can_be_handed(kind) for kind in kinds):
            return False
        operands = [Typed(x.value, kind) for x, kind in zip(given, kinds, strict=True)]
        arrays = {name: k for k, name in enumerate(nest.operands)
                  if isinstance(kinds[k], types.Array)}  # fmt: skip
        known = all(name in self.disjoint or name in self.borrowed for name in arrays)
        apart = self.disjoint | (self.borrowed if self.body.disjoint else set())
        alone = [k for name, k in arrays.items() if known and name in apart & nest.written]

        def write(body: Body) -> Any:
            return _Translation(function_of(statement, nest), self.space, body).run()

        out = self.body.shared(nest.text, operands, alone, write).value
        for k, name in enumerate(nest.carried):
            self.b.store(self.b.extract_value(out, k), self.slots[name][0])
        return True

    def while_(self, test: ast.expr, inner: list[ast.stmt]) -> None:
        b = self.b
        head, after = b.append_basic_block("while"), b.append_basic_block("done")
        b.branch(head)
        b.position_at_end(head)
        self.loops.append(after)
        if not (isinstance(test, ast.Constant) and test.value is True):
            body = b.append_basic_block("body")
            b.cbranch(self.truth(test), body, after)
            b.position_at_end(body)
        self.block(inner)
        self.loops.pop()
        if not b.block.is_terminated:
            b.branch(head)
        b.position_at_end(after)

    def if_(self, test: ast.expr, then: list[ast.stmt], other: list[ast.stmt]) -> None:
        b, truth = self.b, self.truth(test)
        yes, after = b.append_basic_block("then"), b.append_basic_block("after")
        no = b.append_basic_block("else") if other else after
        made = b.cbranch(truth, yes, no)
        if any(isinstance(s, ast.Raise) for s in then):
            made.set_weights([1, 99])
        reached = not other
        for block, statements in ((yes, then), (no, other)):
            if statements:
                b.position_at_end(block)
                self.block(statements)
                if not b.block.is_terminated:
                    b.branch(after)
                    reached = True
        b.position_at_end(after)
        if not reached:
            raise NotTranslated("a condition neither side of which goes on")

    def raise_(self, name: str, args: list[ast.expr], line: int) -> None:
        given: list[Any] = [
            a.value if isinstance(a, ast.Constant) else self.value(a) for a in args
        ]
        self.body.fail(self.found(name), given, line)

    def return_(self, value: ast.expr) -> None:
        if self.result is not None or self.loops:
            raise NotTranslated("more than one return")
        parts = value.elts if isinstance(value, ast.Tuple) else [value]
        found = []
        for part in parts:
            x, fresh = self.owned(part)
            if not fresh and self.body.is_counted(x.type):
                self.body.incref(x)
            found.append(x)
        for name in self.live():
            self.release(name)
        whole = isinstance(value, ast.Tuple)
        self.result = self.body.finish(self.body.together(found) if whole else found[0])

    def live(self) -> list[str]:
        """Names whose last mention is the statement that ends the function."""
        last = (id(self.function.body), len(self.function.body) - 1)
        return self.mentions.ends.get(last, [])

    # -- expressions ------------------------------------------------------------------------------

    def owned(self, node: ast.expr) -> tuple[Typed, bool]:
        """A value, and whether it comes with a reference of its own."""
        return self.value(node), self.is_fresh(node)

    def value(self, node: ast.expr) -> Typed:
        match node:
            case ast.Name(id=name):
                return self.read(name)
            case ast.Constant(value=value):
                return self.body.constant(value)
            case ast.BinOp(left=left, op=op, right=right):
                with self.wrapping(isinstance(op, ast.BitXor)):
                    operands = self.value(left), self.value(right)
                return self.operation(op, *operands)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Typed(self.b.not_(self.truth(operand)), types.boolean)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return self.body.constant(-value)
            case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
                return self.body.apply(OPERATORS[type(op)], [self.value(operand)])
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self.operation(op, self.value(left), self.value(right))
            case ast.BoolOp(op=op, values=values):
                return self.both(isinstance(op, ast.And), values)
            case ast.IfExp(test=test, body=yes, orelse=no):
                return self.choice(test, yes, no)
            case ast.Subscript(value=ast.Attribute(value=array, attr="shape"), slice=axis):
                number = literal(axis)
                if number is not None:
                    return self.body.extent(self.value(array), number)
            case ast.Subscript(value=ast.Name()):
                return self.body.load(*self.place(node))
            case ast.Tuple(elts=parts):
                return self.body.together([self.value(p) for p in parts])
            case ast.Call(keywords=[]):
                return self.call(node)
            case ast.Attribute(value=owner, attr=name) if self.is_local(owner):
                of = self.value(owner)
                out = self.body.attribute(of, name)
                self.drop([(of, self.is_fresh(owner))])
                return out
            case ast.Attribute():
                return self.body.constant(self.constant(node))
        raise NotTranslated(f"{ast.unparse(node)}")

    def read(self, name: str) -> Typed:
        if name in self.values:
            return self.values[name]
        if name in self.slots:
            slot, kind = self.slots[name]
            return Typed(self.b.load(slot), kind)
        return self.body.constant(self.found(name))

    def found(self, name: str) -> Any:
        """What a global name stands for."""
        if name in self.space:
            return self.space[name]
        if hasattr(builtins, name) and name not in self.mentions.single:
            return getattr(builtins, name)
        raise NotTranslated(f"{name} is not known here")

    def constant(self, node: ast.expr) -> Any:
        """What an expression of global names stands for."""
        match node:
            case ast.Name(id=name) if name not in self.values and name not in self.slots:
                return self.found(name)
            case ast.Attribute(value=value, attr=attr):
                return getattr(self.constant(value), attr)
        raise NotTranslated(f"{ast.unparse(node)}")

    def operation(self, op: ast.AST, left: Typed, right: Typed) -> Typed:
        if type(op) not in OPERATORS:
            raise NotTranslated(type(op).__name__)
        write = OF_FLOATS.get(type(op)) if left.type is right.type is types.float64 else None
        if write is not None:  # nine of ten, for which Numba would do the same
            return Typed(write(self.b, left.value, right.value), types.float64)
        out = self.body.apply(OPERATORS[type(op)], [left, right])
        return self.body.wrapping(out) if self.wraps else out

    @contextmanager
    def wrapping(self, checked: bool) -> Iterator[None]:
        before, self.wraps = self.wraps, self.wraps or checked
        try:
            yield
        finally:
            self.wraps = before

    def call(self, node: ast.Call) -> Typed:
        """What a call gives; of what was made for it alone no reference is left."""
        with self.wrapping(is_float_of(node)):
            given = [self.lent(a) for a in node.args]
        match node.func:
            case ast.Attribute(value=owner, attr=method) if self.is_local(owner):
                of, fresh = self.lent(owner)
                ins = [x for x, _ in given]
                again = self.body.reshaped(of, *ins) if method == "reshape" else None
                out = again or self.body.method(of, method, ins)
                given.append((of, fresh))
            case function:
                out = self.body.apply(self.constant(function), [x for x, _ in given])
        self.drop(given)
        return out

    def lent(self, node: ast.expr) -> tuple[Typed, bool]:
        """An operand, `owned`; an array that is handed over as it is needs no reference for it."""
        match node:
            case ast.Call(ast.Name("handed") | ast.Attribute(_, "ascontiguousarray") as of, [a]):
                found = self.value(a)
                as_it_is = self.body.lent(found)
                if as_it_is is not None:
                    return as_it_is, self.is_fresh(a)
                out = self.body.apply(self.constant(of), [found])
                self.drop([(found, self.is_fresh(a))])
                return out, True
        return self.owned(node)

    def drop(self, values: list[tuple[Typed, bool]]) -> None:
        """Let go of those that are `fresh`, which nothing else refers to."""
        for x, fresh in values:
            if fresh and self.body.is_counted(x.type):
                self.body.decref(x)

    def is_fresh(self, node: ast.expr) -> bool:
        """Does the value come with a reference of its own?"""
        return isinstance(node, (ast.Call, ast.Attribute))

    def is_local(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) or (
            isinstance(node, ast.Name) and (node.id in self.values or node.id in self.slots)
        )

    def place(self, node: ast.Subscript) -> tuple[Typed, list[Typed]]:
        index = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return self.value(node.value), [self.value(i) for i in index]

    # -- conditions -------------------------------------------------------------------------------

    def truth(self, node: ast.expr) -> Any:
        found = self.value(node)
        if types.unliteral(found.type) != types.boolean:
            raise NotTranslated(f"a condition that is no bool: {ast.unparse(node)}")
        return found.value

    def both(self, all_: bool, values: list[ast.expr]) -> Typed:
        """`and`, `or` of bools; what costs more than a branch is computed on demand."""
        b, out = self.b, self.truth(values[0])
        for v in values[1:]:
            if is_cheap(v):
                out = b.and_(out, self.truth(v)) if all_ else b.or_(out, self.truth(v))
                continue
            known, before = out, b.block
            more, after = b.append_basic_block("more"), b.append_basic_block("after")
            b.cbranch(known, *((more, after) if all_ else (after, more)))
            b.position_at_end(more)
            last = self.truth(v)
            ending = b.block
            b.branch(after)
            b.position_at_end(after)
            out = b.phi(known.type)
            out.add_incoming(known, before)
            out.add_incoming(last, ending)
        return Typed(out, types.boolean)

    def choice(self, test: ast.expr, yes: ast.expr, no: ast.expr) -> Typed:
        b, truth = self.b, self.truth(test)
        if is_cheap(yes) and is_cheap(no):
            x, y = self.value(yes), self.value(no)
            kind = self.body.common(x.type, y.type)
            return Typed(b.select(truth, self.body.cast(x, kind), self.body.cast(y, kind)), kind)
        first, second, after = (b.append_basic_block(n) for n in ("then", "else", "after"))
        b.cbranch(truth, first, second)
        found = []
        for block, side in ((first, yes), (second, no)):
            b.position_at_end(block)
            found.append((self.value(side), b.block))
        kind = self.body.common(*(x.type for x, _ in found))
        sides = []
        for x, block in found:
            b.position_at_end(block)
            sides.append((self.body.cast(x, kind), b.block))
            b.branch(after)
        b.position_at_end(after)
        out = b.phi(sides[0][0].type)
        for value, block in sides:
            out.add_incoming(value, block)
        return Typed(out, kind)
