"""Do calls of a kernel use again the memory that earlier calls have freed?"""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import resource
from jitad import jit_value_and_grad
from kernels import load

kernel = load("thomas")
x = kernel.inputs({"n": 100_000})
g = jit_value_and_grad(kernel.objective)
for _ in range(3):
    g(*x)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    g(*x)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts page faults")
def test_memory_is_not_given_back_between_calls() -> None:
    """Ten calls of some megabytes each; a fault a page would be thousands."""
    root = Path(__file__).parents[2]
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd=root
    )
    assert found.returncode == 0, found.stderr
    assert int(found.stdout) < 200
