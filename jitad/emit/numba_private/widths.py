"""Which loops did LLVM make vectors of?"""

from __future__ import annotations

import re
import warnings
from typing import Any

from numba import njit

from jitad.emit.numba_private.compiler import KernelCompiler
from jitad.emit.numba_private.declarations import FUSED


class _Lines:
    """Makes the compiler attach lines to instructions, and nothing else of debug information."""

    alone = False  # no array that the function writes is another of its operands

    def define_pipelines(self) -> list[Any]:
        flags = self.state.flags  # type: ignore[attr-defined]
        flags.dbg_directives_only, flags.noalias = True, self.alone
        return super().define_pipelines()  # type: ignore[misc]


_LABEL = re.compile(r"^([\w.\"$-]+):")
_AT = re.compile(r"^(!\d+) = !DILocation\(line: (\d+)", re.MULTILINE)
_LANES = re.compile(r"<(\d+) x (?:double|float|i\d+)>")


def vector_widths(dispatcher: Any) -> dict[int, int]:
    """The lanes of the widest vectors in loops, by the line of the source; none if Numba is off."""
    if not getattr(dispatcher, "signatures", None):
        return {}
    widths = _widths_of(dispatcher.py_func, dispatcher.signatures[0])
    for part in dispatcher.py_func.__globals__.values():  # what threads run is compiled apart
        if (kinds := getattr(part, "kinds_of_parts", None)) is not None:
            widths |= _widths_of(part.py_func, kinds, alone=True)
    return widths


def _widths_of(function: Any, kinds: Any, alone: bool = False) -> dict[int, int]:
    """`alone`: no array that it writes is another of its operands."""
    pipeline = type("LineCompiler", (_Lines, KernelCompiler), {"alone": alone})
    lined = njit(
        nogil=True, error_model="numpy", boundscheck=False, no_cfunc_wrapper=True, fastmath=FUSED,
        pipeline_class=pipeline, debug=True,
    )(function)  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lined.compile(kinds)
        text = lined.inspect_llvm(lined.signatures[0])
    lines = {name: int(line) for name, line in _AT.findall(text)}
    widths: dict[int, int] = {}
    block = ""
    for line in text.splitlines():
        if match := _LABEL.match(line):
            block = match.group(1)
        name = re.search(r"!dbg (!\d+)", line)
        if "vector.body" in block and name is not None and name.group(1) in lines:
            at = lines[name.group(1)]
            for lanes in _LANES.findall(line):
                widths[at] = max(widths.get(at, 1), int(lanes))
    return widths
