"""Which scientific programs over whole arrays have a gradient by hand?

Loops over slices, updates of rows and columns in place, masks, broadcasts, reductions and matrix
products, as users of NumPy write them. Files are laid out as in `kernels`, which loads them.
"""

NAMES = (
    "jacobi2d",
    "heat3d",
    "seidel",
    "fdtd",
    "adi",
    "cholesky",
    "lu",
    "trisolve",
    "gramschmidt",
    "covariance",
    "correlation",
    "durbin",
    "deriche",
    "hdiff",
    "vadv",
    "conv2d",
    "cavity",
    "crowd",
    "softmax",
    "lenet",
    "spmv",
)
