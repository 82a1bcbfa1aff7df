"""Is a kernel that is translated from its source what the source says, run as Python?

The truth is the same text run by CPython.  No reference is lost or kept, however a kernel ends.
"""

from __future__ import annotations

import gc
import math
import traceback
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

import jitad
from jitad.emit import native

HEAD = "import numpy as np\nfrom jitad.emit.preamble import *\n\n\n"
X = np.linspace(-1.0, 2.0, 7)
M = np.arange(12.0).reshape(3, 4)


def compiled(text: str, name: str = "f") -> Any:
    return native.compile(HEAD + text, name)


def by_python(text: str) -> Any:
    """The function as CPython runs it, and those beside it."""
    space: dict[str, Any] = {}
    exec(HEAD + text, space)
    return space["f"]


def is_translated(f: Any) -> bool:
    """The name of the pipeline that the (one) overload came from."""
    (made,) = f.overloads.values()
    return list(made.metadata["pipeline_times"]) == ["source"]


@pytest.fixture(autouse=True)
def no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JITAD_CACHE_DIR", "")


PROGRAMS = {
    "loops up and down, counters used again": ("""
def f(x, n):
    total = 0.0
    for i in range(n):
        total = fadd(total, x[i])
    for i in range(n - 1, -1, -1):
        total = total * 0.5 + x[i]
    for i in range(1, n, 3):
        for j in range(i):
            total += x[j] * i
    return (total,)
""", (X, 7)),
    "a loop that never runs": ("""
def f(x, n):
    last = -1
    for i in range(n):
        last = i
    for i in range(5, 5):
        last = 100
    for i in range(0, 5, -1):
        last = 200
    return (last, x[0])
""", (X, 0)),
    "while, break, counters": ("""
def f(x, n):
    steps = 0
    total = x[6]
    while True:
        total = total * 0.7
        if total < 0.01:
            break
        steps += 1
    while steps > n:
        steps = steps - 2
    return (steps, total)
""", (X, 3)),
    "what is guarded is not read": ("""
def f(x, n):
    m = x.shape[0]
    far = x[n] if n < m else -1.0
    good = n < m and x[n] > 0.0
    bad = n >= m or x[n] > 0.0
    none = 7 // n if n != 0 else 0
    return (far, good, bad, none)
""", (X, 7)),
    "the same, read": ("""
def f(x, n):
    m = x.shape[0]
    far = x[n] if n < m else -1.0
    good = n < m and x[n] > 0.0
    bad = n >= m or x[n] > 0.0
    none = 7 // n if n != 0 else 0
    return (far, good, bad, none)
""", (X, 5)),
    "integers": ("""
def f(n, m):
    a = -n // m
    b = -n % m
    c = max(n, 0) * 3 - abs(m)
    p = not n < m
    d = np.int64(p) + 1
    e = n / m
    return (a, b, c, p, d, e, n & 3, n | 8)
""", (7, 3)),
    "buffers change places": ("""
def f(x, n):
    m = x.shape[0]
    a = empty(np.float64, m)
    b = zeros(np.float64, m)
    for i in range(m):
        a[i] = x[i]
    for k in range(n):
        for i in range(m):
            b[i] = a[i] * 2.0 + k
        a, b = b, a
    return (a,)
""", (X, 5)),
    "a buffer that grows": ("""
def f(x, n):
    kept = empty(np.float64, 0)
    top = 0
    for i in range(n):
        if top + 1 > len(kept):
            kept = grown(kept, top + 1)
        store(kept, i * 1.5, top)
        top += 1
    total = 0.0
    while top > 0:
        top -= 1
        total = total * 0.9 + load(kept, top)
    return (total, top)
""", (X, 100)),
    "two axes, strides, a view": ("""
def f(a, b):
    n = a.shape[0]
    m = a.shape[1]
    out = zeros(np.float64, n, m)
    for i in range(n):
        for j in range(m):
            out[i, j] += a[i, j] * b[i, j]
            accum(out, a[i, j], i, j)
    flat = out.reshape((n * m,))
    s = 0.0
    for k in range(n * m):
        s += flat[k] * k
    return (out, s)
""", (M, M.T.copy().T)),
    "arrays made in a loop": ("""
def f(x, n):
    total = 0.0
    for k in range(n):
        t = empty(np.float64, k + 1)
        for i in range(k + 1):
            t[i] = x[0] + i
        if total < -1000.0:
            break
        total += t[k]
    return (total,)
""", (X, 9)),
    "one of two arrays": ("""
def f(x, n):
    if n > 2:
        a = zeros(np.float64, n)
    else:
        b = zeros(np.float64, 3)
        a = b
    a[0] = x[1]
    return (a, x[2])
""", (X, 1)),
    "functions of the preamble": ("""
def f(x, y):
    p = not isinf(x) and isfinite(y)
    a = where(p, exp(-x), expit(y))
    b = plus(x * y, 0.5) / sqrt(abs(y) + 1.0)
    c = pow(x, 3.0) + maximum(x, y) - np.inf if x > 5.0 else np.nan
    return (a, b, c, p)
""", (0.3, -1.7)),
    "no tuple": ("""
def f(x):
    return x * 2.0
""", (0.3,)),
    "several returns, parameters bound anew": ("""
def f(x, n, m):
    a = empty(np.float64, 3)
    a[0] = x[0]
    if n > 5:
        b = zeros(np.float64, n)
        b[1] = 2.0
        x = b
        if m > 3:
            return (x, a, n)
        n = n + 1
    if m > 5:
        return (a, x, 7)
    x = a
    a[1] = x[0] * 2.0
    a[2] = a[1]
    return (x, a, n)
""", (X, 7, 3)),
    "the first of several returns": ("""
def f(x, n):
    a = empty(np.float64, 1)
    a[0] = x[0]
    if n > 5:
        return (x, a, 1)
    b = zeros(np.float64, n)
    return (b, a, n)
""", (X, 7)),
    "a function that calls itself, and adds to what it is handed": ("""
def falls(x, n, kept, top, floor):
    if deep(floor):
        if floor == 0:
            return (empty(np.float64, 0), 0.0, empty(np.float64, 0), 0,)
        raise ValueError('too deep')
    if n < 1:
        a = zeros(np.float64, 2)
        t = 1.0
    else:
        if top + 1 > len(kept):
            kept = grown(kept, top + 1)
        store(kept, x[n], top)
        top += 1
        b, u, kept, top = falls(x, n - 1, kept, np.int64(top), floor)
        c, v, kept, top = falls(x, n - 2, kept, np.int64(top), floor)
        for i in range(2):
            b[i] = b[i] * 0.5 + c[i] + x[n]
        a = b
        t = u * v + b[0]
    return (a, t, kept, top)


def f(x, n):
    floor = room()
    kept = empty(np.float64, 0)
    kept_top = 0
    a, t, kept, kept_top = falls(handed(x), n, kept, np.int64(kept_top), floor)
    s = 0.0
    for k in range(kept_top):
        s = s * 0.9 + kept[k]
    return (a, t, s, kept_top)
""", (X, 6)),
    "functions that call each other": ("""
def even(n, x):
    if n < 0:
        return (0.0,)
    if n == 0:
        t = x
    else:
        t, = odd(n - 1, x * 1.5)
    return (t,)


def odd(n, x):
    if n < 0:
        return (0.0,)
    if n == 0:
        t = -x
    else:
        u, = even(n - 1, x + 1.0)
        v, = even(0, u)
        t = u + v
    return (t,)


def nothing(a, n):
    a[n] = 5.0
    return ()


def f(x, n):
    a = zeros(np.float64, 3)
    nothing(a, 2)
    total = 0.0
    for k in range(n):
        t, = even(k, x)
        total += t
    return (total, a)
""", (0.7, 6)),
}  # fmt: skip


@pytest.mark.parametrize("what", PROGRAMS)
def test_as_python_runs_it(what: str) -> None:
    text, args = PROGRAMS[what]
    f = compiled(text)
    got, true = f(*args), by_python(text)(*args)
    assert is_translated(f)
    if not isinstance(true, tuple):
        got, true = (got,), (true,)
    for g, t in zip(got, true, strict=True):
        np.testing.assert_allclose(g, t, rtol=1e-14)
        assert isinstance(g, bool) == isinstance(t, (bool, np.bool_))


RAISES = """
def f(x, n):
    a = zeros(np.float64, 5)
    for k in range(n):
        b = empty(np.float64, k + 1)
        b[k] = x[k]
        if b[k] > 1.0:
            raise ValueError('too large')
        if k == 4:
            raise IndexError('four', 4)
        a[k] = b[k]
    if n == 3:
        raise ArithmeticError('three')
    return (a,)
"""
RAISES_INSIDE = """
def g(x, n, m):
    if n < 0:
        return (empty(np.float64, 0), 0.0)
    a = zeros(np.float64, 5)
    b = zeros(np.float64, n + 1)
    a[0] = x[n]
    if n == 0:
        if m == 3:
            raise IndexError('three')
        t = 1.0
    else:
        c, u = g(x, n - 1, m)
        d, v = g(x, n - 1, m - 1)
        a = c
        t = u + v + d[0] * b[0]
    return (a, t)


def f(x, n):
    a = zeros(np.float64, 5)
    a, t = g(x, n, n + 2)
    return (a, t)
"""


@pytest.mark.parametrize(
    "args, expected, line",
    [
        ((X, 7), IndexError("four", 4), 14),
        ((X + 2.0, 7), ValueError("too large"), 12),
        ((X, 3), ArithmeticError("three"), 17),
    ],
)
def test_exceptions_say_what_they_are_and_where(args: Any, expected: Any, line: int) -> None:
    f = compiled(RAISES)
    with pytest.raises(type(expected)) as e:
        f(*args)
    assert is_translated(f) and e.value.args == expected.args
    last = traceback.extract_tb(e.value.__traceback__)[-1]
    assert last.lineno == line and last.name == "f"


@pytest.fixture
def counted() -> Iterator[None]:
    """Numba's runtime counts what it allocates."""
    _nrt_python.memsys_enable_stats()
    yield
    _nrt_python.memsys_disable_stats()


def allocated() -> tuple[int, int]:
    gc.collect()
    s = rtsys.get_allocation_stats()
    return s.alloc - s.free, s.mi_alloc - s.mi_free


@pytest.mark.parametrize("what", [*PROGRAMS, "raises", "raises inside"])
def test_memory_is_given_back(what: str, counted: None) -> None:
    raising = {"raises": (RAISES, (X, 7)), "raises inside": (RAISES_INSIDE, (X, 4))}
    text, args = (PROGRAMS | raising)[what]
    f = compiled(text)

    def run() -> None:
        try:
            f(*args)
        except (IndexError, ValueError):
            assert what.startswith("raises")

    run()
    before = allocated()
    for _ in range(3):
        run()
    assert allocated() == before


def test_a_view_keeps_its_memory() -> None:
    f = compiled("""
def f(n):
    a = zeros(np.float64, n, 2)
    b = a.reshape((2 * n,))
    b[0] = 3.0
    c = a
    return (b, c.shape[0])
""")
    got, n = f(50)
    assert is_translated(f)
    others = [np.full(100, 9.0) for _ in range(20)]  # would be given the same memory
    assert got[0] == 3.0 and not got[1:].any() and n == 50 and len(others) == 20


@pytest.mark.parametrize(
    "text, args",
    [
        ("def f(x):\n    y = 1\n    if x > 0.0:\n        y = x\n    return (y,)\n", (0.5,)),
        ("def f(x):\n    if x > 0.0:\n        return (x,)\n    return (1,)\n", (-0.5,)),
        ("def f(x):\n    while x > 0.0:\n        return (x,)\n    return (-x,)\n", (0.5,)),
        ("def f(x):\n    x = 1\n    return (x,)\n", (0.5,)),
        ("def f(x):\n    return (sum([x, x]),)\n", (0.5,)),
        (
            "def g(x):\n    return g(x) if x > 1.0 else x\n\n\ndef f(x):\n    return (g(x),)\n",
            (0.5,),
        ),
    ],
)
def test_what_is_not_known_is_numbas(text: str, args: Any) -> None:
    """Emitted code has none of this: a name, a parameter or a result of two types, a return in a
    loop, lists, a function that calls itself before it says what it gives."""
    f = compiled(text)
    assert f(*args) == f.py_func(*args)
    assert not is_translated(f)


def test_an_overflow_is_seen_whatever_else_is_checked() -> None:
    """Sums and products of integers wrap where a check looks at them: LLVM may not assume that
    they don't."""

    def both(n):
        s = 0
        for i in range(n):
            s += i * i * n
        return s

    def fibonacci(n):
        a, b = 0, 1
        for _ in range(n):
            a, b = b, a + b
        return a

    def falling(n):
        return 1 if n < 2 else n * falling(n - 1)

    for f, small, large in ((both, 1000, 10**5), (fibonacci, 91, 93), (falling, 20, 21)):
        compiled = jitad.jit(f)
        assert compiled(small) == f(small)
        with pytest.raises(OverflowError):
            compiled(large)


def test_what_is_guarded_is_read_behind_a_branch() -> None:
    """A processor that reads it all the same may find no memory there; what is read before the
    condition is known shows in LLVM's text."""
    f = compiled("""
def f(x, n):
    return x[n] if n < x.shape[0] else -1.0
""")
    assert f(X, 10**12) == -1.0
    (text,) = f.inspect_llvm().values()
    kernel = text[text.index("entry:") : text.index("load double")]
    assert "br i1" in kernel


@pytest.mark.parametrize("x", [0.0, -0.0, 2.5, -1.0, math.inf, -math.inf, math.nan])
def test_floats_among_themselves_and_with_ints_that_stand_in_the_source(x: float) -> None:
    """These need not be looked up: what is written at once is what Python computes."""
    f = compiled("""
def f(x, y):
    a = 0.0
    if x != y:
        a += 1.0
    if x == 0:
        a -= 2
    if not x < 1:
        a += 4.0
    chosen = 0.0 if y >= x else -0.0
    sums = (x + 9007199254740993, 3 * x, x - y, x / 4, y / -0.0, -x, -(-y), 1 - x, -0.0 + x)
    return (a, x == 0, x != 0, 1 > x, x <= y, y > x, x >= 2, y == x, x != x, chosen, sums)
""")
    for y in (x, 0.0, -0.0, 2.0, math.nan):
        with np.errstate(all="ignore"):
            got, true = f(x, y), f.py_func(np.float64(x), np.float64(y))
        assert repr(_plain(got)) == repr(_plain(true))
    assert is_translated(f)


def _plain(value: Any) -> Any:
    """Numbers as Python's own."""
    return tuple(map(_plain, value)) if isinstance(value, tuple) else np.asarray(value).item()
