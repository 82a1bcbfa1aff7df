"""What does Python's library make of a dict with keys that are there on some paths only?

It reads containers without asking a hook: a key that may be missing would pass for one that is
there.
"""

import itertools
import json
import math
import operator
import types
from operator import itemgetter

import numpy as np
import pytest

import jitad
from jitad.errors import JitadError
from tests.trace.test_partial_dicts import options, test_it_is_pythons_dict


def got_by_a_getter(x):
    d = options(x)
    base, again = itemgetter("base", "base")(d)
    try:
        return base * again + itemgetter("bonus")(d)
    except KeyError:
        return 7.0 * base


def asked_by_functions(x):
    d = options(x)
    there = operator.contains(d, "bonus")
    return operator.getitem(d, "base") * (2.0 if there else 3.0)


def asked_in_a_map(x):
    d = options(x)
    found = sum(map(d.get, ["base", "bonus", "small"], [0.0, x, -x]))
    return found + sum(map(itemgetter("base"), [d, d]))


def backwards(x):
    d = options(x)
    keys = sum(d[k] * n for n, k in enumerate(reversed(d), 1))
    return keys + sum(v * n for n, v in enumerate(reversed(d.values()), 1))


def chained(x):
    d = options(x)
    values = sum(v * n for n, v in enumerate(itertools.chain(d.values(), [x], d.values()), 1))
    return values + sum(a * b for a, b in itertools.combinations(d.values(), 2))


def multiplied(x):
    d = options(x)
    return math.prod(d.values()) + sum(a * b for a, b in itertools.product(d.values(), [1.0, x]))


def taken_apart(x):
    first, *rest = options(x).values()
    return first + 2.0 * sum(rest) + len([*options(x), "one"]) * x


def put_in_a_list(x):
    out = [x]
    out.extend(options(x).values())
    out += options(x).values()
    return sum(v * n for n, v in enumerate(out))


def an_array(x):
    return np.sum(np.fromiter(options(x).values(), float) ** 2)


def united(x):
    d = {"bonus": 7.0 * x, "last": x} | options(x)
    e = options(x) | {"small": 2.0}
    e |= {"z": x}
    f = {"bonus": 1.0}
    f |= options(x)
    return sum(sum(v * n for n, v in enumerate(g.values(), 1)) for g in (d, e, f)) + len(e)


PROGRAMS = [got_by_a_getter, asked_by_functions, asked_in_a_map, backwards, chained, multiplied,
            taken_apart, put_in_a_list, an_array, united]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_it_is_what_python_makes_of_it(f):
    test_it_is_pythons_dict(f)


class Named(dict):
    pass


def by_pattern(x):
    match options(x):
        case {"bonus": _}:
            return x * x
    return x


REFUSED = {
    "given to mappingproxy": lambda x: len(types.MappingProxyType(options(x))) * x,
    "given to Named": lambda x: x * ("bonus" in Named(options(x))),
    "given to dumps": lambda x: x * len(json.dumps(options(x))),
    "given to .update": lambda x: x * len(set().union(["a"]) - _written({"a"}, options(x))),
    "given to .issubset": lambda x: x * {"base", "bonus"}.issubset(options(x)),
    "given to .fromkeys": lambda x: sum(dict.fromkeys(options(x), x).values()),
    "an operand of and": lambda x: x * len(options(x).keys() & {"base"}),
    "an operand of le": lambda x: x * ({"bonus"} <= options(x).keys()),
    "an operand of sub": lambda x: x * len({"bonus"} - options(x).keys()),
    "matched": by_pattern,
    "spread out by two stars": lambda x: types.SimpleNamespace(**options(x)).base,
}  # fmt: skip


def _written(target, more):
    target.update(more)
    return target


@pytest.mark.parametrize("why", REFUSED)
def test_what_library_code_would_read_wrongly_is_refused(why):
    f = REFUSED[why]
    with pytest.raises(JitadError, match=why) as error:
        jitad.jit(f, fallback=False)(1.5)
    assert "test_partial_reading.py" in str(error.value)
    line = _written.__code__ if why == "given to .update" else f.__code__
    first = error.value.where.line - line.co_firstlineno
    assert 0 <= first <= 3
