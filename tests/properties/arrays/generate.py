"""What may a random array program be?  Lines over arrays that NumPy has run as they were drawn.

`program(choices, number)` gives the source of a function `program(a, b, ..., s, n, k)` and its
arguments.  It returns all arrays and numbers that it has made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.properties.arrays.arguments import arguments
from tests.properties.arrays.expressions import Proposer
from tests.properties.arrays.running import Bench
from tests.properties.choices import Choices

ERRORS = (TypeError, ValueError, IndexError)


@dataclass(frozen=True)
class Generated:
    """A program, its arguments, and the class of the error that its last line raises, if it does."""

    source: str
    args: dict[str, Any]
    features: frozenset[str]
    raises: type[Exception] | None = None


def program(choices: Choices, number: int) -> Generated:
    args = arguments(choices, number)
    made = Statements(choices, Bench(args))
    wanted = 2 + choices.below(6)
    failing = choices.below(12) == 11
    for _ in range(4 * wanted):
        if len(made.features_of) >= wanted:
            break
        made.statement()
    raises = made.failing() if failing else None
    names = [name for name, v in made.bench.names.items() if name[0] in "zv" and isinstance(
        v, (np.ndarray, np.generic, float, int, complex))]
    returned = ", ".join(["a", "b", *names[-6:]])
    lines = [*made.bench.lines, f"return {returned},"]
    if raises:
        lines[-1:-1] = made.last
    source = (
        "import numpy as np\n\n\n"
        + f"def program({', '.join(args)}):\n"
        + "\n".join("    " + line for line in lines) + "\n"
    )  # fmt: skip
    return Generated(source, args, frozenset(made.features_of), raises)


class Statements(Proposer):
    """Random statements, kept where NumPy runs them."""

    def __init__(self, choices: Choices, bench: Bench) -> None:
        super().__init__(choices, bench)
        self.features_of: list[str] = []
        self.count = 0
        self.last: list[str] = []

    def new(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def statement(self) -> None:
        kind = self.c.weighted(STATEMENTS)
        lines = kind(self)
        if lines and self.fits_everywhere(lines) and self.bench.run(lines):
            self.features_of.append(kind.__name__)

    def fits_everywhere(self, lines: list[str]) -> bool:
        """Do bodies that are not run now run as well?  What a trace can't tell apart should."""
        if not lines[0].startswith(("for ", "if ", "while ", "i = 0")):
            return True
        blocks: list[list[str]] = []
        for line in lines:
            if not line.startswith(" "):
                blocks.append([])
            elif blocks:
                blocks[-1].append(line)
        if " r" in lines[0].split(" in ")[0]:  # over rows, of which there are some
            return True
        heads = ["for i in range(1):"]
        return all(self.bench.would_run([*heads, *block]) for block in blocks if block)

    def failing(self) -> type[Exception] | None:
        """A line that raises an error of shapes, places or types at the end."""
        for _ in range(10):
            lines = [f"z{self.count + 1} = {self.expression(1)}"] if self.c.below(2) else store(self)
            if not self.bench.run(lines):
                if isinstance(self.bench.error, ERRORS):
                    self.last = lines
                    return type(self.bench.error)
            self.bench.lines[len(self.bench.lines) :] = []
        return None


Maker = Callable[[Statements], list[str]]


def assign(g: Statements) -> list[str]:
    return [f"{g.new('z')} = {g.expression()}"]


def simple(g: Statements) -> list[str]:
    return [f"{g.new('z')} = {g.expression(1)}"]


def view(g: Statements) -> list[str]:
    a = g.name()
    text = g.c.pick([
        f"{a}[{g.basic(a)}]", f"{a}[{g.basic(a)}]", f"{a}[{g.basic(a)}]", f"{a}.T", f"{a}[..., None]",
        f"{a}.reshape(-1)", f"np.swapaxes({a}, 0, -1)", f"{a}[::-1]", f"np.split({a}, 2)[1]",
        f"np.atleast_2d({a})", f"np.flip({a})", f"np.moveaxis({a}, 0, -1)", f"np.squeeze({a})",
        f"{a}.ravel()", f"np.broadcast_to({a}, (2, *{a}.shape))", f"np.diagonal({a})", f"np.asarray({a})",
        f"np.expand_dims({a}, 0)", f"{a}.reshape(1, -1)", f"np.rot90({a})", f"{a}.transpose()", f"{a}.view()",
        f"np.lib.stride_tricks.sliding_window_view({a}, 2)", f"{a}.reshape({a}.size)", f"np.hsplit({a}, [1])[0]",
        f"{a}.swapaxes(0, 1)", f"{a}[{g.index(a)}]",
    ])  # fmt: skip
    return [f"{g.new('v')} = {text}"]


def target(g: Statements) -> str:
    """An array that is written: one that the program made, mostly."""
    made = [name for name in g.bench.arrays("f") if name[0] in "zv"]
    return g.c.pick(made) if made and g.c.below(4) else g.floats()


def store(g: Statements) -> list[str]:
    a = target(g)
    left = f"{a}[{g.index(a)}]"
    op = g.c.pick(["=", "=", "+=", "*=", "-=", "/="])
    right = g.operand() if g.c.below(2) else g.expression(1)
    if op == "/=":
        right = f"(2 + np.abs({right}))"
    return [f"{left} {op} {right}"]


def whole(g: Statements) -> list[str]:
    a = target(g)
    right = g.operand() if g.c.below(2) else g.expression(1)
    return [g.c.pick([
        f"{a} += {right}", f"{a} *= {right}", f"{a} -= {right}", f"{a}[...] = {right}", f"{a}[:] = {right}",
        f"{a}.fill(s)", f"{a} /= 2", f"{a} **= 2", f"{a}.T[{g.index(a)}] = {right}", f"{a}.flat[{g.slice(3)}] = s",
        f"{a}[{g.basic(a)}][{g.slice(2)}] *= {right}", f"{a}[{g.basic(a)}][{g.slice(2)}] = {right}",
        f"{a}[::-1][{g.index(a)}] += {right}", f"{a}.flat[{g.place(3)}] *= 0.5",
        f"{a}.reshape(-1)[{g.slice(3)}] = {right}", f"{a}[...] = {a}[::-1]", f"{a}[1:] += {a}[:-1]", f"{a}[:-1] = {a}[1:]",
        f"{a}[1:] = {a}[:-1] * s", f"{a}, {g.new('z')} = {a}[::-1] * 1, {a}.copy()", f"{a}[:], {a}[0] = {right}, s",
    ])]  # fmt: skip


def called(g: Statements) -> list[str]:
    """Functions and methods that write."""
    a, x = target(g), g.operand()
    index, axis = g.index(a), g.axis(a)
    ufunc = g.c.pick(["add", "multiply", "subtract", "maximum", "minimum"])
    return [g.c.pick([
        f"np.add.at({a}, ({index}), {x})", f"np.{ufunc}.at({a}, ({index}), {x})", f"np.add({a}, {x}, out={a})",
        f"np.{ufunc}({a}, {x}, out={a}[{g.basic(a)}])", f"np.{ufunc}({a}, {x}, out={a}, where={g.mask(a)})",
        f"np.copyto({a}, {x})", f"np.copyto({a}, {x}, where={g.mask(a)})", f"np.putmask({a}, {g.mask(a)}, {x})",
        f"np.put({a}, {g.places(a.count('z') + 1)}, {x})", f"{a}.sort()", f"{a}.sort(axis={axis})",
        f"np.fill_diagonal({a}, {x})", f"np.cumsum({a}, axis={axis}, out={a})", f"np.sin({a}, out={a})",
        f"np.negative({a}, out={a}, where={g.mask(a)})", f"np.clip({a}, -0.5, s, out={a})",
        f"np.place({a}, {g.mask(a)}, [0.5, s])", f"{g.new('z')} = np.sum({a}, axis={axis}, out=np.zeros(4))",
        f"np.put_along_axis({a}, np.argsort({a}, axis={axis}), {x}, axis={axis})", f"{a}.partition(1)",
        f"{g.new('z')} = {a}.clip(s, 1).round(1).cumsum().take(p)",
        f"np.einsum('ij->ij', {a})[...] = s", f"np.exp({a}, out={a}[{g.basic(a)}])", f"np.square({a}, {a})",
        f"{g.new('z')} = np.{ufunc}({a}, {x}, where={g.mask(a)}, out={a}.copy())",
    ])]  # fmt: skip


def body(g: Statements, index: str | None) -> list[str]:
    """Lines of a loop or branch that change what was there before, or are used in it only."""
    if index:
        g.indices.append(index)
    lines: list[str] = []
    for _ in range(1 + g.c.below(3)):
        a = target(g)
        kind = g.c.below(8)
        if kind < 4:
            lines += store(g)
        elif kind == 4:
            lines.append(f"{a}[{g.basic(a)}] = np.sin({a}[{g.basic(a)}]) + {g.operand()}")
        elif kind == 5:
            lines.append(f"{a} = {a} * 0.5 + {g.operand()}")
        elif kind == 6:
            lines.append(f"t = {g.expression(1)}")
            lines.append(g.c.pick([f"{a} += t", f"{a}[{g.index(a)}] = t", "s += np.sum(t) * 0.1", f"{a}[{g.index(a)}] *= t"]))
        else:
            lines += [whole, called][g.c.below(2)](g)
    if index:
        g.indices.pop()
    return lines


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def counted(g: Statements) -> list[str]:
    i = "ij"[len(g.indices)]
    g.bench.names.setdefault(i, 1)
    head = g.c.pick(["range(3)", "range(n)", "range(1, 3)", "range(2, -1, -1)", "range(n, 3)", "range(1, n + 2)",
                     "range(-2, 1)", "range(0, 4, 2)"])  # fmt: skip
    lines = body(g, i)
    if not g.indices and g.c.below(4) == 0:
        g.indices.append(i)
        lines += counted(g)
        g.indices.pop()
    g.bench.names.pop(i, None)
    return [f"for {i} in {head}:", *indented(lines)]


def over_rows(g: Statements) -> list[str]:
    a, b = target(g), g.floats()
    if not g.value(a).size:
        return []
    g.bench.names["r"] = g.value(a)[0] if g.value(a).ndim and len(g.value(a)) else np.zeros(2)
    g.bench.names["i"] = 1
    head = g.c.pick([f"for r in {a}:", f"for i, r in enumerate({a}):", f"for r, w in zip({a}, {b}):",
                     f"for r in {a}.T:", f"for i, r in enumerate({a}[::-1]):"])  # fmt: skip
    lines = body(g, "i" if "i," in head else None)
    lines.append(g.c.pick(["r *= 0.5", "r[...] = s", "s = s + np.sum(r)", "r[::-1] += s", f"r[{g.slice(2)}] = np.cos(r[{g.slice(2)}])"]))
    for name in ("r", "i"):
        g.bench.names.pop(name, None)
    return [head, *indented(lines)]


def branch(g: Statements) -> list[str]:
    a = g.floats()
    condition = g.c.pick([f"np.sum({a}) > 0.1", "s > 0", "n > 1", f"{a}.size > 3", f"np.any({a} > 0.5)", f"{a}.ndim == 2",
                          f"{a}.max() > s", "n == k", f"np.all({a} < 0.9)", f"len({a}) == 3"])  # fmt: skip
    lines = [f"if {condition}:", *indented(body(g, None))]
    if g.c.below(2):
        lines += ["else:", *indented(body(g, None))]
    return lines


def conditional(g: Statements) -> list[str]:
    """A loop that ends early, goes on early, or is a while."""
    a = target(g)
    i = "i"
    g.bench.names.setdefault(i, 1)
    lines = body(g, i)
    g.bench.names.pop(i, None)
    condition = g.c.pick([f"np.sum({a}) > 0.3", f"{a}.max() > s", "i == n", "i > k"])
    if g.c.below(2):
        jump = g.c.pick(["break", "continue"])
        at = g.c.below(len(lines) + 1)
        lines[at:at] = [f"if {condition}:", f"    {jump}"]
        return ["for i in range(3):", *indented(lines)]
    return ["i = 0", f"while i < 3 and {a}.sum() < 2:", *indented([*lines, "i += 1"])]


def helper(g: Statements) -> list[str]:
    """A function that writes to what it is given, or gives a view of it."""
    a, b = target(g), g.floats()
    name = g.new("f")
    g.bench.names["u"], g.bench.names["w"] = g.value(a), g.value(b)
    inside = g.c.pick([
        [f"u[{g.basic('u')}] += w[{g.basic('w')}]", "return u"], [f"return u[{g.index('u')}] * 2, w"],
        [f"u[...] = {g.expression(1)}", "return w.T"], [f"return np.sin(u) + w[{g.basic('w')}]"],
        [f"x = u[{g.basic('u')}]", "x *= s", "return x"],
    ])  # fmt: skip
    for n in ("u", "w"):
        g.bench.names.pop(n)
    return [f"def {name}(u, w):", *indented(inside), f"{g.new('z')} = {name}({a}, {b}[{g.basic(b)}])"]


STATEMENTS: dict[Maker, int] = {
    assign: 6, simple: 8, view: 6, store: 7, whole: 4, called: 4, counted: 5, over_rows: 2, branch: 2,
    conditional: 2, helper: 1,
}  # fmt: skip
