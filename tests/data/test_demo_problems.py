"""Are the demo's opponents sound? Hand-written gradients and compiled optimisers, without jitad."""

import numpy as np
import pytest
from scipy.optimize import minimize

from benchmarks import optimisers
from benchmarks.demo import checks, logistic, mixture, predator_prey
from benchmarks.demo.problem import Problem

PROBLEMS = [module.problem() for module in (logistic, mixture, predator_prey)]


@pytest.fixture(params=PROBLEMS, ids=lambda problem: problem.name)
def problem(request: pytest.FixtureRequest) -> Problem:
    return request.param


def test_hand_written_gradient(problem: Problem) -> None:
    assert checks.worst_error(problem, problem.gradient) < checks.tolerance(problem)


def test_the_check_notices_a_wrong_gradient(problem: Problem) -> None:
    def wrong(x, *args):
        value, gradient = problem.gradient(x, *args)
        gradient[-1] *= 1.001
        return value, gradient

    assert checks.worst_error(problem, wrong) > checks.tolerance(problem)


def test_fit_is_sensible_and_compiled_lbfgs_finds_it(problem: Problem) -> None:
    by_scipy = minimize(problem.gradient, problem.start, problem.args, "L-BFGS-B", jac=True)
    assert problem.verdict(by_scipy.x)[1]
    _, value, used = optimisers.lbfgs(problem.gradient, problem.start, problem.args, 1000, 1e-5, 10)
    assert value == pytest.approx(by_scipy.fun, rel=1e-6)
    assert used < 3 * by_scipy.nfev


def test_gradient_descent_finds_the_logistic_fit() -> None:
    problem = PROBLEMS[0]
    args = (problem.gradient, problem.start, problem.args)
    x, _, _ = optimisers.gradient_descent(*args, 2000)
    assert np.max(np.abs(problem.gradient(x, *problem.args)[1])) < 1e-2


def test_trajectory_is_the_one_that_is_fitted() -> None:
    problem = PROBLEMS[2]
    hares, lynxes, steps = problem.args
    _, states = predator_prey.trajectory(problem.start, len(hares))
    misses = np.log(states[::steps] / np.stack([hares, lynxes], axis=1))
    expected = problem.objective(problem.start, hares, lynxes, steps)
    assert 0.5 * np.sum(misses**2) == pytest.approx(expected, rel=1e-12)
