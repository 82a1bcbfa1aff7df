"""How do kernels allocate arrays and reach their elements?

(stub)
"""
def dim(a, k): return a.shape[k]
def load(a, *i): return a[i]
def store(a, v, *i): a[i] = v
empty = fresh_zeros = None
