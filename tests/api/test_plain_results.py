"""Do operators that run in the eager engine give NumPy's arrays where no other one is at work?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jitad import (
    argmin,
    batch,
    fixed_point,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jit,
    jvp,
    root,
    vjp,
)

X = np.array([1.0, 2.0, 0.5])
W = np.arange(6.0).reshape(2, 3)
Z = X + 1j

MADE = {
    "jacobian": lambda: jacobian(lambda x: W @ x)(X),
    "jacfwd": lambda: jacfwd(lambda x: {"a": W @ x})(X)["a"],
    "jacrev": lambda: jacrev(lambda x: (W @ x, x))(X)[0],
    "by two": lambda: jacobian(lambda x, y: x * y, (0, 1))(X, X)[1],
    "of a Jacobian": lambda: jacobian(jacobian(lambda x: x**3))(X),
    "float32": lambda: jacobian(lambda x: x**2)(X.astype(np.float32)),
    "by complex numbers": lambda: jacobian(lambda z: np.abs(z))(Z),
    "of complex numbers": lambda: jacobian(lambda x: x * Z)(X),
    "hessian": lambda: hessian(lambda x: x @ x)(X),
    "hvp": lambda: hvp(lambda x: x @ x)(X, X),
    "batch": lambda: batch(lambda x: 2.0 * x)(W),
    "batch, structured": lambda: batch(lambda x: {"a": [np.sum(x)], "b": x})(W)["a"][0],
    "batch, complex": lambda: batch(lambda z: z * z)(np.stack([Z, Z])),
    "batch of gradients": lambda: batch(grad(lambda x: x @ x))(W),
    "fixed_point": lambda: fixed_point(lambda z: 0.5 * np.cos(z) + X, X),
    "root": lambda: root(lambda z: z**3 - X, X),
    "argmin": lambda: argmin(lambda z: np.sum((z - X) ** 2), X),
    "jvp": lambda: jvp(lambda x: W @ x, (X,), (X,))[1],
    "vjp": lambda: vjp(lambda x: W @ x, X)[1](np.ones(2))[0],
}


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_they_are_arrays(made: Any) -> None:
    before = X.copy()
    found = made()
    assert type(found) is np.ndarray
    expected = jit(made)()
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-7)
    found[...] = 9.0  # nobody else's memory
    np.testing.assert_array_equal(X, before)


def test_inside_of_others_they_are_written_to() -> None:
    def f(x: Any) -> Any:
        a = jacobian(lambda y: y * y)(x)
        row = a[0]
        a[0, 0] = x[1]
        solved = root(lambda z: z**3 - x, x)
        solved[1:] *= x[0]
        return row[0] * np.sum(a) + np.sum(solved)

    np.testing.assert_allclose(jit(grad(f))(X), grad(f)(X), rtol=1e-9)
