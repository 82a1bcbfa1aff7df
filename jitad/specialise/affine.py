"""How is index arithmetic brought into one form?  By a builder that writes sums one way only.

Sums of Python integers are emitted anew from their linear form, outermost variables first and the
constant last.  Equal addresses thus become one variable, however they were computed: the
`start + k*step` of a reverse loop and the `i - 1 + 1` of a user, and loads at them are shared by
the builder's hash-consing.  Sums of more than a few terms are left as they are.
"""

from __future__ import annotations

from typing import Any

from jitad.tape.build import Builder
from jitad.tape.fold import as_element
from jitad.tape.ir import Atom, Var, lit
from jitad.tape.linear import SUMS, Forms, Linear, is_integer

_MOST_TERMS = 4
_COMPARED = {
    "lt": lambda d: d < 0, "le": lambda d: d <= 0, "gt": lambda d: d > 0,
    "ge": lambda d: d >= 0, "eq": lambda d: d == 0, "ne": lambda d: d != 0,
}  # fmt: skip
_OWN = frozenset(("frozen", "attach", "attach_rule", "load", *SUMS, *_COMPARED))


def _fits(form: Linear) -> bool:
    """Are the numbers in it machine integers?"""
    return all(abs(c) < 2**63 for c in (form.constant, *(c for _, c in form.terms)))


class AffineBuilder(Builder):
    """A builder that normalises integer sums, and forwards stores to loads across other stores."""

    def __init__(self) -> None:
        super().__init__()
        self._forms = Forms()

    def _emit(self, op: str, ins: tuple[Atom, ...], params: dict[str, Any]) -> Any:
        if op not in _OWN:
            return super()._emit(op, ins, params)
        if op in ("frozen", "attach"):  # of one sweep, see `sweeps.preaccumulate`
            return ins[0]
        if op == "attach_rule":  # likewise, see `sweeps.custom`
            return ins[: len(params["rule"].function.results)]
        form = self._forms.result(op, ins) if op in SUMS and is_integer(ins[0]) else None
        if form is not None and len(form.terms) <= _MOST_TERMS and _fits(form):
            return self._sum(form)
        if op in _COMPARED and all(map(is_integer, ins)):
            difference = self._forms.of(ins[0]) - self._forms.of(ins[1])
            if not difference.terms:
                return lit(bool(_COMPARED[op](difference.constant)))
        if op == "load":
            known = self._stored(ins)
            if known is not None:
                return known
        return super()._emit(op, ins, params)

    def _sum(self, form: Linear) -> Atom:
        """Emit a linear form; a prefix of it is shared with other sums that begin alike."""
        plus = [t for t in form.terms if t[1] > 0]
        minus = [t for t in form.terms if t[1] < 0]
        so_far: Linear = Linear((), 0)
        total: Atom | None = None
        rest = form.constant
        for v, c in (*plus, *minus):
            so_far = so_far + Linear(((v, c),))
            part = v if abs(c) == 1 else super()._emit("mul", (v, lit(abs(c))), {})
            if isinstance(part, Var) and part is not v:
                self._forms.of_var[part] = Linear(((v, abs(c)),))
            if total is None and c < 0 and rest == 0:
                total = super()._emit("neg", (part,), {})
            elif total is None and c < 0:
                so_far = so_far.plus(rest)
                total, rest = super()._emit("sub", (lit(rest), part), {}), 0
            elif total is None:
                total = part
            else:
                total = super()._emit("add" if c > 0 else "sub", (total, part), {})
            self._note(total, so_far)
        if total is None:
            return lit(rest)
        if rest:
            total = super()._emit("add" if rest > 0 else "sub", (total, lit(abs(rest))), {})
            self._note(total, form)
        return total

    def _note(self, a: Atom, form: Linear) -> None:
        if isinstance(a, Var) and form.terms != ((a, 1),):
            self._forms.of_var[a] = form

    def _stored(self, ins: tuple[Atom, ...]) -> Atom | None:
        """The number that was stored where a load reads, other stores in between passed over.

        Only where the walk ends at that store: reading an older version of the array instead
        would keep it alive, and the stores could not be done in place.
        """
        a, *index = ins
        for _ in range(8):
            source = self.sources.get(a) if isinstance(a, Var) else None
            if source is None or source.op != "store":
                return None
            base, v, *at = source.ins
            if at == index:
                return as_element(self, v, a.type.dtype)  # type: ignore[union-attr]
            if not any(map(self._apart, at, index)):
                return None
            a = base
        return None

    def _apart(self, i: Atom, k: Atom) -> bool:
        """True of two indices that always differ."""
        if not (is_integer(i) and is_integer(k)):
            return False
        difference = self._forms.of(i) - self._forms.of(k)
        return not difference.terms and difference.constant != 0


