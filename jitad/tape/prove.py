"""Is an integer sum never negative here?  Proof by elimination of variables.

What is known at a place of the tape are inequalities F >= 0 between sums.  To prove G >= 0, an
inequality that bounds a variable of G from the side that hurts is added with the factor that makes
the variable vanish, innermost variables first, until a constant is left (Fourier 1827 and Motzkin
1936, run backwards from the goal and within a budget).  A variable that is one of two values
(a maximum, a minimum) is tried with both.  "False" means "not proved".

Of inequalities between the same variables only the strongest is looked at, and no goal twice in
one proof: where hundreds of slices ask about one extent, each proof stays within its budget.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd

from jitad.tape.ir import Var
from jitad.tape.linear import Linear, Terms

_DEPTH = 10
_BUDGET = 80


class Known:
    """Inequalities that hold at the present place; scopes end with `forget(mark)`."""

    def __init__(self) -> None:
        self._about: dict[Var, dict[Terms, int]] = {}  # with the variable's factor
        self._constants: dict[Terms, list[int]] = {}  # ever stronger: the last is looked at
        self._trail: list[Terms] = []
        self.either: dict[Var, tuple[Linear, Linear]] = {}  # a variable is one of two sums

    def mark(self) -> int:
        return len(self._trail)

    def forget(self, mark: int) -> None:
        while len(self._trail) > mark:
            terms = self._trail.pop()
            constants = self._constants[terms]
            constants.pop()
            if not constants:
                del self._constants[terms]
                for v, _ in terms:
                    del self._about[v][terms]

    def assume(self, facts: Iterable[Linear]) -> None:
        """Each of these sums is >= 0."""
        for fact in map(_tightened, facts):
            constants = self._constants.setdefault(fact.terms, [])
            if constants and constants[-1] <= fact.constant:
                continue  # follows from an older one
            if not constants:
                for v, c in fact.terms:
                    self._about.setdefault(v, {})[fact.terms] = c
            constants.append(fact.constant)
            self._trail.append(fact.terms)

    def proves(self, goal: Linear) -> bool:
        """True where goal >= 0 follows."""
        return self._prove(goal, _DEPTH, set())

    def proves_all(self, goals: Iterable[Linear]) -> bool:
        return all(map(self.proves, goals))

    def _prove(self, goal: Linear, depth: int, tried: set[Linear]) -> bool:
        goal = _tightened(goal)
        if not goal.terms:
            return goal.constant >= 0
        known = self._constants.get(goal.terms)
        if known and known[-1] <= goal.constant:
            return True
        if not depth or goal in tried:
            return False
        tried.add(goal)
        v, c = goal.terms[-1]
        # the newest facts first: they are the closest
        about = self._about.get(v, {})
        for terms in reversed(about):
            if len(tried) > _BUDGET:
                return False
            f = about[terms]
            if (f > 0) != (c > 0):
                continue
            less = goal.less(abs(f), terms, self._constants[terms][-1], abs(c))
            if self._prove(less, depth - 1, tried):
                return True
        if v in self.either:
            return all(self._prove(goal.replace(v, x), depth - 1, tried) for x in self.either[v])
        return False


def _tightened(fact: Linear) -> Linear:
    """The same inequality between integers, divided by what its coefficients have in common."""
    common = 0
    for _, c in fact.terms:
        if c == 1 or c == -1:
            return fact
        common = gcd(common, c)
    if common <= 1:
        return fact
    return Linear(tuple((v, c // common) for v, c in fact.terms), fact.constant // common)
