"""What do the fits look like, and the times beside each other?"""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.demo import datasets, mixture, predator_prey
from benchmarks.demo.fits import (
    COMPILED_DIFFERENCES,
    COMPILED_LBFGS,
    HAND,
    JITAD,
    PLAIN_DIFFERENCES,
    Outcome,
)

COLOURS = ("#0b6e8f", "#d1772e", "#5a8f3c", "#8d5aa8")
GREY = "#9aa0a6"
WAY_COLOURS = {
    JITAD: COLOURS[0],
    HAND: GREY,
    COMPILED_DIFFERENCES: COLOURS[1],
    PLAIN_DIFFERENCES: COLOURS[3],
    COMPILED_LBFGS: COLOURS[2],
}


def draw(outcomes: list[Outcome], path: Path) -> None:
    """Fits above, times below."""
    figure = Figure(figsize=(15, 8.5), layout="constrained")
    grid = figure.add_gridspec(2, 6)
    painters = {
        "logistic regression": margins,
        "Gaussian mixture": ellipses,
        "predator and prey": populations,
    }
    for column, outcome in enumerate(outcomes):
        axes = figure.add_subplot(grid[0, 2 * column : 2 * column + 2])
        axes.set_title(f"{outcome.problem.name} ({outcome.x.size} unknowns)")
        painters[outcome.problem.name](axes, outcome.x)
    times(
        figure.add_subplot(grid[1, :3]),
        outcomes,
        "gradient",
        (JITAD, COMPILED_DIFFERENCES, PLAIN_DIFFERENCES),
        "one gradient / one hand-written gradient",
    )
    times(
        figure.add_subplot(grid[1, 3:]),
        outcomes,
        "fit",
        (JITAD, COMPILED_DIFFERENCES, COMPILED_LBFGS),
        "whole fit / L-BFGS-B with the hand-written gradient",
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def margins(axes: Axes, weights: np.ndarray) -> None:
    features, signs = datasets.breast_cancer()
    scores = features @ weights[1:] + weights[0]
    bins = np.linspace(scores.min(), scores.max(), 50)
    for sign, colour, label in ((1, COLOURS[0], "benign"), (-1, COLOURS[1], "malignant")):
        axes.hist(scores[signs == sign], bins, color=colour, alpha=0.75, label=label)
    axes.axvline(0.0, color="black", linewidth=0.8)
    axes.set(xlabel="log-odds of benign", ylabel="tumours")
    axes.legend()


def ellipses(axes: Axes, x: np.ndarray) -> None:
    data, species = datasets.iris()
    names = ("setosa", "versicolor", "virginica")
    for kind, (colour, name) in enumerate(zip(COLOURS, names)):
        points = data[species == kind]
        axes.plot(points[:, 2], points[:, 3], "o", ms=4, alpha=0.6, color=colour, label=name)
    turn = np.linspace(0.0, 2.0 * np.pi, 100)
    circle = np.stack([np.cos(turn), np.sin(turn)])
    _, means, covariances = mixture.unpack(x, data.shape[1])
    for mean, covariance in zip(means, covariances, strict=True):
        root = np.linalg.cholesky(covariance[2:, 2:])
        ring = mean[2:, None] + 2.0 * root @ circle
        axes.plot(*ring, color="black", linewidth=1.0)
    axes.set(xlabel="petal length, cm", ylabel="petal width, cm")
    axes.legend(title="ellipses: two deviations", loc="upper left")


def populations(axes: Axes, x: np.ndarray) -> None:
    years, hares, lynxes = datasets.lynx_hare()
    times, states = predator_prey.trajectory(x, len(years))
    for column, (counts, name) in enumerate(((hares, "hare"), (lynxes, "lynx"))):
        colour = COLOURS[column]
        axes.plot(years, counts, "o", ms=5, color=colour, label=f"{name}, counted")
        axes.plot(years[0] + times, states[:, column], color=colour, label=f"{name}, fitted")
    axes.set(xlabel="year", ylabel="thousands of pelts", xticks=range(1900, 1921, 5))
    axes.set_ylim(0, 1.35 * max(hares.max(), states.max()))
    axes.legend(ncols=2, loc="upper center")


def times(
    axes: Axes, outcomes: list[Outcome], what: str, names: tuple[str, ...], title: str
) -> None:
    width = 0.8 / len(names)
    for place, name in enumerate(names):
        heights = [
            float(np.median(getattr(o.ways[name], what) / getattr(o.ways[HAND], what)))
            for o in outcomes
        ]
        left = np.arange(len(outcomes)) + (place - (len(names) - 1) / 2) * width
        bars = axes.bar(left, heights, 0.92 * width, color=WAY_COLOURS[name], label=name)
        axes.bar_label(bars, [f"{h:.2f}" if h < 10 else f"{h:.0f}" for h in heights], padding=2)
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set_yscale("log")
    axes.margins(y=0.2)
    axes.set_xticks(range(len(outcomes)), [outcome.problem.name for outcome in outcomes])
    axes.set(title=title)
    axes.legend()
