"""Functions worth differentiating, each with a derivative written by hand.

Tests take the truth from here and benchmarks take the opponent from here. One file holds one
function: `objective`, as a user would write it, and `gradient`, as an expert would write it for
Numba. Importing this package loads no kernel; the first use of `KERNELS` imports them all, and a
kernel is compiled when it is first called.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from kernels import arrays, fresh

NAMES = (
    "rosenbrock",
    "logsumexp",
    "logistic",
    "black_scholes",
    "newton_sqrt",
    "lorenz",
    "heat",
    "burgers",
    "nbody",
    "mlp",
    "ba",
    "gmm",
)
ALL = NAMES + arrays.NAMES + fresh.NAMES
"""With the programs over whole arrays of `kernels.arrays`, and those of `kernels.fresh`, which were
written after the engine's passes."""


@dataclass(frozen=True)
class Kernel:
    """A function, its derivative by hand, and arguments to call them with."""

    name: str
    objective: Callable[..., float]
    gradient: Callable[..., tuple[float, Any]]
    argnums: int | tuple[int, ...]
    sizes: Mapping[str, Any]
    inputs: Callable[..., tuple[Any, ...]]
    primal: Callable[..., float]
    """The objective in the form that plain `numba.njit` runs fastest; often the objective."""
    adjoint: Callable[..., tuple[float, Any]] | None = None
    """By hand as well, if `gradient` is another algorithm: back through the objective's own."""


KERNELS: dict[str, Kernel]


def module_of(name: str) -> str:
    """The full name of a kernel's module."""
    package = next((p for p in (arrays, fresh) if name in p.NAMES), None)
    return f"{package.__name__ if package else 'kernels'}.{name}"


def load(name: str) -> Kernel:
    """Import one kernel's module, without compiling anything."""
    module = import_module(module_of(name))
    return Kernel(
        name=name,
        objective=module.objective,
        gradient=module.gradient,
        argnums=module.ARGNUMS,
        sizes=module.SIZES,
        inputs=module.inputs,
        primal=getattr(module, "primal", module.objective),
        adjoint=getattr(module, "adjoint", None),
    )


def __getattr__(attribute: str) -> Any:
    if attribute != "KERNELS":
        raise AttributeError(f"module {__name__!r} has no attribute {attribute!r}")
    kernels = {name: load(name) for name in ALL}
    globals()["KERNELS"] = kernels
    return kernels
