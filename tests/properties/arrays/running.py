"""What does a random array program do in NumPy?  Its lines, run one after the other.

The generator proposes a line, runs it here, and sees what came of it: so it needs to know nothing
about shapes, and proposes what NumPy takes.  A line that raises, or after which something is not
finite, large or long, is taken back by running the lines before it anew.
"""

from __future__ import annotations

import re
import textwrap
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

LARGEST, LONGEST = 1e3, 60


class Rejected(Exception):
    """A line after which a program can't go on."""


class Bench:
    """Names and what they hold, after the lines so far."""

    def __init__(self, args: dict[str, Any]) -> None:
        self.args = args
        self.lines: list[str] = []
        self.error: Exception | None = None  # of the last line that was taken back
        self.names: dict[str, Any] = {}
        self._start()

    def _start(self) -> None:
        self.names = {"np": np, "_at": _at, **fresh(self.args)}

    def run(self, lines: Sequence[str]) -> bool:
        """Add lines; False, and nothing has happened, where they don't run or don't end well."""
        self.error = None
        try:
            self._run(lines)
        except Rejected:
            pass
        except Exception as e:
            self.error = e
        else:
            self.lines += lines
            return True
        self._start()
        self._run(self.lines)
        return False

    def would_run(self, lines: Sequence[str]) -> bool:
        """Do these lines run here?  Nothing has happened afterwards."""
        self.error = None
        try:
            self._run(lines)
        except Exception as e:
            self.error = e
            return False
        finally:
            self._start()
            self._run(self.lines)
        return True

    def _run(self, lines: Sequence[str]) -> None:
        source = AT.sub(r"_at(np.\1, ", textwrap.dedent("\n".join(lines)))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(compile(source, "<proposed>", "exec"), self.names)
        for value in self.names.values():
            if isinstance(value, (np.ndarray, np.generic)) and not tame(value):
                raise Rejected

    def arrays(self, *kinds: str, ndim: int | None = None) -> list[str]:
        """Names of arrays of these kinds of dtypes, the newest ones last."""
        return [name for name, v in self.names.items() if isinstance(v, np.ndarray)
                and (not kinds or v.dtype.kind in kinds)
                and (ndim is None or v.ndim == ndim)]  # fmt: skip


AT = re.compile(r"np\.(\w+)\.at\(")


def _at(ufunc: Any, a: Any, index: Any, values: Any) -> None:
    """What NumPy does by `.at`; of values with more axes than were picked it reads past the end."""
    if np.ndim(values) > np.ndim(a[index]):
        raise ValueError("array is not broadcastable to correct shape")
    ufunc.at(a, index, values)


def tame(value: Any) -> bool:
    """Is this of numbers that a program may go on with?"""
    value = np.asarray(value)
    if value.size > LONGEST or value.dtype.kind not in "fiubc" or value.dtype == np.float16:
        return False
    return bool(np.all(np.abs(value.astype(complex)) <= LARGEST))


def fresh(args: dict[str, Any]) -> dict[str, Any]:
    """The arguments with memory of their own, laid out as they are."""
    return {name: laid_out_as(v) if isinstance(v, np.ndarray) else v for name, v in args.items()}


def laid_out_as(a: np.ndarray) -> np.ndarray:
    """A copy in memory of its own, with the same strides."""
    if not isinstance(a.base, np.ndarray):
        return a.copy(order="K")
    memory = a.base.copy(order="K")  # bases are whole and dense
    offset = a.__array_interface__["data"][0] - a.base.__array_interface__["data"][0]
    return np.ndarray(a.shape, a.dtype, memory, offset, a.strides)
