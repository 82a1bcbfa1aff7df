"""Chains of `elif`s and of early returns may be long, though CPython nests twenty blocks."""

import importlib
import random
import sys

import pytest

from jitad import jit_value_and_grad, value_and_grad
from jitad.trace import rewrite

BODIES = {
    "value": ["y = x ** {k} * a"],
    "return": ["return x ** {k} * a"],
    "loop": ["for i in range(3):", "    y = y + x * {k} * a"],
    "loop and return": ["for i in range(3):", "    y = y + x * {k} * a", "return y"],
    "return on some paths": ["if a > 0.65:", "    return x * {k}", "y = y + a * {k} * x"],
    "return from a loop": ["for i in range(3):", "    if i == 2 and a > 0.65:",
                           "        return x * y", "    y = y + a * {k} * x"],
    "nothing": ["pass"],
}  # fmt: skip


def program(draw: random.Random, name: str, long: int, every: str | None) -> list[str]:
    """A function of one chain, of `elif`s or of one `if` after the other."""
    traced, style = draw.random() < 0.5, draw.choice(("elif", "if", "both"))
    looped = draw.random() < 0.3
    lines = [f"def {name}(x, a, kind):", "    y = x * a"]
    inside = "    "
    if looped:
        lines.append("    for rep in range(2):")
        inside = "        "
    for k in range(long):
        follows = k and (style == "elif" or (style == "both" and draw.random() < 0.6))
        test = f"x * {long} < {k}.3" if traced else f"kind == {k}"
        lines.append(f"{inside}{'elif' if follows else 'if'} {test}:")
        if looped and every is None and draw.random() < 0.2:
            lines.append(f"{inside}    {draw.choice(('break', 'continue'))}")
            continue
        body = BODIES[every or draw.choice(list(BODIES))]
        lines += [f"{inside}    {line.format(k=k)}" for line in body]
    if draw.random() < 0.5:
        last = draw.choice(("y = y * 3.0 * x", "pass", "return y + 1"))
        lines += [f"{inside}else:", f"{inside}    {last}"]
    return [*lines, f"{inside}y = y * y", "    return y * x", ""]


@pytest.fixture(scope="module")
def chains(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chains")
    draw, lines, lengths = random.Random(7), [], {}
    for k, every in enumerate([*BODIES, None, None, None, None] * 3):
        lengths[f"f{k}"] = draw.choice((3, 9, 17, 30, 45))
        lines += program(draw, f"f{k}", lengths[f"f{k}"], every)
    (folder / "long_chains.py").write_text("\n".join(lines))
    sys.path.insert(0, str(folder))
    yield importlib.import_module("long_chains"), lengths
    sys.path.remove(str(folder))
    del sys.modules["long_chains"]


def check(f, long, engines, shares):
    h = 1e-6
    for share in shares:
        for a in (0.6, 0.7):
            x, kind = share + 0.05, int(share * long)
            by_x = (f(x + h, a, kind) - f(x - h, a, kind)) / (2 * h)
            by_a = (f(x, a + h, kind) - f(x, a - h, kind)) / (2 * h)
            for engine in engines:
                value, found = engine(f, (0, 1))(x, a, kind)
                assert value == pytest.approx(f(x, a, kind), rel=1e-12)
                assert found == pytest.approx((by_x, by_a), rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("nested", [rewrite._NESTED, (1,)])
@pytest.mark.parametrize("number", range(33))
def test_chains(number, nested, chains, monkeypatch):
    module, lengths = chains
    monkeypatch.setattr(rewrite, "_NESTED", nested)
    monkeypatch.setattr(rewrite, "_twins", {})
    monkeypatch.setattr(rewrite, "_quick", {})
    name = f"f{number}"
    check(getattr(module, name), lengths[name], [value_and_grad], (0.03, 0.4, 0.77, 0.99))


@pytest.mark.parametrize("number", range(0, 33, 4))
def test_compiled_chains(number, chains):
    module, lengths = chains
    name = f"f{number}"
    check(getattr(module, name), lengths[name], [jit_value_and_grad], (0.03, 0.77))
