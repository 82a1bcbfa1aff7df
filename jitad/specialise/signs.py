"""Which floats are never negative?  What Python's `math` checks before a square root.

"Never negative" includes NaN, for which `x < 0` is false as well, and -0.0: so a quotient of
such numbers may be negative infinity, and is not among them.
"""

from __future__ import annotations

from jitad.tape.ir import Atom, Equation, Lit, Var

_ALWAYS = {"abs", "exp", "exp2", "sqrt", "cosh", "square", "hypot", "expit", "sech2", "acosh"}
_IF_ALL = {"add", "mul", "maximum", "minimum", "fmax", "fmin"}
_IF_FIRST = {"sum", "amax", "amin", "cast", "cbrt", "tanh", "log1p", "expm1", "copy", "slice",
             "load", "broadcast", "reshape", "transpose", "full"}  # fmt: skip


class Signs:
    """The variables met so far that are never negative; of arrays, all elements."""

    def __init__(self) -> None:
        self._known: set[Var] = set()

    def holds(self, a: Atom) -> bool:
        if isinstance(a, Lit):
            return not a.value < 0
        return a in self._known

    def enter(self, e: Equation) -> None:
        """Note the result of an equation whose operands are entered."""
        if len(e.outs) == 1 and getattr(e.outs[0].type, "dtype", "?")[0] == "f" and self._sure(e):
            self._known.add(e.outs[0])

    def _sure(self, e: Equation) -> bool:
        match e.op:
            case "mul" if e.ins[0] == e.ins[1]:
                return True
            case "pow":
                power = e.ins[1]
                return isinstance(power, Lit) and power.value % 2 == 0
            case "where":
                return self.holds(e.ins[1]) and self.holds(e.ins[2])
        return (
            e.op in _ALWAYS
            or (e.op in _IF_ALL and all(map(self.holds, e.ins)))
            or (e.op in _IF_FIRST and self.holds(e.ins[0]))
        )

    def never(self, e: Equation) -> bool:
        """True of a comparison `x < 0` or `0 > x` of floats that can't hold."""
        if e.op not in ("lt", "gt"):
            return False
        x, zero = e.ins if e.op == "lt" else e.ins[::-1]
        floating = getattr(x.type, "dtype", "?")[0] == "f"
        return floating and isinstance(zero, Lit) and zero.value == 0 and self.holds(x)
