"""Which line of the user's code is running?  For the messages of errors."""

from __future__ import annotations

import itertools
import os
import re
import sys
import sysconfig
from functools import cache
from types import CodeType, FrameType, TracebackType

from jitad.tape.ir import Pos

_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep
_STANDARD = tuple({sysconfig.get_path(k) + os.sep for k in ("stdlib", "platstdlib")})

# Installed packages that are called as they are: those that have arrays of their own, or deal with
# the world around.  The functions of all others are traced, as the user's own are.
LIBRARIES = frozenset("""
    _pytest aiohttp astropy attr attrs autograd bokeh bottleneck casadi click cloudpickle colorama
    coverage cupy cv2 cvxpy cyipopt dask dateutil dill flax geopandas gurobipy h5py httpx humanize
    hypothesis imageio ipykernel IPython ipywidgets jax jaxlib jitad joblib keras llvmlite loguru
    matplotlib mlflow mpl_toolkits mpmath mypy netCDF4 networkx nlopt numba numexpr numpy optuna
    ortools osqp packaging pandas PIL pint pip pkg_resources plotly pluggy polars prettytable psutil
    pyarrow pydantic pyomo pyproj pytest pytest_benchmark pytz rasterio ray requests rich scipy
    seaborn setuptools shapely skimage sqlalchemy structlog sympy tables
    tabulate tensorboard tensorflow termcolor threadpoolctl torch torchvision tqdm traitlets
    typing_extensions uncertainties urllib3 wandb xarray yaml zarr
""".split())
_INSTALLED = re.compile(r".*/(?:site|dist)-packages/([^/.]*)")


def caller() -> Pos | None:
    """The innermost place outside jitad and the libraries that it calls."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _ours(frame.f_code.co_filename):
        frame = frame.f_back
    return None if frame is None else _place(frame.f_code, frame.f_lasti, frame.f_lineno)


def innermost(trace: TracebackType | None) -> Pos | None:
    """The innermost place outside jitad and libraries of those that an error has passed."""
    found = None
    while trace is not None:
        code = trace.tb_frame.f_code
        if not _ours(code.co_filename):
            found = _place(code, trace.tb_lasti, trace.tb_lineno)
        trace = trace.tb_next
    return found


def _place(code: CodeType, instruction: int, line: int) -> Pos:
    places = itertools.islice(code.co_positions(), instruction // 2, None)
    here = next(places, (None,) * 4)
    return Pos(code.co_filename, here[0] or line, here[2] or 0)


def users(where: Pos | None) -> Pos | None:
    """The place, unless it is in what is traced of jitad's own: the place that has called that."""
    return where if where is not None and not where.file.startswith(_OWN) else caller()


@cache
def is_of_library(file: str) -> bool:
    """Does Python's library have this file, or a package that is called as it is?"""
    if (installed := _INSTALLED.match(file)) is not None:
        return installed[1] in LIBRARIES
    return file.startswith(("<frozen", *_STANDARD))


def _ours(file: str) -> bool:
    return file.startswith((_OWN, "<jitad")) or is_of_library(file)
