"""jitad: gradients of ordinary Python and NumPy functions as native CPU kernels."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jitad.calls.compiled import Compiled as Compiled
    from jitad.calls.fallback import set_fallback as set_fallback
    from jitad.calls.memory import set_memory as set_memory
    from jitad.calls.threads import get_num_threads as get_num_threads
    from jitad.calls.threads import set_num_threads as set_num_threads
    from jitad.debug.check_grads import check_grads as check_grads
    from jitad.errors import FallbackWarning as FallbackWarning
    from jitad.errors import JitadError as JitadError
    from jitad.operators.api import derivative as derivative
    from jitad.operators.api import grad as grad
    from jitad.operators.api import jit as jit
    from jitad.operators.api import jit_grad as jit_grad
    from jitad.operators.api import jit_value_and_grad as jit_value_and_grad
    from jitad.operators.api import jvp as jvp
    from jitad.operators.api import value_and_grad as value_and_grad
    from jitad.operators.api import vjp as vjp
    from jitad.operators.batching import batch as batch
    from jitad.operators.custom import checkpoint as checkpoint
    from jitad.operators.custom import custom_jvp as custom_jvp
    from jitad.operators.custom import custom_vjp as custom_vjp
    from jitad.operators.custom import stop_gradient as stop_gradient
    from jitad.operators.jacobians import hessian as hessian
    from jitad.operators.jacobians import hvp as hvp
    from jitad.operators.jacobians import jacfwd as jacfwd
    from jitad.operators.jacobians import jacobian as jacobian
    from jitad.operators.jacobians import jacrev as jacrev
    from jitad.operators.jacobians import jit_hessian as jit_hessian
    from jitad.operators.jacobians import jit_hvp as jit_hvp
    from jitad.operators.jacobians import jit_jacobian as jit_jacobian
    from jitad.operators.jacobians import jit_jvp as jit_jvp
    from jitad.operators.jacobians import jit_vjp as jit_vjp
    from jitad.operators.jets import jet as jet
    from jitad.operators.loops import checkpointed_loop as checkpointed_loop
    from jitad.operators.solutions import argmin as argmin
    from jitad.operators.solutions import fixed_point as fixed_point
    from jitad.operators.solutions import root as root
    from jitad.operators.sparse import sparse_hessian as sparse_hessian
    from jitad.operators.sparse import sparse_jacobian as sparse_jacobian
    from jitad.operators.unknown import opaque as opaque
    from jitad.operators.unknown import primitive as primitive
    from jitad.operators.unknown import unknown_policy as unknown_policy
    from jitad.primitives.schedules import Snapshots as Snapshots
    from jitad.structures import register_structure as register_structure

__version__ = "0.1.0"

# Where the public names live.  They are imported when first used: the folders below import
# `jitad.tape` and the like, and must not meet a half-made package.
_PUBLIC = {
    "Compiled": "jitad.calls.compiled",
    "FallbackWarning": "jitad.errors",
    "JitadError": "jitad.errors",
    "argmin": "jitad.operators.solutions",
    "batch": "jitad.operators.batching",
    "check_grads": "jitad.debug.check_grads",
    "checkpoint": "jitad.operators.custom",
    "custom_jvp": "jitad.operators.custom",
    "custom_vjp": "jitad.operators.custom",
    "derivative": "jitad.operators.api",
    "fixed_point": "jitad.operators.solutions",
    "grad": "jitad.operators.api",
    "hessian": "jitad.operators.jacobians",
    "hvp": "jitad.operators.jacobians",
    "jacfwd": "jitad.operators.jacobians",
    "jacobian": "jitad.operators.jacobians",
    "jacrev": "jitad.operators.jacobians",
    "jet": "jitad.operators.jets",
    "jit": "jitad.operators.api",
    "jit_grad": "jitad.operators.api",
    "jit_hessian": "jitad.operators.jacobians",
    "jit_hvp": "jitad.operators.jacobians",
    "jit_jacobian": "jitad.operators.jacobians",
    "jit_jvp": "jitad.operators.jacobians",
    "jit_value_and_grad": "jitad.operators.api",
    "jit_vjp": "jitad.operators.jacobians",
    "jvp": "jitad.operators.api",
    "opaque": "jitad.operators.unknown",
    "primitive": "jitad.operators.unknown",
    "register_structure": "jitad.structures",
    "root": "jitad.operators.solutions",
    "get_num_threads": "jitad.calls.threads",
    "set_fallback": "jitad.calls.fallback",
    "set_num_threads": "jitad.calls.threads",
    "checkpointed_loop": "jitad.operators.loops",
    "set_memory": "jitad.calls.memory",
    "Snapshots": "jitad.primitives.schedules",
    "sparse_hessian": "jitad.operators.sparse",
    "sparse_jacobian": "jitad.operators.sparse",
    "stop_gradient": "jitad.operators.custom",
    "unknown_policy": "jitad.operators.unknown",
    "value_and_grad": "jitad.operators.api",
    "vjp": "jitad.operators.api",
}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        from jitad.emit.undisturbed import undisturbed

        with undisturbed():
            return getattr(importlib.import_module(_PUBLIC[name]), name)
    if name == "linear":
        return importlib.import_module("jitad.linear")
    raise AttributeError(f"module 'jitad' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted((*_PUBLIC, "linear"))
