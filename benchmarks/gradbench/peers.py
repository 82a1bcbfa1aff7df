"""How fast are other Python libraries on the evals of GradBench that they can run?

Their programs are what their users would write: whole arrays. Each line has jitad's time, and its
ratio to each library's, called by turns: below 1, jitad is faster. Times are the processor's, on
one core.

    python -m benchmarks.gradbench --peers [eval ...] [--sizes small medium] [--seconds 1]

Of `gmm` and `lse` the programs are those of `benchmarks.peers`. CasADi's graph, whole arrays a
node, is compiled as C; what of it is constant is computed beforehand. What is missing: ba (a sparse
Jacobian), ht and lstm (minutes of tracing), det, particle and saddle (recursion, and loops that
numbers end, around derivatives).
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.gradbench.compare import DERIVATIVES, OUT, flat
from benchmarks.gradbench.data import error, workload
from benchmarks.gradbench.evals import evals
from benchmarks.peers import NAMES as PEERS
from benchmarks.report.measure import on_one_core
from benchmarks.report.table import quartiles
from benchmarks.timing import Quartiles, interleaved, ratio, readable

EVALS = ("gmm", "lse", "llsq", "ode", "kmeans")
Run = Callable[[], Any]


def run(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gradbench --peers")
    parser.add_argument("evals", nargs="*", default=EVALS)
    parser.add_argument("--sizes", nargs="+", choices=("small", "medium"),
                        default=["small", "medium"])  # fmt: skip
    parser.add_argument("--seconds", type=float, default=1.0)
    chosen = parser.parse_args(arguments)
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    on_one_core()
    print(f"{'eval':<9}{'size':<8}{'jitad':>9}" + "".join(f"{'/ ' + p:>24}" for p in PEERS))
    found: list[dict[str, Any]] = []
    for name in chosen.evals:
        for size in chosen.sizes:
            took, ratios = measured(name, size, chosen.seconds)
            found.append({"kernel": name, "size": size, "gradient": took, "ratios": {
                p: [q.low, q.median, q.high] for p, q in ratios.items()}})  # fmt: skip
            cells = (f"{quartiles(ratios.get(p)):>24}" for p in PEERS)
            print(f"{name:<9}{size:<8}{readable(took):>9}{''.join(cells)}", flush=True)
    OUT.mkdir(exist_ok=True)
    (OUT / "gradbench-peers.json").write_text(json.dumps(found, indent=1))


def measured(name: str, size: str, seconds: float) -> tuple[float, dict[str, Quartiles]]:
    """Seconds of a derivative by jitad, and the ratio to each library's."""
    f = evals()[name][DERIVATIVES[name]]
    args = f.arguments(workload(name, size)[0])
    like = flat(f.run(*args))
    subjects: dict[str, Run] = {"jitad": lambda: f.run(*args)}
    for peer in PEERS:
        made = made_for(peer, name, args)
        if made is None:
            continue
        pairs = zip(like, flat_like(made(), like), strict=True)
        worst = max(error(a, b) for a, b in pairs)
        if worst > 1e-6:
            raise AssertionError(f"{peer} on {name}: another result, by {worst:.1e}")
        subjects[peer] = made
    times = interleaved(subjects, 15, seconds * len(subjects), time.process_time)
    ratios = {p: ratio(times["jitad"], times[p]) for p in PEERS if p in times}
    return float(np.median(times["jitad"])), ratios


def flat_like(result: Any, like: tuple[Any, ...]) -> list[Any]:
    """A gradient, or a value and the gradients, as arrays like these."""
    parts = result[1] if isinstance(result, tuple) and len(result) == 2 else result
    parts = parts if isinstance(parts, (tuple, list)) else [parts]
    return [np.asarray(p).reshape(np.shape(a)) for p, a in zip(parts, like, strict=True)]


def made_for(peer: str, name: str, args: tuple[Any, ...]) -> Run | None:
    """The derivative at these arguments, compiled where the library does so."""
    if peer == "casadi":
        graph = GRAPHS.get(name)
        return None if graph is None else compiled(graph, *args)
    module = import_module(f"benchmarks.peers.in_{peer}")
    if name == "kmeans":
        return kmeans_in_jax(*args) if peer == "jax" else None
    if name in ("gmm", "lse"):
        program = module.PROGRAMS["gmm" if name == "gmm" else "logsumexp"]
        argnums: tuple[int, ...] = (0, 1, 2, 3) if name == "gmm" else (0,)
        return module.value_and_gradient(program, argnums, args)  # type: ignore[no-any-return]
    program, given = {"llsq": llsq, "ode": ode}[name](module.PEER, *args)
    return module.value_and_gradient(program, (0,), given)  # type: ignore[no-any-return]


def places(m: int, n: int) -> tuple[Any, Any]:
    t = (2.0 * np.arange(n)) / (n - 1) - 1.0
    return np.sign(t), t[:, None] ** np.arange(m)


Program = tuple[Callable[..., Any], tuple[Any, ...]]  # and its arguments


def llsq(peer: Any, x: Any, n: int) -> Program:
    def objective(x: Any, t: Any, signs: Any, exponents: Any) -> Any:
        return 0.5 * peer.np.sum((signs - t[:, None] ** exponents @ x) ** 2)

    t = 2.0 * np.arange(n) / (n - 1) - 1.0
    return objective, (x, t, np.sign(t), 1.0 * np.arange(len(x)))


def stepped(slope: Callable[[Any], Any], y: Any, steps: int) -> Any:
    h = 2.0 / steps
    for _ in range(steps):
        k1 = slope(y)
        k2 = slope(y + 0.5 * h * k1)
        k3 = slope(y + 0.5 * h * k2)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + slope(y + h * k3))
    return y


def ode(peer: Any, x: Any, steps: int) -> Program:
    joined = peer.np.concatenate

    def last(x: Any) -> Any:
        return stepped(lambda y: joined((x[:1], x[1:] * y[:-1])), 0.0 * x, steps)[-1]

    return last, (x,)


def kmeans_in_jax(points: Any, centroids: Any) -> Run:
    import jax
    import jax.numpy as jnp

    def cost(points: Any, c: Any) -> Any:
        away = points[:, None] - c[None]
        return jnp.sum(jnp.min(jnp.sum(away * away, 2), 1))

    def direction(points: Any, c: Any) -> Any:
        slope = jax.grad(cost, 1)
        g, diagonal = jax.jvp(lambda c: slope(points, c), (c,), (jnp.ones_like(c),))
        return g / diagonal

    given = jnp.asarray(points), jnp.asarray(centroids)
    compiled = jax.jit(direction)
    return lambda: [compiled(*given).block_until_ready()]


# -- CasADi: a graph of matrices, the gradient a function of the first argument -------------------


def compiled(graph: Callable[..., Any], x: Any, *others: Any) -> Run:
    import casadi

    from benchmarks.peers.in_casadi import value_and_gradient

    return value_and_gradient(lambda of: graph(casadi, of, *others), (0,), (x,))


GRAPHS: dict[str, Callable[..., Any]] = {
    "lse": lambda casadi, x: casadi.logsumexp(x),
    "llsq": lambda casadi, x, n: 0.5 * casadi.sumsqr(
        places(x.numel(), n)[0] - casadi.DM(places(x.numel(), n)[1]) @ x),
    "ode": lambda casadi, x, steps: stepped(
        lambda y: casadi.vertcat(x[0], x[1:] * y[:-1]), casadi.MX.zeros(x.numel()), steps)[-1],
}  # fmt: skip
