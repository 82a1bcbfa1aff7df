"""Did LLVM move a load past a store to the same place?

LLVM 22 joins a load of some lanes with the choice that follows it: `select(m, load(p, m), other)`
becomes `load(p, m, other)`, where the choice is, though a store to `p` may come before it (issue
215453 there; it is put right in LLVM 23).  What it makes is known by its other value, which is
neither zero nor undetermined.  Whether there was a store can't be seen any more.
"""

from __future__ import annotations

import re
from typing import Any

_JOINED = re.compile(r"call .*@llvm\.masked\.load\.(?!.* (?:poison|undef|zeroinitializer)\))")


def may_have_moved(module: Any) -> bool:
    """Is there such a load in the code that LLVM has made?"""
    masked = any(f.name.startswith("llvm.masked.load.") for f in module.functions)
    return masked and _JOINED.search(str(module)) is not None
