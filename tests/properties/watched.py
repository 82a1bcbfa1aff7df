"""What may a random program be in which things change while something else looks at them?

The same programs as `things` makes, with iterators that are kept and moved on, generators and maps
that are drawn from later, views of dicts, second names in lists, objects and closures, copies that
share their parts, loops over what they change, and operands that change what stands before them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.properties import things
from tests.properties.check import REFUSED as USUALLY
from tests.properties.choices import Choices
from tests.properties.generate import HEAD as USUAL
from tests.properties.generate import Generated
from tests.properties.things import Names, Things

HEAD = (
    "import copy\n"
    + things.HEAD
    + '''\
class Holder:
    def __init__(self, items, scale=0.5):
        self.items, self.scale = items, scale

    def __iter__(self):
        return iter(self.items)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, k):
        return self.scale * self.items[k]

    def put(self, w):
        self.items[-1] = w
        self.scale *= 0.9
        return self


class Drain:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return self

    def __next__(self):
        if len(self.items) < 2:
            raise StopIteration
        return self.items.pop()


def bump(items, w):
    if len(items) < 7:
        items.append(w)
    else:
        items[0] = w
    return 0.1 * len(items) + items[0]


def walk(items, most):
    for k, v in enumerate(items):
        if k == most:
            return
        yield math.sin(v)
        items[0] = 0.5 * items[0] + 0.1


def later(items):
    return lambda w: w * items[-1] + 0.1 * len(items)


'''
)
# What kernels refuse of these programs, which run eagerly then.
REFUSED = (
    *USUALLY,
    "gets longer or shorter while it is iterated over", "can't go on after a loop that a traced",
    "can't be advanced under a traced condition",
    "StopIteration under a traced condition can't be caught here",
    "zip() goes on with a generator, which writes",
    "zip() of several generators writes to what",
    "keys come or go while a dict is gone over", "the length of what is iterated is not known",
    "is gone over twice", "this loop ends before its variables are of the kinds", "holds copies",
    "which thing this is can't be asked here",
)
MOST = 8  # elements of a list that a loop makes longer


def program(choices: Choices) -> Generated:
    made = Watched(choices).module()
    return Generated(HEAD + made.source.removeprefix(USUAL), made.features, made.made)


@dataclass
class Watching(Names):
    """Those of `Names`, and of what looks at things."""

    iterators: list[str] = field(default_factory=list)  # over floats, maybe at their end
    keys: list[str] = field(default_factory=list)  # views of dicts from ints to floats
    values: list[str] = field(default_factory=list)
    holders: list[str] = field(default_factory=list)
    racks: dict[str, int] = field(default_factory=dict)  # lists of lists of unknown lengths
    looks: list[str] = field(default_factory=list)  # functions of a number

    def copy(self) -> Watching:
        plain = super().copy()
        return Watching(
            **vars(plain), iterators=[*self.iterators], keys=[*self.keys], values=[*self.values],
            holders=[*self.holders], racks={**self.racks}, looks=[*self.looks],
        )  # fmt: skip


class Watched(Things):
    """Statements and expressions that look at what others change."""

    names = Watching
    scope: Watching

    def statement(self) -> bool:
        if not self.scope.rows:
            self.do_row()
            return True
        if self.c.below(5) < 3:
            kind = self.c.weighted({"iterator": 6, "over": 6, "seen": 4, "held": 4, "rack": 4,
                                    "look": 3, "order": 4, "changed": 6, "keys": 3})  # fmt: skip
            getattr(self, "do_" + kind)()
            return True
        return super().statement()

    def do_row(self) -> None:
        if self.loops and self.scope.rows:
            self.do_changed()
        else:
            super().do_row()

    def result(self) -> str:
        s, parts = self.scope, [super().result()]
        parts += [f"0.3 * sum({name})" for name in s.iterators + s.values]
        parts += [f"0.1 * len({name})" for name in s.keys]
        parts += [f"{name}[0] * {name}.scale + 0.2 * len({name})" for name in s.holders]
        parts += [f"math.tanh(sum(map(sum, {name})))" for name in sorted(s.racks)]
        return " + ".join(parts)

    def atom(self) -> tuple[str, float]:
        s = self.scope
        if self.c.below(4):
            return super().atom()
        match self.c.below(5):
            case 0 if s.holders:
                name = self.c.pick(s.holders)
                ends = ["[0]", ".scale", "[-1]", ".items[0]"]
                return f"{name}{self.c.pick(ends)}", 2.0
            case 1 if s.looks:
                return f"math.sin({self.c.pick(s.looks)}({self.c.pick(s.floats or ['0.3'])}))", 1.0
            case 2 if s.keys:
                return f"(0.2 if {self.int()} in {self.c.pick(s.keys)} else -0.3)", 1.0
            case 3 if s.racks:
                name = self.c.pick(sorted(s.racks))
                at = self.index(s.racks[name])
                return f"{name}[{at}][{self.c.pick(['0', '-1'])}]", 2.0
            case _ if s.rows:
                one = self.list()
                return self.c.pick([
                    f"(0.4 if {one} is {self.list()} else 0.1)", f"(0.1 * len({one}))",
                    f"(0.3 if {self.c.pick(s.rows)}[0] in {one} else 0.2)",
                ]), 1.0  # fmt: skip
        return super().atom()

    def list(self) -> str:
        """Some list of floats that has an element at least."""
        s = self.scope
        choices = [*s.rows, *(f"{h}.items" for h in s.holders)]
        choices += [f"{r}[{self.index(n)}]" for r, n in sorted(s.racks.items())]
        return self.c.pick(choices)

    # -- statements -----------------------------------------------------------------------------

    def do_changed(self) -> None:
        """A list under any of its names gets another content."""
        self.use("list changed under one of its names")
        name, number = self.list(), self.bounded(1)
        longer = f"if len({name}) < {MOST}:"
        match self.c.below(13):
            case 0 | 1:
                self.say(longer)
                self.guarded(lambda: self.say(f"{name}.append({number})"))
            case 2:
                self.say(f"if len({name}) > 1:")
                self.guarded(lambda: self.say(f"del {name}[{self.c.pick(['0', '-1', '1:'])}]"))
            case 3:
                self.say(f"{name}[:] = [{number}, *{name}[:2]]")
            case 4:
                self.say(f"{name}[:] = (0.5 * p for p in {name})")
            case 5:
                self.say(longer)
                self.guarded(lambda: self.say(f"{name} += [{number}, 0.2]"))
            case 6:
                self.say(f"{name}[:], _ = [{number}], {name}.clear()")
            case 7:
                self.say(f"if len({name}) < 4:")
                self.guarded(lambda: self.say(self.c.pick([
                    f"{name}.extend({name})", f"{name}[1:1] = {name}", f"{name} += {name}",
                    f"{name} *= 2", f"{name}.extend(0.5 * p for p in tuple({name}))",
                ])))  # fmt: skip
            case 8 if self.scope.iterators:
                it = self.c.pick(self.scope.iterators)
                self.say(f"if len({name}) < 4:")
                self.guarded(lambda: self.say(self.c.pick([
                    f"{name}.extend(itertools.islice({it}, 3))", f"{name}[1:] = list({it})",
                    f"{name} += itertools.islice({it}, 2)",
                ])))  # fmt: skip
            case 9:
                self.say(f"{name}[0], {name}[-1] = {name}[-1], {name}[0]")
            case 10:
                self.say(f"{name}.{self.c.pick(['sort()', 'reverse()', 'sort(key=lambda q: -q)'])}")
            case 11:
                self.say(f"{self.c.pick(self.scope.rows)} = {name}{self.c.pick(['', '[:]'])}")
            case _:
                how = self.c.pick(["=", "-= 0.4 *"])
                self.say(f"{name}[{self.c.pick(['0', '-1'])}] {how} {number}")

    def do_iterator(self) -> None:
        """One is made, or is moved on."""
        self.use("iterator that is kept")
        s = self.scope
        if not s.iterators or not self.c.below(3):
            name, row = self.new("it"), self.list()
            choices = [
                f"iter({row})", f"(0.5 * p for p in {row})", f"map(math.sin, {row})",
                f"itertools.chain({row}, {self.list()})", f"itertools.islice({row}, 2)",
                f"reversed({row})", f"walk({row}, {1 + self.c.below(3)})",
                f"(p * q for p, q in zip({row}, {self.list()}))", f"itertools.accumulate({row})",
                f"filter(lambda p: p > {self.c.pick(['-0.2', '0.1'])}, {row})",
                f"(k * p for k, p in enumerate({row}))", f"iter(Holder({row}))",
                f"itertools.takewhile(lambda p: p < 0.6, {row})", f"iter(tuple({row}))",
                f"(p for p in {row} if p < {self.c.pick(s.floats or ['0.2'])})",
            ]  # fmt: skip
            choices += [f"iter({v})" for v in sorted(s.vectors())[:1]]
            self.say(f"{name} = {self.c.pick(choices)}")
            s.iterators.append(name)
            return
        name, number = self.c.pick(s.iterators), self.bounded(1)
        match self.c.below(8):
            case 0 | 1 | 2:
                self.assigned(f"next({name}, {number})")
            case 3:
                e = self.new("e")
                self.say(f"for {e} in {name}:")
                s.floats.append(e)
                self.loops.append("for")
                self.guarded(lambda: self.until(1))
                self.loops.pop()
                s.floats.remove(e)
            case 4:
                row = self.new("l")
                self.say(f"{row} = [{number}, *{name}]")
                s.rows.append(row)
            case 5:
                e, other = self.new("e"), self.list()
                both = self.c.pick([f"{name}, {other}", f"{other}, {name}"])
                self.say(f"for {e} in zip({both}):")
                self.guarded(lambda: self.assigned(f"{e}[0] + 0.5 * {e}[1]"))
            case 6:
                self.assigned(self.c.pick([
                    f"0.2 * sum(itertools.islice({name}, 2))", f"max({name}, default={number})",
                    f"(0.3 if any(p > 0.2 for p in {name}) else -0.1)",
                ]))  # fmt: skip
            case _:
                self.assigned(f"0.3 * sum({name})")

    def until(self, count: int) -> None:
        """Statements of a loop that may end it."""
        if self.c.below(3) == 0:
            self.statements(count)
        if self.c.below(2):
            self.use("break")
            self.say(f"if {self.condition()}:")
            self.guarded(lambda: self.say("break"))
        self.statements(count)

    def do_over(self) -> None:
        """A loop over a list that it changes itself."""
        self.use("loop over what it changes")
        name, e, k = self.list(), self.new("e"), self.new("i")
        kind = self.c.below(7)
        heads = [f"for {e} in {name}:"] * 3 + [
            f"for {k}, {e} in enumerate({name}):", f"for {e} in reversed({name}):",
            f"for {e}, _ in zip({name}, range(5)):", f"for {e} in Drain({name}):",
        ]  # fmt: skip
        self.say(heads[kind])

        def fill() -> None:
            self.scope.floats.append(e)
            if kind == 3:
                self.scope.ints.append(k)
                self.scope.fixed |= {k}
            if kind == 6:  # it would not end if there came new ones
                self.assigned(f"0.5 * {e}")
                return
            number = self.bounded(1)
            self.statements(self.c.below(2))
            match self.c.below(8):
                case 0 | 1:
                    self.say(f"if len({name}) < {MOST} and {self.condition()}:")
                    self.guarded(lambda: self.say(f"{name}.append({number})"))
                case 2:
                    self.say(f"if len({name}) > 1 and {self.condition()}:")
                    self.guarded(lambda: self.say(f"{name}.pop({self.c.pick(['', '0'])})"))
                case 3:
                    self.say(f"{name}[-1] = 0.5 * {e} + 0.1")
                case 4:
                    self.say(f"if len({name}) < {MOST}:")
                    self.guarded(lambda: self.say(f"{name}.insert(1, {number})"))
                case 5 if self.scope.rows:
                    self.say(f"{self.c.pick(self.scope.rows)} = [{e}, {number}]")
                case 6:
                    self.say(f"{name}[0] += 0.3 * {e}")
                case _:
                    self.say(f"if {self.condition()}:")
                    self.guarded(lambda: self.say("break"))

        self.loops.append("for")
        self.guarded(fill)
        self.loops.pop()

    def do_seen(self) -> None:
        """Second names and copies of lists, in tuples, dicts and by unpacking."""
        self.use("second name or copy of a list")
        name, made = self.list(), self.new("l")
        match self.c.below(8):
            case 0:
                self.say(f"{made} = {name}")
            case 1:
                self.say(f"{made} = {self.c.pick([f'{name}[:]', f'list({name})', f'[*{name}]'])}")
            case 2:
                self.say(f"{made} = copy.{self.c.pick(['copy', 'deepcopy'])}({name})")
            case 3:
                self.say(f"{made} = {name} if {self.condition()} else {self.list()}")
            case 4:
                first, rest = self.new("t"), self.new("r")
                self.say(f"{first}, *{rest} = {name}")
                self.say(f"{made} = {rest} + [{first}]")
                self.scope.floats.append(first)
            case 5:
                self.say(f"{made} = ({name}, {self.list()})[{self.int()} % 2]")
            case 6:
                self.say(f'{made} = {{"p": {name}, "q": [0.2]}}["{self.c.pick("pq")}"]')
            case _:
                self.say(f"{made} = {name} or [0.5]")
        self.scope.rows.append(made)

    def do_held(self) -> None:
        """Objects that hold a list that has another name, too; copies of them."""
        self.use("object that holds a list")
        holders = self.scope.holders
        if not holders or not self.c.below(3):
            name = self.new("h")
            self.say(f"{name} = Holder({self.list()}{self.c.pick(['', ', scale=0.8'])})")
            holders.append(name)
            return
        name, made = self.c.pick(holders), self.new("h")
        match self.c.below(7):
            case 0:
                self.say(f"{made} = copy.{self.c.pick(['copy', 'deepcopy'])}({name})")
                holders.append(made)
            case 1:
                self.say(f"{name}.items = {self.list()}")
            case 2:
                self.say(f"{name}.put({self.bounded(1)}).scale += 0.1")
            case 3:
                self.say(f"{made} = {name} if {self.condition()} else {self.c.pick(holders)}")
                holders.append(made)
            case 4:
                other = self.c.pick(holders)
                self.say(f"{name}.items, {other}.items = {other}.items, {name}.items")
            case 5:
                self.assigned(f"0.2 * sum({name})")
            case _:
                self.say(f"{name}.scale = {self.bounded(1)}")

    def do_rack(self) -> None:
        """Lists of lists that have other names, too, or stand there twice."""
        self.use("list of lists that are shared")
        racks = self.scope.racks
        if not racks or not self.c.below(3):
            name = self.new("rack")
            one = self.list()
            self.say(f"{name} = " + self.c.pick([
                f"[{one}, {self.list()}]", f"[{one}] * 2", f"[{one}[:], {self.list()}]",
                f"[list({one}) for _ in range(2)]",
            ]))  # fmt: skip
            racks[name] = 2
            return
        name = self.c.pick(sorted(racks))
        i, j = self.index(racks[name]), self.index(racks[name])
        match self.c.below(7):
            case 0:
                self.say(f"{name}[{i}] = {self.list()}")
            case 1:
                self.say(f"{name}[{i}], {name}[{j}] = {name}[{j}], {name}[{i}]")
            case 2:
                row = self.new("l")
                self.say(f"for {row} in {name}:")
                self.scope.rows.append(row)
                self.guarded(lambda: self.say(self.c.pick([
                    f"{row}[0] *= 0.5", f"{row}[-1] += {self.bounded(1)}",
                    f"{row}.append(0.3) if len({row}) < 6 else None",
                ])))  # fmt: skip
                self.scope.rows.remove(row)
            case 3:
                made = self.new("rack")
                how = self.c.pick(["[:]", ".copy()", "[::-1]", " + []"])
                self.say(f"{made} = {name}{how}")
                racks[made] = racks[name]
            case 4:
                made = self.new("rack")
                self.say(f"{made} = copy.deepcopy({name})")
                racks[made] = racks[name]
            case 5:
                row = self.new("l")
                self.say(f"{row} = {name}[{i}]")
                self.scope.rows.append(row)
            case _:
                self.say(f"{name}[{i}][{self.c.pick(['0', '-1'])}] = {self.bounded(1)}")

    def do_look(self) -> None:
        """Functions that look at lists when they are called, not when they are made."""
        if self.loops or self.in_function or self.indent > 2:
            return
        self.use("function that looks at a list")
        name, row = self.new("look"), self.c.pick(self.scope.rows)
        self.say(f"{name} = " + self.c.pick([
            f"lambda w: w * {row}[0] + 0.1 * len({row})", f"lambda w, r={row}: w + r[-1]",
            f"later({self.list()})", f"functools.partial(bump, {self.list()})",
            f"lambda w: 0.2 * sum({row}) + w", f"lambda w: bump({row}, 0.5 * w)",
        ]))  # fmt: skip
        self.scope.looks.append(name)

    def do_order(self) -> None:
        """Operands and places that change what stands before or after them."""
        self.use("operands that change others")
        name, number = self.list(), self.bounded(1)
        match self.c.below(8):
            case 0:
                self.assigned(f"{name}[0] + bump({name}, {number}) * {name}[0]")
            case 1:
                self.say(f"{name}[0] = bump({name}, {number}) + 0.5 * {name}[-1]")
            case 2:
                self.say(f"{name}[len({name}) - 1] += bump({name}, {number})")
            case 3:
                self.say(f"if len({name}) > 2:")
                self.guarded(lambda: self.say(f"{name}[int({name}.pop() > 0.1)] = {name}[0]"))
            case 4:
                p, q = self.new("t"), self.new("t")
                self.say(f"{p}, {q} = {name}[0], bump({name}, {number})")
                self.scope.floats += [p, q]
            case 5:
                self.assigned(f"sum([{name}[-1], bump({name}, {number}), {name}[-1]])")
            case 6:
                self.say(f"if {name}[0] < bump({name}, {number}) < {name}[-1] + 1.0:")
                self.guarded(lambda: self.statements(1))
            case _:
                self.assigned(f"{name}[0] = {number}")

    def do_keys(self) -> None:
        """Views of dicts, and keys that come and go."""
        self.use("view of a dict")
        maps = self.scope.maps
        if not maps:
            self.do_map()
        elif not (self.scope.keys and self.scope.values) or not self.c.below(3):
            name, d = self.new("view"), self.c.pick(maps)
            if self.c.below(2):
                self.say(f"{name} = {d}.keys()")
                self.scope.keys.append(name)
            else:
                self.say(f"{name} = {d}.values()")
                self.scope.values.append(name)
        else:
            name, number, d = self.c.pick(self.scope.keys), self.bounded(1), self.c.pick(maps)
            key, k = f"{self.int()} % 4", self.new("k")
            match self.c.below(7):
                case 0:
                    self.assigned(f"0.1 * len({name} & {{0, 2, {key}}}) + 0.2 * sum({name})")
                case 1:
                    self.assigned(f"0.2 * sum({self.c.pick(self.scope.values)})")
                case 2:
                    self.say(f"{d}.pop({key}, None)")
                case 3:
                    self.say(f"{d}[{key}] = {d}.pop({self.int()} % 4, {number})")
                case 4:
                    self.say(f"for {k} in list({name}):")
                    self.guarded(lambda: self.say(f"{d}[{k}] = {d}.pop({k}, 0.1) + {number}"))
                case 5:
                    self.say(f"{d}.update({{{key}: {number}, 3: 0.2}})")
                case _:
                    self.assigned(f"(0.3 if {key} in {name} else {number})")
