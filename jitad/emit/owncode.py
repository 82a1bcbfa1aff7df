"""What is jitad's own code, as content?  Whatever is kept on disk is kept for this code only.

Hundreds of files are read each time a process begins: by the calls of the system, since what
`pathlib` and `io` put around them takes longer than to read and hash.
"""

from __future__ import annotations

import hashlib
import importlib.resources
import os
from collections.abc import Iterator
from functools import cache
from importlib.resources.abc import Traversable


def code(*packages: str) -> Iterator[Traversable]:
    """The modules of these packages of jitad's own; "" is the one around them."""
    root = importlib.resources.files("jitad")
    for package in packages:
        for file in sorted((root / package).iterdir(), key=lambda f: f.name):
            if file.name.endswith(".py"):
                yield file


def packages() -> tuple[str, ...]:
    """All packages of jitad's own."""
    root = importlib.resources.files("jitad")
    found, todo = [], [("", root)]
    while todo:
        package, folder = todo.pop()
        inside = {f.name: f for f in folder.iterdir()}
        if "__init__.py" in inside:
            found.append(package)
            todo += [(f"{package}/{name}".lstrip("/"), f) for name, f in inside.items()
                     if "." not in name and f.is_dir()]  # fmt: skip
    return tuple(sorted(found))


def digest(*packages: str) -> str:
    """The content of all modules of these packages, and what they are called."""
    return hashlib.sha256("".join(map(_of_one, packages)).encode()).hexdigest()


@cache
def _of_one(package: str) -> str:
    found = hashlib.sha256()
    folder = str(importlib.resources.files("jitad") / package)
    if os.path.isdir(folder):
        names = sorted(n for n in os.listdir(folder) if n.endswith(".py"))
        files = ((n, _read(os.path.join(folder, n))) for n in names)
    else:  # in an archive
        files = ((f.name, f.read_bytes()) for f in code(package))
    for name, content in files:
        found.update(f"{package}/{name} {len(content)}\n".encode())
        found.update(content)
    return found.hexdigest()


def _read(path: str) -> bytes:
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        size = os.fstat(handle).st_size
        parts = [os.read(handle, size + 1)]
        while len(parts[-1]) and sum(map(len, parts)) < size:
            parts.append(os.read(handle, size + 1))
        return b"".join(parts)
    finally:
        os.close(handle)
