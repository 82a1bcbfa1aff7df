"""Ufuncs of complex numbers with `out=` and `where=`, by name and by position."""

import numpy as np
import pytest

from jitad import jit_value_and_grad, value_and_grad
from jitad.errors import JitadTypeError

X = np.array([1.0, 2.0, 3.0])
ASKED = np.array([True, False, True])
REFUSED = {"fmax", "fmin", "maximum", "minimum", "less", "less_equal", "greater", "greater_equal"}


def operands(ufunc, x):
    return (x * (0.3 + 0.6j), x * (2 - 0.5j))[: ufunc.nin]


def takes_complex(ufunc):
    if ufunc.signature is not None or ufunc.nout != 1:
        return False
    try:
        return ufunc(*operands(ufunc, X)).dtype.kind in "fcb"
    except (TypeError, ValueError):
        return False


UFUNCS = [u for u in {id(u): u for u in vars(np).values() if isinstance(u, np.ufunc)}.values()
          if takes_complex(u) and u.__name__ not in REFUSED]  # fmt: skip


def where_by_name(ufunc, x):
    given = operands(ufunc, x)
    out = np.ones(3, ufunc(*given).dtype)
    found = ufunc(*given, out=out, where=ASKED)
    return np.sum(found.real + 2 * found.imag) + np.sum(out.real * out.imag)


def out_by_position(ufunc, x):
    given = operands(ufunc, x)
    out = np.ones(3, ufunc(*given).dtype)
    ufunc(*given, out, where=x > 1.5)
    return np.sum(out.real * 3 + out.imag * x)


def over_its_operand(ufunc, x):
    given = operands(ufunc, x)
    if ufunc(*given).dtype.kind != "c":
        return np.sum(x)
    ufunc(*given, out=given[0], where=ASKED)
    return np.sum(given[0].real + 2 * given[0].imag * x)


@pytest.mark.parametrize("engine", [jit_value_and_grad, value_and_grad], ids=["jit", "eager"])
@pytest.mark.parametrize("way", [where_by_name, out_by_position, over_its_operand],
                         ids=lambda f: f.__name__)  # fmt: skip
@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda u: u.__name__)
def test_where(ufunc, way, engine):
    def f(x):
        return way(ufunc, x)

    value, gradient = engine(f)(X)
    assert value == pytest.approx(f(X), rel=1e-12)
    steps = 1e-6 * np.eye(3)
    true = [(f(X + h) - f(X - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(gradient, true, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("ufunc", [np.negative, np.exp, np.rint], ids=lambda u: u.__name__)
def test_elements_without_a_value_are_refused(ufunc):
    with pytest.raises(JitadTypeError, match="without out= leaves"):
        jit_value_and_grad(lambda x: ufunc(x * 1j, where=ASKED)[0].real)(X)
