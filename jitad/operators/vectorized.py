"""What becomes of `np.vectorize`, and of functions that Numba has vectorised?

A batch over the elements of the arguments, which broadcast.
Elements are numbers, or arrays of the axes that `signature=` names.
A result is of the kind that all elements have; NumPy takes the first one's, and cuts the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jitad.emit.numba_private import is_closed, taken_as_numbers
from jitad.errors import JitadTypeError
from jitad.operators.batching import batch
from jitad.plain import elementwise
from jitad.tape.types import Array
from jitad.trace import hooks
from jitad.values import extents
from jitad.values.broadcast import common_shape
from jitad.values.kind import fail, is_number, type_of
from jitad.values.layout import asked, placed
from jitad.values.numpy.shaping import handle, reshape
from jitad.values.registry import call, is_complex

Function = Callable[..., Any]


def vectorized(pyfunc: Function, otypes: Any = None, doc: Any = None, excluded: Any = None,
               cache: bool = False, signature: str | None = None) -> Function:  # fmt: skip
    """The function that runs `pyfunc` on every element, as `np.vectorize` makes it."""
    cores = None if signature is None else _cores(signature)
    excluded = frozenset(excluded or ())

    def apply(*args: Any, **kwargs: Any) -> Any:
        found = _applied(pyfunc, excluded, cores, args, kwargs, otypes or ())
        return _in_kinds(found, otypes) if otypes else _as_arrays(found)

    return apply


def called(vectorize: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A call of an `np.vectorize` object that was made outside."""
    made = vectorized(vectorize.pyfunc, vectorize.otypes, None, vectorize.excluded, False,
                      vectorize.signature)  # fmt: skip
    return made(*args, **kwargs)


def of_numba(ufunc: Any) -> Function:
    """A function that `numba.vectorize` or `numba.guvectorize` has made."""
    if hasattr(ufunc, "gufunc_builder"):
        return generalised(ufunc)

    def apply(*args: Any, out: Any = None, **others: Any) -> Any:
        if len(args) > ufunc.nin:
            *args, out = args  # type: ignore[assignment]
        out = out[0] if isinstance(out, tuple) else out
        args = tuple(a if is_number(a) else _array(a) for a in args)
        kinds = _declared(ufunc, args)
        if kinds is None:
            found = _applied(ufunc.__wrapped__, frozenset(), None, args, others)
        else:
            args = tuple(map(_as_kind, args, kinds))
            found = _applied(ufunc.__wrapped__, frozenset(), None, args, others)
            found = _as_kind(found, kinds[-1])
        if out is None:
            return found
        hooks.set_item(found, out, ...)
        return out

    return apply


def _declared(ufunc: Any, args: Sequence[Any]) -> list[Any] | None:
    """The types of operands and result that NumPy chooses, if it is compiled for certain ones."""
    if not is_closed(ufunc) or any(map(is_complex, args)):
        return None
    like = [_one(type_of(a)) for a in args]
    with np.errstate(all="ignore"):
        result = np.asarray(ufunc(*like)).dtype
    for form in ufunc.types:
        kinds = [np.dtype(c) for c in form.replace("->", "")]
        fits = (np.can_cast(np.asarray(a).dtype, k, "same_kind")
                for a, k in zip(like, kinds, strict=False))  # fmt: skip
        if kinds[-1] == result and all(fits):
            return kinds
    return None


def _one(t: Any) -> Any:
    """A number, or an array of one, of the type."""
    one = np.dtype(t.dtype).type(1)
    if isinstance(t, Array):
        return np.ones((1,) * t.ndim, t.dtype)
    return one.item() if t.py else one


def _as_kind(value: Any, dtype: Any) -> Any:
    t = type_of(value)
    if np.dtype(t.dtype) == dtype:
        return value
    if isinstance(t, Array):
        return handle(value).astype(dtype)
    return hooks.call(type(dtype.type().item()) if t.py else dtype.type, value)


def method_of_numba(ufunc: Any, name: str) -> Function:
    """Its `reduce`, `accumulate` or `outer`."""
    of = getattr(elementwise, name, None)
    if of is None or ufunc.nin != 2:
        raise fail(JitadTypeError, f"{name} of a function that Numba has vectorised is not "
                   "supported", "Write it as a loop.")  # fmt: skip
    return lambda *args, **kwargs: hooks.call(of, ufunc, *args, **kwargs)


def generalised(gufunc: Any) -> Function:
    """The function that `numba.guvectorize` has made: its results are arrays that it is lent."""
    inputs, _, outputs = gufunc.signature.partition("->")
    named, results = _names(inputs), _names(outputs)
    kernel, numbers = gufunc.gufunc_builder.py_func, taken_as_numbers(gufunc)

    def element(*given: Any) -> Any:
        own = [handle(a) for a in given]
        extent = {n: m for names, a in zip(named, own, strict=True)
                  for n, m in zip(names, a.shape, strict=True)}  # fmt: skip
        dtype = np.result_type(*(a.dtype for a in own))
        lent = [call(np.zeros, tuple(extent[n] for n in names) or 1, dtype=dtype)
                for names in results]  # fmt: skip
        taken = [a if a.ndim else a[()] if number else reshape(a, 1)
                 for a, number in zip(own, numbers, strict=False)]  # fmt: skip
        hooks.call(kernel, *taken, *lent)
        found = tuple(a if names else a[0] for a, names in zip(lent, results, strict=True))
        return found if len(found) > 1 else found[0]

    def apply(*args: Any, **kwargs: Any) -> Any:
        n = len(named)
        if kwargs or len(args) not in (n, n + len(results)):
            raise fail(JitadTypeError, f"{kernel.__name__} is called with other arguments than its "
                       f"{n} operands and {len(results)} results", "Give them by position.")
        found = _applied(element, frozenset(), list(map(len, named)), args[:n], {})
        lent = args[n:]
        for to, value in zip(lent, found if len(lent) > 1 else (found,), strict=False):
            hooks.set_item(value, to, ...)
        return found if not lent else lent if len(lent) > 1 else lent[0]

    return apply


def _names(cores: str) -> list[list[str]]:
    """The names of the axes of each argument: `(n,m),()` gives [["n", "m"], []]."""
    return [[n.strip() for n in core.split(",") if n.strip()]
            for core in re.findall(r"\(([^)]*)\)", cores)]  # fmt: skip


def _cores(signature: str) -> list[int]:
    """How many axes of each argument a call of the function takes: `(n),(n)->()` gives 1, 1."""
    return list(map(len, _names(signature.partition("->")[0])))


def _applied(pyfunc: Function, excluded: frozenset[Any], cores: list[int] | None,
             args: tuple[Any, ...], kwargs: dict[str, Any],
             otypes: Sequence[Any] | None = None) -> Any:  # fmt: skip
    for word in kwargs:
        if word not in excluded:
            raise fail(JitadTypeError, f"a vectorised function is called with {word}=, which "
                       "is not supported", "Give it by position.")  # fmt: skip
    whole = [k in excluded for k in range(len(args))]
    own = [_array(a) if not w else a for a, w in zip(args, whole, strict=True)]
    depth = cores or [0] * len(args)
    lead = [a.shape[: a.ndim - n] if not w else ()
            for a, n, w in zip(own, depth, whole, strict=True)]  # fmt: skip
    loop = common_shape(lead)

    def element(*given: Any) -> Any:
        return hooks.call(pyfunc, *given, **kwargs)

    if not loop:
        given = [a if w or a.ndim else a[()] for a, w in zip(own, whole, strict=True)]
        return element(*given)
    if otypes is not None and not otypes:
        for n in loop:
            extents.require_at_least(n, 1, "cannot call `vectorize` on size 0 inputs unless "
                                     "`otypes` is set")  # fmt: skip
    if otypes and cores is None and any(extents.assume_none(n) for n in loop):
        empty = tuple(call(np.zeros, loop, dtype=np.dtype(t)) for t in otypes)
        return empty if len(empty) > 1 else empty[0]
    flat = [
        a if w else call(np.reshape, call(np.broadcast_to, a, loop + a.shape[len(s) :]),
                         (-1, *a.shape[len(s) :]))
        for a, s, w in zip(own, lead, whole, strict=True)
    ]
    found = batch(element, tuple(None if w else 0 for w in whole))(*flat)

    def shaped(out: Any) -> Any:
        out = _array(out)
        out = call(np.reshape, out, loop + out.shape[1:])
        if cores is not None:
            return out
        over = tuple(a for a, w in zip(own, whole, strict=True) if not w)
        return asked(placed(out, over), _of_elements, over, {})

    several = isinstance(found, tuple)
    return tuple(map(shaped, found)) if several else shaped(found)


def _of_elements(*operands: Any) -> Any:
    """What lies in memory as the results of a function of elements do."""
    return sum(operands)


def _as_arrays(found: Any) -> Any:
    """Results of no axes are arrays all the same, as those of `np.vectorize` are."""
    return tuple(map(_array, found)) if isinstance(found, tuple) else _array(found)


def _array(a: Any) -> Any:
    return call(np.asarray, a) if is_complex(a) else handle(a)


def _in_kinds(found: Any, otypes: Any) -> Any:
    """Results of the dtypes that otypes= names."""
    if isinstance(found, tuple):
        return tuple(call(np.array, x, dtype=np.dtype(t))
                     for x, t in zip(found, otypes, strict=True))  # fmt: skip
    return call(np.array, found, dtype=np.dtype(otypes[0]))
