"""Would a pass that is left out, because what it looks for isn't there, have changed anything?"""

from __future__ import annotations

from functools import partial

import pytest

from jitad import grad
from jitad.calls.arguments import abstract
from jitad.specialise import pipeline
from jitad.specialise.pipeline import _Content, _everywhere, passes, stages
from jitad.trace.trace import trace
from kernels import ALL, KERNELS

NAMES = ("rosenbrock", "newton_sqrt", "heat", "mlp", "softmax", "cholesky", "deriche", "spmv")


def left_out(tape, threads=None):
    """The passes that found nothing; that each of those would have changed nothing is checked."""
    run, before, names = dict(passes(threads)), tape, []
    for name, now in stages(tape, threads=threads):
        if now is before and run[name] is not pipeline.simplify:
            content = _Content(now)
            if not content.has(run[name]):
                whole = run[name] in pipeline._TOGETHER
                after = run[name](now) if whole else _everywhere(run[name], now)
                assert _Content(after) == content, name
                names.append(name)
        before = now
    return names


@pytest.mark.parametrize("name", NAMES)
def test_what_is_left_out_would_have_found_nothing(name):
    assert set(NAMES) <= set(ALL)
    kernel = KERNELS[name]
    args = kernel.inputs("small")
    for f in (kernel.objective, partial(grad, kernel.objective, kernel.argnums)()):
        assert left_out(trace(f, tuple(map(abstract, args))).tape)
