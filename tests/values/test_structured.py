"""Are arrays with fields (structured arrays, np.recarray) what they are in NumPy?"""

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numpy.lib import recfunctions

from jitad import (
    JitadError,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jit,
    jit_grad,
    jit_hessian,
    jit_hvp,
    jit_jvp,
    jit_value_and_grad,
    jit_vjp,
    jvp,
    value_and_grad,
    vjp,
)
from jitad.errors import JitadTypeError

KIND = np.dtype([("x", "f8"), ("y", "f8", (3,)), ("n", "i8"), ("c", "c16"),
                 ("q", [("a", "f4"), ("b", "f8")])])  # fmt: skip
FLAT = np.dtype([("x", "f8"), ("n", "i8")])


def _table(count, kind=KIND):
    d = np.zeros(count, kind)
    d["x"] = 1.0 + np.arange(count)
    d["n"] = [1, 0, 2, 1][:count]
    if kind is KIND:
        d["y"] = np.arange(3.0 * count).reshape(count, 3)
        d["c"] = 1 + 2j
        d["q"]["a"] = 0.5 * np.arange(count)
        d["q"]["b"] = 3.0
    return d


TABLE, FLATS = _table(4), _table(4, FLAT)
RECORDS = FLATS.view(np.recarray)
GRID = np.zeros((2, 3), FLAT)
GRID["x"] = 1.0 + np.arange(6.0).reshape(2, 3)


def columns(p, d):
    return (np.sum(p * d["x"] ** 2) + np.sum(np.abs(d["c"]) ** 2 * d["q"]["b"]) * p * p
            + np.sum(d["y"] * d["n"][:, None]) * p)  # fmt: skip


def from_outside(p, d):
    s = np.sum(np.exp(-p * TABLE["x"])) + RECORDS.x @ RECORDS.n * p**3
    for r in RECORDS:
        s += p * p * r.x**2 + d[0]["x"]
    return s


def rows(p, d):
    s = 0.0
    for k, r in enumerate(d):
        if r["n"] == 1:
            s += r["x"] * p**3 + d[k]["y"][1]
        else:
            s -= p * p * np.sum(r["y"])
    for r, q in zip(d, d[::-1], strict=True):
        s += r["x"] * q["x"] * p
    return s


def unpacked(p, d):
    s = 0.0
    for x, n in d[["x", "n"]]:
        s += p**n * x
    x, y, n, c, q = d[1]
    return s + p * (x + y[1] + n) + p * p * abs(c) ** 2 + q["b"] * p


def written(p, d):
    d["x"] *= p
    d[1]["x"] = p * p
    d[2] = d[1]
    d[-1]["q"]["b"] = p**3
    d["y"][0, 1:] = p
    return np.sum(d["x"]) + d["q"]["b"][-1] + d[3]["q"]["b"] + np.prod(d[0]["y"][1:])


def views(p, d):
    e = d.copy()
    v = e[1:3]
    v["x"] = p
    v["q"]["b"] += p * e["x"][1]
    some = e[["x", "q"]]
    some["x"][0] = p**3
    r = e[3]
    r["x"] = p
    e["x"][3] *= 2.0
    return np.sum(e["x"] * e["q"]["b"]) + r["x"] * p


def chosen(p, d):
    many = d[d["n"] > 0]
    best = d[np.argmax(d["x"])]
    ordered = d[np.argsort(-d["x"])]
    e = d if p > 0.0 else d[::-1]
    return (np.sum(p * p * many["x"]) + best["x"] * p + ordered["x"] @ np.arange(len(d)) * p**3
            + e["x"][0] * p + len(many) * p)  # fmt: skip


def carried(p, d):
    best = d[0]
    for r in d:
        if r["x"] * p > best["x"]:
            best = r
    for _ in range(5):
        new = d.copy()
        new["x"] += p * d["n"]
        d = new
    return best["x"] * p + np.sum(d["x"] ** 2)


def made(p, d):
    out = np.zeros(4, dtype=[("a", "f8"), ("b", "f4"), ("z", "c16")])
    for i in range(4):
        out[i]["a"] = p * i
        out["z"][i] = p * p * 1j
    rest = np.empty_like(d)
    rest[:] = d
    rest["x"][:2] = p
    pairs = np.array([(p, 2), (p * p, 3)], dtype=[("u", "f8"), ("k", "i4")])
    tuples = np.zeros(2, FLAT)
    tuples[0] = (p**3, 1)
    tuples[1:] = [(p, 4)]
    columns = np.rec.fromarrays([d["x"] * p, d["x"]], names="u,v")
    return (out["a"] @ out["a"] + np.sum(out["z"].imag) + np.sum(rest["x"] ** 2)
            + np.sum(pairs["u"] * pairs["k"]) + tuples["x"] @ tuples["n"]
            + np.sum(columns.u * columns.v**2))  # fmt: skip


def numpys(p, d):
    e = np.concatenate([d[["x", "n"]], d[["x", "n"]][::-1]])
    flat = np.ravel(np.flip(e))
    s = np.sort(e, order="x")
    return (np.sum(recfunctions.structured_to_unstructured(e) * p * p) + flat["x"][1] * p
            + s["x"] @ np.arange(8) * p + np.size(e) * np.shape(e)[0] * p
            + np.roll(e, 1)["x"][0] * p**3 + sum(np.sum(e[n]) * p for n in e.dtype.names)
            + e.reshape(2, 4).T["x"][3, 1] * p)  # fmt: skip


@numba.njit
def _stepped(d, p):
    for i in range(d.shape[0]):
        d[i].x += p * d[i].n
    s = 0.0
    for i in range(len(d)):
        s += d[i].x * d.x[i]
    return s


def numbas(p, d):
    return _stepped(d[["x", "n"]].copy(), p)


def nested(p, d):
    def inner(e):
        return np.sum(e["x"] ** 2) * p * p + np.sum(e["q"]["b"]) * p

    g = grad(inner)(d)
    return np.sum(g["x"] * d["x"]) + g[1]["q"]["b"] + np.sum(g["n"])


PROGRAMS = [columns, from_outside, rows, unpacked, written, views, chosen, carried, made, numpys,
            numbas, nested]  # fmt: skip


def _numpy(f, p, d):
    if f is numbas:
        return _stepped.py_func(np.array([tuple(r) for r in d[["x", "n"]]], FLAT).view(
            np.recarray), p)  # fmt: skip
    if f is nested:
        return 2.0 * p * p * np.sum(d["x"] ** 2) + p
    return f(p, d.copy())


def _differences(f, p, d):
    """Of the fourth order: the programs are smooth, of low degree."""
    h = 1e-3
    at = {k: _numpy(f, p + k * h, d) for k in (-2, -1, 0, 1, 2)}
    first = (at[-2] - 8 * at[-1] + 8 * at[1] - at[2]) / (12 * h)
    second = (-at[-2] + 16 * at[-1] - 30 * at[0] + 16 * at[1] - at[2]) / (12 * h * h)
    return at[0], first, second


LAYOUTS = {"whole": TABLE, "every other": np.repeat(TABLE, 2)[::2], "backwards": TABLE[::-1],
           "records": TABLE.view(np.recarray)}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(f, layout):
    d = LAYOUTS[layout]
    before, p = d.copy(), 0.7
    value, first, second = _differences(f, p, d)
    np.testing.assert_allclose(jit(f)(p, d.copy()), value, rtol=1e-12)
    for derive in (value_and_grad, jit_value_and_grad):
        np.testing.assert_allclose(derive(f)(p, d), (value, first), rtol=1e-8)
    for derive in (jvp, lambda f, *given: jit_jvp(f)(*given)):
        out = derive(lambda q: f(q, d.copy()), (p,), (1.0,))
        np.testing.assert_allclose(out, (value, first), rtol=1e-8)
    for derive in (hessian, jit_hessian):
        np.testing.assert_allclose(derive(f)(p, d), second, rtol=1e-6, atol=1e-6)
    assert d.tobytes() == before.tobytes()


def test_two_axes():
    def f(p, m):
        s = 0.0
        for row in m:
            for r in row:
                s += r["x"] * p
        for i in range(m.shape[0]):
            for j in range(m.shape[1]):
                s += m[i, j]["x"] * p * p + m["x"][i, j]
        return s + np.sum(m.T["x"][2]) * p + np.sum(m[:, 1]["x"]) + m.ravel()["x"][1] * p**3

    for m in (GRID, np.asfortranarray(GRID), GRID[:, ::-1]):
        _, want, _ = _differences(f, 0.7, m)
        for derive in (grad, jit_grad):
            np.testing.assert_allclose(derive(f)(0.7, m), want, rtol=1e-8)


@pytest.mark.parametrize("derive", [grad, jit_grad])
def test_gradients_have_the_same_fields(derive):
    """Integers have none: zeros, as elsewhere."""
    got = derive(columns, 1)(0.7, TABLE)
    assert got.dtype == KIND and type(got) is np.ndarray and got.shape == (4,)
    np.testing.assert_allclose(got["x"], 1.4 * TABLE["x"])
    np.testing.assert_allclose(got["y"], 0.7 * np.repeat(TABLE["n"][:, None], 3, 1))
    np.testing.assert_allclose(got["c"], 2 * 0.49 * 3.0 * np.conj(TABLE["c"]))
    np.testing.assert_allclose(got["q"]["b"], 5 * 0.49)
    assert not got["n"].any() and not got["q"]["a"].any()
    assert type(derive(lambda d: np.sum(d.x**2))(RECORDS)) is np.recarray
    element = derive(lambda r: r["x"] ** 2 * r["q"]["b"] + r["y"][1])(TABLE[1])
    assert type(element) is np.void and element["x"] == 12.0 and element["q"]["b"] == 4.0
    alone = derive(lambda d: d["x"] ** 2)(np.array((3.0, 1), FLAT))
    assert alone["x"] == 6.0
    assert derive(lambda d: np.sum(d["x"] ** 2))(FLATS[:0]).shape == (0,)


@pytest.mark.parametrize("derive", [jvp, lambda f, *given: jit_jvp(f)(*given)])
def test_tangents_have_the_same_fields(derive):
    tangent = np.zeros(4, FLAT)
    tangent["x"] = [1.0, 0.0, 2.0, 0.0]
    assert derive(lambda d: np.sum(d["x"] ** 2), (FLATS,), (tangent,)) == (30.0, 14.0)


def test_results():
    def f(p):
        out = np.zeros(2, FLAT)
        out["x"] = p
        return {"made": out, "kind": out.view(np.recarray), "part": FLATS[["x"]], "row": FLATS[1]}

    for run in (f, jit(f)):
        got = run(2.0)
        assert type(got["made"]) is np.ndarray and got["made"].dtype == FLAT
        assert got["made"].tolist() == [(2.0, 0), (2.0, 0)]
        assert type(got["kind"]) is np.recarray and got["kind"].x.tolist() == [2.0, 2.0]
        assert got["part"]["x"].tolist() == FLATS["x"].tolist()
        assert type(got["row"]) is np.void and got["row"].tolist() == (2.0, 0)


class _Simulation:
    def __init__(self):
        self.state = np.zeros(3, [("x", "f8"), ("v", "f8")])
        self.state["v"] = 1.0

    def step(self, dt):
        self.state["x"] += dt * self.state["v"]
        self.state[0]["v"] *= 0.5
        self.state[1] = (dt, dt * dt)
        return np.sum(self.state["x"])


def test_what_is_written_outside_stays():
    ours, theirs = _Simulation(), _Simulation()
    step = jit(ours.step)
    for k in range(4):
        np.testing.assert_allclose(step(0.1 * k), theirs.step(0.1 * k), rtol=1e-14)
        np.testing.assert_allclose(ours.state["x"], theirs.state["x"], rtol=1e-14)
        np.testing.assert_allclose(ours.state["v"], theirs.state["v"], rtol=1e-14)


ROW = FLATS[1]


def test_elements_from_outside_are_not_written():
    """NumPy's are views of an array, which a kernel doesn't know; a derivative's are its own."""

    def given(r):
        r["x"] = 2.0 * r["x"] ** 2
        return r["x"]

    def found(p):
        ROW["x"] = p
        return ROW["x"]

    def nested(r):
        r["q"]["b"] = 2.0
        return r["q"]["b"]

    def some(r):
        r[["x"]]["x"] = 2.0
        return r["x"]

    for f, argument in ((given, FLATS[1].copy()), (found, 3.0), (nested, TABLE[1].copy()),
                        (some, FLATS[1].copy())):  # fmt: skip
        with pytest.raises(JitadTypeError, match="an element of an array from outside is written"):
            jit(f)(argument)
    assert ROW["x"] == 2.0
    row = FLATS[1].copy()
    assert grad(given)(row)["x"] == 8.0 and row["x"] == 2.0


def test_fields_may_have_any_name():
    """Those of the engine's own attributes, too."""
    kind = [(n, "f8") for n in ("key", "given", "of", "parts", "layout", "held", "row")]
    d = np.zeros(3, kind).view(np.recarray)
    for k, (name, _) in enumerate(kind):
        d[name] = 1.0 + k

    def f(p, d):
        s = np.sum(d.parts) + np.sum(d.layout) * p + np.sum(d.held * d.row) * p
        for r in d:
            s += r.key * p + r.given * p * p + r.of + r.parts * p
        e = d.copy()
        e.parts = p
        e[1].given = p
        return s + np.sum(e.parts * e.given)

    _, want, _ = _differences(f, 0.7, d)
    for derive in (grad, jit_grad):
        np.testing.assert_allclose(derive(f)(0.7, d), want, rtol=1e-8)


def test_arrays_are_copied_where_numpy_copies():
    def f(p, d):
        e, other = np.asarray(d), np.array(d)
        e["x"][0] = p
        np.array(d, copy=None)["x"][1] = p * p
        return d["x"][0] * d["x"][1] + other["x"][0] * p

    _, want, _ = _differences(f, 0.7, FLATS)
    for derive in (grad, jit_grad):
        np.testing.assert_allclose(derive(f)(0.7, FLATS), want, rtol=1e-8)


def test_another_array_is_looked_at_anew():
    def f(p):
        return np.sum(p * _held[0]["x"])

    g = jit_grad(f)
    others = np.zeros(2, [("x", "f4")]), np.ones(2, [("y", "i2"), ("x", "i8")])
    for d in (FLATS, FLATS[1:], GRID[0], *others):
        _held[0] = d
        np.testing.assert_allclose(g(2.0), np.sum(d["x"]))
    h = jit_grad(lambda d: np.sum(d["x"] ** 2))
    for d in (FLATS, GRID, RECORDS, FLATS[::2], FLATS[["x"]]):
        np.testing.assert_allclose(h(d)["x"], 2.0 * d["x"])


_held = [FLATS]
NAMED = np.zeros(3, [("name", "U5"), ("x", "f8")])
NAMED["name"], NAMED["x"] = ["a", "b", "a"], [1.0, 2.0, 3.0]


def test_texts_beside_numbers():
    """Fields of texts may be there; they are not read, nor handed on."""
    for derive in (grad, jit_grad):
        assert derive(lambda p, d: np.sum(p * d["x"]))(0.7, NAMED) == 6.0
        with pytest.raises(JitadTypeError, match="the field 'name' is of <U5"):
            derive(lambda p, d: p * np.sum(d["x"][d["name"] == "a"]))(0.7, NAMED)
    with pytest.raises(JitadTypeError, match="the field 'name', which is not of numbers"):
        jit(lambda d: d[::-1])(NAMED)


@pytest.mark.parametrize("f, message", [
    (lambda p, d: np.sum(d) * p, "sum of an array with fields"),
    (lambda p, d: d["z"][0] * p, "no field of name z"),
    (lambda p, d: d * p, "unsupported operand"),
    (lambda p, d: p * (d == d).sum(), "comparing arrays with fields"),
    (lambda p, d: p * (d[0] == d[1]), "comparing arrays with fields"),
    (lambda p, d: d.foo * p, "'foo' of an array with fields"),
    (lambda p, d: d.view(float)[0] * p, "this view of an array with fields"),
    (lambda p, d: d.__setitem__(0, (p,)), "could not assign tuple of length 1"),
    (lambda p, d: np.concatenate([d, TABLE]), "concatenate of arrays with other fields"),
])  # fmt: skip
@pytest.mark.parametrize("derive", [grad, jit_grad])
def test_refused(f, message, derive):
    with pytest.raises((JitadError, TypeError), match=message):
        derive(f)(0.7, FLATS)


@pytest.mark.parametrize("derive", [grad, jacfwd, jit_grad])
def test_what_a_derivative_stores_outside_is_plain(derive):
    """Arrays with fields, elements of them, and complex numbers and arrays, too."""
    kept = _Simulation()

    def f(x):
        kept.state = FLATS.copy()
        kept.state["x"] *= x
        kept.row, kept.phase = kept.state[1], np.exp(1j * x)
        kept.pair = [np.array([1j * x, 2.0])]
        return np.sum(kept.state["x"]) + abs(kept.phase)

    np.testing.assert_allclose(derive(f)(0.5), 10.0)
    assert type(kept.state) is np.ndarray and type(kept.row) is np.void
    assert kept.state["x"].tolist() == [0.5, 1.0, 1.5, 2.0] and kept.row["x"] == 1.0
    assert type(kept.phase) in (complex, np.complex128)
    assert type(kept.pair[0]) is np.ndarray and kept.pair[0].tolist() == [0.5j, 2.0]


def test_other_derivatives():
    def squared(d):
        out = d.copy()
        out["x"] = d["x"] ** 2
        return out

    tangent = np.ones(4, FLAT)
    back = 2.0 * FLATS["x"]
    assert vjp(squared, FLATS)[1](tangent)[0]["x"].tolist() == back.tolist()
    assert jit_vjp(squared)((FLATS,), tangent)[1][0]["x"].tolist() == back.tolist()

    def cubes(d):
        return np.sum(d["x"] ** 3)

    for derive in (hvp, jit_hvp):
        assert derive(cubes)(FLATS, tangent)["x"].tolist() == (6.0 * FLATS["x"]).tolist()
    for derive, f in ((hessian, cubes), (jit_hessian, cubes), (jacobian, squared)):
        with pytest.raises(JitadTypeError, match="derivatives of fields by fields"):
            derive(f)(FLATS)
    out = np.zeros(4, FLAT)
    jit_grad(cubes)(FLATS, out=out)
    assert out["x"].tolist() == (3.0 * FLATS["x"] ** 2).tolist()
    assert jacobian(lambda d: d["x"] ** 2)(FLATS)["x"].tolist() == np.diag(back).tolist()


def test_another_process_finds_the_kernel(tmp_path):
    program = (
        "import numpy as np, jitad, time\n"
        "from jitad import jit_grad\n"
        "D = np.ones(4, [('x', 'f8'), ('n', 'i8')])\n"
        "def f(p, d):\n    return np.sum(p * d['x']) + np.sum(D['x'] * p * p)\n"
        "g = jit_grad(f, (0, 1), fallback=False)\n"
        "out = g(2.0, D)\n"
        "print(out[0], out[1]['x'].tolist(), 'jitad.trace.trace' in __import__('sys').modules)\n"
    )
    (tmp_path / "program.py").write_text(program)
    said = [subprocess.run([sys.executable, "program.py"], cwd=tmp_path, capture_output=True,
                           text=True, check=True,
                           env=_environment(tmp_path)).stdout for _ in range(2)]  # fmt: skip
    assert said == [f"20.0 [2.0, 2.0, 2.0, 2.0] {traced}\n" for traced in (True, False)]


def _environment(folder):
    root = str(Path(__file__).parents[2])
    return {**os.environ, "JITAD_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": root}
