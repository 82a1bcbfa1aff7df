"""Does every construct that can't be traced say so, at the user's line?"""

from __future__ import annotations

import linecache
import random
import traceback

import numpy as np
import pytest
from running import check, run, traced

from jitad.errors import JitadError
from jitad.tape.types import Array, Scalar
from jitad.trace import context
from jitad.trace.refused import REFUSED, REFUSED_CALLS
from jitad.trace.rewrite import rewrite
from jitad.trace.trace import trace

FLOAT = Scalar("f8", True)

SOURCES = {
    "AsyncFunctionDef": "def f(x):\n    async def g():\n        return x\n    return x\n",
    "Await": "async def f(x):\n    return await x\n",
    "AsyncFor": "async def f(x):\n    async for i in x:\n        pass\n",
    "AsyncWith": "async def f(x):\n    async with x:\n        pass\n",
    "TryStar": "def f(x):\n    try:\n        x = 1\n    except* ValueError:\n        x = 2\n",
}  # fmt: skip


def from_text(source: str, name: str):
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    scope: dict = {}
    exec(compile(source, name, "exec"), scope)
    return scope["f"]


@pytest.mark.parametrize("kind", REFUSED, ids=lambda k: k.__name__)
def test_refused_statement(kind):
    f = from_text(SOURCES[kind.__name__], f"<refused {kind.__name__}>")
    # an async function is refused as such before what is in it
    names = [REFUSED[kind][0], "an async function"]
    with pytest.raises(JitadError) as e:
        trace(f, [FLOAT])
    assert any(f"{n} can't be traced" in str(e.value) for n in names)
    assert f"<refused {kind.__name__}>" in str(e.value)


@pytest.mark.parametrize("name", REFUSED_CALLS)
def test_refused_call(name):
    f = from_text(f"def f(x):\n    y = {name}()\n    return x\n", f"<call of {name}>")
    with pytest.raises(JitadError, match=rf"{name}\(\) can't be traced") as e:
        trace(f, [FLOAT])
    assert "line 2" in str(e.value) and REFUSED_CALLS[name] in str(e.value)


def refusal(f, *args):
    with pytest.raises(JitadError) as e:
        traced(f, *args)
    return str(e.value)


def test_kinds_differ_between_branches():
    def f(x):
        y = ("a", 2.0)
        if x > 0:
            y = ("def",)
        return [v for v in y]

    text = refusal(f, 1.0)
    assert "holds 'def' or 'a' and a float" in text and "for v in y" in text and "^" in text


def test_kind_changes_in_a_loop():
    def f(x, n):
        y = "a"
        for i in range(len(n)):
            if i == 3:
                y = "b"
        return x if y == "a" else x * 2

    check(f, 1.0, np.ones(5))  # its length is relied on


def test_a_list_grows_in_a_traced_loop():
    def f(x):
        out = []
        for v in x:
            out.append(v)
        return out

    check(f, np.ones(5), others=[(np.arange(3.0),)])


def test_traced_index_of_unlike_elements():
    def f(x, fs):
        s = 0.0
        for i in range(len(x)):
            s += fs[i](x[i])
        return s

    check(f, np.array([-1.0, 2.0]), (abs, float))
    with pytest.raises(JitadError, match="can't become an index of a Python"):
        trace(f, [Array("f8", 1), (abs, float) * 40])


def test_catching_what_depends_on_traced_values():
    def f(x):
        try:
            y = 1.0 / x
        except ZeroDivisionError:
            y = 0.0
        return y

    check(f, 1.0, others=[(0.0,)])

    def g(x):
        try:
            if x > 0:
                raise ValueError
        except ValueError:
            return 1.0
        return x

    check(g, 1.0, others=[(-1.0,)])


def test_recursion_without_an_end():
    def onward(x):
        return 1.0 + onward(x - 1) if x > 1 else onward(x)

    assert "onward" in refusal(onward, 3.0) and "on every path" in refusal(onward, 3.0)


def test_static_recursion_unfolds():
    def power(x, n):
        return 1.0 if n == 0 else x * power(x, n - 1)

    check(power, 1.5, 6)


def test_unrepeatable_functions():
    def f(x):
        return x * random.random()

    def g(x):
        return x + np.random.rand()  # noqa: NPY002

    for k in (f, g):
        assert "something else at every call" in refusal(k, 1.0)


def test_missing_source():
    scope: dict = {}
    exec("def f(x):\n    return x\n", scope)
    with pytest.raises(JitadError, match="source of f is missing"):
        trace(scope["f"], [FLOAT])


def test_stale_source(tmp_path):
    path = tmp_path / "edited.py"
    path.write_text("def f(x):\n    return x\n")
    scope: dict = {}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    path.write_text("def f(x):\n    return x * 2\n")
    linecache.checkcache(str(path))
    with pytest.raises(JitadError, match="not the code that runs"):
        trace(scope["f"], [FLOAT])


def test_yield_under_a_traced_condition():
    def items(x):
        if x > 0:
            yield x
        yield 1.0

    def f(x):
        taken = items(x)
        return next(taken) + next(taken)

    assert "a generator can't go on after a loop" in refusal(f, 1.0)


def test_advancing_an_iterator_under_a_traced_condition():
    def f(x):
        it = iter([1.0, 2.0])
        if x > 0:
            y = next(it)
        else:
            y = next(it) + 1
        return y

    assert "can't be advanced" in refusal(f, 1.0)


def test_text_of_a_traced_value():
    def f(x):
        return len(f"x is {x:.3f}")

    assert "known only when the kernel runs" in refusal(f, 1.0)

    def g(x):
        if x > 2:
            raise ValueError(f"too large: {x:.1f} at {3:02d}")
        return x

    t = traced(g, 1.0)
    with pytest.raises(ValueError, match=r"too large: 3\.0 at 03"):
        run(t, g, 3.0)


def test_endless_loop_of_known_condition(monkeypatch):
    monkeypatch.setattr(context, "MAX_UNROLLED", 200)

    def f(x):
        k = 0
        while k >= 0:
            x = x + [1.0, 2.0][k % 2] * len("ab" * (k + 1))
            k += 1
        return x

    assert "written out" in refusal(f, 1.0)


def test_loops_that_would_be_written_out_many_times_say_why_they_can_t_stay_loops(monkeypatch):
    """As many iterations of all of them together as of one."""
    monkeypatch.setattr(context, "MAX_UNROLLED", 200)

    def f(x):
        d = [[x * abs(i - j) for j in range(8)] for i in range(8)]
        for k in range(8):
            over = d[k]
            for i in range(8):
                row = d[i]
                for j in range(8):
                    if row[k] + over[j] < row[j]:
                        row[j] = row[k] + over[j]
                        d[j] = list(row)
        return d[1][2]

    assert "Index an array by it" in refusal(f, 1.0)


def test_traceback_of_a_rewritten_function_shows_the_users_line():
    def f(x):
        y = x + 1
        return undefined_name + y  # noqa: F821

    with pytest.raises(NameError) as e:
        traced(f, 1.0)
    last = traceback.extract_tb(e.value.__traceback__)[-1]
    assert last.filename == __file__ and "undefined_name" in (last.line or "")


def test_rewritten_functions_do_what_python_does():
    def f(xs, k):
        out = []
        for i, v in enumerate(xs):
            if v is None:
                continue
            if i > k:
                break
            out.append(v if v > 1 else -v)
        else:
            return "all", out
        del i
        return {n: v for n, v in zip("abc", out) if v}, len(out)

    g = rewrite(f)
    for args in (([1, 2, None, 3, 4], 2), ([0, 5], 9), ([], 0)):
        if args[0]:
            assert g(*args) == f(*args)
    assert g.__name__ == f.__name__ and rewrite(g) is g
    with pytest.raises(UnboundLocalError):
        rewrite(unbound)(0)


def unbound(x):
    if x:
        y = 1
    return y


def test_many_arms_and_deep_nests():
    arms = "".join(f"    elif x < {k}:\n        y = x * {k}\n" for k in range(1, 15))
    f = from_text(f"def f(x):\n    if x < 0:\n        y = 0\n{arms}    return y\n", "<arms>")
    check(f, 7.5, others=[(-1.0,), (0.5,), (20.0,)])
