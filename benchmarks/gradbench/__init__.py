"""GradBench, the benchmark of tools for automatic differentiation, with jitad's derivatives.

    python -m benchmarks.gradbench                       # speaks GradBench's protocol
    python -m benchmarks.gradbench --compare [eval ...]  # times beside C++ written by hand

`protocol.py` is the conversation, `evals.py` the twelve problems; their objectives are in
`kernels`, plain Python and NumPy. `cpp/` has the same derivatives written by hand, `compare.py` the
stopwatch.
"""
