"""Do iterators read what they go over when its turn comes, as Python's do, and only once?

Between where it is made and where it is gone over, and in the loop over it, what an iterator goes
over is written here, gets longer, or is looked at in another way; what it calls has effects.
"""

import itertools
import re

import numpy as np
import pytest

from jitad import JitadError, grad, jit, jit_grad
from tests.engines import in_place_of_a_kernel


def longer(x):
    """A list whose length only the kernel knows."""
    out = []
    for k in range(6):
        if x[k % 3] > 0.2 * k:
            out.append(x[k % 3] * (k + 1))
    return out


def zip_static_written(x):
    l = [x[0], x[1], x[2]]
    l2 = longer(x)
    s = 0.0
    for a, b in zip(l, l2):
        s += a * b
        l[2] = 5.0 * x[1]
        l[1] = a * 2
    return s


def zip_rev_written(x):
    l = [x[0], x[1], x[2]]
    l2 = longer(x)
    s = 0.0
    for a, b in zip(reversed(l), l2):
        s += a * b
        l[0] = 5.0 * x[1]
    return s


def enum_created_before_growth(x):
    l2 = longer(x)
    it = enumerate(l2)
    l2.append(x[0])
    s = 0.0
    for k, v in it:
        s += k * v
    return s


def zip_created_before_growth(x):
    l2 = longer(x)
    it = zip(l2, l2)
    l2.append(x[0] * 3)
    s = 0.0
    for k, v in it:
        s += k * v
    return s


def rev_stretch_growth(x):
    l2 = longer(x)
    it = reversed(l2)
    l2.append(x[0] * 3)
    s = 0.0
    for v in it:
        s = s * 1.1 + v
    return s


def zip_of_genexprs(x):
    l = longer(x)
    l2 = longer(x * 1.1)
    it = zip((2 * v for v in l), (v * v for v in l2))
    l[0] = 7.0 * x[0]
    s = 0.0
    for a, b in it:
        s += a * b
    return s


def zip_of_gen_and_list(x):
    l = longer(x)
    l2 = longer(x * 1.1)
    it = zip((2 * v for v in l), l2)
    l[0] = 7.0 * x[0]
    l2[1] = x[2] * x[0]
    s = 0.0
    for a, b in it:
        s += a * b
    return s


def zip_of_list_and_gen(x):
    l = longer(x)
    l2 = longer(x * 1.1)
    log = []

    def g(v):
        log.append(v)
        return v * v

    it = zip(l2, (g(v) for v in l))
    l[0] = 7.0 * x[0]
    l2[1] = x[2] * x[0]
    s = 0.0
    for a, b in it:
        s += a * b
    return s + sum(log)


def map_effects(x):
    l = longer(x)
    log = []

    def g(v):
        log.append(v)
        return v * v * len(log)

    it = map(g, l)
    log.append(3.0 * x[0])
    return sum(it) + sum(log)


def map_two(x):
    l = longer(x)
    l2 = [x[0], x[1], x[2]]
    it = map(lambda a, b: a * b, l, l2)
    l2[0] = x[1] * 4
    return sum(it)


def chain_twice(x):
    l = longer(x)
    it = itertools.chain(l, [x[0]])
    return sum(it) + 10 * sum(it)


def prod_twice(x):
    l = longer(x)
    it = itertools.product(l, [x[0], x[1]])
    s = 0.0
    for a, b in it:
        s += a * b
    for a, b in it:
        s += 100 * a * b
    return s


def next_two(x):
    l = longer(x)
    it = iter(l)
    a = next(it)
    b = next(it, x[2])
    return a + 3 * b + sum(it) * 10


def next_filter(x):
    l = longer(x)
    it = filter(lambda v: v > 0.3, l)
    a = next(it, x[1])
    l.append(x[0] * 9)
    return a + 2 * sum(it)


def islice_mid(x):
    l = longer(x)
    s = 0.0
    for v in itertools.islice(l, 1, None):
        s += v
        l[-1] = x[0]
    return s


def pairwise_write(x):
    l = longer(x)
    s = 0.0
    for k, (a, b) in enumerate(itertools.pairwise(l)):
        s += a * b
        l[k + 1] = x[0]
    return s


def compress_(x):
    l = longer(x)
    it = itertools.compress(l, [1, 0, 1, 1])
    l[0] = x[0] * x[1]
    return sum(it)


def starmap_(x):
    l = longer(x)
    it = map(lambda a, b: a * b, l, l)
    l[0] = x[0] * x[1]
    return sum(it)


def accum_grow(x):
    l = longer(x)
    it = itertools.accumulate(l)
    l.append(x[0] * x[1])
    s = 0.0
    for v in it:
        s = s * 0.9 + v
    return s


def max_filter(x):
    l = longer(x)
    return (
        max(filter(lambda v: v < 1.0, l), default=x[0])
        + len(list(filter(None, l))) * x[1]
        + sorted(map(lambda v: -v, l))[0]
    )


def enum_map(x):
    l = longer(x)
    return sum((k * v for k, v in enumerate(map(lambda v: v * v, l)))) + sum(
        (a * b for a, b in zip(map(lambda v: v * 2, l), l))
    )


def unpack_filter(x):
    l = longer(x)
    first, *rest = filter(lambda v: v > 0.1, l)
    return first + 2 * sum(rest) + np.sum(np.array(list(map(lambda v: v + 1, l))))


def zip_2gens_second_written(x):
    l = longer(x)
    l2 = longer(x * 1.1)
    it = zip((2 * v for v in l), (v * v for v in l2))
    l2[0] = 7.0 * x[0]
    s = 0.0
    for a, b in it:
        s += a * b
    return s


def zip_2gens_body(x):
    l = longer(x)
    l2 = longer(x * 1.1)
    s = 0.0
    for a, b in zip((2 * v for v in l), (v * v for v in l2)):
        s += a * b
        l2[1] = 7.0 * x[0]
    return s


def zip_2gens_body2(x):
    l = longer(x)
    l2 = longer(x * 1.1)
    s = 0.0
    out = []
    for a, b in zip((2 * v for v in l), (v * v for v in l2)):
        s += a * b
        out.append(a)
    return s + sum(out)


def zip_gen_enum(x):
    l = longer(x)
    s = 0.0
    for a, (k, b) in zip((2 * v for v in l if v > 0.1), enumerate(l)):
        s += a * b * (k + 1)
    return s


def zip_enum_gen(x):
    l = longer(x)
    s = 0.0
    for (k, b), a in zip(enumerate(l), (2 * v for v in l if v > 0.1)):
        s += a * b * (k + 1)
    return s


def zip_keys_gen(x):
    l = longer(x)
    s = 0.0
    d = {"a": x[0], "b": x[1], "c": x[2]}
    for n, a in zip(d.values(), (2 * v for v in l if v > 0.1)):
        s += a * n
    return s


def zip_dict(x):
    l = longer(x)
    d = dict(zip(range(9), (2 * v for v in l if v > 0.1)))
    return sum(d.values()) + sum((k * v for k, v in d.items()))


def list_zip_map(x):
    l = longer(x)
    pairs = list(zip(l, map(lambda v: v * v, l)))
    return sum((a * b for a, b in pairs))


def cycle_written(x):
    l = longer(x)
    s = 0.0
    for k, v in zip(range(12), itertools.cycle(l)):
        s += v * k
        l[0] = x[0] * 0.1
    return s


def group_written(x):
    l = longer(x)
    it = itertools.groupby(l, key=lambda v: v > 0.9)
    l[-1] = 5.0 * x[0]
    s = 0.0
    for k, g in it:
        s = s * 1.1 + sum(g) * (2.0 if k else 1.0)
    return s


FUNCTIONS = [
    zip_static_written,
    zip_rev_written,
    enum_created_before_growth,
    zip_created_before_growth,
    rev_stretch_growth,
    zip_of_genexprs,
    zip_of_gen_and_list,
    zip_of_list_and_gen,
    map_effects,
    map_two,
    chain_twice,
    prod_twice,
    next_two,
    next_filter,
    islice_mid,
    pairwise_write,
    compress_,
    starmap_,
    accum_grow,
    max_filter,
    enum_map,
    unpack_filter,
    zip_2gens_second_written,
    zip_2gens_body,
    zip_2gens_body2,
    zip_gen_enum,
    zip_enum_gen,
    zip_keys_gen,
    zip_dict,
    list_zip_map,
    cycle_written,
    group_written,
]
REFUSED = [
    zip_of_list_and_gen, rev_stretch_growth, next_two, next_filter, zip_2gens_body, group_written,
]  # fmt: skip
WHY = r"gets longer or shorter|go on after a loop|writes to what"


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_it_reads_what_pythons_reads(f):
    for seed in range(4):
        x = np.abs(np.random.default_rng(seed).normal(size=3)) + 0.7
        slopes = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
        for engine, derive in ((jit(f), jit_grad(f)), (_eagerly(f), grad(f))):
            try:
                got, slope = engine(x), derive(x)
            except JitadError as e:
                assert f in REFUSED and derive is not grad(f), e
                assert re.search(WHY, str(e)), e
                continue
            np.testing.assert_allclose(got, f(x), rtol=1e-10)
            np.testing.assert_allclose(slope, slopes, rtol=1e-5, atol=1e-6)


def _eagerly(f):
    return lambda x: in_place_of_a_kernel(f, x)
