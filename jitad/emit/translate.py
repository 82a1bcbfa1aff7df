"""How does the source of a kernel become LLVM code, statement by statement?

Numba finds the types of a function's variables by rounds over its bytecode.  Emitted source needs
none: what a name stands for is bound before it is read, and has one type.  So one walk over the
source types and translates it; what an operation or a function of the preamble is made of is
Numba's to say, as ever (`numba_private.Body`), so the code is the same, in a tenth of the time.

Functions beside the kernel, which it calls and which call themselves, become functions of its
module (`another`).  What this walk does not know (`NotTranslated`: a name of two types, say) is
left to Numba.

References: a parameter is the caller's.  What a call gives is owned by the name that it is bound
to, which lets go of it after its last mention, or where the function fails (`Body.failing`).
"""

from __future__ import annotations

import ast
from typing import Any

from numba import types

from jitad.emit.expressions import Expressions
from jitad.emit.names_in_source import longest, mentions
from jitad.emit.numba_private import Body, NotTranslated, Typed, can_be_handed
from jitad.emit.operations import literal
from jitad.emit.passing import MAKING, Passing
from jitad.emit.repeated import disjoint, function_of, repeated


def translate(
    function: ast.FunctionDef, space: dict[str, Any], body: Body, others: dict[str, ast.FunctionDef]
) -> Any:
    """Write the function's code; gives the type of its result.  `space`: its globals; `others`:
    the functions of its file, which it may call."""
    return _Translation(function, space, body, others).run()


class _Translation(Expressions):
    def __init__(
        self, function: ast.FunctionDef, space: dict[str, Any], body: Body,
        others: dict[str, ast.FunctionDef],
    ) -> None:  # fmt: skip
        super().__init__(space, body, mentions(function))
        self.function, self.others = function, others
        self.owners: dict[str, Any] = {}  # memory that holds references
        self.borrowed = {a.arg for a in function.args.args}
        self.loops: list[Any] = []  # the blocks behind the loops around
        self.running: set[ast.For] = set()  # loops that run whenever those around them do
        self.result: Any = None
        self.passing = Passing(function) if self.mentions.all.intersection(MAKING) else None
        self.checked = self.mentions.checked
        self.longest = longest(function.body)
        self.repeated = repeated(function, self.mentions) if body.shares else {}
        self.disjoint = disjoint(function, self.mentions) if self.repeated else set()

    def run(self) -> Any:
        for a, value in zip(self.function.args.args, self.body.arguments, strict=True):
            if a.arg in self.mentions.single:
                self.values[a.arg] = value
            else:  # a stack, say, that the function adds to
                self.borrowed.discard(a.arg)
                self.bind(a.arg, value, False)
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
            if self.b.block.terminator is not None:
                raise NotTranslated("code that is never reached")
            self.body.line(statement.lineno)
            if statements is self.longest:
                if isinstance(statement, ast.Return):
                    self.body.division.end()
                else:
                    self.body.division.statement()
            if not (id(statement) in self.repeated and self.shared(statement)):
                self.statement(statement)
            if self.owners and not self.b.block.is_terminated:
                for name in self.mentions.ends.get((here, number), ()):
                    self.release(name)
        if statements is self.longest and not self.b.block.is_terminated:
            self.body.division.end()

    def statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign([ast.Name(id=name)], ast.Call(func=of, args=args)) if (
                where := self.passing and self.passing.where(name, of, bool(self.loops))
            ):
                given = [self.value(a) for a in args]
                self.bind(name, self.body.in_frame(self.constant(of), given, *where), True)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                if name in self.checked:
                    with self.wrapping():
                        found = self.owned(value)
                else:
                    found = self.owned(value)
                self.bind(name, *found)
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                self.store(target, self.value(value))
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                self.exchange(targets, values)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Call() as call):
                self.unpack(targets, self.value(call))
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                if name in self.checked:
                    with self.wrapping():
                        new = self.operation(type(op), self.read(name), self.value(value))
                else:
                    new = self.operation(type(op), self.read(name), self.value(value))
                self.bind(name, new, True)
            case ast.AugAssign(target=ast.Subscript() as target, op=op, value=value):
                array, index = self.place(target)
                old = self.body.load(array, index)
                self.body.store(array, index, self.operation(type(op), old, self.value(value)))
            case ast.For():
                self.for_(statement)
            case ast.While(test=test, body=inner, orelse=[]):
                self.while_(test, inner)
            case ast.If(test=test, body=then, orelse=other):
                self.if_(test, then, other)
            case ast.Break() if self.loops:
                self.b.branch(self.loops[-1])
            case ast.Raise(exc=ast.Call(func=ast.Name(id=name), args=args, keywords=[])):
                self.raise_(name, args, statement.lineno)
            case ast.Return(value=ast.expr() as value):
                self.return_(value, statement is self.function.body[-1])
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

    def unpack(self, targets: list[ast.expr], together: Typed) -> None:
        """Bind names to the parts of a tuple that a call gives."""
        kinds = together.type.types if isinstance(together.type, types.BaseTuple) else ()
        if len(kinds) != len(targets):
            raise NotTranslated(f"{len(targets)} parts of {together.type}")
        for k, (target, kind) in enumerate(zip(targets, kinds, strict=True)):
            if not isinstance(target, ast.Name):
                raise NotTranslated("an assignment to something else than names")
            self.bind(target.id, Typed(self.b.extract_value(together.value, k), kind), True)

    def store(self, target: ast.Subscript, value: Typed) -> None:
        array, index = self.place(target)
        self.body.store(array, index, value)

    def for_(self, loop: ast.For) -> None:
        """A loop that is asked before whether it runs at all, and at each end whether it goes on.

        The loops of a nest are asked together, in front of it: what is asked inside of others would
        be the same each time, and LLVM would take long to find that out.
        """
        name = self.counter(loop)
        start, stop, step = self.bounds(loop)
        b, before = self.b, self.b.block
        runs = self.nest_runs(loop, start, stop, step)
        body, after = (b.append_basic_block(n) for n in ("for", "done"))
        if runs is None:
            b.branch(body)
        else:
            b.cbranch(runs, body, after)
        b.position_at_end(body)
        counter = b.phi(start.type, name)
        counter.add_incoming(start, before)
        outer = self.values.get(name)
        self.values[name] = Typed(counter, types.int64)
        self.loops.append(after)
        self.block(loop.body)
        self.loops.pop()
        if not b.block.is_terminated:
            following = b.add(counter, start.type(step), flags=["nsw"])
            self.body.repeat(counter, following, stop, after)
        b.position_at_end(after)
        del self.values[name]
        if outer is not None:
            self.values[name] = outer

    def counter(self, loop: ast.For) -> str:
        match loop:
            case ast.For(target=ast.Name(id=name), orelse=[]):
                return name
        raise NotTranslated("a loop with several counters, or an else")

    def bounds(self, loop: ast.For) -> tuple[Any, Any, int]:
        """Where a loop begins, before what it stops, its step."""
        match loop.iter:
            case ast.Call(func=ast.Name(id="range"), args=args, keywords=[]):
                bounds = [self.value(a) for a in args]
            case _:
                raise NotTranslated("a loop over something else than a range")
        step = literal(args[2]) if len(args) == 3 else 1
        if step is None or not step or not all(self.body.is_int(x) for x in bounds):
            raise NotTranslated("a range of other numbers, or of unknown direction")
        first, last = bounds[:2] if len(bounds) > 1 else (self.body.constant(0), bounds[0])
        return self.body.cast(first, types.int64), self.body.cast(last, types.int64), int(step)

    def nest_runs(self, loop: ast.For, start: Any, stop: Any, step: int) -> Any:
        """Does the loop run, with all of those whose nest it is the outermost of?  None: yes."""
        asked = [] if loop in self.running else [self.body.runs(start, stop, step)]
        within = {self.counter(loop)}
        while len(loop.body) == 1 and isinstance(loop.body[0], ast.For):
            loop = loop.body[0]
            args = loop.iter.args if isinstance(loop.iter, ast.Call) else [loop.iter]
            names = {a.id for a in args if isinstance(a, ast.Name)}
            if not all(isinstance(a, ast.Name) or literal(a) is not None for a in args) or not (
                names <= self.values.keys() and names.isdisjoint(within)
            ):
                break
            within.add(self.counter(loop))
            if loop not in self.running:
                self.running.add(loop)
                asked.append(self.body.runs(*self.bounds(loop)))
        return self.body.both([x for x in asked if x is not None])

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
            return _Translation(function_of(statement, nest), self.space, body, {}).run()

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
        match then:
            case [ast.Raise() as only] if not other and self.raised_at_once(truth, only):
                return
        yes, after = b.append_basic_block("then"), b.append_basic_block("after")
        no = b.append_basic_block("else") if other else after
        made = b.cbranch(truth, yes, no)
        if any(isinstance(s, ast.Raise) for s in then):
            self.body.seldom(made)
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

    def raised_at_once(self, truth: Any, statement: ast.Raise) -> bool:
        """Raise what is the same every time, if this is so."""
        match statement.exc:
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if all(
                isinstance(a, ast.Constant) for a in args
            ):
                given = [a.value for a in args if isinstance(a, ast.Constant)]
                self.body.fail_if(truth, self.found(name), given, statement.lineno)
                return True
        return False

    def return_(self, value: ast.expr, last: bool) -> None:
        if self.loops:
            raise NotTranslated("a return in a loop")
        parts = value.elts if isinstance(value, ast.Tuple) else [value]
        found = []
        for part in parts:
            x, fresh = self.owned(part)
            if not fresh and self.body.is_counted(x.type):
                self.body.incref(x)
            found.append(x)
        for name in self.live() if last else self.owners:  # those that hold nothing lose nothing
            self.release(name)
        whole = isinstance(value, ast.Tuple)
        result = self.body.finish(self.body.together(found) if whole else found[0])
        if self.result not in (None, result):
            raise NotTranslated(f"it gives {self.result} or {result}")
        self.result = result

    # -- other functions --------------------------------------------------------------------------

    def call(self, node: ast.Call) -> Typed:
        match node.func:
            case ast.Name(id=name) if name in self.others:
                return self.another(self.others[name], node.args)
        return super().call(node)

    def another(self, function: ast.FunctionDef, args: list[ast.expr]) -> Typed:
        """A call of a function beside the kernel: one of the module, for operands of these types.

        What it gives is known from its first `return` on, so that it may call itself behind that.
        """
        given = [self.lent(a) for a in args]
        kinds = [types.unliteral(x.type) for x, _ in given]
        if not self.body.shares or not all(map(can_be_handed, kinds)):
            raise NotTranslated(f"a call of {function.name}")

        def write(body: Body) -> Any:
            body.recurs = True
            return _Translation(function, self.space, body, self.others).run()

        operands = [Typed(self.body.cast(x, kind), kind)
                    for (x, _), kind in zip(given, kinds, strict=True)]  # fmt: skip
        out = self.body.shared(function.name, operands, (), write)
        self.drop(given)
        return out

    def live(self) -> list[str]:
        """Names whose last mention is the statement that ends the function."""
        last = (id(self.function.body), len(self.function.body) - 1)
        return self.mentions.ends.get(last, [])
