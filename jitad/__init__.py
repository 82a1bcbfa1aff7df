"""jitad: gradients of ordinary Python and NumPy functions as native CPU kernels."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jitad.api import derivative as derivative
    from jitad.api import grad as grad
    from jitad.api import jit as jit
    from jitad.api import jit_grad as jit_grad
    from jitad.api import jit_value_and_grad as jit_value_and_grad
    from jitad.api import jvp as jvp
    from jitad.api import value_and_grad as value_and_grad
    from jitad.api import vjp as vjp
    from jitad.batching import batch as batch
    from jitad.compiled import Compiled as Compiled
    from jitad.custom import checkpoint as checkpoint
    from jitad.custom import custom_jvp as custom_jvp
    from jitad.custom import custom_vjp as custom_vjp
    from jitad.custom import stop_gradient as stop_gradient
    from jitad.debug.check_grads import check_grads as check_grads
    from jitad.errors import FallbackWarning as FallbackWarning
    from jitad.errors import JitadError as JitadError
    from jitad.fallback import set_fallback as set_fallback
    from jitad.jacobians import hessian as hessian
    from jitad.jacobians import hvp as hvp
    from jitad.jacobians import jacfwd as jacfwd
    from jitad.jacobians import jacobian as jacobian
    from jitad.jacobians import jacrev as jacrev
    from jitad.jacobians import jit_hessian as jit_hessian
    from jitad.jacobians import jit_hvp as jit_hvp
    from jitad.jacobians import jit_jacobian as jit_jacobian
    from jitad.jacobians import jit_jvp as jit_jvp
    from jitad.jacobians import jit_vjp as jit_vjp
    from jitad.jets import jet as jet
    from jitad.loops import checkpointed_loop as checkpointed_loop
    from jitad.memory import set_memory as set_memory
    from jitad.primitives.schedules import Snapshots as Snapshots
    from jitad.solutions import argmin as argmin
    from jitad.solutions import fixed_point as fixed_point
    from jitad.solutions import root as root
    from jitad.sparse import sparse_hessian as sparse_hessian
    from jitad.sparse import sparse_jacobian as sparse_jacobian
    from jitad.structures import register_structure as register_structure
    from jitad.threads import get_num_threads as get_num_threads
    from jitad.threads import set_num_threads as set_num_threads
    from jitad.unknown import opaque as opaque
    from jitad.unknown import primitive as primitive
    from jitad.unknown import unknown_policy as unknown_policy

__version__ = "0.1.0"

# Where the public names live.  They are imported when first used: the folders below import
# `jitad.tape` and the like, and must not meet a half-made package.
_PUBLIC = {
    "Compiled": "jitad.compiled",
    "FallbackWarning": "jitad.errors",
    "JitadError": "jitad.errors",
    "argmin": "jitad.solutions",
    "batch": "jitad.batching",
    "check_grads": "jitad.debug.check_grads",
    "checkpoint": "jitad.custom",
    "custom_jvp": "jitad.custom",
    "custom_vjp": "jitad.custom",
    "derivative": "jitad.api",
    "fixed_point": "jitad.solutions",
    "grad": "jitad.api",
    "hessian": "jitad.jacobians",
    "hvp": "jitad.jacobians",
    "jacfwd": "jitad.jacobians",
    "jacobian": "jitad.jacobians",
    "jacrev": "jitad.jacobians",
    "jet": "jitad.jets",
    "jit": "jitad.api",
    "jit_grad": "jitad.api",
    "jit_hessian": "jitad.jacobians",
    "jit_hvp": "jitad.jacobians",
    "jit_jacobian": "jitad.jacobians",
    "jit_jvp": "jitad.jacobians",
    "jit_value_and_grad": "jitad.api",
    "jit_vjp": "jitad.jacobians",
    "jvp": "jitad.api",
    "opaque": "jitad.unknown",
    "primitive": "jitad.unknown",
    "register_structure": "jitad.structures",
    "root": "jitad.solutions",
    "get_num_threads": "jitad.threads",
    "set_fallback": "jitad.fallback",
    "set_num_threads": "jitad.threads",
    "checkpointed_loop": "jitad.loops",
    "set_memory": "jitad.memory",
    "Snapshots": "jitad.primitives.schedules",
    "sparse_hessian": "jitad.sparse",
    "sparse_jacobian": "jitad.sparse",
    "stop_gradient": "jitad.custom",
    "unknown_policy": "jitad.unknown",
    "value_and_grad": "jitad.api",
    "vjp": "jitad.api",
}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'jitad' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_PUBLIC)
