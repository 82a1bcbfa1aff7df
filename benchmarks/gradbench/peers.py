"""How fast are other Python libraries on the evals of GradBench that they can run?

Their programs are what their users would write: whole arrays, what is not differentiated computed
beforehand. Each line has jitad's time, and for each library its time over that, called by turns.

    python -m benchmarks.gradbench --peers [eval ...] [--sizes small medium] [--seconds 1]

Of `gmm` and `lse` the programs are those of `benchmarks.peers`. CasADi evaluates its graph, whole
arrays a node. What is missing: ba (a sparse Jacobian), ht and lstm (minutes of tracing), det,
particle and saddle (recursion, and loops that numbers end, around derivatives).
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.gradbench.compare import DERIVATIVES, flat
from benchmarks.gradbench.data import error, workload
from benchmarks.gradbench.evals import evals
from benchmarks.timing import interleaved, ratio, readable

EVALS = ("gmm", "lse", "llsq", "ode", "kmeans")
PEERS = ("jax", "torch", "autograd", "casadi")
Run = Callable[[], Any]


def run(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gradbench --peers")
    parser.add_argument("evals", nargs="*", default=EVALS)
    parser.add_argument("--sizes", nargs="+", choices=("small", "medium"),
                        default=["small", "medium"])  # fmt: skip
    parser.add_argument("--seconds", type=float, default=1.0)
    chosen = parser.parse_args(arguments)
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    print(f"{'eval':<9}{'size':<8}{'jitad':>9}" + "".join(f"{'/ ' + p:>11}" for p in PEERS))
    for name in chosen.evals:
        for size in chosen.sizes:
            print(line(name, size, chosen.seconds), flush=True)


def line(name: str, size: str, seconds: float) -> str:
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
    times = interleaved(subjects, 15, seconds * len(subjects))
    text = f"{name:<9}{size:<8}{readable(np.median(times['jitad'])):>9}"
    for peer in PEERS:
        r = ratio(times[peer], times["jitad"]).median if peer in times else None
        text += f"{'-' if r is None else f'{r:.2f}':>11}"
    return text


def flat_like(result: Any, like: tuple[Any, ...]) -> list[Any]:
    """A gradient, or a value and the gradients, as arrays like these."""
    parts = result[1] if isinstance(result, tuple) and len(result) == 2 else result
    parts = parts if isinstance(parts, (tuple, list)) else [parts]
    return [np.asarray(p).reshape(np.shape(a)) for p, a in zip(parts, like, strict=True)]


def made_for(peer: str, name: str, args: tuple[Any, ...]) -> Run | None:
    """The derivative at these arguments, compiled where the library does so."""
    if peer == "casadi":
        graph = GRAPHS.get(name)
        return in_casadi(graph, *args) if graph is not None else None
    module = import_module(f"benchmarks.peers.in_{peer}")
    if name == "kmeans":
        return kmeans_in_jax(*args) if peer == "jax" else None
    if name in ("gmm", "lse"):
        program = module.PROGRAMS["gmm" if name == "gmm" else "logsumexp"]
        argnums: tuple[int, ...] = (0, 1, 2, 3) if name == "gmm" else (0,)
        return module.value_and_gradient(program, argnums, args)  # type: ignore[no-any-return]
    program = {"llsq": llsq, "ode": ode}[name](module.PEER, *args)
    return module.value_and_gradient(program, (0,), args[:1])  # type: ignore[no-any-return]


def places(m: int, n: int) -> tuple[Any, Any]:
    t = (2.0 * np.arange(n)) / (n - 1) - 1.0
    return np.sign(t), t[:, None] ** np.arange(m)


def llsq(peer: Any, x: Any, n: int) -> Callable[[Any], Any]:
    signs, powers = map(peer.asarray, places(len(x), n))
    return lambda x: 0.5 * peer.np.sum((signs - powers @ x) ** 2)


def stepped(slope: Callable[[Any], Any], y: Any, steps: int) -> Any:
    h = 2.0 / steps
    for _ in range(steps):
        k1 = slope(y)
        k2 = slope(y + 0.5 * h * k1)
        k3 = slope(y + 0.5 * h * k2)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + slope(y + h * k3))
    return y


def ode(peer: Any, x: Any, steps: int) -> Callable[[Any], Any]:
    joined = peer.np.concatenate
    return lambda x: stepped(lambda y: joined((x[:1], x[1:] * y[:-1])), 0.0 * x, steps)[-1]


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


def in_casadi(graph: Callable[..., Any], x: Any, *others: Any) -> Run:
    import casadi

    of = casadi.MX.sym("x", len(x))
    slope = casadi.Function("slope", [of], [casadi.gradient(graph(casadi, of, *others), of)])
    return lambda: [slope(x).full()]


GRAPHS: dict[str, Callable[..., Any]] = {
    "lse": lambda casadi, x: casadi.logsumexp(x),
    "llsq": lambda casadi, x, n: 0.5 * casadi.sumsqr(
        places(x.numel(), n)[0] - casadi.DM(places(x.numel(), n)[1]) @ x),
    "ode": lambda casadi, x, steps: stepped(
        lambda y: casadi.vertcat(x[0], x[1:] * y[:-1]), casadi.MX.zeros(x.numel()), steps)[-1],
}  # fmt: skip
