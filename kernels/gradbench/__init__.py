"""The objectives of GradBench that no other folder has, in plain Python and NumPy, one an eval.

`gmm`, `ba` and `lse` are `kernels.gmm`, `kernels.ba` and `kernels.logsumexp`; `particle` and
`saddle` are in `kernels.nested`. Nothing here is differentiated by hand: `benchmarks/gradbench`
does that with jitad, and `benchmarks/gradbench/cpp` by hand, in C++. Source of all problems:
<https://github.com/gradbench/gradbench>; `ht`, `lstm` and those in `kernels` are ADBench's
(<https://github.com/microsoft/ADBench>).
"""
