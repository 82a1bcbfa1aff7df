"""Does a call that runs no Python notice all that Python would have noticed?

What a shortcut relies on is changed in each way that Python allows; the results are those of the
plain function, or written by hand.
"""

from __future__ import annotations

import copy
import gc
import pickle
import sys
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import JitadError, jit, jit_grad, jit_value_and_grad
from jitad.emit.numba_private import layout
from kernels.rosenbrock import objective
from tests.api.counting import calls_of

pytestmark = pytest.mark.skipif(
    not layout.LAYOUT_IS_KNOWN, reason="objects are laid out otherwise"
)

X = np.array([1.0, 2.0, 3.0])


@pytest.fixture
def python(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The calls that came to Python, of functions that are compiled from here on."""
    return calls_of("_call", monkeypatch)


def test_structures_take_one_frame(python: list[Any]) -> None:
    """Arguments in structures are taken by an entry of their own, keywords by the general way."""
    g = jit_grad(lambda p, a0=1.0: p["w"] * p["w"] * a0)
    p = {"w": 3.0}
    g(p)
    del python[:]
    assert isinstance(g.__call__, types.FunctionType)
    assert g(p) == {"w": 6.0} and not python
    assert g(p, a0=2.0) == {"w": 12.0} and len(python) == 1
    assert g(p) == {"w": 6.0}
    with pytest.raises(TypeError):
        g(p, 1.0, 2.0)
    with pytest.raises(TypeError):
        g(p, other=2.0)
    h = jit(lambda a0: a0["x"] * 2.0)
    for _ in range(3):
        assert h({"x": 1.0}) == h(a0={"x": 1.0}) == 2.0
    out = {"w": np.empty(2)}
    arrays = jit_grad(lambda p: np.sum(p["w"] * p["w"]))
    for _ in range(3):
        assert arrays({"w": np.ones(2)})["w"].tolist() == [2.0, 2.0]
        assert arrays({"w": np.ones(2)}, out=out)["w"] is out["w"] and out["w"][0] == 2.0


def settled(g: Any, *args: Any) -> Any:
    """The function, called until it has a shortcut for such arguments."""
    g(*args)
    assert isinstance(g.__call__, types.BuiltinFunctionType)
    return g


def in_namespace(source: str) -> dict[str, Any]:
    """The names that a module of this source defines."""
    import linecache

    module = types.ModuleType("written")
    file = f"<written {id(module)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    exec(compile(source, file, "exec"), module.__dict__)
    return module.__dict__


CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], Any]] = {
    "a number": (jit_grad, (2.0,), 12.0),
    "an array": (lambda f: jit_grad(lambda x: np.sum(f(x))), (X,), 3 * X * X),
    "a pair": (jit_value_and_grad, (2.0,), (8.0, 12.0)),
    "a value": (jit, (2.0,), 8.0),
    "a tuple of one": (lambda f: jit(lambda x: (f(x),)), (2.0,), (8.0,)),
    "tuples in tuples": (lambda f: jit(lambda x: ((f(x), (x,)), (), (x, x))), (2.0,),
                         ((8.0, (2.0,)), (), (2.0, 2.0))),
    "a value and a pair": (lambda f: jit_value_and_grad(lambda x, y: f(x) + y, argnums=(0, 1)),
                           (2.0, 1.0), (9.0, (12.0, 1.0))),
}  # fmt: skip


def same(a: Any, b: Any) -> bool:
    if isinstance(a, tuple):
        return type(b) is tuple and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and bool(np.all(a == b))


@pytest.mark.parametrize("name", CALLS)
def test_a_steady_call_runs_no_python(name: str, python: list[Any]) -> None:
    make, args, expected = CALLS[name]
    g = make(lambda x: x * x * x)
    settled(g, *args)
    del python[:]
    for _ in range(3):
        assert same(expected, g(*args))
    assert not python


def test_out_is_written_without_python(python: list[Any]) -> None:
    g = settled(jit_grad(lambda x: np.sum(x * x)), X)
    pair = settled(jit_value_and_grad(lambda x: np.sum(x * x)), X)
    out, other = np.empty(3), X.copy()
    del python[:]
    assert g(X, out=out) is out and out.tolist() == [2.0, 4.0, 6.0]
    value, slope = pair(other, out=other)  # an argument will do as well
    assert value == 14.0 and slope is other and other.tolist() == [2.0, 4.0, 6.0]
    assert not python


def test_several_arrays_of_out_are_written_without_python(python: list[Any]) -> None:
    def f(x, a, y):
        return np.sum(x * x) * a + np.sum(y * y)

    y = np.array([1.0, 2.0])
    g = settled(jit_grad(f, argnums=(0, 1, 2)), X, 2.0, y)
    pair = settled(jit_value_and_grad(f, argnums=(0, 2)), X, 2.0, y)
    nested = settled(jit(lambda x: ((x + 1.0, np.sum(x)), (2.0 * x,))), X)
    a, b, x = np.empty(3), np.empty(2), X.copy()
    counts = [sys.getrefcount(v) for v in (a, b, x, y)]
    del python[:]
    for _ in range(5):
        slopes = g(X, 2.0, y, out=(a, None, b))
        assert slopes[0] is a and slopes[1] == 14.0 and slopes[2] is b
        assert a.tolist() == [4.0, 8.0, 12.0] and b.tolist() == [2.0, 4.0]
        value, (first, second) = pair(X, 3.0, y, out=(a, b))
        assert value == 47.0 and first is a and second is b and a.tolist() == [6.0, 12.0, 18.0]
        assert pair(x, 1.0, y, out=(x, b))[1][0] is x  # an argument will do as well
        assert x.tolist() == [2.0, 4.0, 6.0]
        x[:] = X
        (one, total), (two,) = nested(X, out=((a, "not looked at"), (x,)))
        assert one is a and total == 6.0 and two is x
        assert a.tolist() == [2.0, 3.0, 4.0] and x.tolist() == [2.0, 4.0, 6.0]
        x[:] = X
    assert not python
    del slopes, first, second, one, two
    assert [sys.getrefcount(v) for v in (a, b, x, y)] == counts


def test_several_arrays_of_out_that_do_not_fit_are_refused() -> None:
    g = settled(jit_grad(lambda x, y: np.sum(x * y), argnums=(0, 1)), X, X)
    a, b = np.zeros(3), np.zeros(4)
    memory = np.zeros(5)
    for wrong in ((a,), (a, a), (a, b), (a, b[:3], b), [a, b[:3]], a, None, (a, None), (None, a),
                  ((a, b[:3]),), (memory[:3], memory[2:]), (a, b[:3].astype("f4"))):  # fmt: skip
        with pytest.raises(JitadError, match="out"):
            g(X, X, out=wrong)
        assert not a.any() and not b.any() and not memory.any()
    found = g(X, X, out=(a, b[:3]))
    assert found[0] is a and a.tolist() == X.tolist() == b[:3].tolist()


def test_out_that_does_not_fit_is_refused() -> None:
    g = settled(jit_grad(lambda x: np.sum(x * x)), X)
    for wrong in (np.empty(2), np.empty((3, 1)), np.empty(3, np.float32), [0.0] * 3, None, 1.0):
        with pytest.raises(JitadError, match="out"):
            g(X, out=wrong)
    strided = np.zeros(6)[::2]
    assert g(X, out=strided) is strided and strided.tolist() == [2.0, 4.0, 6.0]


def test_what_is_no_word_of_ours_goes_to_the_function() -> None:
    def scaled(x, out=2.0):
        return np.sum(x * x) * out

    g = settled(jit_grad(scaled), X)
    assert g(X, out=1.0).tolist() == [2.0, 4.0, 6.0]
    assert g(X).tolist() == [4.0, 8.0, 12.0]
    h = settled(jit(lambda x, y: x - y), 1.0, 2.0)
    assert h(y=1.0, x=5.0) == h(5.0, y=1.0) == 4.0 == h(5.0, 1.0)
    for wrong in ((1.0,), (1.0, 2.0, 3.0), ()):
        with pytest.raises(TypeError):
            h(*wrong)


def test_kinds_of_arguments_are_told_apart() -> None:
    f = jit(lambda x: x / 3 if isinstance(x, float) else x)
    for value in (2.0, 2, True, np.float64(2.0), np.float32(2.0), 2.0):
        for other in (value, 2.0, value):
            got = f(other)
            assert got == (other / 3 if isinstance(other, float) else other)
    inverse = settled(jit(lambda x: 1.0 / x), np.float64(2.0))
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            inverse(0.0)
        assert inverse(np.float64(0.0)) == np.inf
    g = jit(lambda x: 2.0 * x)
    arrays = [X, X[::2], X.reshape(1, 3), X.astype(np.float32), np.ones(1), np.empty(0),
              np.asfortranarray(np.ones((2, 3)))]  # fmt: skip
    frozen = X.copy()
    frozen.flags.writeable = False
    for a in [*arrays, frozen]:
        for b in (X, a, a):
            assert np.array_equal(g(b), 2.0 * b) and g(b).dtype == b.dtype


def test_names_that_are_bound_anew() -> None:
    space = in_namespace(
        "import numpy as np\nscale = 2\ndef inner(x):\n    return x * x\n"
        "def f(x):\n    return inner(x) * scale + np.sin(x)\n"
    )
    f = space["f"]
    g = settled(jit(f), 2.0)

    def agree() -> None:
        for x in (2.0, 3.0):
            assert g(x) == pytest.approx(f(x), rel=1e-15)

    agree()
    space["scale"] = 3
    agree()
    space["scale"] = 3.5
    agree()
    space["inner"] = space["f"].__globals__["np"].cos
    agree()
    space["inner"] = in_namespace("def inner(x):\n    return x + 1.0\n")["inner"]
    agree()
    space["inner"].__code__ = in_namespace("def inner(x):\n    return x + 7.0\n")["inner"].__code__
    agree()
    space["np"] = types.SimpleNamespace(sin=lambda x: x)
    agree()
    del space["scale"]
    with pytest.raises(NameError):
        f(2.0)
    with pytest.raises((NameError, JitadError)):
        g(2.0)


def test_what_is_captured_is_read_anew(python: list[Any]) -> None:
    """Numbers and arrays of namespaces, modules, closures, defaults; other kinds by Python."""
    space = in_namespace(
        "import numpy as np\nimport numpy as settings\nrate, data = 2.0, np.ones(3)\n"
        "def f(x, shift=0.5):\n    return np.sum(rate * data * x + settings.offset + shift)\n"
    )
    settings = types.ModuleType("settings")
    settings.offset = 1.0  # type: ignore[attr-defined]
    space["settings"] = settings
    f, weight = space["f"], np.array([1.0, 2.0, 4.0])
    g = settled(jit(lambda x: f(x) + np.sum(weight * x)), X)

    def agree(quick: bool) -> None:
        del python[:]
        for x in (X, X + 1.0):
            expected = float(f(x) + np.sum(weight * x))
            assert g(x) == pytest.approx(expected, rel=1e-14)
        assert not (quick and python)

    agree(True)
    space["rate"] = 3.5
    agree(True)
    space["data"] = np.array([1.0, 2.0, 3.0])
    agree(True)
    space["data"][1] = 7.0
    agree(True)
    settings.offset = -1.0  # type: ignore[attr-defined]
    agree(True)
    weight = np.ones(3)
    agree(True)
    f.__defaults__ = (4.5,)
    agree(False)
    space["data"] = np.array([1, 2, 3])
    agree(False)
    space["data"] = np.ones((2, 3))
    agree(False)
    space["data"], space["rate"] = np.ones(6)[::2], np.float64(1.5)
    agree(False)
    space["rate"] = 2
    agree(False)
    space["data"] = np.ones(1)
    agree(False)
    del space["rate"]
    for _ in range(2):
        with pytest.raises((NameError, JitadError)):
            g(X)


def test_variables_of_closures_that_change() -> None:
    power, shift = 2, 1.0

    def f(x):
        return x**power + shift

    def once_more(n: int) -> None:
        nonlocal power
        power = n

    g = settled(jit(lambda x: x * power), 2.0)
    h = jit(f)
    for n in (2, 3, 10**6, 2):
        once_more(n)
        assert g(2.0) == 2.0 * n
        assert n > 9 or h(2.0) == f(2.0)
    shift = 5.0
    assert h(2.0) == f(2.0) == 9.0


def test_a_module_whose_attribute_changes() -> None:
    module = types.ModuleType("settings")
    module.degree = 2  # type: ignore[attr-defined]
    space = in_namespace("def f(x):\n    return x ** settings.degree\n")
    space["settings"] = module
    g = jit(space["f"])
    for degree in (2, 2, 3, 3, 2):
        module.degree = degree  # type: ignore[attr-defined]
        assert g(3.0) == 3.0**degree


def test_what_the_kernel_finds_out() -> None:
    """An extent of one is another trace; what the program raises is raised."""
    g = settled(jit(lambda x, y: x + y), X, X)
    assert np.array_equal(g(X, np.ones(1)), X + 1.0)
    assert np.array_equal(g(X, X), X + X)
    h = settled(jit(lambda x: 1.0 / x), 2.0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            h(0.0)
        assert h(4.0) == 0.25


@pytest.mark.parametrize("shape", [(0,), (1,), (128,), (129,), (3, 0), (2, 3), (16, 9), (2, 2, 2)])
def test_results_of_any_size_are_new_arrays(shape: tuple[int, ...]) -> None:
    """Small ones are NumPy's, others keep the kernel's memory: neither can be told from outside."""
    a = np.arange(float(np.prod(shape))).reshape(shape)
    g = jit(lambda a: 2.0 * a)
    g(a)
    first, second = g(a), g(a)
    assert type(first) is np.ndarray and first.shape == shape and first.dtype == np.float64
    assert first.flags.carray and not np.shares_memory(first, second)
    assert np.array_equal(first, 2.0 * a)
    second += 1.0
    assert np.array_equal(first, 2.0 * a)
    del second
    first.resize(shape[::-1], refcheck=False) if first.flags.owndata else None
    ints = jit(lambda a, k: np.zeros(a.shape, np.int64) + k)
    assert ints(a, 3).dtype == np.int64 and np.all(ints(a, 3) == 3)


def test_nothing_is_kept() -> None:
    """Arguments, results and `out`, also of calls that Python finishes, and those that fail."""
    g = settled(jit_grad(lambda x: np.sum(np.sqrt(x) if len(x) else x)), X)
    checked = settled(jit(lambda x, n: x[n] * x), X, 0)
    x, out, short = X.copy(), np.empty(3), np.empty(2)

    def counts() -> list[int]:
        return [sys.getrefcount(thing) for thing in (x, out, short, np.dtype("f8"), np.ndarray)]

    def each() -> None:
        g(x)
        g(x, out=out)
        with pytest.raises(JitadError):
            g(x, out=short)
        with pytest.raises(IndexError):
            checked(x, 7)
        checked(x, 1)

    each()
    gc.collect()
    before = counts()
    for _ in range(20):
        each()
    gc.collect()
    assert np.all(np.abs(np.subtract(counts(), before)) < 10)


def test_functions_that_nobody_holds_go() -> None:
    def make() -> Any:
        g = settled(jit_grad(lambda x: x * x), 2.0)
        assert g(3.0) == 6.0
        return weakref.ref(g)

    gone = make()
    gc.collect()
    assert gone() is None


def test_functions_that_were_called_can_be_pickled() -> None:
    """As those were that had not been: what they are made of goes, not what a call has found."""
    for make in (jit_grad, jit, jit_value_and_grad):
        g = settled(make(objective, memory=1e9, parallel=2), X)
        for other in (pickle.loads(pickle.dumps(g)), copy.copy(g), copy.deepcopy(g)):
            assert repr(other(X)) == repr(g(X)) and repr(other) == repr(g)
            assert (other.memory, other.threads) == (g.memory, g.threads)
    plain = pickle.loads(pickle.dumps(jit(objective)))
    assert (plain.memory, plain.threads) == (None, None)


def test_threads_call_at_once() -> None:
    g = settled(jit_grad(lambda x: np.sum(x * x)), X)
    wrong: list[Any] = []

    def run(k: int) -> None:
        x = X * k
        out = np.empty(3)
        for _ in range(300):
            if not np.array_equal(g(x), 2 * x) or not np.array_equal(g(x, out=out), 2 * x):
                wrong.append(k)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(1, 5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
