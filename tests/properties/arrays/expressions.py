"""Which expressions over the arrays in sight does a random array program have?

Each entry of `EXPRESSIONS` gives the text of one.  Most that are proposed fit the shapes at hand;
the others raise, and are dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.properties.arrays.running import Bench
from tests.properties.choices import Choices


class Proposer:
    """Draws names, numbers, axes and indices for what is in sight."""

    def __init__(self, choices: Choices, bench: Bench) -> None:
        self.c, self.bench = choices, bench
        self.indices: list[str] = []  # of the loops around

    def value(self, name: str) -> Any:
        return self.bench.names[name]

    def name(self, *kinds: str, ndim: int | None = None) -> str:
        """A name, the newest ones more often."""
        names = self.bench.arrays(*kinds, ndim=ndim) or self.bench.arrays("f")
        if not self.c.below(2):
            names = names[-3:]
        return self.c.pick(names)

    def floats(self, ndim: int | None = None) -> str:
        return self.name("f", ndim=ndim)

    def number(self) -> str:
        return self.c.pick(["0.5", "2", "-1.5", "s", "0.25", "1", "np.float32(0.5)", "True", "s * s",
                            "np.float64(1.5)", "k", "-0.75"])  # fmt: skip

    def small(self) -> str:
        """An int, known or not."""
        options = ["0", "1", "-1", "2", "n", "k", "-2", "n + 1", "1 - n", "3", *self.indices * 2]
        return self.c.pick(options)

    def axis(self, name: str) -> int:
        ndim = max(self.value(name).ndim, 1)
        return self.c.below(2 * ndim) - ndim

    def axes(self, name: str) -> str:
        """One, several or all axes."""
        ndim = self.value(name).ndim
        match self.c.below(5):
            case 0 | 1:
                return str(self.axis(name))
            case 2 if ndim > 1:
                return str(self.c.pick([(0, 1), (-1, 0), (1,), (0, -1)]))
            case 3:
                return "()" if not self.c.below(6) else "None"
        return "None"

    def slice(self, extent: int) -> str:
        match self.c.below(12):
            case 0 | 1:
                return ":"
            case 2:
                return "::-1"
            case 3:
                return f"{self.small()}:"
            case 4:
                return f":{self.small()}"
            case 5:
                return f"{self.small()}:{self.small()}"
            case 6:
                return "::2"
            case 7:
                return self.c.pick(["1::2", "::-2", "-2::-1", ":-1", "1:", "1:-1", ":1", ":0"])
            case 8:
                return f"{self.small()}:{self.small()}:{self.c.pick(['2', '-1', '-2', '3'])}"
            case 9:
                return f"{self.small()}::-1"
        return self.place(extent)

    def place(self, extent: int) -> str:
        """A valid place, mostly."""
        if self.indices and self.c.below(3):
            i = self.c.pick(self.indices)
            return self.c.pick([i, i, f"{i} - 1", f"-{i}", f"-1 - {i}", f"({i} + n) % {extent}"])
        match self.c.below(4):
            case 0:
                return f"n % {max(extent, 1)}"
            case 1:
                return f"k % {max(extent, 1)}"
        return str(self.c.below(2 * max(extent, 1)) - max(extent, 1))

    def index(self, name: str) -> str:
        """Any index: basic, arrays, masks, mixed."""
        a = self.value(name)
        if a.ndim == 0:
            return self.c.pick(["()", "...", "None", "..., None"])
        match self.c.below(12):
            case 0:
                return self.mask(name)
            case 1:
                return self.places(a.shape[0])
            case 2 if a.ndim > 1:
                return f"{self.places(a.shape[0])}, {self.places(a.shape[1])}"
            case 3 if a.ndim > 1:
                return self.c.pick([f":, {self.places(a.shape[1])}",
                                    f"{self.slice(a.shape[0])}, {self.places(a.shape[1])}",
                                    f"{self.places(a.shape[0])}, {self.slice(a.shape[1])}",
                                    f"{self.places(a.shape[0])}, None",
                                    f"{self.place(a.shape[0])}, {self.places(a.shape[1])}"])  # fmt: skip
            case 4 if a.ndim > 1:
                return self.c.pick([f"..., {self.slice(a.shape[-1])}", f":, {self.mask_of(a.shape[1])}",
                                    f"{self.mask_of(a.shape[0])}, {self.slice(a.shape[1])}",
                                    f"{self.slice(a.shape[0])}, None, {self.slice(a.shape[1])}"])  # fmt: skip
            case 5:
                return self.c.pick(["...", "None", "..., None", "()", f"None, {self.slice(a.shape[0])}"])
        return self.basic(name)

    def basic(self, name: str) -> str:
        a = self.value(name)
        if a.ndim == 0:
            return "..."
        many = 1 + self.c.below(a.ndim)
        return ", ".join(self.slice(a.shape[k]) for k in range(many))

    def mask(self, name: str) -> str:
        match self.c.below(5):
            case 0:
                return "q"
            case 1:
                return f"{name} > {self.c.pick(['0.1', '0', '-0.3', 's', '5'])}"
            case 2:
                return f"~({name} < {self.c.pick(['0.1', 's'])})"
            case 3:
                return f"np.abs({name}) < 0.6"
        return f"({name} > -0.5) & ({name} < 0.4)"

    def mask_of(self, extent: int) -> str:
        return self.c.pick([f"np.arange({extent}) != n", f"np.arange({extent}) % 2 == 0", "q",
                            f"np.arange({extent}) > k"])  # fmt: skip

    def places(self, extent: int) -> str:
        many = self.c.below(4) + 1
        listed = [self.c.below(2 * max(extent, 1)) - max(extent, 1) for _ in range(many)]
        return self.c.pick([str(listed), "p", f"np.array({listed})", "p % 2", f"p[::-1] % {max(extent, 1)}",
                            f"np.arange({extent})[::-1]", f"[n % {max(extent, 1)}, 0]", str([listed]),
                            f"np.array({listed}, dtype=np.int32)"])  # fmt: skip

    def operand(self) -> str:
        """An array, a part of one or a number."""
        match self.c.below(8):
            case 0:
                return self.number()
            case 1:
                name = self.floats()
                return f"{name}[{self.index(name)}]"
            case 2:
                name = self.name()
                return f"{name}[{self.basic(name)}]"
            case 3:
                return self.name()
            case 4:
                name = self.floats()
                return self.c.pick([f"{name}.T", f"{name}[..., None]", f"{name}.sum(0)", f"{name}.mean()"])
        return self.floats()

    def expression(self, depth: int = 2) -> str:
        if depth <= 0:
            return self.operand()
        make = self.c.weighted(EXPRESSIONS)
        return make(self, depth)  # type: ignore[no-any-return]

    def inner(self, depth: int) -> str:
        return self.expression(depth - 1) if self.c.below(3) == 2 else self.operand()


Maker = Callable[[Proposer, int], str]


def binary(p: Proposer, d: int) -> str:
    x, y = p.inner(d), p.inner(d)
    return p.c.pick([f"({x} + {y})", f"({x} * {y})", f"({x} - {y})", f"({x} / (2.0 + {y} * {y}))",
                     f"np.maximum({x}, {y})", f"np.minimum({x}, {y})", f"np.hypot({x}, {y})",
                     f"np.arctan2({x}, 2 + {y})", f"np.logaddexp({x}, {y})", f"np.fmax({x}, {y})",
                     f"np.copysign({x}, {y})", f"np.add.outer({x}, {y})", f"np.multiply.outer({x}, {y})",
                     f"np.subtract({x}, {y}, dtype=np.float64)", f"(2.5 + {x} % 2) ** {y}",
                     f"np.mod({x}, 0.7)", f"({x} // 0.3)", f"np.divide({x}, 2, where={y} > 0, out=np.zeros(3))",
                     f"np.fmod({x}, 0.8) * {y}", f"np.heaviside({x}, 0.5)", f"np.float_power(2 + {x}, 1.5)",
                     f"np.power({x}, 2)", f"({x} ** 3 - {y})"])  # fmt: skip


def unary(p: Proposer, d: int) -> str:
    x = p.inner(d)
    return p.c.pick([f"np.sin({x})", f"np.tanh({x})", f"np.exp({x} * 0.5)", f"np.abs({x})", f"(-{x})",
                     f"np.sqrt(1 + {x} * {x})", f"np.log1p({x} * {x})", f"np.square({x})", f"np.sign({x})",
                     f"np.round({x}, 1)", f"np.cbrt(3 + {x})", f"({x})**2", f"np.arctan({x})", f"np.cos({x})",
                     f"1 / (1.5 + {x} ** 2)", f"np.clip({x}, -0.4, 0.5)", f"np.clip({x}, None, s)",
                     f"np.nan_to_num({x})", f"np.expm1({x})", f"np.real({x})", f"np.floor({x} * 3)",
                     f"np.astype(np.asarray({x}), np.float32)", f"np.asarray({x}, dtype=float)",
                     f"np.float32(1) * {x}", f"np.asarray({x}).astype(np.float32)", f"np.positive({x})",
                     f"np.conj({x})", f"np.deg2rad({x})", f"np.abs({x}) ** 1.5", f"np.reciprocal(2.5 + {x})",
                     f"np.ones_like({x}) * {x}", f"np.zeros_like({x})", f"np.full_like({x}, s)"])  # fmt: skip


def reduction(p: Proposer, d: int) -> str:
    a = p.floats()
    name = p.c.pick(["sum", "mean", "max", "min", "prod", "std", "var", "sum", "mean", "any", "all", "ptp",
                     "median", "amax", "nansum", "nanmax", "count_nonzero", "linalg.norm", "nanmean",
                     "quantile", "nanstd", "average", "logaddexp.reduce", "add.reduce",
                     "multiply.reduce", "maximum.reduce", "argmax", "argmin"])  # fmt: skip
    args = [a]
    if name == "quantile":
        args.append(p.c.pick(["0.3", "[0.25, 0.5]", "s * s"]))
    args.append(f"axis={p.axis(a) if name.startswith('arg') or '.' in name else p.axes(a)}")
    if p.c.below(3) == 0 and name not in ("median", "average"):
        args.append("keepdims=True")
    if p.c.below(5) == 0 and name in ("sum", "mean", "max", "min", "prod", "std", "var", "add.reduce"):
        args.append(f"where={p.mask(a)}")
    if p.c.below(5) == 0 and name in ("sum", "max", "min", "prod", "add.reduce"):
        args.append(f"initial={p.c.pick(['0.3', 's', '-2', '1'])}")
    if name in ("std", "var") and p.c.below(2):
        args.append("ddof=1")
    if p.c.below(6) == 0 and name in ("sum", "mean", "prod"):
        args.append("dtype=np.float64")
    return f"np.{name}({', '.join(args)})"


def running(p: Proposer, d: int) -> str:
    a = p.floats()
    axis = p.axis(a)
    return p.c.pick([f"np.cumsum({a}, axis={axis})", f"np.cumsum({a})", f"np.cumprod({a}, axis={axis})",
                     f"np.diff({a}, axis={axis})", f"np.diff({a}, n=2, axis={axis})", f"np.sort({a}, axis={axis})",
                     f"np.sort({a}, axis=None)", f"np.argsort({a}, axis={axis})",
                     f"np.add.accumulate({a}, axis={axis})", f"np.maximum.accumulate({a}, axis={axis})",
                     f"np.multiply.accumulate({a}, axis={axis})", f"np.gradient({a}, axis={axis})",
                     f"np.trapezoid({a}, axis={axis})", f"np.trapezoid({a}, dx=0.5, axis={axis})",
                     f"np.take_along_axis({a}, np.argsort({a}, axis={axis}), axis={axis})",
                     f"np.partition({a}, 1, axis={axis})", f"np.flip({a}, axis={axis})",
                     f"np.minimum.accumulate({a}, axis={axis})", f"np.diff({a}, prepend=s, axis={axis})",
                     f"np.nancumsum({a}, axis={axis})", f"np.ediff1d({a})", f"np.cumulative_sum({a}, axis={axis}, include_initial=True)",
                     f"np.add.reduceat({a}, [0, 1], axis={axis})", f"np.unwrap({a} * 5, axis={axis})",
                     f"np.searchsorted(np.sort({a}, axis=None), {p.operand()})"])  # fmt: skip


def shaping(p: Proposer, d: int) -> str:
    a = p.name()
    axis, other = p.axis(a), p.axis(a)
    size = p.value(a).size
    return p.c.pick([f"{a}.T", f"{a}.reshape(-1)", f"np.ravel({a})", f"np.swapaxes({a}, {axis}, {other})",
                     f"np.moveaxis({a}, {axis}, {other})", f"np.expand_dims({a}, {axis})", f"np.squeeze({a})",
                     f"np.roll({a}, {p.small()}, axis={axis})", f"np.roll({a}, {p.small()})",
                     f"np.repeat({a}, {p.c.pick(['2', '3', '1', '0'])}, axis={axis})", f"np.tile({a}, 2)",
                     f"np.tile({a}, (2, 1))", f"np.rot90({a}, {p.c.pick(['1', '2', '-1'])})",
                     f"np.broadcast_to({a}, (2, *{a}.shape))", f"np.tril({a}, {p.small()})",
                     f"np.triu({a}, {p.small()})", f"np.diag({a})", f"np.diagonal({a}, {p.c.pick(['0', '1', '-1'])})",
                     f"np.trace({a})", f"np.pad({a}, 1)", f"np.pad({a}, (1, 2), mode='edge')",
                     f"np.pad({a}, 1, mode={p.c.pick(['reflect', 'wrap', 'symmetric', 'linear_ramp', 'maximum', 'mean'])!r})",
                     f"np.atleast_2d({a})", f"np.take({a}, {p.places(3)}, axis={axis})", f"np.take({a}, {p.places(max(size, 1))})",
                     f"{a}.flatten()", f"np.copy({a})", f"np.fliplr({a})", f"np.array_split({a}, 2, axis={axis})[{p.c.below(2)}]",
                     f"np.resize({a}, (2, 3))", f"np.delete({a}, 0, axis={axis})", f"np.insert({a}, 1, s, axis={axis})",
                     f"np.compress([True, False, True], {a}, axis={axis})", f"np.transpose({a})", f"np.append({a}, {p.operand()})",
                     f"np.array({a}, ndmin=2)", f"np.ascontiguousarray({a})", f"np.asfortranarray({a})",
                     f"{a}.reshape(1, -1)", f"{a}.reshape({a}.shape[::-1])", f"{a}.reshape(-1, order='F')",
                     f"np.nonzero({a})[0]", f"np.where({a} > 0)[-1]", f"np.argwhere({a} > 0)", f"np.flatnonzero({a} > 0)",
                     f"{a}[{p.index(a)}]", f"{a}[{p.index(a)}]", f"np.shape({a})[0] * s", f"len({a}) * s",
                     f"np.atleast_3d({a})", f"np.rollaxis({a}, {axis})", f"np.extract({a} > 0, {a})",
                     f"np.vander({a}, 3)", f"np.diagflat({a})", f"np.unique({a})"])  # fmt: skip


def joining(p: Proposer, d: int) -> str:
    a, b = p.name(), p.operand()
    axis = p.axis(a)
    return p.c.pick([f"np.concatenate([{a}, {b}])", f"np.concatenate([{a}, {a} * 2], axis={axis})",
                     f"np.stack([{a}, 2 * {a}], axis={axis})", f"np.hstack([{a}, {b}])", f"np.vstack([{a}, {b}])",
                     f"np.column_stack([{a}, {b}])", f"np.dstack([{a}, {a}])", f"np.stack([{a}, {b}])",
                     f"np.concatenate([{a}, {b}], axis=None)", f"np.array([{a}, {b}])", f"np.array([s, {b}, 1])",
                     "np.array([[s, 1], [n, s * s]])", f"np.array([{a}[0], {a}[-1]])", f"np.block([[{a}, {b}]])",
                     f"np.array([v * 2 for v in {a}])", f"np.r_[{a}, s]", f"np.c_[{a}, {a}]",
                     f"np.meshgrid({a}, {b})[0]", f"np.broadcast_arrays({a}, {b})[{p.c.below(2)}]"])  # fmt: skip


def choosing(p: Proposer, d: int) -> str:
    a, x, y = p.name("f"), p.operand(), p.operand()
    mask = p.mask(a)
    return p.c.pick([f"np.where({mask}, {x}, {y})", f"np.where({mask}, {a}, {y})", f"np.where({mask}, {x}, 0)",
                     f"np.select([{mask}, {a} < -0.5], [{x}, {y}], default=s)", f"np.clip({a}, {x}, {y})",
                     f"np.choose(({mask}).astype(int), [{x}, {y}])", f"np.where(q, {x}, {y})",
                     f"np.piecewise({a}, [{mask}], [np.sin, 0.5])", f"np.maximum({a}, 0, where={mask}, out={a} * 1)",
                     f"({mask}) * {x}", f"({mask}).sum() * {x}", f"np.isfinite({a}) * {x}",
                     f"np.interp({x}, [-1, 0, 1], [0.2, s, 0.7])", f"np.where(s > 0, {x}, {y})",
                     f"np.histogram({a}, bins=3)[0]", f"np.bincount(np.abs(p), weights={x})",
                     f"np.digitize({a}, [-0.5, 0, 0.5])", "np.bincount(np.abs(p), minlength=4)"])  # fmt: skip


def product(p: Proposer, d: int) -> str:
    a, b = p.name("f", "c"), p.name("f", "i", "c", "b")
    return p.c.pick([f"({a} @ {b})", f"({a} @ {b}.T)", f"({a}.T @ {b})", f"np.dot({a}, {b})", f"np.inner({a}, {b})",
                     f"np.outer({a}, {b})", f"np.tensordot({a}, {b}, axes=1)", f"np.einsum('ij,ij->i', {a}, {b})",
                     f"np.einsum('ij,jk', {a}, {b})", f"np.einsum('...i,...i', {a}, {b})", f"np.einsum('ii->i', {a})",
                     f"np.einsum('i,j->ji', {a}, {b})", f"np.kron({a}, {b})", f"np.vdot({a}, {b})",
                     f"np.cross({a}, {b})", f"np.convolve({a}, {b}, {p.c.pick(['full', 'same', 'valid'])!r})",
                     f"np.correlate({a}, {b})", f"np.matmul({a}, {b})", f"np.tensordot({a}, {b}, axes=([0], [0]))",
                     f"np.linalg.solve(np.eye(3) * 4 + {a}, {b})", f"np.linalg.inv(np.eye(3) * 4 + {a})",
                     f"np.linalg.det(np.eye(3) * 2 + {a})", f"np.cov({a})", f"np.linalg.matrix_power({a}, 2)",
                     f"np.polyval({a}, {b})", f"np.einsum('ij->j', {a})", f"np.einsum('ij,kj->ik', {a}, {b})",
                     f"np.linalg.multi_dot([{a}, {a}.T, {a}])", f"np.abs(np.fft.fft({a}, axis={p.axis(a)}))",
                     f"np.fft.rfft({a}).real", f"np.fft.ifft({a}, n=3).imag", f"np.linalg.slogdet(np.eye(3) * 2 + {a})[1]",
                     f"np.linalg.cholesky({a} @ {a}.T + np.eye({a}.shape[0]))", f"np.vecdot({a}, {b})",
                     f"np.matvec({a}, {b})"])  # fmt: skip


def creation(p: Proposer, d: int) -> str:
    a = p.name()
    return p.c.pick([f"np.zeros({a}.shape)", f"np.ones(({p.c.below(3) + 1}, 4))", "np.arange(n)", "np.arange(4.0) * s",
                     "np.linspace(0, s, 4)", "np.linspace(s, 1, n + 1)", "np.eye(3)", "np.eye(n + 1) * s",
                     "np.full((3, 4), s)", f"np.zeros_like({a}, dtype=np.float64)", "np.zeros((n, 2))",
                     "np.zeros(3, dtype=np.float32)", f"np.full({a}.shape, 1)", "np.arange(0, 4, 2) * s",
                     "np.tri(3, 4, k) * s", "np.indices((3, 4))[1] * s", "np.zeros(4, dtype=int)",
                     "np.fromfunction(lambda i, j: i + s * j, (3, 4))", "np.arange(n, -1, -1)",
                     "np.identity(3) - s", "np.array(s)", "np.array([])", "np.empty(0)", "np.logspace(0, s, 3)",
                     "np.arange(3, dtype=np.float32)", f"np.meshgrid(np.arange(3), {a})[1]"])  # fmt: skip


def typed(p: Proposer, d: int) -> str:
    """How dtypes promote: floats of both sizes, ints, bools, and Python's numbers."""
    a, b = p.name(), p.name()
    scalar = p.c.pick(["1", "2.0", "True", "np.float32(2)", "np.int8(3)", "np.uint8(7)", "np.float64(0.5)", "s", "n", "k",
                       "np.int32(2)", "np.bool_(True)", "np.float32(s)", "1j"])  # fmt: skip
    op = p.c.pick(["+", "*", "-", "+", "*", "/", "//", "%", "**", "<", "=="])
    return p.c.pick([f"({a} {op} {scalar})", f"({scalar} {op} {a})", f"({a} {op} {b})", f"np.asarray(p {op} {scalar})",
                     f"(({a} > 0) {op} {scalar})", f"np.sum({a} > 0) {op} {scalar}", f"({a}.sum() {op} {scalar}) * {b}",
                     f"({a}[..., :1] {op} {scalar})", f"np.mean(p) {op} {a}", f"np.sum(p) {op} {a}",
                     f"np.asarray({scalar}) {op} {a}", f"{a}.astype(np.float32) {op} {b}", f"np.array([{scalar}]) {op} {a}",
                     f"np.where({a} > 0, {scalar}, {b})", f"np.maximum({a}, {scalar})", f"np.array([1, {scalar}, s])",
                     f"np.add({a}, {scalar}, dtype=np.float32)", f"np.concatenate([{a}, p])",
                     f"np.result_type({a}, {b}).type(s) * {a}", f"np.multiply({scalar}, {b}) {op} {a}"])  # fmt: skip


def complexed(p: Proposer, d: int) -> str:
    a, b = p.name("f", "c"), p.name("f", "c")
    z = f"({a} + 1j * {b})"
    return p.c.pick([f"np.abs({z} + 3)", f"np.real({z} ** 2)", f"np.exp({z}).imag", f"({z} * {a}).real",
                     f"np.angle({z} + 3)", f"np.sum({z} * np.conj({z})).real", f"{z}", f"np.abs({z}) ** 2",
                     f"{z}.conj()", f"({z} @ {a}).imag", f"np.concatenate([{z}, {a}])", f"{z}[{p.basic(a)}]",
                     f"np.cumsum({z})", f"{z}.sum(axis={p.axes(a)})", f"np.where({a} > 0, {z}, 1)"])  # fmt: skip


EXPRESSIONS: dict[Maker, int] = {
    binary: 8, unary: 7, reduction: 6, running: 4, shaping: 8, joining: 4, choosing: 5, product: 5,
    creation: 3, typed: 4, complexed: 1,
}  # fmt: skip

__all__ = ["Proposer", "np"]
