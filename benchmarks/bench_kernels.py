"""Steady-state times of every kernel, for pytest-benchmark.

    python -m pytest benchmarks/bench_kernels.py
    python -m pytest benchmarks/bench_kernels.py -k "rosenbrock and large"

A group is one kernel at one size; in it are the value and gradient by jitad, the same written by
hand for Numba, and the value alone. Compilation is not in these times: see benchmarks.report.
"""

import pytest
from numba import njit

from benchmarks.subjects import array_names, check_same, kernel_names
from jitad import jit_value_and_grad
from kernels import load

SIZES = ("small", "medium", "large")


@pytest.mark.parametrize("subject", ["jitad", "hand", "primal"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", kernel_names() + array_names())
def bench_kernel(benchmark, name, size, subject):
    kernel = load(name)
    arguments = kernel.inputs(size)
    if subject == "jitad":
        function = jit_value_and_grad(kernel.objective, argnums=kernel.argnums)
        check_same(function(*arguments), kernel.gradient(*arguments))
    elif subject == "hand":
        function = kernel.gradient
    else:
        function = njit(kernel.primal)
    function(*arguments)
    benchmark.group = f"{name} {size}"
    benchmark(function, *arguments)
