"""Which extents are equal: what have checks found, always or where certain loops run at all?"""

from __future__ import annotations

from jitad.specialise.together import Equal
from jitad.tape.ir import Atom, Equation, Var, lit
from jitad.tape.linear import Forms, Linear


class Known:
    def __init__(self) -> None:
        self.equal = Equal()
        self.forms = Forms()
        self.makers: dict[Var, Equation] = {}
        self.conditions: list[tuple[set[Linear], Equation]] = []  # none is negative: then equal

    def copy(self) -> Known:
        other = Known()
        other.equal, other.makers = self.equal.copy(), dict(self.makers)
        other.forms.of_var.update(self.forms.of_var)
        other.conditions = [*self.conditions]
        return other

    def learn(self, e: Equation) -> None:
        self.makers.update((v, e) for v in e.outs)
        self.equal.learn(e, self.makers)
        form = self.forms.result(e.op, e.ins)
        if form is not None:
            self.forms.of_var[e.outs[0]] = form
        if e.op == "check":
            self._either(e.ins[0])

    def _either(self, test: Atom) -> None:
        """A comparison of extents is made only where no loop before it is empty."""
        todo, last, equal = [test], set(), []
        while todo:
            x = self.makers.get(todo.pop())  # type: ignore[arg-type]
            if x is not None and x.op == "logical_or":
                todo += x.ins
            elif x is not None and x.op == "lt" and x.ins[1] == lit(0):
                last.add(self.forms.of(x.ins[0]))
            elif x is not None and x.op == "eq":
                equal.append(x)
            else:
                return
        if last and len(equal) == 1:
            self.conditions.append((last, equal[0]))

    def inside(self, counts: list[Atom]) -> Equal:
        """What is equal where loops of so many iterations run."""
        last = {self.forms.of(n).plus(-1) for n in counts}
        equal = self.equal.copy()
        for needed, test in self.conditions:
            if needed <= last:
                equal.join(*test.ins)
        return equal
