"""Does the engine compute what a random array program computes, and its derivative?

Values, shapes and dtypes are NumPy's.  Tangents are compared, element by element, with differences
of the program run in double precision; cotangents with tangents, by the dot product test.  A
program that has a kink or a jump where it is looked at is rejected: there, differences to the left
and to the right disagree.  So is one in which NumPy reads what it has just written, as it does in
`a[mask] = a[::-1]`.  A program whose last line NumPy refuses must be refused.
"""

from __future__ import annotations

import ast
import re
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import jitad
from tests.engines import ENGINES as MAIN
from tests.engines import as_emitted, in_place_of_a_kernel
from tests.properties.arrays.again import check_again
from tests.properties.arrays.generate import ERRORS, Generated
from tests.properties.arrays.running import fresh
from tests.properties.check import Documented, Outcome, Wrong, forget, load, outcome

ENGINES = MAIN | {"emitted": as_emitted}
WAYS = ("eager", "emitted", "tape", "native")

# What the engine may refuse of these programs, by a part of the message.
REFUSED: tuple[str, ...] = (
    "this may be the same as what was written meanwhile under another name",
    "may have been written to under another name",
    "einsum: axes called",
    "zero-size array to reduction operation",
    "of no values does nothing",
    "an array changes its extents in a loop",
    "which is not supported",  # float16
    "numbers of NumPy's float16 are not supported",
    "non-broadcastable output operand",
    "is not supported on complex numbers",
    "is not defined for complex numbers",
    "of complex arrays is not supported",
    "out= must be an array that the function made",  # of what NumPy gives as 0-d arrays
    "assignment destination is read-only",  # of np.einsum("ii->i", a)
    "input operand has more dimensions than allowed by the shape",
    "a condition on traced values chose what kind of thing is differentiated here",
    "before and after an iteration of this loop",
    "a condition on traced values chose what is iterated here",
    "an array is written in this loop under two names that part in it",
    "a number can't be written to",
    "has no attribute 'fill'",  # of NumPy's numbers, on which it does nothing
    "np.polyval without coefficients",
    "one after the other depends on an extent",  # and that on numbers: such calls run eagerly
    "the number of coefficients is not known while tracing",
    "the length of what is split into equal parts",
    "this may be a view of what was written meanwhile, or a copy",
    "np.squeeze meets an extent of",
    "np.resize of no elements gives zeros",
    "an empty list of",
    "the covariance of one row is a number",
    "float16 are not supported",
    "a value that is another kind of thing on each path can't take part in array arithmetic",
    "a complex value can't be stored in an array of",  # which NumPy lets pass, of no elements
    "this is a list of unknown length that holds an array",
    "np.histogram of no numbers has edges from 0 to 1",
    "that a condition on traced values chose can't be used here",
    "a number on one path and an array without axes on another",
    "conditions choose between more than",
    "how often np.rot90 turns is not known",
)

STRAIGHT = frozenset({"assign", "simple", "view", "store", "whole", "called"})  # without paths

NARROW = ("f4", "c8", "i2", "u2")  # functions of integers of 16 bits are of float32

Args = dict[str, Any]


def check(made: Generated, number: int, name: str, ways: tuple[str, ...] = WAYS[:2]) -> Outcome:
    """Run the program in these ways."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return _check(made, number, name, ways)
    finally:
        forget(name)
        forget(f"{name}_wide")
        forget(f"{name}_apart")


def _check(made: Generated, number: int, name: str, ways: tuple[str, ...]) -> Outcome:
    f = load(made.source, name)
    after = fresh(made.args)
    if made.raises is None:
        try:
            plain = f(**after)
        except Exception as e:
            return Outcome("failed", f"generator: {type(e).__name__}", traceback.format_exc())
        if not _same_apart(made, name, plain):
            return Outcome("rejected")
        wide = load(made.source.replace("float32", "float64"), f"{name}_wide")
        direction = _direction(made.args, number)
        try:
            wider = _widened(made.args)
            truth = _differences(wide, wider, direction)
            alike = np.allclose(_floats(plain), _floats(wide(**fresh(wider))), 1e-3, 1e-3)
        except Exception:
            return Outcome("rejected")
        if truth is None or not alike:  # `asarray(a, float)` is another array only if it is narrow
            return Outcome("rejected")
    narrow = "float32" in made.source or any(
        np.asarray(v).dtype.str[1:] in NARROW for v in made.args.values())

    def run(way: str) -> None:
        if made.raises is not None:
            _refuses("emitted" if way == "again" else way, f, made)
        elif way == "again":
            _again(f, made, name, number, 1e-3 if narrow else 1e-8)
        else:
            branches = way != "eager" and bool(made.features - STRAIGHT)
            _run(way, f, made.args, after, plain, truth, direction, number, narrow, branches)

    return outcome(ways, run, REFUSED)


def _again(f: Any, made: Generated, name: str, number: int, rounding: float) -> None:
    names = active(made.args)
    at = [list(made.args).index(name) for name in names]
    is_complex = bool(re.search(r"\dj\b|complex|fft", made.source)) or any(
        np.iscomplexobj(v) for v in made.args.values())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_again(
            f, _apart(made, f"{name}_apart"), made.args, number, rounding,
            (lambda p, t, *rest: _jvp(f, at, p, t, rest),
             lambda p, ct, *rest: _vjp(f, at, p, ct, rest)), names, is_complex,
        )  # fmt: skip


def _refuses(way: str, f: Callable[..., Any], made: Generated) -> None:
    """What NumPy refuses is refused, if by another class of errors now and then."""
    args = list(fresh(made.args).values())
    assert made.raises is not None
    try:
        if way == "eager":
            some, rest = _split(made.args)
            jitad.jvp(lambda *x: f(*rest(x)), tuple(some), tuple(_ones(some)))
        else:
            ENGINES[way](jitad.jit(f) if way == "native" else f, *args)
    except (*ERRORS, jitad.JitadError, np.exceptions.ComplexWarning):  # warnings are errors here
        return
    raise Wrong(f"no error: NumPy raises {made.raises.__name__}")


# -- the truth ------------------------------------------------------------------------------------


class _Apart(ast.NodeTransformer):
    """What is stored into elements is copied first; powers and lists of rows are looked at."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Pow):
            return node
        return ast.Call(ast.Name("_power", ast.Load()), [node.left, node.right], [])

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(ast.Attribute(attr="reduce")):
                return ast.Call(ast.Name("_reduced", ast.Load()), [node], [])
            case ast.Call(ast.Attribute(attr="array"), [ast.ListComp() as rows, *_]):
                node.args[0] = ast.Call(ast.Name("_rows", ast.Load()), [rows], [])
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        self.generic_visit(node)
        if any(isinstance(t, ast.Subscript) for t in node.targets):
            node.value = ast.Call(ast.Name("_apart", ast.Load()), [node.value], [])
        return node


class Steep(Exception):
    """A power of zero, or of less, to what is not an int; what no elements, or rows, make."""


def _power(x: Any, y: Any) -> Any:
    """Its slopes are infinite or nan, and zero times that is nan."""
    if np.asarray(y).dtype.kind in "fc" and np.any(np.real(x) <= 0):
        raise Steep
    return x**y


def _reduced(x: Any) -> Any:
    """`np.logaddexp.reduce` of nothing is infinite, and so is the slope of its square."""
    if np.any(np.isinf(x)):
        raise Steep
    return x


def _rows(x: list[Any]) -> list[Any]:
    """An array of an empty list has one axis, however many its rows would have."""
    if not x:
        raise Steep
    return x


def _apart(made: Generated, name: str) -> Any:
    tree = ast.fix_missing_locations(_Apart().visit(ast.parse(made.source)))
    f = load(ast.unparse(tree), name)
    f.__globals__.update(
        _apart=lambda v: v.copy() if isinstance(v, np.ndarray) else v,
        _power=lambda x, y: x**y, _reduced=lambda x: x, _rows=lambda x: x,
    )  # fmt: skip
    return f


def _same_apart(made: Generated, name: str, plain: Any) -> bool:
    """Does NumPy give the same if what is stored into an array is no part of it?

    And is no power taken that is not smooth?
    """
    f = _apart(made, f"{name}_apart")
    f.__globals__.update(_power=_power, _reduced=_reduced, _rows=_rows)
    try:
        results = f(**fresh(made.args))
    except Steep:
        return False
    return all(
        np.array_equal(x, y, equal_nan=np.asarray(x).dtype.kind in "fc")
        for x, y in zip(results, plain, strict=True)
    )


def active(args: Args) -> list[str]:
    return [name for name, v in args.items() if np.asarray(v).dtype.kind in "fc"]


def _direction(args: Args, number: int) -> dict[str, Any]:
    random = np.random.default_rng(number + 10**6)

    def drawn(v: Any) -> Any:
        shape, dtype = np.shape(v), np.asarray(v).dtype
        d = random.uniform(-1, 1, shape)
        if dtype.kind == "c":
            d = d + 1j * random.uniform(-1, 1, shape)
        return np.asarray(d).astype(dtype) if isinstance(v, np.ndarray) else float(d)

    return {name: drawn(args[name]) for name in active(args)}


def _widened(args: Args) -> Args:
    return {name: v.astype(np.float64) if isinstance(v, np.ndarray) and v.dtype == np.float32
            else v for name, v in args.items()}  # fmt: skip


def _moved(args: Args, direction: dict[str, Any], h: float) -> Args:
    out = fresh(args)
    for name, d in direction.items():
        if isinstance(out[name], np.ndarray):
            out[name][...] += h * d
        else:
            out[name] += h * d
    return out


def _floats(results: Any) -> np.ndarray:
    """All numbers that are floats, in a row; complex ones as two."""
    parts = [np.ravel(np.asarray(r)) for r in results if np.asarray(r).dtype.kind in "fc"]
    whole = np.concatenate([np.zeros(0, complex), *parts])
    return np.concatenate([whole.real, whole.imag])


def _others(results: Any) -> list[Any]:
    return [np.asarray(r) for r in results if np.asarray(r).dtype.kind not in "fc"]


def _differences(f: Any, args: Args, direction: dict[str, Any]) -> np.ndarray | None:
    """The tangents of all floats, or None where the program isn't smooth."""
    h = 1e-3
    middle = f(**fresh(args))
    at = _floats(middle)
    sides = []
    for step in (h, -h, h / 2, -h / 2):
        results = f(**_moved(args, direction, step))
        if any(not np.array_equal(x, y) for x, y in zip(_others(results), _others(middle))):
            return None
        there = _floats(results)
        if there.shape != at.shape:
            return None
        sides.append((there - at) / step)
    right, left, nearer_right, nearer_left = sides
    far, near = (right + left) / 2, (nearer_right + nearer_left) / 2
    slope = (4 * near - far) / 3
    scale = 1 + np.max(np.abs(slope), initial=0.0)
    bend, nearer_bend = np.abs(right - left), np.abs(nearer_right - nearer_left)
    smooth = (nearer_bend <= 0.6 * bend + 1e-8 * scale) & (bend <= 0.1 * scale)
    exact = np.abs(near - far) <= 1e-5 * scale
    if not np.all(smooth & exact) or scale >= 500:
        return None
    return slope if _is_slope(f, args, direction, slope, 1e-4 * scale) else None


def _is_slope(
    f: Any, args: Args, direction: dict[str, Any], slope: np.ndarray, allowed: float
) -> bool:
    """A staircase, such as 7 // a near 0, looks like a steep line from afar."""
    h = 1e-6
    there, here = (_floats(f(**_moved(args, direction, step))) for step in (h, -h))
    return bool(np.all(np.abs((there - here) / (2 * h) - slope) <= allowed))


# -- the engines ----------------------------------------------------------------------------------


def _split(args: Args) -> tuple[list[Any], Callable[[Any], list[Any]]]:
    """What is differentiated by; and how all arguments are made from it."""
    names = active(args)
    given = fresh(args)

    def everything(some: Any) -> list[Any]:
        return [some[names.index(name)] if name in names else v for name, v in given.items()]

    return [given[name] for name in names], everything


def _ones(some: list[Any]) -> list[Any]:
    return [np.ones_like(x) if isinstance(x, np.ndarray) else 1.0 for x in some]


def _run(
    way: str, f: Any, args: Args, after: Args, plain: Any, truth: np.ndarray,
    direction: dict[str, Any], number: int, narrow: bool, branches: bool,
) -> None:  # fmt: skip
    names = active(args)
    positions = [list(args).index(name) for name in names]
    rounding = 1e-3 if narrow else 1e-11
    given = list(fresh(args).values())

    engine = ENGINES[way]
    some = [given[k] for k in positions]
    tangents = [direction[name] for name in names]
    values, slopes = engine(
        lambda p, t, *others: _jvp(f, positions, p, t, others), tuple(some), tuple(tangents),
        *fresh(args).values(),
    )  # fmt: skip
    _same_values("forward", values, plain, rounding, branches)
    scale = 1 + np.max(np.abs(truth), initial=0.0)
    loose = 2e-3 if narrow else 1e-5
    floats = [np.asarray(r).dtype.kind in "fc" for r in plain]
    slope = _floats([t for t, is_float in zip(slopes, floats, strict=True) if is_float])
    _close("forward mode", slope, truth, loose * scale)
    seeds = _seeds(plain, number)
    values, adjoints = engine(
        lambda p, ct, *others: _vjp(f, positions, p, ct, others), tuple(some), seeds,
        *fresh(args).values(),
    )
    _same_values("reverse", values, plain, rounding, branches)
    outer = sum(_dot(ct, t) for ct, t in zip(seeds, slopes, strict=True))
    inner = sum(_dot(x, t) for x, t in zip(adjoints, tangents, strict=True))
    scale = 1 + sum(float(np.sum(np.abs(x))) for x in adjoints)
    _close("reverse mode", inner, outer, (1e-3 if narrow else 1e-9) * scale)
    for name, x, a in zip(names, adjoints, some, strict=True):
        _alike(f"adjoint of {name}", x, a)
    for name, x, a in zip(args, given, args.values(), strict=True):
        _close(f"argument {name} of a derivative, which it may not write to", x, a, 0.0)
    given = list(fresh(args).values())
    primal = in_place_of_a_kernel if way == "eager" else engine
    values = primal(f, *given) if way != "native" else jitad.jit(f)(*given)
    _same_values("the primal alone", values, plain, rounding, branches)
    for name, x, a in zip(args, given, after.values(), strict=True):
        _close(f"argument {name}, which the program wrote to", x, a, rounding)


def _jvp(f: Any, positions: list[int], p: Any, t: Any, others: Any) -> Any:
    def of_some(*some: Any) -> Any:
        everything = list(others)
        for k in range(len(positions)):
            everything[positions[k]] = some[k]
        return f(*everything)

    return jitad.jvp(of_some, p, t)


def _vjp(f: Any, positions: list[int], p: Any, ct: Any, others: Any) -> Any:
    def of_some(*some: Any) -> Any:
        everything = list(others)
        for k in range(len(positions)):
            everything[positions[k]] = some[k]
        return f(*everything)

    values, pullback = jitad.vjp(of_some, *p)
    return values, pullback(ct)


def _seeds(plain: Any, number: int) -> tuple[Any, ...]:
    random = np.random.default_rng(number + 2 * 10**6)

    def drawn(r: Any) -> Any:
        dtype = np.asarray(r).dtype
        if dtype.kind not in "fc":
            return np.zeros(np.shape(r)) if isinstance(r, np.ndarray) else 0.0
        d = random.uniform(-1, 1, np.shape(r))
        if dtype.kind == "c":
            d = d + 1j * random.uniform(-1, 1, np.shape(r))
        d = np.asarray(d).astype(dtype)
        return d if isinstance(r, np.ndarray) else d[()]

    return tuple(drawn(r) for r in plain)


def _dot(a: Any, b: Any) -> float:
    return float(np.real(np.sum(np.asarray(a, complex) * np.asarray(b, complex))))


def _widths(*numbers: Any) -> tuple[str, ...]:
    return tuple(np.asarray(v).dtype.str[1:] for v in numbers)


def _same_values(
    way: str, got: Any, want: Any, rounding: float, branches: bool = False
) -> None:
    if len(got) != len(want):
        raise Wrong(f"{way}, number of results: {len(got)} instead of {len(want)}")
    for k, (x, y) in enumerate(zip(got, want, strict=True)):
        if branches and np.ndim(x) == np.ndim(y) == 0 and _widths(x, y) == ("f8", "f4"):
            raise Documented("a number of float32 here and of float64 on another path")
        if branches and _widths(x, y) in (("c16", "f8"), ("c8", "f4")) and np.ndim(x):
            _close(f"{way}, value", x, y, rounding * (1 + np.max(np.abs(y), initial=0.0)))
            raise Documented("a real array that a loop makes complex where it runs")
        _alike(f"{way}", x, y, f"result {k}")
        if np.asarray(y).dtype.kind in "fc":
            size = 1 + np.max(np.abs(y), initial=0.0)
            _close(f"{way}, value", x, y, rounding * size, f"result {k}")
        else:
            _close(f"{way}, value of ints", x, y, 0.0, f"result {k}")


def _alike(what: str, x: Any, y: Any, which: str = "") -> None:
    x, y = np.asarray(x), np.asarray(y)
    if x.shape != y.shape:
        raise Wrong(f"{what}, shape: {x.shape} instead of {y.shape} {which}")
    if x.dtype != y.dtype:
        raise Wrong(f"{what}, dtype: {x.dtype} instead of {y.dtype} {which}")


def _close(what: str, got: Any, want: Any, allowed: float, which: str = "") -> None:
    got, want = np.asarray(got, complex), np.asarray(want, complex)
    if got.shape != want.shape:
        raise Wrong(f"{what}, shape: {got.shape} instead of {want.shape} {which}")
    if not np.all(np.abs(got - want) <= allowed):
        raise Wrong(f"{what}: {got!r} instead of {want!r} {which}")
