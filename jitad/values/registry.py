"""What stands in for a library function where its operands are traced or differentiated?

`implementation(np.sum)` is a function that takes numbers of every kind and array handles.  On
plain operands it gives what the original gives, by calling it (arrays in, handles out); otherwise
it computes by `bind`.  `@replaces(original, ...)` enters one, `@of_complex(original)` one for
complex operands; `functions` gathers them all.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import numpy as np

from jitad.errors import JitadTypeError, JitadValueError
from jitad.structures import traced_complex
from jitad.values.active import any_traced
from jitad.values.kind import fail, type_of, wrong_type
from jitad.values.number import Number

# SciPy takes longer to import than all of jitad: what stands in for its functions is entered when a
# function is looked for that is not there, and the user has imported these.
waiting: dict[str, tuple[str, ...]] = {
    "scipy.special": ("values.scipy.special", "values.scipy.lambert", "values.scipy.orthogonal",
                      "values.scipy.several", "operators.plainly.functions"),
    "scipy.linalg": ("values.scipy.linalg", "values.complexes.scipy",
                     "values.scipy.matrix_equations", "values.scipy.special_matrices",
                     "operators.banded", "operators.plainly.matrices"),
    "scipy.linalg._solvers": ("operators.riccati",),
    "scipy.stats": ("values.scipy.densities", "values.scipy.hypotheses", "values.scipy.laws",
                    "solvers.distributions", "operators.plainly.variables",
                    "solvers.moments"),
    "scipy.signal": ("values.scipy.spectrograms", "operators.found.peaks",
                     "operators.plainly.filters"),
    "scipy.fft": ("values.scipy.fft",), "scipy.integrate": ("values.scipy.quadrature",),
    "scipy.spatial.distance": ("values.scipy.distances",),
    "scipy.spatial.transform": ("values.scipy.rotations",),
    "scipy.sparse": ("values.scipy.sparse_matrices", "values.scipy.sparse_made",
                     "values.scipy.sparse_filled", "operators.sparse_systems",
                     "solvers.krylov"),
    "scipy.interpolate": ("values.scipy.surfaces", "values.scipy.interpolations",
                          "values.scipy.tables", "operators.found.scattered"),
    "scipy.ndimage": ("values.scipy.image_splines", "values.scipy.morphology",
                      "operators.found.regions"),
    "statistics": ("values.samples",), "numpy": ("operators.plainly.polynomials",),
    "numpy.ma": ("values.numpy.masked",),
    "numpy.lib.recfunctions": ("values.numpy.unstructured",),
    "scipy.optimize": ("solvers", "operators.found.matches", "operators.found.programs",
                       "operators.plainly.trials"),
    "scipy.spatial": ("operators.found.places",),
    "numba.typed.typedlist": ("trace.containers.typed",),
}  # fmt: skip
matrices: set[type] = set()  # of which functions give what they don't give of arrays
_entered: dict[Any, tuple[Any, Callable[..., Any]]] = {}
_replacements: dict[Any, Callable[..., Any]] = {}  # made of those when they are first asked for
# functions that call functions they are given: the user's are handed over as their twins
calling: set[Any] = {np.piecewise, np.apply_along_axis, np.apply_over_axes, np.fromfunction}
# those that hand a tuple `args` on to the function that they are given, and its place
handing: dict[Any, int] = {}


def implementation(original: Any) -> Callable[..., Any] | None:
    """The replacement of a library function or type, or None where there is none."""
    try:
        found = _replacements.get(original)
    except TypeError:  # an unhashable callable
        polynomial = isinstance(original, np.poly1d)
        return functools.partial(call, np.polyval, original.coeffs) if polynomial else None
    if found is None and original in _entered:
        make, function = _entered[original]
        return _replacements.setdefault(original, make(original, function))
    if found is not None:
        return found
    if waiting and enter_later():
        return implementation(original)
    owner = getattr(original, "__self__", None)
    if isinstance(owner, np.ufunc) and _of_ufuncs:
        return _with_plain_case(original, _of_ufuncs[0](owner, original.__name__))
    return found


def enter_later() -> bool:
    """Enter what stands in for functions of modules that were imported meanwhile."""
    met = [name for name in tuple(waiting) if name in sys.modules]
    for name in met:
        for module in waiting.get(name, ()):  # another thread may have done it meanwhile
            importlib.import_module(f"jitad.{module}")
        waiting.pop(name, None)
    return bool(met)


_of_ufuncs: list[Callable[[np.ufunc, str], Callable[..., Any]]] = []


def replaces_methods(maker: Callable[[np.ufunc, str], Callable[..., Any]]) -> Any:
    """Enter what makes the replacement of `np.add.outer` and the like, for every ufunc."""
    _of_ufuncs.append(maker)
    return maker


def replaces(*originals: Any, plain: bool = True) -> Callable[[Callable[..., Any]], Any]:
    """Enter a replacement.  `plain=False`: it handles plain operands itself (views, creation)."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        make = _with_plain_case if plain else _with_complex_case
        for original in originals:
            _entered[original] = make, function
            _replacements.pop(original, None)  # what was asked for before may be a part of this
        return function

    return enter


def naming(original: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function; arguments that the original takes and it does not are refused by name."""
    takes = inspect.signature(function)

    @functools.wraps(function)
    def naming(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if isinstance(error, JitadTypeError):
                raise
            unknown = [k for k in kwargs if not _binds(takes, args, {k: None}, partial=True)]
            if not unknown and _binds(takes, args, kwargs):
                raise  # another call's matter
            same = _by_place(original, takes, kwargs)
            if same != kwargs and _binds(takes, args, same):
                return function(*args, **same)
            name = getattr(original, "__name__", repr(original))
            what = f"{unknown[0]}= of {name}" if unknown else f"this form of {name}"
            bare = [p.replace(annotation=p.empty) for p in takes.parameters.values()]
            raise fail(JitadTypeError, f"{what} is not supported on traced or differentiated "
                       "values", f"Here it is {name}{inspect.Signature(bare)}.") from None

    return naming


def _by_place(
    original: Any, takes: inspect.Signature, kwargs: dict[str, Any]
) -> dict[str, Any]:
    """The arguments by the names that a replacement has for what stands at their places."""
    try:
        theirs = list(inspect.signature(original).parameters)
    except (TypeError, ValueError):  # of some builtin functions
        return kwargs
    ours = [p.name for p in takes.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    names = {t: o for t, o in zip(theirs, ours, strict=False) if t not in ours and o not in theirs}
    return {names.get(name, name): value for name, value in kwargs.items()}


def _binds(takes: inspect.Signature, args: Any, kwargs: Any, partial: bool = False) -> bool:
    try:
        takes.bind_partial(**kwargs) if partial else takes.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def _with_plain_case(original: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    out_at, names = _place_of(original, function, "out")
    keepdims_at, _ = _place_of(original, function, "keepdims")
    function = naming(original, function)

    @functools.wraps(function)
    def replacement(*args: Any, **kwargs: Any) -> Any:
        if any_traced(args) or any_traced(kwargs.values()):
            if (found := _taken(original, args, kwargs)) is not NotImplemented:
                return found
            args, kwargs = _decided(args, kwargs, keepdims_at)
            complexes = any_complex(args) or (kwargs and any_complex(kwargs.values()))
            case = _complex_case(original) if complexes else function
            return _placed(original, case(*args, **kwargs), args, kwargs)
        if len(args) > out_at:  # what is written to is named, to be found
            args, kwargs = args[:out_at], kwargs | dict(zip(names, args[out_at:], strict=False))
        writes = kwargs.get("out") is not None
        if writes and getattr(kwargs["out"], "shape", None) == ():  # NumPy can't have it
            return function(*args, **kwargs)
        # What shows an operand's memory is to be a view of its handle, which sees later writes.  In
        # NumPy's hands an array without axes would be a number.
        if isinstance(original, np.ufunc) or not any(map(_is_without_axes, args)):
            found = call_plain(original, args, kwargs)
            if writes or not _shows(found, args):
                return found
        return (_complex_case(original) if any_complex(args) else function)(*args, **kwargs)

    return replacement


def _placed(original: Any, found: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """What a function gave, as it lies in memory."""
    if isinstance(found, Number) or (kwargs and kwargs.get("out") is not None):
        return found
    from jitad.values.layout import asked, in_order, loosen, placed  # above this file

    operands = (*args, *kwargs.values())
    module = getattr(original, "__module__", None) or ""
    if original in _FOREIGN or module.startswith("scipy.linalg"):
        for f in found if isinstance(found, tuple) else (found,):
            loosen(f)
        return asked(found, original, args, kwargs)
    if isinstance(found, tuple):
        each = found if hasattr(found, "_fields") else tuple(placed(f, operands) for f in found)
        return each if all(map(in_order, operands)) else asked(each, original, args, kwargs)
    if isinstance(original, np.ufunc):
        return placed(found, operands)
    made = placed(found, operands)
    if original is not np.einsum and all(map(in_order, operands)):
        return made
    return asked(made, original, args, kwargs)


# Their results lie in memory as LAPACK has them, or as NumPy's own loops leave them.
_FOREIGN = frozenset({np.linalg.svd, np.linspace, np.apply_along_axis, np.vectorize, np.delete})


def _place_of(original: Any, function: Callable[..., Any], name: str) -> tuple[int, list[str]]:
    """Which argument by position has this name, and the names from there on."""
    if name == "out" and isinstance(original, np.ufunc) and original.nout == 1:
        return original.nin, ["out"]
    taken = inspect.signature(function).parameters.values()
    names = [p.name for p in taken if p.kind is not p.KEYWORD_ONLY]  # after *operands, say
    at = names.index(name) if name in names else len(names) + _MANY
    return at, names[at:]


def _decided(args: Any, kwargs: dict[str, Any], at: int) -> tuple[Any, dict[str, Any]]:
    """The arguments with `keepdims`, at this place or by name, as the bool that it amounts to.

    How many axes a result has is known while tracing, so a traced one is relied on.
    """
    if len(args) > at and args[at] is not np._NoValue:
        args = (*args[:at], bool(args[at]), *args[at + 1 :])
    if "keepdims" in kwargs and kwargs["keepdims"] is not np._NoValue:
        kwargs = kwargs | {"keepdims": bool(kwargs["keepdims"])}
    return args, kwargs


_MANY = 1000  # more than a call has arguments


def _is_without_axes(value: Any) -> bool:
    return hasattr(value, "peek") and value.shape == ()


def _shows(found: Any, args: Any) -> bool:
    if not hasattr(found, "peek"):
        return isinstance(found, (tuple, list)) and any(_shows(f, args) for f in found)
    if not isinstance(array := found.peek(), np.ndarray):
        return False
    if not array.size and array.__array_interface__["data"][1]:
        return True  # read-only, and without elements to share
    return any(
        np.may_share_memory(array, a.peek()) if hasattr(a, "peek")
        else isinstance(a, (tuple, list)) and _shows(found, a) for a in args
    )  # fmt: skip


def _with_complex_case(original: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    keepdims_at, _ = _place_of(original, function, "keepdims")
    function = naming(original, function)

    @functools.wraps(function)
    def replacement(*args: Any, **kwargs: Any) -> Any:
        if matrices and (found := _taken(original, args, kwargs, matrices)) is not NotImplemented:
            return found
        args, kwargs = _decided(args, kwargs, keepdims_at)
        if any_complex(args) or (kwargs and any_complex(kwargs.values())):
            own = original in _complex and not isinstance(original, np.ufunc)
            if own or any_traced(args) or any_traced(kwargs.values()):
                return _complex_case(original)(*args, **kwargs)
        return function(*args, **kwargs)

    return replacement


def call(original: Any, /, *args: Any, **kwargs: Any) -> Any:
    """The replacement of `original`, called; refused clearly where there is none."""
    found = implementation(original)
    if found is None and isinstance(original, np.ufunc):
        if any_traced(args):
            return call_unknown(original, "__call__", args, kwargs)
        return call_plain(original, args, kwargs)
    if found is None:
        raise unsupported(original)
    return found(*args, **kwargs)


def call_unknown(ufunc: Any, method: str, inputs: Any, kwargs: dict[str, Any]) -> Any:
    """A function of floats without a rule is called as it is; its derivative is unknown."""
    of_floats = any("d" in types.partition("->")[0] for types in ufunc.types)
    if method != "__call__" or kwargs or ufunc.nout != 1 or not of_floats:
        raise unsupported(ufunc if method == "__call__" else getattr(ufunc, method))
    return importlib.import_module("jitad.operators.unknown").of_ufunc(ufunc)(*inputs)


def unsupported(original: Any) -> JitadTypeError:
    name = getattr(original, "__name__", repr(original))
    module = (getattr(original, "__module__", None) or "").replace("builtins", "")
    public = [part for part in module.split(".") if part and not part.startswith("_")]
    owner = getattr(original, "__self__", None)
    if owner is not None and not isinstance(owner, ModuleType):  # a method
        there = vars(sys.modules.get(".".join(public), sys))
        public.append(next((n for n, v in there.items() if v is owner), type(owner).__name__))
    name = ".".join([*public, name])
    return fail(JitadTypeError, f"{name} is not supported on traced or differentiated values",
                "Write it with supported functions, or keep its operands plain.")  # fmt: skip


# -- complex operands -----------------------------------------------------------------------------

_complex: dict[Any, Callable[..., Any]] = {}


def of_complex(original: Any) -> Callable[[Callable[..., Any]], Any]:
    """Enter what is called instead of the replacement where an operand is complex."""
    return _entering(_complex, original)


_of_parts: dict[Any, Callable[..., Any]] = {}


def of_each_part(original: Any) -> Callable[[Callable[..., Any]], Any]:
    """Enter what is called instead for either part of a complex array, which lie in it by turns."""
    return _entering(_of_parts, original)


def _entering(table: dict[Any, Callable[..., Any]], original: Any) -> Any:
    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        table[original] = function
        return function

    return enter


def call_of_part(original: Any, /, *args: Any, **kwargs: Any) -> Any:
    found = _of_parts.get(original)
    return call(original, *args, **kwargs) if found is None else found(*args, **kwargs)


@functools.cache
def _complex_case(original: Any) -> Callable[..., Any]:
    found = _complex.get(original)
    if found is None:
        name = getattr(original, "__name__", repr(original))
        raise fail(JitadTypeError, f"{name} is not supported on complex numbers here",
                   "Compute with their real and imaginary parts.")  # fmt: skip
    function = naming(original, found)
    first: list[str] = []
    with contextlib.suppress(TypeError, ValueError):  # some builtin functions tell nothing
        every = inspect.signature(original).parameters.values()
        named = [p for p in every if p.kind is p.POSITIONAL_OR_KEYWORD]
        first = [p.name for p in named if p.default is p.empty]

    @functools.wraps(function)
    def case(*args: Any, **kwargs: Any) -> Any:
        while len(args) < len(first) and first[len(args)] in kwargs:  # which parts go by places
            args = (*args, kwargs.pop(first[len(args)]))
        return function(*args, **kwargs)

    return case


def is_complex(value: Any) -> bool:
    """True of complex numbers and arrays of any kind, and of a list or tuple with one in it."""
    kind = type(value)
    if kind in _REAL:
        return False
    if kind is np.ndarray:
        return bool(value.dtype.kind == "c")
    if kind is tuple or kind is list:
        return any_complex(value)
    return kind in _COMPLEX or kind in (c for c, _ in traced_complex)


def any_complex(values: Iterable[Any]) -> bool:
    for v in values:
        if is_complex(v):
            return True
    return False


_REAL = frozenset((float, int, bool, str))
_COMPLEX = frozenset((complex, np.complex64, np.complex128))

# -- plain operands -------------------------------------------------------------------------------


def _taken(original: Any, args: Any, kwargs: dict[str, Any], kinds: Any = None) -> Any:
    """What a stand-in (of these classes) among the operands says that a function gives."""
    for a in args:
        if (type(a) is list or type(a) is tuple) and a and type(a[0]) in matrices:
            a = a[0]  # of arrays to be joined, say
        asks = hasattr(a, "_takes") if kinds is None else type(a) in kinds
        if asks and (found := a._takes(original, *args, **kwargs)) is not NotImplemented:
            return found
    return NotImplemented


def call_plain(original: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """The original on plain operands: handles lend their ndarrays, an ndarray comes back as one."""
    from jitad.values.array import wrap  # handles use this registry
    from jitad.values.stand_ins import adopt

    if (found := _taken(original, args, kwargs)) is not NotImplemented:
        return found
    out = kwargs.pop("out", None)
    if isinstance(out, tuple) and len(out) == 1:
        (out,) = out
    name = getattr(original, "__name__", "")
    if name == "at" and isinstance(getattr(original, "__self__", None), np.ufunc):
        target, *rest = args
        if hasattr(target, "assign"):  # written as a whole, since a handle may be shared
            whole = np.array(target.peek())
            original(whole, *map(lend, rest))
            target.assign(whole)
            return None
    if out is not None and kwargs.get("where", True) is not True:  # keeps what was there
        kwargs["out"] = np.array(lend(out))
    result = original(*map(lend, args), **{k: lend(v) for k, v in kwargs.items()})
    if out is not None:
        return write_out(out, result, isinstance(original, np.ufunc))
    if isinstance(result, tuple) and any(isinstance(r, np.ndarray) for r in result):
        return tuple(wrap(r) if isinstance(r, np.ndarray) else r for r in result)
    return wrap(result) if isinstance(result, np.ndarray) else adopt(result)


def write_out(out: Any, result: Any, spread: bool = False) -> Any:
    """`out=` as NumPy has it: the same shape, and no cast that loses the kind of number.

    With `spread`, as ufuncs have it, the operands broadcast to its shape.
    """
    if isinstance(out, tuple):
        (out,) = out
    if not hasattr(out, "assign"):
        raise fail(JitadTypeError, "out= must be an array that the function made or was given")
    got = np.dtype(type_of(result).dtype)
    if not np.can_cast(got, out.dtype, "same_kind"):
        raise wrong_type(f"can't cast output from {got} to {out.dtype} with casting rule "
                         "'same_kind'", "Make the array one of floats.")  # fmt: skip
    shape = getattr(result, "shape", ())
    if spread:
        shape = (1,) * (len(out.shape) - len(shape)) + shape
    if len(shape) != len(out.shape):
        raise fail(JitadValueError, f"non-broadcastable output operand with {len(out.shape)} axes "
                   f"doesn't match the broadcast shape of {len(shape)} axes")  # fmt: skip
    from jitad.values.broadcast import require_same  # which asks for what is registered here

    for n, m in zip(shape, out.shape, strict=True):
        if not spread or not (isinstance(n, Number) or isinstance(m, Number) or n == 1):
            require_same(n, m, lambda: "non-broadcastable output operand doesn't match the "
                         "broadcast shape")  # fmt: skip
    out.assign(result)
    return out


def write_each(out: Any, results: tuple[Any, ...]) -> tuple[Any, ...]:
    """`out=` of a function of several results: a tuple, with None where a new array is to be."""
    if out is None:
        return results
    if not isinstance(out, tuple) or len(out) != len(results):
        raise fail(JitadTypeError, f"out= must be a tuple of {len(results)} arrays")
    pairs = zip(out, results, strict=True)
    return tuple(r if o is None else write_out(o, r) for o, r in pairs)


def lend(value: Any) -> Any:
    """A handle's ndarray for the time of one call."""
    if hasattr(value, "peek"):
        return value.peek()
    if hasattr(value, "lent"):
        return value.lent()
    if isinstance(value, (list, tuple)):
        lent = [lend(v) for v in value]
        if any(x is not v for x, v in zip(lent, value, strict=True)):
            return type(value)(lent)
    return value
