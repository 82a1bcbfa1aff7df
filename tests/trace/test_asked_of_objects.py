"""Is what objects of the user's are asked for by Python itself asked for anew at each call?

CPython and NumPy call `__float__`, `__index__`, `__iter__`, `__array__` and the like of an object
from outside; what these read must not be what it was when the kernel was made.  The truth is the
expression itself; an engine may refuse.
"""

import bisect
import collections
import copy
import functools
import heapq
import itertools
import linecache
import math
import operator
import statistics
import types

import numpy as np
import pytest

from jitad import JitadError, jit


class Asked:
    __slots__ = ()

    def __float__(self):
        return float(self.k)

    def __int__(self):
        return int(self.k)

    def __index__(self):
        return int(self.k)

    def __complex__(self):
        return complex(self.k)

    def __round__(self, n=0):
        return round(self.k, n)

    def __floor__(self):
        return math.floor(self.k)

    def __ceil__(self):
        return math.ceil(self.k)

    def __trunc__(self):
        return math.trunc(self.k)

    def __abs__(self):
        return abs(self.k)

    def __neg__(self):
        return -self.k

    def __pos__(self):
        return self.k

    def __invert__(self):
        return self.k + 1

    def __bool__(self):
        return self.k > 2.5

    def __len__(self):
        return len(self.v)

    def __iter__(self):
        return iter(self.v)

    def __reversed__(self):
        return iter(self.v[::-1])

    def __contains__(self, t):
        return t in self.v

    def __getitem__(self, i):
        return self.v[i]

    def __call__(self, t):
        return t * self.k

    def __eq__(self, o):
        return self.k == getattr(o, "k", o)

    def __hash__(self):
        return hash(self.k)

    def __lt__(self, o):
        return self.k < getattr(o, "k", o)

    def __le__(self, o):
        return self.k <= getattr(o, "k", o)

    def __gt__(self, o):
        return self.k > getattr(o, "k", o)

    def __add__(self, o):
        return self.k + getattr(o, "k", o)

    __radd__ = __add__

    def __mul__(self, o):
        return o * self.k

    __rmul__ = __mul__

    def __sub__(self, o):
        return self.k - o

    def __rsub__(self, o):
        return o - self.k

    def __truediv__(self, o):
        return self.k / o

    def __rtruediv__(self, o):
        return o / self.k

    def __floordiv__(self, o):
        return self.k // o

    def __mod__(self, o):
        return self.k % o

    def __divmod__(self, o):
        return divmod(self.k, o)

    def __pow__(self, o):
        return self.k**o

    def __rpow__(self, o):
        return o**self.k

    def __matmul__(self, o):
        return self.k * np.sum(o)

    def __rmatmul__(self, o):
        return self.k * np.sum(o)

    def __format__(self, f):
        return format(self.k, f)

    def __str__(self):
        return str(self.k)

    def __repr__(self):
        return f"B({self.k})"

    def __enter__(self):
        return self.k

    def __exit__(self, *e):
        return False

    def keys(self):
        return ["a", "b"][: len(self.v)]

    def __array__(self, dtype=None, copy=None):
        return np.array(self.v, dtype=dtype)

    def __bytes__(self):
        return bytes(len(self.v))

    def __copy__(self):
        return type(self)(self.k + 1, self.v)

    def __length_hint__(self):
        return len(self.v)

    def __getattr__(self, n):
        if n == "dyn":
            return self.k * 2
        raise AttributeError(n)


class Slotted(Asked):
    __slots__ = ("k", "v")

    def __init__(self, k=2.0, v=(1.0, 2.0)):
        self.k = k
        self.v = list(v)


class Plain(Asked):
    def __init__(self, k=2.0, v=(1.0, 2.0)):
        self.k = k
        self.v = list(v)


class Mapping(Plain):
    def __getitem__(self, i):
        return self.k if i == "a" else self.v[-1] if isinstance(i, str) else self.v[i]


ASKED = [
    "float(K)",
    "int(K)",
    "operator.index(K)",
    "complex(K).real",
    "round(K)",
    "round(K, 1)",
    "math.floor(K)",
    "math.ceil(K)",
    "math.trunc(K)",
    "abs(K)",
    "-K",
    "+K",
    "~K",
    "bool(K) * 1.0",
    "not K",
    "(2.0 if K else 3.0)",
    "(K and 3.0) * 1.0",
    "K or 3.0",
    "len(K)",
    "sum(K)",
    "sum(v for v in K)",
    "max(K)",
    "min(*K)",
    "list(K)[-1]",
    "tuple(K)[0]",
    "[*K][0]",
    "[*reversed(K)][0]",
    "(2.0 in K) * 1.0",
    "K[0]",
    "K[-1]",
    "K[0:1][0]",
    "K(2.0)",
    "(K == 2.0) * 1.0",
    "(K == type(K)()) * 1.0",
    "(K != 2.0) * 1.0",
    "hash(K) % 7",
    "{2.0: 1.0}.get(K, 3.0)",
    "len({K, 2.0})",
    "collections.Counter([K, 2.0])[2.0]",
    "(K < 3.0) * 1.0",
    "(3.0 > K) * 1.0",
    "(K <= 2.0) * 1.0",
    "sorted([K, type(K)(3.0)])[0].k",
    "min([K, type(K)(3.0)]).k",
    "max(K, type(K)(3.0)).k",
    "heapq.nsmallest(1, [type(K)(3.0), K])[0].k",
    "heapq.nlargest(1, [type(K)(3.0), K])[0].k",
    "bisect.bisect([1.0, 2.5, 4.0], K)",
    "K + 1.0",
    "1.0 + K",
    "sum([K, K])",
    "sum([K, K], 0.5)",
    "functools.reduce(operator.add, [K, K])",
    "K * 2.0",
    "2.0 * K",
    "operator.mul(K, 3.0)",
    "K - 1",
    "1 - K",
    "K / 2",
    "2 / K",
    "K // 2",
    "K % 2",
    "divmod(K, 2)[1]",
    "K ** 2",
    "2 ** K",
    "pow(K, 2)",
    "K @ np.ones(2)",
    'float(f"{K:.1f}")',
    "float(str(K))",
    "len(repr(K))",
    'len("%s" % K)',
    'len("{:.3f}".format(K))',
    'float(format(K, ".2f"))',
    'len(",".join(map(str, K)))',
    "with_(K)",
    'len({**K}) if hasattr(K, "keys") else 0.0',
    "(lambda a, b=1.0: a + b)(**K)",
    'dict(K)["a"]',
    "(lambda *a: sum(a))(*K)",
    "np.array(K).sum()",
    "np.asarray(K)[0]",
    "np.sum(K)",
    "np.mean(K)",
    "np.dot(K, np.ones(len(K)))",
    "np.ones(2) * float(K)",
    "np.array([float(K), 1.0])[0]",
    "np.array([K.k, *K]).sum()",
    "np.float64(float(K))",
    "math.sqrt(K)",
    "math.hypot(K, 1.0)",
    "math.fsum(K)",
    "math.prod(K)",
    "math.dist(K, [0.0] * len(K))",
    "np.zeros(K).size",
    "np.zeros(len(K)).size",
    "range(K).stop",
    "[5.0, 6.0, 7.0, 8.0, 9.0][K]",
    "np.arange(9.0)[K]",
    "list(range(9))[:K][-1]",
    '"abcdefghij"[K:].__len__()',
    "itertools.accumulate(K).__next__()",
    "list(itertools.chain(K, [1.0]))[-2]",
    "list(zip(K, K))[0][1]",
    "dict(enumerate(K))[0]",
    "list(map(lambda t: t * 2, K))[0]",
    "list(filter(None, [K]))[0].k if K else 1.0",
    "any([K]) * 1.0",
    "all([K]) * 1.0",
    "statistics.mean(K)",
    "statistics.fmean(K)",
    "copy.copy(K).k",
    "next(iter(K))",
    "K.dyn",
    'getattr(K, "dyn", 1.0)',
    'getattr(K, "nope", 1.0)',
    'hasattr(K, "k") * K.k',
    "operator.itemgetter(0)(K)",
    'operator.attrgetter("k")(K)',
    'operator.methodcaller("keys")(K).__len__()',
    "isinstance(K, collections.abc.Iterable) * K.k",
    "functools.partial(K, 2.0)()",
    "list(map(K, [1.0]))[0]",
    "max([1.0, 2.0], key=K)",
    "sorted([1.0, -2.0], key=K)[0]",
    "unpack(K)",
    "starunpack(K)",
    "walrus(K)",
    "dele(K)",
    "aug(K)",
    "comp(K)",
    "np.vectorize(K)(np.ones(2)).sum()",
    "np.apply_along_axis(lambda r: r.sum() * K.k, 0, np.ones((2, 2))).sum()",
    "np.linspace(0, K, 3)[-1]",
    "np.full(2, float(K)).sum()",
    "np.clip(float(K), 0, 1)",
    "np.isclose(float(K), 2.0) * 1.0",
    "np.interp(float(K), [0.0, 9.0], [0.0, 1.0])",
    "round(float(K) * 10) / 10",
    'int.from_bytes(bytes(len(K)), "big") + len(K)',
    "K.v.index(K.v[-1])",
    "K.v.count(1.0)",
    "len(K.v) * K.v[-1]",
    '"".join("x" for _ in K).__len__()',
    "sum(1 for a, b in itertools.combinations(K, 2) if a < b)",
    "list(itertools.product(K, K))[-1][0]",
    "sum(a * b for a, b in zip(K, reversed(K)))",
    "[i for i, v in enumerate(K) if v == K.v[-1]][0]",
    '{k: v for k, v in zip("ab", K)}["a"]',
    "(K.k if K.v else 0.0)",
    "max(K.v, default=0.0)",
    "K.__class__(9.0).k + K.k",
    "type(K)(K.k).k",
]

HELPERS = """
def with_(K):
    with K as t: return t
def unpack(K):
    a, *b = K
    return a
def starunpack(K):
    *a, b = K
    return b
def walrus(K):
    if (n := K.k) > 1: return n
    return 0.0
def dele(K):
    d = {"a": K.k, "b": 1}
    del d["b"]
    return sum(d.values())
def aug(K):
    t = 1.0
    t += K
    t *= K
    return t
def comp(K): return sum(v for v in K if v > K.k - 1.5)
"""
NAMES = {m.__name__: m for m in (bisect, collections, copy, functools, heapq, itertools, math,
                                 operator, statistics)} | {"np": np}  # fmt: skip


def of_text(expression):
    """The expression of K as functions of x: with K as a global, and as an argument."""
    text = f"{HELPERS}\ndef f(x):\n    return x * ({expression})\n"
    text += f"def g(x, K):\n    return x * ({expression})\n"
    file = f"<asked {expression}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    module = types.ModuleType("asked")
    vars(module).update(NAMES)
    exec(compile(text, file, "exec"), vars(module))
    return module


def changes(kind):
    """An object, changed again and again; at last another one."""
    thing = kind()
    yield thing
    thing.k = 3.0
    yield thing
    thing.v[-1], thing.k = 7.5, 1.0
    yield thing
    thing.v.append(0.5)
    thing.k = 4.0
    yield thing
    yield kind(6.0, [9.0])


def _does(kind, expression):
    module = of_text(expression)
    try:
        float(module.g(1.0, kind()))
    except Exception:
        return False
    return True


@pytest.mark.parametrize(
    ("kind", "expression"),
    [(k, e) for k in (Slotted, Plain, Mapping) for e in ASKED if _does(k, e)],
)
def test_what_objects_are_asked_for(kind, expression):
    module = of_text(expression)
    by_global, by_argument = jit(module.f), jit(module.g)
    for call in (lambda k: by_global(1.5), lambda k: by_argument(1.5, k)):
        for k in changes(kind):
            module.K = k
            try:
                want = float(module.f(1.5))
            except Exception as error:
                with pytest.raises(type(error)):
                    call(k)
                continue
            try:
                assert float(call(k)) == pytest.approx(want, rel=1e-13)
            except JitadError:
                pass
