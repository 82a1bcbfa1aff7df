"""What does the eager engine do where a function has derivative rules of its own?

The call is one step of the application whose tag is the newest among its arguments.  That tag is
taken off, the rule runs on what is below (so rules nest as primitives do), and its results get
the tag again.  In reverse mode the step is a *hub* on the tape: every float result is a cell that
hands its cotangent to the hub, and the hub runs the backward rule once, with all of them.

A mode that the user gave no rule for follows from the other one, which is linear in tangents or
sensitivities: its transpose is what reverse mode gives for it (`transposed`).

Source: the contract is that of `custom_jvp` and `custom_vjp` in JAX; transposing the linear part
after Radul, Paszke, Frostig, Johnson & Maclaurin, *You only linearize once*, POPL 2023.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from jitad import structures
from jitad.errors import ACTIVE, JitadError, JitadTypeError, JitadValueError
from jitad.immutable import immutable
from jitad.primitives import Primitive
from jitad.runtime import leaves, operators, tags
from jitad.runtime.forward import Bundle
from jitad.runtime.reverse import Cell
from jitad.runtime.tagged import Tagged, shape_of
from jitad.runtime.tags import LIVE, Application, alive
from jitad.structures import ZERO, Structure, conform, flatten, map_structure, unflatten
from jitad.values.array import ArrayHandle
from jitad.values.number import Number, in_rules
from jitad.where import caller

Function = Callable[..., Any]


@immutable
class Rules:
    """A function of positional arguments with its rules, those of `data` positions bound in.

    `jvp(primals, tangents)` gives the value and its tangent, `forward(*primals)` the value and what
    is kept, `backward(kept, sensitivity)` a sensitivity for each argument.
    """

    name: str
    f: Function
    jvp: Function | None
    forward: Function | None
    backward: Function | None
    refused: str = ""  # why no derivative of it may be taken: `name (file:line)`
    apart: Callable[[], AbstractContextManager[None]] = nullcontext  # around what writes nothing


class ClosesOver(JitadError):
    """A function with rules depends on what is differentiated otherwise than by its arguments."""


def newest_tag(values: Any) -> int:
    """The newest live tag among the numbers in these arguments; 0 where there is none."""
    top = 0
    for leaf in flatten(values)[0]:
        value = alive(leaves.content(leaf)) if leaves.is_number(leaf) else leaf
        if isinstance(value, Tagged):
            top = max(top, value.tag)
    return top


def call(rules: Rules, args: tuple[Any, ...]) -> Any:
    """The function's value; where arguments are tagged, with the derivative that its rules give."""
    tag = newest_tag(args)
    if not tag:
        return rules.f(*args)
    if rules.refused:
        tags.REFUSED.setdefault(tag, {})[rules.refused, ACTIVE] = caller()
    flat, structure = flatten(args)
    below = unflatten(structure, [_below(leaf, tag) for leaf in flat])
    tagged = [_number(leaf, tag) for leaf in flat]
    forwards = any(type(n) is Bundle for n in tagged)
    run = _forwards if forwards else _backwards
    return _unwritten(rules.name, below, run, rules, tag, below, tagged, structure)


def _unwritten(name: str, given: Any, f: Function, *args: Any) -> Any:
    """f(*args), which must not write to the arrays it was given."""
    handles = [a for a in flatten(given)[0] if isinstance(a, ArrayHandle)]
    before = [a.content for a in handles]
    out = f(*args)
    if any(a.content is not c for a, c in zip(handles, before, strict=True)):
        raise JitadError(
            f"{name} has derivative rules, and writes to an array that it was given", caller(),
            "Let it return what is new: a rule tells nothing of other effects.",
        )  # fmt: skip
    return out


def _number(leaf: Any, tag: int) -> Bundle | Cell | None:
    """The number with this tag that a leaf is."""
    if not leaves.is_array(leaf) and not isinstance(leaf, Number):
        return None
    value = alive(leaves.content(leaf))
    return value if isinstance(value, (Bundle, Cell)) and value.tag == tag else None


def _below(leaf: Any, tag: int) -> Any:
    """A leaf of the arguments without the tag."""
    number = _number(leaf, tag)
    if number is None:
        return leaves.passive(leaf)
    return _dressed(number.primal, leaf)


def _dressed(content: Any, like: Any) -> Any:
    return ArrayHandle(content) if leaves.is_array(like) else content


def _content(rules: Rules, leaf: Any, tag: int) -> Any:
    """A result of a rule, which must not depend on what is differentiated in other ways."""
    value = alive(leaves.content(leaf)) if leaves.is_number(leaf) else leaf
    if isinstance(value, Tagged) and value.tag >= tag:
        raise ClosesOver(
            f"{rules.name} has derivative rules, but takes a number that is differentiated from "
            "around it", caller(), "Pass the number to it as an argument.",
        )  # fmt: skip
    return value


# -- forward mode ---------------------------------------------------------------------------------


def _forwards(
    rules: Rules, tag: int, below: Any, tagged: list[Any], structure: Structure
) -> Any:
    primals = tuple(below)
    flat, _ = flatten(primals)
    given = [leaves.zero_of(leaf) if n is None else _dressed(n.tangent, leaf)
             for leaf, n in zip(flat, tagged, strict=True)]  # fmt: skip
    tangents = unflatten(structure, given)
    if rules.jvp is not None:
        out = rules.jvp(primals, tangents)
        value, tangent = pair(rules.name, "jvp", out, "(value, tangent)")
    else:
        assert rules.forward is not None and rules.backward is not None
        out = rules.forward(*primals)
        value, kept = pair(rules.name, "forward", out, "(value, what to keep)")
        zeros = unflatten(flatten(value)[1], map(leaves.zero_of, flatten(value)[0]))
        _, shape = flatten(primals)

        def pulled(sensitivity: Any) -> Any:
            found = sensitivities(rules, kept, sensitivity, primals, shape)
            return [_dressed(0.0 if ct is ZERO else ct, leaf) if not shape_of(leaf) or (
                ct is not ZERO) else leaves.zero_of(leaf) for ct, leaf in zip(
                    found, flat, strict=True) if leaves.is_real(leaf)]  # fmt: skip

        wanted = [d for d, leaf in zip(given, flat, strict=True) if leaves.is_real(leaf)]
        (tangent,) = transposed(rules.name, pulled, (zeros,), wanted)
    values, form = flatten(value)
    ts = conform(tangent, form, f"{rules.name}: the tangent that its rule gives", "the value")
    out_leaves = []
    for leaf, t, path in zip(values, ts, form.paths(), strict=True):
        y = _content(rules, leaf, tag)
        if t is ZERO or not leaves.is_real(leaf):
            out_leaves.append(leaf)
            continue
        d = operators.matching(t, leaf, f"{rules.name}: the tangent that its rule gives", path)
        _content(rules, t, tag)
        out_leaves.append(_dressed(Bundle(tag, y, d), leaf))
    return unflatten(form, out_leaves)


# -- reverse mode ---------------------------------------------------------------------------------


class _Cotangents(dict[int, Any]):
    """What has reached a hub so far: a cotangent by number of the result."""

    def __add__(self, other: _Cotangents) -> _Cotangents:
        return _Cotangents(self | other)


def _pull(o: Any, cotangents: Any, *args: Any, pull: Function) -> Any:
    return pull(cotangents)


# Never applied: `_backwards` makes their cells.
_HUB = Primitive("rule", lambda *_, **__: None, lambda *_, **__: (), vjp=_pull)
_RESULT = Primitive(
    "result of a rule", lambda *_, **__: None, lambda *_, **__: (),
    vjp=lambda o, ct, hub, y, *, k: (_Cotangents({k: ct}),),
)  # fmt: skip


def _backwards(
    rules: Rules, tag: int, below: Any, tagged: list[Any], structure: Structure
) -> Any:
    primals = tuple(below)
    if rules.forward is not None:
        out = rules.forward(*primals)
        value, kept = pair(rules.name, "forward", out, "(value, what to keep)")
    elif newest_tag(primals):  # derivatives of the derivative see the value that the rule gives
        assert rules.jvp is not None
        zeros = unflatten(structure, map(leaves.zero_of, flatten(primals)[0]))
        out = rules.jvp(primals, zeros)
        value, kept = pair(rules.name, "jvp", out, "(value, tangent)")[0], None
    else:
        value, kept = rules.f(*primals), None
    values, form = flatten(value)
    contents = [_content(rules, leaf, tag) for leaf in values]
    likes = [leaves.passive(leaf) for leaf in values]

    def pull(cotangents: _Cotangents) -> tuple[Any, ...]:
        seeds = [leaves.zero_of(like) if k not in cotangents else _dressed(cotangents[k], like)
                 for k, like in enumerate(likes)]  # fmt: skip
        sensitivity = unflatten(structures.sensitivities(form), seeds)
        with _outside_rules():
            if rules.backward is not None:
                found = sensitivities(rules, kept, sensitivity, primals, structure)
            else:
                found = _from_jvp(rules, primals, structure, sensitivity)
        return tuple(None if ct is ZERO else ct for ct in found)

    tape = LIVE[tag]
    hub = Cell(tag, len(tape), None, _HUB, tuple(tagged), {"pull": pull})
    tape.append(hub)
    out_leaves = []
    for k, (leaf, y) in enumerate(zip(values, contents, strict=True)):
        if not leaves.is_real(leaf):
            out_leaves.append(leaf)
            continue
        cell = Cell(tag, len(tape), y, _RESULT, (hub,), {"k": k})
        tape.append(cell)
        out_leaves.append(_dressed(cell, leaf))
    return unflatten(form, out_leaves)


def _from_jvp(
    rules: Rules, primals: tuple[Any, ...], structure: Structure, sensitivity: Any
) -> list[Any]:
    """The pullback that follows from a forward rule."""
    flat, _ = flatten(primals)
    zeros = [leaves.zero_of(leaf) for leaf in flat]
    real = [k for k, leaf in enumerate(flat) if leaves.is_real(leaf)]

    def pushed(*tangents: Any) -> Any:
        full = list(zeros)
        for k, t in zip(real, tangents, strict=True):
            full[k] = t
        assert rules.jvp is not None
        with rules.apart():  # the value was computed before
            out = rules.jvp(primals, unflatten(structure, full))
        return pair(rules.name, "jvp", out, "(value, tangent)")[1]

    found = transposed(rules.name, pushed, tuple(zeros[k] for k in real), sensitivity)
    out: list[Any] = [ZERO] * len(flat)
    for k, ct in zip(real, found, strict=True):
        out[k] = leaves.content(ct)
    return out


def sensitivities(
    rules: Rules, kept: Any, sensitivity: Any, primals: tuple[Any, ...], structure: Structure
) -> list[Any]:
    """What the backward rule gives, leaf by leaf of the arguments, as contents or `ZERO`."""
    assert rules.backward is not None
    given = rules.backward(kept, sensitivity)
    cts = conforming(rules.name, given, primals, structure)
    flat, _ = flatten(primals)
    out: list[Any] = []
    for ct, leaf, path in zip(cts, flat, structure.paths(), strict=True):
        if ct is ZERO or not leaves.is_real(leaf):
            out.append(ZERO)
        else:
            what = f"{rules.name}: the sensitivity that its rule gives"
            out.append(operators.matching(ct, leaf, what, path))
    return out


def conforming(name: str, given: Any, primals: tuple[Any, ...], structure: Structure) -> list[Any]:
    """The leaves of what a backward rule gives, one sensitivity an argument; `None` is zero."""
    if not isinstance(given, (tuple, list)) or len(given) != len(primals):
        what = f"{len(given)}" if isinstance(given, (tuple, list)) else f"a {type(given).__name__}"
        raise JitadValueError(
            f"{name}: the backward rule gave {what} for {len(primals)} arguments", caller(),
            "Return a tuple with one sensitivity an argument, None where it is zero.",
        )  # fmt: skip
    whole = tuple(ZERO if g is None and p is not None else g
                  for g, p in zip(given, primals, strict=True))  # fmt: skip
    structure = structures.sensitivities(structure)
    return conform(whole, structure, f"{name}: what the backward rule gives", "the arguments")


def pair(name: str, rule: str, out: Any, what: str) -> tuple[Any, Any]:
    """The two things that a rule must return."""
    if not isinstance(out, (tuple, list)) or len(out) != 2:
        raise JitadTypeError(
            f"{name}: its {rule} rule must return {what}, not a {type(out).__name__}", caller(),
            f"End it with `return {what.strip('()').replace('what to keep', 'kept')}`.",
        )  # fmt: skip
    return out[0], out[1]


class _outside_rules:
    """The user's rule computes with arrays as all user code does."""

    def __enter__(self) -> None:
        self.depth, in_rules.depth = in_rules.depth, 0
        self.errors = np.errstate()
        self.errors.__enter__()

    def __exit__(self, *exception: Any) -> None:
        self.errors.__exit__(*exception)
        in_rules.depth = self.depth


# -- functions that the engine brings along -----------------------------------------------------


def stopped(value: Any) -> Any:
    """The value without any tag: no application sees how it depends on its inputs."""

    def base(leaf: Any) -> Any:
        content = leaves.content(leaf)
        return _dressed(content.base, leaf) if isinstance(content, Tagged) else leaf

    return map_structure(base, value)


def checkpointed(name: str, f: Function, args: tuple[Any, ...]) -> Any:
    """The value of f, which is run again for its derivative instead of being recorded.

    Where f takes what is differentiated from around it, it is recorded after all.
    """
    def run(*primals: Any) -> Any:
        given = tuple(map_structure(leaves.passive, a) for a in primals)
        return _unwritten(name, given, f, *given)

    rules = Rules(
        name, f,
        lambda primals, tangents: operators.jvp(run, primals, tangents),
        lambda *primals: (run(*primals), primals),
        lambda primals, sensitivity: operators.vjp(run, *primals)[1](sensitivity),
    )  # fmt: skip
    try:
        return call(rules, args)
    except ClosesOver:
        return f(*args)


# -- linear functions -----------------------------------------------------------------------------


def transposed(name: str, linear: Function, zeros: tuple[Any, ...], sensitivity: Any) -> Any:
    """The transpose of a linear function, applied to a sensitivity of its result.

    The pullback of a linear function is the same everywhere, so it is taken at zero.  It is taken
    under a probe, a tangent of each argument: where the result carries that, the function is not
    linear.
    """
    with Application() as probe:
        tag = probe.tag

        def probed(leaf: Any) -> Any:
            if not leaves.is_real(leaf):
                return leaf
            zero = leaves.content(leaf)
            return _dressed(Bundle(tag, zero, zero), leaf)

        flat, structure = flatten(zeros)
        point = unflatten(structure, map(probed, flat))
        pullback = operators.vjp(linear, *point)[1]
        out = pullback(sensitivity)
        for leaf in flatten(out)[0]:
            if _number(leaf, tag) is not None:
                raise JitadError(
                    f"{name}: the other mode can't be derived from its rule, which is not linear "
                    "in tangents or sensitivities", caller(), "Give it rules for both modes.",
                )  # fmt: skip
    return out
