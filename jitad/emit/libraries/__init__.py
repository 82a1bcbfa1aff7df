"""Which of these modules has a name of the preamble, and hands its symbols out when imported?

Those that take long to import; the others are part of the preamble.
"""

_DETERMINANTS = ("cofactors", "cofactors_along", "determinant", "lifts")
_LAPACK = ("cholesky", "eigh", "expm", "line", "log_size", "lu", "lu_order", "lu_sign", "part",
           "pinv", "qr", "solve", "sqrtm", "svd", "trisolve")  # fmt: skip
MODULES = {
    "times": "blas", "gram": "blas", "eig": "eigen", "heigh": "hermitian",
    **dict.fromkeys(_DETERMINANTS, "determinants"), **dict.fromkeys(_LAPACK, "lapack"),
}  # fmt: skip
