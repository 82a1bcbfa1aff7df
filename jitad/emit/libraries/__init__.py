"""Which of these modules has a name of the preamble, and hands its symbols out when imported?

Those that take long to import; the others are part of the preamble.
"""

_DETERMINANTS = ("cofactors", "cofactors_along", "determinant", "lifts")
_LAPACK = ("cholesky", "expm", "line", "log_size", "lu", "lu_order", "lu_sign", "part",
           "pinv", "qr", "solve", "sqrtm", "svd", "trisolve")  # fmt: skip
_SYMMETRIC = ("sbevd", "sbevx", "stein", "syevd", "syevr", "syevx")
MODULES = {
    "times": "blas", "gram": "blas", "eig": "eigen", "zheevd": "hermitian", "zheevr": "hermitian",
    **dict.fromkeys(_DETERMINANTS, "determinants"), **dict.fromkeys(_LAPACK, "lapack"),
    **dict.fromkeys(_SYMMETRIC, "symmetric"),
}  # fmt: skip
