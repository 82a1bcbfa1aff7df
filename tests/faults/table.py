"""Which deliberate faults must the tests notice?"""

# ruff: noqa: E501 (the engine's text is quoted as it stands)

from __future__ import annotations

from tests.faults.fault import Fault

REVERSE, FORWARD = "jitad/sweeps/reverse.py", "jitad/sweeps/forward.py"
SCOPE, RECORDS = "jitad/sweeps/scope.py", "jitad/sweeps/records.py"
AGAIN, FUSE, CUT = "jitad/sweeps/again.py", "jitad/sweeps/fuse.py", "jitad/sweeps/cut.py"
RESTORE = "jitad/sweeps/restore.py"
VERSIONS = "jitad/sweeps/versions.py"
SETTLED = "jitad/sweeps/settled.py"
RULES = "jitad/sweeps/rules.py"
FLOW, COPY, FOLD = "jitad/tape/flow.py", "jitad/tape/copy.py", "jitad/tape/fold.py"
INTERPRET = "jitad/tape/interpret.py"
DEAD, RESOLVE = "jitad/tape/dead.py", "jitad/specialise/resolve.py"
LAYOUT, ROUNDING = "jitad/specialise/layout.py", "jitad/tape/rounding.py"
ABREAST, CHAINS = "jitad/specialise/abreast.py", "jitad/specialise/chains.py"
STRIPS = ("tests/specialise/test_abreast.py",)
BODY = "jitad/emit/numba_private/body.py"
ENTRY, DIRECT = "jitad/emit/numba_private/entry.py", ("tests/emit/test_direct.py",)
PLACES = "jitad/emit/numba_private/layout.py"
SHORTCUT, SHORT = "jitad/emit/numba_private/shortcut.py", ("tests/api/test_shortcuts.py",)
TRANSLATED, KEPT = ("tests/emit/native/test_translate.py",), ("tests/api/test_kept.py",)
SHARED = ("tests/emit/native/test_shared.py",)
TURNING = ("tests/specialise/test_layout.py",)
SCHEDULES, COUNTED = "jitad/primitives/schedules.py", ("tests/sweeps/test_schedule.py",)
SCHEDULE, SNAPSHOTS = "jitad/sweeps/schedule.py", "jitad/sweeps/snapshots.py"
PROGRAMS = ("tests/sweeps/test_scheduled_programs.py",)
CUSTOM, ASKED = "jitad/sweeps/custom.py", ("tests/custom",)
EAGER_RULES, UNKNOWN = "jitad/runtime/custom.py", "jitad/runtime/unknown.py"
ELEMENTWISE, ARRAY = "jitad/primitives/elementwise.py", "jitad/primitives/array.py"
DIVISIBLE, PARALLEL = "jitad/specialise/divisible.py", "jitad/specialise/parallel.py"
THREADS = ("tests/specialise/test_parallel.py",)

ASKED_ALONG = ("tests/sweeps/test_directions.py",)
RESTORING = ("tests/sweeps/test_named.py", "tests/specialise/test_restore.py")
NESTS = ("tests/sweeps/test_settled_nests.py",)

FAULTS: tuple[Fault, ...] = (
    # -- reverse sweep: adjoints
    Fault(REVERSE, "now = part if now is None else self.reached.plus(now, part)", "now = part",
          "a second contribution replaces the first"),
    Fault(REVERSE, 'scope.pending.setdefault(v, []).append(part)', 'scope.pending[v] = [part]',
          "of the contributions to parts only the last is kept"),
    Fault(REVERSE, "            for part in waiting:\n", "            for part in waiting[1:]:\n",
          "the first contribution to a part is dropped"),
    Fault(REVERSE, "            if isinstance(r, Var) and r in sweep.active:\n",
          "            if isinstance(r, Var) and r in sweep.active and k == 0:\n",
          "only the first result is seeded"),
    Fault(REVERSE, "scope.adjoints[s] = s_bar", "self.contribute(scope, v, v_bar)",
          "the adjoint of a stack is dropped"),
    Fault(REVERSE, 'scope.adjoints[e.ins[0]] = self.b.emit("push", ct, v_bar)',
          'scope.adjoints[e.ins[0]] = self.b.emit("push", ct, self.zero(v, scope))',
          "what was popped has no adjoint"),
    # -- reverse sweep: branches
    Fault(REVERSE, "predicate = scope.value(e.ins[0])",
          'predicate = b.emit("logical_not", scope.value(e.ins[0]))',
          "the reverse takes the other branch"),
    Fault(REVERSE, "                    if a is None:\n                        a = scope.adjoint(v)\n",
          "", "a branch that leaves a variable alone forgets its adjoint"),
    Fault(REVERSE, "            for waiting in scope.pending.pop(v, ()):  # neither",
          "            for waiting in ():  # neither",
          "a branch forgets contributions that wait for the whole adjoint"),
    # -- reverse sweep: loops
    Fault(REVERSE, 'first_k, step = b.emit("sub", count, lit(1)), lit(-1)',
          "first_k, step = lit(0), lit(1)", "the reverse loop runs forwards"),
    Fault(REVERSE, 'first_k, step = b.emit("sub", count, lit(1)), lit(-1)',
          "first_k, step = count, lit(-1)", "the reverse loop is one iteration late"),
    Fault(REVERSE, "            self.contribute(scope, init[k], out)",
          "            self.contribute(scope, init[carried[0]], out)",
          "the initial values get each other's adjoints"),
    Fault(REVERSE, "scope.adjoints[v] = self.reached.plus(a, scope.adjoints[v])", "pass",
          "what reaches a loop from its own results is dropped"),
    Fault(REVERSE, "            starts.append(self.reached.sure(a) if a is not None else self.zero(v, scope))",
          "            starts.append(self.zero(v, scope))",
          "a loop forgets the adjoints gathered before it"),
    Fault(REVERSE, "                new.results.append(self.reached.sure(inner.adjoints[v]))",
          "                new.results.append(inner.gathered[v])",
          "an iteration adds nothing to the adjoints of outer variables"),
    # -- when forward code may run again, and in which order
    Fault(AGAIN, "any(a in late for a in (*wants(x, active), *sizes))", "False",
          "a loop with a past is run again without it"),
    Fault(AGAIN, "    return not later and x.ins[0] is start and any(a in shifted for a in x.ins[2:])",
          "    return True", "stores at one place count as stores at different places"),
    Fault(AGAIN, "    body = e.blocks[-1]\n    if e.op == \"while\":\n",
          "    return True\n    body = e.blocks[-1]\n    if e.op == \"while\":\n",
          "every loop may run in any order"),
    Fault("jitad/sweeps/only.py", "return b.emit(\"logical_not\", predicate)", "return predicate",
          "what is zero where a condition holds is taken to be zero elsewhere",
          ("tests/sweeps/test_only.py",)),
    Fault(FUSE, "((twin, *names) if x is e else (x,))", "((*names,) if x is e else (x,))",
          "a twin is dropped"),
    Fault(AGAIN, "atoms = tuple(p for p, q in ((a, b), (b, a)) if q in active)", "atoms = ()",
          "the adjoint of a product is said to need no operand"),
    Fault(FUSE, "block.equations = ordered", "block.equations = equations",
          "a fused loop stands before what it needs"),
    # -- forward values in the reverse
    Fault(SCOPE, 'self.known[body.params[0]] = b.emit("add", start, b.emit("mul", k, step))',
          "self.known[body.params[0]] = k", "the reverse loop's index is the iteration number"),
    Fault(SCOPE, "    e.ins = (*e.ins, lit(0))\n", "    e.ins = (*e.ins, lit(1))\n",
          "the trips of a while loop are counted from one"),
    Fault(SCOPE, "at = b.emit(\"mul\", k, self.parent.value(step_by))", "at = k",
          "a counter in the reverse takes steps of one"),
    Fault(SCOPE, "        self.owner.blocks[1 - self.branch].results.append(s_start)\n",
          "        self.owner.blocks[1 - self.branch].results.append(s_out)\n",
          "the other branch hands on a stack that it has not written"),
    Fault(RECORDS, 'Equation("ident", (parent.value(out),)', 'Equation("ident", (lit_zero("f8"),)',
          "a branch's value arrives as zero"),
    Fault(RECORDS, "        equations += [pushes[v] for v in e.outs if v in pushes]\n", "",
          "a value is never pushed"),
    Fault(RECORDS, "if e is None or v in versions.logged or not _repeatable(e, scope, first[v]):",
          "if e is None:",
          "everything is computed again, from whatever is there"),
    Fault(CUT, "return {v for v in seen if (v, 0) in reach and (v, 1) not in reach}",
          "return {v for v in seen if v in fixed and v in set(needed)}",
          "only what is asked for directly is recorded"),
    # -- arrays restored in the reverse
    Fault(RESTORE, "new = self.b.emit(undo(e), q, put_back,",
          "new = self.b.emit(undo(e), q, scope.value(e.ins[1]),",
          "what was written is put back, not what was overwritten", RESTORING),
    Fault(RESTORE, "            self.scope.versions.region += 1\n", "",
          "a version is read in a region where it is gone", RESTORING),
    Fault(RESTORE, "if ends[0] is ends[1] and ends[0] not in inside:", "if True:",
          "branches that give different arrays count as changing one", RESTORING),
    Fault(VERSIONS, "a in self.ever and self.region_of[a] <= region", "a in self.ever",
          "a version is read before it is there", RESTORING),
    Fault(VERSIONS, "ins = (store.ins[0], *store.ins[2:])", "ins = (store.outs[0], *store.ins[2:])",
          "what was written is logged, not what was overwritten", RESTORING),
    Fault(SETTLED, "list(range(common))", "list(range(1, common))",
          "what the outermost loop overwrites later counts as still there", NESTS),
    Fault(SETTLED, "        if w.at > a.at:", "        if w.at > a.at + 99:",
          "what is overwritten in the same iteration counts as still there", NESTS),
    # -- rules of both sweeps
    Fault(RULES, "total = part if total is None else b.leaf(plus(b, b.atom(total), b.atom(part)))", "total = part",
          "a tangent takes its last operand only"),
    Fault(RULES, "        if factor == -1.0:\n            return -v\n",
          "        if factor == -1.0:\n            return v\n", "minus one counts as one"),
    Fault(RULES, "(ts[k] if ts[k] is not None else b.leaf(zero(b, ins[k])))",
          "(ts[k] if ts[k] is not None else xs[k])", "an inactive operand is its own tangent"),
    Fault(RULES, 'g = b.emit("sum", g, axes=tuple(range(len(g.shape))))',
          'g = b.emit("load", g, *([lit(0)] * len(g.shape)))',
          "a scalar among arrays gets one element's contribution"),
    Fault(FORWARD, "not (uses or any(a in tangents for a in e.ins))",
          "not any(a in tangents for a in e.ins)",
          "a branch or a loop has no tangent from outer variables"),
    Fault(FORWARD, "t if t is not None else zero(b, ins[1])", "zero(b, ins[1])",
          "a record's tangent is not pushed"),
    Fault(FORWARD, "first = len(e.outs) + at * count", "first = len(e.outs)",
          "all that a loop carries has the tangents of the first", ASKED_ALONG),
    Fault(FORWARD, "        if stacks <= varied:\n", "        if True:\n",
          "a stack has tangents from the first record that has one"),
    # -- primitives
    Fault(ELEMENTWISE, '"{0} * {1}", lambda o, a, b, y: (b, a)', '"{0} * {1}", lambda o, a, b, y: (a, b)',
          "the partials of a product are swapped"),
    Fault(ELEMENTWISE, "return inverse, Chain(inverse, -y)",
          "return inverse, Chain(inverse, y)", "the sign of a quotient's partial"),
    Fault(ELEMENTWISE, "o.eq(a, 0)), 0.0, b * a ** (b - 1))",
          "o.eq(a, 0)), 0.0, b * a**b)", "the exponent of a power's partial"),
    Fault(ELEMENTWISE, "(None, o.where(c, ct, 0.0), o.where(c, 0.0, ct))",
          "(None, o.where(c, ct, 0.0), ct)", "where passes the adjoint to both sides"),
    Fault(ARRAY, "return (o.store(ct, 0.0, *rest[:-1]), part)", "return (ct, part)",
          "an overwritten element keeps its adjoint"),
    Fault(ARRAY, "return (o.store_slice(ct, 0.0, *operands, kinds=kinds), part)",
          "return (ct, part)", "an overwritten slice keeps its adjoint"),
    Fault(ARRAY, "return (ct, o.load(ct, *rest[:-1]))", "return (ct, None)",
          "what is added to an element has no adjoint"),
    Fault(ARRAY, "parts = lambda: _outer(o, ct, b), ", "parts = lambda: _outer(o, b, ct), ",
          "the adjoint of a matrix is transposed"),
    Fault(ARRAY, "        at = at + a.shape[axis]\n", "", "joined arrays share the first one's adjoint"),
    # -- tapes
    Fault(FLOW, "edges[out] = [p, *decides]", "edges[out] = _vars((start, end)) + decides",
          "a loop that ignores what it carries loses its seed"),
    Fault(FLOW, "edges[out] = _vars(branch.results[k] for branch in e.blocks) + decides",
          "edges[out] = _vars([e.blocks[0].results[k]]) + decides",
          "the second branch is not active"),
    Fault(COPY, "return tuple(copy_block(b, eqn.blocks[0 if ins[0].value else 1], env, effects))",
          "return tuple(copy_block(b, eqn.blocks[0], env, effects))",
          "a known condition always takes the first branch"),
    Fault(COPY, "return [p is r for p, r in zip(params, body.results, strict=True)]",
          "return [r in params for p, r in zip(params, body.results, strict=True)]",
          "swapped variables count as unchanged"),
    Fault(FOLD, "isinstance(p, Lit) and isinstance(q, Lit) and p.value != q.value", "p is not q",
          "a store at another index, not known to differ, is passed over"),
    Fault(FOLD, "chosen = ins[1] if ins[0].value else ins[2]",
          "chosen = ins[2] if ins[0].value else ins[1]", "a known choice is taken wrongly"),
    Fault(INTERPRET, "[start + k * step, *carried]", "[start + k, *carried]",
          "the interpreter's loops take steps of one"),
    Fault(DEAD, "                needs[p] = (e, (start, end))", "                needs[p] = (e, (start,))",
          "what only the next iteration needs counts as dead"),
    Fault(DEAD, "            return tuple(e.blocks[0].results)", "            return ()",
          "a while loop's condition counts as dead"),
    Fault(LAYOUT, "e.ins = (e.ins[0], *(e.ins[1:][k] for k in first))", "pass",
          "the records of a turned array come back with the old extents", TURNING),
    Fault(LAYOUT, "return tuple(perm.index(k) for k in range(len(perm)))", "return perm",
          "axes are put back in the wrong order", TURNING),
    Fault(ROUNDING, "return {e for e in sums if not products.isdisjoint(e.ins)}", "return set()",
          "products are never rounded before they are added", ("tests/tape/test_rounding.py",)),
    Fault(ROUNDING, "        return e.ins[1:]\n", "        return ()\n",
          "divisors are not exact", ("tests/tape/test_rounding.py",)),
    Fault(ROUNDING, '"mul square pow".split()', '"mul".split()',
          "a square may be fused with what a maximum is looked for in",
          ("tests/tape/test_rounding.py",)),
    Fault(ABREAST, 'rest = b.emit("sub", n, done)', 'rest = lit(0)',
          "the points behind the last whole strip are left out", STRIPS),
    Fault(CHAINS, "return all(len({a in versions for a in way}) == 1 for way in ways)",
          "return True", "an array that is replaced counts as touched at its own places", STRIPS),
    Fault(BODY, "for place in owners:", "for place in owners[1:]:",
          "a kernel that raises keeps memory for good", TRANSLATED),
    Fault("jitad/emit/numba_private/shared.py", "if of.fails:", "if False:",
          "what fails in a function that nests share goes on", SHARED),
    Fault("jitad/emit/translate.py", "if known and name in apart & nest.written]", "]",
          "arrays that overlap are promised not to, in nests that share a function", SHARED),
    Fault("jitad/emit/translate.py", '"<" if step > 0 else ">"', '"<"',
          "a loop that counts down never runs", TRANSLATED),
    Fault("jitad/emit/expressions.py", "if is_cheap(node.body) and is_cheap(node.orelse):",
          "if True:",
          "what a condition guards is read all the same", TRANSLATED),
    Fault("jitad/emit/operations.py", 'ir.IRBuilder.fcmp_unordered if op == "!="',
          "ir.IRBuilder.fcmp_ordered if False", "a number that is none equals what it is compared to",
          TRANSLATED),
    Fault("jitad/emit/operations.py", "ir.Constant(x.type, -0.0)", "ir.Constant(x.type, 0.0)",
          "the negative of zero is zero", TRANSLATED),
    Fault("jitad/calls/kept.py", "{e.op} {ins} {params} {self", "{e.op} {ins} {self",
          "sums along two axes are one kernel to a later process", KEPT),
    Fault(PLACES, "PLAIN = 0x0501", "PLAIN = 0x0500",
          "an array with steps goes straight into a kernel for contiguous ones", DIRECT),
    Fault(SHORTCUT, "self.each(_ITEMS, 3,", "self.each(_CELLS, 2, lambda *_: None) or (0,",
          "names that are bound anew are not seen", SHORT),
    Fault(SHORTCUT, 'self.expect(b.icmp_unsigned("==", now, class_), operands)', "pass",
          "an int goes where a float is expected, or a NumPy number", SHORT),
    Fault(SHORTCUT, "            api.incref(only)\n", "", "a result is freed too early", SHORT),
    Fault("jitad/specialise/roots.py", "above = op in (\"lt\", \"ge\")", "above = False",
          "a comparison of a root is another at its bound", ("tests/specialise/test_roots.py",)),
    Fault("jitad/specialise/roots.py", 'or (op in ("lt", "le") and not signs.holds(x))', "",
          "negative numbers have small roots", ("tests/specialise/test_roots.py",)),
    Fault("jitad/specialise/unfold.py", 'return e.op == "check" or not TABLE[e.op].effect',
          "return True", "prints happen twice before a call", ("tests/specialise/test_unfold.py",)),
    Fault(RESOLVE, "        inner[v] = env[v]\n", "        pass\n",
          "a function under an operator loses what it takes from outside"),
    # -- functions with rules
    Fault(CUSTOM, "if points.intersection((*wanted, *swept.results)):", "if False:",
          "a rule that is not linear is transposed all the same", ASKED),
    Fault(CUSTOM, 'super().emit("check", lit(False), **what)', "pass",
          "a derivative that nobody knows is zero", ASKED),
    Fault(CUSTOM, "    if any(a in varied for a in e.ins[n:]):\n", "    if False:\n",
          "a number from around a function with rules is taken for a constant", ASKED),
    Fault(EAGER_RULES, "return _Cotangents(self | other)", "return other",
          "of several results of a rule only one is heard", ASKED),
    Fault(EAGER_RULES, "    elif newest_tag(primals):", "    elif False:",
          "an outer derivative sees the function instead of what its rule gives", ASKED),
    Fault(UNKNOWN, "    if missing:\n", "    if False:\n",
          "a missing derivative reaches the result", ASKED),
    # -- loops from snapshots
    Fault(SCHEDULES, "max(leaves - (all_of - earlier), before, 1)", "leaves // 2",
          "snapshots are put in the middle", COUNTED),
    Fault(SNAPSHOTS, 'by = b.emit("advance", b.emit("sub", end, at), room.leaf, left)',
          'by = b.emit("advance", b.emit("sub", end, at), room.leaf, lit(1))',
          "free slots are not used", COUNTED),
    Fault(SNAPSHOTS, 'window = b.emit("where", full, b.emit("mul", window, lit(2)), window)', "pass",
          "windows stay short when snapshots are given up", COUNTED),
    Fault(SNAPSHOTS, "other = b.emit(\"mul\", j, lit(2))", "other = j",
          "the wrong snapshots are given up", COUNTED),
    Fault(SNAPSHOTS, "        if isinstance(at_start, Var):\n            sums[at_start] = b.emit("
          "\"add\", sums[at_start], a) if at_start in sums else a",
          "        if isinstance(at_start, Var):\n            sums[at_start] = a",
          "a value that the loop starts with and takes from around it has one adjoint", PROGRAMS),
    Fault(SCHEDULE, 'outs[k] = b.emit("frozen", outs[k])', "pass",
          "what does not vary becomes a result of a rule", PROGRAMS),
    Fault(SCHEDULE, 'if any(x.op in ("callback", "advance")', 'if any(x.op in ("advance",)',
          "Python is asked again", PROGRAMS),
    # -- threads
    Fault(DIVISIBLE, "if span == 0 or (adds and span", "if span == 0 or (span",
          "iterations that read each other's elements are divided", THREADS),
    Fault(DIVISIBLE, "            late = max(late, span)\n", "",
          "iterations that add to their neighbours' elements run beside them", THREADS),
    Fault(PARALLEL, "init[k] = lit_zero(dtype)", "init[k] = lit(1.0)",
          "each part of a sum begins with one", THREADS),
    Fault("jitad/specialise/rows.py", "                if rows != _ALL or self.equal.find(a.shape[0]) != self.equal.find(self.n):\n                    return None\n", "",
          "other rows of what a loop makes are read as its own", THREADS),
)  # fmt: skip
