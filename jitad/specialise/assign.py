"""Which arrays of zeros need no zeros, because a loop adds to each element once?

An adjoint begins as an array of zeros, and a loop adds to its elements, one in each iteration: so
it is with the adjoints of vectors, also where `delay` has made one addition of a stencil's.  Then
the loop stores, as one would write it, and only the elements that it doesn't come to are set to
zero, behind it: memory is gone over once instead of twice, and nothing is read.

Only where the loop comes right after the array is made, in the same block, and nothing else uses
the array meanwhile.  What is stored is 0.0 + v, which is v but for the sign of a zero.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain

import numpy as np

from jitad.tape.build import Builder
from jitad.tape.copy import lit_zero
from jitad.tape.ir import Atom, Block, Equation, Lit, Tape, Var, free_vars, lit
from jitad.tape.linear import Forms, Linear, constant
from jitad.tape.types import Array, Scalar


def assign(tape: Tape) -> Tape:
    """The tape with such loops storing (changed in place)."""
    forms = Forms()
    forms.learn(tape.body)
    _visit(tape.body, forms)
    return tape


def _visit(block: Block, forms: Forms) -> None:
    zeros = {e.outs[0]: e for e in block.equations if _is_zeros(e)}
    if zeros:
        uses = Counter(chain(block.results, *(
            chain(e.ins, free_vars(*e.blocks)) for e in block.equations)))  # fmt: skip
        zeros = {v: e for v, e in zeros.items() if uses[v] == 1}
    out: list[Equation] = []
    for e in block.equations:
        after: list[Equation] = []
        if e.op == "for":
            for k, init in enumerate(e.ins[3:]):
                if init in zeros:
                    found = _stored(e, k, forms)
                    if found is not None:
                        made = zeros[init]  # type: ignore[index]
                        made.op, made.ins = "blank", made.ins[1:]
                        made.params = {"dtype": made.params["dtype"], "start": "empty"}
                        after += found
        for inner in e.blocks:
            _visit(inner, forms)
        out += [e, *after]
    block.equations = out


def _is_zeros(e: Equation) -> bool:
    """A vector of floats, all zero."""
    if e.op != "full" or len(e.ins) != 2 or e.params["dtype"][0] != "f":
        return False
    a = e.ins[0]
    return isinstance(a, Lit) and a.value == 0 and not np.signbit(a.value)


def _stored(e: Equation, k: int, forms: Forms) -> list[Equation] | None:
    """What follows the loop, which has been changed to store; None if it stays."""
    body = e.blocks[0]
    p, index, step = body.params[1 + k], body.params[0], e.ins[1]
    users = [x for x in body.equations if p in x.ins or p in free_vars(*x.blocks)]
    if len(users) != 1 or users[0].op != "accum" or users[0].ins[0] is not p:
        return None
    (x,) = users
    _, v, at = x.ins
    mine = x.outs[0]
    others = chain(*(chain(y.ins, free_vars(*y.blocks)) for y in body.equations))
    if body.results[k] is not mine or body.results.count(mine) != 1 or mine in others:
        return None
    form = forms.of(at)
    inside = {*body.params, *(o for y in body.equations for o in y.outs)} - {index}
    if not isinstance(step, Lit) or abs(form.coefficient(index) * step.value) != 1:
        return None
    if any(w in inside for w, _ in form.terms) or v.type.dtype != p.type.dtype:  # type: ignore[union-attr]
        return None
    total = Var(Scalar(p.type.dtype))  # type: ignore[union-attr]
    zero = lit_zero(p.type.dtype)  # type: ignore[union-attr]
    x.op, x.ins = "store", (p, total, at)
    where = body.equations.index(x)
    body.equations.insert(where, Equation("add", (zero, v), (total,), {}, (), x.pos))
    old = e.outs[k]
    if _is_whole(e, old, form, forms):
        return []
    inner = Var(old.type, old.shape, old.name)
    e.outs = (*e.outs[:k], inner, *e.outs[k + 1 :])
    return _rest(e, inner, old, form, forms)


def _places(e: Equation, form: Linear, forms: Forms) -> tuple[Linear, Linear]:
    """The first element that a loop stores, and the one behind its last, if it runs at all."""
    start, step, count = e.ins[:3]
    index = e.blocks[0].params[0]
    assert isinstance(step, Lit)
    first, trips = form.replace(index, forms.of(start)), forms.of(count)
    low = first if form.coefficient(index) * step.value > 0 else first - trips.plus(-1)
    return low, low + trips


def _is_whole(e: Equation, array: Var, form: Linear, forms: Forms) -> bool:
    """Does it store all elements?  An array as long as a loop that doesn't run has none."""
    low, high = _places(e, form, forms)
    return low == constant(0) and high == forms.of(array.shape[0])


def _rest(e: Equation, array: Var, out: Var, form: Linear, forms: Forms) -> list[Equation]:
    """Zeros where the loop has not been: in front of its places and behind them, or everywhere."""
    assert isinstance(array.type, Array)
    count = e.ins[2]
    zero, (n,) = lit_zero(array.type.dtype), array.shape
    low, high = _places(e, form, forms)
    b = Builder()
    b.pos = e.pos

    def written(f: Linear) -> Atom:
        now: Atom = lit(f.constant)
        for v, k in f.terms:
            term = v if k == 1 else b.emit("mul", v, lit(k))
            now = term if now == lit(0) else b.emit("add", now, term)
        return now

    def cleared(a: Atom, begin: Linear, end: Linear) -> Atom:
        length = end - begin
        if length == constant(0):
            return a
        if length == constant(1):
            return b.emit("store", a, zero, written(begin))
        return b.emit("store_slice", a, zero, written(begin), lit(1), written(length), kinds="r")

    ran = b.emit("gt", count, lit(0))
    with b.block() as then:
        then.results = [cleared(cleared(array, constant(0), low), high, forms.of(n))]
    with b.block() as otherwise:
        otherwise.results = [cleared(array, constant(0), forms.of(n))]
    b.structured("if", (ran,), (out,), (then, otherwise))
    return b.blocks[0].equations
