"""Which variables does a variable depend on?  Data dependence over nested blocks, loops closed.

One walk gives for every variable its predecessors: the operands of its equation; for a loop's
parameter its initial value and the value at the end of the body; for a loop's result the
parameter; for an `if` result those of both branches.  Everything that asks "what reaches what"
(activity, dead code, recomputation) is a closure over these edges, linear in the tape.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from jitad.primitives import TABLE
from jitad.tape.ir import Atom, Block, Equation, Var, walk
from jitad.tape.types import is_float

Edges = dict[Var, list[Var]]
Node = TypeVar("Node", bound=Hashable)


def _vars(atoms: Iterable[Atom]) -> list[Var]:
    return [a for a in atoms if type(a) is Var]


def predecessors(
    block: Block,
    follow: Callable[[Equation, Var, Var], bool] | None = None,
    control: bool = False,
) -> Edges:
    """Predecessors of all variables defined in the block and inside it.

    `follow(equation, operand, result)` may leave out edges of primitives; with `control`,
    predicates and trip counts are predecessors of what they decide.
    """
    edges: Edges = {}
    for e in walk(block):
        if not e.blocks:
            before = [a for a in e.ins if type(a) is Var]
            for out in e.outs:
                edges[out] = before if follow is None else [a for a in before if follow(e, a, out)]
            continue
        decides = _vars(_control(e)) if control else []
        match e.op:
            case "for" | "while":
                body = e.blocks[-1]
                init = e.ins[3:] if e.op == "for" else e.ins
                params = body.params[1:] if e.op == "for" else body.params
                for p, start, end, out in zip(params, init, body.results, e.outs, strict=True):
                    edges[p] = _vars((start, end)) + decides
                    edges[out] = [p, *decides]
                if e.op == "while":
                    for p, start, end in zip(e.blocks[0].params, init, body.results, strict=True):
                        edges[p] = _vars((start, end))
                else:
                    edges[body.params[0]] = _vars(e.ins[:2])
            case "if":
                for k, out in enumerate(e.outs):
                    edges[out] = _vars(branch.results[k] for branch in e.blocks) + decides
            case "implicit":
                # a value is its operand; a derivative comes from what the block closes over
                ends = _vars(e.blocks[0].results)
                for p, start in zip(e.blocks[0].params, e.ins, strict=False):
                    edges[p] = _vars((start,)) if follow is None else []
                for out, start in zip(e.outs, e.ins, strict=False):
                    edges[out] = ends + (_vars((start,)) if follow is None else [])
            case _:  # an operator, whose block says what it depends on
                for out in e.outs:
                    edges[out] = [
                        a for a in _vars(e.ins) if follow is None or follow(e, a, out)
                    ]
    return edges


def _control(e: Equation) -> Iterable[Atom]:
    match e.op:
        case "for":
            return e.ins[:3]
        case "while":
            return e.blocks[0].results
        case "if":
            return e.ins[:1]
    return ()


def successors(edges: Edges) -> Edges:
    out: Edges = {}
    for v, before in edges.items():
        for a in before:
            out.setdefault(a, []).append(v)
    return out


def closure(start: Iterable[Node], edges: Mapping[Node, Sequence[Node]]) -> set[Node]:
    """All that can be reached."""
    seen = set(start)
    todo = list(seen)
    while todo:
        for a in edges.get(todo.pop(), ()):
            if a not in seen:
                seen.add(a)
                todo.append(a)
    return seen


def differentiable_edge(e: Equation, operand: Var, out: Var) -> bool:
    """True where a derivative flows from the operand to the result."""
    if not (is_float(operand.type) and is_float(out.type)):
        return False
    row = TABLE[e.op]
    return row.differentiable or e.op in ("push", "pop")


def active(block: Block, inputs: Iterable[Var], outputs: Iterable[Atom]) -> set[Var]:
    """Variables that depend on the inputs and that the outputs depend on, differentiably."""
    edges = predecessors(block, differentiable_edge)
    varied = closure(inputs, successors(edges))
    useful = closure(_vars(outputs), edges)
    return {v for v in varied & useful if is_float(v.type)}
