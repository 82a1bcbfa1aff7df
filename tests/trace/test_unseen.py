"""Is what library code writes to its objects undone, or refused, where paths and derivatives end?

Containers of the standard library that are written in Python, whose methods no trace sees.
"""

import array
import collections
import functools
import importlib
import math
import queue
import sys
import weakref

import numpy as np
import pytest

from jitad import JitadError, grad, jit, jit_value_and_grad, value_and_grad

KEY = type("Key", (), {})()
ROOT = functools.cache(math.sqrt)


def _stored(make, key):
    def put(d, v):
        d[key] = v

    return make, put, lambda d: d[key]


KINDS = {
    "UserDict": _stored(collections.UserDict, "a"),
    "a class of it": _stored(type("Own", (collections.UserDict,), {}), "a"),
    "UserList": _stored(lambda: collections.UserList([0.0]), 0),
    "ChainMap": _stored(lambda: collections.ChainMap({}), "a"),
    "WeakKeyDictionary": _stored(weakref.WeakKeyDictionary, KEY),
    "queue": (queue.LifoQueue, lambda d, v: d.put(v), lambda d: d.queue[-1]),
    "array": _stored(lambda: array.array("d", [0.0]), 0),
    "memoryview": _stored(lambda: memoryview(bytearray(2)), 1),
}


def _programs(make, put, get):
    def branch(x):
        d = make()
        put(d, 1)
        if x > 1.0:
            put(d, 4)
        return get(d) * x

    def loop(x):
        d = make()
        put(d, 0)
        k = 0.1
        while k < x:
            put(d, get(d) + 1)
            k += 0.3
        return get(d) * x

    def derivative(x):
        d = make()
        put(d, 1)

        def inner(y):
            put(d, get(d) + 2)
            return y * get(d)

        return grad(inner)(x) * x * get(d)

    return branch, loop, derivative


def _derived(derive, f, x):
    """Compiled, or eagerly where that is refused."""
    try:
        return derive(f)(x)
    except JitadError:
        assert derive is jit_value_and_grad
        return jit_value_and_grad(f, fallback=True)(x)


@pytest.mark.filterwarnings("ignore::jitad.FallbackWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_path_writes_is_not_seen_on_another(kind):
    for f, slopes in zip(_programs(*KINDS[kind]), ((4.0, 1.0), (5.0, 2.0), (9.0, 9.0))):
        for x, slope in zip((1.5, 0.7), slopes):
            for derive in (value_and_grad, jit_value_and_grad):
                assert _derived(derive, f, x) == pytest.approx((slope * x, slope)), (f.__name__, x)


@pytest.mark.parametrize("kind", ["WeakKeyDictionary", "queue", "array"])
def test_it_says_what_is_changed(kind):
    branch, *_ = _programs(*KINDS[kind])
    with pytest.raises(JitadError, match=r"changes a \w+ that was there before"):
        jit_value_and_grad(branch, fallback=False)(1.5)


def _table(n):
    b = np.zeros(n)
    for i in range(n):
        b[i] = i + 1.0
    return b


def cached(x):
    table = functools.lru_cache(lambda n: _table(n))
    return grad(lambda y: y * table(3)[2])(x) * x * table(3)[1]


def cached_library_code(x):
    """What is no function of Python's may be cached, too."""
    ones = functools.cache(functools.partial(np.full, fill_value=1.0))
    root = functools.cache(math.sqrt)
    return x * root(4.0) * ones(3)[1] + ROOT(16.0) * x


def queued(x):
    q = queue.Queue()

    def inner(y):
        q.put(_table(3))
        return y * 3.0

    return grad(inner)(x) * x * q.get()[1]


@pytest.mark.filterwarnings("ignore::jitad.FallbackWarning")
@pytest.mark.parametrize("f", [cached, queued])
def test_arrays_that_were_made_in_a_derivative_and_kept(f):
    for derive in (value_and_grad, jit_value_and_grad):
        assert _derived(derive, f, 1.5) == pytest.approx((9.0, 6.0))


def test_cached_functions_of_libraries():
    for derive in (value_and_grad, jit_value_and_grad):
        assert derive(cached_library_code)(1.5) == pytest.approx((9.0, 6.0))


LIBRARY = """
class Watchful:
    n = 0
    def _seen(self, *_):
        self.n += 1
        return self.n
    __contains__ = __len__ = __call__ = __add__ = __neg__ = __eq__ = __getitem__ = _seen
    def __bool__(self):
        return self._seen() > 0
    def __iter__(self):
        return iter([self._seen()])

class Filling(dict):
    def __missing__(self, key):
        self[key] = len(self)
        return self[key]
    def put(self, key):
        dict.__setitem__(self, key, 9)
"""


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Classes of an installed library, which change where they are looked at."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "zarr.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(str(folder))
    yield importlib.import_module("zarr")
    del sys.modules["zarr"]


@pytest.mark.parametrize("look", [
    lambda w: w["a"], lambda w: "a" in w, len, lambda w: w(), lambda w: w + 1, lambda w: -w,
    lambda w: w == 1, lambda w: 1 if w else 2, lambda w: next(iter(w)), lambda w: [k for k in w],
])  # fmt: skip
def test_objects_that_change_where_they_are_looked_at(look, library):
    def f(x):
        w = library.Watchful()
        if x > 1.0:
            look(w)
        return w.n * x

    with pytest.raises(JitadError, match="changes a Watchful that was there"):
        jit(f, fallback=False)(0.5)


@pytest.mark.parametrize("look", [lambda d: d["a"], lambda d: d.put("a")])
def test_dicts_of_libraries_that_fill_themselves(look, library):
    def f(x):
        d = library.Filling()
        if x > 1.0:
            look(d)
        return d["b"] * x

    with pytest.raises(JitadError, match="changes a Filling that was there"):
        jit(f, fallback=False)(0.5)


def counters(x):
    c, d = collections.Counter("aab"), collections.Counter("bz")
    if x > 1.0:
        c.update("zz")
        c.subtract({"a": 1})
        c += d
    return (c["a"] + 10 * c["b"] + 100 * c["z"]) * x


def test_what_methods_of_counters_write_stays_on_its_path():
    f = jit_value_and_grad(counters)
    assert f(0.5) == (6.0, 12.0)
    assert f(2.0) == (642.0, 321.0)
