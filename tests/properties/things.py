"""What may a random program that keeps its numbers in Python's things be?

The same programs as `generate` makes, with lists of lists, lists of lengths that data decide,
deques, sets, dicts, heaps, objects and generators among the statements and the expressions.
Keys and elements of sets are ints, as data decide them too; lists that are popped from keep one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.properties.choices import Choices
from tests.properties.expressions import LIMIT, Scope
from tests.properties.generate import HEAD as USUAL
from tests.properties.generate import Generated, Statements

HEAD = '''\
import bisect
import collections
import functools
import heapq
import itertools
import math
import operator
from dataclasses import dataclass

import numpy as np


@dataclass
class Cell:
    u: float
    v: float = 0.5

    def push(self, w):
        self.u, self.v = self.v, 0.5 * (self.u + w)
        return self.u

    @property
    def middle(self):
        return 0.5 * (self.u + self.v)

    def __add__(self, other):
        return Cell(math.sin(self.u + other.u), other.v)


def halves(w, count, least):
    for _ in range(count):
        if w * w < least:
            return
        yield w
        w = 0.5 * w + 0.05


'''


def program(choices: Choices) -> Generated:
    made = Things(choices).module()
    return Generated(HEAD + made.source.removeprefix(USUAL), made.features, made.made)


@dataclass
class Names(Scope):
    """Those of `Scope`, and of the things here."""

    tables: dict[str, tuple[int, int]] = field(default_factory=dict)  # lists of lists: extents
    rows: list[str] = field(default_factory=list)  # lists of floats of unknown length, at least 1
    queues: list[str] = field(default_factory=list)
    heaps: list[str] = field(default_factory=list)
    sets: list[str] = field(default_factory=list)
    maps: list[str] = field(default_factory=list)  # from ints to floats
    cells: list[str] = field(default_factory=list)

    def copy(self) -> Names:
        plain = super().copy()
        return Names(
            **vars(plain), tables={**self.tables}, rows=[*self.rows], queues=[*self.queues],
            heaps=[*self.heaps], sets=[*self.sets], maps=[*self.maps], cells=[*self.cells],
        )  # fmt: skip


class Things(Statements):
    """Statements and expressions of things; the others as they are."""

    names = Names
    least = 6
    scope: Names

    def __init__(self, choices: Choices) -> None:
        super().__init__(choices)
        self.left = 20

    def statement(self) -> bool:
        if self.c.below(3):
            kind = self.c.pick(["table", "row", "queue", "heap", "set", "map", "cell", "drawn",
                                "table", "row", "folded"])  # fmt: skip
            getattr(self, "do_" + kind)()
            return True
        return super().statement()

    def result(self) -> str:
        s, parts = self.scope, [super().result()]
        parts += [f"sum(map(sum, {t}))" for t in sorted(s.tables)]
        parts += [f"math.tanh(sum(w * (k + 1) for k, w in enumerate({names})))"
                  for names in s.rows + s.queues]  # fmt: skip
        parts += [f"sum({name})" for name in s.heaps]
        parts += [f"0.1 * sum(w * w for w in {name})" for name in s.sets]
        parts += [f"sum((k + 1) * w for k, w in {name}.items())" for name in s.maps]
        parts += [f"{name}.u * {name}.v" for name in s.cells]
        return " + ".join(parts)

    # -- expressions ----------------------------------------------------------------------------

    def atom(self) -> tuple[str, float]:
        s = self.scope
        if self.c.below(3) == 0:
            return super().atom()
        match self.c.below(9):
            case 0 | 1 if s.tables:
                return self.entry(), LIMIT
            case 2 if s.rows:
                return self.of_row(self.c.pick(s.rows)), LIMIT
            case 3 if s.queues:
                return f"{self.c.pick(s.queues)}[{self.c.pick(['0', '-1'])}]", LIMIT
            case 4 if s.heaps:
                return f"{self.c.pick(s.heaps)}[0]", LIMIT
            case 5 if s.sets:
                name = self.c.pick(s.sets)
                return f"(0.3 if {self.int()} in {name} else -0.1 * len({name}))", 2.0
            case 6 if s.maps:
                return f"{self.c.pick(s.maps)}.get({self.int()} % 4, 0.5)", LIMIT
            case 7 if s.cells:
                return f"{self.c.pick(s.cells)}.{self.c.pick(['u', 'v', 'middle'])}", LIMIT
        return super().atom()

    def entry(self) -> str:
        name = self.c.pick(sorted(self.scope.tables))
        rows, columns = self.scope.tables[name]
        return f"{name}[{self.index(rows)}][{self.index(columns)}]"

    def of_row(self, name: str) -> str:
        return self.c.pick([
            f"{name}[0]", f"{name}[-1]", f"{name}[{self.int()} % len({name})]", f"max({name})",
            f"min({name}, key=lambda q: q * q)", f"(sum({name}) / len({name}))",
            f"sorted({name})[len({name}) // 2]", f"math.sin(len({name}) * sum({name}[1:]))",
            f"math.tanh(sum(p * q for p, q in zip({name}, {name}[1:])))",
        ])  # fmt: skip

    # -- statements -----------------------------------------------------------------------------

    def do_table(self) -> None:
        """A list of lists: made, written, its rows exchanged, shared and gone over."""
        self.use("list of lists")
        tables = self.scope.tables
        if not tables or not self.c.below(4):
            name, rows, columns = self.new("t"), 2 + self.c.below(3), 2 + self.c.below(2)
            self.say(f"{name} = " + self.c.pick([
                f"[[{self.bounded(1)} for _ in range({columns})] for _ in range({rows})]",
                f"[[0.0] * {columns} for _ in range({rows})]",
                f"[[0.1 * (i + j) * {self.bounded(1)} for j in range({columns})]"
                f" for i in range({rows})]",
            ]))  # fmt: skip
            tables[name] = (rows, columns)
            return
        name = self.c.pick(sorted(tables))
        rows, columns = tables[name]
        i, j, k = self.index(rows), self.index(columns), self.index(rows)
        match self.c.below(10):
            case 0 | 1:
                self.say(f"{name}[{i}][{j}] = {self.bounded(2)}")
            case 2:
                self.say(f"{name}[{i}][{j}] += 0.3 * {self.bounded(1)}")
            case 3:
                self.say(f"{name}[{i}], {name}[{k}] = {name}[{k}], {name}[{i}]")
            case 4:
                self.say(f"{name}[{i}] = [0.5 * p for p in {name}[{k}]]")
            case 5:
                row = self.new("row")
                self.say(f"{row} = {name}[{i}]")
                self.say(f"{row}[{j}] = {self.bounded(1)}")
            case 6:
                a, b = self.new("i"), self.new("i")
                self.say(f"for {a} in range({self.c.below(2)}, {rows}):")
                self.say(f"    for {b} in range({columns}):")
                before = f"{name}[{a} - 1][{b}]"
                self.say(f"        {name}[{a}][{b}] = math.sin({before} + {self.bounded(1)})")
            case 7:
                row, number = self.new("row"), self.new("p")
                self.assigned(f"0.2 * math.fsum({number} for {row} in {name} for {number} in {row})"
                              if self.c.below(2) == 2 else
                              f"0.2 * sum({number} for {row} in {name} for {number} in {row})")
            case 8:
                other = self.new("t")
                if self.c.below(2):
                    self.say(f"{other} = [list(p) for p in zip(*{name})]")
                    tables[other] = (columns, rows)
                else:
                    self.say(f"{other} = [p[:] for p in {name}]")
                    tables[other] = (rows, columns)
            case _:
                made = self.new("z")
                self.say(f"{made} = np.array({name})")
                self.scope.arrays[made] = (rows, columns)

    def do_row(self) -> None:
        """A list whose length data may decide."""
        self.use("list of unknown length")
        rows = self.scope.rows
        if not rows or not self.c.below(4):
            name, p = self.new("l"), self.new("p")
            self.say(f"{name} = " + self.c.pick([
                f"[{self.bounded(1)}]",
                f"[{self.bounded(1)}, {self.bounded(1)}, {self.bounded(1)}]",
                f"[0.5, *({p} for {p} in {self.some()} if {p} > {self.bounded(1)})]",
                f"[{self.bounded(1)}] + [0.2 * {p} for {p} in range({self.int()} % 4)]",
                f"list(itertools.accumulate({self.some()}, lambda p, q: 0.5 * p + math.sin(q)))",
            ]))  # fmt: skip
            rows.append(name)
            return
        name = self.c.pick(rows)
        place, number = f"{self.int()} % len({name})", self.bounded(1)
        match self.c.below(11):
            case 0 | 1:
                self.say(f"{name}.append({number})")
            case 2:
                self.say(f"if len({name}) > 1:")
                self.guarded(lambda: self.assigned(f"{name}.pop({self.c.pick(['', '0', place])})"))
            case 3:
                self.say(f"{name}[{place}] = {number}")
            case 4:
                self.say(f"{name}[{place}] *= {self.c.pick(['0.5', '-0.7'])}")
            case 5:
                self.say(f"{name}.insert({self.int()} % (len({name}) + 1), {number})")
            case 6:
                self.say(f"{name}.{self.c.pick(['sort()', 'reverse()', 'sort(reverse=True)'])}")
            case 7:
                other = self.new("l")
                part = self.c.pick(["[::-1]", "[-2:]", "[:2]", "[:]"])
                self.say(f"{other} = {name}{part}")
                rows.append(other)
            case 8:
                self.say(f"bisect.insort({name}, {number})" if self.c.below(2) else
                         f"{name}.extend([{number}, 0.25])")
            case 9:
                other = self.new("l")
                self.say(f"{other} = {name}")
                rows.append(other)
            case _:
                k, e = self.new("i"), self.new("e")
                self.say(f"for {k}, {e} in enumerate({name}):")
                self.guarded(lambda: self.say(f"{name}[{k}] = math.sin({e} + 0.1 * {k})"))

    def some(self) -> str:
        """What gives floats when it is gone over."""
        choices = [f"({self.bounded(1)}, {self.bounded(1)})"]
        choices += self.scope.rows[-2:] + sorted(self.scope.vectors())[-2:]
        choices += [f"{t}[{self.index(n)}]" for t, (n, _) in sorted(self.scope.tables.items())[-1:]]
        return self.c.pick(choices)

    def do_queue(self) -> None:
        self.use("deque")
        if not self.scope.queues or not self.c.below(4):
            name = self.new("queue")
            most = self.c.pick(["", ", maxlen=3"])
            self.say(f"{name} = collections.deque([{self.bounded(1)}, {self.bounded(1)}]{most})")
            self.scope.queues.append(name)
            return
        name = self.c.pick(self.scope.queues)
        match self.c.below(5):
            case 0:
                self.say(f"{name}.append({self.bounded(1)})")
            case 1:
                self.say(f"{name}.appendleft({self.bounded(1)})")
            case 2:
                self.say(f"if len({name}) > 1:")
                self.guarded(lambda: self.assigned(f"{name}.{self.c.pick(['pop', 'popleft'])}()"))
            case 3:
                self.say(f"{name}.rotate({self.c.below(3) - 1})")
            case _:
                self.assigned(f"sum({name}) / len({name})")

    def do_heap(self) -> None:
        self.use("heap")
        if not self.scope.heaps or not self.c.below(4):
            name = self.new("heap")
            self.say(f"{name} = [{self.bounded(1)}, {self.bounded(1)}]")
            self.say(f"heapq.heapify({name})")
            self.scope.heaps.append(name)
            return
        name = self.c.pick(self.scope.heaps)
        match self.c.below(4):
            case 0:
                self.say(f"heapq.heappush({name}, {self.bounded(1)})")
            case 1:
                self.say(f"if len({name}) > 1:")
                self.guarded(lambda: self.assigned(f"heapq.heappop({name})"))
            case 2:
                self.assigned(f"heapq.heapreplace({name}, {self.bounded(1)})")
            case _:
                self.assigned(f"0.5 * sum(heapq.nsmallest(2, {name}))")

    def do_set(self) -> None:
        self.use("set")
        if not self.scope.sets or not self.c.below(4):
            name = self.new("s")
            start = self.c.pick(["set()", "{1, 3}", f"{{{self.int()} % 4, 2}}",
                                 "{p % 3 for p in range(5)}"])  # fmt: skip
            self.say(f"{name} = {start}")
            self.scope.sets.append(name)
            return
        name = self.c.pick(self.scope.sets)
        number = f"{self.int()} % 5"
        match self.c.below(6):
            case 0 | 1:
                self.say(f"{name}.add({number})")
            case 2:
                self.say(f"{name}.discard({number})")
            case 3:
                self.assigned(f"0.1 * sum({name}) + 0.2 * len({name})")
            case 4:
                k = self.new("k")
                self.say(f"for {k} in sorted({name}):")
                self.scope.ints.append(k)
                self.guarded(self.do_assign)
                self.scope.ints.remove(k)
            case _:
                other = self.new("s")
                self.say(f"{other} = {name} {self.c.pick(['|', '&', '-'])} {{1, {number}}}")
                self.scope.sets.append(other)

    def do_map(self) -> None:
        self.use("dict of ints")
        if not self.scope.maps or not self.c.below(4):
            name = self.new("d")
            start = self.c.pick(["{}", f"{{0: {self.bounded(1)}, 2: 0.5}}",
                                 f"dict(enumerate([{self.bounded(1)}, {self.bounded(1)}]))",
                                 "collections.defaultdict(float)"])  # fmt: skip
            self.say(f"{name} = {start}")
            self.scope.maps.append(name)
            return
        name = self.c.pick(self.scope.maps)
        key = f"{self.int()} % 4"
        match self.c.below(6):
            case 0 | 1:
                self.say(f"{name}[{key}] = {self.bounded(1)}")
            case 2:
                self.say(f"{name}[{key}] = 0.5 * {name}.get({key}, 0.3) + 0.2 * {self.bounded(1)}")
            case 3:
                self.assigned(f"{name}.pop({key}, {self.bounded(1)})")
            case 4:
                self.assigned(f"{name}.setdefault({key}, {self.bounded(1)})")
            case _:
                k, p = self.new("k"), self.new("p")
                self.assigned(f"0.2 * sum(math.cos({k}) * {p} for {k}, {p} in {name}.items())")

    def do_cell(self) -> None:
        self.use("object")
        cells = self.scope.cells
        if not cells or not self.c.below(4):
            name = self.new("c")
            self.say(f"{name} = Cell({self.bounded(1)}{self.c.pick(['', ', v=0.3'])})")
            cells.append(name)
            return
        name, other = self.c.pick(cells), self.c.pick(cells)
        match self.c.below(6):
            case 0 | 1:
                self.say(f"{name}.{self.c.pick(['u', 'v'])} = {self.bounded(1)}")
            case 2:
                self.assigned(f"{name}.push({self.bounded(1)})")
            case 3:
                made = self.new("c")
                self.say(f"{made} = {name} + {other}")
                cells.append(made)
            case 4:
                made = self.new("c")
                self.say(f"{made} = {name} if {self.condition()} else {other}")
                self.say(f"{made}.u *= 0.5")
                cells.append(made)
            case _:
                made = self.new("c")
                self.say(f"for {made} in ({name}, {other}):")
                self.guarded(lambda: self.say(f"{made}.v = math.sin({made}.u + {self.bounded(1)})"))

    def do_drawn(self) -> None:
        """A generator that data may end."""
        self.use("generator")
        given = f"halves({self.bounded(1)}, {1 + self.c.below(4)}, {self.c.pick(['0.01', '0.2'])})"
        match self.c.below(3):
            case 0:
                self.assigned(f"0.3 * sum({given})")
            case 1:
                self.assigned(f"max({given}, default=0.2)")
            case _:
                e = self.new("e")
                self.say(f"for {e} in {given}:")
                self.scope.floats.append(e)
                self.guarded(lambda: self.statements(1))
                self.scope.floats.remove(e)

    def do_folded(self) -> None:
        self.use("folds")
        p = self.new("p")
        self.assigned(self.c.pick([
            f"functools.reduce(lambda p, q: math.sin(p + 0.5 * q), {self.some()})",
            f"math.tanh(sum(map(operator.mul, {self.some()}, {self.some()})))",
            f"(0.5 if any({p} > {self.bounded(1)} for {p} in {self.some()}) else {self.atom()[0]})",
            f"0.1 * sum(1 for {p} in {self.some()} if {p} < {self.bounded(1)})",
            f"sorted({self.some()}, key=lambda q: -q)[0]",
            f"next(({p} for {p} in {self.some()} if {p} > {self.bounded(1)}), 0.4)",
            f"0.2 * math.prod({self.some()})",
        ]))  # fmt: skip
