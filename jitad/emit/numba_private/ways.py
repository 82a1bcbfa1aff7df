"""By which machine code does Python come to a kernel?  All kernels share it.

What takes Python's arguments apart and makes Python's results was half of a small kernel's code.
It is compiled once, and kept on disk by itself.  Which kernel a call is for, and what that takes
and gives, it reads from the builtin function that is called (`plan.py`).  Where an argument is of
another kind, or a kernel has types that the shared code doesn't know, it is Numba's own way that
is taken; all kernels of one signature share that, and it is compiled when it is first asked for.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import _dynfunc, types
from numba.core import callwrapper, codegen, cpu, lowering, serialize
from numba.core.compiler_lock import global_compiler_lock

from jitad.emit import cachefiles, surroundings
from jitad.emit.numba_private.entry import OWN, Direct, Usual, leave_as_written, name_of
from jitad.emit.numba_private.layout import LAYOUT_IS_KNOWN, LIST_ITEMS, VALUE, field
from jitad.emit.numba_private.plan import by_words, is_direct, plan_of
from jitad.emit.numba_private.shortcut import Bound, Form, Relied, Shortcut, own_constants


class FromNumba(callwrapper.PyCallWrapper):
    """Numba's own way into a kernel; which one that is, the builtin function knows."""

    def build(self) -> Any:
        object_ = self.context.get_argument_type(types.pyobject)
        kind = ir.FunctionType(object_, [object_] * 3)
        function = ir.Function(self.module, kind, name=name_of(FromNumba, self.fndesc.name))
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.build_wrapper(self.context.get_python_api(builder), builder, *function.args)
        return function

    def get_env(self, api: Any, builder: Any) -> Any:
        closure = builder.function.args[0]
        at = _dynfunc._impl_info["offsetof_closure_body"]
        environment = field(builder, closure, at, api.pyobj)
        body = self.context.get_env_body(builder, environment)
        manager = api.get_env_manager(self.env, body, environment)
        first = field(builder, body.consts, LIST_ITEMS, api.pyobj.as_pointer())
        address = field(builder, builder.load(first), VALUE, ir.IntType(64))
        of = self.fndesc
        kind = self.context.call_conv.get_function_type(of.restype, of.argtypes)
        self.func = builder.inttoptr(address, kind.as_pointer())
        return manager


class _About(NamedTuple):
    """What Numba's way is told of the kernels, where Numba tells it of one."""

    argtypes: tuple[Any, ...]
    restype: Any
    name: str
    qualname: str = "a kernel"  # if it is called with too few arguments


class _Library(codegen.JITCodeLibrary):
    """Machine code of such ways.  LLVM's passes are left out: they take longer than to generate
    the code, and gain a call nothing that could be measured."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        pass


class Ways(NamedTuple):
    """Machine code of ways into kernels."""

    name: str
    library: Any
    constants: Sequence[Any]  # what the code wants to have of Python
    content: bytes  # all of it, for the disk

    def into(
        self, kind: type, fndesc: Any, address: int, kept: tuple[Any, ...],
        own: Sequence[Any] = (), brief: int = -1,
    ) -> Any:  # fmt: skip
        """A builtin function that goes this way into the kernel at an address; `kept`: what that
        needs.  `own`: what the way relies on.  `brief`: of the kernel."""
        environment = _dynfunc.Environment(fndesc.lookup_module().__dict__)
        others = (*own, *[None] * (OWN - 1 - len(own)))
        environment.consts.extend((np.int64(address), *others, *self.constants))
        if kind is not FromNumba:
            plan = plan_of(tuple(fndesc.argtypes), fndesc.restype)
            assert plan is not None
            at = np.int64(plan.words.ctypes.data)  # which `plan_of` keeps
            environment.consts.extend((at, plan.dtypes, np.ndarray, np.float64))
            environment.consts.append(np.int64(brief))
        name = name_of(kind, self.name)
        return _dynfunc.make_function(
            fndesc.lookup_module(), fndesc.qualname.split(".")[-1], name,
            self.library.get_pointer_to_function(name), environment, (self.library, *kept),
        )  # fmt: skip


_known: dict[str, Ways] = {}  # only one thread compiles at a time


def _counting(context: Any) -> Any:
    """As code needs it that counts references: who loads a kernel from disk is not asked to."""
    return context if context.enable_nrt else context.subtarget(enable_nrt=True)


def _shared(context: Any) -> Ways:
    """Those into all kernels whose types can be told in a plan."""
    context = _counting(context)

    def write(name: str, module: Any) -> Sequence[Any]:
        for kind in (Direct, Shortcut, Bound, Usual):
            kind(context, module, name)
        return ()

    return _found(context, _name()) or _made(context, _name(), write)


def _from_numba(context: Any, fndesc: Any) -> Ways:
    """Numba's, into all kernels of one signature."""
    context = _counting(context)

    def write(name: str, module: Any) -> Sequence[Any]:
        environment = lowering.Environment({})
        environment.consts.extend(object() for _ in range(OWN))  # their places are taken
        about = _About(tuple(fndesc.argtypes), fndesc.restype, name)
        made = FromNumba(context, module, None, about, environment, None, release_gil=True)
        leave_as_written(made.build())
        return tuple(environment.consts[OWN:])

    name = _name(fndesc)
    return _found(context, name) or _made(context, name, write)


def _made(context: Any, name: str, write: Callable[[str, Any], Sequence[Any]]) -> Ways:
    library = _Library(context.codegen(), name)
    library.enable_object_caching()
    module = context.create_module(name)
    constants = write(name, module)
    context.post_lowering(module, library)
    library.add_ir_module(module)
    library.finalize()
    content = serialize.dumps((library.serialize_using_object_code(), constants))
    made = _known[name] = Ways(name, library, constants, content)
    return made


def _found(context: Any, name: str) -> Ways | None:
    """Those that this process has, or finds on disk."""
    if name not in _known:
        folder = cachefiles.folder()
        content = folder and cachefiles.unseal(cachefiles.read(_file(folder, name)))
        if not content:
            return None
        try:
            code, constants = pickle.loads(content)
            library = context.codegen().unserialize_library(code)
        except Exception:  # whatever is wrong with it, compiling again is right
            return None
        # A dtype is known by its identity; what is unpickled is another object.
        own = tuple(np.dtype(c.str) if isinstance(c, np.dtype) else c for c in constants)
        _known[name] = Ways(name, library, own, content)
    return _known[name]


def keep(fndesc: Any, folder: Path) -> None:
    """Put the ways into a kernel beside it."""
    _keep(_name(None if is_direct(fndesc) else fndesc), folder)


def _keep(name: str, folder: Path) -> None:
    made, path = _known.get(name), _file(folder, name)
    sealed = None if made is None else cachefiles.seal(made.content)
    if sealed is not None and cachefiles.read(path) != sealed:
        cachefiles.write(path, sealed)


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.bin"


def _name(of: Any = None) -> str:
    """Of the ways into all kernels, or of Numba's into those with the types of this one."""
    return _named(None if of is None else (tuple(of.argtypes), of.restype))


@cache
def _named(kinds: Any) -> str:
    key = hashlib.sha256(f"{surroundings.surroundings()}\n{kinds!r}".encode()).hexdigest()
    return f"jitad_ways_{key[:32]}"


BRIEF = "jitad_brief"
"""The variable of a kernel's module that says up to how many elements it is brief."""


class NoWay(Exception):
    """The ways into a kernel that was found on disk are not there."""


def load(context: Any, library: Any, fndesc: Any, environment: Any) -> Any:
    """As `executable`, of what was found on disk: if more is to be compiled, then all of it."""
    of = None if is_direct(fndesc) else fndesc
    if _found(context, _name(of)) is None or (of is None and not _address(library, fndesc)):
        raise NoWay
    return executable(context, library, fndesc, environment)


def executable(context: Any, library: Any, fndesc: Any, environment: Any) -> Any:
    """What Numba's dispatcher calls."""
    library.codegen.set_env(context.get_env_name(fndesc), environment)
    kept, address = (library, environment), library.get_pointer_to_function(fndesc.llvm_func_name)
    if not is_direct(fndesc):
        return _from_numba(context, fndesc).into(FromNumba, fndesc, address, kept)

    @cache
    def from_numba() -> Any:
        with global_compiler_lock:
            own = _from_numba(context, fndesc)
        if (folder := cachefiles.folder()) is not None:
            _keep(own.name, folder)
        return own.into(FromNumba, fndesc, address, kept)

    def other(*args: Any, **named: Any) -> Any:
        return from_numba()(*args, **named)

    return _shared(context).into(Usual, fndesc, _address(library, fndesc), kept, (other,))


def _address(library: Any, fndesc: Any) -> Any:
    return library.get_pointer_to_function(by_words(fndesc.llvm_func_name))


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
    whole: tuple[Any, ...] | None = None,
) -> Any:  # fmt: skip
    """A builtin function for calls of a kernel with these types, while `relied` holds.

    `form`: what is made of the results.  `into`: what the arrays of `out=` are found in, in their
    order.  `whole`: all that the kernel takes, and these arrays, if it is one call, to be made
    without arguments.  All other calls go to `general`.
    """
    own = own_constants(relied, general, misses, form, into, whole)
    return _into(Shortcut if whole is None else Bound, dispatcher, signature, own)


def _into(
    kind: type, dispatcher: Any, signature: tuple[Any, ...], own: Sequence[Any] = ()
) -> Any:
    made = getattr(dispatcher, "overloads", {}).get(signature)
    if made is None or not is_direct(made.fndesc):
        return None
    address = _address(made.library, made.fndesc)
    found = _found(made.target_context, _name())
    if found is None or not address:
        return None
    brief = getattr(dispatcher, "py_func", dispatcher).__globals__[BRIEF]
    return found.into(kind, made.fndesc, address, (made.library, made.environment), own, brief)
