"""What do the report's ratios look like beside each other?"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator

from benchmarks.report.cell import Cell, geometric_mean
from benchmarks.timing import Quartiles

COLOURS = {"small": "#8cc3d6", "medium": "#2f8fb3", "large": "#0b4a63"}


def draw(cells: Sequence[Cell], sizes: Sequence[str], path: Path) -> None:
    """Four panels: against hand-written, against the value alone, first calls, eager."""
    kernels = list(dict.fromkeys(cell.kernel for cell in cells))
    figure = Figure(figsize=(15, 9), layout="constrained")
    axes = figure.subplots(2, 2)
    panels: list[tuple[Axes, str, Callable[[Cell], Quartiles | float | None]]] = [
        (axes[0, 0], "value and gradient: jitad / hand-written Numba", lambda c: c.to_hand),
        (axes[0, 1], "value and gradient by jitad / value alone", lambda c: c.to_primal),
        (axes[1, 0], "first call, seconds (hatched: second process)", lambda c: c.first),
        (axes[1, 1], "eager gradient: jitad / HIPS autograd", lambda c: c.eager_to_autograd),
    ]
    for panel, title, pick in panels:
        bars(panel, cells, kernels, sizes, pick)
        panel.set_title(title)
    bars(axes[1, 0], cells, kernels, sizes, lambda c: c.second_process, hatch="///")
    for panel in (axes[0, 0], axes[1, 1]):
        panel.axhline(1.0, color="black", linewidth=0.8)
    axes[0, 0].legend(loc="upper left")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def bars(
    axes: Axes,
    cells: Sequence[Cell],
    kernels: Sequence[str],
    sizes: Sequence[str],
    pick: Callable[[Cell], Quartiles | float | None],
    hatch: str | None = None,
) -> None:
    """A group of bars a kernel, one bar a size; quartiles as whiskers; the mean in the legend."""
    width = 0.8 / len(sizes)
    for place, size in enumerate(sizes):
        found = {cell.kernel: pick(cell) for cell in cells if cell.size == size}
        spans = [found.get(kernel) for kernel in kernels]
        middles = np.array([middle(span) for span in spans], dtype=float)
        if np.isnan(middles).all():
            continue
        left = np.arange(len(kernels)) + (place - (len(sizes) - 1) / 2) * width
        mean = geometric_mean(m for m in middles if not np.isnan(m))
        style = {"color": COLOURS[size]} if hatch is None else {"color": "none", "hatch": hatch}
        axes.bar(left, middles, 0.9 * width, label=f"{size}: {mean:.2f}", **style, edgecolor="grey")
        for x, span in zip(left, spans, strict=True):
            if isinstance(span, Quartiles):
                axes.plot([x, x], [span.low, span.high], color="black", linewidth=1.2)
    axes.set_yscale("log")
    if not axes.patches:
        axes.text(0.5, 0.5, "not measured", transform=axes.transAxes, ha="center")
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, 0.5 * high), max(high, 2.0 * low))  # noise must not fill a panel
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:.3g}"))
    axes.minorticks_off()
    axes.set_xlim(-0.6, len(kernels) - 0.4)
    axes.set_xticks(range(len(kernels)), kernels, rotation=35, ha="right")


def ratios(rows: Mapping[str, Mapping[str, float]], title: str, path: Path) -> None:
    """Ratios by what is measured, a mark for each opponent; below 1, jitad is faster."""
    figure = Figure(figsize=(9, 2 + 0.22 * len(rows)), layout="constrained")
    axes = figure.subplots()
    opponents = list(dict.fromkeys(name for found in rows.values() for name in found))
    for name in opponents:
        points = [(found[name], k) for k, found in enumerate(rows.values()) if name in found]
        mean = geometric_mean(x for x, _ in points)
        axes.plot(*zip(*points, strict=True), "o", label=f"{name}: {mean:.2f}")
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:.3g}"))
    axes.set_yticks(range(len(rows)), list(rows))
    axes.invert_yaxis()
    axes.grid(axis="y", linewidth=0.3)
    axes.set_title(title)
    if opponents:
        axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def middle(span: Quartiles | float | None) -> float:
    if span is None:
        return float("nan")
    return span.median if isinstance(span, Quartiles) else span
