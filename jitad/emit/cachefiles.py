"""Where are files of the disk cache, and how are they read and written so that none is ever wrong?

A file appears complete or not at all (a rename), and `seal` puts a checksum before content that is
going to be trusted, so a killed writer, a full disk or a damaged file costs a compile, no more.
Only folders that belong to the user, or to root, are used: what is in them gets executed.  One that
was chosen may be read-only: what an image was made with is found there, and nothing is added.

The folder is kept below $JITAD_CACHE_LIMIT megabytes (256 if that is not set; 0: no limit): after a
write, files that were used longest ago are removed.  A file that another process has removed, or is
removing, is one that isn't there.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
from pathlib import Path


def folder() -> Path | None:
    """The one that was chosen, though it may be read-only; else the first that can be written."""
    chosen = os.environ.get("JITAD_CACHE_DIR")
    if chosen is not None:
        return _usable(Path(chosen), writable=False) if chosen else None
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


def _usable(path: Path, writable: bool = True) -> Path | None:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = path.stat()
    except OSError:
        return None
    if hasattr(os, "getuid") and (found.st_uid not in (os.getuid(), 0) or found.st_mode & 0o022):
        return None  # someone else could put code there
    return path.resolve() if not writable or os.access(path, os.W_OK) else None


def read(path: Path) -> bytes | None:
    """The content, or None; what is read counts as used now."""
    try:
        content = path.read_bytes()
        if time.time() - path.stat().st_mtime > _FRESH:
            os.utime(path)
    except OSError:
        return None
    return content


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
    _trim(path.parent)
    return True


_OURS = ("jitad_", ".writing-")  # how the names of files begin that are removed
_FRESH = 3600.0  # seconds for which a file is not marked as used again
_ROOM = 0.75  # what is left of the limit after files were removed
_written: dict[Path, int] = {}  # files written to a folder since its size was looked at


def limit() -> int:
    """The bytes that the folder may hold; 0 means any number."""
    try:
        return int(float(os.environ.get("JITAD_CACHE_LIMIT", "256")) * 2**20)
    except ValueError:
        return 256 * 2**20


def _trim(folder: Path) -> None:
    """Remove what was used longest ago, where the folder holds more than it may."""
    most = limit()
    since = _written[folder] = _written.get(folder, _EVERY) + 1
    if not most or since <= _EVERY:
        return
    _written[folder] = 0
    found: list[tuple[float, int, Path]] = []
    try:
        with os.scandir(folder) as entries:
            for e in entries:
                if e.name.startswith(_OURS) and e.is_file(follow_symlinks=False):
                    s = e.stat(follow_symlinks=False)
                    found.append((s.st_mtime, s.st_size, Path(e.path)))
    except OSError:  # another process is at it, too
        return
    size = sum(s for _, s, _ in found)
    if size <= most:
        return
    now = time.time()
    for used, length, path in sorted(found):
        if size <= _ROOM * most:
            break
        if path.name.startswith(".writing-") and now - used < _FRESH:
            continue  # somebody is writing it
        try:
            path.unlink()
        except OSError:
            pass
        size -= length


_EVERY = 20  # writes between two looks at the size


def seal(content: bytes) -> bytes:
    return hashlib.sha256(content).digest() + content


def unseal(sealed: bytes | None) -> bytes | None:
    """The content, or None where it isn't what was sealed."""
    if sealed is None or hashlib.sha256(sealed[32:]).digest() != sealed[:32]:
        return None
    return sealed[32:]
