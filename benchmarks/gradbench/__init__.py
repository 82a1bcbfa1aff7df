"""GradBench, the benchmark of tools for automatic differentiation, with jitad's derivatives.

    python -m benchmarks.gradbench                       # speaks GradBench's protocol
    python -m benchmarks.gradbench --compare [eval ...]  # times beside C++ written by hand
    python -m benchmarks.gradbench --peers [eval ...]    # and beside other Python libraries

`protocol.py` is the conversation, `evals.py` the twelve problems; their objectives are in
`kernels`, plain Python and NumPy. `cpp/` has the same derivatives written by hand, `compare.py` the
stopwatch, `larger.py` workloads beyond GradBench's, `peers.py` what other libraries can run.
"""
