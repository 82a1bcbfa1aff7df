"""Which Jacobians have complex numbers: real results by complex ones, and complex by real ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jitad import JitadError, hessian, jacfwd, jacobian, jacrev, jit_hessian, jit_jacobian, jvp

Z = np.array([1.0 + 1.0j, 2.0 - 0.5j])
OPERATORS = (jacobian, jacfwd, jacrev, jit_jacobian)


@pytest.mark.parametrize("operator", OPERATORS)
def test_real_by_complex_and_complex_by_real(operator: Any) -> None:
    by_complex = operator(lambda z: np.abs(z) ** 2)(Z)
    np.testing.assert_allclose(by_complex, np.diag(2.0 * Z.conj()), rtol=1e-12)
    np.testing.assert_allclose(operator(lambda x: x * Z)(np.ones(2)), np.diag(Z), rtol=1e-12)
    parts = operator(lambda z: [(z * z).real, (z * z).imag])(Z)
    np.testing.assert_allclose(parts[0], np.diag(2.0 * Z), rtol=1e-12)
    np.testing.assert_allclose(parts[1], np.diag(-2.0j * Z), rtol=1e-12)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("f", [lambda z: z * z, np.conj, lambda z: {"a": z[0], "b": np.abs(z)}],
                         ids=["holomorphic", "conjugate", "in a dict"])  # fmt: skip
def test_complex_by_complex(operator: Any, f: Any) -> None:
    with pytest.raises(JitadError, match="four derivatives by a complex number") as caught:
        operator(lambda z: f(z))(Z)
    assert "test_complex_jacobians.py" in str(caught.value)
    assert jvp(lambda z: z * z, (Z,), (Z,))[1] == pytest.approx(2.0 * Z * Z)


@pytest.mark.parametrize("operator", [hessian, jit_hessian])
def test_hessians_by_complex_numbers(operator: Any) -> None:
    with pytest.raises(JitadError, match="four derivatives by a complex number"):
        operator(lambda z: np.sum(np.abs(z) ** 2))(Z)
