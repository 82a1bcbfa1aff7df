"""How does compiled code call the C and Fortran functions that SciPy hands out?

Cython modules keep the addresses of their functions in capsules.  A subroutine of LAPACK takes
everything by address.
"""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, FileFinder
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types

from jitad.emit import numba_private


def alone(package: str, name: str) -> Any:
    """An extension module of a package's, which asks for nothing else of it.

    The rest of `scipy.linalg` takes ten times as long to import, in each process.  The module does
    not stay entered: whoever imports the package gets the same one, in the usual way.
    """
    whole = f"{package}.{name}"
    if package in sys.modules or whole in sys.modules:
        return importlib.import_module(whole)
    above, _, last = package.rpartition(".")
    folders = [f"{folder}/{last}" for folder in importlib.import_module(above).__path__]
    loaders = (ExtensionFileLoader, EXTENSION_SUFFIXES)
    found = (FileFinder(folder, loaders).find_spec(whole) for folder in folders)
    spec = next((s for s in found if s is not None and s.loader is not None), None)
    if spec is None:  # installed in a way of its own
        return importlib.import_module(whole)
    module = importlib.util.module_from_spec(spec)
    assert spec.loader is not None
    spec.loader.exec_module(module)
    sys.modules.pop(whole, None)
    return module


def capsule_address(module: Any, name: str, signature: str = "") -> int:
    """The address of a C function that a Cython module hands out (of this signature)."""
    get_name, get = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    for key, capsule in module.__pyx_capi__.items():
        # functions of several types are listed as __pyx_fuse_<number><name>
        if key.removeprefix("__pyx_fuse_").lstrip("0123456789") == name:
            found = get_name(capsule)
            if not signature or found == signature.encode():
                return int(get(capsule, found))
    raise ImportError(f"{module.__name__} has no {name} of type {signature or 'any'}")


def _slot(builder: Any, value: Any) -> Any:
    """The address of a value, in the stack frame of the function."""
    with builder.goto_entry_block():
        at = builder.alloca(value.type)
    builder.store(value, at)
    return at


_LETTERS = {"z": types.complex128, "c": types.complex64, "s": types.float32}


@cache
def _lapack() -> Any:
    return alone("scipy.linalg", "cython_lapack")


def fortran(name: str, module: str, letters: str = "ds", of: str = "") -> Any:
    """A subroutine of LAPACK, for compiled code: integers go by address, arrays as they lie.

    `letters`: of the types that it is there for; `of`: what LAPACK calls it, if by another name.
    The symbol is `jitad_d<name>`, or has another letter of LAPACK's where the arrays are of
    float32 ("s"), complex ("z"), or both ("c").
    """

    for letter in letters:  # at import: code on disk refers to them
        llvm.add_symbol(f"jitad_{letter}{name}", capsule_address(_lapack(), letter + (of or name)))

    def routine(*args: Any) -> None:
        raise NotImplementedError(f"{name} is for compiled code")

    routine.__name__, routine.__module__ = name, module
    setattr(sys.modules[module], name, routine)  # Numba knows a function by where it stands

    def typer(*ts: Any) -> Any:
        ok = all(isinstance(t, (types.Array, types.Integer)) for t in ts)
        plain = (types.int32 if isinstance(t, types.Integer) else t for t in ts)
        return types.none(*plain) if ok else None

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        handed = []
        kinds = set()
        for t, value in zip(sig.args, args, strict=True):
            if isinstance(t, types.Array):
                kinds.add(t.dtype)
                at = context.make_array(t)(context, builder, value).data
            else:
                at = _slot(builder, value)
            handed.append(builder.bitcast(at, byte))
        fnty = ir.FunctionType(ir.VoidType(), [byte] * len(handed))
        letter = next((x for x, kind in _LETTERS.items() if kind in kinds), "d")
        symbol = f"jitad_{letter}{name}"
        builder.call(numba_private.declare(builder.module, fnty, symbol, ("nounwind",)), handed)
        return context.get_dummy_value()

    numba_private.define(routine, typer, lower)
    return routine
