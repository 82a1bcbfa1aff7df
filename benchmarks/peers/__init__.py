"""The kernels as users of other libraries would write them, and their gradients there.

A program has the arguments of the kernel's objective. `shared` has those that read alike for JAX,
PyTorch and autograd; `in_jax`, `in_torch` and `in_autograd` have the others, `in_casadi` what
CasADi can run. Nothing here is imported before it is asked for: the libraries are an extra
(``pip install -e .[peers]``).
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from benchmarks.peers.everyday import Everyday
from kernels import Kernel

NAMES = ("jax", "torch", "autograd", "casadi")

# Where a peer's program is another algorithm than the kernel, as its users would choose.
OTHERWISE = {
    "cholesky": "LAPACK's Cholesky decomposition and triangular solve",
    "lu": "elimination column by column (LAPACK's solve is `solve`, of everyday use)",
    "trisolve": "LAPACK's triangular solve",
    "gramschmidt": "LAPACK's QR decomposition (autograd: columns in a list)",
    "covariance": "one product of matrices",
    "conv2d": "the library's convolution (autograd: products of slices)",
    "lenet": "the library's convolution and pooling (autograd: products of slices)",
    "newton_sqrt": "all elements together until the last has converged (JAX: twenty times)",
    "nbody": "all pairs by broadcasting",
    "spmv": "a sum over segments (autograd: row by row)",
}


def value_and_gradient(
    peer: str, kernel: Kernel | Everyday, arguments: tuple[Any, ...]
) -> Callable[[], Any]:
    """A function without arguments that gives value and gradients, as arrays of the peer.

    The arguments are converted here, once; the function waits until its results are there.
    Raises NotImplementedError, with the reason, where the peer has no program for the kernel.
    """
    module = import_module(f"benchmarks.peers.in_{peer}")
    if isinstance(kernel, Everyday):
        if module.PEER is None:
            raise NotImplementedError("functions of everyday use are written for NumPy's names")
        program = kernel.program(module.PEER)
    else:
        program = module.PROGRAMS.get(kernel.name)
    if program is None:
        raise NotImplementedError(module.MISSING.get(kernel.name, "no program was written"))
    argnums = kernel.argnums if isinstance(kernel.argnums, tuple) else (kernel.argnums,)
    made: Callable[[], Any] = module.value_and_gradient(program, argnums, arguments)
    return made
