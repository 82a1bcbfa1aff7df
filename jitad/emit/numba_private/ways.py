"""By which machine code does Python come to a kernel?  All kernels of one signature share it.

What takes Python's arguments apart and makes Python's results depends on their types alone.  It is
half of a small kernel's code, so it is compiled once for all kernels of the same types, and kept on
disk by itself.  Which kernel a call is for it reads from the builtin function that is called.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from llvmlite import binding
from numba import _dynfunc
from numba.core import codegen, config, cpu, lowering, serialize

from jitad.emit import cachefiles, surroundings
from jitad.emit.numba_private.entry import OWN, Direct, FromNumba, is_direct, leave_as_written
from jitad.emit.numba_private.layout import LAYOUT_IS_KNOWN
from jitad.emit.numba_private.shortcut import Form, Relied, Shortcut, own_constants


class _About(NamedTuple):
    """What the code is told of the kernels, where Numba tells it of one."""

    argtypes: tuple[Any, ...]
    restype: Any
    name: str
    qualname: str = "a kernel"  # if it is called with too few arguments

    def name_of(self, kind: type) -> str:
        return f"{kind.__name__}.{self.name}"

    def file(self, folder: Path) -> Path:
        return folder / f"{self.name}.bin"


class _Library(codegen.JITCodeLibrary):
    """Machine code of such ways; optimised once, in the same way whoever asks for it."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        tuning = binding.create_pipeline_tuning_options(speed_level=min(config.OPT, 2))
        builder = binding.create_pass_builder(self._codegen._tm, tuning)
        builder.getModulePassManager().run(self._final_module, builder)


class Ways(NamedTuple):
    """The ways into all kernels of one signature."""

    about: _About
    library: Any
    constants: Sequence[Any]  # what the code wants to have of Python
    content: bytes  # all of it, for the disk

    def into(
        self, kind: type, fndesc: Any, address: int, kept: tuple[Any, ...], own: Sequence[Any] = ()
    ) -> Any:
        """A builtin function that goes this way into the kernel at an address; `kept`: what that
        needs.  `own`: what a shortcut relies on."""
        environment = _dynfunc.Environment(fndesc.lookup_module().__dict__)
        others = (*own, *[None] * (OWN - 1 - len(own)))
        environment.consts.extend((np.int64(address), *others, *self.constants))
        name = self.about.name_of(kind)
        return _dynfunc.make_function(
            fndesc.lookup_module(), fndesc.qualname.split(".")[-1], name,
            self.library.get_pointer_to_function(name), environment, (self.library, *kept),
        )  # fmt: skip


_known: dict[tuple[Any, Any], Ways] = {}  # only one thread compiles at a time


def ways(context: Any, fndesc: Any) -> Ways:
    """The ways into kernels of this signature, compiled if they are not there yet."""
    found = known_ways(context, fndesc)
    if found is not None:
        return found
    about = _about(fndesc)
    library = _Library(context.codegen(), about.name)
    library.enable_object_caching()
    module = context.create_module(about.name)
    environment = lowering.Environment({})
    environment.consts.extend(object() for _ in range(OWN))  # their places are taken
    kinds = [FromNumba, *([Direct, Shortcut] if is_direct(about) else [])]
    for kind in kinds:
        kind(context, module, None, about, environment, None, release_gil=True).build()
    if len(kinds) > 1:  # for what the direct way doesn't take
        leave_as_written(module.globals[about.name_of(FromNumba)])
    context.post_lowering(module, library)
    library.add_ir_module(module)
    library.finalize()
    constants = tuple(environment.consts[OWN:])
    content = serialize.dumps((library.serialize_using_object_code(), constants))
    made = _known[about.argtypes, about.restype] = Ways(about, library, constants, content)
    return made


def known_ways(context: Any, fndesc: Any) -> Ways | None:
    """Those that this process has, or finds on disk."""
    key = tuple(fndesc.argtypes), fndesc.restype
    if key not in _known:
        about, folder = _about(fndesc), cachefiles.folder()
        path = folder and about.file(folder)
        content = None if path is None else cachefiles.unseal(cachefiles.read(path))
        if content is None:
            return None
        try:
            code, constants = pickle.loads(content)
            library = context.codegen().unserialize_library(code)
        except Exception:  # whatever is wrong with it, compiling again is right
            return None
        # A dtype is known by its identity; what is unpickled is another object.
        own = tuple(np.dtype(c.str) if isinstance(c, np.dtype) else c for c in constants)
        _known[key] = Ways(about, library, own, content)
    return _known[key]


def keep(fndesc: Any, folder: Path) -> None:
    """Put the ways into a kernel beside it."""
    made = _known.get((tuple(fndesc.argtypes), fndesc.restype))
    path = _about(fndesc).file(folder)
    sealed = None if made is None else cachefiles.seal(made.content)
    if sealed is not None and cachefiles.read(path) != sealed:
        cachefiles.write(path, sealed)


def _about(fndesc: Any) -> _About:
    """What its ways are told of a kernel."""
    kinds = tuple(fndesc.argtypes), fndesc.restype
    key = hashlib.sha256(f"{surroundings.surroundings()}\n{kinds!r}".encode()).hexdigest()
    return _About(*kinds, f"jitad_ways_{key[:32]}")


class NoWay(Exception):
    """The ways into a kernel that was found on disk are not there."""


def load(context: Any, library: Any, fndesc: Any, environment: Any) -> Any:
    """As `executable`, of what was found on disk: if more is to be compiled, then all of it."""
    if known_ways(context, fndesc) is None:
        raise NoWay
    return executable(context, library, fndesc, environment)


def executable(context: Any, library: Any, fndesc: Any, environment: Any) -> Any:
    """What Numba's dispatcher calls."""
    address = library.get_pointer_to_function(fndesc.llvm_func_name)
    library.codegen.set_env(context.get_env_name(fndesc), environment)
    found = ways(context, fndesc)
    return found.into(FromNumba, fndesc, address, (library, environment))


@contextmanager
def entered_by_ways() -> Iterator[None]:
    """What Numba makes executable now are kernels.  Runs under Numba's compiler lock."""
    before = cpu.CPUContext.get_executable
    if LAYOUT_IS_KNOWN:
        cpu.CPUContext.get_executable = load
    try:
        yield
    finally:
        cpu.CPUContext.get_executable = before


def direct(dispatcher: Any, signature: tuple[Any, ...]) -> Any:
    """The direct way into a kernel that is compiled for these types; None if there is none.

    What is called so gives NotImplemented where an argument is of another kind.
    """
    return _into(Direct, dispatcher, signature)


def shortcut(
    dispatcher: Any, signature: tuple[Any, ...], relied: Relied, general: Callable[..., Any],
    misses: tuple[type[BaseException], ...], form: Form, into: Form,
) -> Any:  # fmt: skip
    """A builtin function for calls of a kernel with these types, while `relied` holds.

    `form`: what is made of the results.  `into`: what the arrays of `out=` are found in, in their
    order.  All other calls go to `general`.
    """
    own = own_constants(relied, general, misses, form, into)
    return _into(Shortcut, dispatcher, signature, own)


def _into(
    kind: type, dispatcher: Any, signature: tuple[Any, ...], own: Sequence[Any] = ()
) -> Any:
    made = getattr(dispatcher, "overloads", {}).get(signature)
    if made is None or not is_direct(made.fndesc):
        return None
    address = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)
    found = known_ways(made.target_context, made.fndesc)
    if found is None or not address:
        return None
    return found.into(kind, made.fndesc, address, (made.library, made.environment), own)
