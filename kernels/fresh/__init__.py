"""Which functions were written only after the engine's passes, to see whether those are general?

Loops and arrays from fields that the other kernels leave out, with gradients by hand as there.
Files are laid out as in `kernels`, which loads them.
"""

NAMES = (
    "kalman",
    "hmm",
    "heston",
    "springs",
    "meanfield",
    "grayscott",
    "iir",
    "thomas",
    "bilinear",
    "arm",
)
