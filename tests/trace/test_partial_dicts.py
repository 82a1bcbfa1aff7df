"""Is a dict with keys that are there on some paths only what it is in Python?"""

import copy
from collections import Counter, OrderedDict, defaultdict

import numpy as np
import pytest

import jitad
from jitad.errors import JitadError
from tests.truth import differences


def options(x):
    d = {"base": x}
    if x > 1.0:
        d["bonus"] = x * x
    if x > 0.0:
        d["small"] = 3.0 * x
    return d


def asked(x):
    d = options(x)
    here = 1.0 if "bonus" in d else -x
    return d["base"] + d.get("bonus", 0.5) + d.get("none", x) + here + len(d)


def iterated(x):
    d, t = options(x), 0.0
    for k, v in d.items():
        t = 2.0 * t + v * len(k)
    for k in d:
        t = 3.0 * t + d[k]
    return t + sum(d.values()) + sum(v * v for v in d.values())


def a_view_twice(x):
    items = options(x).items()
    return sum(v for _, v in items) + sum(v * v for _, v in items) * len(items)


def other_keys_on_each_path(x):
    d = {"base": x}
    if x > 0.0:
        d["up"] = x * x
    else:
        d["down"] = 2.0 * x
    return sum(v * len(k) for k, v in d.items())


def removed(x):
    d = {"a": x, "b": x * x}
    if x > 0.0:
        del d["a"]
    else:
        d.pop("b")
    first = d.setdefault("a", 5.0 * x)
    return first * d["a"] + d.get("b", x) + d.pop("b", 2.0) + len(d)


def missing(x):
    try:
        return options(x)["bonus"] * 2.0
    except KeyError:
        return 7.0 * x


def in_another_order(x):
    d = {"a": x, "b": 2.0 * x} if x > 1.0 else {"b": x, "a": 5.0 * x}
    return d["a"] * d["b"] + sum(d.values())


def again_before_others(x):
    d = {}
    if x > 1.0:
        d["a"] = x
    d["b"] = x * x
    d["a"] = 3.0 * x
    return sum(d.values()) + len(d) * d["a"]


def counted_in_a_loop(x):
    d, v, n = {}, x, 0
    while v < 20.0 and n < 8:
        if v > 2.0:
            d["big"] = d.get("big", 0.0) + v
        elif v > 1.0:
            d.setdefault("middle", v)
        v = 1.5 * v + 1.0
        n += 1
    return d.get("big", 0.0) + 3.0 * d.get("middle", x) + len(d)


def by_a_chosen_key(x):
    kind = "big" if x > 1.0 else ("small" if x > 0.0 else "negative")
    d = {"big": 0.0, "small": 1.0}
    d[kind] = d.get(kind, 2.0 * x) + x * x
    return sum(d.values()) * len(d)


def copied(x):
    d = options(x)
    a, b, c = dict(d), d.copy(), copy.deepcopy(d)
    a["bonus"] = 1.0
    b.pop("small", None)
    c["bonus"] = x
    return sum(sum(e.values()) * (k + 1) for k, e in enumerate((a, b, c, d)))


def updated(x):
    d, e = options(x), {"bonus": 7.0 * x, "last": x}
    e.update(d)
    d.update(last=4.0 * x, small=x)
    return 2.0 * sum(e.values()) + sum(d.values()) + len(e)


def comprehended(x):
    e = {k: v * v for k, v in options(x).items()}
    e["small"] = e.get("small", 0.0) + 1.0
    return sum(e.values())


def written_down(x):
    d = {"bonus": 7.0 * x, **options(x), "small": x}
    e = {**options(x), "small": 2.0 * x}
    return sum(d.values()) * len(d) + sum(e.values())


def in_sorted_order(x):
    d = options(x)
    return sum(d[k] * (n + 1) for n, k in enumerate(sorted(d)))


def the_largest(x):
    d = options(x)
    return max(d.values()) + max(d.items(), key=lambda t: t[1])[1] + list(d.values())[-1]


def arrays_and_dicts_inside(x):
    d = {"w": np.ones(3) * x, "inner": {"a": x}}
    if x > 0.0:
        d["b"] = np.arange(3.0) * x
        d["w"][0] = 5.0 * x
        d["inner"]["c"] = x * x
    out = d["w"] * 2.0
    if "b" in d:
        out = out + d["b"]
    return np.sum(out**2) + sum(d["inner"].values())


def under_two_names(x):
    d = options(x)
    e = {"base": 1.0} if x > 0.0 else d
    e["new"] = x
    return len(d) * x + d["base"] + sum(e.values())


def empty_or_not(x):
    d = {}
    if x > 1.0:
        d["a"] = x
    return x * x if d else x * (1 + len(d))


PROGRAMS = [asked, iterated, a_view_twice, other_keys_on_each_path, removed, missing,
            in_another_order, again_before_others, counted_in_a_loop, by_a_chosen_key, copied,
            updated, comprehended, written_down, in_sorted_order, the_largest,
            arrays_and_dicts_inside, under_two_names, empty_or_not]  # fmt: skip
POINTS = (1.5, 0.3, -1.5)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_it_is_pythons_dict(f):
    compiled = jitad.jit(jitad.value_and_grad(f), fallback=False)
    for x in POINTS:
        slope, _ = differences(f, (x,), (0,), [1.0], 1e-3)
        for run in (compiled, jitad.value_and_grad(f)):
            value, derivative = run(x)
            assert value == pytest.approx(f(x), rel=1e-13)
            assert derivative == pytest.approx(slope, rel=1e-7, abs=1e-9)
    assert len(compiled.specialisations) == 1


def test_it_comes_back_with_the_keys_that_are_there():
    compiled = jitad.jit(options, fallback=False)
    for x in POINTS:
        assert compiled(x) == options(x)
        assert list(compiled(x)) == list(options(x))


def test_an_argument_gets_the_key_on_one_path_only():
    def write(x, d):
        if x > 0.0:
            d["b"] = x
        return x

    compiled = jitad.jit(write, fallback=False)
    for x in (1.0, -1.0):
        got, want = {"a": 1.0}, {"a": 1.0}
        compiled(x, got)
        write(x, want)
        assert got == want


def test_it_is_printed_as_it_is(capsys):
    def show(x):
        d = options(x)
        print(d, f"{d}")
        return x

    for x in POINTS:
        jitad.jit(show, fallback=False)(x)
        assert capsys.readouterr().out == f"{options(x)} {options(x)}\n"


def made_where_missing(x):
    log = defaultdict(list)
    log["a"].append(x)
    if x > 1.0:
        log["b"].append(x * x)
    log["b"].append(3.0 * x)
    if x > 0.0:
        log["c"].append(1.0)
    return sum(sum(v) for v in log.values()) * len(log)


def dicts_in_a_default_dict(x):
    d = defaultdict(lambda: defaultdict(float))
    if x > 1.0:
        d["u"]["v"] += x * x
    d["u"]["w"] += x
    if x > 0.0:
        d["t"]["v"] += x
    return sum(w * (i + 1) for e in d.values() for i, w in enumerate(e.values()))


def counted(x):
    c = Counter()
    c["z"] += 1
    if x > 1.0:
        c["w"] += x
    c["q"] -= x
    return sum(v * v for v in c.values()) + c["none"] + c["w"] * x


def in_order(x):
    d = OrderedDict()
    if x > 1.0:
        d["p"] = x
    d["r"] = 2.0 * x
    return sum((i + 1) * v for i, v in enumerate(d.values())) + d.pop("p", -x)


def counter_asked_for_most_common(x):
    c = Counter(a=x)
    if x > 1.0:
        c["b"] = 2.0
    return c.most_common(1)[0][1]


KINDS = [counter_asked_for_most_common, made_where_missing, dicts_in_a_default_dict, counted,
         in_order]  # fmt: skip


@pytest.mark.parametrize("f", KINDS, ids=lambda f: f.__name__)
def test_other_kinds_of_dicts(f):
    test_it_is_pythons_dict(f)


REFUSED = {
    "order of the keys": lambda x: [k for k in (
        {"a": x, "b": x} if x > 1.0 else {"b": x, "a": x})],
    "spread out by two stars": lambda x: dict(z=x, **options(x)),
    "operand of eq": lambda x: options(x) == {"base": x},
    "asked for .popitem": lambda x: options(x).popitem(),
}  # fmt: skip


@pytest.mark.parametrize("why", REFUSED)
def test_what_is_not_known_is_refused(why):
    with pytest.raises(JitadError, match=why) as error:
        jitad.jit(REFUSED[why], fallback=False)(1.5)
    assert "test_partial_dicts.py" in str(error.value)


def put_in_in_a_loop(x):
    """Lists and dicts that grow in it; the last list has another name."""
    by_name, nested, named, v = defaultdict(list), {}, [0.5], x
    for k in range(60):
        v = 1.01 * v
        for name, w in zip("ab", (v, k * v)):
            by_name[name].append(w)
        nested.setdefault("p", {}).setdefault("q", []).append(v)
        by_name.setdefault("c", named).append(k * x)
    before = sum(map(max, by_name.values()))
    for k in range(60):
        by_name["a"].append(k * x)
    more = sum(nested["p"]["q"]) + sum(named) * len(named)
    return before * sum(map(max, by_name.values())) + more


def test_what_is_put_in_where_it_is_missing_grows_in_a_loop():
    test_it_is_pythons_dict(put_in_in_a_loop)
