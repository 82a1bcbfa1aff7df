"""How is a function's derivative cut in two, with records between the halves?

Where the sensitivity of a call depends on what the call gives, its forward part has to run first,
and its reverse part later:

    forward  (params, stacks) -> (results, stacks)         the function, which records
    reverse  (some params, seeds, adjoints so far, stacks)
             -> (adjoints of the active params, stacks)

The calls inside are cut likewise and push on the same stacks, so a recursion records each of its
levels once, and the work of its derivative is a multiple of its own.  What the reverse part needs
of its parameters is handed to it: often the caller knows it anyway, or computes it from its own.

Which parameters and stacks those are is known when the body has been swept, and needed in order to
sweep it, as it calls itself: it is swept again until what was taken to be needed is all there is.
"""

from __future__ import annotations

from jitad.sweeps.called import so_far
from jitad.sweeps.calls import Halves, Library
from jitad.sweeps.custom import attach_rules
from jitad.sweeps.merging import merge
from jitad.sweeps.records import settle
from jitad.sweeps.scope import Scope
from jitad.tape.build import Builder
from jitad.tape.copy import begin, copy_block
from jitad.tape.dead import remove_dead
from jitad.tape.flow import active as active_vars
from jitad.tape.ir import Block, Var, free_vars
from jitad.tape.types import Stack
from jitad.values.number import in_rules


@in_rules  # a literal times an array of the tape is a content, not a user's handle
def halve(
    block: Block, active: tuple[int, ...], seeded: tuple[int, ...], now: Halves,
    library: Library, name: str,
) -> tuple[Block, Block, tuple[int, ...], tuple[Stack, ...]]:  # fmt: skip
    """Forward and reverse part of a function's body, which parameters and stacks they take.

    `now` says what is known of that already, for the calls of the function by itself.
    """
    from jitad.sweeps.reverse import Reverse  # which calls halves

    b = Builder()
    env = begin(b, block)
    forward = b.blocks[0]
    results = copy_block(b, block, env)
    inputs = [forward.params[k] for k in active]
    for e in attach_rules(forward, inputs, library):
        b.sources.update((v, e) for v in e.outs)
    root = Scope(None, forward, visible=False)
    root.sources = b.sources
    root.own(forward.params, forward.equations)
    sweep = Reverse(b, active_vars(forward, inputs, results), library, name)
    equations = list(forward.equations)
    with b.block(isolated=True) as reverse:
        root.reverse = reverse
        handed = [_handed(b, root, p) for p in forward.params]
        root.head = list(reverse.equations)
        seeds: list[Var] = []
        for k in seeded:
            r = results[k]
            seed = Var(r.type, (), "seed")
            b.measure(seed)
            seeds.append(seed)
            if isinstance(r, Var) and r in sweep.active:
                sweep.contribute(root, r, seed)
        added = library.added_to(name, active, seeded)
        bars = so_far([forward.params[k] for k in added], root)
        sweep.backward(equations, root)
        reverse.results = [sweep.adjoint(p, root) for p in inputs]
    threads = settle(b, root)
    forward.results = results
    reverse.params = []
    kinds = merge(forward, reverse, threads)
    needed = tuple(sorted({*now.needed, *_used(reverse, handed)}))
    given: list[Var] = [handed[k] for k in needed]  # type: ignore[misc]
    reverse.params = [*given, *seeds, *bars, *reverse.params]
    return forward, reverse, needed, kinds


def _handed(b: Builder, root: Scope, p: Var) -> Var | None:
    """The reverse part's own parameter in the place of the forward part's."""
    if isinstance(p.type, Stack):
        return None
    q = Var(p.type, (), p.name)
    b.measure(q)
    root.known[p] = q
    for d, m in zip(p.shape, q.shape, strict=True):
        if isinstance(d, Var):
            root.known[d] = m
    return q


def _used(reverse: Block, handed: list[Var | None]) -> list[int]:
    remove_dead(reverse)
    free = set(free_vars(Block([], reverse.equations, reverse.results)))
    return [k for k, q in enumerate(handed) if q in free]
