"""How does a function of thousands of lines compile in a time that grows with its length only?

LLVM's register allocator compares all that is alive at once, and in an adjoint that is nearly
everything: its time grows with the square of the length.  So a long row of statements is cut into
functions of some hundred instructions each.  What one part gives and another uses lies in frames,
memory of the function that calls them, one for each type; it would have been spilled anyway.

A part is a run of basic blocks.  Its instructions move as they are: a value from elsewhere is
loaded, before the first statement that uses it, under the name that it has there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from llvmlite import ir

LONG = 6000  # instructions of a function that is cut
PART = 1000  # of a part
LOOK = 32  # statements between two looks at how many there are
# What a part gives where it doesn't go on, beside what the function itself would return.
_GO_ON, _FAIL, _RAISE = 0, -0x8000, 0x10000
_WORD, _CODE = ir.IntType(64), ir.IntType(32)


@dataclass(eq=False)
class _Part:
    first: Any  # its first block
    start: int  # the number of that
    end: int = 0  # number of the block behind the last
    after: Any = None  # that block
    # where each statement begins: block, place in it, number of blocks there are
    marks: list[tuple[Any, int, int]] = field(default_factory=list)
    blocks: list[Any] = field(default_factory=list)


class Division:
    """Watches a function being written, statement by statement, and cuts it when it is complete."""

    def __init__(self, builder: Any) -> None:
        self._b, self._open = builder, False
        self._parts: list[_Part] = []

    def statement(self) -> None:
        """A statement begins that comes after all before it, whatever way they took."""
        blocks = self._b.function.blocks
        marks = self._parts[-1].marks if self._open else []
        looks = len(marks) % LOOK == 0
        if not marks or (looks and _size(blocks[self._parts[-1].start :]) >= PART):
            self.end()
            self._parts.append(_Part(self._turn(), len(blocks) - 1))
            self._open = True
        here = self._b.block
        self._parts[-1].marks.append((here, len(here.instructions), len(blocks)))

    def end(self) -> None:
        """What comes now belongs to no part."""
        if self._open:
            part, self._open = self._parts[-1], False
            part.end, part.after = len(self._b.function.blocks), self._turn()

    def _turn(self) -> Any:
        new = self._b.append_basic_block("part")
        self._b.branch(new)
        self._b.position_at_end(new)
        return new

    def cut(self, known: Any, ending: Any, number: Any, slots: Iterable[Any]) -> None:
        """`known`: the block that raises the exception of a `number`; `ending`: the one where the
        function fails; `slots`: the memory of names that are bound more than once."""
        if self._parts and _size(self._b.function.blocks) >= LONG:
            _Cut(self._b.function, self._parts, known, ending, number, set(slots)).run()


def _size(blocks: Iterable[Any]) -> int:
    return sum(len(x.instructions) for x in blocks)


def _is_cleared(i: Any, place: Any) -> bool:
    """Does the instruction store a constant there?"""
    return isinstance(i, ir.StoreInstr) and i.operands[1] is place and (
        isinstance(i.operands[0], ir.Constant)
    )


def _stays(i: Any, number: int) -> bool:
    """Does an address that is this operand end here?"""
    if isinstance(i, ir.StoreInstr):
        return number == 1
    to_a_function = isinstance(i, ir.CallInstr) and not isinstance(i.type, ir.PointerType)
    return isinstance(i, ir.LoadInstr) or to_a_function


def _operands(i: Any) -> Iterable[Any]:
    return [v for v, _ in i.incomings] if isinstance(i, ir.PhiInstr) else i.operands


class _Cut:
    def __init__(
        self, function: Any, parts: list[_Part], known: Any, ending: Any, number: Any,
        slots: set[Any],
    ) -> None:  # fmt: skip
        self.function, self.known, self.ending, self.slots = function, known, ending, slots
        self.number = number
        for p in parts:
            inside = function.blocks[p.start : p.end]
            p.blocks = [x for x in inside if x is not known and x is not ending]
        self.parts = [p for p in parts if self.leaves_as_expected(p)]
        self.home = {i: p for p in self.parts for x in p.blocks for i in x.instructions}
        self.uses: dict[Any, dict[Any, int]] = defaultdict(dict)  # of a part: first statements
        self.at: dict[Any, int] = {}  # the place of a value in its type's frame
        self.sizes: dict[Any, int] = defaultdict(int)
        self.stored: set[Any] = set()  # values of the function itself that are in a frame
        self.asked: dict[Any, list[Any]] = defaultdict(list)  # by the function, of each part
        self.raised: dict[Any, list[Any]] = defaultdict(list)  # in each part: number, block
        self.own: dict[Any, list[Any]] = defaultdict(list)  # of each part: memory, and its start

    def leaves_as_expected(self, part: _Part) -> bool:
        own = {*part.blocks, part.after, self.known, self.ending}
        return not any(
            isinstance(x.terminator, ir.SwitchInstr)
            or any(isinstance(y, ir.Block) and y not in own for y in x.terminator.operands)
            for x in part.blocks
        )

    def run(self) -> None:
        self.find_own_memory()
        self.find_uses()
        entry = ir.IRBuilder(self.function.entry_basic_block)
        entry.position_at_start(self.function.entry_basic_block)
        frames = {
            kind: entry.gep(entry.alloca(ir.ArrayType(kind, size)), [_WORD(0), _WORD(0)])
            for kind, size in self.sizes.items()
        }
        moving = {x: p for p in self.parts for x in p.blocks}
        for number, block in () if self.number is None else self.number.incomings:
            self.raised[moving.get(block)].append((number, block))
        if self.number is not None:
            self.number.incomings = self.raised[None]
        for v in self.uses[None]:
            self.asked[self.home.get(v)].append(v)
        stays = [x for x in self.function.blocks if x not in moving]
        for part in self.parts:
            stays += self.called(part, self.moved(part), frames)
        self.function.blocks = stays

    # -- what goes between parts ------------------------------------------------------------------

    def find_own_memory(self) -> None:
        """Memory that one part alone reads and writes moves there, where LLVM makes registers of
        it.  So no address of it may go elsewhere, but to a call that gives no address."""
        entry = self.function.entry_basic_block
        rooms = {i for i in entry.instructions if isinstance(i, ir.AllocaInstr)} - self.slots
        roots: dict[Any, Any] = {room: room for room in rooms}  # of an address: the memory
        users: dict[Any, set[Any]] = defaultdict(set)
        if not rooms:
            return
        first: dict[Any, list[Any]] = defaultdict(list)  # it is cleared
        for block in self.function.blocks:
            for i in block.instructions:
                for number, v in enumerate(_operands(i)):
                    if isinstance(v, ir.Constant):  # to hash one is slow
                        continue
                    root = roots.get(v)
                    if root is None:
                        continue
                    if block is entry and _is_cleared(i, v):
                        first[root].append(i)
                        continue
                    users[root].add(self.home.get(i))
                    if isinstance(i, (ir.GEPInstr, ir.CastInstr)) and number == 0 and (
                        isinstance(i.type, ir.PointerType)
                    ):
                        roots[i] = root
                    elif not _stays(i, number):
                        users[root].add(None)
        mine = {root: next(iter(parts)) for root, parts in users.items() if len(parts) == 1}
        for room, part in mine.items():
            if part is not None:
                self.own[part] += [room, *first[room]]
        moved = {i for own in self.own.values() for i in own}
        entry.instructions = [i for i in entry.instructions if i not in moved]
        self.home.update((i, part) for part, own in self.own.items() for i in own)

    def find_uses(self) -> None:
        statements = {p: _statements(p) for p in self.parts}
        for block in self.function.blocks:
            for k, i in enumerate(block.instructions):
                here = self.home.get(i)
                for v in _operands(i):
                    if not isinstance(v, (ir.Instruction, ir.Argument)):
                        continue
                    if self.home.get(v) is here:
                        continue
                    number = 0 if here is None else statements[here](block, k)
                    self.uses[here][v] = min(number, self.uses[here].get(v, number))
                    if v not in self.at:
                        kind = self.kind(v)
                        self.at[v] = self.sizes[kind]
                        self.sizes[kind] += 1

    def kind(self, v: Any) -> Any:
        return v.type.pointee if v in self.slots else v.type

    def place(self, b: Any, frames: dict[Any, Any], v: Any) -> Any:
        kind, at = self.kind(v), ir.Constant(_WORD, self.at[v])
        return b.gep(frames[kind], [at], inbounds=True, name="at", source_etype=kind)

    def put(self, b: Any, frames: dict[Any, Any], v: Any) -> None:
        b.store(b.load(v) if v in self.slots else v, self.place(b, frames, v))

    def take(self, b: Any, frames: dict[Any, Any], v: Any) -> None:
        """Read it under its own name, or into its own memory."""
        made = b.load(self.place(b, frames, v), name="taken")
        if v in self.slots:
            b.store(made, v)
        else:
            made._name = v.name

    # -- parts ------------------------------------------------------------------------------------

    def moved(self, part: _Part) -> Any:
        """The function that a part becomes."""
        module, name = self.function.module, f"{self.function.name}.part"
        fnty = ir.FunctionType(_CODE, [kind.as_pointer() for kind in self.sizes])
        new = ir.Function(module, fnty, module.get_unique_name(name))
        new.linkage = "internal"
        new.attributes.add("noinline")
        new.attributes.add("nounwind")
        for frame in new.args:  # the names that llvmlite gives are those of what moves here, too
            frame.name = "frame"
        for x in part.blocks:  # whatever is made here has names of its own
            new.scope._useset.update((x.name, *(i.name for i in x.instructions)))
        new.scope._useset.update(v.name for v in self.uses[part])
        frames = dict(zip(self.sizes, new.args, strict=True))
        head = ir.IRBuilder(ir.Block(new, "head"))
        head.block.instructions += self.own[part]
        head.position_at_end(head.block)
        new.scope._useset.update(i.name for i in self.own[part])
        own = [v for v in self.uses[part] if v in self.slots]
        for slot in own:
            head.alloca(slot.type.pointee)._name = slot.name
            self.take(head, frames, slot)
        head.branch(part.first)
        aside = ir.IRBuilder(ir.Block(new, "part"))
        more: dict[Any, list[tuple[int, list[Any]]]] = defaultdict(list)  # what goes where
        for v, number in self.uses[part].items():
            if v not in self.slots:
                block, place, _ = part.marks[number]
                more[block].append((place, _written(aside, self.take, frames, v)))
        for block in part.blocks:
            phis = sum(isinstance(i, ir.PhiInstr) for i in block.instructions)
            for k, v in enumerate(block.instructions, 1):
                if v in self.at:
                    more[block].append((max(k, phis), _written(aside, self.put, frames, v)))
        for block, added in more.items():
            old, block.instructions, last = block.instructions, [], 0
            for place, made in sorted(added, key=lambda a: a[0]):
                block.instructions += [*old[last:place], *made]
                last = place
            block.instructions += old[last:]
        new.blocks = [head.block, *part.blocks, *self.ends(part, new, frames, own)]
        return new

    def ends(
        self, part: _Part, new: Any, frames: dict[Any, Any], own: list[Any]
    ) -> list[Any]:
        """Where a part goes on, raises or fails, it says so."""
        out = []
        for like in (part.after, self.known, self.ending):
            if not any(x is like for y in part.blocks for x in y.terminator.operands):
                continue
            b = ir.IRBuilder(_named(new, like.name))
            out.append(b.block)
            if like is part.after:
                for slot in own:
                    self.put(b, frames, slot)
                b.ret(_CODE(_GO_ON))
            elif like is self.ending:
                b.ret(_CODE(_FAIL))
            else:
                number = b.phi(_WORD)
                number.incomings = self.raised[part]
                b.ret(b.trunc(b.add(number, _WORD(_RAISE)), _CODE))
        return out

    def called(self, part: _Part, new: Any, frames: dict[Any, Any]) -> list[Any]:
        """The blocks that a part leaves in its function: its call, and what follows from that."""
        b = ir.IRBuilder(_named(self.function, part.first.name))
        blocks = [b.block]
        own = [v for v in self.uses[part] if v in self.slots]
        for v in self.uses[part]:
            if v in self.slots or (v not in self.home and v not in self.stored):
                self.put(b, frames, v)
                self.stored.add(v)
        code = b.call(new, [frames[kind] for kind in self.sizes])
        for v in (*own, *self.asked[part]):
            self.take(b, frames, v)
        wrong = b.append_basic_block("wrong")
        b.cbranch(b.icmp_signed("==", code, _CODE(_GO_ON)), part.after, wrong).set_weights([99, 1])
        b.position_at_end(wrong)
        if self.raised[part]:
            raised, other = b.append_basic_block("raised"), b.append_basic_block("other")
            b.cbranch(b.icmp_signed(">=", code, _CODE(_RAISE)), raised, other)
            b.position_at_end(raised)
            self.number.add_incoming(b.zext(b.sub(code, _CODE(_RAISE)), _WORD), raised)
            b.branch(self.known)
            b.position_at_end(other)
            blocks += [raised, other]
        blocks.insert(1, wrong)
        if self.ending is None:
            b.ret(code)
        else:
            back = b.append_basic_block("back")
            b.cbranch(b.icmp_signed("==", code, _CODE(_FAIL)), self.ending, back)
            b.position_at_end(back)
            b.ret(code)
            blocks.append(back)
        return blocks


def _named(function: Any, name: str) -> Any:
    """A block under a name that is known already."""
    block = ir.Block(function, "part")
    block._name = name
    return block


def _written(aside: Any, write: Any, *given: Any) -> Any:
    """The instructions that `write` gives a builder."""
    aside.block.instructions = []
    aside.position_at_end(aside.block)
    write(aside, *given)
    return aside.block.instructions


def _statements(part: _Part) -> Any:
    """A function that tells of an instruction to which statement of the part it belongs."""
    counts = [n for _, _, n in part.marks]
    made_in = {
        x: max(bisect_right(counts, number) - 1, 0)
        for number, x in enumerate(part.blocks, part.start)
    }
    begun: dict[Any, tuple[list[int], list[int]]] = {}  # of a block: places, statements
    for k, (block, place, _) in enumerate(part.marks):
        places, numbers = begun.setdefault(block, ([], []))
        places.append(place)
        numbers.append(k)

    def statement(block: Any, place: int) -> int:
        places, numbers = begun.get(block, ((), ()))
        before = bisect_right(places, place)
        return numbers[before - 1] if before else made_in[block]

    return statement
