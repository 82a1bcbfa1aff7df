"""Which functions may emitted code call?

Every name of this module is plain Python (so emitted code can be stepped through with Numba off,
NumPy and SciPy giving the values, in IEEE arithmetic without warnings) and is also known to Numba:
`scalars` and `memory` say what LLVM code a call becomes.  None of them is compiled on its own,
so using one costs no compile time.

Scalars take float64, float32 (a mix gives float64), integers and bools as NumPy does.
"""

from __future__ import annotations

import builtins
import importlib
import math
from typing import Any

import numpy as np

from jitad.emit import scalars
from jitad.emit.depth import deep, handed, room, run_of
from jitad.emit.libraries import MODULES
from jitad.emit.libraries.banded import banded
from jitad.emit.libraries.fourier import dft, irdft, rdft
from jitad.emit.libraries.schedules import advance, leaf_of, slots_of
from jitad.emit.libraries.sorting import argsort, searchsorted
from jitad.emit.memory import accum, empty, grown, load, local, opaque, row_of, store, zeros
from jitad.emit.output import ask, show
from jitad.primitives import TABLE
from jitad.primitives.several import PARTS
from jitad.primitives.special import OPERANDS

abs = builtins.abs  # Numba's own is right for every type


_DEFINED: list[Any] = []


def _plain(name: str, evaluate: Any) -> Any:
    def function(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return evaluate(*args)

    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    _DEFINED.append(function)
    return function


# -- one operand ----------------------------------------------------------------------------------

sqrt = _plain("sqrt", np.sqrt)
cbrt = _plain("cbrt", np.cbrt)
exp = _plain("exp", np.exp)
exp2 = _plain("exp2", np.exp2)
expm1 = _plain("expm1", np.expm1)
log = _plain("log", np.log)
log2 = _plain("log2", np.log2)
log10 = _plain("log10", np.log10)
log1p = _plain("log1p", np.log1p)
sin = _plain("sin", np.sin)
cos = _plain("cos", np.cos)
tan = _plain("tan", np.tan)
asin = _plain("asin", np.arcsin)
acos = _plain("acos", np.arccos)
atan = _plain("atan", np.arctan)
sinh = _plain("sinh", np.sinh)
cosh = _plain("cosh", np.cosh)
tanh = _plain("tanh", np.tanh)
asinh = _plain("asinh", np.arcsinh)
acosh = _plain("acosh", np.arccosh)
atanh = _plain("atanh", np.arctanh)
erf = _plain("erf", TABLE["erf"].evaluate)
erfc = _plain("erfc", TABLE["erfc"].evaluate)
gamma = _plain("gamma", TABLE["gamma"].evaluate)
if scalars.HAS_LGAMMA:
    lgamma = _plain("lgamma", TABLE["lgamma"].evaluate)
expit = _plain("expit", TABLE["expit"].evaluate)
sech2 = _plain("sech2", TABLE["sech2"].evaluate)
square = _plain("square", np.square)
reciprocal = _plain("reciprocal", np.reciprocal)
sign = _plain("sign", np.sign)
floor = _plain("floor", np.floor)
ceil = _plain("ceil", np.ceil)
trunc = _plain("trunc", np.trunc)
rint = _plain("rint", np.rint)
isnan = _plain("isnan", np.isnan)
isinf = _plain("isinf", np.isinf)
isfinite = _plain("isfinite", np.isfinite)

# -- two operands ---------------------------------------------------------------------------------


def _power(a: Any, b: Any) -> Any:
    whole = (int, np.integer)
    if isinstance(a, whole) and isinstance(b, whole):
        # A negative exponent is the tracer's to check; 0 stands for the fraction it would be.
        return a**b if b >= 0 else (int(a) ** (-b % 2) if a in (1, -1) else 0)
    return np.power(a, b)


atan2 = _plain("atan2", np.arctan2)
hypot = _plain("hypot", np.hypot)
unit = _plain("unit", TABLE["unit"].evaluate)
copysign = _plain("copysign", np.copysign)
fmod = _plain("fmod", np.fmod)
logaddexp = _plain("logaddexp", np.logaddexp)
maximum = _plain("maximum", np.maximum)
minimum = _plain("minimum", np.minimum)
# those of reductions, which vectorise: 0.0 or -0.0 is free where both are there
highest = _plain("highest", np.maximum)
lowest = _plain("lowest", np.minimum)
fmax = _plain("fmax", np.fmax)
fmin = _plain("fmin", np.fmin)
pow = _plain("pow", _power)

gamma_moment = _plain("gamma_moment", TABLE["gamma_moment"].evaluate)
beta_moment = _plain("beta_moment", TABLE["beta_moment"].evaluate)
elliptic_moment = _plain("elliptic_moment", TABLE["elliptic_moment"].evaluate)
product_fits = _plain("product_fits", TABLE["product_fits"].evaluate)
inside = _plain("inside", TABLE["inside"].evaluate)
unsigned = _plain("unsigned", TABLE["unsigned"].evaluate)
touched = _plain("touched", TABLE["touched"].evaluate)

# -- arithmetic of the engine's own ---------------------------------------------------------------

fadd = _plain("fadd", lambda a, b: a + b)  # a sum whose order is free: it vectorises
# `a * b + c` may be one instruction that rounds once; of `plus(a * b, c)` the product is rounded
# first, as Python does: where a decision may hang on the last bit
plus = _plain("plus", lambda a, b: a + b)
where = _plain("where", lambda c, a, b: a if c else b)  # no branch, unlike `a if c else b`

# -- division by a number that is known beforehand, see specialise.quotients ---------------------

rescale = _plain("rescale", TABLE["rescale"].evaluate)
quotient = _plain("quotient", TABLE["quotient"].evaluate)

for _function in _DEFINED:
    scalars.register(_function.__name__, _function)

# -- what SciPy hands out, which takes long to import: when emitted code asks for it ---------------

_SPECIAL = ("lgamma", "digamma", "polygamma", *OPERANDS, *PARTS)
_ELSEWHERE = {"spread": "threads", "threads": "threads",
              **{name: f"libraries.{module}" for name, module in MODULES.items()}}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _SPECIAL:
        # code on disk refers to its symbols
        importlib.import_module("jitad.emit.libraries.cython_special")
        found = globals()[name] = _plain(name, TABLE[name].evaluate)  # Numba looks for it here
        scalars.register(name, found)
    elif name in _ELSEWHERE:
        found = getattr(importlib.import_module(f"jitad.emit.{_ELSEWHERE[name]}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


inf, nan = math.inf, math.nan
float64, float32 = np.float64, np.float32
int64, int32, bool_ = np.int64, np.int32, np.bool_
__all__ = [*(f.__name__ for f in _DEFINED), *_SPECIAL, *_ELSEWHERE, "abs", "inf", "nan"]
__all__ += ["bool_", "float32", "float64", "int32", "int64"]
__all__ += ["accum", "argsort", "ask", "banded", "deep", "dft", "empty", "grown", "handed", "load"]
__all__ += ["local", "opaque", "room", "row_of", "run_of", "searchsorted", "show", "store", "zeros"]
__all__ += ["advance", "irdft", "leaf_of", "rdft", "slots_of"]
