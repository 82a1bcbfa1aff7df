"""How surprised is a stack of diagonal LSTM layers by a sequence of characters?

Layer by layer, all elementwise, with the layer's input v and its own memory (hid, cell):

    cell = cell * sig(v Wforget + Bforget) + sig(hid Win + Bin) * tanh(hid Wchange + Bchange)
    hid  = sig(v Wout + Bout) * tanh(cell)

The last layer's hid predicts the next character: y = hid * w + b, log-softmax with a 2 in its sum.
Arguments: `main_params` (2 layers, 4 bits), `extra_params` (3, bits), `state` (2 layers, bits),
`sequence` (characters, bits) of 0 and 1, all float64. Differentiated in the first two.
"""

import numpy as np

from kernels.common import Array


def sigmoid(x: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-x))


def layer(
    weights: Array, biases: Array, hid: Array, cell: Array, v: Array
) -> tuple[Array, Array]:
    """The new hidden and cell vectors."""
    b = len(v)
    forget = sigmoid(v * weights[:b] + biases[:b])
    take = sigmoid(hid * weights[b : 2 * b] + biases[b : 2 * b])
    give = sigmoid(v * weights[2 * b : 3 * b] + biases[2 * b : 3 * b])
    change = np.tanh(hid * weights[3 * b :] + biases[3 * b :])
    cell = cell * forget + take * change
    return give * np.tanh(cell), cell


def objective(main_params: Array, extra_params: Array, state: Array, sequence: Array) -> float:
    state = state.copy()
    characters, bits = sequence.shape
    total = 0.0
    for t in range(characters - 1):
        v = sequence[t] * extra_params[0]
        for i in range(len(main_params) // 2):
            hid, cell = layer(
                main_params[2 * i], main_params[2 * i + 1], state[2 * i], state[2 * i + 1], v
            )
            state[2 * i] = hid
            state[2 * i + 1] = cell
            v = hid
        y = v * extra_params[1] + extra_params[2]
        total += np.sum(sequence[t + 1] * (y - np.log(2.0 + np.sum(np.exp(y)))))
    return -total / ((characters - 1) * bits)
