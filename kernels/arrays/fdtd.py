"""An electromagnetic wave in the plane, driven at one edge, compared with a target at the end.

    ey[0] = drive[t];  ey -= (hz - hz above)/2;  ex -= (hz - hz left)/2;  hz -= 0.7 (curl of e)
    f = 1/2 * sum of (hz - target)²

Source: K. Yee's scheme (1966) as in PolyBench's fdtd-2d. Arguments: `ex0`, `ey0`, `hz0`, `target`
(rows, columns) and `drive` (steps), all float64. Differentiated in all but the target.
"""

import numpy as np

from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = (0, 1, 2, 3)
SIZES = {
    "small": {"n": 4, "steps": 3},
    "medium": {"n": 64, "steps": 20},
    "large": {"n": 300, "steps": 50},
}


def objective(ex0: Array, ey0: Array, hz0: Array, drive: Array, target: Array) -> float:
    ex, ey, hz = ex0.copy(), ey0.copy(), hz0.copy()
    for t in range(len(drive)):
        ey[0, :] = drive[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return 0.5 * np.sum((hz - target) ** 2)


@by_hand
def _electric(ex: Array, ey: Array, hz: Array, drive: float) -> None:
    rows, cols = hz.shape
    for j in range(cols):
        ey[0, j] = drive
    for i in range(1, rows):
        for j in range(cols):
            ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
    for i in range(rows):
        for j in range(1, cols):
            ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])


@by_hand
def _magnetic(ex: Array, ey: Array, hz: Array) -> None:
    rows, cols = hz.shape
    for i in range(rows - 1):
        for j in range(cols - 1):
            hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


@by_hand
def _unmagnetic(ax: Array, ay: Array, az: Array) -> None:
    """The last row and column of az stay out of it: hz is not changed there."""
    rows, cols = az.shape
    for i in range(rows - 1):
        ax[i, 0] += 0.7 * az[i, 0]
        for j in range(1, cols - 1):
            ax[i, j] += 0.7 * (az[i, j] - az[i, j - 1])
        ax[i, cols - 1] -= 0.7 * az[i, cols - 2]
    for j in range(cols - 1):
        ay[0, j] += 0.7 * az[0, j]
        ay[rows - 1, j] -= 0.7 * az[rows - 2, j]
    for i in range(1, rows - 1):
        for j in range(cols - 1):
            ay[i, j] += 0.7 * (az[i, j] - az[i - 1, j])


@by_hand
def _unelectric(ax: Array, ay: Array, az: Array) -> float:
    """What hz was pulled by; ay's first row is the drive's sensitivity, which is returned."""
    rows, cols = az.shape
    for i in range(rows):
        az[i, 0] += 0.5 * ax[i, 1]
        for j in range(1, cols - 1):
            az[i, j] += 0.5 * (ax[i, j + 1] - ax[i, j])
        az[i, cols - 1] -= 0.5 * ax[i, cols - 1]
    g_drive = 0.0
    for j in range(cols):
        g_drive += ay[0, j]
        ay[0, j] = 0.0
        az[0, j] += 0.5 * ay[1, j]
        az[rows - 1, j] -= 0.5 * ay[rows - 1, j]
    for i in range(1, rows - 1):
        for j in range(cols):
            az[i, j] += 0.5 * (ay[i + 1, j] - ay[i, j])
    return g_drive


@by_hand
def gradient(
    ex0: Array, ey0: Array, hz0: Array, drive: Array, target: Array
) -> tuple[float, tuple[Array, Array, Array, Array]]:
    ex, ey, hz = ex0.copy(), ey0.copy(), hz0.copy()
    for t in range(len(drive)):
        _electric(ex, ey, hz, drive[t])
        _magnetic(ex, ey, hz)
    rows, cols = hz.shape
    # The scheme is linear: nothing is kept, and the fields' memory serves the sensitivities.
    value = 0.0
    for i in range(rows):
        for j in range(cols):
            hz[i, j] -= target[i, j]
            value += hz[i, j] * hz[i, j]
            ex[i, j] = 0.0
            ey[i, j] = 0.0
    g_drive = np.empty(len(drive))
    for t in range(len(drive) - 1, -1, -1):
        _unmagnetic(ex, ey, hz)
        g_drive[t] = _unelectric(ex, ey, hz)
    return 0.5 * value, (ex, ey, hz, g_drive)


def inputs(
    size: str | Dims = "small", seed: int = 0
) -> tuple[Array, Array, Array, Array, Array]:
    dims = pick(size, SIZES)
    rng = np.random.default_rng(seed)
    shape = (dims["n"], dims["n"] + 1)
    ex, ey, hz, target = (rng.normal(size=shape) for _ in range(4))
    return ex, ey, hz, np.sin(0.3 * np.arange(dims["steps"]) + rng.normal()), target
