"""What is machine code made from, beside what it is compiled from?"""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cache

import numba
import numpy as np

from jitad.emit.libraries import libm
from jitad.emit.numba_private.declarations import LLVMLITE, host, settings
from jitad.emit.owncode import digest

# packages of jitad's own; "" is the one around them
MADE_FROM = ("", "emit", "emit/libraries", "emit/numba_private", "primitives")


@cache
def surroundings() -> str:
    """Its content, as a key of what is kept on disk."""
    parts = [digest(*MADE_FROM), sys.version, numba.__version__, LLVMLITE]
    parts += [np.__version__]
    parts += [*host(), *settings(), str(libm.HAS_LIBMVEC)]
    if "CS_GNU_LIBC_VERSION" in getattr(os, "confstr_names", {}):
        parts.append(os.confstr("CS_GNU_LIBC_VERSION") or "")
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
