"""Does importing jitad import what it doesn't need?  SciPy takes longer than all of jitad."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from jitad.emit import native, preamble

ROOT = Path(__file__).resolve().parents[1]
LOADED = "print(*sorted(m for m in sys.modules if m.count('.') == 1 and m.startswith('scipy.')))"


def run(folder: Path, *lines: str) -> str:
    file = folder / "program.py"
    file.write_text("\n".join(["import sys", *lines]))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JITAD_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run([sys.executable, str(file)], env=environment, capture_output=True,
                          text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_neither_import_nor_a_gradient_import_scipy(tmp_path: Path) -> None:
    slow = {"scipy.special", "scipy.linalg", "scipy.sparse", "scipy.stats"}
    program = ["from jitad import jit_grad, grad", "import numpy as np",
               "f = lambda x: np.sum(np.exp(x) / x)",
               "jit_grad(f)(np.ones(3)), grad(f)(np.ones(3))", LOADED]  # fmt: skip
    for _ in range(2):  # compiled, and found on disk
        assert not slow.intersection(run(tmp_path, *program).split())


def test_products_of_matrices_of_numbas_own_in_the_same_process(tmp_path: Path) -> None:
    """Numba asks whether there is a BLAS before it compiles anything, and is not answered then."""
    found = run(tmp_path, "from jitad import jit_grad", "import numpy as np, numba",
                "jit_grad(lambda x: x * x)(3.0)", "a = np.array([[2.0, 1.0], [1.0, 3.0]])",
                "of = numba.njit(lambda a: (np.dot(a, a), np.linalg.inv(a)))",
                "product, inverse = of(a)",
                "print(*product.ravel(), abs(inverse @ a - np.eye(2)).max() < 1e-15)")  # fmt: skip
    assert found == "5.0 5.0 5.0 10.0 True"


PROGRAMS = {
    "a number": ["f = lambda x: x * x", "jit_grad(f)(3.0)"],
    "a closure over arrays, with functions of NumPy's": [
        "def of(a):", "    return lambda x: np.sum(np.sin(a * x)) + np.dot(a, x) + np.log(x[0])",
        "jit_grad(of(np.ones(3)))(np.ones(3))"],
    "loops and what is around": [
        "c = 2.0", "def g(x):", "    return c * x", "def f(x, n):", "    s = 0.0",
        "    for i in range(n):", "        s += g(x[i]) if x[i] > 0.5 else x[i]", "    return s",
        "jit_grad(f)(np.ones(4), 3)"],
    "structures": [
        "def f(p):", "    return {'a': [p['w'] * 2.0, p['b'][0]], 'b': (p['b'][1], 1, None)}",
        "jit(f)({'w': np.ones(2), 'b': (1.0, 2.0)})"],
    "results written to arrays": [
        "f = lambda x: np.sum(x * x)", "jit_value_and_grad(f)(np.ones(2), out=np.zeros(2))"],
}  # fmt: skip


@pytest.mark.parametrize("kind", PROGRAMS)
def test_what_is_found_on_disk_needs_no_tracer_and_no_engine(kind: str, tmp_path: Path) -> None:
    program = ["from jitad import jit, jit_grad, jit_value_and_grad", "import numpy as np",
               *PROGRAMS[kind],
               "print(*(m for m in sys.modules if m.startswith('jitad.')))"]  # fmt: skip
    made, found = (set(run(tmp_path, *program).split()) for _ in range(2))
    parts = ("jitad.specialise.", "jitad.sweeps.", "jitad.emit.lower", "jitad.emit.preamble",
             "jitad.primitives.", "jitad.runtime.", "jitad.values.number", "jitad.trace.hooks",
             "jitad.trace.rewrite", "jitad.trace.calls")  # fmt: skip
    needed = [p for p in parts if any(m.startswith(p) for m in made)]
    assert {*needed, "jitad.emit.preamble"} == set(parts)  # a kernel may have no use for that
    assert not [m for m in found if m.startswith(parts)]
    assert len(found) < 100


FIRST = {  # the first call that a process makes, and what it gives
    "a complex number": ("jit_grad(lambda z: abs(z) ** 2)(1 + 2j)", "(2-4j)"),
    "a complex array": ("jit(lambda z: z * 2)(np.ones(2) * 1j)[1]", "2j"),
    "one in a dict": ("jit(lambda d: abs(d['z']))({'z': 3 + 4j})", "5.0"),
    "eagerly": ("grad(lambda z: abs(z) ** 2)(1 + 2j)", "(2-4j)"),
}


@pytest.mark.parametrize("kind", FIRST)
def test_complex_arguments_may_be_the_first_that_a_process_sees(kind: str, tmp_path: Path) -> None:
    program, expected = FIRST[kind]
    for _ in range(2):  # compiled, and found on disk
        assert run(tmp_path, "from jitad import grad, jit, jit_grad", "import numpy as np",
                   f"print({program})") == expected  # fmt: skip


OF_LIBRARIES = {
    "times": "v @ (a @ v)", "gram": "np.sum(a.T @ a)", "lu": "np.sum(np.linalg.inv(a))",
    "solve": "v @ np.linalg.solve(a, v)", "log_size": "np.linalg.slogdet(a)[1]",
    "lu_sign": "np.linalg.slogdet(a)[0] * v[0]", "cholesky": "np.sum(np.linalg.cholesky(a))",
    "trisolve": "v @ scipy.linalg.solve_triangular(a, v)", "qr": "np.sum(np.linalg.qr(a)[1])",
    "svd": "np.sum(np.linalg.svd(a)[1])", "eigh": "np.sum(np.linalg.eigh(a)[0] ** 2)",
    "pinv": "np.sum(np.linalg.pinv(a))", "line": "np.polyfit(v, v * v, 1)[0]",
    "expm": "np.sum(scipy.linalg.expm(a))", "sqrtm": "np.sum(scipy.linalg.sqrtm(a))",
    "eig": "np.sum(np.abs(np.linalg.eig(a)[0]))", "determinant": "np.linalg.det(a)",
    "heigh": "np.sum(np.linalg.eigvalsh(a + 0.1j * np.tri(2, k=-1) - 0.1j * np.tri(2, k=-1).T))",
}  # fmt: skip


def test_kernels_on_disk_that_call_libraries_import_these_alone(tmp_path: Path) -> None:
    program = ["import numpy as np, scipy.linalg, scipy.special", "from jitad import jit_grad",
               "v, a = np.array([1.5, 2.5]), np.array([[4.0, 1.0], [1.0, 3.0]])",
               *(f"print({name!r}, *(p.tolist() for p in jit_grad(lambda a, v: {f}, (0, 1))(a, v)))"
                 for name, f in OF_LIBRARIES.items()),
               "print('jitad.emit.preamble' in sys.modules)"]  # fmt: skip
    *made, there = run(tmp_path, *program).split("\n")
    *found, later = run(tmp_path, *program).split("\n")
    assert (there, later) == ("True", "False")
    assert found == made and len(found) == len(OF_LIBRARIES)


OF_ARRAYS = """import numpy as np

from jitad.emit.preamble import (
    accum, deep, empty, grown, handed, load, local, opaque, room, row_of, run_of, store, zeros
)


def kernel(n):
    a = empty(np.float64, n)
    b = zeros(np.float64, n)
    c = local(np.float64, 2)
    for i in range(n):
        store(a, 1.5, i)
        accum(b, 2.0 * i, i)
    store(c, 3.0, 1)
    a = handed(run_of(grown(a, 40), opaque(2), 1))
    return load(a, 0) + load(b, 2) + load(c, 1) + row_of(3, a, 1.5) + deep(room())
"""
OF_ONE = "from jitad.emit.preamble import {}\n\n\ndef kernel({}):\n    return {}\n"


def test_kernels_on_disk_that_need_nothing_of_the_preamble(tmp_path: Path) -> None:
    """One for each name that `native` says becomes instructions: the same without the import."""
    kernels, names = [(OF_ARRAYS, (4,))], {"accum", "empty", "load", "local", "store", "zeros"}
    names |= {"deep", "grown", "handed", "opaque", "room", "row_of", "run_of"}
    for name in sorted(native._LINKED - names):
        function = getattr(preamble, name)
        if not callable(function) or isinstance(function, type):
            used = f"np.zeros(2, {name})[0]" if callable(function) else f"a + {name}"
            source = "import numpy as np\n" + OF_ONE.format(name, "a", used)
            kernels.append((source, (1.0,)))
            continue
        whole = name in ("inside", "product_fits")
        given = (3, 2, 7) if whole else (0.5, 0.25, 4.0, 0.75)  # `quotient`: 4 is 1/0.25
        for count in range(1, len(given) + 1):
            with contextlib.suppress(TypeError):
                function(*given[:count])
                operands = ", ".join("abcd"[:count])
                source = OF_ONE.format(name, operands, f"{name}({operands})")
                kernels.append((source, given[:count]))
                break
    assert len(kernels) == len(native._LINKED - names) + 1
    program = ["from jitad.emit import native", f"for source, given in {kernels!r}:",
               "    print(float(native.compile(source, 'kernel')(*given)))",
               "print('jitad.emit.preamble' in sys.modules)"]  # fmt: skip
    *made, there = run(tmp_path, *program).split("\n")
    *found, later = run(tmp_path, *program).split("\n")
    assert (there, later) == ("True", "False")
    assert found == made and len(found) == len(kernels)
    want = [4.5 + 4.0, *(native.compile(s, "kernel").py_func(*given) for s, given in kernels[1:])]
    numbers = [float(x.replace("False", "0").replace("True", "1")) for x in found]
    assert numbers == pytest.approx(list(map(float, want)), nan_ok=True)


FUNCTIONS = {
    "from scipy.special import erf": ("erf(x)", 0.8787825789354449),
    "import scipy.special as sp": ("sp.logsumexp(np.array([x, 0.0]))", 0.6224593312018546),
    "import scipy.linalg as sl": ("sl.det(np.array([[x, 1.0], [1.0, x]]))", 1.0),
    "from scipy.linalg import solve_sylvester as of": ("of(*[np.array([[x]])] * 3)[0, 0]", 0.0),
    "import scipy.interpolate as si": ("si.interp1d([0.0, 1.0], [1.0, 3.0 * x])(0.5) * x", 2.0),
    "import scipy.ndimage as sn": ("sn.maximum_filter(np.array([x, 1.0]) * x, 3)[0]", 1.0),
    "import math": ("math.lgamma(x)", -1.9635100260214235),
}


@pytest.mark.parametrize("line", FUNCTIONS)
def test_functions_of_scipy_imported_after_jitad(line: str, tmp_path: Path) -> None:
    """In both engines, and from what the first process left on disk."""
    text, true = FUNCTIONS[line]
    for _ in range(2):
        found = run(tmp_path, "from jitad import jit_grad, grad", "import numpy as np", line,
                    f"f = lambda x: {text}", "print(grad(f)(0.5), jit_grad(f)(0.5))")  # fmt: skip
        assert [float(s) for s in found.split()] == pytest.approx([true, true], rel=1e-12)


WAITING = f"""
import importlib, jitad, scipy.linalg
from jitad.values.registry import enter_later, waiting
for name in tuple(waiting):
    importlib.import_module(name)
jitad.grad(lambda x: x * x)(2.0)
assert enter_later() or not waiting
from pathlib import Path
for folder in ("values", "operators"):
    for file in Path({str(ROOT)!r}, "jitad", folder).rglob("*.py"):
        name = ".".join(file.relative_to({str(ROOT)!r}).with_suffix("").parts)
        text = file.read_text()
        enters = any("@" + e in text for e in ("replaces(", "stands_for(", "of_complex("))
        if enters and name.removesuffix(".__init__") not in sys.modules:
            print(name)
"""


def test_what_stands_in_for_functions_is_entered_whoever_asks(tmp_path: Path) -> None:
    """Every file that enters something: the tests of the functions import files themselves."""
    assert run(tmp_path, WAITING) == ""


def test_the_vector_space_is_there(tmp_path: Path) -> None:
    assert run(tmp_path, "import jitad", "print(jitad.linear.dot(2.0, 3.0))") == "6.0"


def test_a_ufunc_without_a_rule_is_the_same_from_the_first_call(tmp_path: Path) -> None:
    """An unknown function, whatever was imported before: its value where no derivative needs it."""
    found = run(tmp_path, "from jitad import jit_grad, grad", "import numpy as np",
                "f = lambda x: x * x + (1.0 if np.nextafter(x, 2.0) > 0.1 else 0.0)",
                "print(grad(f)(0.5), jit_grad(f)(0.5))")  # fmt: skip
    assert found == "1.0 1.0"


def test_what_stands_in_is_made_when_it_is_asked_for(tmp_path: Path) -> None:
    """By far most of it never is: making it took a third of the import."""
    found = run(tmp_path, "from jitad import grad", "from jitad.values import registry",
                "grad(lambda x: x * x)(2.0)",
                "print(len(registry._replacements), len(registry._entered))",
                "print('numba.typed.typedlist' in sys.modules)")  # fmt: skip
    made, entered, lists = found.split()
    assert int(made) < int(entered) / 5
    assert lists == "False"


def test_numbas_lists_imported_after_a_trace(tmp_path: Path) -> None:
    """Made inside, handed over, and from the class's own method; in both engines."""
    program = ["from jitad import jit_grad, grad", "jit_grad(lambda x: x * x)(3.0)",
               "from numba.typed import Dict, List", "from numba import float64",
               "def f(x, given):", "    a = List()", "    a.append(x)",
               "    b = List.empty_list(float64)", "    b.append(a[0] * given[0])",
               "    return b[0] * given[1]",
               "def g(x, given):", "    return x * given['a']",
               "def h(given):", "    return given[0] * given[1]",
               "given, table = List([2.0, 5.0]), Dict()", "table['a'] = 4.0",
               "for make in (grad, jit_grad):",
               "    print(make(f)(1.5, given), make(g)(1.5, table), *make(h)(given))"]  # fmt: skip
    for _ in range(2):
        assert [float(s) for s in run(tmp_path, *program).split()] == [10.0, 4.0, 5.0, 2.0] * 2


def test_names_of_jitad_leave_the_collector_alone(tmp_path: Path) -> None:
    """Importing moves what it makes past the collector; reading a name again does not."""
    found = run(tmp_path, "import gc, jitad", "jitad.grad", "class Ring: pass",
                "before = gc.get_stats()[0]['collections']", "for _ in range(20_000):",
                "    ring = Ring()", "    ring.itself = ring", "    jitad.grad",
                "print(gc.get_stats()[0]['collections'] - before, gc.isenabled(),",
                "      gc.get_freeze_count())")  # fmt: skip
    collections, enabled, frozen = found.split()
    assert int(collections) > 10 and enabled == "True" and frozen == "0"


def test_the_rest_of_numba_is_there_when_it_is_asked_for(tmp_path: Path) -> None:
    """A kernel loads what kernels are made of; what is compiled later may need all else."""
    out = run(
        tmp_path, "import numpy as np", "from numba import njit",
        "from jitad import jit_grad",
        "def f(x):", "    s = 0.0", "    for i in range(len(x)):",
        "        s += max(i, 1) * np.sin(x[i])", "    return s",
        "def g(x):", "    a = np.outer(x, x) + np.eye(3)",
        "    return np.sum(np.sort(x)[1:] ** 2) + np.linalg.det(a)",
        "x = np.array([0.5, -1.0, 2.0])",
        "first = jit_grad(f)(x)",
        "print('numba.np.arraymath' in sys.modules)",
        "@njit", "def h(x):", "    d = {1: 'a'}", "    s = set([2, 3])", "    l = [y for y in x]",
        "    return len(d) + len(s) + np.median(x) + np.linalg.norm(x) + sum(l)",
        "print(abs(h(x) - h.py_func(x)) < 1e-12)",
        "print(np.allclose(first, np.array([1, 1, 2]) * np.cos(x)))",
        "print(np.isfinite(jit_grad(g)(x)).all())",
    )  # fmt: skip
    assert out.split() == ["False", "True", "True", "True"]
