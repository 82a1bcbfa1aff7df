"""Does `has_aux` hand on what a function returns beside its scalar, in all engines?"""

import numpy as np
import pytest

import jitad

W, X = np.array([0.3, -0.7, 1.1]), np.array([1.0, 2.0, 3.0])


def loss(w, x, power=2):
    """Everything that an auxiliary result may be made of."""
    residual = np.tanh(w * x)
    steps = 0
    s = 0.0
    for r in residual:
        if r > 0.0:
            steps += 1
            s += r**power
    return s, {"residual": residual, "steps": steps, "name": "tanh", "w": (w, [None, s * s])}


def expected(power=2):
    t = np.tanh(W * X)
    return np.where(t > 0.0, power * t ** (power - 1) * (1.0 - t * t) * X, 0.0)


def same(got, want):
    assert type(got) is type(want) or isinstance(want, np.float64)
    if isinstance(want, dict):
        assert got.keys() == want.keys()
        for k in want:
            same(got[k], want[k])
    elif isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w)
    elif isinstance(want, (np.ndarray, float)):
        np.testing.assert_allclose(got, want, rtol=1e-13)
    else:
        assert got == want


MAKERS = {
    "eager": (jitad.grad, jitad.value_and_grad),
    "compiled": (jitad.jit_grad, jitad.jit_value_and_grad),
    "compiled later": (
        lambda f, **how: jitad.jit(jitad.grad(f, **how)),
        lambda f, **how: jitad.jit(lambda *args: jitad.value_and_grad(f, **how)(*args)),
    ),
}


@pytest.mark.parametrize("grad, both", MAKERS.values(), ids=MAKERS)
def test_parts(grad, both):
    want = loss(W, X)
    for _ in range(2):
        gradient, aux = grad(loss, has_aux=True)(W, X)
        np.testing.assert_allclose(gradient, expected(), rtol=1e-12)
        same(aux, want[1])
        value, gradient = both(loss, has_aux=True)(W, X)
        np.testing.assert_allclose(gradient, expected(), rtol=1e-12)
        same(value, want)
    (by_w, by_x), aux = grad(loss, argnums=(0, 1), has_aux=True)(W, X)
    np.testing.assert_allclose(by_x * X, by_w * W, rtol=1e-12)


@pytest.mark.parametrize("jit", [lambda f: f, jitad.jit], ids=["eager", "compiled"])
def test_no_part_of_what_is_beside_is_differentiated_twice(jit):
    """The auxiliary result is differentiated by whoever stands outside, and only by him."""

    def f(x):
        slope, cubed = jitad.grad(lambda t: (t * t, t * t * t), has_aux=True)(x)
        return slope * cubed  # 2 x^4

    assert jit(jitad.grad(f))(1.5) == pytest.approx(8 * 1.5**3)
    assert jit(jitad.grad(jitad.grad(f)))(1.5) == pytest.approx(24 * 1.5**2)
    assert jit(lambda x: jitad.jvp(f, (x,), (1.0,)))(1.5) == pytest.approx((2 * 1.5**4, 8 * 1.5**3))


@pytest.mark.parametrize("grad", [jitad.grad, jitad.jit_grad])
@pytest.mark.parametrize("result", [lambda x: x, lambda x: (x, 1, 2), lambda x: [x, 1]])
def test_no_pair(grad, result):
    with pytest.raises(jitad.JitadError, match="returned no pair"):
        grad(result, has_aux=True)(1.0)


@pytest.mark.parametrize("grad", [jitad.grad, jitad.jit_grad])
def test_no_scalar(grad):
    with pytest.raises(jitad.JitadError, match="non-scalar output"):
        grad(lambda x: (x, 1), has_aux=True)(np.ones(2))


def test_the_same_function_with_and_without():
    """What a trace knows of a derivative, it knows of `has_aux` as well."""
    made = {"grad": jitad.grad(lambda x: (x * x, x), has_aux=True)}
    f = jitad.jit(lambda x: made["grad"](x))
    assert f(3.0) == (6.0, 3.0)
    made["grad"] = jitad.grad(lambda x: x * x)
    assert f(3.0) == 6.0
