"""How much memory does one call touch at its peak, beyond what the process held before it?

Linux keeps the peak of a process's resident memory and can be asked to forget it. Native code
allocates past Python's own book-keeping, so this is the only honest count.
"""

import ctypes
import gc
from collections.abc import Callable
from pathlib import Path


def peak_of(function: Callable[[], object]) -> int:
    """Bytes at the peak of a call above those before it, to within a few pages."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    result = function()
    peak = status("VmHWM")
    del result
    return max(0, peak - before)


def status(key: str) -> int:
    """One of the kernel's figures on this process, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"this system does not tell {key}")
