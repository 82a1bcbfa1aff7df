"""What does a tape compute?  The definition, one equation after the other with NumPy.

Slow and plain: nothing is done in place, so that compiled kernels can be checked against it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from jitad.immutable import immutable
from jitad.primitives import TABLE
from jitad.tape.ir import Atom, Block, Equation, Lit, Tape, Var
from jitad.tape.types import Scalar

Env = dict[Var, Any]


def interpret(
    block: Block,
    args: list[Any],
    env: Env | None = None,
    functions: Mapping[str, Tape] | None = None,
) -> list[Any]:
    """The block's results for these arguments; `env` has the variables around it."""
    with np.errstate(all="ignore"):
        found = _Run(functions or {}).block(block, args, env if env is not None else {})
    # None is a view of an argument, which the caller may write to next.
    return [np.array(r) if isinstance(r, np.ndarray) else r for r in found]


def _read(atom: Atom, env: Env) -> Any:
    return atom.value if isinstance(atom, Lit) else env[atom]


@immutable
class _Run:
    functions: Mapping[str, Tape]
    quiet: bool = False

    def block(self, block: Block, args: list[Any], env: Env) -> list[Any]:
        env.update(zip(block.params, args, strict=True))
        for eqn in block.equations:
            ins = [_read(a, env) for a in eqn.ins]
            outs = self.step(eqn, ins, env)
            env.update(zip(eqn.outs, outs, strict=True))
        return [_read(a, env) for a in block.results]

    def step(self, eqn: Equation, ins: list[Any], env: Env) -> list[Any]:
        match eqn.op:
            case "if":
                return self.block(eqn.blocks[0 if ins[0] else 1], [], env)
            case "for":
                start, step, count, *carried = ins
                for k in range(int(count)):
                    carried = self.block(eqn.blocks[0], [start + k * step, *carried], env)
                return carried
            case "while":
                cond, body = eqn.blocks
                while self.block(cond, ins, env)[0]:
                    ins = self.block(body, ins, env)
                return ins
            case "call" | "act":
                function = self.functions[eqn.params["function"]]
                inner = _Run(self.functions, self.quiet or eqn.params.get("quiet", False))
                return inner.block(function.body, ins, {})
            case "spread":
                function, changed = self.functions[eqn.params["function"]], eqn.params["changed"]
                _, parts, *rest = ins
                for k in range(int(parts)):
                    for part in (k, parts + k) if eqn.params["late"] else (k,):
                        outs = self.block(function.body, [part, parts, *rest], {})
                        for at, out in zip(changed, outs, strict=True):
                            rest[at - 2] = out
                return [rest[at - 2] for at in changed]
            case "check" | "print" if self.quiet:
                return []
            case "implicit":
                return ins[: len(eqn.outs)]
            case "jvp" | "vjp":
                raise NotImplementedError("a tagged tape must be resolved before it is interpreted")
        out = TABLE[eqn.op].evaluate(*ins, **eqn.params)
        match len(eqn.outs):
            case 0:
                return []
            case 1:
                t = eqn.outs[0].type
                if isinstance(out, np.generic) and isinstance(t, Scalar) and t.py:
                    out = out.item()  # np.maximum of Python's numbers is one of NumPy's
                return [out]
            case _:
                return list(out)
