"""Which systems are of a triangle, as their matrix was made?

`np.linalg.solve(L.T, np.linalg.solve(L, y))` with the L of a Cholesky decomposition, as it stands
in many a text: NumPy factors L anew, which takes twice as long as finding it did.  Substitution
gives the same.  What a root is of is known before differentiation, so the sweeps substitute, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.tape.build import Builder
from jitad.tape.copy import rebuilt
from jitad.tape.ir import Atom, Lit, Tape, Var, walk
from jitad.tape.types import Scalar


def triangles(tape: Tape) -> Tape:
    """The tape with systems of roots of matrices solved by substitution."""
    if not {"cholesky", "solve"} <= {e.op for e in walk(tape.body)}:
        return tape
    return Tape(tape.name, rebuilt(_Substituting(), tape.body), tape.pos, tape.functions)


class _Substituting(Builder):
    def emit(self, op: str, *ins: Atom, **params: Any) -> Any:
        if op == "solve" and (root := self._root(ins[0])) is not None:
            f, turned = root
            return super().emit("trisolve", f, ins[2], lower=True, unit=False,
                                turned=turned != params["turned"])  # fmt: skip
        if op == "lu_sign" and isinstance(ins[0], Var):
            made = self.sources.get(ins[0])
            if made is not None and made.op == "lu" and self._root(made.ins[0]) is not None:
                dtype: str = made.outs[0].type.dtype  # type: ignore[union-attr]
                return Lit(np.dtype(dtype).type(1), Scalar(dtype))  # the diagonal is positive
        return super().emit(op, *ins, **params)

    def _root(self, a: Atom) -> tuple[Var, bool] | None:
        """The root of a matrix that this is; and whether it is turned."""
        made = self.sources.get(a) if isinstance(a, Var) else None
        if made is None:
            return None
        if made.op == "cholesky":
            return made.outs[0], False
        if made.op == "transpose" and made.params["perm"] == (1, 0):
            found = self._root(made.ins[0])
            return None if found is None else (found[0], not found[1])
        return None
