"""How often is the body of a nest of loops traced?  Once more a level, and not twice as often."""

import linecache
from types import SimpleNamespace

import numpy as np
import pytest

from jitad import jit_value_and_grad, value_and_grad
from jitad.trace.flow.rolled import Rolled
from tests.trace.running import run, traced

DEPTH = 5
LEVELS = [f"{'    ' * k}for i{k} in range(n):" for k in range(1, DEPTH + 1)]


def nest(before, body, result, levels=LEVELS):
    """The source of a function of x and n whose innermost loop has this body."""
    inner = "    " * (DEPTH + 1)
    lines = ["def f(x, n):", f"    {before}", *levels, inner + body, f"    return {result}"]
    return "\n".join(lines) + "\n"


def function_of(text):
    file = f"<nest {text}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"np": np, "SimpleNamespace": SimpleNamespace}
    exec(compile(text, file, "exec"), space)
    return space["f"]


MADE_INSIDE = [
    line
    for k, level in enumerate(LEVELS, 1)
    for line in (
        level,
        f"{'    ' * (k + 1)}t{k} = np.zeros(2)",
        f"{'    ' * (k + 1)}t{max(k - 1, 1)}[1] += x",
    )
]
NESTS = {
    "an array written": nest("a = np.zeros(n)", "a[i1] += x * i5", "a.sum()"),
    "an array anew": nest("a = np.zeros(n)", "a = a + x * i5", "a.sum()"),
    "arrays in turn": nest("u = np.ones(n)", "v = u * x; u, v = v, u", "u.sum()"),
    "arrays made inside": nest("s = 0.0", "t4[0] += t1[1]; s += t4[0]", "s", MADE_INSIDE),
    "numbers": nest("s, k = 0.0, 0", "k += 1; s += x * k", "s"),
    "complex": nest("s = 0j", "s = 0.5 * s + x * 1j", "abs(s)"),
    "a tuple": nest("s = 0.0, 0.0", "s = s[1], s[0] + x", "s[0]"),
    "a list": nest("s = [0.0, 0.0]", "s[0] += x; s[1] += s[0]", "s[1]"),
    "a list that grows": nest("s = []", "s.append(x * i5)", "0.0 if not s else s[0] + s[-1]"),
    "a dict": nest("s = {'p': 0.0}", "s['p'] += x", "s['p']"),
    "an object": nest("s = SimpleNamespace(p=0.0)", "s.p += x", "s.p"),
    "None at first": nest("s = None", "s = x if s is None else 0.5 * s + x", "s"),
    "one name, in the end": nest("s, last = 0.0, 0", "s += last * x; last = i5", "s"),
}


@pytest.mark.parametrize("text", NESTS.values(), ids=NESTS)
def test_passes(text, monkeypatch):
    f = function_of(text)
    passes, begin = [], Rolled._begin
    monkeypatch.setattr(Rolled, "_begin", lambda loop: (passes.append(loop), begin(loop))[1])
    t = traced(f, 0.7, 2, ints=True)
    assert len(passes) <= (DEPTH + 1) * (DEPTH + 2) // 2
    assert run(t, f, 0.7, 2) == pytest.approx(f(0.7, 2), rel=1e-14)
    assert run(t, f, 0.7, 3) == pytest.approx(f(0.7, 3), rel=1e-14)


def grows_and_not(x, n):
    """What the inner loops carry differs from one iteration of the outer to the next."""
    total, step, held = 0.0, 1, x
    for i in range(n):
        acc, kept = np.zeros(2), [x, 1.0]
        for j in range(n):
            if i > 0:
                held = held * 0.5 + acc[0]
            for k in range(n):
                acc[k % 2] += step * x
                kept[j % 2] = kept[0] + held
            step += i
        total += acc[1] * kept[1]
    return total + held


def last_of_names(x, n):
    """Names that are first bound inside, and arrays that change their names."""
    a, b, y = np.array([x, 1.0]), np.array([2.0, x]), x
    for i in range(n):
        for j in range(n):
            a, b = b, a
            a[0] += x
            for _ in range(j):
                y = a[1] * y
                b[1] = y
                if y > 3.0:
                    break
            c = a * i
        b = b + c
    return y + a.sum() + b[0]


def other_names(x, n):
    """What had another name before is not what is made of it, but what is swapped may be."""
    a, b = np.array([x, 1.0]), np.array([2.0, x])
    was, is_, s = a, b, 0.0
    for _ in range(n):
        for _ in range(n):
            for k in range(2):
                a = a * x
                a[k] += 1.0
                s += was[k] + is_[0]
                b[0] += 0.1 * was[1]
            a[0] += is_[1]
    return s + a.sum() + b.sum()


def rebinds_later(x, n):
    """A name that comes to be another array only in later iterations of the outer loop."""
    a, b, k = np.ones(2), np.zeros(2), 0
    for _ in range(n):
        for j in range(n):
            b[0] += x
            a[0] += x * j
            if k > 1:
                a = a * 0.5
            a[1] += b[0]
        k += 1
    return a.sum() + b[0]


def raises_later(x, n):
    """An exception that leaves the inner loop only in later iterations of the outer loop."""
    a, total, k = np.zeros(2), 0.0, 0
    for _ in range(n):
        try:
            for j in range(n):
                a[j % 2] += x
                total += x * j
                if k > 1 and j > 1:
                    raise ValueError("enough")
                a[0] *= 0.9
        except ValueError:
            total -= a[0]
        k += 1
    return total + a.sum()


def made_under_a_condition(x, n):
    """An array that only some iterations make, and that is written in the loops inside."""
    s = 0.0
    for i in range(n):
        if i % 2:
            w = np.full(2, x)
        else:
            w = np.ones(2)
            v = w * x
            s += v[0]
        for j in range(n):
            for k in range(2):
                w[k] += x * j
            s += w[0] * w[1]
    return s


VALUES = [
    grows_and_not,
    last_of_names,
    other_names,
    rebinds_later,
    raises_later,
    made_under_a_condition,
]


@pytest.mark.parametrize("f", VALUES)
def test_values(f):
    t = traced(f, 0.7, 2, ints=True)
    for x, n in ((0.7, 2), (1.3, 3), (-0.4, 4), (0.5, 5)):
        assert run(t, f, x, n) == pytest.approx(f(x, n), rel=1e-13)


def a_view_of_it(a, n):
    for _ in range(n):
        a[0] /= 3
        for _ in range(1, n + 2):
            t = a[...]
            a[:] /= 2
    return a.sum() + np.sin(t).sum()


def an_element_of_it(a, n):
    for i in range(n):
        a[-1] *= 0.5 + i
        for _ in range(1, n + 2):
            t = a[1, ...]
            a[1:] /= 2 + t
    return a.sum() * np.sin(t)


def a_part_by_the_index(a, n):
    for _ in range(n):
        a[0] /= 3
        for j in range(1, n + 2):
            t = a[j % 2 :]
            a[:] /= 2
    return a.sum() + np.sin(t).sum()


def of_another(a, n):
    b = a * 2.0
    for i in range(n):
        b[i % 3] += a[0]
        for _ in range(n):
            t, u = b[::2], a[:2]
            b[:] *= 0.7
        a[1] = t[0]
    return (t * 2.0).sum() + u.sum() * b.sum()


def three_deep(a, n):
    for _ in range(n):
        a[0] /= 3
        for _ in range(n):
            a[1] *= 1.5
            for _ in range(n):
                t = a.reshape(-1, 1)
                a[2] -= t[0, 0]
    return a.sum() + np.sin(t).sum()


VIEWS = [a_view_of_it, an_element_of_it, a_part_by_the_index, of_another, three_deep]


@pytest.mark.parametrize("f", VIEWS, ids=lambda f: f.__name__)
def test_views_that_loops_inside_bind(f):
    """What a view shows is not read before the loop around that has made it runs."""
    x = np.array([0.9, 0.4, 1.7])
    for n in (1, 2, 3):
        def g(a, n=n):
            return f(a.copy(), n)

        true = [(g(x + h) - g(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
        for value, gradient in (jit_value_and_grad(f)(x, n), value_and_grad(f)(x, n),
                                jit_value_and_grad(g)(x)):  # fmt: skip
            assert value == pytest.approx(g(x), rel=1e-13)
            np.testing.assert_allclose(gradient, true, rtol=1e-6, atol=1e-8)
