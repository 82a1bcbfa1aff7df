"""What are the arguments of a random array program?  Arrays of all shapes, dtypes and layouts."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.properties.choices import Choices

SHAPES: list[tuple[int, ...]] = [
    (4,), (3, 4), (4,), (4, 3), (3, 3), (2, 3, 4), (3, 1), (1, 4), (), (1,), (0,), (0, 3), (2, 0),
    (5,), (2, 2), (1, 1), (2, 1, 3),
]  # fmt: skip
LAYOUTS = ["C", "C", "F", "reversed", "strided", "part"]


def arguments(choices: Choices, number: int) -> dict[str, Any]:
    """Arrays a, b, c of floats, maybe e of another kind, p of indices, q of truth; a float, ints."""
    random = np.random.default_rng(number)
    out: dict[str, Any] = {}
    for name in "abc"[: 2 + choices.below(2)]:
        shape = choices.pick(SHAPES)
        dtype = np.float32 if choices.below(8) == 7 else np.float64
        values = np.asarray(random.uniform(-1, 1, shape)).astype(dtype)
        out[name] = laid_out(values, choices.pick(LAYOUTS))
    match choices.below(6):
        case 4:
            out["e"] = random.integers(0, 200, choices.pick(SHAPES)).astype(
                choices.pick([np.uint8, np.int32, np.int64, np.int8, np.uint16])
            )
        case 5:
            shape = choices.pick(SHAPES)
            parts = random.uniform(-1, 1, (2, *shape))
            out["e"] = np.asarray(parts[0] + 1j * parts[1])
    out["p"] = random.integers(-2, 2, 1 + choices.below(4))
    out["q"] = random.integers(0, 2, choices.pick([(3,), (4,), (3, 4)])).astype(bool)
    out["s"] = float(random.uniform(-1, 1))
    out["n"] = int(random.integers(0, 4))
    out["k"] = int(random.integers(-3, 4))
    return out


def laid_out(values: np.ndarray, layout: str) -> np.ndarray:
    """The numbers with another order, sign or step of the strides."""
    if layout == "F" or not values.ndim:
        return np.asarray(values, order="F") if values.ndim else values
    match layout:
        case "reversed":
            memory = np.empty(values.shape, values.dtype)
            view = memory[::-1]
        case "strided":
            memory = np.empty((*values.shape[:-1], 2 * values.shape[-1]), values.dtype)
            view = memory[..., ::2]
        case "part":
            memory = np.empty((values.shape[0] + 2, *values.shape[1:]), values.dtype)
            view = memory[1:-1]
        case _:
            return values
    memory.fill(7)
    view[...] = values
    return view
