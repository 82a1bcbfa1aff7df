"""Does every example in the documentation do what the documentation says?"""

from pathlib import Path

import pytest

from tests.docs import examples

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("**/*.md"))]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_document(document: Path, tmp_path: Path) -> None:
    examples.run(document, tmp_path)


def test_readme_has_examples(tmp_path: Path) -> None:
    assert list(examples.blocks((ROOT / "README.md").read_text(encoding="utf-8")))


def document(folder: Path, *lines: str) -> Path:
    path = folder / "page.md"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_blocks_share_names_and_have_source(tmp_path: Path) -> None:
    page = document(
        tmp_path,
        "Text.",
        "```python",
        "import inspect",
        "def square(x):",
        "    return x * x",
        "```",
        "- in a list:",
        "  ```python",
        "  assert square(3) == 9",
        "  ```",
        "```text",
        "this is not run",
        "```",
        "```python",
        ">>> print(inspect.getsource(square).splitlines()[1].strip())",
        "return x * x",
        ">>> def cube(x):",
        "...     return x**3",
        ">>> inspect.getsourcelines(cube)",
        "(['def cube(x):\\n', '    return x**3\\n'], 17)",
        ">>> 1 / 0",
        "Traceback (most recent call last):",
        "    ...",
        "ZeroDivisionError: division by zero",
        "```",
    )
    assert examples.run(page, tmp_path) == 6


@pytest.mark.parametrize(
    ("block", "place"),
    [
        (["x = 1", "assert x == 2"], "page.md:4: AssertionError"),
        (["def f():", "    return 1 / 0", "", "f()"], "page.md:4: ZeroDivisionError"),
        (["x = 1", "x = = 1"], "page.md:4:"),
        ([">>> 1 + 1", "2", ">>> 2 + 2", "5"], "page.md:5: expected"),
        ([">>> [][0]", "Traceback (most recent call last):", "KeyError: 0"], "page.md:3: expected"),
        ([">>> 1", "Traceback (most recent call last):", "KeyError: 0"], "page.md:3: expected"),
    ],
    ids=["assert", "raise", "syntax", "output", "other error", "no error"],
)
def test_failure_names_file_and_line(tmp_path: Path, block: list[str], place: str) -> None:
    page = document(tmp_path, "Text.", "```python", *block, "```")
    with pytest.raises(examples.ExampleFailed) as failure:
        examples.run(page, tmp_path)
    assert str(failure.value).startswith(place)


def test_unclosed_block_is_an_error(tmp_path: Path) -> None:
    page = document(tmp_path, "```python", "x = 1")
    with pytest.raises(examples.ExampleFailed, match="never closed"):
        examples.run(page, tmp_path)


def test_outputs_are_renewed(tmp_path: Path) -> None:
    session = [">>> print(1, 2, sep='\\n')", "1", "3", "4", ">>> 5", "6"]
    page = document(tmp_path, "```python", *session, "```")
    examples.run(page, tmp_path, renew=True)
    assert page.read_text().splitlines()[2:6] == ["1", "2", ">>> 5", "5"]
    assert examples.run(page, tmp_path) == 2
