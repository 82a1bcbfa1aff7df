"""How many threads may a compiled function use?"""

from __future__ import annotations

from jitad.errors import JitadTypeError, JitadValueError


def set_num_threads(count: int) -> int:
    """Say how many threads functions compiled with `parallel=True` use from now on, process-wide.

    At first that is `NUMBA_NUM_THREADS`: the environment variable of that name, or else the number
    of cores.  Numba's own `set_num_threads` is for its own `prange`.

    Parameters
    ----------
    count : from 1 to 256.

    Returns
    -------
    What was set before.  Results keep their shapes and dtypes; sums may differ in the last bits
    between numbers of threads, and are the same each time for the same number.

    Raises
    ------
    JitadTypeError, JitadValueError : something else.

    Source: threads share the iterations of a loop in equal parts, see `jitad.specialise.parallel`.

    >>> import numpy as np
    >>> from jitad import jit_grad, set_num_threads
    >>> before = set_num_threads(2)
    >>> jit_grad(lambda x: np.sum(x * x), parallel=True)(np.array([1.0, 2.0]))
    array([2., 4.])
    >>> set_num_threads(before)
    2
    """
    from jitad.emit import team

    checked(count, "set_num_threads")
    before = team.get_threads()
    team.set_threads(count)
    return before


def get_num_threads() -> int:
    """How many threads functions compiled with `parallel=True` may use.

    Parameters
    ----------
    None.

    Returns
    -------
    What `set_num_threads` has set: an int, no array, without shape or dtype.

    Raises
    ------
    Nothing.

    Source: see `set_num_threads`.

    >>> from jitad import get_num_threads
    >>> get_num_threads() >= 1
    True
    """
    from jitad.emit import team

    return team.get_threads()


def asked(parallel: bool | int) -> int | None:
    """The option `parallel=` as the compiler takes it: at most so many, 0 as many as there are;
    None is one thread."""
    if parallel is False:
        return None
    if parallel is True:
        return 0
    checked(parallel, "parallel")
    return int(parallel) if parallel > 1 else None


def checked(count: int, what: str) -> None:
    from jitad.primitives.threads import MOST  # not needed for one thread

    if not isinstance(count, int) or isinstance(count, bool):
        raise JitadTypeError(f"{what}: {count!r} is no number of threads", None, "Give an int.")
    if not 1 <= count <= MOST:
        raise JitadValueError(f"{what}: {count} is no number of threads", None,
                              f"Give one from 1 to {MOST}.")  # fmt: skip
