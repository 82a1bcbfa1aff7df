"""How is a function of the C library called so that loops over it vectorise?

LLVM's loop vectoriser replaces a call of a scalar function by a call of its vector forms where
the declaration names them (attribute "vector-function-abi-variant", mangled as the vector
function ABI of x86-64 says: `_ZGV`, the instruction set's letter, `N` for no mask, the number of
lanes, a `v` for each operand).  glibc's libmvec has such forms (up to 4 ulp).  The declarations of
the vector forms must outlive dead code elimination until the vectoriser runs: `llvm.compiler.used`.

Without libmvec, or without a form in it, the call stays scalar.  A name that the process doesn't
know at all is not declared: the caller gets an error while compiling, never at a jump to nowhere.
"""

from __future__ import annotations

import platform
from functools import cache

import llvmlite.binding as llvm
from llvmlite import ir

from jitad.emit.numba_private.declarations import PURE, host_features, keep
from jitad.emit.numba_private.declarations import declare as declare_function
from jitad.errors import JitadError

# letter of the instruction set, CPU feature, width in bits
_SETS = (("b", "sse2", 128), ("d", "avx2", 256), ("e", "avx512f", 512))


def _load(file: str) -> bool:
    try:
        llvm.load_library_permanently(file)
    except RuntimeError:
        return False
    return True


# At import, not at first use: code from the disk cache refers to these libraries, too.
_load("libm.so.6")
HAS_LIBMVEC = platform.machine() == "x86_64" and _load("libmvec.so.1")


def available(name: str) -> bool:
    """True if compiled code can call the C function of this name."""
    return bool(llvm.address_of_symbol(name))


@cache
def vector_forms(name: str, bits: int, operands: int) -> tuple[tuple[str, int], ...]:
    """(symbol, lanes) of each vector form that this machine can run."""
    if not HAS_LIBMVEC:
        return ()
    features = host_features()
    forms = (
        (f"_ZGV{letter}N{width // bits}{'v' * operands}_{name}", width // bits)
        for letter, feature, width in _SETS
        if feature in features
    )
    return tuple((symbol, lanes) for symbol, lanes in forms if available(symbol))


def declare(module: ir.Module, name: str, type: ir.Type, operands: int) -> ir.Function:
    """The C function `name` (as for double; the `f` of float forms is added here)."""
    bits = 32 if isinstance(type, ir.FloatType) else 64
    name = name + ("f" if bits == 32 else "")
    if name in module.globals:
        return module.globals[name]
    if not available(name):
        raise JitadError(
            f"this machine's C library has no function {name}, which the compiled code needs",
            remedy="Call the function without jit (eager mode evaluates it with SciPy).",
        )
    attributes: tuple[str, ...] = PURE
    forms = vector_forms(name, bits, operands)
    if forms:
        mangled = ",".join(f"{symbol}({symbol})" for symbol, _ in forms)
        attributes += (f'"vector-function-abi-variant"="{mangled}"',)
        for symbol, lanes in forms:
            vector = ir.VectorType(type, lanes)
            keep(ir.Function(module, ir.FunctionType(vector, [vector] * operands), symbol))
    return declare_function(module, ir.FunctionType(type, [type] * operands), name, attributes)
