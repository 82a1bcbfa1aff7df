"""Does a later process find the kernel of a tape, and no other one?

What is found was made from equal content: anything that differs in what the function does, in what
it is called with, or in the engine itself is another tape or another key.
"""

from __future__ import annotations

import ast
import linecache
import multiprocessing
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jitad
from jitad import custom_jvp, derivative, jit, jit_grad
from jitad.calls import kept, recalled
from jitad.emit import native, owncode
from jitad.emit.surroundings import MADE_FROM
from jitad.specialise import pipeline
from jitad.tape.ir import Var

X = np.array([1.0, 2.0, 3.0])
SQUARES = np.arange(9.0).reshape(3, 3), np.cos(np.arange(9.0)).reshape(3, 3)


@pytest.fixture
def passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tapes that passes ran over, with a folder of our own."""
    monkeypatch.setenv("JITAD_CACHE_DIR", str(tmp_path))
    seen: list[str] = []
    run = pipeline.specialise

    def specialise(tape: Any, threads: int | None = None) -> Any:
        seen.append(tape.name)
        return run(tape, threads=threads)

    monkeypatch.setattr(pipeline, "specialise", specialise)
    monkeypatch.setattr(recalled, "found", lambda *given: None)  # all are traced
    return seen


def anew(f: Callable[..., Any]) -> Any:
    """A compiled gradient that knows nothing of earlier ones in memory."""
    native._loaded.clear()
    return jit_grad(f)


def weighted(weight: float) -> Callable[..., Any]:
    return lambda x: np.sum(weight * x * x)


def cubed(x: Any) -> Any:
    return np.sum(x * x * x)


def nested(x: Any) -> Any:
    return derivative(lambda y: np.sum(x * y * derivative(lambda z: y * z * z)(1.0)))(2.0)


def checked(x: Any) -> Any:
    for i in range(len(x)):
        if x[i] < 0.0:
            raise ValueError("negative")
    return np.sum(np.sqrt(x))


@pytest.mark.parametrize("f", [cubed, nested, checked, weighted(2.0)])
def test_the_second_time_no_pass_runs(f: Any, passes: list[str]) -> None:
    made, results = [], []
    for _ in range(2):
        made.append(anew(f))
        results.append(made[-1](X))
        assert len(passes) == 1
    np.testing.assert_array_equal(*results)
    first, again = made
    assert again.source == first.source
    assert again.tape("plain") == first.tape("plain")  # made when it is asked for


def test_closures_share_a_kernel_and_keep_their_values(passes: list[str]) -> None:
    for weight in (2.0, 5.0):
        assert anew(weighted(weight))(X).tolist() == (2.0 * weight * X).tolist()
    assert len(passes) == 1


def test_other_types_and_extents_are_other_tapes(passes: list[str]) -> None:
    for x in (X, X.astype(np.float32), np.ones((2, 2)), np.ones(1)):
        np.testing.assert_allclose(anew(cubed)(x), 3.0 * x * x)
    assert len(passes) == 4


def along(axis: int) -> Callable[..., Any]:
    return lambda x: np.sum(np.sum(x, axis=axis) ** 2)


def test_parameters_of_operations_count(passes: list[str]) -> None:
    """The lines are the same, and so are all operations."""
    x = np.arange(4.0).reshape(2, 2)
    for axis in (0, 1):
        expected = 2.0 * np.sum(x, axis=axis, keepdims=True) * np.ones((2, 2))
        np.testing.assert_array_equal(anew(along(axis))(x), expected)
    assert len(passes) == 2


def test_an_edit_is_another_tape(passes: list[str], tmp_path: Path) -> None:
    file = tmp_path / "edited.py"
    for power in (2, 3, 2):
        file.write_text(f"def f(x):\n    return x[0] ** {power}\n")
        space: dict[str, Any] = {}
        linecache.clearcache()
        exec(compile(file.read_text(), str(file), "exec"), space)
        assert anew(space["f"])(X[1:])[0] == power * 2.0 ** (power - 1)
    assert len(passes) == 2


def reached(*modules: str) -> set[str]:
    """The files that these modules import, as their sources say, and what those import."""
    root = Path(jitad.__file__).parent
    todo, seen = list(modules), set()
    while todo:
        name = todo.pop()
        path = root.joinpath(*name.split(".")[1:])
        file = path.with_suffix(".py") if path.with_suffix(".py").exists() else path / "__init__.py"
        if str(file) in seen or not file.exists():
            continue
        seen.add(str(file))
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("jitad"):
                todo += [node.module, *(f"{node.module}.{a.name}" for a in node.names)]
    return {f for f in seen if not f.endswith("__init__.py")}


def test_all_code_between_a_tape_and_its_kernel_is_part_of_the_key() -> None:
    """What the passes, emission and this module import."""
    hashed = set(map(str, owncode.code(*kept._PACKAGES, *MADE_FROM)))
    seen = reached("jitad.specialise.pipeline", "jitad.emit.kernel", "jitad.calls.kept")
    assert len(seen) > 150
    assert seen - hashed == set()


def test_all_that_machine_code_is_made_from_is_part_of_its_key() -> None:
    """What the preamble imports; tapes are not what it computes with."""
    hashed = set(map(str, owncode.code(*MADE_FROM)))
    seen = reached("jitad.emit.preamble", "jitad.emit.native", "jitad.emit.translate")
    root = Path(jitad.__file__).parent
    others = {str(Path(f).relative_to(root)) for f in seen - hashed}
    assert len(seen) > 40
    assert others <= {"tape/ir.py", "tape/types.py"}


def test_another_engine_finds_nothing(passes: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    anew(cubed)(X)
    monkeypatch.setattr(kept, "_engine", lambda: "edited")
    assert anew(cubed)(X).tolist() == [3.0, 12.0, 27.0]
    assert len(passes) == 2


def test_a_damaged_file_is_not_believed(passes: list[str], tmp_path: Path) -> None:
    anew(cubed)(X)
    (file,) = tmp_path.glob("jitad_tape_*")
    sound = file.read_bytes()
    file.write_bytes(damaged := sound.replace(b" * ", b" + "))
    assert damaged != sound
    assert anew(cubed)(X).tolist() == [3.0, 12.0, 27.0]
    assert len(passes) == 2


def test_rules_are_not_kept(passes: list[str], tmp_path: Path) -> None:
    """What a rule does is not told by the tape."""
    for factor in (3.0, 4.0):
        ruled = custom_jvp(lambda x: x * x)
        ruled.defjvp(lambda p, t, by=factor: (p[0] * p[0], by * t[0]))  # type: ignore[misc]
        native._loaded.clear()
        assert jit_grad(lambda x, f=ruled: f(x))(1.5) == factor
    assert len(passes) == 2


def test_printed_values_are_made_anew(
    passes: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    def told(x: Any) -> Any:
        print("x is", x)
        return x * x

    for _ in range(2):
        native._loaded.clear()
        assert jit(told)(3.0) == 9.0
    assert capsys.readouterr().out == "x is 3.0\nx is 3.0\n"
    assert len(passes) == 1


def slope_in_child(results: Any) -> None:
    g = jit_grad(cubed)
    value = g(X).tolist()
    compiled = sum(g._latest().kernel.dispatcher.stats.cache_misses.values())
    results.put((value, compiled))


def test_spawned_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two at a time that begin anew, then one that finds what they have left."""
    monkeypatch.setenv("JITAD_CACHE_DIR", str(tmp_path))
    spawn = multiprocessing.get_context("spawn")
    results = spawn.Queue()
    found = []
    for count in (2, 1):
        children = [spawn.Process(target=slope_in_child, args=(results,)) for _ in range(count)]
        for child in children:
            child.start()
        found += [results.get(timeout=120) for _ in children]
        for child in children:
            child.join()
            assert child.exitcode == 0
    assert [value for value, _ in found] == [[3.0, 12.0, 27.0]] * 3
    assert found[-1][1] == 0
    assert not [f for f in os.listdir(tmp_path) if f.startswith(".writing")]


def by_rows_or_columns(axis: int) -> Callable[..., Any]:
    return lambda x: np.sum(x * x) * x.shape[axis]


def of_one_of_two(which: int) -> Callable[..., Any]:
    return lambda x, y: np.sum(x * y) * len((x, y)[which].T)


@pytest.mark.parametrize("make", [by_rows_or_columns, of_one_of_two])
def test_extents_are_told_apart(make: Any, passes: list[str]) -> None:
    x = np.ones((2, 3))
    given = (x, x) if make is of_one_of_two else (x,)
    for k in (0, 1):
        g = anew(make(k))
        want = 2.0 * x * x.shape[k] if make is by_rows_or_columns else x * 3.0
        np.testing.assert_array_equal(g(*given), want)
    assert len(passes) == 2


def matrices(a: Any, b: Any, x: Any, y: Any) -> Any:
    c = a[:, : b.shape[1]] + b[: a.shape[0]]
    for i in range(min(len(x), len(y))):
        c[i] *= x[i] + y[i] if x[i] > y[i] else len(y)
    return np.sum(c @ b.T) + x.shape[0] * y.shape[0] * a.shape[1]


@pytest.mark.parametrize("f", [matrices, derivative(lambda s: matrices(*SQUARES, s * X, X))])
def test_no_two_tapes_have_one_content(f: Any) -> None:
    """Each operand and result that is another variable of its type makes it another content."""
    given = (*SQUARES, X, X) if f is matrices else (2.0,)
    g = jit(f)
    g(*given)
    tape = g._all[0].traced.tape
    whole, changed = kept.content(tape), 0

    def visit(block: Any, known: list[Any]) -> None:
        nonlocal changed
        known = [*known, *block.params]
        for e in block.equations:
            for k, a in enumerate(e.ins):
                for v in known:
                    if isinstance(a, Var) and v is not a and v.type == a.type:
                        before, e.ins = e.ins, (*e.ins[:k], v, *e.ins[k + 1 :])
                        assert kept.content(tape) != whole, (e, a, v)
                        e.ins = before
                        changed += 1
            for b in e.blocks:
                visit(b, known)
            known += e.outs

    visit(tape.body, [])
    assert kept.content(tape) == whole
    assert changed > 50
