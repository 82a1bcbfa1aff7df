"""What becomes of np.einsum and of the products that are sums over named axes?

Operands are contracted in pairs, from the left.  Within an operand, repeated names take a
diagonal, and names that nobody needs any more are summed.  Of a pair, the axes that both have and
nobody needs afterwards are one matrix product; axes that both have and that are kept are a stack.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.errors import JitadValueError
from jitad.values import extents
from jitad.values.array import ArrayHandle
from jitad.values.broadcast import elementwise, require_same
from jitad.values.extents import Int
from jitad.values.kind import fail
from jitad.values.number import Number
from jitad.values.numpy.products import diagonal_view, matmul
from jitad.values.numpy.shaping import handle, reshape
from jitad.values.registry import call, implementation, replaces, write_out

Term = tuple[ArrayHandle, str]  # an operand, and a letter for each of its axes


@replaces(np.einsum)
def _contracted(*operands: Any, out: Any = None, optimize: Any = False, dtype: Any = None,
           order: str = "K") -> Any:  # fmt: skip
    terms, result = _parsed(operands)
    if dtype is not None:
        terms = [(a.astype(dtype), letters) for a, letters in terms]
    terms = _stretched([_diagonals(a, letters) for a, letters in terms])
    while len(terms) > 1:
        needed = set(result).union(*(letters for _, letters in terms[2:]))
        terms = [_pair(terms[0], terms[1], needed), *terms[2:]]
    a, letters = _summed(terms[0], set(result))
    if len(letters) > 1:
        a = a.permuted(tuple(letters.index(c) for c in result))
    value = call(np.copy, a) if result else a[()]
    return value if out is None else write_out(out, value)


_of_any: Any = implementation(np.einsum)


@replaces(np.einsum, plain=False)
def einsum(*operands: Any, **how: Any) -> Any:
    """As NumPy's; what only exchanges axes, or takes a diagonal, is a view that can be written."""
    if len(operands) == 2 and isinstance(operands[0], str) and not how:
        ((a, letters),), result = _parsed(operands)
        a, letters = _diagonals(a, letters)
        if result and sorted(letters) == sorted(result):
            return a.permuted(tuple(letters.index(c) for c in result))
    return _of_any(*operands, **how)


# -- the subscripts -------------------------------------------------------------------------------


def _parsed(operands: tuple[Any, ...]) -> tuple[list[Term], str]:
    """Operands with their letters, and the letters of the result; ellipses written out."""
    if isinstance(operands[0], str):
        text, given = operands[0].replace(" ", ""), [handle(a) for a in operands[1:]]
    else:
        text, given = _from_lists(operands)
    inputs, arrow, output = text.partition("->")
    parts = inputs.split(",")
    if len(parts) != len(given):
        raise fail(JitadValueError, "einsum: the number of operands is not that of the subscripts")
    free = iter(c for c in map(chr, range(192, 700)) if c not in text)
    dots = max((a.ndim - len(p.replace("...", "")) for p, a in zip(parts, given, strict=True)
                if "..." in p), default=0)  # fmt: skip
    names = [next(free) for _ in range(max(dots, 0))]
    terms = []
    for p, a in zip(parts, given, strict=True):
        missing = a.ndim - len(p.replace("...", ""))
        if "..." in p and missing >= 0:
            p = p.replace("...", "".join(names[len(names) - missing :]))
        if len(p) != a.ndim or "." in p:
            raise fail(JitadValueError, f"einsum: the subscripts {p!r} don't fit an operand of "
                       f"{a.ndim} axes")  # fmt: skip
        terms.append((a, p))
    every = "".join(p for _, p in terms)
    if arrow and names and "..." not in output:
        raise fail(JitadValueError, "einsum: the output lacks the ellipsis of the operands")
    if arrow:
        result = output.replace("...", "".join(names))
    else:
        single = sorted(c for c in set(every) - set(names) if every.count(c) == 1)
        result = "".join(names + single)
    if len(set(result)) < len(result) or not set(result) <= set(every):
        raise fail(JitadValueError, "einsum: each letter of the output appears once in it, and "
                   "in the operands")  # fmt: skip
    return terms, result


def _from_lists(operands: tuple[Any, ...]) -> tuple[str, list[ArrayHandle]]:
    """The form einsum(a, [0, 1], b, [1, 2], [0, 2])."""

    def letters(numbers: Any) -> str:
        return "".join("..." if n is Ellipsis else chr(ord("a") + int(n)) if n < 26 else
                       chr(ord("A") + int(n) - 26) for n in numbers)  # fmt: skip

    pairs = len(operands) // 2
    given = [handle(operands[2 * k]) for k in range(pairs)]
    text = ",".join(letters(operands[2 * k + 1]) for k in range(pairs))
    return text + ("->" + letters(operands[-1]) if len(operands) % 2 else ""), given


# -- single operands ------------------------------------------------------------------------------


def _diagonals(a: ArrayHandle, letters: str) -> Term:
    """Names that an operand has twice become one axis, the last."""
    for c in letters:
        while letters.count(c) > 1:
            i = letters.index(c)
            j = letters.index(c, i + 1)
            require_same(a.shape[i], a.shape[j], lambda c=c: f"einsum: axes called {c} differ")
            a = diagonal_view(a, 0, i, j, written=True)
            letters = "".join(x for k, x in enumerate(letters) if k not in (i, j)) + c
    return a, letters


def _is_one(n: Int) -> bool:
    return not isinstance(n, Number) and n == 1


def _stretched(terms: list[Term]) -> list[Term]:
    """Axes of extent 1 go where another operand has more of that name; the rest must agree."""
    extent: dict[str, Int] = {}
    for a, letters in terms:
        for n, c in zip(a.shape, letters, strict=True):
            if c not in extent or _is_one(extent[c]):
                extent[c] = n
    out = []
    for a, letters in terms:
        gone = []
        for k, (n, c) in enumerate(zip(a.shape, letters, strict=True)):
            if _is_one(n) and not _is_one(extent[c]):
                gone.append(k)
            else:
                require_same(n, extent[c], lambda c=c: f"einsum: axes called {c} differ")
        if gone:
            a = a.without_axes(tuple(gone))
            letters = "".join(c for k, c in enumerate(letters) if k not in gone)
        out.append((a, letters))
    return out


def _summed(term: Term, needed: set[str]) -> Term:
    """Without the axes that nobody needs."""
    a, letters = term
    axes = tuple(k for k, c in enumerate(letters) if c not in needed)
    if not axes:
        return term
    kept = "".join(c for c in letters if c in needed)
    # the operands' type is kept: einsum sums in it
    return handle(call(np.sum, a, axis=axes, dtype=a.dtype)), kept


# -- pairs ----------------------------------------------------------------------------------------


def _pair(first: Term, second: Term, needed: set[str]) -> Term:
    both = set(first[1]) & set(second[1])
    a, left = _summed(first, needed | both)
    b, right = _summed(second, needed | both)
    stack = [c for c in left if c in both and c in needed]
    inner = [c for c in left if c in both and c not in needed]
    rows = [c for c in left if c not in both]
    columns = [c for c in right if c not in both]
    a = a.permuted(tuple(left.index(c) for c in stack + rows + inner))
    b = b.permuted(tuple(right.index(c) for c in stack + inner + columns))
    s, r, n = len(stack), len(rows), len(inner)
    letters = "".join(stack + rows + columns)
    if not n:
        wide = a.with_axes(tuple(range(s + r, s + r + len(columns))))
        return handle(elementwise("mul", wide, b.with_axes(tuple(range(s, s + r))))), letters
    if s:  # a sum of products, which is one loop nest without memory for the terms
        wide = a.with_axes(tuple(range(s + r + n, s + r + n + len(columns))))
        product = elementwise("mul", wide, b.with_axes(tuple(range(s, s + r))))
        summed = tuple(range(s + r, s + r + n))
        return handle(call(np.sum, product, axis=summed, dtype=product.dtype)), letters
    dims = (*a.shape[:r], *b.shape[n:])
    k = extents.product(a.shape[r:])
    x = reshape(a, (extents.product(a.shape[:r]), k)) if r != 1 or n != 1 else a
    y = reshape(b, (k, extents.product(b.shape[n:]))) if len(columns) != 1 or n != 1 else b
    return handle(reshape(matmul(x, y), dims) if dims else matmul(x, y)[0, 0]), letters


# -- sums of products under other names -----------------------------------------------------------


@replaces(np.vecdot)
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    x1, x2 = call(np.moveaxis, x1, axis, -1), call(np.moveaxis, x2, axis, -1)
    require_same(x1.shape[-1], x2.shape[-1], lambda: "vecdot: the vectors differ in length")
    return call(np.sum, elementwise("mul", x1, x2), axis=-1)


@replaces(np.matvec)
def matvec(x1: Any, x2: Any, /) -> Any:
    x1, x2 = _with_axes("matvec", x1, 2), _with_axes("matvec", x2, 1)
    return matmul(x1, x2) if x2.ndim == 1 else matmul(x1, x2[..., None])[..., 0]


@replaces(np.vecmat)
def vecmat(x1: Any, x2: Any, /) -> Any:
    x1, x2 = _with_axes("vecmat", x1, 1), _with_axes("vecmat", x2, 2)
    return matmul(x1, x2) if x1.ndim == 1 else matmul(x1[..., None, :], x2)[..., 0, :]


def _with_axes(name: str, x: Any, least: int) -> ArrayHandle:
    x = handle(x)
    if x.ndim < least:
        raise fail(JitadValueError, f"{name}: an operand does not have enough dimensions (it has "
                   f"{x.ndim}, and {least} are needed)")  # fmt: skip
    return x
