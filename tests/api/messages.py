"""What does the message of an error consist of?  Every part is compared."""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jitad
from jitad import JitadError

PACKAGE = str(Path(jitad.__file__).parent)  # no message speaks of a line in it
_PLACE = re.compile(r'  File "(.+)", line (\d+)')


def raised(call: Callable[[], Any], kind: type[BaseException] = JitadError) -> JitadError:
    """The error that a call raises: a JitadError that is of `kind`, too."""
    with pytest.raises(kind) as e:
        call()
    assert isinstance(e.value, JitadError)
    return e.value


def check_message(
    error: BaseException, file: str, what: str, source: str, at: str, remedy: str = ""
) -> None:
    """The message's lines: what; file and line; that line, `source`; a caret under `at`; remedy."""
    lines = str(error).splitlines()
    assert lines[0] == what
    place = _PLACE.fullmatch(lines[1])
    assert place is not None, lines[1]
    assert place[1] == file
    assert linecache.getline(file, int(place[2])).strip() == source
    assert lines[2] == "    " + source
    assert lines[3] == "    " + " " * source.index(at) + "^"
    assert lines[4:] == ([remedy] if remedy else [])
    for name in ("Leaf", "Cell(", "Bundle", "ArrayHandle", "tape variable", PACKAGE):
        assert name not in str(error)
