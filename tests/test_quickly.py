"""Are kernels that were compiled quickly kept apart from those that LLVM has optimised?"""

import numpy as np
from numba.core import config

from jitad import jit_grad
from tests.quickly import quickly

X = np.arange(3.0)


def squares(x):
    return np.sum(x * x)


def machine_code():
    g = jit_grad(squares)
    assert g(X).tolist() == [0.0, 2.0, 4.0]
    (made,) = g._latest().kernel.dispatcher.overloads.values()
    return made.library.get_asm_str()


def test_an_optimised_kernel_is_another():
    level = config.OPT
    first = machine_code()
    with quickly():
        quick = machine_code()
    assert config.OPT == level
    assert quick != first
    assert machine_code() == first
