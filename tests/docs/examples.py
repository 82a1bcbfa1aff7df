"""How are the Python blocks of a Markdown file run as one program?

Every fenced ``python`` block of a file runs, in order, in one shared module. The blocks are first
written to a real ``.py`` file in which each line keeps the number it has in the Markdown file: so
``inspect`` finds the source of the functions defined there, and a traceback's line is the line of
the document. A block holds plain statements or, if its first line starts with ``>>>``, an
interpreter session whose printed results are compared as by ``doctest``. What sessions print can
be written anew, to be looked at with ``git diff``:

    python -m tests.docs.examples docs/architecture.md
"""

import ast
import contextlib
import doctest
import io
import re
import sys
import tempfile
import textwrap
import traceback
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<language>[^\s`]*)\s*$")
LANES = re.compile(r"\b\d+ iterations at a time")  # as many as the machine has
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class ExampleFailed(AssertionError):
    """A block of a document did not do what the document says."""


@dataclass(frozen=True)
class Piece:
    """A run of statements: its first line in the document, and what it must print or raise."""

    line: int
    source: str
    mode: str = "exec"
    want: str | None = None
    raises: str | None = None
    options: int = 0


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield the first line (counted from 1) and the dedented text of each ``python`` block."""
    lines = text.splitlines()
    position = 0
    while position < len(lines):
        opening = FENCE.match(lines[position])
        position += 1
        if opening is None:
            continue
        start = position
        while position < len(lines) and lines[position].strip() != opening["ticks"]:
            position += 1
        if position == len(lines):
            raise ExampleFailed(f"line {start}: this block is never closed")
        if opening["language"] == "python":
            yield start + 1, textwrap.dedent("\n".join(lines[start:position]) + "\n")
        position += 1


def pieces(line: int, block: str) -> Iterator[Piece]:
    """Split a block: a session into its examples, anything else not at all."""
    if not block.lstrip().startswith(">>>"):
        yield Piece(line, block)
        return
    for example in doctest.DocTestParser().get_examples(block):
        options = OPTIONS
        for flag, on in example.options.items():
            options = options | flag if on else options & ~flag
        if options & doctest.SKIP:
            raise ExampleFailed(f"line {line + example.lineno}: a document's example is skipped")
        yield Piece(
            line + example.lineno, example.source, "single", example.want, example.exc_msg, options
        )


def run(document: Path, folder: Path, renew: bool = False) -> int:
    """Run all blocks of ``document``, with the program written into ``folder``; count them.

    ``renew``: what is printed is not compared but written into the document.
    """
    text = document.read_text(encoding="utf-8")
    todo = [piece for line, block in blocks(text) for piece in pieces(line, block)]
    program = [""] * (len(text.splitlines()) + 1)
    for piece in todo:
        source = piece.source.splitlines()
        program[piece.line - 1 : piece.line - 1 + len(source)] = source
    name = "examples_of_" + re.sub(r"\W", "_", document.stem)
    path = folder / f"{document.stem}.py"  # positions in printed tapes are lines of the document
    path.write_text("\n".join(program) + "\n", encoding="utf-8")

    module = types.ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    imports: list[ast.stmt] = []
    printed: list[tuple[Piece, str]] = []
    try:
        for piece in todo:
            got = run_piece(piece, document, path, module, imports)
            if piece.want is None or piece.raises is not None:
                continue
            if agrees(piece.want, got, piece.options):
                continue
            printed.append((piece, got))
            if not renew:
                shown = f"expected\n{piece.want}but got\n{got}"
                raise ExampleFailed(f"{document.name}:{piece.line}: {shown}")
    finally:
        del sys.modules[name]
    if printed:
        document.write_text(with_outputs(text.splitlines(), printed), encoding="utf-8")
    return len(todo)


def agrees(want: str, got: str, options: int) -> bool:
    want, got = (LANES.sub("some iterations at a time", text) for text in (want, got))
    return doctest.OutputChecker().check_output(want, got, options)


def with_outputs(lines: list[str], printed: list[tuple[Piece, str]]) -> str:
    """The document with what these sessions print now in the place of what it shows."""
    for piece, got in reversed(printed):
        assert piece.want is not None
        start = piece.line - 1 + len(piece.source.splitlines())
        lines[start : start + len(piece.want.splitlines())] = got.splitlines()
    return "\n".join(lines) + "\n"


def compiled(piece: Piece, path: Path, imports: list[ast.stmt]) -> types.CodeType:
    """The piece's code, as it would be if the whole program were compiled at once.

    CPython compiles `np.sum(x)` in another way where it has seen `import numpy as np`, and jitad
    compares code with source: so each piece is compiled after the imports of those before it.
    """
    body = ast.parse("\n" * (piece.line - 1) + piece.source, str(path)).body
    before = list(imports)
    imports += [s for s in body if isinstance(s, ast.Import | ast.ImportFrom)]
    if piece.mode == "single":
        return compile(ast.Interactive([*before, *body]), str(path), "single")
    return compile(ast.Module([*before, *body], []), str(path), "exec")


def run_piece(
    piece: Piece, document: Path, path: Path, module: types.ModuleType, imports: list[ast.stmt]
) -> str:
    """What one piece prints; raise ExampleFailed, naming the document's line, if it misbehaves."""
    printed = io.StringIO()
    try:
        # A single statement may take several lines of output, a block prints what it likes.
        code = compiled(piece, path, imports)
        with contextlib.redirect_stdout(printed):
            exec(code, module.__dict__)
    except Exception as error:
        message = "".join(traceback.format_exception_only(error))
        if piece.raises is not None:
            if agrees(piece.raises, message, piece.options):
                return ""
            expected = f"expected the error\n{piece.raises}but got\n{message}"
            raise ExampleFailed(f"{document.name}:{piece.line}: {expected}") from error
        line = error.lineno if isinstance(error, SyntaxError) else None
        for frame in traceback.extract_tb(error.__traceback__):
            line = frame.lineno if frame.filename == str(path) else line
        raise ExampleFailed(f"{document.name}:{line or piece.line}: {message}") from error
    if piece.raises is not None:
        raise ExampleFailed(f"{document.name}:{piece.line}: expected the error {piece.raises}")
    return printed.getvalue()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for argument in sys.argv[1:]:
            run(Path(argument), Path(folder), renew=True)
