"""What may a random array program be?  Lines over arrays that NumPy has run as they were drawn.

`program(choices, number)` gives the source of a function `program(a, b, ..., s, n, k)` and its
arguments.  It returns the arrays and numbers that it has made.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.properties.arrays.arguments import arguments
from tests.properties.arrays.expressions import Proposer, _split
from tests.properties.arrays.running import Bench
from tests.properties.choices import Choices

ERRORS = (TypeError, ValueError, IndexError)
# Kernels take arguments to be in C order where NumPy asks how they lie in memory.
LAYOUT = re.compile(r"reshape|ravel|contiguous|fortran|hsplit")
# NumPy gives int8 where the exponent is 2, int64 where it is another number.
SQUARED = re.compile(r"> 0\) \*\* [kn]")
JUMPING = re.compile(r"(\W[kn]|\(p\))\W* \*\* ")  # 0 ** x jumps at 0


@dataclass(frozen=True)
class Generated:
    """A program, its arguments, and the class of the error that its last line raises, if any."""

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
        if len(made.features) >= wanted:
            break
        made.statement()
    raises = made.failing() if failing else None
    return Generated(source(made, args), args, frozenset(made.features), raises)


def source(made: Statements, args: dict[str, Any]) -> str:
    names = [name for name, v in made.bench.names.items() if re.fullmatch(r"[zv]\d+", name)
             and isinstance(v, (np.ndarray, np.generic, float, int, complex))]  # fmt: skip
    returned = ", ".join(["a", "b", *names[-6:]])
    lines = [*made.bench.lines, *made.last, f"return {returned},"]
    body = "\n".join("    " + line for line in lines)
    return f"import numpy as np\n\n\ndef program({', '.join(args)}):\n{body}\n"


class Statements(Proposer):
    """Random statements, kept where NumPy runs them."""

    def __init__(self, choices: Choices, bench: Bench) -> None:
        super().__init__(choices, bench)
        self.features: list[str] = []
        self.count = 0
        self.last: list[str] = []  # a line that raises

    def new(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def target(self) -> str:
        """An array that is written: one that the program made, mostly."""
        made = [name for name in self.bench.arrays("f") if name[0] in "zv"]
        return self.c.pick(made) if made and self.c.below(4) else self.name("f")

    def statement(self) -> None:
        kind = self.c.weighted(STATEMENTS)
        lines = kind(self)
        if lines and self.allowed(lines) and self.fits_everywhere(lines) and self.bench.run(lines):
            self.features.append(kind.__name__)

    def allowed(self, lines: list[str]) -> bool:
        strange = any(isinstance(v, np.ndarray) and not v.flags.c_contiguous
                      for v in self.bench.args.values())  # fmt: skip
        return not (strange and any(map(LAYOUT.search, lines))) and not any(
            pattern.search(line) for pattern in (SQUARED, JUMPING) for line in lines)

    def fits_everywhere(self, lines: list[str]) -> bool:
        """Do bodies that are not run now run as well?  What a trace can't tell apart should."""
        if not lines[0].startswith(("for ", "if ", "while ", "i = 0")):
            return True
        if " r" in lines[0].split(" in ")[0]:  # over rows, of which there are some
            return True
        blocks: list[list[str]] = []
        for k, line in enumerate(lines):
            if line.strip() in ("break", "continue") or (k and "if " in line):  # taken in a way
                continue
            if not line.startswith(" "):
                blocks.append([])
            elif blocks:
                blocks[-1].append(line)
        return all(self.bench.would_run(["for i in range(1):", *b]) for b in blocks if b)

    def failing(self) -> type[Exception] | None:
        """A line that raises an error of shapes, places or types at the end."""
        for _ in range(10):
            lines = simple(self) if self.c.below(2) else store(self)
            if self.allowed(lines) and not self.bench.would_run(lines):
                if isinstance(self.bench.error, ERRORS):
                    self.last = lines
                    return type(self.bench.error)
        return None


Maker = Callable[[Statements], list[str]]


def assign(g: Statements) -> list[str]:
    return [f"{g.new('z')} = {g.expression()}"]


def simple(g: Statements) -> list[str]:
    return [f"{g.new('z')} = {g.expression(1)}"]


def view(g: Statements) -> list[str]:
    return [f"{g.new('v')} = {g.filled(g.c.pick(VIEWS))}"]


def store(g: Statements) -> list[str]:
    a = g.target()
    op = g.c.pick(["=", "=", "+=", "*=", "-=", "/="])
    right = g.operand() if g.c.below(2) else g.expression(1)
    if op == "/=":
        right = f"(2 + np.abs({right}))"
    at = g.index(a)
    if not g.value(a).size and not g.bench.would_run([f"np.zeros({a}[{at}].shape)[...] = {right}"]):
        return []  # to no elements NumPy stores what does not fit
    return [f"{a}[{at}] {op} {right}"]


def whole(g: Statements) -> list[str]:
    return [g.filled(g.c.pick(WHOLE), 2, {"a": g.target(), "new": g.new("z")})]


def called(g: Statements) -> list[str]:
    """Functions and methods that write."""
    return [g.filled(g.c.pick(CALLED), 0, {"a": g.target(), "new": g.new("z")})]


def body(g: Statements, index: str | None) -> list[str]:
    """Lines of a loop or branch that change what was there before, or are used in it only."""
    g.indices += [index] if index else []
    lines: list[str] = []
    for _ in range(1 + g.c.below(3)):
        a = g.target()
        kind = g.c.below(8)
        if kind < 4:
            lines += store(g)
        elif kind == 4:
            lines.append(g.filled("{a}[{basic}] = np.sin({a}[{basic}]) + {y}", 0, {"a": a}))
        elif kind == 5:
            lines.append(g.filled("{a} = {a} * 0.5 + {y}", 0, {"a": a}))
        elif kind == 6:
            end = g.c.pick(["{a} += t", "{a}[{index}] = t", "s += np.float64(np.sum(t)) * 0.1",
                            "{a}[{index}] *= t"])  # fmt: skip
            lines += [f"t = {g.expression(1)}", g.filled(end, 0, {"a": a})]
        else:
            lines += [whole, called][g.c.below(2)](g)
    if index:
        g.indices.pop()
    return lines


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


RANGES = _split("""range(3) | range(n) | range(1, 3) | range(2, -1, -1) | range(n, 3)
    | range(1, n + 2) | range(-2, 1) | range(0, 4, 2)""")


def counted(g: Statements) -> list[str]:
    i = "ij"[len(g.indices)]
    head = g.c.pick(RANGES)
    lines = body(g, i)
    if not g.indices and g.c.below(4) == 0:
        g.indices.append(i)
        lines += counted(g)
        g.indices.pop()
    return [f"for {i} in {head}:", *indented(lines)]


def over_rows(g: Statements) -> list[str]:
    a, b = g.target(), g.name("f")
    if not g.value(a).size:
        return []
    head = g.c.pick([f"for r in {a}:", f"for i, r in enumerate({a}):",
                     f"for r, w in zip({a}, {b}):", f"for r in {a}.T:",
                     f"for i, r in enumerate({a}[::-1]):"])  # fmt: skip
    lines = body(g, "i" if "i," in head else None)
    end = g.c.pick(["r *= 0.5", "r[...] = s", "s = s + np.float64(np.sum(r))", "r[::-1] += s",
                    "r[{slice}] = np.cos(r[{slice}])"])  # fmt: skip
    return [head, *indented([*lines, g.filled(end)])]


CONDITIONS = _split("""np.sum({a}) > 0.1 | s > 0 | n > 1 | {a}.size > 3 | np.any({a} > 0.5)
    | {a}.ndim == 2 | {a}.max() > s | n == k | np.all({a} < 0.9) | len({a}) == 3""")


def branch(g: Statements) -> list[str]:
    lines = [f"if {g.filled(g.c.pick(CONDITIONS))}:", *indented(body(g, None))]
    if g.c.below(2):
        lines += ["else:", *indented(body(g, None))]
    return lines


def conditional(g: Statements) -> list[str]:
    """A loop that ends early, goes on early, or is a while."""
    a = g.target()
    lines = body(g, "i")
    condition = g.c.pick([f"np.sum({a}) > 0.3", f"{a}.max() > s", "i == n", "i > k"])
    if g.c.below(2):
        at = g.c.below(len(lines) + 1)
        lines[at:at] = [f"if {condition}:", "    " + g.c.pick(["break", "continue"])]
        return ["for i in range(3):", *indented(lines)]
    return ["i = 0", f"while i < 3 and {a}.sum() < 2:", *indented([*lines, "i += 1"])]


def helper(g: Statements) -> list[str]:
    """A function that writes to what it is given, or gives a view of it."""
    a, b = g.target(), g.name("f")
    name = g.new("f")
    outside = {given: g.value(given) for given in ("u", "w") if given in g.bench.names}
    g.bench.names["u"], g.bench.names["w"] = g.value(a), g.value(b)
    inside = [g.filled(line, 1, {"a": "u", "b": "w"}) for line in g.c.pick([
        ["u[{basic}] += w[{slice}]", "return u"], ["return u[{index}] * 2 + w"],
        ["u[...] = {x}", "return w.T"], ["return np.sin(u) + w[{slice}]"],
        ["x = u[{basic}]", "x *= s", "return x"],
    ])]  # fmt: skip
    for given in ("u", "w"):
        g.bench.names.pop(given)
    g.bench.names.update(outside)
    call = f"{g.new('z')} = {name}({a}, {b}[{g.basic(b)}])"
    return [f"def {name}(u, w):", *indented(inside), call]


STATEMENTS: dict[Maker, int] = {
    assign: 6, simple: 8, view: 6, store: 7, whole: 4, called: 4, counted: 5, over_rows: 2,
    branch: 2, conditional: 2, helper: 1,
}  # fmt: skip

VIEWS = _split("""{c}[{basic}] | {c}[{basic}] | {c}[{basic}] | {c}.T | {c}[..., None]
    | {c}.reshape(-1) | np.swapaxes({c}, 0, -1) | {c}[::-1] | np.split({c}, 2)[1]
    | np.atleast_2d({c}) | np.flip({c}) | np.moveaxis({c}, 0, -1) | np.squeeze({c}) | {c}.ravel()
    | np.broadcast_to({c}, (2, *{c}.shape)) | np.diagonal({c}) | np.asarray({c}) | {c}.view()
    | np.expand_dims({c}, 0) | {c}.reshape(1, -1) | np.rot90({c}) | {c}.transpose()
    | np.lib.stride_tricks.sliding_window_view({c}, 2) | {c}.reshape({c}.size)
    | np.hsplit({c}, [1])[0] | {c}.swapaxes(0, 1) | {c}[{index}] | np.einsum('ij->ji', {c})""")

# {a}: what is written.
WHOLE = _split("""{a} += {x} | {a} *= {x} | {a} -= {x} | {a}[...] = {x} | {a}[:] = {x}
    | {a}.fill(s) | {a} /= 2 | {a} **= 2 | {a}.T[{slice}] = {x} | {a}.flat[{slice}] = s
    | {a}[{basic}][{slice}] *= {x} | {a}[{basic}][{slice}] = {x} | {a}[::-1][{index}] += {x}
    | {a}.flat[{n}] *= 0.5 | {a}.reshape(-1)[{slice}] = {x} | {a}[...] = {a}[::-1]
    | {a}[1:] += {a}[:-1] | {a}[:-1] = {a}[1:] | {a}[1:] = {a}[:-1] * s
    | {a}, {new} = {a}[::-1] * 1, {a}.copy() | {a}[:], {a}[0] = {x}, s""")
CALLED = _split("""np.add.at({a}, ({index}), {x}) | np.multiply.at({a}, ({index}), {x})
    | np.maximum.at({a}, ({index}), {x}) | np.add({a}, {x}, out={a}) | {a}.sort()
    | np.subtract({a}, {x}, out={a}[{basic}]) | np.multiply({a}, {x}, out={a}, where={mask})
    | np.copyto({a}, {x}) | np.copyto({a}, {x}, where={a} > 0) | np.putmask({a}, {a} > s, {x})
    | np.put({a}, {places}, {x}) | {a}.sort(axis={axis}) | np.fill_diagonal({a}, {x} * 1)
    | np.cumsum({a}, axis={axis}, out={a}) | np.sin({a}, out={a}) | {a}.partition(1)
    | np.negative({a}, out={a}, where={mask}) | np.clip({a}, -0.5, s, out={a})
    | np.place({a}, {mask}, [0.5, s]) | {new} = np.sum({a}, axis={axis}, out=np.zeros(4))
    | np.put_along_axis({a}, np.argsort({a}, axis={axis}, kind="stable"), {x}, axis={axis})
    | {new} = {a}.clip(s, 1).round(1).cumsum().take(p) | np.einsum('ij->ij', {a})[...] = s
    | np.exp({a}, out={a}[{basic}]) | np.square({a}, {a})
    | {new} = np.minimum({a}, {x}, where={mask}, out={a}.copy())""")
