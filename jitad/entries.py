"""How does a call get into a kernel, from Python and from `@njit` code?

An entry is a small generated function for one specialisation: it takes what the user passes,
checks what the trace relied on, reads the captured values as they are now, calls the kernel, and
puts the result together.  That of Python checks the types first; that of native code is typed by
Numba.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba import types

from jitad.emit import numba_private
from jitad.errors import GuardMiss, JitadError, JitadTypeError
from jitad.structures import Structure, flatten
from jitad.tape.types import Array, Scalar, Type
from jitad.trace.captures import Guard, Path, cell_of, of_type, part_of
from jitad.trace.context import alone
from jitad.trace.join import Form, Handle, Number, Record
from jitad.trace.trace import Traced

_serial = itertools.count()
_ABSENT = object()
_IN_64_BITS = "-0x8000000000000000 <= {} < 0x8000000000000000"
_LIBRARY = (ModuleType, BuiltinFunctionType, np.ufunc)  # as in all @njit code, np stays np
LOOKUP = (AttributeError, LookupError, ValueError, TypeError)


def finish(traced: Traced, flat: tuple[Any, ...], function: Any, args: Any, kwargs: Any) -> Any:
    """The user's result; what the call writes is written now, the kernel having succeeded."""
    result = traced.output.rebuild(flat)
    if traced.commits:
        with alone():
            _check_overlap(traced, function, args, kwargs)
            for c in traced.commits:
                c.apply(flat, function, args, kwargs)
    return result


def _check_overlap(traced: Traced, function: Any, args: Any, kwargs: Any) -> None:
    """An array that is written shares no memory with another one that the kernel was given."""
    written = [c.path for c in traced.commits if c.slot == "content"]
    given = [i.path for i in (*traced.inputs, *traced.captures) if isinstance(i.type, Array)]
    for path in written:
        array = path.get(function, args, kwargs)
        for other in given:
            if other == path or not isinstance(array, np.ndarray):
                continue
            if _share_memory(array, other.get(function, args, kwargs)):
                raise JitadError(
                    f"{traced.tape.name} writes to {path}, which shares memory with {other}",
                    traced.tape.pos, "Pass a copy of one of them.",
                )  # fmt: skip


def _share_memory(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    if not np.may_share_memory(a, b):
        return False
    try:
        return np.shares_memory(a, b, 10_000)  # type: ignore[arg-type]  # NumPy's stub knows -1, 0
    except np.exceptions.TooHardError:
        return True


class _Source:
    """Generated code and the objects it names."""

    def __init__(self, function: Any, **env: Any) -> None:
        self.function = function
        self.env: dict[str, Any] = env
        self.values: dict[Path, str] = {}  # variables that hold what is at a path

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
            case ("kwarg", _):
                raise KeyError(path)
            case root:
                text, known = "", root.thing
        for kind, key in path.steps:
            if known is not None and _is_constant(known, kind, key):
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
                    text = f"{owner}[{self.name('key', key)}]"
                case "global":
                    text = f"{owner}.__globals__[{key!r}]"
                case "default":
                    text = f"{owner}.__defaults__[{key}]"
                case "kwdefault":
                    text = f"{owner}.__kwdefaults__[{key!r}]"
                case "part":
                    text = f"{self.name('part_of', part_of)}({owner}, {key})"
        return text or self.name("thing", known)

    def test(self, guard: Guard) -> str:
        """An expression that is true where a guard holds."""
        if guard.kind in ("same", "apart"):
            negation = "" if guard.kind == "same" else "not "
            return f"{self.at(guard.path)} is {negation}{self.at(guard.expected)}"
        if guard.kind == "dtype":
            return self.of_type(guard)
        if guard.kind in ("value", "code", "is", "type"):
            now, expected = self.at(guard.path), self.name("expected", guard.expected)
            match guard.kind:
                case "value":
                    kind = self.name("kind", type(guard.expected))
                    return f"type({now}) is {kind} and {now} == {expected}"
                case "code":
                    return f"{now}.__code__ is {expected}"
                case "is":
                    return f"{now} is {expected}"
                case "type":
                    return f"type({now}) is {expected}"
        return f"{self.name('guard', guard)}.holds(F, args)"

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

    def run(self, lines: list[str], name: str) -> Any:
        """Execute the source so that tracebacks can show it; gives `entry`."""
        text = "\n".join(lines) + "\n"
        file = f"<jitad entry {next(_serial)} of {name}>"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        exec(compile(text, file, "exec"), self.env)
        return self.env["entry"]


def _is_constant(owner: Any, kind: str, key: Any) -> bool:
    """The function inside a derivative operator never changes."""
    return kind == "attr" and key == "f" and type(owner).__module__ == "jitad.api"


def python_entry(
    traced: Traced, kernel: Any, function: Any, args: tuple[Any, ...], slow: Callable[..., Any]
) -> Callable[..., Any]:
    """A function for arguments of exactly these types; all others it hands to `slow`."""
    s = _Source(
        function, ndarray=np.ndarray, slow=slow, GuardMiss=GuardMiss, kernel=kernel,
        absent=_ABSENT, LOOKUP=LOOKUP, finish=finish, traced=traced, F=function,
    )  # fmt: skip
    names = [f"a{k}" for k in range(len(args))]
    tests = []
    for name, a in zip(names, args, strict=True):
        if type(a) is np.ndarray:
            dtype = s.name("dtype", a.dtype)
            tests.append(
                f"type({name}) is ndarray and {name}.dtype is {dtype} and {name}.ndim == {a.ndim}"
            )
        else:
            tests.append(f"type({name}) is {s.name('kind', type(a))}")
            if type(a) is int:
                tests.append(_IN_64_BITS.format(name))
    tests += [s.test(g) for g in traced.guards]
    call = f"kernel({', '.join(s.values.get(p) or s.at(p) for p in parameters(traced))})"
    simple = None if traced.commits else result_expression(traced.output.form)
    everything = f"({''.join(n + ', ' for n in names)})"
    needs_args = any("args)" in t for t in tests)
    optional = [f"{name}=absent" for name in names]  # a call may give fewer of them
    run = f"finish(traced, {call}, F, {everything}, {{}})"
    lines = [
        f"def entry({', '.join([*optional, '*more'])}):",
        "    try:",
        *([f"        args = {everything}"] if needs_args else []),
        f"        known = not more and {' and '.join(tests) or 'True'}",
        "    except LOOKUP:",  # what a guard looks for may be gone altogether
        "        known = False",
        "    if known:",
        "        try:",
        *([f"            return {run}"] if simple is None
          else [f"            r = {call}", f"            return {simple}"]),
        "        except GuardMiss:",
        "            pass",
        f"    return slow(*[a for a in {everything} if a is not absent], *more)",
    ]  # fmt: skip
    return s.run(lines, traced.tape.name)


def parameters(traced: Traced) -> list[Path]:
    """Where the kernel's arguments are found, in order."""
    of = {i.var: i.path for i in (*traced.inputs, *traced.captures)}
    return [of[v] for v in traced.tape.body.params]


def result_expression(form: Form) -> str | None:
    """The expression that makes a result of tuples from the kernel's tuple `r`.

    None where it takes more than an expression.
    """
    count = itertools.count()

    def build(f: Form) -> str | None:
        match f:
            case Number() | Handle():
                return f"r[{next(count)}]"
            case Record(of) if type(of.value) is tuple:
                parts = [build(p) for p in f.parts]
                if any(p is None for p in parts):
                    return None
                return f"({''.join(f'{p}, ' for p in parts)})"
        return None

    return build(form)


# -- native callers -------------------------------------------------------------------------------


def of_types(kinds: tuple[Any, ...]) -> tuple[list[Array | Scalar], Structure]:
    """The abstract leaves of `(args, {})` for arguments of these Numba types, and its structure."""
    leaves: list[Array | Scalar] = []

    def part(t: Any) -> Any:
        if isinstance(t, types.BaseTuple):
            parts = [part(x) for x in t]
            made = getattr(t, "instance_class", None)
            return made(*parts) if made is not None else tuple(parts)
        leaves.append(_of_type(t))
        return 0.0

    return leaves, flatten((tuple(map(part, kinds)), {}))[1]


def _of_type(t: Any) -> Array | Scalar:
    match t:
        case types.Array():
            return Array(np.dtype(str(t.dtype)).str[1:], t.ndim)
        case types.Boolean():
            return Scalar("b1", True)
        case types.Integer() if t.bitwidth == 64 and t.signed:
            return Scalar("i8", True)
        case types.Float() if t == types.float64:
            return Scalar("f8", True)
        case types.Integer() | types.Float():
            return Scalar(np.dtype(str(t)).str[1:])
    raise JitadTypeError(
        f"a compiled function is called from @njit code with a {t}", None,
        "Numbers, arrays and tuples of them can be passed from native code.",
    )  # fmt: skip


def native_entry(traced: Traced, kernel: Any, function: Any, count: int) -> Any:
    """The function that `@njit` callers are linked to."""
    if traced.commits:
        raise JitadError(
            f"{traced.tape.name} writes to Python objects, which native code can't", None,
            "Call it from Python, or return the values.",
        )  # fmt: skip
    result = result_expression(traced.output.form)
    if result is None:
        raise JitadError(
            f"{traced.tape.name} returns something other than numbers, arrays and tuples", None,
            "Return tuples where @njit code is to call the function.",
        )  # fmt: skip
    names = [f"a{k}" for k in range(count)]
    outside = [
        g for g in traced.guards
        if not isinstance(g.path.root, tuple)
        and not (g.kind == "code" and _is_fixed(g.path, function))
        and not (g.kind == "is" and isinstance(g.expected, _LIBRARY))
    ]  # fmt: skip
    captured = {c.var: f"c[{k}]" for k, c in enumerate(traced.captures)}
    flat = [
        captured[v] if v in captured else _nested(path)
        for v, path in zip(traced.tape.body.params, parameters(traced), strict=True)
    ]
    s = _Source(function, kernel=kernel)
    lines = [f"def entry({', '.join(names)}):"]
    if captured or outside:
        # What was captured is read as it is now: never stale, at the price of entering Python.
        kinds = tuple(_numba_type(c.type) for c in traced.captures)
        read = numba_private.reader(_present(traced, outside, function), kinds)
        lines.append(f"    c = {s.name('read', read)}()")
    lines += [f"    r = kernel({', '.join(flat)})", f"    return {result}"]
    return numba.njit(s.run(lines, traced.tape.name), nogil=True, error_model="numpy")


def _present(traced: Traced, outside: list[Guard], function: Any) -> Callable[[], tuple[Any, ...]]:
    """A function that gives the captured values as they are now, if what is relied on holds."""

    def changed() -> JitadError:
        where = next((str(g.path) for g in outside if not g.holds(function)), "something")
        return JitadError(
            f"{traced.tape.name} relies on {where}, which has changed since it was compiled", None,
            "Call it from Python once, then compile the @njit function that calls it anew.",
        )  # fmt: skip

    s = _Source(function, LOOKUP=LOOKUP, changed=changed, whole=np.ascontiguousarray, F=function)
    tests = [s.test(g).replace("holds(F, args)", "holds(F)") for g in outside]
    values = [
        f"whole({s.values[c.path]})" if isinstance(c.type, Array) else s.values[c.path]
        for c in traced.captures
    ]
    lines = [
        "def entry():",
        "    try:",
        f"        if {' and '.join(tests) or 'True'}:",
        f"            return ({''.join(f'{v}, ' for v in values)})",
        "    except LOOKUP:",  # what is looked for may be gone altogether
        "        pass",
        "    raise changed()",
    ]
    return s.run(lines, traced.tape.name)


def _nested(path: Path) -> str:
    return f"a{path.root[1]}" + "".join(f"[{key}]" for _, key in path.steps)


def _is_fixed(path: Path, function: Any) -> bool:
    """Is it the compiled function itself?  Native callers take its code to stay what it is."""
    at = function
    for kind, key in path.steps:
        if not _is_constant(at, kind, key):
            return False
        at = getattr(at, key)
    return path.root == "function"


def _numba_type(t: Type) -> Any:
    assert isinstance(t, (Array, Scalar))
    element = numba.from_dtype(np.dtype(t.dtype))
    return types.Array(element, t.ndim, "C") if isinstance(t, Array) else element
