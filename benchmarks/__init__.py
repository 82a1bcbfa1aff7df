"""Measurements of jitad: the demo, the benchmark suite and the report. Not part of the package."""

import os

# One thread for all that is compared. A BLAS whose threads still spin after it has returned
# slows down whatever is timed next. This must be said before NumPy is imported.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
