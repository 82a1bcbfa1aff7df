"""How does a call get into a kernel, and its results back to the user?

An entry is a small generated function for one specialisation: it takes what the user passes,
checks its structure, its types and what the trace relied on, reads the captured values as they are
now, calls the kernel, and puts the result together.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from jitad.calls import outputs
from jitad.calls.results import result_expression
from jitad.emit import native
from jitad.structured import WithFields, is_like
from jitad.structures import Structure, is_one, registered
from jitad.tape.types import Array
from jitad.trace.around.paths import Guard, Path, by_keys, cell_of, of_type, part_of
from jitad.trace.around.rows import Columns, Kind, Rows, column, columns
from jitad.trace.joins.forms import Record
from jitad.trace.ongoing import alone
from jitad.trace.traced import Traced

_serial = itertools.count()
_FEW = 8  # arrays that are compared in the entry itself
ABSENT = object()
_IN_64_BITS = "-0x8000000000000000 <= {} < 0x8000000000000000"
LOOKUP = (AttributeError, LookupError, ValueError, TypeError)


def finish(traced: Traced, flat: tuple[Any, ...], function: Any, args: Any, kwargs: Any) -> Any:
    """The user's result; what the call writes is written now, the kernel having succeeded."""
    if not traced.commits:
        return traced.output.rebuild(flat, function, args, kwargs)
    from jitad.calls.overlap import check_overlap  # not needed for what is found on disk

    with alone():
        result, write = traced.result(flat, function, args, kwargs)
        check_overlap(traced, function, args, kwargs)
        return write() or result


class Source:
    """Generated code and the objects it names."""

    def __init__(self, function: Any, named: bool = False, **env: Any) -> None:
        self.function, self.named = function, named
        self.env: dict[str, Any] = env
        self.no_ones = False  # arguments with an extent of 1 don't fit
        self.looked_at: set[Path] = set()  # leaves whose kind the kernel's direct way tests
        self.later: list[str] = []  # those tests, where it is not gone
        self.values: dict[Path, str] = {}  # variables that hold what is at a path
        self.found: dict[Path, str] = {}  # expressions for parts of the arguments

    def name(self, prefix: str, value: Any) -> str:
        text = f"{prefix}{len(self.env)}"
        self.env[text] = value
        return text

    def at(self, path: Path) -> str:
        """An expression for what is found at a path now."""
        match path.root:
            case ("arg", k):
                text, known = f"a{k}", None
            case "function":
                text, known = "", self.function
            case ("kwarg", name):
                text, known = f"kwargs[{name!r}]", None
            case root:
                text, known = "", root.thing
        steps = path.steps
        for n in range(len(steps), -1, -1):  # the longest part that has a name
            part = self.found.get(Path(path.root, steps[:n]))
            if part is not None:
                text, known, steps = part, None, steps[n:]
                break
        for kind, key in steps:
            if known is not None and is_constant(known, kind, key):
                known = getattr(known, key)
                continue
            if kind == "cell":
                if isinstance(known, FunctionType):
                    text, known = self.name("cell", cell_of(known, key)) + ".cell_contents", None
                    continue
                owner = text or self.name("thing", known)
                text = f"{self.name('cell_of', cell_of)}({owner}, {key!r}).cell_contents"
                known = None
                continue
            owner = text or self.name("thing", known)
            known = None
            match kind:
                case "attr":
                    text = f"{owner}.{key}"
                case "item":
                    text = f"{owner}[{self.key(key)}]"
                case "global":
                    text = f"{owner}.__globals__[{key!r}]"
                case "default":
                    text = f"{owner}.__defaults__[{key}]"
                case "kwdefault":
                    text = f"{owner}.__kwdefaults__[{key!r}]"
                case "column":
                    text = f"{self.name('column', column)}({owner}, {key!r})"
                case "part":
                    text = f"{self.name('part_of', part_of)}({owner}, {key})"
        return text or self.name("thing", known)

    def test(self, guard: Guard) -> str:
        """An expression that is true where a guard holds."""
        if guard.kind in ("same", "apart"):
            negation = "" if guard.kind == "same" else "not "
            names = f"{self.at(guard.path)}, {self.at(guard.expected)}"
            return f"{negation}{self.name('is_one', is_one)}({names})"
        if guard.kind == "dtype":
            return self.of_type(guard)
        if guard.kind in ("value", "code", "is", "type"):
            now, expected = self.at(guard.path), self.name("expected", guard.expected)
            match guard.kind:
                case "value":
                    kind = self.name("kind", type(guard.expected))
                    zero = isinstance(guard.expected, (float, np.floating)) and guard.expected == 0
                    signed = f" and str({now}) == {str(guard.expected)!r}" if zero else ""
                    return f"type({now}) is {kind} and {now} == {expected}{signed}"
                case "code":
                    return f"{now}.__code__ is {expected}"
                case "is":
                    return f"{now} is {expected}"
                case "type":
                    return f"type({now}) is {expected}"
        if guard.kind == "rows":
            return self.rows(self.at(guard.path), guard.path, guard.expected)
        if guard.kind == "keys":
            kind, *rest = guard.expected
            first, name = self.bind(self.at(guard.path), guard.path)
            keys = self.keys(name, kind, rest[0] if by_keys(kind) else range(rest[0]))
            return f"type({first}) is {self.name('kind', kind)} and {keys}"
        if guard.kind == "missing" and guard.path.steps[-1][0] in ("item", "global"):
            *around, (kind, key) = guard.path.steps
            owner = self.at(Path(guard.path.root, tuple(around)))
            inside = ".__globals__" if kind == "global" else ""
            return f"{self.key(key)} not in {owner}{inside}"
        given = "args, kwargs" if isinstance(guard.path.root, tuple) and self.named else "args"
        common = ""
        if guard.kind == "disjoint" and len(guard.expected) < _FEW:
            near, at = self.name("may_share", np.may_share_memory), self.at(guard.path)
            common = " or ".join(f"{near}({at}, {self.at(other)})" for other in guard.expected)
        holds = f"{self.name('guard', guard)}.holds(F, {given})"
        if guard.kind == "unchanged":  # mostly it is the same one
            return f"({self.at(guard.path)} is {self.name('expected', guard.expected)} or {holds})"
        return f"(not ({common}) or {holds})" if common else holds

    def match(
        self, text: str, s: Structure, leaves: Iterator[Any], path: Path, tests: list[str]
    ) -> None:
        """Tests that what `text` evaluates to has this structure, and leaves of these types."""
        if s.kind is type(None):
            tests.append(f"{text} is None")
            return
        first, name = self.bind(text, path)
        if s.kind is None:
            self._match_leaf(first, name, next(leaves), path, tests)
            return
        if s.kind is complex:
            self._match_complex(first, name, next(leaves), tests)
            next(leaves)
            return
        if s.kind is WithFields:
            tests.append(f"{self.name('is_like', is_like)}({first}, {self.name('as', s.extra)})")
        else:
            tests.append(f"type({first}) is {self.name('kind', s.kind)}")
        node = registered(s.kind)
        if node is not None:
            parts = f"{self.name('parts_of', node.parts)}({name})"
            first, parts = self.bind(parts, path.then("parts", None))
            tests.append(f"{first}[1] == {self.name('rest', s.extra)}")
            tests.append(f"len({parts}[0]) == {len(s.keys)}")
            places = [(f"{parts}[0][{k}]", "part", k) for k in s.keys]
        elif issubclass(s.kind, WithFields):
            places = [(f"{name}[{k!r}]", "item", k) for k in s.keys]
        elif issubclass(s.kind, (tuple, list, dict)):
            tests.append(self.keys(name, s.kind, s.keys))
            at = range(len(s.keys)) if issubclass(s.kind, tuple) else s.keys
            places = [(f"{name}[{self.key(k)}]", "item", k) for k in at]
        else:
            places = [(f"{name}.{k}", "attr", k) for k in s.keys]
        for (inner, step, key), child in zip(places, s.children, strict=True):
            self.match(inner, child, leaves, path.then(step, key), tests)

    def bind(self, text: str, path: Path) -> tuple[str, str]:
        """An expression that gives what is at a path a name, and the name."""
        if text.isidentifier():
            return text, text
        name = self.found[path] = f"p{len(self.found)}"
        return f"({name} := {text})", name

    def key(self, k: Any) -> str:
        return repr(k) if type(k) in (int, str) else self.name("key", k)

    def keys(self, name: str, kind: type, keys: Sequence[Any]) -> str:
        """A test of a container's length, or of a dict's keys and their order."""
        if by_keys(kind):
            return f"[*{name}] == {self.name('keys', list(keys))}"
        return f"len({name}) == {len(keys)}"

    def _match_leaf(
        self, first: str, name: str, leaf: Any, path: Path, tests: list[str]
    ) -> None:
        if isinstance(leaf, Rows):
            tests.append(self.rows(first, path, leaf.kind))
            return
        late = path in self.looked_at
        if late and isinstance(leaf, np.ndarray):
            if first != name:
                tests.append(f"{first} is not None")
            first, tests = name, self.later
        tests.append(f"type({first}) is {self.name('kind', type(leaf))}")
        if isinstance(leaf, np.ndarray):
            dtype = self.name("dtype", leaf.dtype)
            tests.append(f"{name}.dtype is {dtype} and {name}.ndim == {leaf.ndim}")
            if self.no_ones:
                tests.append(f"1 not in {name}.shape")
        elif type(leaf) is int:
            (self.later if late else tests).append(_IN_64_BITS.format(name))
        elif isinstance(leaf, str):
            tests.append(f"{name} == {self.name('text', leaf)}")

    def _match_complex(self, first: str, name: str, part: Any, tests: list[str]) -> None:
        """Tests of a complex value whose parts are like `part`."""
        if not isinstance(part, np.ndarray):
            kind = complex if type(part) is float else np.result_type(part, np.complex64).type
            tests.append(f"type({first}) is {self.name('kind', kind)}")
            return
        dtype = self.name("dtype", np.result_type(part, np.complex64))
        tests.append(f"type({first}) is {self.name('kind', type(part))}")
        tests.append(f"{name}.dtype is {dtype} and {name}.ndim == {part.ndim}")
        if self.no_ones:
            tests.append(f"1 not in {name}.shape")

    def of_type(self, guard: Guard) -> str:
        """A test of a captured value, which has a name from there on."""
        t, value = guard.expected, f"v{len(self.values)}"
        now = f"({value} := {self.at(guard.path)})"
        self.values[guard.path] = value
        if isinstance(t, Array):
            dtype = self.name("dtype", np.dtype(t.dtype))
            usual = (
                f"type{now} is {self.name('ndarray', np.ndarray)} and {value}.dtype is {dtype} "
                f"and {value}.ndim == {t.ndim}"
            )
        else:
            kind: type = np.dtype(t.dtype).type
            if t.py:
                kind = {"f": float, "i": int, "b": bool}[t.dtype[0]]
            usual = f"type{now} is {self.name('kind', kind)}"
            if kind is int:
                return f"{usual} and {_IN_64_BITS.format(value)}"
        return f"({usual} or {self.name('of_type', of_type)}({value}, {self.name('t', t)}))"

    def rows(self, now: str, path: Path, kind: Kind) -> str:
        """A test of a long list, whose columns have names from there on."""
        name = f"rows{len(self.env)}"
        for k, (at, _) in enumerate(columns(kind)):
            self.values[path.then("column", at)] = f"{name}[{k}]"
        return f"({name} := {self.name('columns', Columns(kind))}({now})) is not None"

    def run(self, lines: list[str], name: str) -> Any:
        """Execute the source so that tracebacks can show it; gives `entry`."""
        text = "\n".join(lines) + "\n"
        file = f"<jitad entry {next(_serial)} of {name}>"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        exec(compile(text, file, "exec"), self.env)
        return self.env["entry"]


def is_constant(owner: Any, kind: str, key: Any) -> bool:
    """The function inside a derivative operator never changes, nor what the operator does."""
    api = "jitad.operators.api"
    return kind == "attr" and key in ("f", "manner") and type(owner).__module__ == api


def is_fixed(path: Path, function: Any) -> bool:
    """Is it the compiled function itself, or what it was made with?"""
    at = function
    for kind, key in path.steps:
        if not is_constant(at, kind, key):
            return False
        at = getattr(at, key)
    return path.root == "function"


def asked(
    s: Source, traced: Traced, structure: Structure, leaves: list[Any]
) -> tuple[list[str], list[str]]:
    """The names of positional arguments, and tests that a call is one that the trace is for."""
    positional, named = structure.children
    supply = iter(leaves)
    tests: list[str] = []
    names = [f"a{k}" for k in positional.keys]
    for name, part in zip(names, positional.children, strict=True):
        s.match(name, part, supply, Path(("arg", int(name[1:]))), tests)
    if named.keys:
        tests.append(f"[*kwargs] == {s.name('keys', list(named.keys))}")
    for key, part in zip(named.keys, named.children, strict=True):
        s.match(f"kwargs[{key!r}]", part, supply, Path(("kwarg", key)), tests)
    tests += [
        s.test(g) for g in traced.guards if g.kind == "code" or not is_fixed(g.path, s.function)
    ]
    return names, tests


def python_entry(
    traced: Traced, kernel: Any, function: Any, structure: Structure, leaves: list[Any],
    slow: Callable[..., Any], general: Callable[..., Any], from_types: bool = False,
    into: str | None = None,
) -> Callable[..., Any] | None:  # fmt: skip
    """A function for arguments of exactly this structure and types; all others go to `slow`.

    `structure` and `leaves` are those of `(args, kwargs)`.  The entry is called as the function is,
    calls with keywords go to `general`; made for keywords, it is called with `(args, kwargs)`.
    With `into` it is called with `out` before them: `"gradient"` says that `out` is for the second
    of two results.  None if this can't be done in the kernel's direct way.
    """
    s = Source(
        function, bool(structure.children[1].keys), slow=slow, general=general, kernel=kernel,
        misses=traced.misses, LOOKUP=LOOKUP, absent=ABSENT, finish=finish, traced=traced, F=function
    )  # fmt: skip
    s.no_ones = from_types
    direct = None if from_types else native.direct(kernel, traced.tape.body.params)
    if direct is not None:
        s.env["direct"] = direct
        s.looked_at = set(parameters(traced))
    names, tests = asked(s, traced, structure, leaves)
    named = structure.children[1]
    operands = [s.values.get(p) or s.at(p) for p in parameters(traced)]
    call = f"({', '.join(operands)})"
    if into is not None:
        return _entry_into(s, traced, names, tests, operands, direct, into)
    simple = None if traced.commits else result_expression(traced.output.form, s)
    args = f"({''.join(n + ', ' for n in names)})"
    given = "args, kwargs" if named.keys else f"{args}, {{}}"
    done = f"return {simple or f'finish(traced, r, F, {given})'}"
    run = [f"r = kernel{call}", done]
    if direct is not None:
        later = f"if {' and '.join(s.later) or 'True'}:"
        run = [f"r = direct{call}", "if r is not NotImplemented:", f"    {done}", later,
               *(f"    {line}" for line in run)]  # fmt: skip
    if named.keys:
        head, again = "args, kwargs", "*args, **kwargs"
        take, otherwise = [f"{args} = args"] if names else [], []
    else:  # a call may give fewer arguments, or more
        own = [*(f"{n}=absent" for n in names), "/"] if names else []
        head = ", ".join([*own, "*more", "**named"])
        again = f"*[a for a in {args} if a is not absent], *more"
        take = [f"args = {args}"] if any("(F, args" in t for t in tests) else []
        tests.insert(0, "not (more or named)")
        otherwise = ["    if named:", f"        return general({again}, **named)"]
    lines = [
        f"def entry({head}):",
        "    try:",
        *(f"        {line}" for line in take),
        f"        known = {' and '.join(tests) or 'True'}",
        "    except LOOKUP:",  # what a guard looks for may be gone altogether
        "        known = False",
        "    if known:",
        "        try:",
        *(f"            {line}" for line in run),
        "        except misses:",
        "            pass",
        *otherwise,
        f"    return slow({again})",
    ]
    return s.run(lines, traced.tape.name)


def _entry_into(
    s: Source, traced: Traced, names: list[str], tests: list[str], operands: list[str],
    direct: Any, into: str,
) -> Callable[..., Any] | None:  # fmt: skip
    """An entry that hands the kernel the arrays to copy the results to."""
    form = traced.output.form
    if into == "gradient":
        at = outputs.places(form.parts[1], "out", s.name) if isinstance(form, Record) else None
    else:
        at = outputs.places(form, "out", s.name)
    whole = result_expression(form, s)
    if direct is None or traced.commits or at is None or whole is None:
        return None
    arrays = [k for k, t in enumerate(direct_results(traced)) if isinstance(t, Array)]
    if len(arrays) != len(at):
        return None
    outs = [f"o{k}" for k in range(len(at))]
    found = " and ".join(f"({o} := {text}) is not None" for o, text in zip(outs, at, strict=True))
    fit = " and ".join(f"r[{k}] is {o}" for k, o in zip(arrays, outs, strict=True))
    head = ", ".join(["out=absent", *(f"{n}=absent" for n in names), "*more"])
    again = "".join(f"{n}, " for n in names)
    lines = [
        f"def entry({head}):",
        "    try:",
        f"        known = not more and {' and '.join([found, *tests])}",
        "    except LOOKUP:",
        "        known = False",
        "    if known:",
        "        try:",
        f"            r = direct({', '.join([*operands, *outs])})",
        "            if r is not NotImplemented:",
        f"                return {whole} if {fit} else misfit({whole}, out)",
        "        except misses:",
        "            pass",
        f"    return slow(out, *[a for a in ({again}) if a is not absent], *more)",
    ]
    pair = into == "gradient"
    s.env["misfit"] = lambda r, out: (
        (r[0], outputs.write(r[1], out)) if pair else outputs.write(r, out)
    )
    return s.run(lines, traced.tape.name)


def direct_results(traced: Traced) -> list[Any]:
    """The types of the kernel's results, in order."""
    return [a.type for a in traced.tape.body.results]


def parameters(traced: Traced) -> list[Path]:
    """Where the kernel's arguments are found, in order."""
    of = {i.var: i.path for i in (*traced.inputs, *traced.captures)}
    return [of[v] for v in traced.tape.body.params]
