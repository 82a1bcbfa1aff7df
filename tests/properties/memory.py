"""What may a random program be that remembers what its calls have done?

The same programs as `generate` makes, with variables of the module, lists, dicts, arrays and views
of them, objects that have two names, attributes of a class, a function with variables of its own
and default arguments that are written to: read, written and rebound, in helpers, closures, loops
and derivatives inside.  `remembered` runs them several times in a row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.properties.choices import Choices
from tests.properties.expressions import LIMIT, VECTOR, Scope
from tests.properties.generate import HEAD as USUAL
from tests.properties.generate import Generated, Statements

HEAD = '''\
import collections
import math

import numpy as np

import jitad


class Part:
    def __init__(self, u):
        self.u = u
        self.log = []


class Model:
    rate = 0.4

    def __init__(self):
        self.w, self.best, self.kept = 0.3, 2.0, None
        self.left, self.right = Part(0.2), Part(-0.4)
        self.seen = [0.5]
        self.grid = np.array([0.2, -0.1, 0.4, 0.3])

    def push(self, v):
        self.w = math.sin(self.w + v)
        self.left.log.append(self.w)
        return self.w * self.rate

    @property
    def last(self):
        return self.seen[-1] if self.seen else 0.1


def remembering():
    kept, items = 0.2, []

    def step(v):
        nonlocal kept
        kept = 0.5 * kept + math.sin(v)
        items.append(kept)
        return kept + 0.1 * len(items)

    return step


total, count = 0.3, 0
seen = [0.1, -0.2]
table = {"a": 0.5, "b": -0.3}
recent = collections.deque([0.3], maxlen=3)
rows = [np.array([0.1, 0.2, 0.3, 0.4])]
grid = np.array([0.3, -0.2, 0.5, 0.1])
part = grid[1:].copy()
model = Model()
other = model
step = remembering()


def noted(v, memo=[0.1]):
    memo.append(0.5 * v)
    return math.tanh(sum(memo))


'''
STATE = "global total, count, seen, grid, part"
OBJECTS = ("model", "other")


def program(choices: Choices) -> Generated:
    made = Remembering(choices).module()
    return Generated(HEAD + made.source.removeprefix(USUAL), made.features, made.made)


def _names(arrays: dict[str, tuple[int, ...]] | None = None, **others: Any) -> Scope:
    return Scope(arrays={**(arrays or {}), "grid": (VECTOR,), "part": (VECTOR - 1,)}, **others)


class Remembering(Statements):
    """Statements and expressions about what stays between calls; the others as they are."""

    names = staticmethod(_names)  # type: ignore[assignment]
    least = 5

    def __init__(self, choices: Choices) -> None:
        super().__init__(choices)
        self.left = 18
        self.inside = False  # of a derivative

    def body(self, fill: Callable[[], None], end: bool = False) -> None:
        def declared() -> None:
            self.say(STATE)
            fill()

        super().body(declared if end else fill, end)

    def statements(self, count: int) -> None:
        if self.lines and self.lines[-1].startswith("def program"):
            self.say(STATE)
        super().statements(count)

    def statement(self) -> bool:
        if self.c.below(5) < 2:
            return super().statement()
        kind = self.c.weighted({"number": 3, "items": 4, "key": 3, "row": 2, "object": 5,
                                "parts": 2, "array": 3, "called": 2, "inner": 1})  # fmt: skip
        getattr(self, "state_" + kind)()
        return True

    def result(self) -> str:
        return super().result() + " + " + " + ".join([
            "total", "0.1 * count", "math.tanh(sum(seen))", "sum(table.values())",
            "model.w * model.best", "other.left.u - model.right.u", "sum(rows[-1])",
            "np.sum(model.grid)", "model.last", "Model.rate",
        ])  # fmt: skip

    def atom(self) -> tuple[str, float]:
        if self.c.below(3):
            return super().atom()
        self.use("state read")
        thing = self.c.pick(OBJECTS)
        return self.c.pick([
            "total", "seen[-1]", "seen[0]", 'table["a"]', 'table.get("c", 0.25)', "recent[-1]",
            f"{thing}.w", f"{thing}.best", f"{thing}.left.u", f"{thing}.right.u", f"{thing}.last",
            f"{thing}.rate", "Model.rate", f"{thing}.grid[{self.index(VECTOR)}]",
            f"rows[-1][{self.index(VECTOR)}]", f"{thing}.seen[0]",
            f"(0.2 if {thing}.kept is None else {thing}.kept)", "(0.1 * len(seen))",
            f'getattr({thing}, "late", 0.3)', f"(0.5 * len({thing}.left.log))",
        ]), LIMIT  # fmt: skip

    # -- statements -----------------------------------------------------------------------------

    def do_swap(self) -> None:
        """Arguments stay the caller's: no name outside becomes one of theirs."""
        if len(self.scope.floats) > 1:
            p, q = self.c.pick(self.scope.floats), self.c.pick(self.scope.floats)
            self.say(f"{p}, {q} = {q}, {p}")

    def state_number(self) -> None:
        self.use("global written")
        self.say(self.c.pick([
            f"total = {self.bounded(2)}", f"total += 0.3 * {self.bounded(1)}",
            "total *= 0.5", f"count += {self.c.below(3)}", "count = count + 1",
            f"total = math.sin(total + {self.bounded(1)})",
        ]))  # fmt: skip

    def state_items(self) -> None:
        self.use("list outside written")
        e, name = self.bounded(1), self.c.pick(["seen", "model.seen", "other.seen"])
        match self.c.below(12):
            case 0:
                self.say(f"{name}.append({e})")
            case 2:
                self.say(f"if len({name}) > 1:")
                self.guarded(lambda: self.assigned(f"{name}.pop({self.c.pick(['', '0'])})"))
            case 3:
                self.say(f"{name}[{self.c.pick(['0', '-1'])}] = {e}")
            case 4:
                self.say(f"{name}[-1] {self.c.pick(['+=', '-='])} 0.3 * {e}")
            case 5:
                self.say(f"seen = {self.c.pick(['seen', name])} + [{e}]")
            case 6:
                self.say(f"{name}[:] = [{e}, *{name}[:2]]")
            case 7:
                self.say(f"{name}.sort()")
            case 8 if not self.c.below(3):
                self.say(f"recent.append({e})")
            case 9 | 10:
                self.assigned(f"0.3 * sum({name}[:2])")
            case _:
                k, v = self.new("i"), self.new("e")
                self.say(f"for {k}, {v} in enumerate({name}):")
                self.guarded(lambda: self.say(f"{name}[{k}] = math.sin({v} + 0.1 * {k})"))

    def state_key(self) -> None:
        self.use("dict outside written")
        e = self.bounded(1)
        match self.c.below(6):
            case 0 | 1:
                self.say(f'table["{self.c.pick("abc")}"] = {e}')
            case 2:
                self.say(f'table["c"] = 0.5 * table.get("c", 0.3) + {e}')
            case 3:
                self.say(f'table["a"] *= math.cos({e})')
            case 4:
                self.assigned(f'table.pop("c", {e})')
            case _:
                k = self.new("k")
                self.say(f"for {k} in list(table):")
                self.guarded(lambda: self.say(f"table[{k}] = 0.5 * table[{k}] + 0.1 * {e}"))

    def state_row(self) -> None:
        self.use("list of arrays outside")
        vectors = sorted(v for v, n in self.scope.vectors().items() if n == VECTOR)
        match self.c.below(6):
            case 0 if not self.c.below(3):
                self.say(f"rows.append(0.5 * {self.array((VECTOR,), 1)})")
            case 1:
                self.say(f"rows[-1][{self.index(VECTOR)}] = {self.bounded(1)}")
            case 2:
                self.say(f"rows[0] = {self.c.pick(vectors)}.copy()")
            case 3:
                name = self.new("z")
                self.say(f"{name} = rows[{self.c.pick(['0', '-1'])}]")
                self.scope.arrays[name] = (VECTOR,)
            case _:
                self.say("rows[-1] *= 0.5")

    def state_object(self) -> None:
        self.use("object outside written")
        thing, e = self.c.pick(OBJECTS), self.bounded(1)
        match self.c.below(11):
            case 0:
                self.say(f"{thing}.w = {e}")
            case 1:
                self.say(f"{thing}.w += 0.2 * {e}")
            case 2:
                self.say(f"{thing}.best = min({thing}.best, {e})")
            case 3:
                self.say(f"if {thing}.kept is None:")
                self.guarded(lambda: self.say(f"{thing}.kept = {self.bounded(1)}"))
            case 4:
                self.say(f"{thing}.kept = None")
            case 5:
                self.say(f"{thing}.grid[{self.index(VECTOR)}] = {e}")
            case 6:
                self.say(f"{thing}.grid = 0.5 * {self.array((VECTOR,), 1)}")
            case 7:
                self.say(f"{thing}.late = {e}")
            case 8:
                self.say(f"{self.c.pick(['Model', 'type(model)'])}.rate = {e}")
            case 9:
                self.say(f"{thing}.grid[1:] += 0.2 * {thing}.grid[:-1]")
            case _:
                self.say(f'setattr({thing}, "w", {e})')

    def state_parts(self) -> None:
        self.use("objects in objects")
        thing, side = self.c.pick(OBJECTS), self.c.pick(["left", "right"])
        match self.c.below(5):
            case 0:
                self.say(f"{thing}.left, {thing}.right = {thing}.right, {thing}.left")
            case 1:
                self.say(f"{thing}.{side} = Part({self.bounded(1)})")
            case 2:
                self.say(f"{thing}.{side}.u = {self.bounded(1)}")
            case 3:
                self.say(f"model.left = {thing}.right")
            case _:
                self.say(f"{thing}.{side}.log.append({self.bounded(1)})")

    def state_array(self) -> None:
        self.use("array outside written")
        name = self.c.pick(["grid", "part"])
        size = self.scope.arrays.get(name, (VECTOR,))[0]
        e = self.bounded(1)
        match self.c.below(7):
            case 0 | 1:
                self.say(f"{name}[{self.index(size)}] = {e}")
            case 2:
                self.say(f"{name} *= 0.5")
            case 3:
                self.say(f"grid = {self.array((VECTOR,), 1)} + 0.1")
            case 4:
                self.say("part = grid[1:].copy()")
            case 5:
                self.say("np.sin(grid, out=grid)")
            case _:
                self.say(f"{name}[{name} > {e}] *= 0.5")

    def state_called(self) -> None:
        self.use("functions that remember")
        function = self.c.pick(["step", "noted", "model.push", "other.push"])
        self.assigned(f"{function}({self.bounded(1)})")

    def state_inner(self) -> None:
        """A derivative of a function that reads and writes what is outside."""
        if self.loops or self.in_function or self.indent > 2 or self.inside:
            return
        self.use("derivative inside")
        name, p = self.new("inner"), self.new("p")
        self.say(f"def {name}({p}):")

        def fill() -> None:
            self.scope.floats, captured = [p], self.scope.floats
            self.state_of_inner()
            self.scope.floats += captured

        self.inside = True
        self.body(fill, end=True)
        self.inside = False
        self.assigned(f"jitad.grad({name})(1.0 * {self.bounded(1)})")

    def state_of_inner(self) -> None:
        for _ in range(self.c.below(3)):
            kind = self.c.pick(["number", "items", "key", "object", "parts", "array"])
            getattr(self, "state_" + kind)()
