"""Is the source laid out as docs/architecture.md says?"""

from __future__ import annotations

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Who may import whom: what stands further down.  Modules of one layer may import one another.
# A name speaks for what is inside it, unless something longer is listed.
LAYERS = (
    ("jitad",),
    ("jitad.operators.vectorized",),
    ("jitad.solvers",),
    ("jitad.operators",),
    ("jitad.operators.compression",),
    ("jitad.operators.blocks", "jitad.plain.bounded", "jitad.plain.constrained",
     "jitad.plain.iterations", "jitad.plain.scalar_roots"),
    ("jitad.sparsity",),
    ("jitad.operators.api", "jitad.operators.applied", "jitad.operators.custom",
     "jitad.operators.unknown", "jitad.debug"),
    ("jitad.calls.compiled",),
    ("jitad.calls.native_entries",),
    ("jitad.calls.readers",),
    ("jitad.calls",),
    ("jitad.calls.arguments", "jitad.calls.looking", "jitad.calls.outputs"),
    ("jitad.trace",),
    ("jitad.runtime", "jitad.linear"),
    ("jitad.plain",),
    ("jitad.values",),
    ("jitad.specialise",),
    ("jitad.sweeps",),
    ("jitad.emit",),
    ("jitad.tape",),
    ("jitad.values.number", "jitad.values.active"),  # the dispatch, for leaves of a tape, too
    ("jitad.primitives",),
    ("jitad.closures", "jitad.structures", "jitad.structured", "jitad.named"),
    ("jitad.errors", "jitad.where", "jitad.room"),
    ("jitad.late", "jitad.primitives.unloaded"),
    ("jitad.tape.ir", "jitad.tape.types"),  # vocabulary
    ("jitad.immutable",),
)

# Stages that hand each other tapes, and know nothing else of one another.
STRANGERS = (
    ("jitad.emit", ("jitad.values", "jitad.specialise", "jitad.sweeps")),
    ("jitad.specialise", ("jitad.emit", "jitad.values", "jitad.runtime", "jitad.trace")),
    ("jitad.sweeps", ("jitad.emit", "jitad.values", "jitad.runtime", "jitad.trace")),
    ("jitad.runtime", ("jitad.specialise", "jitad.sweeps", "jitad.emit")),
    ("jitad.values", ("jitad.specialise", "jitad.sweeps", "jitad.emit")),
    ("jitad.trace", ("jitad.specialise", "jitad.sweeps", "jitad.emit")),
)

# Imports that point up all the same, made inside a function.
UPWARDS = {
    ("jitad.values.number", "jitad.values.kind"): "which knows where the user's program is",
    ("jitad.values.number", "jitad.values.functions"): "NumPy asks a number for its functions",
    ("jitad.values.number", "jitad.values.complexes.operators"): "a real one meets a complex one",
}

LONGEST = 500
LONG = {
    "tests/catalogue/numerics.py": "a catalogue: one function after the other",
    "tests/properties/generate.py": "one method for every statement that programs have",
    "tests/sweeps/random_tapes.py": "one function for every equation that tapes have",
    "tests/trace/test_arrays_and_objects.py": "one short program after the other",
    "tests/users/pythonic.py": "a catalogue: one program after the other",
}

PRIVATE = re.compile(r"numba\.(?:core|np|cpython|typed|_\w+)\b|llvmlite\.(?!ir\b|binding\b)\w+")
PRIVATE_HERE = "jitad/emit/numba_private/"

MACHINE = re.compile(r"""(?<![\w.~*/])/(?:home|root|work|tmp|Users|mnt|opt)/""")
MACHINE_IN = {"tests/emit/test_text.py": "positions with a made-up file"}


def files(*endings: str) -> list[str]:
    """The files of the repository: those of git, or where there is no git all but hidden ones."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, check=True, capture_output=True, text=True,
        ).stdout.split("\n")  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        paths = (p.relative_to(ROOT) for p in ROOT.rglob("*") if p.is_file())
        listed = [str(p) for p in paths if not any(part.startswith(".") for part in p.parts)]
    return [f for f in listed if f.endswith(endings) and (ROOT / f).is_file()]


PYTHON = files(".py")
ENGINE = [f for f in PYTHON if f.startswith("jitad/")]


def module_of(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


MODULES = {module_of(f) for f in ENGINE}


@cache
def looked_at(file: str) -> tuple[str, list[tuple[str, bool]]]:
    """What a file says of itself, what it imports, and whether a function does when it runs."""
    tree = ast.parse((ROOT / file).read_text())
    found: list[tuple[str, bool]] = []
    todo: list[tuple[ast.AST, bool]] = [(tree, False)]
    while todo:
        node, late = todo.pop()
        if isinstance(node, ast.Import):
            found += [(a.name, late) for a in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            for a in node.names:
                whole = f"{node.module}.{a.name}"
                found.append((whole if whole in MODULES else node.module, late))
        elif isinstance(node, (ast.stmt, ast.Module, ast.ExceptHandler, ast.match_case)):
            late = late or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            todo += [(inner, late) for inner in ast.iter_child_nodes(node)]
    return ast.get_docstring(tree) or "", found


def imports(file: str) -> list[tuple[str, bool]]:
    return looked_at(file)[1]


def within(module: str, name: str) -> bool:
    return module == name or module.startswith(name + ".")


def layer(module: str) -> int:
    """How far down a module stands."""
    if module == "jitad":
        return 0
    found = [
        (len(name), k)
        for k, names in enumerate(LAYERS)
        for name in names
        if name != "jitad" and within(module, name)
    ]
    assert found, f"{module} stands in no layer: list it in LAYERS"
    return max(found)[1]


def wrong_imports(file: str) -> list[str]:
    here, wrong = module_of(file), []
    for there, late in imports(file):
        if there not in MODULES:
            continue
        strange = any(
            within(here, a) and within(there, b) and layer(there) < layer("jitad.tape")
            for a, others in STRANGERS
            for b in others
        )
        up = layer(there) < layer(here) and not (late and (here, there) in UPWARDS)
        if strange or up:
            wrong.append(f"{here} imports {there}")
    return wrong


def test_imports_point_down() -> None:
    assert [wrong for file in ENGINE for wrong in wrong_imports(file)] == []


def test_a_package_that_is_listed_exists() -> None:
    listed = {name for names in LAYERS for name in names}
    assert listed <= MODULES
    used = {(module_of(f), there) for f in ENGINE for there, late in imports(f) if late}
    assert set(UPWARDS) <= used
    assert set(LONG) | set(MACHINE_IN) <= set(PYTHON)


def test_files_are_short() -> None:
    long = {f for f in PYTHON if len((ROOT / f).read_text().splitlines()) > LONGEST}
    assert long == set(LONG), "split what is new here; drop from LONG what has become short"


def test_private_names_of_numba_are_in_one_folder() -> None:
    found = []
    for file in PYTHON:
        if not file.startswith((PRIVATE_HERE, "tests/")):
            found += [f"{file}: {m}" for m, _ in imports(file) if PRIVATE.match(m)]
    assert found == []
    here = [f for f in PYTHON if f.startswith(PRIVATE_HERE)]
    assert any(PRIVATE.match(m) for f in here for m, _ in imports(f))


def test_a_file_says_what_it_is() -> None:
    silent = []
    for file in PYTHON:
        if file.endswith("__init__.py") and not (ROOT / file).read_text().strip():
            continue
        first = " ".join(looked_at(file)[0].split("\n\n")[0].split())
        if not re.match(r"\w.*[.?:](\s|$)", first):
            silent.append(file)
    assert silent == [], "no sentence at the top"


def test_no_file_mentions_a_machine() -> None:
    found = []
    for file in files(".py", ".md", ".toml", ".c", ".h", "ci/demo", "ci/test", "ci/environment"):
        if file in (*MACHINE_IN, "tests/test_structure.py"):
            continue
        for k, line in enumerate((ROOT / file).read_text().splitlines(), 1):
            if MACHINE.search(line):
                found.append(f"{file}:{k}: {line.strip()}")
    assert found == []
