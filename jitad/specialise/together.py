"""In which order do whole-array operations stand, so that what goes over the same is together?

Loop nests over the same elements become one where nothing stands between them (`emit/joining.py`).
Traced code, and a sweep even more so, has them in another order: one sum after the other, each
followed by what is done with it.  Here the equations of a stretch without effects are scheduled
anew, first from the end, then from the beginning: a nest draws to it what shares an array with it
and goes over the same extents, as soon as all that it waits for is there (typed fusion; Kennedy &
McKinley 1993, *Maximizing loop parallelism and improving data locality via loop fusion and
distribution*).

The order of equations is free but for effects, which nothing passes, and for memory: what reads
an array and what writes to it stay in their order, or there would have to be a copy.  What a loop
carries on in the place of an array, element by element, comes after what else reads that array: so
it is written over it, where two buffers would change places and LLVM lose sight of which is which.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from heapq import heapify, heappop, heappush, nsmallest

from jitad.primitives import TABLE
from jitad.tape.flow import closure
from jitad.tape.ir import CALLS, Atom, Block, Equation, Tape, Var, is_array, walk
from jitad.tape.lent import STORES

_VIEWS = ("slice", "transpose", "broadcast", "full", "iota")
_PARTS = ("store_slice", "accum_slice")
_WINDOW = 64  # how many nests that are ready are looked through

Extents = tuple[Atom, ...]


def together(tape: Tape) -> Tape:
    """The tape with such operations side by side (in place)."""
    equal = Equal(tape)
    for block in [tape.body, *(b for e in walk(tape.body) for b in e.blocks)]:
        memory = Memory(block)
        heirs = {r: p for p, r in zip(reversed(block.params), reversed(block.results), strict=False)
                 if is_array(r) and r is not p}  # fmt: skip
        out: list[Equation] = []
        for stretch in _stretches(block):
            nests = [_extents(e, equal) for e in stretch]
            if sum(n is not None for n in nests) > 2:
                stretch = _Schedule(stretch, nests, memory, heirs).equations()
            out += stretch
        block.equations = out
    return tape


def _stretches(block: Block) -> Iterator[list[Equation]]:
    """The equations, cut before and behind those that nothing passes.

    Checks of extents, and of numbers that are known before, come before the nests of their stretch.
    """
    stretch: list[Equation] = []
    for e in block.equations:
        if e.blocks or e.op in CALLS or TABLE[e.op].effect:
            first = _needed(e, stretch) if e.op == "check" else None
            if first is not None:
                yield [*first, e]
                done = set(first)
                stretch = [x for x in stretch if x not in done]
                continue
            yield stretch
            yield [e]
            stretch = []
        else:
            stretch.append(e)
    yield stretch


def _needed(check: Equation, stretch: list[Equation]) -> list[Equation] | None:
    """What a check waits for; None, if there is an array or a number of an array among it."""
    waits, out = {*check.ins}, []
    for e in reversed(stretch):
        if waits.isdisjoint(e.outs):
            continue
        if e.op != "dim" and (any(map(is_array, (*e.ins, *e.outs))) or not _light(e)):
            return None
        waits.update(e.ins)
        out.append(e)
    return out[::-1]


class Equal:
    """Extents that checks have found equal count as one."""

    def __init__(self, tape: Tape | None = None) -> None:
        """What all checks of a tape find; without one, nothing yet."""
        self._of: dict[Atom, Atom] = {}
        equations = [] if tape is None else list(walk(tape.body))
        made = {v: e for e in equations if e.op == "eq" for v in e.outs}
        for e in equations:
            self.learn(e, made)

    def learn(self, e: Equation, makers: Mapping[Var, Equation]) -> None:
        """What holds from an equation on."""
        test = makers.get(e.ins[0]) if e.op == "check" else None  # type: ignore[arg-type]
        if test is not None and test.op == "eq":
            self.join(*test.ins)

    def join(self, a: Atom, b: Atom) -> None:
        one, other = self.find(a), self.find(b)
        if one != other:
            self._of[one] = other

    def copy(self) -> Equal:
        other = Equal()
        other._of.update(self._of)
        return other

    def find(self, a: Atom) -> Atom:
        while a in self._of:
            a = self._of[a]
        return a


def _extents(e: Equation, equal: Equal) -> Extents | None:
    """Of the loop nest that an equation is, or is a part of."""
    if e.blocks:
        return None
    if e.op in _PARTS:
        operands = iter(e.ins[2:])
        shape = []
        for kind in e.params["kinds"]:
            start = next(operands)
            if kind == "r":
                _, start = next(operands), next(operands)
                shape.append(start)
    elif e.op == "sum":
        shape = list(e.ins[0].shape)
    elif e.outs and is_array(e.outs[0]) and (TABLE[e.op].elementwise or e.op == "copy"):
        shape = list(e.outs[0].shape)
    else:
        return None
    return tuple(map(equal.find, shape)) or None


class Memory:
    """Which memory may an equation read or write?

    Versions of an array and views of it share theirs; elements that are computed where they are
    used are read from all that they are computed from.
    """

    def __init__(self, block: Block) -> None:
        self._home: dict[Atom, Atom] = {}  # what the memory of an array was called at first
        self._reads: dict[Atom, frozenset[Atom]] = {}
        self._near: dict[Atom, frozenset[Atom]] = {}  # not through what has memory of its own
        users = Counter(a for e in block.equations for a in {*e.ins})
        for e in block.equations:
            match e.op:
                case op if op in STORES:
                    self._home[e.outs[0]] = self.home(e.ins[0])
                case "slice" | "transpose" | "broadcast":
                    self._home[e.outs[0]] = self.home(e.ins[0])
                    self._reads[e.outs[0]] = self.of(e.ins[0])
                    self._near[e.outs[0]] = self.near(e.ins[0])
                case "for" | "while":
                    init = e.ins[3 if e.op == "for" else 0 :]
                    self._home.update(
                        (v, self.home(a)) for a, v in zip(init, e.outs, strict=True) if is_array(v)
                    )
                case _ if not e.blocks and TABLE[e.op].elementwise and is_array(e.outs[0]):
                    reads = (self.of(a) for a in e.ins if is_array(a))
                    self._reads[e.outs[0]] = frozenset(e.outs).union(*reads)
                    if users[e.outs[0]] == 1:
                        near = (self.near(a) for a in e.ins if is_array(a))
                        self._near[e.outs[0]] = frozenset(e.outs).union(*near)

    def home(self, a: Atom) -> Atom:
        """What the memory of a version or view of an array was called at first."""
        return self._home.get(a, a)

    def of(self, a: Atom) -> frozenset[Atom]:
        return self._reads.get(a) or frozenset([self.home(a)])

    def near(self, a: Atom) -> frozenset[Atom]:
        """Of those what a nest reaches that reads it: what several read is computed before."""
        return self._near.get(a) or frozenset([self.home(a)])

    def reached(self, e: Equation) -> frozenset[Atom]:
        arrays = (a for a in (*e.ins, e.outs[0]) if is_array(a))
        return frozenset().union(*map(self.near, arrays))

    def direct(self, a: Atom) -> bool:
        """Is it the array itself, not a view, nor computed where it is used?"""
        return a not in self._reads

    def read(self, e: Equation) -> frozenset[Atom]:
        return frozenset().union(*(self.of(a) for a in e.ins if is_array(a)))

    def written(self, e: Equation) -> list[Atom]:
        return [self.home(e.ins[0])] if e.op in STORES else []


class _Schedule:
    """A stretch of equations in a new order."""

    def __init__(
        self, stretch: list[Equation], nests: list[Extents | None], memory: Memory,
        heirs: Mapping[Atom, Var],
    ) -> None:  # fmt: skip
        self._stretch, self._nests = stretch, nests
        self._light = [n is None and _light(e) for e, n in zip(stretch, nests, strict=True)]
        self._touched = [memory.reached(e) if n is not None else frozenset()
                         for e, n in zip(stretch, nests, strict=True)]  # fmt: skip
        self._before: list[set[int]] = [set() for _ in stretch]
        self._after: list[set[int]] = [set() for _ in stretch]
        made: dict[Var, int] = {}
        writer: dict[Atom, int] = {}
        readers: dict[Atom, list[int]] = defaultdict(list)
        for k, e in enumerate(stretch):
            waits = {made[a] for a in e.ins if isinstance(a, Var) and a in made}
            for v in e.outs:
                waits.update(made[d] for d in v.shape if isinstance(d, Var) and d in made)
                made[v] = k
            for f in memory.read(e):
                waits.update([writer[f]] if f in writer else ())
                readers[f].append(k)
            for f in memory.written(e):
                waits.update(readers.pop(f, ()))
                writer[f] = k
            waits.discard(k)
            for j in waits:
                self._before[k].add(j)
                self._after[j].add(k)
        for k, e in enumerate(stretch):
            p = heirs.get(e.outs[0]) if e.outs else None
            if p is not None and _in_place(e, p, stretch, made, memory):
                self._last(k, [j for j, x in enumerate(stretch) if p in memory.read(x)])

    def _last(self, k: int, readers: list[int]) -> None:
        """Let k wait for these, but for those that wait for it."""
        behind = closure([k], {n: list(after) for n, after in enumerate(self._after)})
        for j in readers:
            if j not in behind:
                self._before[k].add(j)
                self._after[j].add(k)

    def equations(self) -> list[Equation]:
        last = range(len(self._stretch))[::-1]
        backwards = self._run(last, self._after, self._before)
        forwards = self._run(backwards[::-1], self._before, self._after, forwards=True)
        return _filled_late([self._stretch[k] for k in forwards])

    def _run(
        self, order: list[int] | range, before: list[set[int]], after: list[set[int]],
        forwards: bool = False,
    ) -> list[int]:  # fmt: skip
        """One by one what is ready: views, what fits the last nest (or, `forwards`, goes over its
        rows), numbers, other nests."""
        place = {k: n for n, k in enumerate(order)}
        waiting = [len(b) for b in before]
        views: list[tuple[int, int]] = []  # what is ready, by its place in the order
        numbers: list[tuple[int, int]] = []
        heavy: list[tuple[int, int]] = []
        out: list[int] = []
        extents: Extents | None = None
        touched: frozenset[Atom] = frozenset()

        def add(k: int) -> None:
            array = any(map(is_array, self._stretch[k].outs))
            heappush((views if array else numbers) if self._light[k] else heavy, (place[k], k))

        for k in order:
            if not waiting[k]:
                add(k)
        while views or numbers or heavy:
            if views:
                k = heappop(views)[1]
            elif (found := self._fitting(heavy, extents, touched, False)) is not None:
                k = found
            elif forwards and (found := self._fitting(heavy, extents, touched, True)) is not None:
                k = found
            else:
                k = heappop(numbers or heavy)[1]
            if not self._light[k]:
                mine = self._touched[k]
                touched = touched | mine if self._nests[k] == extents else mine
                extents = self._nests[k]
            out.append(k)
            for j in after[k]:
                waiting[j] -= 1
                if not waiting[j]:
                    add(j)
        return out

    def _fitting(
        self, ready: list[tuple[int, int]], extents: Extents | None, touched: frozenset[Atom],
        rows: bool,
    ) -> int | None:  # fmt: skip
        """The first that fits the last nest, or its `rows`, no longer among those ready."""
        for item in nsmallest(_WINDOW, ready) if extents is not None else ():
            mine = self._nests[item[1]]
            fits = mine == (extents[: len(mine)] if rows and mine and extents else extents)
            if fits and touched & self._touched[item[1]]:
                ready.remove(item)
                heapify(ready)
                return item[1]
        return None


def _filled_late(equations: list[Equation]) -> list[Equation]:
    """What may become a buffer full of one number comes right before it is used."""
    waiting: dict[Atom, Equation] = {}
    out: list[Equation] = []
    for e in equations:
        if e.op == "full":
            waiting[e.outs[0]] = e
            continue
        out += [waiting.pop(a) for a in dict.fromkeys(e.ins) if a in waiting]
        out.append(e)
    return [*out, *waiting.values()]


def _in_place(
    e: Equation, p: Var, stretch: list[Equation], made: Mapping[Var, int], memory: Memory
) -> bool:
    """Is e computed of elements of p, if at all, each at its own place?"""
    todo, seen = [e], {id(e)}
    while todo:
        x = todo.pop()
        if x.blocks or not TABLE[x.op].elementwise or x.outs[0].shape != p.shape:
            return False
        for a in x.ins:
            if a is not p and is_array(a) and p in memory.of(a):
                if a not in made:
                    return False
                y = stretch[made[a]]  # type: ignore[index]
                if id(y) not in seen:
                    seen.add(id(y))
                    todo.append(y)
    return True


def _light(e: Equation) -> bool:
    """Does it take no loop, so that it may as well stand in front of one?"""
    if e.op in _VIEWS or e.op in ("pop", "pops", "stack", "load", "dim"):
        return True
    return not e.blocks and TABLE[e.op].elementwise
