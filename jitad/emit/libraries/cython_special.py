"""Where are functions of scipy.special in memory, for compiled code?

Under symbols of ours, from the import of this module on: before code from the disk cache that
refers to them is loaded.
"""

from __future__ import annotations

import llvmlite.binding as llvm
from scipy.special import cython_special

from jitad.emit.libraries import addresses
from jitad.primitives.several import PARTS, WOFZ
from jitad.primitives.special import OPERANDS

for _ours, _theirs in {"digamma": "psi", "lgamma": "gammaln", **{n: n for n in OPERANDS}}.items():
    _signature = "double (" + "double, " * OPERANDS.get(_ours, 1) + "int __pyx_skip_dispatch)"
    llvm.add_symbol(f"jitad_{_ours}",
                    addresses.capsule_address(cython_special, _theirs, _signature))  # fmt: skip

for _part in PARTS.values():
    _results = ", double *" * _part.count
    _signature = ("" if _part.function == WOFZ else
                  f"void ({', '.join(['double'] * _part.operands)}{_results})")  # fmt: skip
    _address = addresses.capsule_address(cython_special, _part.function, _signature)
    llvm.add_symbol(f"jitad_{_part.function}", _address)
