"""Where are files of the disk cache, and how are they read and written so that none is ever wrong?

A file appears complete or not at all (a rename), and `seal` puts a checksum before content that is
going to be trusted, so a killed writer, a full disk or a damaged file costs a compile, no more.
Only folders that belong to the user are used: what is in them gets executed.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from pathlib import Path


def folder() -> Path | None:
    """The first folder that can be written, or None."""
    chosen = os.environ.get("JITAD_CACHE_DIR")
    if chosen is not None:
        return _usable(Path(chosen)) if chosen else None
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return _usable(_user_folder()) or _usable(Path(tempfile.gettempdir()) / f"jitad-{user}")


def _user_folder() -> Path:
    try:
        home = Path.home()
    except RuntimeError:  # no home folder: the caller goes on to the next one
        return Path(os.devnull) / "jitad"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "jitad"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "jitad"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "jitad"


def _usable(path: Path) -> Path | None:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = path.stat()
    except OSError:
        return None
    if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o022):
        return None  # someone else could put code there
    return path.resolve() if os.access(path, os.W_OK) else None


def read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def write(path: Path, content: bytes) -> bool:
    """Put the file in place at once; False where that can't be done."""
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
        with os.fdopen(handle, "wb") as f:
            f.write(content)
        os.replace(temporary, path)
    except OSError:
        if temporary is not None:
            try:
                os.unlink(temporary)
            except OSError:
                pass
        return False
    return True


def seal(content: bytes) -> bytes:
    return hashlib.sha256(content).digest() + content


def unseal(sealed: bytes | None) -> bytes | None:
    """The content, or None where it isn't what was sealed."""
    if sealed is None or hashlib.sha256(sealed[32:]).digest() != sealed[:32]:
        return None
    return sealed[32:]
