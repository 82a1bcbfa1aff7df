"""Where does adjoint code find forward values and adjoints?

A `Scope` pairs a forward block with the reverse block that is being written for it.  In a
*visible* scope both are the same block, and forward values are used as they are.  Elsewhere a
value is asked for: `value` gives a placeholder, which `records.settle` defines later.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jitad.primitives import TABLE, Into
from jitad.sweeps.reached import Reached
from jitad.sweeps.versions import Versions
from jitad.tape.build import Builder
from jitad.tape.ir import Atom, Block, Equation, Lit, Var, lit
from jitad.tape.types import INT, Array, Stack


@dataclass
class Thread:
    """A stack on its way through a loop: in and out of the forward and of the reverse body."""

    s_in: Var
    s_out: Var
    t_in: Var
    t_out: Var

    def carry_forward(self, e: Equation, start: Atom, out: Var) -> None:
        """Make the stack a carried value of the forward loop."""
        body = e.blocks[-1]
        e.ins = (*e.ins, start)
        e.outs = (*e.outs, out)
        body.params.append(self.s_in)
        body.results.append(self.s_out)
        if e.op == "while":
            e.blocks[0].params.append(Var(self.s_in.type))


class Scope:
    """A block of the forward sweep and its reverse."""

    def __init__(
        self,
        parent: Scope | None,
        forward: Block,
        *,
        visible: bool,
        owner: Equation | None = None,
        branch: int = 0,
        stateful: bool = False,
    ) -> None:
        self.parent, self.forward, self.visible = parent, forward, visible
        self.stateful = stateful  # what the loop carries is there when its forward part runs again
        self.owner, self.branch = owner, branch
        self.reverse = forward
        self.owns: set[Var] = set()
        self.known: dict[Var, Atom] = {}  # forward values that the reverse has for nothing
        self.head: list[Equation] = []  # equations of the reverse block that define those
        self.requests: dict[Var, Var] = {}
        self.adjoints: dict[Var, Atom] = {}
        self.pending: dict[Var, list[Into]] = {}  # contributions to a part, waiting for the whole
        self.gathered: dict[Var, Var] = {}  # outer variables whose adjoint this loop adds up
        self.threads: list[Thread] = []
        self.passing: list[tuple[Var, Atom, Var]] = []  # stacks through a branch
        self.before: dict[int, list[Equation]] = {}
        self.twins: list[tuple[Equation, tuple[Var, ...]]] = []
        self.versions = Versions()
        self.hulls: set[Var] = set()  # slices that windows are taken from, see `windows`
        self.origin: dict[Var, Var] = parent.origin if parent is not None else {}
        # the defining equations, shared with the builder: results added later are entered, too
        self.sources: dict[Var, Equation] = parent.sources if parent is not None else {}
        # of arrays that are read as loops have left them, see `settled`
        self.lost: set[Var] = parent.lost if parent is not None else set()
        self.kept: dict[Var, Equation] = parent.kept if parent is not None else {}
        self.reached: Reached | None = parent.reached if parent is not None else None

    def root(self) -> Scope:
        return self if self.parent is None else self.parent.root()

    def own(self, params: Iterable[Var], equations: Iterable[Equation]) -> None:
        """The variables that this scope's forward block defines directly."""
        self.owns.update(params)
        for e in equations:
            self.owns.update(e.outs)

    def finds(self, v: Var) -> bool:
        """Is v a forward variable of this scope or of one around it?"""
        scope: Scope | None = self
        while scope is not None:
            if v in scope.owns:
                return True
            scope = scope.parent
        return False

    def owner_of(self, v: Var) -> Scope | None:
        scope: Scope | None = self
        while scope is not None and v not in scope.owns:
            scope = scope.parent
        return scope

    def runs_again(self) -> bool:
        """Is this in a forward part that runs again, without what came before it?"""
        scope: Scope | None = self
        while scope is not None:
            if scope.visible and scope.owner is not None and not scope.stateful:
                return True
            scope = scope.parent
        return False

    # -- forward values -------------------------------------------------------------------------

    def value(self, a: Atom) -> Atom:
        """A forward value, as the reverse code of this scope can name it."""
        if isinstance(a, Lit):
            return a
        restored = self.current(a)
        if restored is not None:
            return restored
        scope = self.owner_of(a)
        if scope is None or scope.visible:
            return a
        if a in scope.known:
            return scope.known[a]
        return scope.requested(a)

    def requested(self, a: Var) -> Var:
        """The placeholder for a value of this scope."""
        if a not in self.requests:
            self.versions.asked[a] = self.versions.region
            wish = Var(a.type, tuple(self.value(d) for d in a.shape), a.name)
            self.requests[a] = wish
            self.origin[wish] = self.origin.get(a, a)
        return self.requests[a]

    def current(self, a: Atom) -> Atom | None:
        """The restored version of an array that the code being written has at hand."""
        if not isinstance(a, Var) or not isinstance(a.type, Array):
            return None
        scope: Scope | None = self
        while scope is not None:
            if a in scope.versions.current:
                return scope.versions.current[a]
            if a in scope.owns:
                return None
            scope = scope.parent
        return None

    def shaped(self, a: Atom) -> Atom:
        """Something with the type and the extents of a forward value (not its content)."""
        if isinstance(a.type, Array):
            return Var(a.type, tuple(self.value(d) for d in a.shape), "")
        return a

    def index(self, e: Equation, k: Var, b: Builder) -> None:
        """Loop indices and counters follow from the iteration number k."""
        assert self.parent is not None
        body = e.blocks[-1]
        if e.op == "for":
            start, step = (self.parent.value(a) for a in e.ins[:2])
            self.known[body.params[0]] = b.emit("add", start, b.emit("mul", k, step))
        made = {v: x for x in body.equations for v in x.outs}
        head, first = (1, 3) if e.op == "for" else (0, 0)
        for p, r, init in zip(body.params[head:], body.results, e.ins[first:], strict=False):
            x = made.get(r) if isinstance(r, Var) else None
            if p.type != INT or x is None or x.op != "add" or x.ins[0] is not p:
                continue
            step_by = x.ins[1]
            if isinstance(step_by, Lit) or step_by not in self.owns:
                at = b.emit("mul", k, self.parent.value(step_by))
                self.known[p] = b.emit("add", self.parent.value(init), at)
        self.head = list(b.blocks[-1].equations)

    def available(self, a: Atom, region: int | None = None) -> bool:
        """Can the reverse have this array at a cost that the forward code paid as well?

        Not where it is a version of an array that an enclosing recorded loop carries: recording
        such an array would copy all of it in every iteration.  Restored versions are there for
        the code that is being written, or for that of one region once all is written.
        """
        scope = self.owner_of(a) if isinstance(a, Var) else None
        if scope is None or scope.visible or a in scope.known:
            return True
        while isinstance(a, Var) and a in scope.owns and a in self.sources:
            if a in self.versions.ever and region is not None:
                return self.versions.readable(a, region)
            if self.current(a) is not None:
                return True
            e = self.sources[a]
            match e.op:
                case "store" | "accum" | "store_slice" | "accum_slice" | "ident":
                    a = e.ins[0]
                case "slice" | "transpose" | "reshape" | "broadcast":
                    a = e.ins[0]
                    if a in scope.known:
                        return True
                case "for" | "while":
                    a = e.ins[(3 if e.op == "for" else 0) + e.outs.index(a)]
                case "if":
                    return False
                case _:
                    return True
        if a in self.versions.ever and region is not None:
            return self.versions.readable(a, region)
        if isinstance(a, Lit) or self.current(a) is not None:
            return True
        if a in scope.owns:
            return scope.made_anew(a)
        return self.available(a, region)

    def made_anew(self, a: Var) -> bool:
        """Does each iteration end with another array for this carried one, computed as a whole?"""
        if self.owner is None or self.owner.op not in ("for", "while"):
            return False
        body = self.owner.blocks[-1]
        carried = dict(zip(reversed(body.params), reversed(body.results), strict=False))
        end = carried.get(a)
        while isinstance(end, Var) and end in self.sources:
            e = self.sources[end]
            match e.op:
                case "for" | "while":
                    end = e.ins[(3 if e.op == "for" else 0) + e.outs.index(end)]
                case "store" | "accum" | "store_slice" | "accum_slice":
                    end = e.ins[0]
                case _:
                    return end in self.owns and e.op in TABLE and TABLE[e.op].elementwise
        return False

    # -- adjoints -------------------------------------------------------------------------------

    def adjoint(self, v: Var) -> Atom | None:
        """The adjoint gathered so far; a loop gathers those of outer variables in a carry."""
        if v in self.adjoints or v in self.owns or self.parent is None:
            return self.adjoints.get(v)
        if self.owner is not None and self.owner.op == "if":
            return self.parent.adjoint(v)
        if not self.parent.finds(v):
            return None
        shape = tuple(self.parent.value(d) for d in v.shape)
        carry = Var(v.type, shape, f"{v.name}_bar" if v.name else "")
        self.gathered[v] = carry
        self.adjoints[v] = carry
        if self.reached is not None and v in self.reached.near:
            self.reached.open(self.forward, [(carry, False)])
        return carry

    # -- stacks ---------------------------------------------------------------------------------

    def lift(self, e: Equation, s_out: Var, t_out: Var) -> tuple[Atom, Atom]:
        """Give the structured equation e, of this scope, a stack to carry.

        `s_out` and `t_out` will be its results in the forward and the reverse equation; what
        comes back is what to start both from.
        """
        assert isinstance(s_out.type, Stack)
        if self.visible:
            made = Var(s_out.type)
            params = {"element": s_out.type.element}
            stack = Equation("stack", (), (made,), params)
            self.before.setdefault(id(e), []).append(stack)
            return made, s_out
        if self.owner is not None and self.owner.op == "if":
            return self.lift_branch(s_out, t_out)
        t = Thread(Var(s_out.type), s_out, Var(s_out.type), t_out)
        self.threads.append(t)
        return t.s_in, t.t_in

    def lift_branch(self, s_out: Var, t_out: Var) -> tuple[Atom, Atom]:
        """The same for a stack that one branch of an `if` writes to."""
        assert self.parent is not None and self.owner is not None
        f, r = Var(s_out.type), Var(s_out.type)
        s_start, t_start = self.parent.lift(self.owner, f, r)
        self.owner.outs = (*self.owner.outs, f)
        self.sources[f] = self.owner
        self.owner.blocks[self.branch].results.append(s_out)
        self.owner.blocks[1 - self.branch].results.append(s_start)
        self.passing.append((t_out, t_start, r))
        return s_start, t_start


def trips(e: Equation, scope: Scope) -> Atom:
    """The trip count, a value of the enclosing scope; a `while` loop gets a counter for it."""
    if e.op == "for":
        return scope.value(e.ins[2])
    cond, body = e.blocks
    n, out, after = Var(INT, (), "trips"), Var(INT, (), "trips"), Var(INT)
    body.equations.append(Equation("add", (n, lit(1)), (after,)))
    body.params.append(n)
    body.results.append(after)
    cond.params.append(Var(INT))
    e.ins = (*e.ins, lit(0))
    e.outs = (*e.outs, out)
    scope.owns.add(out)
    return scope.value(out)
