"""Is an np.matrix, as sums of sparse matrices along an axis give it, what NumPy says?

Values, shapes and dtypes are those of SciPy and NumPy themselves, slopes those of differences.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as ss

import jitad
from jitad.errors import JitadTypeError
from tests.engines import as_emitted
from tests.properties.check import forget, load

SOURCE = """import numpy as np
import scipy.sparse as ss


def value(w):
    A = ss.csr_matrix((w, (np.array([0, 1, 2, 0, 1]), np.array([0, 1, 2, 1, 2]))), shape=(3, 3))
    return {}


def program(w):
    r = np.asarray(value(w))
    return np.sum(r * np.reshape(np.cos(np.arange(r.size)), r.shape))
"""
W = np.array([1.0, 2.0, 3.0, 0.5, 0.7])

EXPRESSIONS = (
    "np.asarray(A.sum(axis=1)).ravel()",
    "np.asarray(A.sum(axis=0)).flatten()",
    "np.array(A.sum(axis=1)).squeeze()",
    "A.sum(axis=1).A1",
    "A.sum(axis=0).A",
    "np.squeeze(np.asarray(A.sum(1)))",
    "A.sum(axis=-1)[2,0]",
    "A.sum(axis=0)[0,1]",
    "np.ravel(A.sum(axis=1))",
    "A.mean(axis=1).A1",
    "np.asarray(A.mean(axis=0))",
    "A.multiply(1/A.sum(axis=1)).toarray()",
    "A.todense().A",
    "np.asarray(A.todense())",
    "(A+np.ones((3,3))).A",
    "np.asarray(np.ones((3,3))-A)",
    "(A-np.ones((3,3))*2)[0,0]",
    "A.sum(axis=1).sum()",
    "A.sum(axis=1).max()",
    "np.sum(A.sum(axis=1))",
    "np.asarray(A.todense()*np.array([[1.],[2.],[3.]]))",
    "np.asarray(A.todense().dot(np.array([1.,2.,3.])))",
    "np.asarray(A.todense()@np.array([1.,2.,3.]))",
    "np.asarray(A.todense()**2)",
    "np.asarray(np.exp(A.sum(axis=1)))",
    "np.asarray(np.sqrt(A.sum(axis=1))*2)",
    "np.asarray(A.sum(axis=1).T*A.sum(axis=1))",
    "np.asarray(A.sum(axis=1)/A.sum(axis=1).sum())",
    "np.asarray(A.sum(axis=1).reshape(-1))",
    "np.asarray(A.sum(axis=1)[0])",
    "np.asarray(A.todense()[:,1])",
    "np.asarray(A.todense()[1])",
    "np.asarray(A.todense()[1,:2])",
    "np.asarray(A.todense()[[0,2]])",
    "np.asarray(A.todense().sum(axis=1))",
    "np.asarray(A.todense().mean(0))",
    "np.asarray(A.todense().T)",
    "np.asarray(A.todense().I)",
    "np.asarray((A+ss.identity(3)).todense().I)",
    "ss.diags(A.sum(axis=1).A1).toarray()",
    "ss.diags(1/A.sum(axis=1).A1) @ A @ np.ones(3)",
    "(ss.diags(np.asarray(A.sum(axis=1)).ravel()) - A).toarray()",
    "np.asarray(np.multiply(A.todense(), 2*np.ones(3)))",
    "np.asarray(A.sum(axis=1) > 1).astype(float)",
    "np.asarray(A.sum(axis=1).flatten())",
    "np.asarray(-A.sum(axis=1)+3)",
    "np.linalg.norm(np.asarray(A.todense()))",
    "np.asarray(np.array([1.,2.,3.])*A.todense())",
    "np.asarray(2*A.todense())",
    "np.asarray(A.todense()*A)",
    "np.asarray(A*A.todense())",
    "np.asarray(A@A.todense())",
    "np.dot(A.sum(axis=0), np.ones(3))[0,0]",
    "np.array([r.sum() for r in A.todense()])",
    "float(A.sum(axis=1)[1,0])",
    "A.sum(axis=1).item(2)",
    "np.asarray(A.sum(axis=1), dtype=float)[:,0]",
    "np.asarray(A.power(2).sum(axis=1)).reshape(-1)",
    "np.sqrt(A.multiply(A).sum(axis=1)).A1",
    "np.asarray(A.tolil().sum(axis=1)).ravel()",
    "np.mean(A.todense())",
    "np.asarray(np.sum(A.todense(), axis=0))",
    "np.asarray(A.todense().max(axis=1))",
    "np.asarray(A.todense().std(axis=1))",
    "len(A.sum(axis=1))",
    "A.sum(axis=1).shape[0]",
    "np.asarray(np.ones((2,3))*A.todense())",
    "np.asarray(np.ones((2,3))@A.todense())",
    "np.trace(np.asarray(A.todense()))",
    "(A/A.sum(axis=1)).toarray()",
    "(A/np.array([[1.],[2.],[3.]])).toarray()",
    "np.asarray(A*A.sum(axis=1)*np.array([[2.]]))",
    "np.asarray((A@A.sum(axis=1))*np.array([[2.,3.]]))",
    "np.asarray(A.sum(axis=0)*A)",
    "np.asarray(A.sum(axis=0)@A*np.ones((3,2)))",
    "np.asarray(A.todense()-A)",
    "np.asarray(A-A.todense()*2)",
    "np.asarray((A.tolil()*A.sum(axis=1))*np.ones((1,2)))",
    "np.asarray(A.sum(axis=0)*A.tolil())",
    "np.asarray(A.todense()+A)",
    "(A.multiply(A.sum(axis=0))).toarray()",
    "np.asarray((A+np.ones((3,3)))*np.ones((3,1)))",
    "np.asarray(A.T*A.todense())",
    "np.asarray(A.sum(axis=0)*w[:3].reshape(3,1))",
    "np.asarray(w[:3]*A.sum(axis=1))",
    "np.asarray(A.sum(axis=1)*w[:1])",
    "np.asarray(w[0]*A.sum(axis=1))",
    "np.asarray(A.sum(axis=1)*w[1])",
    "np.asarray(np.multiply(A.sum(axis=1),w[:3].reshape(3,1)))",
    "np.asarray(np.dot(A.sum(axis=0),w[:3]))",
    "np.asarray(w[:3]+A.sum(axis=0))",
    "np.asarray(w[:3]@A.sum(axis=1))",
    "np.asarray(w[:3].reshape(1,3)*A.sum(axis=1))",
    "np.asarray(w[:3].reshape(1,3)/A.sum(axis=0))",
    "np.asarray(np.maximum(A.sum(axis=0),w[:3]))",
    "np.asarray(np.power(A.sum(axis=1), 2))",
)  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_matrices(expression: str) -> None:
    program: Any = load(SOURCE.format(expression), "of_matrices")
    f = program.__globals__["value"]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PendingDeprecationWarning)
            want = f(W)
            steps = 1e-6 * np.eye(5)
            slope = [(program(W + d) - program(W - d)) / 2e-6 for d in steps]
        found = as_emitted(f, W)
        np.testing.assert_allclose(found, want)
        assert np.shape(found) == np.shape(want)
        assert np.asarray(found).dtype == np.asarray(want).dtype
        np.testing.assert_allclose(as_emitted(jitad.grad(program), W), slope, 1e-5, 1e-7)
        np.testing.assert_allclose(jitad.grad(program)(W), slope, 1e-5, 1e-7)
    finally:
        forget("of_matrices")


WITHIN = ("m += 1.0", "m -= w[0]", "m *= 2.0", "m /= 3.0", "m **= 2", "m @= 2.0 * np.eye(3)",
          "m //= 1.7", "m %= 1.7", "m[0] = w[1]", "m *= np.eye(3)[::-1]", "m += m.T",
          "r += 1.0")  # fmt: skip


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("statement", WITHIN)
def test_what_is_changed_in_place_is_seen_by_all_names(statement: str) -> None:
    body = f"""m = A.todense()
    e, r = m, m[1]
    {statement}
    return np.asarray(e) + np.asarray(r) + np.asarray(m)"""
    program: Any = load(SOURCE.format("0.0").replace("return 0.0", body), "of_matrices")
    f = program.__globals__["value"]
    try:
        want = f(W)
        slope = [(program(W + d) - program(W - d)) / 2e-6 for d in 1e-6 * np.eye(5)]
        np.testing.assert_allclose(as_emitted(f, W), want)
        np.testing.assert_allclose(as_emitted(jitad.grad(program), W), slope, 1e-5, 1e-7)
        np.testing.assert_allclose(jitad.grad(program)(W), slope, 1e-5, 1e-7)
    finally:
        forget("of_matrices")


def test_a_matrix_of_ints_takes_no_floats() -> None:
    def f(x):
        m = ss.csr_matrix(np.eye(2, dtype=int)).todense()
        m += 0.5
        return m[0, 0] * x

    for run in (jitad.grad(f), lambda x: as_emitted(f, x)):
        with pytest.raises((TypeError, jitad.JitadError)):
            run(1.0)


@pytest.mark.parametrize("expression", [
    "np.linalg.inv(A.todense())[0, 0]", "np.where(A.todense() > 0, 1.0, 0.0)",
    "np.hstack([A.sum(axis=1), A.sum(axis=1)])", "np.array([A.sum(axis=1), A.sum(axis=1)])",
    "np.concatenate([A.todense(), A.todense()])", "np.diag(A.todense())",
])  # fmt: skip
def test_what_makes_matrices_of_matrices_is_refused(expression: str) -> None:
    program: Any = load(SOURCE.format(expression), "of_matrices")
    try:
        with pytest.raises(JitadTypeError, match="matrix"):
            jitad.grad(program)(W)
    finally:
        forget("of_matrices")
