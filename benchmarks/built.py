"""How does a source in C or C++ become a library that Python loads?"""

import ctypes
import hashlib
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

CACHE = Path(__file__).parent / "out"


def built(
    compiler: str, source: Path, name: str, headers: Sequence[Path] = (),
    flags: Sequence[str] = (), libraries: Sequence[str] = (),
) -> ctypes.CDLL:  # fmt: skip
    """The compiled source, taken from the cache when nothing has changed that it depends on."""
    # `native` means another processor on another machine, and the cache may travel.
    target = subprocess.run(
        [compiler, "-Q", "--help=target", "-march=native"], capture_output=True, check=True
    ).stdout
    content = b"".join(file.read_bytes() for file in (source, *headers)) + target
    how = repr((compiler, tuple(flags), tuple(libraries))).encode()
    CACHE.mkdir(exist_ok=True)
    path = CACHE / f"{name}-{hashlib.sha256(content + how).hexdigest()[:16]}.so"
    if not path.exists():
        # Under another name first: a second process must never load half a file.
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            made = Path(folder) / path.name
            subprocess.run(
                [compiler, *flags, "-shared", "-fPIC", str(source), "-o", str(made), *libraries],
                check=True,
            )
            os.replace(made, path)
    return ctypes.CDLL(str(path))
