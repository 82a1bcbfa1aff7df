"""Is a gradient right? Asked of the plain objective, by a method that shares no code with it."""

from collections.abc import Callable

import numpy as np

from benchmarks.demo.problem import Problem

STENCIL = ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))  # central differences of sixth order


def complex_step(function: Callable, x: np.ndarray, args: tuple) -> np.ndarray:
    """Exact to rounding: f(x + i h) has no difference in which digits could cancel."""
    h = 1e-40
    return np.array([function(x + 1j * h * unit, *args).imag / h for unit in np.eye(x.size)])


def differences(function: Callable, x: np.ndarray, args: tuple) -> np.ndarray:
    """Good to about eleven digits for a smooth function."""
    result = np.empty(x.size)
    for j, unit in enumerate(np.eye(x.size)):
        h = 1e-2 * max(1.0, abs(x[j]))
        result[j] = sum(
            weight * (function(x + k * h * unit, *args) - function(x - k * h * unit, *args)) / h
            for k, weight in STENCIL
        )
    return result


def worst_error(problem: Problem, value_and_gradient: Callable, points: int = 2) -> float:
    """The largest error at points around the start, relative to the gradient's largest entry."""
    truth = complex_step if problem.complex_safe else differences
    generator = np.random.default_rng(20)
    worst = 0.0
    for _ in range(points):
        x = problem.start + 0.1 * generator.standard_normal(problem.start.size)
        value, gradient = value_and_gradient(x, *problem.args)
        expected = problem.objective(x, *problem.args)
        reference = truth(problem.objective, x, problem.args)
        off = np.max(np.abs(gradient - reference)) / np.max(np.abs(reference))
        worst = max(worst, abs(value - expected) / abs(expected), off)
        if not np.isfinite(off):
            return float("inf")
    return worst


def tolerance(problem: Problem) -> float:
    """How far a right gradient may be from the reference."""
    return 1e-11 if problem.complex_safe else 1e-8


def method(problem: Problem) -> str:
    return "complex step" if problem.complex_safe else "sixth-order differences"
