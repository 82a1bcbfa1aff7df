"""How does a plain tape become the Python source of one kernel that Numba compiles?

Block by block, equation by equation: scalars are locals, arrays loop nests (`nests`), stacks
growable buffers (`stacks`), structured equations Python's own statements.  What is computed where
is decided before (`demand`), what is written in place on the way (`buffers`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from jitad.emit import callbacks, calls, demand, library, nests, picking, products, stacks
from jitad.emit.access import Access, compose, element, identity, of_axis, of_expr, plus
from jitad.emit.arithmetic import compute, functions
from jitad.emit.buffers import Root, disjoint, origins
from jitad.emit.by_rows import by_rows
from jitad.emit.contract import contract
from jitad.emit.control import for_, if_, while_
from jitad.emit.hints import hints_of
from jitad.emit.just_stored import take_out
from jitad.emit.lanes import lanes
from jitad.emit.print_python import Expr, Names, negated
from jitad.emit.scope import Extents, Formula, Scope
from jitad.emit.sides import MARK, side_by_side
from jitad.errors import FINISHED, GuardMiss, JitadError, JitadRecursionError
from jitad.late import PLAIN, Raise
from jitad.primitives import TABLE
from jitad.tape.ir import Atom, Block, Equation, Tape, Var, is_array, walk
from jitad.tape.lent import Handed, Lent, handed
from jitad.tape.rounding import Deciding, deciding
from jitad.tape.types import Array, Stack


def emit(tape: Tape) -> str:
    """The source of a module with one function, named as the tape is."""
    tapes = [*tape.functions.values(), tape]
    exceptions: dict[type, tuple[str, str]] = {}
    for t in tapes:
        exceptions |= _exceptions(t.body)
    parts = {e.params["function"] for e in walk(tape.body) if e.op == "spread"}
    if not parts.issuperset(tape.functions):
        exceptions[JitadRecursionError] = _imported(JitadRecursionError)
    module = Names(functions() | {name for _, name in exceptions.values()}, set())
    called = {name: module.new(name, "function") for name in tape.functions}
    main = module.new(tape.name, "kernel")
    texts, used = [], set[str]()
    known, given = deciding(tape), handed(tape.functions)
    for t, name in zip(tapes, [*called.values(), main], strict=True):
        mine = None if t is tape else known[t.name]
        recursive = t is not tape and t.name not in parts
        text, names = _function(t, name, exceptions, called, known, mine, given, recursive)
        texts.append(text)
        used |= names
    sides = f"{MARK} = True\n\n\n" if side_by_side(tape) else ""
    return _imports(used, exceptions) + sides + "\n\n".join(texts)


def _function(
    tape: Tape, name: str, exceptions: dict[type, tuple[str, str]], called: dict[str, str],
    known: dict[str, Deciding], mine: Deciding | None, handed_over: Handed,
    recursive: bool,
) -> tuple[str, set[str]]:  # fmt: skip
    """The definition of the kernel, or of a function that it calls, which others use as `mine`;
    and the names in it."""
    analysis = demand.analyse(tape.body, known, mine, handed_over.pushing)
    reserved = functions() | {n for _, n in exceptions.values()} | {*called.values(), name}
    hints = hints_of(tape.body)
    s = Scope(analysis, Names(reserved, set(hints.values())), hints, _step)
    s.lanes = lanes(tape.body, analysis.dead)
    s.exceptions = {cls: n for cls, (_, n) in exceptions.items()}
    s.called, s.handed, s.is_kernel = called, handed_over, mine is None
    given = handed_over.arrays[tape.name] if mine is not None else {}
    parameters, sizes = _parameters(s, tape.body, given)
    lines: list[str] = []
    if called:
        s.room = s.names.new("", "floor")
        if recursive:
            parameters.append(s.room)
            lines += calls.entrance(tape, s, given)
    s.page.indent = 1
    results: list[Expr] = []

    def end() -> None:
        back = [r for j, r in enumerate(tape.body.results) if j not in given.values()]
        results.extend(_returned(s, back, [tape.body.results[j] for j in given.values()]))
        lines.extend(calls.given_back(s, tape, given, results, recursive))

    s.run(tape.body, end)
    values = ", ".join(r.text for r in results)
    s.page.write(f"return ({values},)" if len(results) == 1 else f"return ({values})")
    contract(s.page.lines, s.nests)
    by_rows(s.nests)
    take_out(s.waiting, s.names)
    used = _names(text := s.page.text())
    lines += [f"    {n} = {size}\n" for n, size in sizes if n in used]
    if not recursive and s.room in used:
        lines.append(f"    {s.room} = room()\n")
    head = f"def {name}({', '.join(parameters)}):" + (f"  # {tape.pos}" if tape.pos else "")
    start = f"{head}\n{''.join(lines)}"
    return start + text, used | _names(start)


_NAME = re.compile(r"[A-Za-z_]\w*")
# Texts of errors and comments: a word there asks for no function, and some take long to import.
_NO_CODE = re.compile(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|#.*""")


def _names(text: str) -> set[str]:
    return set(_NAME.findall(_NO_CODE.sub("", text)))


def _imports(used: set[str], exceptions: dict[type, tuple[str, str]]) -> str:
    lines = ["import numpy as np\n"]
    if own := sorted(used & functions()):
        lines.append(f"\nfrom jitad.emit.preamble import {', '.join(own)}\n")
    lines += sorted(f"{where}\n" for where, _ in exceptions.values() if where)
    return "".join(lines) + "\n\n"


def _parameters(
    s: Scope, body: Block, given: Lent
) -> tuple[list[str], list[tuple[str, str]]]:
    """The parameters' names, and the lines that read extents, for those that are needed."""
    out: list[str] = []
    sizes: list[tuple[str, str]] = []
    arrays: list[tuple[int, Var, Array]] = []
    for number, p in enumerate(body.params):
        if isinstance(p.type, Stack):
            s.stacks[p] = stacks.names(s, p)
            out += s.stacks[p]
            continue
        name = s.names.new(p.name, "a" if is_array(p) else "x")
        out.append(name)
        if isinstance(p.type, Array):
            s.given[p] = name
            arrays.append((number, p, p.type))
        else:
            s.exprs[p] = Expr(name)
            s.pinned.add(name)
    for number, p, kind in arrays:
        name = s.given[p]
        extents = []
        for k in range(kind.ndim):
            known = s.exprs.get(p.shape[k]) if p.shape else None  # type: ignore[arg-type]
            n = known.text if known is not None else s.names.extent(k)
            s.pinned.add(n)
            s.natural.add(n)
            if known is None:
                sizes.append((n, f"{name}.shape[{k}]"))
            extents.append(Expr(n))
        s.bind(p, Access(name, identity(kind.ndim)), tuple(extents))
        s.buffers.place(p, frozenset([Root(owned=number in given)]))
    return out, sizes


def _returned(s: Scope, results: list[Atom], changed: list[Atom]) -> list[Expr]:
    """Results that share no memory with an argument, with each other, or with what is `changed`
    in place."""
    arrays = [r for r in results if isinstance(r, Var) and is_array(r)]
    apart = dict.fromkeys(arrays, False)
    before = [s.buffers.roots[v] for v in changed if isinstance(v, Var)]
    sets = [*before, *(s.buffers.roots[v] for v in apart)]
    for v, alone in zip(apart, disjoint(sets)[len(before) :], strict=True):
        apart[v] = alone and all(r.owned for r in s.buffers.roots[v])
    out: list[Expr] = []
    for r in results:
        if isinstance(r.type, Stack):
            out += map(Expr, s.stacks[r])
        elif not isinstance(r, Var) or not is_array(r):
            out.append(s.expr(r))
        elif apart[r] and s.whole(r):
            out.append(Expr(s.access[r].name))
            apart[r] = False  # a second time it is copied
        else:
            name, root = s.allocate(r, s.extents[r])
            nests.copy(s, name, r, frozenset([root]))
            out.append(Expr(name))
    return out


def _exceptions(body: Block) -> dict[type, tuple[str, str]]:
    """For each class that a check raises, its import and its name."""
    out: dict[type, tuple[str, str]] = {}
    for e in walk(body):
        cls: type = _raised(e) if e.op == "check" else Raise
        if e.op != "check" or cls in out:
            continue
        out[cls] = _imported(cls)
    return out


def _imported(cls: type) -> tuple[str, str]:
    module, name = cls.__module__, cls.__qualname__
    return "" if module == "builtins" else f"from {module} import {name}", name


# -- equations ------------------------------------------------------------------------------------


def _step(s: Scope, e: Equation) -> None:
    """Write one equation."""
    if e in s.analysis.dead:
        return
    match e.op:
        case "for":
            for_(s, e)
            return
        case "while":
            while_(s, e)
            return
        case "if":
            if_(s, e)
            return
        case "jvp" | "vjp":
            raise JitadError("a derivative is left on the tape that is emitted", e.pos)
    row = TABLE[e.op]
    array = bool(e.outs) and is_array(e.outs[0])
    if row.elementwise:
        if array:
            _elementwise(s, e)
        else:
            s.define(e.outs[0], compute(s, e, [s.expr(a) for a in e.ins]))
    elif row.emit:
        library.call(s, e)
    else:
        _LOWER[e.op](s, e)


def _array_extents(s: Scope, e: Equation) -> Extents:
    widest = max((a for a in e.ins if isinstance(a, Var) and is_array(a)),
                 key=lambda a: a.type.ndim)  # type: ignore[union-attr]  # fmt: skip
    return s.extents[widest]


def _elementwise(s: Scope, e: Equation) -> None:
    if e in s.done:
        return
    (v,) = e.outs
    s.extents[v] = extents = _array_extents(s, e)
    if v not in s.analysis.inline:
        nests.materialise(s, v, (e, 0), v, identity(len(extents)), extents)


def _dim(s: Scope, e: Equation) -> None:
    (a,), (v,) = e.ins, e.outs
    assert isinstance(a, Var)
    s.exprs[v] = s.extents[a][e.params["axis"]]


def _load(s: Scope, e: Equation) -> None:
    a, *index = e.ins
    assert isinstance(a, Var)
    at = tuple(of_expr(s.expr(i)) for i in index)
    if a in s.formulas:
        s.define(e.outs[0], nests.formula(s.formulas[a], at, [], e.outs[0].type.dtype))  # type: ignore[union-attr]
    else:
        s.define(e.outs[0], element(s.access[a], at, (), s.counting))


def _target(s: Scope, e: Equation, anew: bool = False) -> bool:
    """Bind the result of a store: the operand's memory, or a copy of it; was it copied?"""
    a, (v,) = e.ins[0], e.outs
    assert isinstance(a, Var)
    extents = s.extents[a]
    if not anew and s.whole(a) and s.buffers.writable(a):
        s.bind(v, s.access[a], extents)
        s.buffers.place(v, s.buffers.roots[a])
        return False
    nests.copy(s, s.new_array(v, extents), a)
    return True


def _store(s: Scope, e: Equation) -> None:
    _, value, *index = e.ins
    _target(s, e)
    at = tuple(of_expr(s.expr(i)) for i in index)
    nests.write(s, e.outs[0], s.access[e.outs[0]], at, [], s.expr(value), e.op == "accum")


def _store_slice(s: Scope, e: Equation) -> None:
    copied = _target(s, e)
    nests.store_slice(s, e, s.access[e.outs[0]], copied)


def _store_take(s: Scope, e: Equation) -> None:
    a = e.ins[0]
    assert isinstance(a, Var)
    written = origins(s.buffers.roots[a])
    # What is read in another order than it is written needs memory apart.
    _target(s, e, any(
        not written.isdisjoint(origins(s.buffers.roots[x])) for x in picking.read(s, e)
    ))  # fmt: skip
    picking.store(s, e, s.access[e.outs[0]])


def _view(s: Scope, e: Equation) -> None:
    (v,) = e.outs
    base = e.ins[0]
    if not is_array(v):  # every axis indexed
        assert isinstance(base, Var)
        at = nests.slice_map(s, e.params["kinds"], e.ins[1:])
        s.define(v, element(s.access[base], at, (), s.counting))
        return
    match e.op:
        case "slice":
            extents = s.locals(nests._counts(e.params["kinds"], e.ins[1:]))
        case "transpose":
            assert isinstance(base, Var)
            extents = tuple(s.extents[base][k] for k in e.params["perm"])
        case _:
            extents = s.locals(e.ins[1:])
    s.extents[v] = extents
    if not isinstance(base, Var) or not is_array(base):
        _formula(s, v, Formula(s.local(base)), extents)
        return
    at = nests.view_map(s, e)
    if v not in s.analysis.virtual:
        nests.materialise(s, v, (e, 0), base, at, extents)
    elif base in s.access:
        access = s.access[base]
        partial = access.partial or e.op != "transpose"
        s.bind(v, Access(access.name, compose(access.map, at), partial), extents)
        s.buffers.place(v, s.buffers.roots[base])
    elif base in s.formulas:
        value = s.formulas[base].value
        if not isinstance(value, Expr):
            (value,) = compose((value,), at)
        s.formulas[v] = Formula(value)


def _formula(s: Scope, v: Var, f: Formula, extents: Extents) -> None:
    """An array that is a formula, computed now if it needs memory."""
    s.extents[v] = extents
    if v in s.analysis.virtual:
        s.formulas[v] = f
        return
    if f.value in (Expr("0.0"), Expr("0")) and not s.hoists(extents):
        s.new_array(v, extents, "zeros")
        return
    s.new_array(v, extents)
    counters = s.counters(len(extents))
    at = identity(len(extents))
    value = nests.formula(f, at, counters, v.type.dtype)  # type: ignore[union-attr]
    nests.fill(s, v, s.access[v], extents, nests.Inside(value), s.buffers.roots[v])


def _full(s: Scope, e: Equation) -> None:
    value, *dims = e.ins
    v = e.outs[0]
    x = s.local(value)
    if value.type.dtype != v.type.dtype:  # type: ignore[union-attr]
        from jitad.emit.print_python import cast, literal
        from jitad.tape.ir import Lit
        from jitad.tape.types import element as element_type

        t = element_type(v.type)  # type: ignore[arg-type]
        x = literal(Lit(value.value, t)) if isinstance(value, Lit) else cast(x, t.dtype)
    _formula(s, v, Formula(x), s.locals(dims))


def _iota(s: Scope, e: Equation) -> None:
    _formula(s, e.outs[0], Formula(identity(1)[0]), s.locals(e.ins))


def _copy(s: Scope, e: Equation) -> None:
    (a,), (v,) = e.ins, e.outs
    assert isinstance(a, Var)
    extents = s.extents[a]
    if a in s.access and s.whole(a) and s.buffers.writable(a):
        s.bind(v, s.access[a], extents)
        s.buffers.place(v, s.buffers.roots[a])
    else:
        nests.materialise(s, v, (e, 0), a, identity(len(extents)), extents)


def _reshape(s: Scope, e: Equation) -> None:
    (a, *dims), (v,) = e.ins, e.outs
    assert isinstance(a, Var)
    extents = s.locals(dims)
    source = s.access[a].name
    if not all(r.owned for r in s.buffers.roots[a]):
        source = f"np.ascontiguousarray({source})"
    name = s.new_name(v)
    shape = "".join(f"{n.text}, " for n in extents)
    s.page.write(f"{name} = {source}.reshape(({shape.strip()}))")
    s.bind(v, Access(name, identity(len(extents))), extents)
    s.buffers.place(v, s.buffers.roots[a])


def _pad(s: Scope, e: Equation) -> None:
    """The frame is zeroed once, where one buffer serves all iterations of a loop, and all frames
    of one shape there of which no two are wanted at a time."""
    (a, *operands), (v,) = e.ins, e.outs
    assert isinstance(a, Var)
    inner = s.extents[a]
    before, outer = s.locals(operands[: len(inner)]), s.locals(operands[len(inner) :])
    stays = s.depth((*before, *inner)) <= s.depth(outer)
    inside = nests.evaluate(s, (e, 0), a, identity(len(inner)), s.counters(len(inner)))
    read = origins(frozenset().union(*(s.buffers.roots[x] for x, _ in inside.reads)))
    frames: list[tuple[str, Root]] = []  # not to be written by others
    if stays and s.hoists(outer):
        shape = (v.type, before, s.same(inner), s.same(outer))
        frames = s.loops[s.depth(outer)].frames.setdefault(shape, [])
    free = ((n, r) for n, r in frames if r not in read and not s.buffers.occupied(r))
    name, root = next(free, ("", None))
    if root is None:
        name = s.new_name(v)
        made = s.allocate_as(name, v.type.dtype, outer, "zeros", hoist=stays)  # type: ignore[union-attr]
        root = Root(False, made.depth, made.born, watched=True)
        frames.append((name, root))
    s.bind(v, Access(name, identity(len(outer))), outer)
    roots = frozenset([root])
    s.buffers.place(v, roots)
    place = tuple(plus(of_expr(x), of_axis(k)) for k, x in enumerate(before))
    nests.fill(s, a, Access(name, place), inner, inside, roots)


def _pack(s: Scope, e: Equation) -> None:
    (v,) = e.outs
    name = s.new_array(v, (Expr(str(len(e.ins))),))
    for k, a in enumerate(e.ins):
        s.page.write(f"{name}[{k}] = {s.expr(a).text}")


def _concatenate(s: Scope, e: Equation) -> None:
    *parts, total = e.ins
    (v,) = e.outs
    axis: int = e.params["axis"]
    first = parts[0]
    assert isinstance(first, Var)
    extents = list(s.extents[first])
    extents[axis] = s.local(total)
    s.new_array(v, tuple(extents))
    offset = Expr("0")
    for j, a in enumerate(parts):
        assert isinstance(a, Var)
        mine = s.extents[a]
        counters = s.counters(len(mine))
        inside = nests.evaluate(s, (e, j), a, identity(len(mine)), counters)
        at = nests.shifted(axis, offset, len(mine))
        nests.fill(s, v, Access(s.access[v].name, at), mine, inside, s.buffers.roots[v])
        if offset.text.isdecimal() and mine[axis].text.isdecimal():
            offset = Expr(str(int(offset.text) + int(mine[axis].text)))
        elif j < len(parts) - 1:
            step = mine[axis].text
            offset = mine[axis] if offset.text == "0" else s.temporary(
                Expr(f"{offset.text} + {step}"), "at_")  # fmt: skip


def _raised(e: Equation) -> type:
    """The class that emitted code raises: jitad's or Python's own, or one that finds the user's."""
    return Raise if "late" in e.params else e.params["exception"]


def _check(s: Scope, e: Equation) -> None:
    ok = s.expr(e.ins[0])
    cls = _raised(e)
    name, message = s.exceptions[cls], e.params["message"]
    if cls is Raise:
        values = "".join(f", {_handed(s, a)}" for a in e.ins[1:])
        with s.page.block(f"if {negated(ok).text}:"):
            s.page.write(f"raise {name}({e.params['late'].key!r}{values})")
        return
    with s.page.block(f"if {negated(ok).text}:"):
        whole = issubclass(cls, JitadError) and not issubclass(cls, GuardMiss)
        finished = f", {FINISHED!r}" if whole else ""
        s.page.write(f"raise {name}({message!r}{finished})")
    if e in s.analysis.equal:
        s.equate(*s.analysis.equal[e])


def _handed(s: Scope, a: Atom) -> str:
    """A value that goes to Python."""
    return s.access[a].name if isinstance(a, Var) and is_array(a) else s.expr(a).text


def _print(s: Scope, e: Equation) -> None:
    parts = [repr(e.params.get("late", PLAIN).key), *(_handed(s, a) for a in e.ins)]
    s.page.write(f"show({', '.join(parts)})")


_LOWER: dict[str, Callable[[Scope, Equation], None]] = {
    "dim": _dim, "load": _load, "store": _store, "accum": _store,
    "store_slice": _store_slice, "accum_slice": _store_slice,
    "positions": picking.positions, "take": picking.take, "store_take": _store_take,
    "accum_take": _store_take, "slice": _view, "transpose": _view, "broadcast": _view,
    "blank": library.blank, "full": _full, "iota": _iota, "copy": _copy, "reshape": _reshape,
    "pad": _pad, "pack": _pack, "concatenate": _concatenate, "sum": nests.reduce,
    "amax": nests.reduce, "amin": nests.reduce, "matmul": products.matmul, "check": _check,
    "print": _print, "callback": callbacks.call, "call": calls.call, "act": calls.call,
    "spread": calls.spread,
    "stack": stacks.create, "push": stacks.push, "pop": stacks.pop, "pops": stacks.pop,
}  # fmt: skip
