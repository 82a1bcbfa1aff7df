"""Is what NumPy gives as a view a view, and what it copies a copy, whatever stands behind it?

Random programs take a view of an array (made here, an argument, or what a condition or a loop
chose), hand it to a function, write to what that gives, and look under all names.  Plain NumPy is
the truth; where a trace can't tell, it may refuse, but not be wrong.
"""

import linecache
import random
from collections.abc import Callable

import numpy as np
import pytest

import jitad
from jitad.errors import JitadError
from tests.engines import as_emitted, eagerly, on_tape
from tests.properties.check import forget, load

FIRST = ("", "", "b = b * (1.0 + 0.5j)\n    a = a * 1j", "a = a * 2.0",
         "a = a[None]\n    b = b[None]", "a = a[0]\n    b = b[0]")  # fmt: skip
ARRAYS = (
    "b = b * 0.5",
    "b = b",
    "b = b if s > 0.1 else a * 1.0",
    "c, d = b * 2.0, a + b\n    b = c if s < 0.1 else d",
    "for i in range(3):\n        if np.sum(np.abs(b)) > 9.0:\n            break\n"
    "        b = b * 0.5 + a",
    "if s > 0.1:\n        b = b + a",
    "b = b + 1.0\n    b = b[::-1] if s > 0.1 else b * 2.0",
    "try:\n        b = b + 1.0\n        if s > 0.1:\n            raise ValueError\n"
    "        b = b * 2.0\n    except ValueError:\n        b = b[::-1]",
    "b = {'x': b * 1.0, 'y': a * 1.0}['x' if s > 0.1 else 'y']",
    "b = [a * 1.0, b * 1.0][n % 2]",
    "b0 = b * 1.0\n    b = b0.T if s > 0.1 else b0[::-1]",
)
VIEWS = ("b", "b[:]", "b[::-1, :2]", "b.T", "b[:, :1]", "b[1:, 1:].T", "b[1]", "b[:, None]",
         "b[n % 2:]", "b[:, n % 3]")  # fmt: skip
FUNCTIONS = (
    "x.T", "np.ravel(x)", "x.ravel()", "x.reshape(-1)", "np.reshape(x, (1, -1))", "x.view()",
    "np.swapaxes(x, 0, -1)", "np.moveaxis(x, 0, -1)", "np.expand_dims(x, 0)", "np.squeeze(x[None])",
    "np.flip(x)", "np.asarray(x)", "np.array(x, copy=None)", "np.ascontiguousarray(x)",
    "np.asfortranarray(x)", "np.require(x, requirements='C')", "x.astype(x.dtype, copy=False)",
    "x.real", "np.real(x)", "np.imag(x)", "x.conj()", "x.flat[1:]", "np.atleast_2d(x)",
    "np.split(x, [1])[0]", "np.einsum('...i->i...', x)", "next(iter(x[None]))", "(x, x)[n % 1]",
    "[v for v in x[None]][0]", "x.flatten()", "x.copy()", "np.positive(x)", "x + 0.0",
    "np.trim_zeros(x)", "x[[0]]", "np.rot90(x, 4)", "np.diag(x).copy()", "np.tril(x)",
    "np.linalg.matrix_power(x, 1)", "np.float64(x.real)", "np.nan_to_num(x, copy=False)",
    "(x if n > 5 else x[::-1])", "np.broadcast_arrays(x, x[None])[0].copy()", "x[..., None]",
)  # fmt: skip
WRITES = (
    "y[...] = y + 0.25", "y += s", "y *= y", "y[:1] = s", "y.fill(s)", "np.add(y, 1.0, out=y)",
    "np.add.at(y, 0, s)", "y.flat[0] = s", "y[-1] = y[0]", "np.put(y, [0], s)", "y[[0]] *= 3.0",
    "for r in y[None]:\n        r *= s", "y[1:] = y[:-1]", "y.ravel()[:] = s", "b[...] = b * 2.0",
    "y.T[...] = y.T * 2.0", "y.real[...] = s", "y.reshape(-1)[0] = s", "x.fill(1.5)",
    "if s > 0:\n        y *= 2.0", "for i in range(n):\n        y += s", "np.sin(y, y)",
)  # fmt: skip
BETWEEN = ("", "", "x *= s\n    ", "x[:1] = 0.5\n    ", "if s > 0:\n        x = x * 2.0\n    ",
           "x = np.multiply(x, 2.0, out=x)\n    ")  # fmt: skip


def _program(draw: random.Random) -> str:
    writes = "\n    ".join(draw.choice(WRITES) for _ in range(draw.randint(1, 2)))
    return (f"import numpy as np\n\n\ndef program(a, b, s, n):\n    {draw.choice(FIRST)}\n"
            f"    keep = b\n    {draw.choice(ARRAYS)}\n    x = {draw.choice(VIEWS)}\n"
            f"    {draw.choice(BETWEEN)}y = {draw.choice(FUNCTIONS)}\n    {writes}\n"
            "    return a, b, x, y, keep\n")  # fmt: skip


def _check(source: str, name: str) -> int:
    """How many runs were compared; a refusal is none."""
    f, compared = load(source, name), 0
    a, b = np.arange(9.0).reshape(3, 3) / 10.0, np.cos(np.arange(9.0)).reshape(3, 3)
    try:
        for s, n in ((0.5, 1), (-0.5, 2)):
            try:
                want = f(a.copy(), b.copy(), s, n)
            except (TypeError, ValueError, IndexError):
                continue
            for way in (eagerly, on_tape, as_emitted):
                try:
                    got = way(f, a.copy(), b.copy(), s, n)
                except JitadError:
                    continue
                for x, y in zip(got, want, strict=True):
                    np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6,
                                               err_msg=f"{way.__name__} {s}\n{source}")  # fmt: skip
                compared += 1
    finally:
        forget(name)
        linecache.checkcache()
    return compared


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int) -> None:
    draw = random.Random(seed)
    compared = sum(_check(_program(draw), f"aliases_{seed}_{k}") for k in range(25))
    assert compared > 60


PLAIN = "\n    z = b * 1.5\n    {}\n    return z, w\n"
COMPLEX = "\n    z = b * (1.0 + 0.5j)\n    {}\n    return z, w\n"
FOUND = {
    "the rest of what flat has": PLAIN.format("w = z.flat[2:5]; w += 1.0"),
    "flat is written to": PLAIN.format("w = z; w.flat[2:5] += 1.0; w.flat = w * 2.0"),
    "one of two flats": PLAIN.format(
        "y = a * 1.0; q = z.flat if s > 0 else y.flat; w = q[1:3]; w += 1.0; q[0] = s"),
    "in C order": PLAIN.format("w = np.require(z.T, requirements='C'); w += 1.0"),
    "owned": PLAIN.format("w = np.require(z[1:], requirements=['O']); w += 1.0"),
    "the first power": PLAIN.format("w = np.linalg.matrix_power(z, 1); w += 1.0"),
    "of the type already": PLAIN.format("w = np.float64(z); w += 1.0"),
    "a complex one": COMPLEX.format("w = np.complex128(z); w += 1.0"),
    "trimmed": PLAIN.format("w = np.trim_zeros(z[1]); w += 1.0"),
    "trimmed in front": PLAIN.format("z[1, 0] = 0.0; w = np.trim_zeros(z[1], 'f'); w += 1.0"),
    "trimmed of all": PLAIN.format("w = np.trim_zeros(z[1] * 0.0, 'b')"),
    "trimmed rows": PLAIN.format("z[:, 2] = 0.0; z[0] = 0.0; w = np.trim_zeros(z); w += 1.0"),
    "complex raveled": COMPLEX.format("w = z.ravel(); w *= s"),
    "complex in one piece": COMPLEX.format("w = np.ascontiguousarray(z); w *= s"),
    "the parts of a complex one": COMPLEX.format("w = z.real.ravel(); w *= s"),
    "one of two complex arrays": COMPLEX.format(
        "x = z * 1.0 if s > 0 else z; w = (x, z)[n]; w[0] = s; z = x"),
    "the only row of a complex one": COMPLEX.format(
        "x = z * 1.0 if s > 0 else z; (w,) = x[None]; w[0] = s; z = x"),
    "complex arrays of other axes": COMPLEX.format("w = (z[1], z)[n % 2]; w[...] = w + 0.25"),
    "swapped columns": COMPLEX.format("w = z; z[:, 0], z[:, 1] = z[:, 1] * 1j, z[:, 0] * 1j"),
    "swapped parts": COMPLEX.format("w = z; z.real, z.imag = z.imag.copy(), z.real.copy()"),
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_found(name: str) -> None:
    source = "import numpy as np\n\n\ndef program(a, b, s, n):" + FOUND[name]
    assert _check(source, f"alias_{list(FOUND).index(name)}") >= 2


def test_columns_of_unknown_number_written_apart() -> None:
    """All columns are a view, some a copy: a trace for this call's extents knows."""

    def f(b, k):
        z = b * 2.0
        w = z[:, :k].reshape(-1)
        w += 1.0
        return np.sum(np.sin(w)) + np.sum(z * z)

    b = np.arange(6.0).reshape(2, 3) / 7.0
    for k in (2, 3):
        got = jitad.jit_grad(f)(b, k)
        for i in range(6):
            e = np.zeros(6)
            e[i] = 1e-6
            e = e.reshape(2, 3)
            assert abs(got.ravel()[i] - (f(b + e, k) - f(b - e, k)) / 2e-6) < 1e-7


@pytest.mark.parametrize("shape", [(6, 7), (3, 7), (3, 3), (6, 3)])
def test_a_time_step_on_a_flattened_interior(shape: tuple[int, int]) -> None:
    """Of an interior of several rows `ravel` is a copy, of one row a view, as extents have it."""

    def f(u, dt):
        u = u * 1.0
        for _ in range(3):
            r = u[1:-1, 1:-1].ravel()
            r += dt * (u[:-2, 1:-1] + u[2:, 1:-1] - 2.0 * u[1:-1, 1:-1]).ravel()
            u[1:-1, 1:-1] = 0.5 * u[1:-1, 1:-1] + r.reshape(u.shape[0] - 2, -1)
        return np.sum(u * u)

    rng = np.random.default_rng(3)
    u, d = rng.normal(size=shape), rng.normal(size=shape)
    got = np.sum(jitad.jit_grad(f, fallback=False)(u, 0.1) * d)
    assert abs(got - (f(u + 1e-6 * d, 0.1) - f(u - 1e-6 * d, 0.1)) / 2e-6) < 1e-6


@pytest.mark.parametrize("s", [0.3, 0.9])
def test_a_list_that_numpy_gives_is_the_programs_own(s: float) -> None:
    """Of parts of float32 on one path and of float64 on the other, written and appended to."""

    def f(x, s):
        b = x.astype(np.float32) if s > 0.5 else x * 2.0
        parts = np.split(b, [1, 3])
        parts[1][0] = s
        parts.append(parts[0] * 3.0)
        parts[0] = parts[2]
        return sum(p.sum() for p in parts) + b[1]

    x = np.arange(1.0, 5.0)
    assert abs(jitad.jit(f, fallback=False)(x, s) - f(x, s)) < 1e-6
    by_x, by_s = jitad.jit_grad(f, (0, 1), fallback=False)(x, s)
    twice = 1.0 if s > 0.5 else 2.0
    assert np.allclose(by_x, twice * np.array([3.0, 0.0, 1.0, 2.0])) and by_s == 2.0


def test_a_call_whose_layout_depends_on_numbers_runs_eagerly() -> None:
    """No trace knows the extents of what a condition chose between (1, 1) and (4, 3)."""

    def f(a, b, s):
        if s > 0:
            a = a * 0.5 + b
        part = np.diagonal(a[None])
        flat = 2.0 * part.ravel()
        flat[0] = 1.0
        return np.sum(part * flat)

    a, b = np.array([[0.7]]), np.arange(12.0).reshape(4, 3)
    g = jitad.jit(f, fallback=True)
    assert g(a, b, 0.5) == pytest.approx(f(a, b, 0.5))
    with pytest.warns(jitad.FallbackWarning, match="one after the other"):
        assert g(a, b, -0.5) == 0.7
    assert g(a, b, -0.5) == 0.7 and "2 calls in the eager engine" in g.explain()
    with pytest.raises(jitad.JitadError, match="one after the other"):
        jitad.jit(f, fallback=False)(a, b, -0.5)


@pytest.mark.parametrize("s", [0.5, -0.5])
def test_what_only_a_branch_has_made_lies_anyhow_afterwards(s: float) -> None:
    """Of no elements, known while tracing, before the branch and in it."""

    def f(s):
        z = np.sum(np.array([]), axis=())
        if s > 0.1:
            z = z * 0.5 + z[:]
            z[1:-1] = np.sin(z[1:-1]) + 0.5
        z.T[1:0:-1] = -1.5
        return np.sum(z) + s * s

    assert jitad.jit(f, fallback=False)(s) == s * s
    assert jitad.jit_grad(f, fallback=False)(s) == 2.0 * s


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("flat", [np.ravel, np.ascontiguousarray, np.asfortranarray])
def test_a_part_of_one_complex_number_has_no_gaps(n: int, flat: Callable[..., np.ndarray]) -> None:
    """Of several, NumPy copies what is to lie in one piece."""

    def f(x, s):
        part = (x * (1.0 + 2.0j)).imag
        w = flat(part)
        part[0] += s * s
        some = flat(part[:1])
        some[0] *= 3.0
        return np.sum(w * w) + np.sum(part)

    x, s = np.arange(1.0, n + 1), 0.5
    slope = (f(x, s + 1e-6) - f(x, s - 1e-6)) / 2e-6
    assert jitad.jit(f, fallback=False)(x, s) == pytest.approx(f(x, s))
    assert jitad.jit_grad(f, 1, fallback=False)(x, s) == pytest.approx(slope)
    assert jitad.grad(f, 1)(x, s) == pytest.approx(slope)
