"""Uses of SciPy's functions that call the user's: roots, integrals, equations, minima."""

from __future__ import annotations

import numpy as np
import scipy.integrate as si
import scipy.optimize as so

from tests.breadth.case import add, draws

r, n = draws(29)


def _gap(x, p):
    return x**3 + p[0] * x - p[1]


for f in (so.brentq, so.brenth, so.bisect, so.ridder, so.toms748):
    add(f"scipy.optimize.{f.__name__}", lambda p, f=f: f(_gap, 0.0, 3.0, args=(p,), xtol=1e-14),
        r(2), narrow=None, native=f is so.brentq)  # fmt: skip
add("scipy.optimize.newton", lambda p: (
    so.newton(_gap, 1.0, args=(p,)),
    so.newton(lambda x: x**3 - p, np.ones(2), lambda x: 3.0 * x * x)), r(2),
    narrow=None)  # fmt: skip
add("scipy.optimize.root_scalar", lambda p: (
    so.root_scalar(_gap, (p,), bracket=(0.0, 3.0), xtol=1e-14).root,
    so.root_scalar(_gap, (p,), x0=1.0, fprime=lambda x, p: 3.0 * x * x + p[0]).root), r(2),
    narrow=None)  # fmt: skip
add("scipy.optimize.fixed_point", lambda p: (
    so.fixed_point(lambda x: np.cos(p[0] * x), 0.5, xtol=1e-12),
    so.fixed_point(lambda x: 0.5 * np.cos(p * x), np.array([0.5, 0.2]), xtol=1e-12)), r(2),
    narrow=None)  # fmt: skip
add("scipy.integrate.quad", lambda p: (
    si.quad(lambda x: np.exp(-p[0] * x * x), 0.0, p[1])[0],
    si.quad(lambda x: np.exp(-p[0] * x), p[1], np.inf)[0]), r(2),
    narrow=None, native=True)  # fmt: skip
add("scipy.integrate.solve_ivp", lambda p: si.solve_ivp(
    lambda t, y, a: -a * y, (0.0, 1.0), [1.0, p[1]], "DOP853", [0.3, 1.0], args=(p[0],), rtol=1e-11,
    atol=1e-13).y, r(2), narrow=None)  # fmt: skip
add("scipy.integrate.odeint", lambda p: si.odeint(
    lambda y, t: -p[0] * y, [1.0, p[1]], [0.0, 0.3, 1.0], rtol=1e-11, atol=1e-13), r(2),
    narrow=None)  # fmt: skip



def _bent(x, p):
    return np.array([2.0 * x[0] + x[1] + p[0] * x[0] ** 3 - 1.0, x[0] + 3.0 * x[1] - p[1]])


def _bowl(x, p):
    return np.sum((x - p * p) ** 2)


def _off(x, p):
    return np.array([x[0] - p[0] * p[1], x[1] - p[1] ** 2])


add("scipy.optimize.fsolve", lambda p: so.fsolve(_bent, np.ones(2), (p,), xtol=1e-13), r(2),
    narrow=None)  # fmt: skip
add("scipy.optimize.root", lambda p: so.root(_bent, np.ones(2), (p,), tol=1e-13).x, r(2),
    narrow=None)  # fmt: skip
for f in (so.broyden1, so.broyden2, so.anderson, so.newton_krylov):
    add(f"scipy.optimize.{f.__name__}", lambda p, f=f: f(
        lambda x: _bent(x, p), np.array([0.3, 0.3]), f_tol=1e-12), r(2), narrow=None)  # fmt: skip
add("scipy.optimize.fmin_l_bfgs_b", lambda p: so.fmin_l_bfgs_b(
    lambda x: (np.sum(x**2) + p[0] * x[0] - p[1] * x[1], 2.0 * x + np.stack([p[0], -p[1]])),
    np.zeros(2), bounds=[(0.0, 1.0), (-1.0, p[0])], pgtol=1e-14)[0], np.array([0.3, 0.4]),
    narrow=None, order=1, rtol=1e-5)  # fmt: skip
add("scipy.optimize.minimize", lambda p: so.minimize(
    _bowl, np.zeros(2), (p,), jac=lambda x, p: 2.0 * (x - p * p), tol=1e-13,
    method="BFGS").x, r(2), narrow=None)  # fmt: skip
add("scipy.optimize.least_squares", lambda p: so.least_squares(
    _off, np.ones(2), args=(p,), xtol=1e-15, ftol=1e-15, gtol=1e-15).x, r(2), narrow=None,
    rtol=1e-4)  # fmt: skip
add("scipy.optimize.curve_fit", lambda p: so.curve_fit(
    lambda t, a, b: a * t + b * t * t, np.array([0.5, 1.0, 2.0, 3.0]),
    np.outer(p, [1.0, 2.0]).ravel())[0], r(2), narrow=None, rtol=1e-4)  # fmt: skip


def _dip(t, p):
    return np.cosh(t - p[0]) + p[1] * t


for f in (so.brent, so.golden, so.minimize_scalar, so.fminbound):
    bounds = (-3.0, 4.0) if f is so.fminbound else ()
    add(f"scipy.optimize.{f.__name__}", lambda p, f=f, bounds=bounds: _dip(
        getattr(found := f(_dip, *bounds, args=(p,)), "x", found), p), 0.5 * r(2),
        narrow=None)  # fmt: skip
for f in (so.fmin, so.fmin_powell):
    add(f"scipy.optimize.{f.__name__}", lambda p, f=f: np.sum(_dip(
        f(lambda x: np.sum(_dip(x, p)), np.zeros(2), xtol=1e-9, ftol=1e-15, disp=0), p)),
        0.5 * r(2), narrow=None, rtol=1e-4)  # fmt: skip
for f in (so.fmin_bfgs, so.fmin_cg):  # SciPy's ends too early for differences, but for a bowl
    add(f"scipy.optimize.{f.__name__}", lambda p, f=f: f(
        _bowl, np.zeros(2), lambda x, p: 2.0 * (x - p * p), (p,), gtol=1e-11, disp=0), r(2),
        narrow=None)  # fmt: skip
add("scipy.optimize.leastsq", lambda p: so.leastsq(
    _off, np.ones(2), (p,), ftol=1e-15, xtol=1e-15)[0], r(2), narrow=None, rtol=1e-4)  # fmt: skip
add("scipy.integrate.quad_vec", lambda p: si.quad_vec(
    lambda x: np.array([1.0, x]) * np.exp(-p[0] * x * x), 0.0, p[1], epsrel=1e-7)[0], r(2),
    narrow=False, rtol=1e-5, order=1, compiled="native")  # fmt: skip
add("scipy.integrate.dblquad", lambda p: si.dblquad(
    lambda y, x, c: np.exp(-c * x * y), 0.0, p[0], 0.0, lambda x: x * p[1], args=(p[1],))[0],
    r(2), narrow=None)  # fmt: skip
add("scipy.integrate.tplquad", lambda p: si.tplquad(
    lambda z, y, x: x * y * z * z, 0.0, p[0], 0.0, lambda x: x, lambda x, y: x - 2.0 * y,
    lambda x, y: p[1])[0], r(2), narrow=None, compiled="native",
    order=1)  # fmt: skip  # nquad's is the same code
add("scipy.integrate.nquad", lambda p: si.nquad(
    lambda x, y, c: c * x + y, [lambda y, c: [0.0, y * c], (0.5, p[1])], args=(p[0],))[0], r(2),
    narrow=None)  # fmt: skip
add("scipy.optimize.linprog", lambda c, b: (
    (found := so.linprog(-c, [[1.0, 0.5], [0.4, 1.0]], b + [1.0, 1.2])).x, found.fun, found.slack,
    so.linprog(c, A_eq=[[1.0, 0.1]], b_eq=b[:1], bounds=[(None, 5.0), (b[1], None)]).fun),
    r(2), r(2), narrow=None, order=1)  # fmt: skip
for f in (so.rosen, so.rosen_der, so.rosen_hess):
    add(f"scipy.optimize.{f.__name__}", f, r(4), narrow=None)
add("scipy.optimize.rosen_hess_prod", so.rosen_hess_prod, r(4), n(4), narrow=None)
add("scipy.optimize.fmin_ncg", lambda p: so.fmin_ncg(
    lambda x, p: np.sum((x - p) ** 2) + x[0] * x[1], np.zeros(2),
    lambda x, p: 2.0 * (x - p) + x[::-1], fhess=lambda x, p: np.eye(2) + 1.0, args=(p,),
    avextol=1e-14, disp=0), r(2), narrow=None, order=1)  # fmt: skip
for kept in (
    {"f_eqcons": lambda x: np.array([x[0] + 2.0 * x[1] - 1.0]),
     "fprime_eqcons": lambda x: np.array([[1.0, 2.0]])},
    {"eqcons": [lambda x: x[0] + 2.0 * x[1] - 1.0], "bounds": [(0.0, 2.0), (-2.0, 3.0)],
     "fprime_eqcons": lambda x: np.array([[1.0, 2.0]])},
):  # fmt: skip
    add("scipy.optimize.fmin_slsqp", lambda p, kept=kept: np.sum((so.fmin_slsqp(
        lambda x: np.sum((x - p) ** 2), np.zeros(2), fprime=lambda x: 2.0 * (x - p), acc=1e-15,
        iprint=0, **kept) - p) ** 2), r(2), narrow=None, order=1)  # fmt: skip
