"""What does each of GradBench's evals take, what is run, and what does it give?

The objectives are those of `kernels`; all derivatives are jitad's. Times are for `run`, from arrays
to arrays; all of it is compiled, so that the first call in a process, or for another combination of
types, is the slow one.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from benchmarks.gradbench.protocol import Function
from jitad import grad, jacfwd, jit, jit_grad, jvp
from kernels import ba, gmm, logsumexp
from kernels.common import Array
from kernels.gradbench import bundle, det, hello, ht, kmeans, llsq, lstm, ode
from kernels.nested import PAIRS, descent, particle, saddle

Input = Mapping[str, Any]


def numbers(values: Any) -> Array:
    return np.array(values, dtype=np.float64)


def ints(values: Any) -> Any:
    return np.array(values, dtype=np.int64)


def as_list(result: Any) -> Any:
    return np.ravel(result).tolist()


# -- one function after the other: its arguments, what is run, its output -------------------------


def gmm_arguments(given: Input) -> tuple[Any, ...]:
    d, k, n = (int(given[key]) for key in "dkn")
    shapes = {"alpha": (k,), "mu": (k, d), "q": (k, d), "l": (k, d * (d - 1) // 2), "x": (n, d)}
    arrays = [numbers(given[key]).reshape(shape) for key, shape in shapes.items()]
    return (*arrays, float(given["gamma"]), int(given["m"]))


def gmm_output(result: Any) -> dict[str, Any]:
    return {key: g.tolist() for key, g in zip(("alpha", "mu", "q", "l"), result, strict=True)}


def ba_arguments(given: Input) -> tuple[Any, ...]:
    n, m, p = (int(given[key]) for key in "nmp")
    which = np.arange(p, dtype=np.int64)
    return (
        np.tile(numbers(given["cam"]), (n, 1)),
        np.tile(numbers(given["x"]), (m, 1)),
        np.tile(numbers(given["w"]), p),
        np.tile(numbers(given["feat"]), (p, 1)),
        np.stack([which % n, which % m], axis=1),
    )


def ba_residuals(result: Any) -> dict[str, Any]:
    reprojection, weight = result
    p = len(weight)
    return {
        "reproj_error": {"elements": as_list(reprojection[0]), "repeated": p},
        "w_err": {"element": float(weight[0]), "repeated": p},
    }


def ba_matrix(result: Any) -> dict[str, Any]:
    parts = zip(("rows", "cols", "vals"), result, strict=True)
    return {name: [*part[:30].tolist(), part[-1].item()] for name, part in parts}


def ht_arguments(given: Input) -> tuple[Any, ...]:
    data = given["data"]
    model = data["model"]
    hand = ht.Model(
        ints(model["parents"]), numbers(model["base_relatives"]),
        numbers(model["inverse_base_absolutes"]), numbers(model["base_positions"]),
        numbers(model["weights"]), ints(model["triangles"]).reshape(-1, 3),
        bool(model["is_mirrored"]),
    )  # fmt: skip
    found = hand, ints(data["correspondences"]), numbers(data["points"]).reshape(-1, 3)
    us = (numbers(given["us"]),) if len(given["us"]) else ()
    return (numbers(given["theta"]), *us, *found)


def ht_matrix(theta: Array, us: Array, *found: Any) -> Array:
    """By the point's own two shares, then by theta: a column a change of all points' shares."""
    start = np.concatenate([np.zeros(2), theta])
    return jacfwd(lambda z: ht.residuals_in_triangles(z[2:], us + z[:2], *found))(start)


def simple_or_not(simple: Callable[..., Any], complicated: Callable[..., Any]) -> Any:
    """One for hands without `us`, one for those with."""
    return lambda *args: (simple if len(args) == 4 else complicated)(*args)


def lstm_arguments(given: Input) -> tuple[Any, ...]:
    return tuple(
        numbers(given[key]) for key in ("main_params", "extra_params", "state", "sequence")
    )


def lstm_output(result: Any) -> list[float]:
    return [*as_list(result[0]), *as_list(result[1])]


def kmeans_arguments(given: Input) -> tuple[Any, ...]:
    return numbers(given["points"]), numbers(given["centroids"])


def kmeans_direction(points: Array, centroids: Array) -> Array:
    """The gradient over the Hessian's diagonal, which is its product with ones."""
    slope = grad(kmeans.cost, 1)
    ones = np.ones_like(centroids)
    g, diagonal = jvp(lambda c: slope(points, c), (centroids,), (ones,))
    return g / diagonal


def nested(program: Any, pair: str) -> Callable[..., Any]:
    outer, inner = (descent.MODES[letter] for letter in pair)
    return jit(lambda start: program(start, outer, inner))


# -- all of them ----------------------------------------------------------------------------------


def pair_of_functions(
    names: str, primal: Any, derivative: Any, arguments: Any, outputs: tuple[Any, Any]
) -> dict[str, Function]:
    runs = zip(names.split(), (primal, derivative), outputs, strict=True)
    return {name: Function(run, arguments, output) for name, run, output in runs}


def x_and(count: str) -> Callable[[Input], tuple[Any, ...]]:
    return lambda given: (numbers(given["x"]), int(given[count]))


@cache
def evals() -> dict[str, dict[str, Function]]:
    """Eval by eval, function by function; nothing is compiled yet."""
    both_lists, plain = (as_list, as_list), (float, as_list)
    return {
        "hello": pair_of_functions(
            "square double", jit(hello.square), jit_grad(hello.square),
            lambda x: (float(x),), (float, float),
        ),
        "gmm": pair_of_functions(
            "objective jacobian", jit(gmm.objective), jit_grad(gmm.objective, gmm.ARGNUMS),
            gmm_arguments, (float, gmm_output),
        ),
        "ba": pair_of_functions(
            "objective jacobian", jit(ba.residuals), jit(bundle.jacobian),
            ba_arguments, (ba_residuals, ba_matrix),
        ),
        "ht": pair_of_functions(
            "objective jacobian",
            simple_or_not(jit(ht.residuals), jit(ht.residuals_in_triangles)),
            simple_or_not(jit(jacfwd(ht.residuals)), jit(ht_matrix)),
            ht_arguments, (as_list, lambda j: j.reshape(-1, j.shape[-1]).tolist()),
        ),
        "lstm": pair_of_functions(
            "objective jacobian", jit(lstm.objective), jit_grad(lstm.objective, (0, 1)),
            lstm_arguments, (float, lstm_output),
        ),
        "kmeans": pair_of_functions(
            "cost dir", jit(kmeans.cost), jit(kmeans_direction),
            kmeans_arguments, (float, lambda step: step.tolist()),
        ),
        "llsq": pair_of_functions(
            "primal gradient", jit(llsq.objective), jit_grad(llsq.objective), x_and("n"), plain
        ),
        "lse": pair_of_functions(
            "primal gradient", jit(logsumexp.objective), jit_grad(logsumexp.objective),
            lambda given: (numbers(given["x"]),), plain,
        ),
        "det": pair_of_functions(
            "primal gradient", jit(det.objective), jit_grad(det.objective),
            lambda given: (numbers(given["A"]), int(given["ell"])), plain,
        ),
        "ode": pair_of_functions(
            "primal gradient", jit(ode.objective), jit_grad(ode.last), x_and("s"), both_lists
        ),
        "particle": {
            pair: Function(
                nested(particle.program, pair), lambda given: (float(given["w"]),), float
            )
            for pair in PAIRS
        },
        "saddle": {
            pair: Function(
                nested(saddle.program, pair),
                lambda given: ([float(e) for e in given["start"]],), as_list,
            )
            for pair in PAIRS
        },
    }  # fmt: skip
