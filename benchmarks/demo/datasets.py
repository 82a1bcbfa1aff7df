"""Where do the demo's numbers come from, and what is done to them before the fits?"""

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent.parent / "data"


def breast_cancer() -> tuple[np.ndarray, np.ndarray]:
    """Features, each with mean 0 and variance 1, and a sign: +1 benign, -1 malignant."""
    table = np.loadtxt(FOLDER / "breast_cancer.csv", delimiter=",", skiprows=1)
    features = table[:, :-1]
    standardised = (features - features.mean(axis=0)) / features.std(axis=0)
    return np.ascontiguousarray(standardised), 2.0 * table[:, -1] - 1.0


def iris() -> tuple[np.ndarray, np.ndarray]:
    """Measurements in cm, and the species (which the mixture never sees)."""
    table = np.loadtxt(FOLDER / "iris.csv", delimiter=",", skiprows=1)
    return np.ascontiguousarray(table[:, :-1]), table[:, -1].astype(np.int64)


def lynx_hare() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Years, hares and lynxes, both in thousands of pelts."""
    table = np.loadtxt(FOLDER / "lynx_hare.csv", delimiter=",", skiprows=1)
    years, lynxes, hares = table.T
    return years.astype(np.int64), np.ascontiguousarray(hares), np.ascontiguousarray(lynxes)
