"""How does real code run on complex numbers, so that a complex step gives its derivative?

Complex step: f(x + ih) = f(x) + ih f'(x) + O(h**2), without cancellation, so h may be 1e-30
(Squire & Trapp, SIAM Review 1998).  It takes analytic code.  The source of a module is run a
second time with `math`, `numpy` and a few builtins that decide by the real part and keep the
imaginary one; NumPy's own complex scalars compare by the real part first.
"""

from __future__ import annotations

import builtins
import cmath
import math
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sp


def _is_complex(x: Any) -> bool:
    return isinstance(x, (complex, np.complexfloating)) or (
        isinstance(x, np.ndarray) and x.dtype.kind == "c"
    )


def _abs(x: Any) -> Any:
    if not _is_complex(x):
        return builtins.abs(x)
    return np.where(x.real < 0, -x, x)[()]


def _sign(x: Any) -> Any:
    return np.sign(x.real) if _is_complex(x) else np.sign(x)


def _hypot(x: Any, y: Any) -> Any:
    return np.sqrt(x * x + y * y)


def _atan2(y: Any, x: Any) -> Any:
    angle = np.arctan2(np.real(y), np.real(x))
    slope = (np.imag(y) * np.real(x) - np.imag(x) * np.real(y)) / (
        np.real(x) ** 2 + np.real(y) ** 2
    )
    return angle + 1j * slope  # higher orders of a step of 1e-30 vanish


def _copysign(x: Any, y: Any) -> Any:
    return _abs(x) * np.copysign(1.0, np.real(y))


def _expit(x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-x))


def _erfc(x: Any) -> Any:
    return 1.0 - sp.erf(x) if _is_complex(x) else math.erfc(x)


def _by_series(real: Callable[[Any], Any], slope: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of a real x and its derivative: enough for a step of 1e-30."""

    def f(x: Any) -> Any:
        if not _is_complex(x):
            return real(x)
        return real(np.real(x)) + 1j * np.imag(x) * slope(np.real(x))

    return f


_gamma = _by_series(sp.gamma, lambda x: sp.gamma(x) * sp.digamma(x))
_lgamma = _by_series(sp.gammaln, sp.digamma)
_cbrt = _by_series(np.cbrt, lambda x: 1 / (3 * np.cbrt(x) ** 2))


def _of_real_part(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *args: f(np.real(x), *args)


class _Instead:
    """A module with some names replaced."""

    def __init__(self, module: types.ModuleType, **names: Any) -> None:
        self.__dict__.update(names)
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def _scalar(ufunc: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    def f(*args: Any) -> Any:
        return ufunc(*args) if any(map(_is_complex, args)) else plain(*args)

    return f


_RENAMED = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh",
            "acosh": "arccosh", "atanh": "arctanh"}  # fmt: skip
_ANALYTIC = ("sqrt exp log sin cos tan sinh cosh tanh expm1 log1p exp2 log2 log10 "
             "asin acos atan asinh acosh atanh").split()  # fmt: skip

complex_math = _Instead(
    math,
    **{n: _scalar(getattr(np, _RENAMED.get(n, n)), getattr(math, n, None)) for n in _ANALYTIC},
    fabs=_abs, hypot=_hypot, atan2=_atan2, copysign=_copysign, erfc=_erfc,
    erf=_scalar(sp.erf, math.erf), gamma=_gamma, lgamma=_lgamma, pow=lambda x, y: x**y,
    floor=_of_real_part(math.floor), ceil=_of_real_part(math.ceil),
    isnan=_of_real_part(math.isnan), isfinite=_of_real_part(math.isfinite),
    cbrt=_cbrt,
)  # fmt: skip


def _as_complex(make: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes arrays: float ones become complex."""

    def f(*args: Any, dtype: Any = None, **kwargs: Any) -> Any:
        made = make(*args, **kwargs) if dtype is None else make(*args, dtype=_wide(dtype), **kwargs)
        return made.astype(complex) if made.dtype.kind == "f" else made

    return f


def _wide(dtype: Any) -> Any:
    return complex if np.dtype(dtype).kind == "f" else dtype


def _norm(x: Any) -> Any:
    return np.sqrt(np.sum(x * x))


_MAKERS = ("zeros empty ones full zeros_like empty_like ones_like full_like array asarray eye "
           "linspace copy diag").split()  # fmt: skip

complex_numpy = _Instead(
    np,
    **{n: _as_complex(getattr(np, n)) for n in _MAKERS},
    abs=_abs, absolute=_abs, fabs=_abs, sign=_sign, hypot=_hypot, arctan2=_atan2,
    copysign=_copysign, cbrt=_cbrt, floor=_of_real_part(np.floor), ceil=_of_real_part(np.ceil),
    logaddexp=lambda a, b: np.log(np.exp(a) + np.exp(b)), float64=lambda x: x,
    linalg=_Instead(np.linalg, norm=_norm),
)  # fmt: skip


class _Float(float):
    """`float(x)` keeps a complex number; `isinstance(x, float)` is as ever."""

    def __new__(cls, x: Any = 0.0) -> Any:
        return x if _is_complex(x) else builtins.float(x)


def _import(name: str, *rest: Any) -> Any:
    if name == "math":
        return complex_math
    if name == "numpy":
        return complex_numpy
    if name == "numba":
        return _Instead(sys.modules["numba"], njit=lambda f: f)
    return builtins.__import__(name, *rest)


BUILTINS = {
    **vars(builtins),
    "__import__": _import,
    "abs": _abs,
    "float": _Float,
    "int": lambda x=0: int(np.real(x)),
}


def run(source: str, file: str, name: str) -> types.ModuleType:
    """The module of a source text, computing on complex numbers where it gets them."""
    module = types.ModuleType(name)
    module.__dict__["__builtins__"] = BUILTINS
    module.__file__ = file
    sys.modules[name] = module  # dataclasses look their module up
    exec(compile(source, file, "exec"), module.__dict__)
    return module


assert cmath.isclose(_atan2(0.3 + 1e-20j, 0.4).imag * 1e20, 0.4 / 0.25)
