"""Which expressions over the arrays in sight does a random array program have?

`EXPRESSIONS` are templates, separated by `|`, whose holes a `Proposer` fills: {x} and {y} with
operands, {a} and {b} with names of arrays of floats, {c} with one of any dtype, {axis}, {axes},
{index}, {basic}, {mask}, {places}, {slice} with what suits {a}, {n} with a small int.  Most that
are proposed fit the shapes at hand; the others raise, and are dropped.
"""

from __future__ import annotations

import re
from typing import Any

from tests.properties.arrays.running import Bench
from tests.properties.choices import Choices

NUMBERS = "0.5|2|-1.5|s|0.25|1|np.float32(0.5)|True|s * s|np.float64(1.5)|k|-0.75".split("|")
SMALL = "0|1|-1|2|n|k|-2|n + 1|1 - n|3".split("|")
CUTS = "1::2|::-2|-2::-1|:-1|1:|1:-1|:1|:0".split("|")
PLACES = ("p", "p % 2", "p[::-1] % {m}", "np.arange({m})[::-1]", "[n % {m}, 0]")
MASKS = ("q", "{v} > 0.1", "{v} > 0", "{v} > -0.3", "{v} > s", "~({v} < 0.1)", "~({v} < s)",
         "np.abs({v}) < 0.6", "({v} > -0.5) & ({v} < 0.4)", "{v} > 5")  # fmt: skip
HOLE = re.compile(r"\{(\w+)\}")


class Proposer:
    """Draws names, numbers, axes and indices for what is in sight."""

    def __init__(self, choices: Choices, bench: Bench) -> None:
        self.c, self.bench = choices, bench
        self.indices: list[str] = []  # of the loops around

    # -- names and numbers ------------------------------------------------------------------------

    def value(self, name: str) -> Any:
        return self.bench.names[name]

    def name(self, *kinds: str) -> str:
        """A name, the newest ones more often."""
        names = self.bench.arrays(*kinds) or self.bench.arrays("f") or self.bench.arrays()
        return self.c.pick(names[-3:] if self.c.below(2) else names)

    def small(self) -> str:
        """An int, known or not."""
        return self.c.pick(SMALL + 2 * self.indices)

    def axis(self, name: str) -> int:
        ndim = max(self.value(name).ndim, 1)
        return self.c.below(2 * ndim) - ndim

    def axes(self, name: str) -> str:
        """One, several or all axes."""
        match self.c.below(5):
            case 0 | 1:
                return str(self.axis(name))
            case 2 if self.value(name).ndim > 1:
                return str(self.c.pick([(0, 1), (-1, 0), (1,), (0, -1)]))
            case 3:
                return "None" if self.c.below(6) else "()"
        return "None"

    # -- subscripts -------------------------------------------------------------------------------

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
                return self.c.pick(CUTS)
            case 8:
                return f"{self.small()}:{self.small()}:{self.c.pick(['2', '-1', '-2', '3'])}"
            case 9:
                return f"{self.small()}::-1"
        return self.place(extent)

    def place(self, extent: int) -> str:
        """A valid place, mostly."""
        m = max(extent, 1)
        if self.indices and self.c.below(3):
            i = self.c.pick(self.indices)
            return self.c.pick([i, i, f"{i} - 1", f"-{i}", f"-1 - {i}", f"({i} + n) % {m}"])
        match self.c.below(4):
            case 0:
                return f"n % {m}"
            case 1:
                return f"k % {m}"
        return str(self.c.below(2 * m) - m)

    def index(self, name: str) -> str:
        """Any index: basic, arrays, masks, mixed."""
        a = self.value(name)
        if a.ndim == 0:
            return self.c.pick(["()", "...", "None", "..., None"])
        first, last = a.shape[0], a.shape[-1]
        match self.c.below(14):
            case 0:
                return self.mask(name)
            case 1:
                return self.places(first)
            case 2 if a.ndim > 1:
                return f"{self.places(first)}, {self.places(a.shape[1])}"
            case 3 if a.ndim > 1:
                return f":, {self.places(a.shape[1])}"
            case 4 if a.ndim > 1:
                return f"{self.places(first)}, {self.slice(a.shape[1])}"
            case 5 if a.ndim > 1:
                return f"{self.place(first)}, {self.places(a.shape[1])}"
            case 6:
                return f"{self.places(first)}, None"
            case 7 if a.ndim > 1:
                return f"{self.mask_of(first)}, {self.slice(a.shape[1])}"
            case 8 if a.ndim > 1:
                return f"{self.slice(first)}, None, {self.slice(a.shape[1])}"
            case 9:
                return f"..., {self.slice(last)}"
            case 10:
                return self.c.pick(["...", "None", "..., None", "()", "None, ::-1"])
        return self.basic(name)

    def basic(self, name: str) -> str:
        a = self.value(name)
        if a.ndim == 0:
            return "..."
        return ", ".join(self.slice(a.shape[k]) for k in range(1 + self.c.below(a.ndim)))

    def mask(self, name: str) -> str:
        return self.c.pick(MASKS).replace("{v}", name)

    def mask_of(self, extent: int) -> str:
        n = f"np.arange({extent})"
        return self.c.pick([f"{n} != n", f"{n} % 2 == 0", "q", f"{n} > k"])

    def places(self, extent: int) -> str:
        m = max(extent, 1)
        if self.c.below(2):
            return self.c.pick(PLACES).replace("{m}", str(m))
        listed = [self.c.below(2 * m) - m for _ in range(self.c.below(4) + 1)]
        return self.c.pick([f"{listed}", f"np.array({listed})", f"[{listed}]",
                            f"np.array({listed}, dtype=np.int32)"])  # fmt: skip

    # -- expressions ------------------------------------------------------------------------------

    def operand(self) -> str:
        """An array, a part of one or a number."""
        match self.c.below(9):
            case 0 | 1:
                return self.c.pick(NUMBERS)
            case 2:
                return self.filled("{a}[{index}]")
            case 3:
                name = self.name()
                return f"{name}[{self.basic(name)}]"
            case 4:
                return self.name()
            case 5:
                return self.filled(self.c.pick(["{a}.T", "{a}[..., None]", "{a}.sum(0)"]))
        return self.name("f")

    def expression(self, depth: int = 2) -> str:
        if depth <= 0:
            return self.operand()
        family = self.c.weighted(WEIGHTS)
        return self.filled(self.c.pick(EXPRESSIONS[family]), depth)

    def filled(self, template: str, depth: int = 0, given: dict[str, str] | None = None) -> str:
        """The template with its holes filled, equal ones alike."""
        known = dict(given or {})

        def fill(match: re.Match[str]) -> str:
            hole = match[1]
            if hole not in known:
                known[hole] = self._hole(hole, known, depth)
            return known[hole]

        return HOLE.sub(fill, template)

    def _hole(self, hole: str, known: dict[str, str], depth: int) -> str:
        if hole in ("x", "y"):
            deep = depth > 1 and self.c.below(3) == 2
            return self.expression(depth - 1) if deep else self.operand()
        if hole in ("a", "b"):
            return self.name("f")
        if hole == "c":
            return self.name()
        if hole == "n":
            return self.small()
        if hole == "z":
            return f"({self.name('f', 'c')} + 1j * {self.name('f')})"
        if hole == "scalar":
            return self.c.pick(SCALARS)
        if hole == "op":
            return self.c.pick("+|*|-|/|//|%|**|<|==".split("|"))
        name = known.setdefault("a", self.name("f")) if "c" not in known else known["c"]
        if hole == "axis":
            return str(self.axis(name))
        if hole == "places":
            return self.places(self.c.pick([3, *self.value(name).shape]))
        if hole == "slice":
            return self.slice(3)
        return str(getattr(self, hole)(name))


SCALARS = ("1|2.0|True|np.float32(2)|np.int8(3)|np.uint8(7)|np.float64(0.5)|s|n|k|np.int32(2)|"
           "np.bool_(True)|np.float32(s)|1j|np.float32(0.5)|-3|200").split("|")  # fmt: skip

# Reductions: name, then which arguments they take besides axis and keepdims.
_REDUCED = {
    "wid": "sum prod add.reduce".split(), "wi": "max min".split(), "wd": "mean".split(),
    "w": "std var any all".split(),
    "": """ptp amax nansum nanmax count_nonzero linalg.norm nanmean nanstd logaddexp.reduce
        multiply.reduce maximum.reduce argmax argmin nanmin median""".split(),
}  # fmt: skip
_ARGUMENTS = {
    "w": ", where={mask}", "i": ", initial={scalar}", "d": ", dtype=np.float64",
}  # fmt: skip


def _reductions() -> list[str]:
    out = ["np.quantile({a}, 0.3, axis={axes})", "np.quantile({a}, [0.25, 0.5], axis={axis})",
           "np.average({a}, axis={axes})", "np.var({a}, ddof=1, axis={axes})"]  # fmt: skip
    for takes, names in _REDUCED.items():
        for name in names:
            hole = "{axis}" if name.startswith("arg") or "." in name else "{axes}"
            head = f"np.{name}({{a}}, axis={hole}"
            out += [f"{head})", f"{head})", f"{head}, keepdims=True)"]
            out += [f"{head}{_ARGUMENTS[letter]})" for letter in takes]
    return out


def _split(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.split("|")]


EXPRESSIONS: dict[str, list[str]] = {
    "binary": _split("""({x} + {y}) | ({x} * {y}) | ({x} - {y}) | ({x} / (2.0 + {y} * {y}))
        | np.maximum({x}, {y}) | np.minimum({x}, {y}) | np.hypot({x}, {y}) | ({x} // 0.3)
        | np.arctan2({x}, 2 + {y}) | np.logaddexp({x}, {y}) | np.fmax({x}, {y})
        | np.copysign({x}, {y}) | np.add.outer({x}, {y}) | np.multiply.outer({x}, {y})
        | np.subtract({x}, {y}, dtype=np.float64) | (2.5 + {x} % 2) ** {y} | np.mod({x}, 0.7)
        | np.divide({x}, 2, where={y} > 0, out=np.zeros(3)) | np.fmod({x}, 0.8) * {y}
        | np.heaviside({x}, 0.5) | np.float_power(2 + {x}, 1.5) | np.power({x}, 2)
        | ({x} ** 3 - {y}) | ({x} * {y} + {x}) | np.ldexp({a}, 2)"""),
    "unary": _split("""np.sin({x}) | np.tanh({x}) | np.exp({x} * 0.5) | np.abs({x}) | (-{x})
        | np.sqrt(1 + {x} * {x}) | np.log1p({x} * {x}) | np.square({x}) | np.sign({x}) | ({a})**2
        | np.round({x}, 1) | np.cbrt(3 + {x}) | np.arctan({x}) | np.cos({x}) | np.floor({x} * 3)
        | 1 / (1.5 + {x} ** 2) | np.clip({x}, -0.4, 0.5) | np.clip({x}, None, s) | np.real({x})
        | np.nan_to_num({x}) | np.expm1({x}) | np.astype(np.asarray({x}), np.float32)
        | np.asarray({x}, dtype=float) | np.float32(1) * {x} | np.asarray({x}).astype(np.float32)
        | np.positive({x}) | np.conj({x}) | np.deg2rad({x}) | np.abs({x}) ** 1.5
        | np.reciprocal(2.5 + {x}) | np.ones_like({x}) * {x} | np.zeros_like({x})
        | np.full_like({x}, s) | np.sinc({x}) | np.logical_not({x}) | np.isfinite({x})"""),
    "reduction": _reductions(),
    "running": _split("""np.cumsum({a}, axis={axis}) | np.cumsum({a}) | np.cumprod({a}, axis={axis})
        | np.diff({a}, axis={axis}) | np.diff({a}, n=2, axis={axis}) | np.sort({a}, axis={axis})
        | np.sort({a}, axis=None) | np.argsort({a}, axis={axis}, kind="stable")
        | np.cumsum({c}, axis={axis})
        | np.add.accumulate({a}, axis={axis}) | np.maximum.accumulate({a}, axis={axis})
        | np.multiply.accumulate({a}, axis={axis}) | np.gradient({a}, axis={axis})
        | np.trapezoid({a}, axis={axis}) | np.trapezoid({a}, dx=0.5, axis={axis})
        | np.take_along_axis({a}, np.argsort({a}, axis={axis}, kind="stable"), axis={axis})
        | np.partition({a}, 1, axis={axis}) | np.flip({a}, axis={axis}) | np.ediff1d({a})
        | np.minimum.accumulate({a}, axis={axis}) | np.diff({a}, prepend=s, axis={axis})
        | np.nancumsum({a}, axis={axis}) | np.unwrap({a} * 5, axis={axis})
        | np.cumulative_sum({a}, axis={axis}, include_initial=True)
        | np.add.reduceat({a}, [0, 1], axis={axis})
        | np.searchsorted(np.sort({a}, axis=None), {y})"""),
    "shape": _split("""{c}.T | {c}.reshape(-1) | np.ravel({c}) | np.swapaxes({c}, {axis}, 0)
        | np.moveaxis({c}, {axis}, -1) | np.expand_dims({c}, {axis}) | np.squeeze({c})
        | np.roll({c}, {n}, axis={axis}) | np.roll({c}, {n}) | np.repeat({c}, 2, axis={axis})
        | np.repeat({c}, 0) | np.tile({c}, 2) | np.tile({c}, (2, 1)) | np.rot90({c}, {n})
        | np.broadcast_to({c}, (2, *{c}.shape)) | np.tril({c}, {n}) | np.triu({c}, {n})
        | np.diag({c}) | np.diagonal({c}, 1) | np.trace({c}) | np.pad({c}, 1)
        | np.pad({c}, (1, 2), mode='edge') | np.pad({c}, 1, mode='maximum')
        | np.pad({c}, 1, mode='wrap') | np.pad({c}, 1, mode='symmetric')
        | np.pad({c}, 1, mode='linear_ramp') | np.pad({c}, 1, mode='mean') | np.atleast_2d({c})
        | np.take({c}, {places}, axis={axis}) | np.take({c}, {places}) | {c}.flatten()
        | np.copy({c}) | np.fliplr({c}) | np.array_split({c}, 2, axis={axis})[0]
        | np.resize({c}, (2, 3)) | np.delete({c}, 0, axis={axis}) | np.insert({c}, 1, s)
        | np.insert({c}, 1, s, axis={axis}) | np.compress([True, False, True], {c}, axis={axis})
        | np.append({c}, {y}) | np.array({c}, ndmin=2) | np.ascontiguousarray({c})
        | {c}.reshape(1, -1) | {c}.reshape({c}.shape[::-1]) | {c}.reshape(-1, order='F')
        | np.nonzero({c})[0] | np.where({c} > 0)[-1] | np.argwhere({c} > 0)
        | np.flatnonzero({c} > 0) | {c}[{index}] | {c}[{index}] | {c}[{index}] | len({c}) * s
        | np.shape({c})[0] * s | np.atleast_3d({c}) | np.rollaxis({c}, {axis})
        | np.extract({c} > 0, {c}) | np.vander({c}, 3) | np.diagflat({c}) | np.unique({c})"""),
    "joining": _split("""np.concatenate([{c}, {y}]) | np.concatenate([{c}, {c} * 2], axis={axis})
        | np.stack([{c}, 2 * {c}], axis={axis}) | np.hstack([{c}, {y}]) | np.vstack([{c}, {y}])
        | np.column_stack([{c}, {y}]) | np.dstack([{c}, {c}]) | np.stack([{c}, {y}])
        | np.concatenate([{c}, {y}], axis=None) | np.array([{c}, {y}]) | np.array([s, {y}, 1])
        | np.array([[s, 1], [n, s * s]]) | np.array([{c}[0], {c}[-1]]) | np.block([[{c}, {y}]])
        | np.array([v * 2 for v in {c}]) | np.r_[{c}, s] | np.c_[{c}, {c}]
        | np.meshgrid({c}, {y})[0] | np.broadcast_arrays({c}, {y})[0]"""),
    "choosing": _split("""np.where({mask}, {x}, {y}) | np.where({mask}, {a}, {y}) | ({mask}) * {x}
        | np.where({mask}, {x}, 0) | np.select([{mask}, {a} < -0.5], [{x}, {y}], default=s)
        | np.clip({a}, {x}, {y}) | np.choose(({mask}).astype(int), [{x}, {y}])
        | np.where(q, {x}, {y}) | np.piecewise({a}, [{mask}], [np.sin, 0.5])
        | np.maximum({a}, 0, where={mask}, out={a} * 1) | ({mask}).sum() * {x}
        | np.interp({x}, [-1, 0, 1], [0.2, s, 0.7]) | np.where(s > 0, {x}, {y})
        | np.histogram({a}, bins=3)[0] | np.bincount(np.abs(p), weights={x})
        | np.digitize({a}, [-0.5, 0, 0.5]) | np.bincount(np.abs(p), minlength=4)"""),
    "product": _split("""({a} @ {b}) | ({a} @ {b}.T) | ({a}.T @ {c}) | np.dot({a}, {c})
        | np.inner({a}, {c}) | np.outer({a}, {c}) | np.tensordot({a}, {b}, axes=1)
        | np.einsum('ij,ij->i', {a}, {b}) | np.einsum('ij,jk', {a}, {b}) | np.matmul({a}, {c})
        | np.einsum('...i,...i', {a}, {b}) | np.einsum('ii', {a}) | np.einsum('i,j->ji', {a}, {b})
        | np.kron({a}, {b}) | np.vdot({a}, {b}) | np.cross({a}, {b}) | np.convolve({a}, {b})
        | np.convolve({a}, {b}, 'same') | np.convolve({a}, {b}, 'valid') | np.correlate({a}, {b})
        | np.tensordot({a}, {b}, axes=([0], [0])) | np.linalg.solve(np.eye(3) * 4 + {a}, {b})
        | np.linalg.inv(np.eye(3) * 4 + {a}) | np.linalg.det(np.eye(3) * 2 + {a}) | np.cov({a})
        | np.linalg.matrix_power({a}, 2) | np.polyval({a}, {b}) | np.einsum('ij->j', {a})
        | np.einsum('ij,kj->ik', {a}, {b}) | np.linalg.multi_dot([{a}, {a}.T, {a}])
        | np.abs(np.fft.fft({a}, axis={axis})) | np.fft.rfft({a}).real
        | np.fft.ifft({a}, n=3).imag | np.linalg.slogdet(np.eye(3) * 2 + {a})[1]
        | np.linalg.cholesky({a} @ {a}.T + np.eye({a}.shape[0])) | np.vecdot({a}, {b})
        | np.matvec({a}, {b})"""),
    "creation": _split("""np.zeros({c}.shape) | np.ones((2, 4)) | np.arange(n) | np.arange(4.0) * s
        | np.linspace(0, s, 4) | np.linspace(s, 1, n + 1) | np.eye(3) | np.eye(n + 1) * s
        | np.full((3, 4), s) | np.zeros_like({c}, dtype=np.float64) | np.zeros((n, 2))
        | np.zeros(3, dtype=np.float32) | np.full({c}.shape, 1) | np.arange(0, 4, 2) * s
        | np.tri(3, 4, k) * s | np.indices((3, 4))[1] * s | np.zeros(4, dtype=int)
        | np.fromfunction(lambda i, j: i + s * j, (3, 4)) | np.arange(n, -1, -1) | np.array(s)
        | np.identity(3) - s | np.array([]) | np.empty(0) | np.logspace(0, s, 3)
        | np.arange(3, dtype=np.float32) | np.meshgrid(np.arange(3), {c})[1]"""),
    "typed": _split("""({c} {op} {scalar}) | ({scalar} {op} {c}) | ({c} {op} {y})
        | np.asarray(p {op} {scalar}) | (({c} > 0) {op} {scalar}) | np.sum({c} > 0) {op} {scalar}
        | ({c}.sum() {op} {scalar}) * {y} | ({c}[..., :1] {op} {scalar}) | np.mean(p) {op} {c}
        | np.sum(p) {op} {c} | np.asarray({scalar}) {op} {c} | {c}.astype(np.float32) {op} {y}
        | np.array([{scalar}]) {op} {c} | np.where({c} > 0, {scalar}, {y})
        | np.maximum({c}, {scalar}) | np.array([1, {scalar}, s]) | np.multiply({scalar}, {y})
        | np.add({c}, {scalar}, dtype=np.float32) | np.concatenate([{c}, p]) | {c}.mean()
        | np.mean({c} > 0) | np.sum({c}, axis={axis}) | np.prod({c}, axis={axis}) | {c} ** 3"""),
    "complex": _split("""np.abs({z} + 3) | np.real({z} ** 2) | np.exp({z}).imag | ({z} * {a}).real
        | np.angle({z} + 3) | np.sum({z} * np.conj({z})).real | {z} | np.abs({z}) ** 2
        | {z}.conj() | ({z} @ {a}).imag | np.concatenate([{z}, {a}]) | {z}[{basic}]
        | np.cumsum({z}) | {z}.sum(axis={axes}) | np.where({a} > 0, {z}, 1)"""),
}  # fmt: skip
WEIGHTS = {"binary": 8, "unary": 7, "reduction": 6, "running": 4, "shape": 8, "joining": 4,
           "choosing": 5, "product": 5, "creation": 3, "typed": 5, "complex": 1}  # fmt: skip
