"""Which functions of NumPy and SciPy are differentiable?  Writes docs/coverage.md from the tests.

    python -m tests.docs.coverage

A function is differentiable, or has derivative zero, if tests/breadth has a use of it that shows
that; what has no replacement is refused where a traced value reaches it, for one of `REASONS`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.spatial.distance
import scipy.special

from jitad.solvers.refused import REMEDIES
from jitad.values.functions import implementation
from tests.breadth.all import CASES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "coverage.md"

MODULES: dict[str, ModuleType] = {
    "numpy": np, "numpy.linalg": np.linalg, "numpy.fft": np.fft,
    "scipy.linalg": scipy.linalg, "scipy.special": scipy.special, "scipy.fft": scipy.fft,
    "scipy.integrate": scipy.integrate, "scipy.signal": scipy.signal,
    "scipy.interpolate": scipy.interpolate, "scipy.ndimage": scipy.ndimage,
    "scipy.spatial.distance": scipy.spatial.distance, "scipy.optimize": scipy.optimize,
}  # fmt: skip

# Functions that take no array of numbers, or act on the world: nothing to differentiate.
UNCONCERNED = {
    "numpy": """
        array2string array_repr array_str base_repr binary_repr broadcast_shapes busday_count
        busday_offset can_cast common_type datetime_as_string datetime_data
        einsum_path format_float_positional format_float_scientific from_dlpack
        frombuffer fromfile frompyfunc fromregex fromstring genfromtxt get_include
        get_printoptions getbufsize geterr geterrcall info is_busday isdtype isfortran isnat
        isscalar issubdtype iterable load loadtxt may_share_memory min_scalar_type mintypecode
        nested_iters printoptions promote_types save savetxt savez
        savez_compressed set_printoptions setbufsize seterr seterrcall shares_memory show_config
        show_runtime test typename mask_indices tril_indices triu_indices
        bartlett blackman hamming hanning kaiser iscomplexobj asmatrix bmat""",
    "numpy.fft": "",
    "scipy.linalg": """
        bandwidth clarkson_woodruff_transform dft fiedler fiedler_companion find_best_blas_type
        get_blas_funcs get_lapack_funcs hadamard helmert hilbert invhilbert invpascal pascal
        ishermitian issymmetric companion""",
}

# Functions of numpy that give indices, truth values or extents; tests use them to choose.
ANSWERS = set("""
    argpartition argsort array_equal bitwise_left_shift bitwise_right_shift diag_indices
    diag_indices_from digitize isin
    left_shift ndim nonzero ravel_multi_index result_type right_shift searchsorted shape size
    tril_indices_from triu_indices_from unravel_index""".split())

# why a function is refused -> which
REASONS: dict[str, dict[str, str]] = {
    "complex numbers are not supported in it": {
        "numpy": "real_if_close",
        "scipy.linalg": """schur rsf2csf cdf2rdf logm fractional_matrix_power funm signm qz
            ordqz""",
        "scipy.special": "h1vp h2vp sph_harm_y_all",
    },
    "how many results there are depends on the values": {
        "scipy.linalg": "null_space orth",
    },
    "of integers, or of bits": {
        "numpy": """bitwise_count gcd lcm packbits unpackbits frexp nextafter spacing""",
    },
}
OTHERWISE = "nobody has entered it yet"
CALLERS = "it decides by numbers where to call your function; the message says what to write"


def functions(name: str) -> Iterator[tuple[str, Any]]:
    """The public functions of a module."""
    module = MODULES[name]
    for f in sorted(set(module.__all__)):
        value = getattr(module, f)
        if callable(value) and not isinstance(value, (type, ModuleType)):
            if f not in UNCONCERNED.get(name, "").split():
                yield f, value


def status(name: str, f: str, value: Any) -> str:
    """differentiable, zero, or the reason why it is refused."""
    cases = [c for c in CASES if c.covers == f"{name}.{f}"]
    if value in REMEDIES:
        return CALLERS
    if implementation(value) is not None:
        assert cases, f"{name}.{f} has a replacement and no use in tests/breadth"
        answers = f in ANSWERS or all(c.zero for c in cases)
        return "zero" if answers else "differentiable"
    assert not cases, f"{name}.{f} has a use in tests/breadth and no replacement"
    for reason, where in REASONS.items():
        if f in where.get(name, "").split():
            return reason
    return OTHERWISE


HEAD = """\
# Coverage

Which functions of NumPy and SciPy can be called on traced or differentiated values?  This page is
written by `python -m tests.docs.coverage` from the registry of replacements and from
`tests/breadth`, where every function named here as supported is tested: its value and dtype, its
derivative forwards and backwards and the derivative of its gradient against differences, eagerly
and as the tape that is compiled, a sample of them as machine code. Of what is marked `order=1`
there (most distributions that are traced as SciPy has written them, triple integrals) the
derivative of the gradient is not tested.

*Derivative zero* means zero wherever there is one; indices, counts and truth values are among them.
What is refused raises a `JitadError` that names your line, and is fine where no traced value
reaches it. Methods of arrays (`a.sum()`, `a.sort()`), `out=`, `where=`, and `.outer`, `.reduce`,
`.reduceat`, `.accumulate`, `.at` of ufuncs are those of the functions. So are `np.r_`, `np.c_`,
`np.mgrid`, `np.ogrid`, `np.ndenumerate`, `np.vectorize` (a batch over the elements),
`sliding_window_view`, `a.flat`, single bools as indices, and `norm(m, s).logpdf(x)`.

These objects are looked into, made inside the function or outside, where their numbers are inputs
as those of an array: sparse matrices of `scipy.sparse`, complex ones too (products with vectors
and matrices, sparse ones too, sums, powers, `multiply`, `kron`, `kronsum`, `vstack`, `hstack`,
`bmat`, `block_diag`, `tril`, `triu`, `T`, `conj`, `diagonal`, `toarray`, functions with a zero at
zero, parts by ints, slices and a list;
made of traced numbers by `csr_matrix((data, (i, j)))` and `diags`; written to entry by entry or by
blocks as `lil_matrix` and `dok_matrix`; `spsolve`, `splu`,
`factorized`, `inv`, `norm`, `expm`; `cg`, `gmres` and their kin, which give the solution;
`LinearOperator`, as a system
of some hundred equations; `expm_multiply`; `eigsh` and `svds`, by all eigenvalues),
splines and tables of `scipy.interpolate` (`CubicSpline`, `PchipInterpolator`,
`Akima1DInterpolator`, `CubicHermiteSpline`, `PPoly`, `BSpline`, `interp1d`,
`RegularGridInterpolator`, `RectBivariateSpline`, `RBFInterpolator`,
`LinearNDInterpolator`, `NearestNDInterpolator`, with derivatives by places and
by values), frozen distributions, masked
arrays (`np.ma.array`, `masked_where` and its kin; reductions, operators, ufuncs, parts, `filled`,
`compressed`, `average`, `median`), arrays with fields (structured arrays, `np.recarray` and their
elements; `np.rec.fromarrays`, `structured_to_unstructured`), `gaussian_kde`,
`ConvexHull` (`vertices`, `simplices`, `volume`, `area`), `Delaunay` (`simplices`),
`KDTree` (`query`, `query_pairs` as an array,
`query_ball_point` of one point, without `boxsize=`), `np.poly1d`, `Rotation` of
`scipy.spatial.transform` (`from_rotvec`, `from_quat`, `from_euler`, `from_matrix`; products, `inv`,
`apply`, `as_matrix`, `as_quat`, `as_rotvec`, `as_euler`).  `numpy.polynomial` and
`statistics.NormalDist` are traced as they are written, and so are SciPy's formulas for most
distributions of scipy.stats.  What SciPy finds by comparing numbers (`linear_sum_assignment`,
`find_peaks`, `label`, hulls and trees of points) are indices, for which kernels call SciPy.

Conventions, where a derivative is not unique: equal candidates of `max` and `min` share it; `abs`,
`sign`, norms, `hypot`, `arctan2` and `angle` have 0 at 0; sorting keeps the order of equals;
`interp` has the slope of the piece after a knot; `cholesky`, `eigh` depend on the triangle that
they read, and on nothing else; `pinv`, `lstsq` are differentiated at constant rank; eigenvectors of
`eig` have length one and are real where they are largest, those of `eigh` of a complex matrix have
a real first element, or last one if its upper triangle is read; which of a vector and its negative
`eigh` gives is LAPACK's to say, by the routine that NumPy or SciPy calls. Eigenvectors and singular
vectors have no derivative where two values coincide: it is `nan` there (their values have one, if
they are simple). A determinant has two derivatives wherever it is; the third is `nan` where more
than three singular values are next to zero.

## Complex numbers

Complex numbers and arrays (complex128, complex64) are arguments, results, data and whatever comes
between, in arithmetic, powers, comparisons by `==`, `abs`, `np.angle`, `real`, `imag`, `conj`,
exponentials, logarithms, roots, trigonometric and hyperbolic functions and their inverses,
functions of `cmath`, sums, products, means, matrix products, `solve`, `inv`, `det`, `slogdet`,
`cholesky`, `eigh`, singular values, `expm`, transforms, sorting, everything that rearranges arrays,
indexing and writing, through `.real` and `.imag` as well.  What has no meaning for them, or nobody
has entered, is refused.

The gradient of a real function of z = x + iy is df/dx - i df/dy, as in JAX: to descend, step along
its conjugate.  Sensitivities are of the same kind, tangents are plain: f changes by the real part
of the sum of gradient times tangent, nothing conjugated.  `abs` has the derivative 0 at 0.

```python
>>> import numpy as np
>>> from jitad import jit_grad
>>> jit_grad(lambda z: abs(z * z))(3.0 + 4.0j)
(6-8j)
>>> jit_grad(lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2))(np.array([1.0, 2.0])).tolist()
[4.0, 8.0]
```

`eig`, `eigvals` and `roots` give complex results, also where NumPy looks at the numbers and gives
real ones.  `1j` has an exact zero for its real part, which takes no part in products: `1j * inf` is
`inf * 1j`, and not nan beside it.
"""


def page() -> str:
    out = [HEAD]
    for name in MODULES:
        found: dict[str, list[str]] = {}
        for f, value in functions(name):
            found.setdefault(status(name, f, value), []).append(f)
        out.append(f"## {name}\n")
        for title, key in (("Differentiable", "differentiable"), ("Derivative zero", "zero")):
            if names := found.pop(key, []):
                out.append(_paragraph(title, names))
        for reason in sorted(found, key=lambda r: (r == OTHERWISE, r)):
            names = found[reason]
            if len(names) > 100:
                out.append(f"**Refused ({reason})**: all the others, {len(names)}.\n")
            else:
                out.append(_paragraph(f"Refused ({reason})", names))
    laws: dict[str, list[str]] = {}
    of_samples: set[str] = set()
    for c in CASES:
        if c.covers.startswith("scipy.stats."):
            _, _, law, *method = c.covers.split(".")
            if not method:
                of_samples.add(law)
            elif method[0] not in laws.setdefault(law, []):
                laws[law].append(method[0])
    out.append("## scipy.stats\n")
    out.append(_paragraph("Of samples", sorted(of_samples)))
    out.append("Distributions, by parameters and by the variable:\n")
    out += [f"* `{law}`: {', '.join(laws[law])}" for law in sorted(laws)]
    return "\n".join(out).rstrip() + "\n"


def _paragraph(title: str, names: list[str]) -> str:
    lines, line = [], f"**{title}**:"
    for k, f in enumerate(names):
        word = f"`{f}`" + ("," if k < len(names) - 1 else "")
        if len(line) + len(word) > 99:
            lines.append(line)
            line = word
        else:
            line += " " + word
    return "\n".join([*lines, line]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
