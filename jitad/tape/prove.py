"""Is an integer sum never negative here?  Proof by elimination of variables.

What is known at a place of the tape are inequalities F >= 0 between sums.  To prove G >= 0, an
inequality that bounds a variable of G from the side that hurts is added with the factor that makes
the variable vanish, innermost variables first, until a constant is left (Fourier 1827 and Motzkin
1936, run backwards from the goal and within a budget).  A variable that is one of two values
(a maximum, a minimum) is tried with both.  "False" means "not proved".
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd

from jitad.tape.ir import Var
from jitad.tape.linear import Linear

_DEPTH = 10
_BUDGET = 80


class Known:
    """Inequalities that hold at the present place; scopes end with `forget(mark)`."""

    def __init__(self) -> None:
        self._about: dict[Var, list[Linear]] = {}
        self._trail: list[Var] = []
        self.either: dict[Var, tuple[Linear, Linear]] = {}  # a variable is one of two sums

    def mark(self) -> int:
        return len(self._trail)

    def forget(self, mark: int) -> None:
        while len(self._trail) > mark:
            self._about[self._trail.pop()].pop()

    def assume(self, facts: Iterable[Linear]) -> None:
        """Each of these sums is >= 0."""
        for fact in facts:
            fact = _tightened(fact)
            for v, _ in fact.terms:
                self._about.setdefault(v, []).append(fact)
                self._trail.append(v)

    def proves(self, goal: Linear) -> bool:
        """True where goal >= 0 follows."""
        return self._prove(goal, _DEPTH, [_BUDGET])

    def proves_all(self, goals: Iterable[Linear]) -> bool:
        return all(map(self.proves, goals))

    def _prove(self, goal: Linear, depth: int, budget: list[int]) -> bool:
        goal = _tightened(goal)
        if not goal.terms:
            return goal.constant >= 0
        budget[0] -= 1
        if not depth or budget[0] < 0:
            return False
        v, c = goal.terms[-1]
        # the newest facts first: they are the closest
        for fact in reversed(self._about.get(v, ())):
            f = fact.coefficient(v)
            if (f > 0) == (c > 0) and self._prove(
                goal * abs(f) - fact * abs(c), depth - 1, budget
            ):
                return True
        if v in self.either:
            return all(
                self._prove(goal.replace(v, x), depth - 1, budget) for x in self.either[v]
            )
        return False


def _tightened(fact: Linear) -> Linear:
    """The same inequality between integers, divided by what its coefficients have in common."""
    common = gcd(*(c for _, c in fact.terms)) if fact.terms else 1
    if common <= 1:
        return fact
    return Linear(tuple((v, c // common) for v, c in fact.terms), fact.constant // common)
