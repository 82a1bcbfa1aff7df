"""What is an index, as a sum?  Integers of the tape as constant + sum(coefficient * variable).

Only Python integers take part: they are exact (what overflows is a check of the tracer's), while
NumPy's wrap around, so that an inequality between sums need not hold for them.
"""

from __future__ import annotations

from jitad.immutable import immutable
from jitad.tape.ir import Atom, Block, Lit, Var, walk
from jitad.tape.types import INT

Terms = tuple[tuple[Var, int], ...]

SUMS = frozenset(("add", "sub", "mul", "neg"))


@immutable(slots=True)
class Linear:
    """constant + sum(coefficient * variable); terms in order of serial, none with factor 0."""

    terms: Terms
    constant: int = 0

    def __add__(self, other: Linear) -> Linear:
        if not other.terms:
            return self.plus(other.constant)
        total = dict(self.terms)
        for v, c in other.terms:
            total[v] = total.get(v, 0) + c
        return _linear(total, self.constant + other.constant)

    def __sub__(self, other: Linear) -> Linear:
        if not other.terms:
            return self.plus(-other.constant)
        if self.terms == other.terms:
            return Linear((), self.constant - other.constant)
        return self + other * -1

    def __mul__(self, factor: int) -> Linear:
        if factor == 0:
            return Linear((), 0)
        return Linear(tuple([(v, c * factor) for v, c in self.terms]), self.constant * factor)

    def less(self, by: int, terms: Terms, constant: int, factor: int) -> Linear:
        """self * by less the sum of these terms and the constant, times factor."""
        total = {v: c * by for v, c in self.terms}
        for v, c in terms:
            total[v] = total.get(v, 0) - c * factor
        return _linear(total, self.constant * by - constant * factor)

    def plus(self, constant: int) -> Linear:
        return Linear(self.terms, self.constant + constant)

    def coefficient(self, v: Var) -> int:
        return next((c for w, c in self.terms if w is v), 0)

    def replace(self, v: Var, by: Linear) -> Linear:
        c = self.coefficient(v)
        rest = Linear(tuple(t for t in self.terms if t[0] is not v), self.constant)
        return rest + by * c if c else self


def _linear(total: dict[Var, int], constant: int) -> Linear:
    terms = [(v, c) for v, c in total.items() if c]
    if len(terms) > 1:
        terms.sort(key=_serial)
    return Linear(tuple(terms), constant)


def _serial(term: tuple[Var, int]) -> int:
    return term[0].serial


def constant(value: int) -> Linear:
    return Linear((), value)


def variable(v: Var) -> Linear:
    return Linear(((v, 1),))


def is_integer(a: Atom) -> bool:
    return a.type is INT


class Forms:
    """The sums known of a tape's integer variables; what is not known is its own sum."""

    def __init__(self) -> None:
        self.of_var: dict[Var, Linear] = {}

    def of(self, a: Atom) -> Linear:
        if isinstance(a, Lit):
            return constant(int(a.value))
        return self.of_var.get(a) or variable(a)

    def learn(self, block: Block) -> None:
        """The sums that a block computes, and the blocks in it."""
        for e in walk(block):
            if (form := self.result(e.op, e.ins)) is not None:
                self.of_var[e.outs[0]] = form

    def result(self, op: str, ins: tuple[Atom, ...]) -> Linear | None:
        """The sum that a primitive of integers gives, where it is one."""
        if op not in SUMS or ins[0].type is not INT or not all(map(is_integer, ins)):
            return None
        x, *rest = map(self.of, ins)
        match op, rest:
            case "add", (y,):
                return x + y
            case "sub", (y,):
                return x - y
            case "neg", ():
                return x * -1
            case "mul", (y,):
                if not y.terms:
                    return x * y.constant
                if not x.terms:
                    return y * x.constant
        return None
