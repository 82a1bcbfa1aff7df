"""How are the report's figures printed?"""

from collections.abc import Callable, Sequence

from benchmarks import timing
from benchmarks.report.cell import Cell, geometric_mean
from benchmarks.timing import Quartiles

WIDTHS = (14, 7, 9, 17, 17, 9, 9, 9, 9, 17, 17)
HEAD = (
    ("", "", "jitad", "jitad", "jitad", "hand", "first", "second", "eager", "eager", "peak MiB"),
    ("kernel", "size", "gradient", "/ hand", "/ primal", "/ primal", "call", "process")
    + ("gradient", "/ autograd", "jitad (hand)"),
)
EXPLAINED = """\
gradient: a call for value and gradient once compiled. hand: the same, written by hand for Numba.
primal: the value alone, by Numba. Ratios: the median of those within each round, then quartiles.
first call: trace and compile, with nothing on disk; second process: the same, with all on disk.
eager: nothing compiled. peak: memory touched during a call beyond what was held before it.
All on one thread."""


def aligned(cells: Sequence[str]) -> str:
    left = "".join(cell.ljust(width) for cell, width in zip(cells[:2], WIDTHS[:2], strict=True))
    return left + "".join(cell.rjust(w + 1) for cell, w in zip(cells[2:], WIDTHS[2:], strict=True))


def head() -> list[str]:
    return [*(aligned(line) for line in HEAD), "-" * len(aligned(HEAD[0]))]


def row(cell: Cell) -> list[str]:
    """A line for a cell, and one for each of its failures."""
    if "gradient" in cell.failures:
        return [f"{cell.kernel:<14}{cell.size:<7} FAILED: {cell.failures['gradient']}"]
    memory = ""
    if cell.peak is not None and cell.hand_peak is not None:
        memory = f"{cell.peak / 2**20:.2f} ({cell.hand_peak / 2**20:.2f})"
    figures = (
        seconds(cell.gradient),
        quartiles(cell.to_hand),
        quartiles(cell.to_primal),
        plain(cell.hand_to_primal.median) if cell.hand_to_primal else "-",
        seconds(cell.first),
        seconds(cell.second_process),
        seconds(cell.eager),
        quartiles(cell.eager_to_autograd),
        memory or "-",
    )
    notes = [f"    {what}: {why}" for what, why in cell.failures.items()]
    if cell.to_adjoint is not None:
        room = f", {cell.adjoint_peak / 2**20:.2f} MiB" if cell.adjoint_peak is not None else ""
        notes.append(f"    / hand, back through the same loops: {quartiles(cell.to_adjoint)}{room}")
    return [aligned((cell.kernel, cell.size, *figures)), *notes]


def seconds(number: float | None) -> str:
    return "-" if number is None else timing.readable(number)


def quartiles(ratio: Quartiles | None) -> str:
    if ratio is None:
        return "-"
    return f"{plain(ratio.median)} [{plain(ratio.low)} {plain(ratio.high)}]"


def plain(ratio: float) -> str:
    """Two decimals, or two digits where those would show nothing."""
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


def means(cells: Sequence[Cell], sizes: Sequence[str]) -> list[str]:
    """Geometric means of the medians, for each size and over all."""

    def line(title: str, chosen: Sequence[Cell]) -> str:
        def mean(pick: Callable[[Cell], Quartiles | None]) -> str:
            found = geometric_mean(q.median if (q := pick(cell)) else None for cell in chosen)
            return "-" if found is None else plain(found)

        first = geometric_mean(cell.first for cell in chosen)
        second = geometric_mean(cell.second_process for cell in chosen)
        return aligned(
            ("geom. mean", title, "", mean(lambda c: c.to_hand), mean(lambda c: c.to_primal))
            + (mean(lambda c: c.hand_to_primal), seconds(first), seconds(second), "")
            + (mean(lambda c: c.eager_to_autograd), "")
        )

    lines = [line(size, [cell for cell in cells if cell.size == size]) for size in sizes]
    return lines + ([line("all", cells)] if len(sizes) > 1 else [])
