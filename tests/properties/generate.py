"""What may a random program be?  Source text of Python functions that run without errors.

`program(choices)` gives the text of a module with a function `program(x, y, a, b, m, n)` of two
floats, two vectors, a matrix and an int, the helpers it calls, and the set of features it uses.
Names first assigned inside a branch or loop body are forgotten after it, so that no name is ever
unbound; loops are bounded by construction.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from tests.properties.choices import Choices
from tests.properties.expressions import VECTOR, Expressions

MATRIX = (2, VECTOR)
HEAD = "import math\n\nimport numpy as np\n\n\n"


@dataclass(frozen=True)
class Generated:
    source: str
    features: frozenset[str]
    made: tuple[int, ...]


def program(choices: Choices) -> Generated:
    return Statements(choices).module()


class Statements(Expressions):
    """Random statements; lines are collected as text."""

    least = 3  # statements of the program itself

    def __init__(self, choices: Choices) -> None:
        super().__init__(choices)
        self.lines: list[str] = []
        self.indent = 0
        self.count = 0
        self.left = 14  # statements that may still be made
        self.loops: list[str] = []  # of the loops around: "for" or "while"
        self.conditional = 0  # branches and loops around
        self.in_function = False

    # -- text -----------------------------------------------------------------------------------

    def say(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def new(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def module(self) -> Generated:
        for _ in range(self.c.below(3)):
            self.helper()
        functions = {**self.scope.functions}
        self.scope = self.names(
            floats=["x", "y"], ints=["n"], arrays={"a": (VECTOR,), "b": (VECTOR,), "m": MATRIX},
            functions=functions,
        )  # fmt: skip
        self.say("def program(x, y, a, b, m, n):")
        self.indent += 1
        self.statements(self.least + self.c.below(5))
        self.say(f"return {self.result()}")
        return Generated(
            HEAD + "\n".join(self.lines) + "\n", frozenset(self.features), tuple(self.c.made)
        )

    def result(self) -> str:
        parts = ["x", "y"] if self.in_function is False else []
        parts += [name for name in self.scope.floats if name not in parts][-3:]
        for name, shape in sorted(self.scope.arrays.items()):
            weighted = len(shape) == 1 and not self.c.below(2)
            weights = f" * np.arange(1.0, {shape[0]}.5)" if weighted else ""
            parts.append(f"np.sum({name}{weights})")
        return " + ".join(parts) if parts else self.bounded(1)

    def helper(self) -> None:
        self.use("helper function")
        name = self.new("helper")
        kinds = self.c.pick(["f", "ff", "fa"])
        names = {"f": "p", "a": "v"}
        parameters = [names[k] + str(i) for i, k in enumerate(kinds)]
        outer, self.scope = self.scope, self.names(functions={**self.scope.functions})
        for parameter, kind in zip(parameters, kinds, strict=True):
            if kind == "f":
                self.scope.floats.append(parameter)
            else:
                self.scope.arrays[parameter] = (VECTOR,)
        default = " = 0.5" if kinds == "ff" and self.c.below(2) else ""
        self.say(f"def {name}({', '.join(parameters)}{default}):")
        self.body(lambda: self.statements(1 + self.c.below(2)), end=True)
        self.scope = outer
        self.scope.functions[name] = "f" if default and self.c.below(2) else kinds
        self.say("")
        self.say("")

    def body(self, fill: Callable[[], None], end: bool = False) -> None:
        """An indented block in a scope of its own; `end`: of a function, with a return."""
        outer = self.scope
        self.scope = outer.copy()
        self.indent += 1
        before = len(self.lines)
        loops, in_function, left = self.loops, self.in_function, self.left
        if end:
            self.loops, self.in_function, self.left = [], True, 4
        fill()
        if end:
            self.say(f"return {self.bounded(1)}")
            self.loops, self.in_function, self.left = loops, in_function, left
        elif len(self.lines) == before:
            self.say("pass")
        self.indent -= 1
        self.scope = outer

    # -- statements -----------------------------------------------------------------------------

    def statements(self, count: int) -> None:
        for _ in range(count):
            if self.left > 0:
                self.left -= 1
                if not self.statement():
                    return

    def statement(self) -> bool:
        """False where nothing after it would run."""
        simple: dict[str, int] = {
            "assign": 5, "augment": 3, "store": 4, "store augmented": 3, "array": 3, "slice": 3,
            "int": 2, "swap": 2, "swap elements": 2, "view": 2, "bool": 1, "tuple": 1, "list": 3,
            "dict": 1, "closure": 1, "out": 1, "alias": 1, "recursion": 2, "optional": 2,
            "mask": 2, "picked": 2, "turned": 1, "rows": 3, "flattened": 2, "rearranged": 2,
            "chosen array": 3, "chosen object": 2,
        }  # fmt: skip
        nested = {"if": 5, "for": 6, "while": 3, "branch value": 2, "attempt": 3}
        jumps = {"break": 2, "continue": 2} if self.loops else {}
        if self.conditional:
            jumps["return"] = 1
        if self.indent > 4 or self.left <= 0:
            nested = {}
        kind = self.c.weighted({**simple, **nested, **jumps})
        if kind in ("break", "continue", "return"):
            return self.jump(kind)
        getattr(self, "do_" + kind.replace(" ", "_"))()
        return True

    def jump(self, kind: str) -> bool:
        """Mostly under a condition of its own."""
        self.use("early return" if kind == "return" else kind)
        text = kind if kind != "return" else f"return {self.bounded(1)}"
        if self.c.below(4):
            self.say(f"if {self.condition()}:")
            self.indent += 1
            self.say(text)
            self.indent -= 1
            return True
        self.say(text)
        return False

    def assigned(self, text: str) -> None:
        """A float variable gets a value: a new one, or one that exists."""
        if self.scope.floats and self.c.below(3):
            self.say(f"{self.c.pick(self.scope.floats)} = {text}")
            return
        name = self.new("t")
        self.say(f"{name} = {text}")
        self.scope.floats.append(name)

    def do_assign(self) -> None:
        self.assigned(self.bounded(3))

    def do_augment(self) -> None:
        self.use("augmented assignment")
        if not self.scope.floats:
            return
        name = self.c.pick(self.scope.floats)
        if self.c.below(3) == 0:
            self.say(f"{name} *= math.cos({self.float(1)[0]})")
        else:
            self.say(f"{name} {self.c.pick(['+=', '-='])} 0.3 * {self.bounded(2)}")

    def do_store(self) -> None:
        if self.scope.arrays:
            self.use("element store")
            place = self.element()
            self.say(f"{place} = {self.bounded(2)}")

    def do_store_augmented(self) -> None:
        if self.scope.arrays:
            self.use("augmented element store")
            place = self.element()
            if self.c.below(3):
                self.say(f"{place} {self.c.pick(['+=', '-='])} 0.3 * {self.bounded(2)}")
            else:
                self.say(f"{place} *= math.sin({self.float(1)[0]})")

    def shape(self) -> tuple[int, ...]:
        return MATRIX if self.c.below(5) == 4 else (VECTOR,)

    def do_array(self) -> None:
        shape = self.shape()
        name = self.new("z")
        text = f"({shape[0]},)" if len(shape) == 1 else str(shape)
        sources = [v for v, s in sorted(self.scope.arrays.items()) if s == shape]
        match self.c.below(6):
            case 0:
                self.say(f"{name} = np.zeros({text})")
            case 1 if sources:
                self.say(f"{name} = {self.c.pick(sources)}.copy()")
            case 2 if sources:
                self.use("empty_like")
                self.say(f"{name} = np.empty_like({self.c.pick(sources)})")
                self.say(f"{name}[:] = {self.array(shape)}")
            case 3 if len(shape) == 1:
                parts = ", ".join(self.bounded(1) for _ in range(shape[0]))
                self.say(f"{name} = np.array([{parts}], dtype=float)")
            case 4:
                self.say(f"{name} = np.full({text}, {self.bounded(1)}, dtype=float)")
            case _:
                self.use("array expression")
                self.say(f"{name} = {self.array(shape, 2)}")
        self.scope.arrays[name] = shape

    def span(self, length: int, size: int) -> str:
        """A slice of `size` out of `length`, forwards or backwards."""
        start = self.c.below(length - size + 1)
        if self.c.below(4) == 3:
            first, last = start + size - 1, start - 1
            return f"{first}:{last if last >= 0 else ''}:-1"
        if 2 * size - 1 <= length and self.c.below(4) == 3:
            return f"{(low := self.c.below(length - 2 * size + 2))}:{low + 2 * size - 1}:2"
        stop = start + size
        if stop == length and self.c.below(2):
            return f"{start or ''}:"
        return f"{start}:{stop if self.c.below(2) else stop - length or length}"

    def do_slice(self) -> None:
        vectors = self.scope.vectors()
        if not vectors:
            return
        self.use("slice store")
        target, source = self.c.pick(sorted(vectors)), self.c.pick(sorted(vectors))
        size = 1 + self.c.below(min(vectors[target], vectors[source]))
        left = f"{target}[{self.span(vectors[target], size)}]"
        right = f"{source}[{self.span(vectors[source], size)}]"
        match self.c.below(4):
            case 0:
                self.say(f"{left} = {right}")
            case 1:
                self.say(f"{left} = np.sin({right} * {self.bounded(1)})")
            case 2:
                self.say(f"{left} += 0.2 * {right}")
            case _:
                self.say(f"{left} = {self.bounded(1)}")

    def do_mask(self) -> None:
        """Elements that a mask selects are written, from numbers or from as many others."""
        if not self.scope.arrays:
            return
        self.use("mask")
        name = self.c.pick(sorted(self.scope.arrays))
        same = sorted(v for v, s in self.scope.arrays.items() if s == self.scope.arrays[name])
        other = self.c.pick(same)
        mask = f"{other} > {self.atom()[0]}"
        match self.c.below(4):
            case 0:
                self.say(f"{name}[{mask}] = {self.bounded(1)}")
            case 1:
                self.say(f"{name}[{mask}] *= 0.5")
            case 2:
                kept = self.new("q")
                self.say(f"{kept} = {mask}")
                self.say(f"{name}[{kept}] = np.sin({self.c.pick(same)}[{kept}])")
            case _:
                self.assigned(f"np.sum({name}[{mask}]) / {8 * VECTOR}.0")

    def do_picked(self) -> None:
        """Index arrays, with duplicates, read and write."""
        if not self.scope.arrays:
            return
        self.use("index array")
        name = self.c.pick(sorted(self.scope.arrays))
        shape = self.scope.arrays[name]
        many = 1 + self.c.below(4)
        places = [self.c.below(shape[0]) - shape[0] * self.c.below(2) for _ in range(many)]
        if len(shape) == 2 and self.c.below(2):
            columns = [self.c.below(shape[1]) for _ in places]
            index, rest = f"{places}, {columns}", ()
        else:
            index, rest = str(places), shape[1:]
        match self.c.below(4):
            case 0:
                self.say(f"{name}[{index}] = {self.bounded(1)}")
            case 1:
                at = f"({index})" if "], [" in index else index
                self.say(f"np.add.at({name}, {at}, 0.3 * {self.bounded(1)})")
            case 2:
                self.say(f"{name}[{index}] += 0.2 * np.cos({name}[{index}])")
            case _:
                made = self.new("z")
                self.say(f"{made} = np.sin({name}[{index}])")
                self.scope.arrays[made] = (many, *rest)

    def do_turned(self) -> None:
        """A matrix through a transposed, a reversed or a broadcast view of it."""
        matrices = self.scope.matrices()
        if not matrices:
            return
        self.use("turned view")
        name = self.c.pick(matrices)
        columns = self.scope.arrays[name][1]
        match self.c.below(4):
            case 0:
                self.say(f"{name}.T[{self.c.below(columns)}] *= {self.c.pick(['0.5', '-0.7'])}")
            case 1:
                self.say(f"{name}[::-1, ::2] += 0.1 * {self.bounded(1)}")
            case 2:
                self.say(f"{name}[...] = np.cos({name}[:, ::-1] + {name}[:, :1])")
            case _:
                self.say(f"{name}[:, None, 0] = 0.5 * np.sin({name}.sum(axis=1, keepdims=True))")

    def do_rows(self) -> None:
        """Parts of rows and columns whose bounds are computed; views of such parts."""
        matrices, vectors = self.scope.matrices(), sorted(self.scope.vectors())
        if not matrices or not vectors:
            return
        self.use("computed bounds")
        name = self.c.pick(matrices)
        rows, columns = self.scope.arrays[name]
        row, column = self.index(rows), self.index(columns)
        bound = f"{self.int()} % {columns + 1}"
        match self.c.below(6):
            case 0:
                self.say(f"{name}[{row}, : {bound}] *= {self.c.pick(['0.5', '-0.7'])}")
            case 1:
                self.say(f"{name}[:, {column}] += 0.2 * {name}[::-1, {self.index(columns)}]")
            case 2:
                part = self.new("r")
                self.say(f"{part} = {name}[{row}][{bound} :]")
                self.say(f"{part} += 0.1 * np.sin({part})")
            case 3:
                first, second = self.index(rows), self.index(rows)
                self.say(f"{name}[[{first}, {second}]] = 0.8 * {name}[[{second}, {first}]]")
            case 4:
                v = self.c.pick(vectors)
                self.assigned(f"np.sum({v}[{self.int()} % {self.scope.vectors()[v]} :]) * 0.2")
            case _:
                self.say(f"{name}[{row}, 1:] = np.cos({name}[{row}, :-1]) + {name}[{row}, 1:]")

    def do_flattened(self) -> None:
        """A matrix as a vector: a view of another shape, written through."""
        matrices = self.scope.matrices()
        if not matrices:
            return
        self.use("reshaped view")
        name = self.c.pick(matrices)
        shape = self.scope.arrays[name]
        size = math.prod(shape)
        at = self.index(size)
        match self.c.below(5):
            case 0:
                self.say(f"{name}.flat[{at}] = {self.bounded(1)}")
            case 1:
                self.say(f"{name}.T.flat[{self.span(size, 3)}] *= 0.5")
            case 2:
                flat = self.new("f")
                self.say(f"{flat} = {name}.reshape(-1)")
                self.scope.arrays[flat] = (size,)
            case 3:
                pairs = self.new("f")
                self.say(f"{pairs} = {name}.reshape({shape[1]}, {shape[0]}).T")
                self.scope.arrays[pairs] = shape
            case _:
                self.say(f"np.put({name}, [{at}, {self.index(size)}], {self.bounded(1)})")

    def do_rearranged(self) -> None:
        """A vector made from another one by a function of whole arrays."""
        vectors = sorted(v for v, n in self.scope.vectors().items() if n == VECTOR)
        if not vectors:
            return
        self.use("rearranged array")
        v, w, name = self.c.pick(vectors), self.c.pick(vectors), self.new("z")
        number = self.bounded(1)
        text = self.c.pick([
            f"np.sort({v})", f"0.25 * np.cumsum({v})", f"np.roll({v}, {self.int()})",
            f"0.5 * np.diff({v}, prepend={number})", f"np.concatenate([{v}[2:], {w}[:2]])",
            f"np.take({v}, [{self.int()}, {self.int()}, 0, 1], mode='wrap')",
            f"0.2 * np.convolve({v}, {w}[:3], 'same')", f"np.pad({v}[1:-1], 1, mode='edge')",
            f"np.r_[{number}, {v}[1:3], 0.5]", f"np.clip({v}, -1.0, {w})",
            f"np.where({v} > {w}, {v}[::-1], 0.3)", f"0.2 * np.outer({v}, {w})[:, {self.index(4)}]",
            f"0.5 * np.maximum.accumulate({v})", f"np.median(np.stack([{v}, {w}, {v}]), axis=0)",
            f"0.2 * np.einsum('i,j->j', {v}, {w})", f"np.minimum({v}, np.max({w}))",
        ])  # fmt: skip
        self.say(f"{name} = {text}")
        self.scope.arrays[name] = (VECTOR,)

    def do_view(self) -> None:
        self.use("view")
        matrices = self.scope.matrices()
        if matrices and self.c.below(3) == 2:
            name, base = self.new("r"), self.c.pick(matrices)
            rows, columns = self.scope.arrays[base]
            if self.c.below(2):
                self.say(f"{name} = {base}[{self.index(rows)}]")
                self.scope.arrays[name] = (columns,)
            else:
                self.say(f"{name} = {base}[:, {self.index(columns)}]")
                self.scope.arrays[name] = (rows,)
            return
        vectors = self.scope.vectors()
        if vectors:
            name, base = self.new("v"), self.c.pick(sorted(vectors))
            size = 1 + self.c.below(vectors[base])
            self.say(f"{name} = {base}[{self.span(vectors[base], size)}]")
            self.scope.arrays[name] = (size,)

    def do_alias(self) -> None:
        if self.scope.arrays:
            self.use("alias")
            base = self.c.pick(sorted(self.scope.arrays))
            name = self.new("z")
            self.say(f"{name} = {base}")
            self.scope.arrays[name] = self.scope.arrays[base]

    def do_int(self) -> None:
        assignable = [i for i in self.scope.ints if i not in self.scope.fixed]
        text = f"{self.int(2)} % 7"
        if assignable and self.c.below(2):
            self.say(f"{self.c.pick(assignable)} = {text}")
            return
        name = self.new("i")
        self.say(f"{name} = {text}")
        self.scope.ints.append(name)

    def do_swap(self) -> None:
        same = sorted(v for v, s in self.scope.arrays.items() if s == (VECTOR,))
        if self.c.below(2) and len(same) > 1:
            self.use("array swap")
            p, q = self.c.pick(same), self.c.pick(same)
        elif len(self.scope.floats) > 1:
            self.use("swap")
            p, q = self.c.pick(self.scope.floats), self.c.pick(self.scope.floats)
        else:
            return
        self.say(f"{p}, {q} = {q}, {p}")

    def do_swap_elements(self) -> None:
        if self.scope.arrays:
            self.use("element swap")
            p, q = self.element(), self.element()
            self.say(f"{p}, {q} = {q}, {p}")

    def do_bool(self) -> None:
        self.use("bool variable")
        name = self.new("ok")
        self.say(f"{name} = {self.condition()}")
        self.scope.bools.append(name)

    def do_tuple(self) -> None:
        self.use("tuple")
        p, q = self.new("t"), self.new("t")
        pair = self.new("pair")
        self.say(f"{pair} = ({self.bounded(1)}, {self.bounded(1)})")
        self.say(f"{p}, {q} = {pair}" if self.c.below(2) else f"{p}, {q} = {pair}[1], {pair}[0]")
        self.scope.floats += [p, q]

    def do_list(self) -> None:
        self.use("list")
        if self.scope.lists and self.c.below(4):
            name = self.c.pick(sorted(self.scope.lists))
            if self.conditional or not self.c.below(4):
                place = self.c.below(self.scope.lists[name])
                self.say(f"{name}[{place}] = {self.bounded(1)}")
            else:
                self.use("list append")
                self.say(f"{name}.append({self.bounded(1)})")
                self.scope.lists[name] += 1
            return
        name = self.new("items")
        parts = [self.bounded(1) for _ in range(1 + self.c.below(3))]
        self.say(f"{name} = [{', '.join(parts)}]")
        self.scope.lists[name] = len(parts)

    def do_dict(self) -> None:
        self.use("dict")
        if self.scope.dicts and self.c.below(2):
            self.say(f'{self.c.pick(self.scope.dicts)}["v"] = {self.bounded(1)}')
            return
        name = self.new("d")
        self.say(f'{name} = {{"v": {self.bounded(1)}}}')
        self.scope.dicts.append(name)

    def do_closure(self) -> None:
        if self.loops or self.in_function or self.indent > 2:
            return  # one made in a loop would capture names that change
        self.use("closure")
        name, parameter = self.new("inner"), self.new("p")
        self.say(f"def {name}({parameter}):")

        def fill() -> None:
            captured = sorted(set(self.scope.floats))
            self.scope.floats.append(parameter)
            if captured and self.c.below(3) == 2:
                self.use("nonlocal")
                target = self.c.pick(captured)
                self.say(f"nonlocal {target}")
                self.say(f"{target} = {self.bounded(1)}")
            else:
                # names assigned here would be local: only arrays may be written to
                self.scope.floats = [parameter]
                if self.scope.arrays and self.c.below(2):
                    self.say(f"{self.element()} = {parameter} * 0.5")
                self.scope.floats += captured

        outer = dict(self.scope.functions)
        self.body(fill, end=True)
        self.scope.functions = {**outer, name: "f"}

    def do_recursion(self) -> None:
        """A function that calls itself as often as data and a condition say, then a call of it."""
        if self.loops or self.in_function or self.indent > 2:
            return
        self.use("recursion")
        name, p, k = self.new("again"), self.new("p"), self.new("k")
        self.say(f"def {name}({p}, {k}):")

        def fill() -> None:
            captured = sorted(set(self.scope.floats))
            self.scope.floats, self.scope.ints = [p], [*self.scope.ints, k]
            if self.scope.arrays and self.c.below(2):
                self.use("recursion that writes")
                self.say(f"{self.element()} = {p} * 0.5")
            self.scope.floats += captured
            also = f" or {self.condition()}" if self.c.below(2) else ""
            self.say(f"if {k} < 1{also}:")
            self.body(lambda: self.say(f"return {self.bounded(1)}"))
            if not self.c.below(3):
                self.use("two recursive calls")
                self.say(f"{p} = 0.5 * {name}({self.bounded(1)}, {k} - 2)")
            shape = self.c.pick(["math.sin({0})", "{0} * 0.5 + " + p, "math.tanh({0} * " + p + ")"])
            self.say("return " + shape.format(f"{name}({self.bounded(1)}, {k} - 1)"))

        outer = dict(self.scope.functions)
        self.body(fill)
        self.scope.functions = outer
        self.assigned(f"{name}({self.bounded(1)}, {self.int()} % 4)")

    def do_optional(self) -> None:
        """A value that is None on some paths, and what is made of it."""
        self.use("None on some paths")
        name = self.new("maybe")
        self.say(f"{name} = None")
        self.say(f"if {self.condition()}:")
        self.body(lambda: self.say(f"{name} = {self.bounded(1)}"))
        if self.c.below(2):
            self.say(f"if {name} is None or {self.condition()}:")
            self.body(lambda: self.say(f"{name} = {self.bounded(1)}"))
        other = self.bounded(1)
        self.assigned(f"{other} if {name} is None else {name} * 0.5")

    def do_chosen_array(self) -> None:
        """An array under one more name, which a condition chose, written under any of them."""
        shapes = sorted(set(self.scope.arrays.values()))
        if not shapes:
            return
        self.use("array that a condition chose")
        shape = self.c.pick(shapes)
        same = sorted(v for v, s in self.scope.arrays.items() if s == shape)
        name, one, other = self.new("w"), self.c.pick(same), self.c.pick(same)
        if len(shape) == 1 and self.c.below(3) == 0:
            rows = ", ".join([one, other, self.c.pick(same)])
            self.say(f"{name} = [{rows}][{self.int()} % 3]")
        else:
            self.say(f"{name} = {one} if {self.condition()} else {other}")
        self.scope.arrays[name] = shape
        place = ", ".join(map(self.index, shape))
        self.say(f"{self.c.pick([name, one, other])}[{place}] = {self.bounded(1)}")

    def do_chosen_object(self) -> None:
        """One of two lists, written and read under all names."""
        self.use("list that a condition chose")
        one, other, name = self.new("l"), self.new("l"), self.new("l")
        self.say(f"{one}, {other} = [{self.bounded(1)}, 0.5], [{self.bounded(1)}, 0.3]")
        self.say(f"{name} = {one} if {self.condition()} else {other}")
        self.say(f"{self.c.pick([one, name])}[{self.c.below(2)}] = {self.bounded(1)}")
        self.assigned(f"0.3 * ({one}[0] - {other}[1] + {name}[0] * {name}[1])")

    def do_attempt(self) -> None:
        """Statements of which some may not run, since an exception is raised among them."""
        self.use("exception that is caught")
        self.say("try:")

        def body() -> None:
            self.statements(1 + self.c.below(2))
            self.say(f"if {self.condition()}:")
            error = self.c.pick(["ValueError", "KeyError", f"ValueError({self.bounded(1)})"])
            self.body(lambda: self.say(f"raise {error}"))
            self.statements(1 + self.c.below(2))

        self.guarded(body)
        self.say("except (ValueError, KeyError):")
        self.guarded(self.do_assign)
        if self.c.below(2):
            self.say("else:")
            self.guarded(lambda: self.statements(1))
        if self.c.below(2):
            self.say("finally:")
            self.guarded(self.do_assign)

    def do_out(self) -> None:
        vectors = sorted(v for v, n in self.scope.vectors().items() if n == VECTOR)
        if vectors:
            self.use("array in place")
            name = self.c.pick(vectors)
            match self.c.below(3):
                case 0:
                    self.say(f"{name} *= {self.c.pick(['0.5', '-0.7', 'np.cos(' + name + ')'])}")
                case 1:
                    self.say(f"{name} += 0.2 * {self.array((VECTOR,), 1)}")
                case _:
                    self.say(f"np.sin({self.array((VECTOR,), 1)}, out={name})")

    # -- blocks ---------------------------------------------------------------------------------

    def guarded(self, fill: Callable[[], None]) -> None:
        self.conditional += 1
        self.body(fill)
        self.conditional -= 1

    def do_if(self) -> None:
        self.use("if")
        self.say(f"if {self.condition()}:")
        self.guarded(lambda: self.statements(1 + self.c.below(3)))
        if self.c.below(3) == 2:
            self.use("elif")
            self.say(f"elif {self.condition()}:")
            self.guarded(lambda: self.statements(1 + self.c.below(2)))
        if self.c.below(2):
            self.use("else")
            self.say("else:")
            self.guarded(lambda: self.statements(1 + self.c.below(2)))

    def do_branch_value(self) -> None:
        """Both branches assign the same new name."""
        self.use("value of branches")
        name = self.new("t")
        self.say(f"if {self.condition()}:")
        self.guarded(lambda: self.say(f"{name} = {self.bounded(1)}"))
        self.say("else:")
        self.guarded(lambda: self.say(f"{name} = {self.bounded(1)}"))
        self.scope.floats.append(name)

    def do_for(self) -> None:
        self.use("for")
        index, item = self.new("i"), self.new("e")
        vectors = sorted(self.scope.vectors())
        kind = self.c.weighted({"range": 5, "array": 2, "enumerate": 2, "zip": 2, "reversed": 1,
                                "list": 1})  # fmt: skip
        ints, floats = [], []
        if kind == "range" or not vectors:
            self.say(f"for {index} in {self.range()}:")
            ints = [index]
        elif kind == "list":
            self.use("for over a tuple")
            self.say(f"for {item} in ({self.bounded(1)}, {self.bounded(1)}):")
            floats = [item]
        else:
            self.use(f"for over {kind}")
            v = self.c.pick(vectors)
            match kind:
                case "array":
                    self.say(f"for {item} in {v}:")
                    floats = [item]
                case "enumerate":
                    start = self.c.pick(["", ", 2"])
                    self.say(f"for {index}, {item} in enumerate({v}{start}):")
                    ints, floats = [index], [item]
                case "zip":
                    other = self.new("e")
                    self.say(f"for {item}, {other} in zip({v}, {self.c.pick(vectors)}):")
                    floats = [item, other]
                case _:
                    self.say(f"for {item} in reversed({v}):")
                    floats = [item]
        self.loop("for", ints, floats)

    def range(self) -> str:
        match self.c.below(7):
            case 0:
                return f"range({1 + self.c.below(5)})"
            case 1:
                self.use("negative step")
                start, stop, step = 3 + self.c.below(3), self.c.below(2) - 1, -1 - self.c.below(2)
                return f"range({start}, {stop}, {step})"
            case 2:
                self.use("step")
                return f"range({self.c.below(2)}, {5 + self.c.below(3)}, {2 + self.c.below(2)})"
            case 3:
                self.use("data-dependent step")
                return f"range({self.c.below(3)}, 7, 1 + {self.int()} % 3)"
            case 4:
                self.use("data-dependent step")
                return f"range(6, {self.c.below(2)}, -1 - {self.int()} % 2)"
            case 5:
                self.use("maybe empty range")
                return f"range({self.int()} % 5, {self.int()} % 6)"
        self.use("data-dependent range")
        return f"range({self.int()} % 5)"

    def loop(self, kind: str, ints: list[str], floats: list[str], first: str = "") -> None:
        def fill() -> None:
            self.scope.ints += ints
            self.scope.floats += floats
            self.scope.fixed |= set(ints)
            if first:
                self.say(first)
            self.statements(1 + self.c.below(3))

        if self.loops:
            self.use("nested loops")
        self.loops.append(kind)
        self.guarded(fill)
        self.loops.pop()
        if self.c.below(6) == 5:
            self.use("else of a loop")
            self.say("else:")
            self.guarded(lambda: self.statements(1))

    def do_while(self) -> None:
        self.use("while")
        counter = self.new("k")
        self.say(f"{counter} = 0")
        bound = f"{counter} < {1 + self.c.below(5)}"
        also = f" and {self.condition()}" if self.c.below(2) else ""
        self.say(f"while {bound}{also}:")
        self.loop("while", [counter], [], first=f"{counter} += 1")
