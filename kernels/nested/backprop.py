"""A network that learns exclusive or, by gradient descent.

Two inputs, two hidden units, one output, all logistic; the first weight of a unit is its bias. The
error is the sum over the four examples of half the squared error; each step moves the weights by
-0.3 times the gradient. The mode of the gradient is an argument: by forward mode it takes one run
a weight. Result: the error after `steps` steps.

Source: D. E. Rumelhart, G. E. Hinton and R. J. Williams, *Learning representations by
back-propagating errors*, Nature 323 (1986); weights and answers are those of the Stalingrad suite.
"""

from typing import Any

import numpy as np

from jitad import jvp
from kernels.nested.descent import Operator

EXAMPLES = [([0.0, 0.0], [0.0]), ([0.0, 1.0], [1.0]), ([1.0, 0.0], [1.0]), ([1.0, 1.0], [0.0])]
WEIGHTS = [[[0.0, -0.284227, 1.16054], [0.0, 0.617194, 1.30467]], [[0.0, -0.084395, 0.648461]]]
ANSWERS = {
    1: 0.5105678882572587,
    10: 0.4967496867413786,
    100: 0.4911168310721801,
    1000: 0.2909192592250362,
    10000: 0.2513707871333965,
}

Network = list[list[list[Any]]]


def unit(weights: list[Any], inputs: list[Any]) -> Any:
    total = weights[0]
    for w, v in zip(weights[1:], inputs, strict=True):
        total += w * v
    return 1.0 / (np.exp(-total) + 1.0)


def error(network: Network) -> Any:
    total = 0.0
    for values, targets in EXAMPLES:
        for layer in network:
            values = [unit(u, values) for u in layer]
        for value, target in zip(values, targets, strict=True):
            total += 0.5 * (value - target) ** 2
    return total


def forward_gradient(f: Any) -> Any:
    """The gradient by forward mode of a function of nested lists."""

    def gradient(network: Network) -> Network:
        def direction(at: tuple[int, int, int]) -> Network:
            return [
                [[1.0 if (i, j, k) == at else 0.0 for k in range(len(u))] for j, u in enumerate(l)]
                for i, l in enumerate(network)
            ]

        return [
            [
                [jvp(f, (network,), (direction((i, j, k)),))[1] for k in range(len(u))]
                for j, u in enumerate(l)
            ]
            for i, l in enumerate(network)
        ]

    return gradient


def program(steps: int, gradient: Operator) -> Any:
    """The error after learning."""
    slope = gradient(error)
    network = WEIGHTS
    for _ in range(steps):
        moves = slope(network)
        network = [
            [[w - 0.3 * d for w, d in zip(u, du, strict=True)] for u, du in zip(l, dl, strict=True)]
            for l, dl in zip(network, moves, strict=True)
        ]
    return error(network)
