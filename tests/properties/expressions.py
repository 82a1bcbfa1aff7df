"""What may a random expression be, and how large can its value get?

Every variable of type float stays within `LIMIT` (exceeded a little where a loop adds up), and an
expression knows a bound of its magnitude: so exponentials do not overflow, divisors stay away from
zero and derivatives stay of moderate size.  Indices are taken modulo the length.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.properties.choices import Choices

LIMIT = 3.0
VECTOR = 4  # length of the vectors that are arguments


@dataclass
class Scope:
    """The names that can be used at a point of the program."""

    floats: list[str] = field(default_factory=list)
    ints: list[str] = field(default_factory=list)
    bools: list[str] = field(default_factory=list)
    arrays: dict[str, tuple[int, ...]] = field(default_factory=dict)
    lists: dict[str, int] = field(default_factory=dict)
    dicts: list[str] = field(default_factory=list)
    functions: dict[str, str] = field(default_factory=dict)  # name -> kinds of its parameters
    fixed: set[str] = field(default_factory=set)  # not to be assigned: counters of while loops

    def copy(self) -> Scope:
        return Scope(
            [*self.floats], [*self.ints], [*self.bools], {**self.arrays}, {**self.lists},
            [*self.dicts], {**self.functions}, {*self.fixed},
        )  # fmt: skip

    def vectors(self) -> dict[str, int]:
        return {name: shape[0] for name, shape in self.arrays.items() if len(shape) == 1}

    def matrices(self) -> list[str]:
        return [name for name, shape in self.arrays.items() if len(shape) == 2]


class Expressions:
    """Random expressions over a scope."""

    names: type[Scope] = Scope

    def __init__(self, choices: Choices) -> None:
        self.c = choices
        self.scope = self.names()
        self.features: set[str] = set()

    def use(self, feature: str) -> None:
        self.features.add(feature)

    # -- floats ---------------------------------------------------------------------------------

    def bounded(self, depth: int = 2) -> str:
        """A float expression whose value is within the limit."""
        text, bound = self.float(depth)
        if bound <= LIMIT:
            return text
        match self.c.below(4):
            case 0:
                return f"math.sin({text})"
            case 1:
                return f"math.tanh({text})"
            case 2 if bound <= 50:
                return f"{LIMIT / bound:.3f} * {text}"
            case _:
                return f"np.cos({text})"

    def float(self, depth: int) -> tuple[str, float]:
        if depth <= 0:
            return self.atom()
        kinds = {"atom": 3, "add": 3, "mul": 3, "sub": 2, "function": 4, "div": 2, "pow": 1,
                 "choose": 2, "neg": 1, "reduce": 2, "call": 2, "ternary": 1}  # fmt: skip
        kind = self.c.weighted(kinds)
        match kind:
            case "add" | "sub" | "mul":
                return self.combined(kind, depth)
            case "neg":
                text, bound = self.float(depth - 1)
                return f"(-{text})", bound
            case "div":
                self.use("division")
                (p, bp), (q, bq) = self.float(depth - 1), self.float(depth - 1)
                if self.c.below(2) and bq < 50:
                    return f"({p} / (2.0 + {q} * {q}))", bp / 2
                return f"({p} / (1.5 + math.cos({q})))", bp * 2
            case "pow":
                self.use("power")
                text, bound = self.float(depth - 1)
                if bound > 10:
                    return text, bound
                if self.c.below(2):
                    return f"({text} ** {(n := 2 + self.c.below(2))})", bound**n
                return f"((1.5 + {text} * {text}) ** {self.atom()[0]})", (2 + bound**2) ** LIMIT
            case "function":
                return self.function(depth)
            case "choose":
                self.use("min/max/abs")
                (p, bp), (q, bq) = self.float(depth - 1), self.float(depth - 1)
                name = self.c.pick(["abs", "min", "max", "np.maximum", "where"])
                if name == "abs":
                    return f"abs({p})", bp
                if name == "where":
                    return f"np.where({p} < {q}, {q} * 0.5, {p})[()]", max(bp, bq)
                return f"{name}({p}, {q})", max(bp, bq)
            case "ternary":
                self.use("ternary")
                (p, bp), (q, bq) = self.float(depth - 1), self.float(depth - 1)
                return f"({p} if {self.condition(1)} else {q})", max(bp, bq)
            case "reduce" if self.scope.arrays:
                return self.reduction()
            case "call" if self.scope.functions:
                return self.call(depth)
        return self.atom()

    def combined(self, kind: str, depth: int) -> tuple[str, float]:
        (p, bp), (q, bq) = self.float(depth - 1), self.float(depth - 1)
        if kind == "mul":
            return (f"({p} * {q})", bp * bq) if bp * bq < 100 else (f"({p} - {q})", bp + bq)
        return f"({p} {'+' if kind == 'add' else '-'} {q})", bp + bq

    def function(self, depth: int) -> tuple[str, float]:
        text, bound = self.float(depth - 1)
        np_or_math = self.c.pick(["math", "np"])
        match self.c.below(7):
            case 0:
                return f"{np_or_math}.sin({text})", 1.0
            case 1:
                return f"{np_or_math}.tanh({text})", 1.0
            case 2 if bound <= 4:
                return f"{np_or_math}.exp({text})", 60.0
            case 3 if bound < 50:
                return f"{np_or_math}.sqrt(1.0 + {text} * {text})", 1.0 + bound
            case 4 if bound < 50:
                return f"{np_or_math}.log(1.5 + {text} * {text})", 1.0 + bound
            case 5:
                return f"math.atan({text})", 1.6
        return f"{np_or_math}.cos({text})", 1.0

    def atom(self) -> tuple[str, float]:
        s = self.scope
        kind = self.c.weighted({"float": 6, "constant": 2, "element": 3, "int": 1, "item": 1})
        match kind:
            case "constant":
                return self.c.pick(["1.0", "0.5", "-0.7", "2", "0.25", "-1.5"]), 2.0
            case "element" if s.arrays:
                self.use("element read")
                return self.element(), LIMIT
            case "int" if s.ints:
                return f"(0.1 * {self.c.pick(s.ints)})", 1.0
            case "item" if s.dicts:
                return f'{self.c.pick(s.dicts)}["v"]', LIMIT
            case "item" if s.lists:
                name = self.c.pick(sorted(s.lists))
                return f"{name}[{self.c.below(s.lists[name])}]", LIMIT
        return (self.c.pick(s.floats), LIMIT) if s.floats else ("0.5", 1.0)

    def element(self) -> str:
        """An element of an array, which can be read or stored."""
        name = self.c.pick(sorted(self.scope.arrays))
        shape = self.scope.arrays[name]
        return f"{name}[{', '.join(self.index(n) for n in shape)}]"

    def reduction(self) -> tuple[str, float]:
        self.use("reduction")
        name = self.c.pick(sorted(self.scope.arrays))
        shape = self.scope.arrays[name]
        size = 1
        for n in shape:
            size *= n
        vectors = self.scope.vectors()
        match self.c.below(6):
            case 0:
                return f"np.mean({name})", LIMIT
            case 1:
                return f"{name}.max()", LIMIT
            case 2:
                return f"(np.min({name}) * 0.5)", LIMIT
            case 3 if len(shape) == 1:
                same = [v for v, n in sorted(vectors.items()) if n == shape[0]]
                return f"({name} @ {self.c.pick(same)} / {4 * size}.0)", LIMIT
            case 4 if len(shape) == 2 and shape[1] in vectors.values():
                self.use("matrix product")
                v = self.c.pick([v for v, n in sorted(vectors.items()) if n == shape[1]])
                return f"(({name} @ {v}).sum() / {4 * size}.0)", LIMIT
        return f"np.sum({name})", LIMIT * size

    def call(self, depth: int) -> tuple[str, float]:
        self.use("call")
        name = self.c.pick(sorted(self.scope.functions))
        args = []
        for kind in self.scope.functions[name]:
            if kind == "f":
                args.append(self.bounded(depth - 1))
            else:
                vectors = sorted(v for v, n in self.scope.vectors().items() if n == VECTOR)
                if not vectors:
                    return self.atom()
                args.append(self.c.pick(vectors))
        return f"{name}({', '.join(args)})", LIMIT

    # -- integers and conditions ----------------------------------------------------------------

    def int(self, depth: int = 1) -> str:
        """A small integer expression, of either sign."""
        s = self.scope
        if depth <= 0 or not s.ints or not self.c.below(3):
            return self.c.pick(s.ints) if s.ints and self.c.below(3) else str(self.c.below(5))
        self.use("integer arithmetic")
        p, q = self.int(depth - 1), self.int(depth - 1)
        match self.c.below(6):
            case 0:
                return f"({p} + {q})"
            case 1:
                return f"({p} - {q})"
            case 2:
                return f"({p} % {2 + self.c.below(3)} * 2)"
            case 3:
                self.use("floor division")
                return f"(({p} - 3) // {2 + self.c.below(2)})"
            case 4:
                return f"({p} * {q} % 5)"
        return f"max({p}, {q} - 1)"

    def index(self, n: int) -> str:
        match self.c.below(4):
            case 0:
                return str(self.c.below(n))
            case 1:
                self.use("negative index")
                return str(-1 - self.c.below(n))
        self.use("computed index")
        text = self.int()
        return text if text.isdigit() and int(text) < n else f"{text} % {n}"

    def condition(self, depth: int = 1) -> str:
        s = self.scope
        kind = self.c.weighted(
            {"float": 6, "int": 2, "chain": 2, "and": 2, "or": 2, "not": 1, "bool": 1}
        )
        match kind:
            case "int" if s.ints:
                return f"{self.int()} {self.c.pick(['<', '==', '!=', '>='])} {self.int()}"
            case "chain":
                self.use("chained comparison")
                low, high = self.atom()[0], self.atom()[0]
                return f"{low} - 1.0 < {self.float(1)[0]} <= {high} + 1.0"
            case "and" | "or" if depth > 0:
                self.use("and/or")
                return f"({self.condition(depth - 1)} {kind} {self.condition(depth - 1)})"
            case "not" if depth > 0:
                self.use("not")
                return f"(not {self.condition(depth - 1)})"
            case "bool" if s.bools:
                return self.c.pick(s.bools)
        left, sign, right = self.float(1)[0], self.c.pick(["<", ">", "<=", ">="]), self.float(1)[0]
        return f"{left} {sign} {right}"

    # -- arrays ---------------------------------------------------------------------------------

    def array(self, shape: tuple[int, ...], depth: int = 1) -> str:
        """An array expression of this shape, its elements within the limit."""
        same = sorted(name for name, s in self.scope.arrays.items() if s == shape)
        if depth <= 0:
            if same:
                return self.c.pick(same)
            return f"np.full({shape}, {self.bounded(0)}, dtype=float)"
        p = self.array(shape, depth - 1)
        match self.c.below(8):
            case 0:
                return f"np.sin({p} + {self.array(shape, depth - 1)})"
            case 1:
                return f"0.3 * {p} * {self.array(shape, depth - 1)}"
            case 2:
                return f"np.tanh({p} * {self.bounded(1)})"
            case 3:
                return f"{p} / (2.0 + {p} ** 2)"
            case 4:
                self.use("where")
                q = self.array(shape, depth - 1)
                return f"np.where({p} > {self.atom()[0]}, {q}, 0.5 * {p})"
            case 5 if len(shape) == 1:
                self.use("reversed slice")
                return f"np.cos({p})[::-1]"
            case 6 if len(shape) == 2:
                rows = sorted(v for v, n in self.scope.vectors().items() if n == shape[1])
                if rows:
                    self.use("broadcast")
                    return f"np.cos({p} + {self.c.pick(rows)})"
            case 7:
                return f"0.4 * ({p} - {self.array(shape, depth - 1)})"
        return p
