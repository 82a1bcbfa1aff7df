"""Does code that a function of the module does for several places do there what its source says?

The truth is the source itself, run as Python.
"""

import re

import numpy as np
import pytest

from jitad.emit import native, repeated

HEAD = "import numpy as np\nfrom jitad.emit.preamble import *\n"


@pytest.fixture(autouse=True)
def shared(monkeypatch):
    """However few, nests that are equal are one function."""
    monkeypatch.setenv("JITAD_CACHE_DIR", "")
    monkeypatch.setattr(native, "_loaded", {})
    monkeypatch.setattr(repeated, "FEW", 0)


def compiled(*lines):
    text = "\n".join(["def kernel(a, b, n):", *(f"    {line}" for line in lines), ""])
    return native.compile(HEAD + text, "kernel")


def functions(dispatcher):
    """How many functions there are that others share, in the machine code."""
    (text,) = dispatcher.inspect_llvm().values()
    return len(re.findall(r"^define internal[^\n]*@jitad_shared", text, re.MULTILINE))


def check(kernel, expected, n=7):
    a, b = np.linspace(0.3, 2.0, n), np.linspace(-1.0, 1.0, n * n).reshape(n, n)
    before = a.copy(), b.copy()
    got, true = kernel(a, b, n), kernel.py_func(a, b, n)
    for x, y in zip(got, true, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-13)
    np.testing.assert_array_equal(a, before[0])
    np.testing.assert_array_equal(b, before[1])
    assert functions(kernel) == expected


def scaled(out, source, carried="total"):
    return [f"{out} = empty(np.float64, n)", "for i in range(n):",
            f"    {out}[i] = exp({source}[i]) * 0.5",
            f"    {carried} = {carried} + {out}[i]"]  # fmt: skip


def test_nests_that_differ_in_names_are_one_function():
    kernel = compiled("total = 0.0", *scaled("x", "a"), *scaled("y", "x"), *scaled("z", "y"),
                      "return (x, y, z, total)")  # fmt: skip
    check(kernel, 1)


def test_what_a_nest_carries_may_be_another_number_each_time():
    kernel = compiled("total = 0.0", "other = 1.5", *scaled("x", "a"),
                      *scaled("y", "x", "other"), *scaled("z", "x"),
                      "return (x, y, z, total, other)")  # fmt: skip
    check(kernel, 1)


def test_nests_over_operands_of_other_types_or_numbers_are_others():
    def nest(out, source, k):
        return [f"{out} = empty(np.float64, n)", "for i in range(n):",
                f"    {out}[i] = {source} * {k}.0"]  # fmt: skip

    kernel = compiled(*nest("x", "a[i]", 2), *nest("y", "a[i]", 3), *nest("z", "b[i, i]", 2),
                      *nest("u", "x[i]", 2), *nest("v", "y[i]", 3), *nest("w", "b[i, 0]", 2),
                      "return (x, y, z, u, v, w)")  # fmt: skip
    check(kernel, 2)  # by 2 and by 3; the others come once


def test_arrays_that_overlap_are_no_disjoint_operands():
    def shift(to, source):
        return ["for i in range(1, n):", f"    {to}[i] = {to}[i] + {source}[i - 1]"]

    kernel = compiled(
        "x = zeros(np.float64, n)", "y = zeros(np.float64, n)",
        "for i in range(n):", "    x[i] = a[i]", "for i in range(n):", "    y[i] = a[i]",
        "same = x", *shift("x", "y"), *shift("x", "same"), *shift("y", "x"),
        *shift("same", "x"), "return (x, y)",
    )  # fmt: skip
    check(kernel, 3, n=50)


def test_nests_in_nests_of_loops_stay_where_they_are():
    kernel = compiled("total = 0.0", "for k in range(3):",
                      *(f"    {line}" for line in (*scaled("x", "a"), *scaled("y", "x"))),
                      "return (total,)")  # fmt: skip
    check(kernel, 0)


def test_arrays_in_the_frame_are_not_handed_over():
    lines = ["small = local(np.float64, 3)", "tiny = local(np.float64, 3)"]
    for name in ("small", "tiny"):
        lines += ["for i in range(3):", f"    {name}[i] = a[i] * 2.0"]
    check(compiled(*lines, "return (small[0] + small[1] * tiny[2],)"), 0)


def test_a_product_that_comes_again_is_a_function():
    lines = []
    for k, left in enumerate("bxyz"):
        lines += [f"{'xyzw'[k]} = empty(np.float64, n, n)",
                  f"times(handed({left}), handed(b), {'xyzw'[k]})"]  # fmt: skip
    check(compiled(*lines, "return (x, y, z, w)"), 1)


def test_memory_fails_in_a_function_as_in_the_kernel():
    def nest(out):
        return [f"{out} = zeros(np.float64, 2)", "for i in range(n):",
                f"    more_{out} = empty(np.float64, n - 2 * i)", f"    more_{out}[0] = a[i]",
                f"    {out}[0] = {out}[0] + more_{out}[0]"]  # fmt: skip

    kernel = compiled(*nest("x"), *nest("y"), *nest("z"), "return (x, y, z)")
    with pytest.raises(ValueError, match="negative dimensions"):
        kernel(np.ones(3), np.eye(3), 3)
    assert functions(kernel) == 1
    assert kernel(np.ones(1), np.eye(1), 1)[0][0] == 1.0
