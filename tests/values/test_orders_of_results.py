"""Do results lie in memory as NumPy's do, so that what is reshaped and written is seen by both?

Each function's result is reshaped, the view or copy or the result itself is written, and both are
summed.  Kernels may refuse what they can't tell; what they give is what NumPy gives.
"""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

import jitad
from tests.engines import emitted_once
from tests.properties.check import forget, load

RESULTS = (
    "np.r_[a,a]",
    "np.c_[a,a]",
    "np.c_[a.T,a.T]",
    "np.full((2,3),a[0,0],order='F')",
    "np.zeros((2,3),order='F')*a[0,0]",
    "np.empty((2,3),order='F')*0+a",
    "np.eye(2,3,order='F')",
    "np.eye(2,3,order='F')*1",
    "np.zeros_like(a,order='F')",
    "np.zeros_like(a.T,order='C')",
    "np.full_like(a,a[0,0],order='F')",
    "np.full((2,3),a[0],order='F')",
    "np.ones((2,3),order='F')",
    "np.array(a,order='F')",
    "np.asarray(a,order='F')",
    "np.asarray([a[0],a[1]],order='F')",
    "np.array([[1.,2.],[3.,a[0,0]]],order='F')",
    "a.T.astype(float,order='C')",
    "a.astype(np.float32,order='F')",
    "a.T.astype(float,order='C',copy=False)",
    "a.copy(order='F')",
    "np.stack(list(a.T),axis=1)",
    "np.stack(list(a.T))",
    "np.stack(list(t.transpose(2,1,0)),axis=1)",
    "np.column_stack(list(a.T))",
    "np.column_stack([r for r in a])",
    "np.column_stack([r*2 for r in a.T])",
    "np.vstack([r*2 for r in a.T])",
    "np.hstack([r.T for r in t])",
    "np.concatenate([r.T for r in t],axis=1)",
    "np.concatenate([r.T for r in t],axis=0)",
    "np.concatenate(list(t),axis=1)",
    "np.array([r*2 for r in a.T]).T.copy()",
    "np.dstack([r for r in a])",
    "linalg.qr(a)[0]",
    "linalg.qr(a)[1]",
    "linalg.solve_triangular(a@a.T+np.eye(2),a)",
    "np.linalg.svd(a,full_matrices=False)[2]",
    "np.linalg.eigh(a@a.T)[1]",
    "np.linalg.qr(a)[0]",
    "np.linalg.qr(a.T)[0]",
    "np.linalg.qr(a.T)[1]",
    "linalg.eigh(a@a.T)[1]",
    "linalg.lu_factor(a[:,:2])[0]",
    "linalg.lstsq(a,a)[0]",
    "linalg.pinv(a)",
    "np.gradient(a)[1]",
    "np.gradient(a)[0]",
    "np.gradient(a.T)[1]",
    "np.split(a.T,3)[0]*1",
    "np.broadcast_arrays(a,a.T[0,0])[0]*1",
    "np.meshgrid(a[0],a[1])[1]+0",
    "np.linalg.slogdet(a@a.T)[0]*a",
    "np.modf(a.T)[0]",
    "np.divmod(a.T,2)[1]",
    "np.unique(a,return_counts=True)[0].reshape(2,3)",
    "np.einsum('ij,jk->ki',a,b)",
    "np.einsum('ij,kj->ki',a,a)",
    "np.einsum('ijk->kij',t)+0.0",
    "np.tensordot(a,b,1)",
    "np.inner(a,a)",
    "np.cross(a,a*2+1)",
    "np.roll(a,1,axis=0)",
    "np.tile(a,(2,1))",
    "a[:,[1,0]]",
    "t[:,[0,1],:]",
    "t[0,:,[0,1]]",
    "np.where(a.T>0,a.T,2.0)",
    "np.clip(a,0,1)",
    "np.cumsum(a,axis=0)",
    "np.diff(a,axis=0)",
    "np.gradient(a.T,axis=1)",
    "np.sum(t.T,axis=0)",
    "np.std(t,axis=1)",
    "np.stack([a,a*2])",
    "np.stack([a.T,a.T*2])",
    "np.concatenate([a.T,a.T],axis=0)",
    "np.vstack([a[0],a[1]])",
    "np.block([[a,a],[a,a]])",
    "np.meshgrid(a[0],b[:,0],indexing='ij')[1]*1.0",
    "np.diag(a[0])",
    "np.zeros_like(a.T)+a[0,0]",
    "np.array(a.T)",
    "a.T.copy()",
    "np.asfortranarray(a)",
    "np.array([a,a])",
    "np.broadcast_to(a[0],(2,3))+0",
    "a[None].T*1.0",
    "a.reshape(2,3,order='F')",
    "np.expand_dims(a.T,1)*1",
    "b.T@a.T",
    "np.linalg.inv(a@a.T+np.eye(2))",
    "np.linalg.qr(a)[1]",
    "np.linalg.matrix_power(a@a.T,3)",
    "linalg.solve(a@a.T+np.eye(2),a)",
    "np.fft.rfft(a).real",
    "np.sin(a.T)",
    "np.maximum(a,a.T[0,0])",
    "np.add.reduce(t.T,axis=1)",
    "np.corrcoef(a.T)",
    "np.interp(a,[0.,9.],[0.,1.])",
    "np.nan_to_num(a.T)",
    "np.flip(a)",
    "np.vectorize(lambda v: v*2)(a.T)",
    "np.delete(a,1,axis=1)",
    "np.real(a.T+1j).T",
    "np.conj(a.T)",
    "np.geomspace(a[0]+1,a[1]+1,3)",
    "np.mgrid[0:2,0:3]*a[0,0]",
    "a.T.astype(float)",
    "a.swapaxes(0,1)",
    "np.rollaxis(t,2)*1",
    "np.compress([True,False,True],a,axis=1)",
    "a.clip(0,2)",
    "a.repeat(2,axis=1)",
    "a.view()",
    "np.hypot(a.T,2)",
    "np.array([r*2 for r in a])",
    "np.array([a[:,k] for k in range(3)])",
    "sum([a.T,a.T])",
    "np.dot(a.T,a)",
    "np.mod(a.T,2)",
    "np.linalg.norm(t,axis=1)",
)  # fmt: skip
OF_COMPLEX = (
    "z.copy()",
    "np.copy(z)",
    "z.astype(complex)",
    "z.astype(np.complex64)",
    "z.astype(complex,order='C')",
    "z.T.copy()",
    "z.T.copy(order='F')",
    "np.array(z)",
    "np.array(z,order='C')",
    "np.asarray(z.T,order='C')",
    "np.ascontiguousarray(z.T)",
    "np.asfortranarray(z)",
    "z*2",
    "np.conj(z)",
    "z.T+1j",
    "np.exp(z.T)",
    "z+z.real",
    "np.where(z.real>0,z,0)",
    "np.stack([z,z])[0]",
    "np.concatenate([z,z])",
    "z.reshape(3,2,order='F')",
    "np.zeros_like(z)+z",
    "np.full((2,3),z[0,0],order='F')",
    "np.zeros((2,3),complex,order='F')+z[0,0]",
    "np.eye(2,3,dtype=complex,order='F')*z[0,0]",
    "z@z.T",
    "np.fft.fft(z)",
    "np.fft.fft(z,axis=0)",
    "np.linalg.inv(z@z.T+np.eye(2))",
    "np.cumsum(z,axis=0)",
    "np.transpose(z)*1",
    "np.sort_complex(z)",
    "z.flatten().reshape(2,3)",
    "z.real*1j",
    "np.array([z[0],z[1]])",
    "z[[1,0]]",
    "z[:,[1,0,2]]",
    "np.tile(z,(2,1))",
    "np.repeat(z,2,axis=0)",
    "np.roll(z,1,axis=1)",
)  # fmt: skip
RESHAPED = ("c.ravel()", "c.T.reshape(-1)")
WRITES = ("v *= 2.0", "c *= 3.0")
SOURCE = """import numpy as np
from scipy import linalg


def program(a, b, t, z):
    c = {}
    v = {}
    {}
    w = np.reshape(np.cos(np.arange(c.size)), c.shape)
    return np.sum(np.abs(c) * np.sign(c.real) * w) + np.sum(np.abs(v) ** 2)
"""


def _arguments(order: Any) -> tuple[np.ndarray, ...]:
    a = np.array([[1.3, -0.2, 2.1], [0.4, 1.7, -0.6]], order=order)
    b = np.array(np.arange(12.0).reshape(3, 4) / 7.0, order=order)
    t = np.array(np.cos(np.arange(12.0)).reshape(2, 3, 2), order=order)
    return a, b, t, np.array(a * (1.0 + 0.5j) + 0.3j, order=order)


@pytest.mark.parametrize("result", [*RESULTS, *OF_COMPLEX])
def test_results_lie_as_in_numpy(result: str) -> None:
    for reshaped, write in itertools.product(RESHAPED, WRITES):
        f: Any = load(SOURCE.format(result, reshaped, write), "of_results")
        compiled = emitted_once(f)
        try:
            for order in ("C", "F"):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    want = f(*_arguments(order))
                found = []
                try:
                    found.append(compiled(*_arguments(order)))
                except jitad.JitadError as e:
                    assert "written" in str(e)
                found.append(jitad.value_and_grad(f)(*_arguments(order))[0])
                for value in found:
                    np.testing.assert_allclose(value, want, err_msg=f"{order} {reshaped} {write}")
        finally:
            forget("of_results")


TURNED = ("a.transpose(1, 0, 2).reshape({}, -1)", "a.transpose(2, 0, 1).reshape(-1, {})",
          "a.transpose(2, 1, 0).reshape({}, -1)", "a.transpose(0, 2, 1).reshape({}, -1)",
          "a.transpose(1, 2, 0).reshape(-1, {})", "a[:, ::2].transpose(1, 0, 2).reshape({}, -1)",
          "a[:, 0].T.reshape({}, -1)", "a[:, :, 0].T.reshape(-1)",
          "a[:, :1].transpose(2, 1, 0).reshape({}, -1)")  # fmt: skip
SHAPES = (2, 3, 4), (4, 3, 2), (2, 1, 4), (1, 3, 4), (3, 2, 2), (2, 2, 2), (2, 3, 1)


@pytest.mark.parametrize("turned", TURNED)
@pytest.mark.parametrize("write", ["y += a[0, 0, 0]", "a[0] = 2.0 * a[1]"])
def test_turned_arrays_of_all_extents(turned: str, write: str) -> None:
    for rows in ("len(a)", "a.shape[1]", "a.shape[2]", "2"):
        source = (f"import numpy as np\n\n\ndef program(a):\n    y = {turned.format(rows)}\n"
                  f"    {write}\n    w = np.reshape(np.cos(np.arange(y.size)), y.shape)\n"
                  f"    return np.sum(y * w) + np.sum(a * a)\n")  # fmt: skip
        f: Any = load(source, "of_turned")
        compiled = emitted_once(f)
        try:
            for shape in SHAPES:
                a = np.sin(np.arange(float(np.prod(shape)))).reshape(shape)
                try:
                    want = f(a.copy())
                except (ValueError, IndexError):
                    continue
                np.testing.assert_allclose(compiled(a.copy()), want, err_msg=f"{shape} {source}")
        finally:
            forget("of_turned")


def heads(a):
    y = a.transpose(1, 0, 2).reshape(a.shape[1], -1)
    y += 1.0
    return np.sum(y * y) + np.sum(a)


def test_one_kernel_is_for_all_extents_where_axes_cant_merge() -> None:
    compiled = jitad.jit(heads, fallback=False)
    for shape in ((2, 3, 4), (5, 2, 3), (3, 3, 3)):
        a = np.sin(np.arange(float(np.prod(shape)))).reshape(shape)
        np.testing.assert_allclose(compiled(a.copy()), heads(a.copy()))
    assert len(compiled.specialisations) == 1


def of_one_element(a):
    y = np.broadcast_to(a[0, :1], (2, 3, 4)).transpose(1, 0, 2).reshape(3, -1)
    a[0, 0] = 9.0 * a[1, 1]
    return np.sum(y * y)


def of_a_row(a):
    y = np.broadcast_to(a[:1], (4, 2, 3)).transpose(2, 0, 1).reshape(3, -1)
    a[0, 0] = 9.0 * a[1, 1]
    return np.sum(y * y)


@pytest.mark.parametrize("f", [of_one_element, of_a_row])
def test_repeated_elements_are_reshaped_by_a_view_where_numpy_does(f: Any) -> None:
    a = np.arange(1.0, 7.0).reshape(2, 3)
    want = f(a.copy())
    assert jitad.value_and_grad(f)(a.copy())[0] == want
    assert emitted_once(f)(a.copy()) == want
