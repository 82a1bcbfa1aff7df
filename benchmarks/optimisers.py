"""What does an optimiser look like when all of it is compiled, the gradient included?

Both take ``value_and_gradient``, compiled by jitad or by hand, as an argument and call it from
``@njit`` code: between two evaluations nothing goes through Python. Both return the point, its
value and the number of evaluations.
"""

import numpy as np
from numba import njit


@njit
def gradient_descent(value_and_gradient, start, args, evaluations):
    """Steepest descent, the step grown after a success and cut until Armijo's condition holds."""
    point = start.copy()
    value, gradient = value_and_gradient(point, *args)
    step = 1.0 / (1.0 + np.sqrt(np.dot(gradient, gradient)))
    used = 1
    while used < evaluations:
        square = np.dot(gradient, gradient)
        trial = point - step * gradient
        trial_value, trial_gradient = value_and_gradient(trial, *args)
        used += 1
        if trial_value <= value - 0.25 * step * square:
            point, value, gradient = trial, trial_value, trial_gradient
            step *= 1.5
        else:  # here too if the trial's value is not a number
            step *= 0.4
            if step * square <= 1e-16 * (1.0 + abs(value)):
                break
    return point, value, used


@njit
def lbfgs(value_and_gradient, start, args, iterations, tolerance, memory):
    """Limited-memory BFGS with a bisection for the weak Wolfe conditions.

    Ends when no component of the gradient exceeds ``tolerance``, when the value stops falling, or
    after ``iterations``.
    """
    size = start.size
    steps = np.empty((memory, size))
    changes = np.empty((memory, size))
    curvatures = np.empty(memory)
    weights = np.empty(memory)
    point = start.copy()
    value, gradient = value_and_gradient(point, *args)
    used = 1
    kept = 0
    for _ in range(iterations):
        if np.max(np.abs(gradient)) <= tolerance:
            break
        # Two loops over the kept pairs, newest first and then oldest first.
        direction = -gradient
        for back in range(min(kept, memory)):
            slot = (kept - 1 - back) % memory
            weights[slot] = np.dot(steps[slot], direction) / curvatures[slot]
            direction -= weights[slot] * changes[slot]
        if kept > 0:
            slot = (kept - 1) % memory
            direction *= curvatures[slot] / np.dot(changes[slot], changes[slot])
        for back in range(min(kept, memory) - 1, -1, -1):
            slot = (kept - 1 - back) % memory
            correction = np.dot(changes[slot], direction) / curvatures[slot]
            direction += (weights[slot] - correction) * steps[slot]
        slope = np.dot(gradient, direction)
        if not slope < 0.0:  # rounding spoilt the pairs: start again from the gradient
            kept = 0
            direction = -gradient
            slope = np.dot(gradient, direction)

        length = 1.0 if kept > 0 else min(1.0, 1.0 / np.sqrt(-slope))
        low, high = 0.0, np.inf
        new_point, new_value, new_gradient = point, value, gradient
        found = False
        for _ in range(40):
            new_point = point + length * direction
            new_value, new_gradient = value_and_gradient(new_point, *args)
            used += 1
            if not new_value <= value + 1e-4 * length * slope:
                high = length
            elif np.dot(new_gradient, direction) < 0.9 * slope:
                low = length
            else:
                found = True
                break
            length = 0.5 * (low + high) if high < np.inf else 2.0 * low
        if not found and not new_value < value:
            break

        slot = kept % memory
        steps[slot] = new_point - point
        changes[slot] = new_gradient - gradient
        curvatures[slot] = np.dot(steps[slot], changes[slot])
        if curvatures[slot] > 0.0:
            kept += 1
        else:
            kept = 0
        progress = value - new_value
        point, value, gradient = new_point, new_value, new_gradient
        if progress <= 1e-13 * (1.0 + abs(value)):
            break
    return point, value, used
