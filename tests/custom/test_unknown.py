"""Do opaque functions run as they are, and is a derivative that is missing never zero?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import njit
from scipy.special import wright_bessel

from jitad import derivative, grad, jit, jit_grad, opaque, primitive, stop_gradient, unknown_policy
from jitad.errors import JitadError, JitadTypeError, JitadValueError
from tests.engines import ENGINES

square = opaque(lambda x: x * x, like=0.0)
is_large = opaque(lambda x: bool(np.sum(x) > 3.0))


def natively(f: Callable[..., Any]) -> Callable[..., Any]:
    return jit(f)


BOTH = pytest.mark.parametrize("run", [lambda f: f, natively], ids=["eager", "native"])

# -- calls ----------------------------------------------------------------------------------------


@BOTH
def test_what_comes_back(run: Any) -> None:
    assert run(lambda x: opaque(lambda x: x * x)(x) + 1.0)(3.0) == 10.0
    assert run(lambda x: 3 * opaque(lambda x: int(x))(x))(2.5) == 6
    running = opaque(lambda x: np.cumsum(x, axis=1))
    got = run(lambda x: running(x) * 2.0)(np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(got, [[0, 2, 6], [6, 14, 24]])

    def mixed(x: Any, text: str) -> Any:
        return {"a": 2.0 * x, "b": [np.float32(1.5), text == "k"]}

    f = opaque(mixed)
    g = run(lambda x: f(x, "k")["a"] + f(x, "k")["b"][0] if f(x, "k")["b"][1] else 0.0)
    assert g(2.0) == g(2.0) == 5.5


def test_no_function_is_called_more_often_than_in_python() -> None:
    """Also where the first trace has guessed wrong what it gives."""
    seen: list[Any] = []

    def noted(x: Any) -> Any:
        seen.append(float(np.sum(x)))
        return np.array([x, 2.0 * x])

    f = opaque(noted)

    def program(x: float, n: int) -> Any:
        total = 0.0
        for i in range(n):
            total = total + np.sum(f(x + i) ** 2)
        return total

    g = jit(program)
    for _ in range(3):
        seen.clear()
        assert g(1.0, 3) == 5.0 * (1 + 4 + 9)
        assert seen == [1.0, 2.0, 3.0]
    assert len(g.specialisations) == 1


def test_what_the_first_call_has_not_seen() -> None:
    """The branch with the opaque function is taken later; there it is taken to give a float."""
    for answer, want in ((lambda x: 2.0 * x, 40.0), (lambda x: np.array([x, x]), 40.0)):
        f = opaque(answer)
        g = jit(lambda x: np.sum(f(x)) if x > 10.0 else x)
        for x in (1.0, 2.0, 20.0, 20.0):
            assert g(x) == (want if x > 10.0 else x)
    f = opaque(lambda x: {"a": x})
    g = jit(lambda x: f(x)["a"] if x > 10.0 else x)
    assert g(1.0) == 1.0
    with pytest.raises(JitadError, match="what <lambda> gives is not known, and a float does not"):
        g(2.0)


def test_calls_from_native_code() -> None:
    f = opaque(lambda x: x + 1.0)
    g = jit(lambda x: f(x) * 2.0)

    @njit
    def twice(x):  # type: ignore[no-untyped-def]
        return g(x) + g(x)

    assert twice(1.0) == 8.0


def test_the_reverse_sweep_asks_nobody_again() -> None:
    """Neither where iterations could run forwards, nor where values are computed again."""
    seen: list[float] = []

    def noted(x: float) -> float:
        seen.append(x)
        return 2.0 * x

    f = opaque(noted)

    def mapped(x: Any) -> Any:
        total = 0.0
        for i in range(len(x)):
            total += np.sin(x[i]) * stop_gradient(f(float(i)))
        return total

    def carried(x: float) -> float:
        for i in range(3):
            x = x * x * f(float(i + 1))
        return x

    for g, x, calls in ((jit_grad(mapped), np.ones(3), [0.0, 1.0, 2.0]),
                        (jit_grad(carried), 0.5, [1.0, 2.0, 3.0])):  # fmt: skip
        for _ in range(3):
            seen.clear()
            got = g(x)
            assert seen == calls
    # 4 (x^2 2)^2 6 squared: x^8 2^4 4^2 6
    assert np.isclose(got, 8 * 0.5**7 * 2.0**4 * 4.0**2 * 6.0)


def test_like_tells_what_comes_back() -> None:
    f = opaque(lambda x: (np.array([x, x]), 1), like=(np.zeros(1), 0))
    g = jit(lambda x: f(x)[0] * f(x)[1])
    np.testing.assert_array_equal(g(2.0), [2.0, 2.0])
    wrong = opaque(lambda x: 1, like=(0.0, 0.0))
    with pytest.raises(JitadTypeError, match="gave an int, but is declared to give"):
        jit(lambda x: wrong(x)[0])(2.0)


def test_what_comes_back_may_change() -> None:
    f = opaque(lambda x: 1 if x > 0.0 else 0.5)
    g = jit(lambda x: f(x) * 3)
    for x, want in ((1.0, 3), (-1.0, 1.5), (2.0, 3)):
        assert g(x) == want and type(g(x)) is type(want)


def test_what_no_kernel_can_hold() -> None:
    f = opaque(lambda x: "text")
    with pytest.raises(JitadTypeError, match="gave a str, which compiled code can't hold"):
        jit(lambda x: f(x))(1.0)


@BOTH
def test_its_arrays_are_its_own(run: Any) -> None:
    kept: list[Any] = []

    def greedy(a: Any) -> Any:
        a[0] = 100.0
        kept.append(a)
        return a

    f = opaque(greedy, like=np.zeros(1))

    def program(x: Any) -> Any:
        y = 1.0 * x
        z = f(y)
        z[1] = -1.0
        return y + z

    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(run(program)(x) if run is natively else grad_free(program)(x),
                                  [101.0, 1.0])  # fmt: skip
    np.testing.assert_array_equal(x, [1.0, 2.0])


def grad_free(program: Any) -> Any:
    """As the eager engine runs it, beside a number that is differentiated."""

    def run(x: Any) -> Any:
        out: list[Any] = []

        def f(t: float) -> float:
            out.append(program(np.array(x)))
            return t

        grad(f)(1.0)
        return out[0]

    return run


@BOTH
def test_exceptions_leave_the_kernel(run: Any) -> None:
    def careful(x: float) -> float:
        if x > 3.0:
            raise KeyError("too large")
        return x

    f = opaque(careful)

    def program(x: float, n: int) -> float:
        total = 0.0
        for i in range(n):
            total += stop_gradient(f(x + i)) * x
        return total

    g = run(grad(program))
    assert g(1.0, 3) == 6.0
    with pytest.raises(KeyError, match="too large"):
        g(1.0, 4)


def test_the_function_may_be_exchanged() -> None:
    holder = {"f": opaque(lambda x: x + 1.0)}
    g = jit(lambda x: holder["f"](x))
    assert g(1.0) == 2.0
    holder["f"] = opaque(lambda x: x + 2.0)
    assert g(1.0) == 3.0


def test_a_closure_over_a_traced_value_is_refused() -> None:
    def f(x: float, y: float) -> float:
        return opaque(lambda t: t + x)(y)

    with pytest.raises(JitadError, match="closes over a value that is traced"):
        jit(f)(1.0, 2.0)


# -- policies -------------------------------------------------------------------------------------

FINE: dict[str, tuple[Any, float, float]] = {
    "a predicate": (lambda x: x * x if is_large(x) else 2.0 * x, 3.5, 7.0),
    "a branch not taken": (lambda x: square(x) if x > 10.0 else 3.0 * x, 3.5, 3.0),
    "a symbolic zero": (lambda x: x * stop_gradient(square(x)), 3.5, 12.25),
    "an unused value": (lambda x: [square(x), 2.0 * x][1], 3.5, 2.0),
    "a constant": (lambda x: x * square(2.0), 3.5, 4.0),
    "a loop of no iterations": (lambda x: sum([square(x) for _ in range(0)], 2.0 * x), 3.5, 2.0),
}


@pytest.mark.parametrize("d", [grad, derivative])
@pytest.mark.parametrize("name", FINE)
@BOTH
def test_what_does_not_reach_the_result_is_fine(run: Any, name: str, d: Any) -> None:
    f, x, want = FINE[name]
    assert run(d(f))(x) == want


def test_the_side_of_where_that_is_not_taken() -> None:
    """Eagerly it is known; on a tape both sides count."""
    f = lambda x: np.where(x > 10.0, square(x), 3.0 * x)
    assert grad(f)(3.5) == derivative(f)(3.5) == 3.0
    for d in (grad, derivative):
        with pytest.raises(JitadTypeError, match="no derivative rule is known"):
            jit(d(f))(3.5)


REACHED: dict[str, tuple[Any, float]] = {
    "itself": (lambda x: square(x), 3.0),
    "a factor": (lambda x: x * square(x), 3.0),
    "a branch taken": (lambda x: square(x) if x > 10.0 else 3.0 * x, 11.0),
    "a numeric zero": (lambda x: 0.0 * square(x) + x, 3.0),
    "through an array": (lambda x: np.sum(np.array([x, square(x)])), 3.0),
    "a derivative inside": (lambda x: grad(lambda y: y * square(x))(2.0), 3.0),
}


ORDERS = [grad, derivative, lambda f: grad(grad(f)), lambda f: derivative(derivative(f)),
          lambda f: derivative(grad(f))]  # fmt: skip


@pytest.mark.parametrize("d", ORDERS)
@pytest.mark.parametrize("name", REACHED)
@BOTH
def test_what_reaches_the_result_is_refused(run: Any, name: str, d: Any) -> None:
    f, x = REACHED[name]
    with pytest.raises(JitadTypeError, match="no derivative rule is known for <lambda>"):
        run(d(f))(x)


@BOTH
def test_all_that_are_missing_are_named(run: Any) -> None:
    def one(x: float) -> float:
        return x

    def two(x: float) -> float:
        return x

    f, g = opaque(one), opaque(two)
    for d in (grad, derivative):
        with pytest.raises(JitadTypeError, match=r"for (one|two) .* and (two|one) .*them"):
            run(d(lambda x: f(x) * g(x)))(3.0)
        for policy in ("active", "met"):
            with (
                unknown_policy(policy),
                pytest.raises(JitadTypeError, match=r"one .* and two .*, and by policy"),
            ):
                run(d(lambda x: stop_gradient(f(x) * g(x)) * x))(3.0)


@BOTH
def test_policies(run: Any) -> None:
    predicate = lambda x: x * x if is_large(x) else 2.0 * x
    constant = lambda x: x * square(2.0)
    p, c = run(grad(predicate)), run(grad(constant))
    for _ in range(2):  # compiled functions notice the change
        assert p(3.5) == 7.0 and c(3.5) == 4.0
        with unknown_policy("active"):
            assert c(3.5) == 4.0
            with pytest.raises(JitadTypeError, match="nothing that is differentiated may be given"):
                p(3.5)
        with unknown_policy("met"):
            for g in (p, c):
                with pytest.raises(JitadTypeError, match="differentiated code may not call"):
                    g(3.5)
            assert run(predicate)(3.5) == 12.25  # no derivative is taken
    strict = opaque(lambda x: True, policy="active")
    with pytest.raises(JitadTypeError, match="by policy"):
        run(grad(lambda x: x if strict(x) else 0.0))(1.0)
    with unknown_policy("met"):
        lenient = opaque(lambda x: True, policy="reached")
        assert run(grad(lambda x: x if lenient(x) else 0.0))(1.0) == 1.0


@BOTH
def test_a_policy_of_ones_own(run: Any) -> None:
    met: list[Any] = []

    def policy(f: Any, *args: Any) -> Any:
        met.append(f)
        return "active" if f is square.f else None

    with unknown_policy(policy):
        assert run(grad(lambda x: x if is_large(x) else 2.0 * x))(3.5) == 1.0
        with pytest.raises(JitadTypeError, match="by policy"):
            run(grad(lambda x: x + stop_gradient(square(x))))(3.5)
    assert is_large.f in met and square.f in met

    class Stop(Exception):
        pass

    def stops(f: Any, *args: Any) -> Any:
        raise Stop

    with unknown_policy(stops), pytest.raises(Stop):
        run(grad(lambda x: x if is_large(x) else 2.0 * x))(3.5)


def test_policies_have_names() -> None:
    for wrong in (lambda: unknown_policy("never").__enter__(), lambda: opaque(abs, policy="never")):
        with pytest.raises(JitadValueError, match="'never' is no policy"):
            wrong()


# -- primitives -----------------------------------------------------------------------------------


@primitive
def distance(x: float, y: float) -> float:
    return float(np.hypot(x, y))


@distance.defjvp
def distance_jvp(primals: Any, tangents: Any) -> Any:
    (x, y), (dx, dy) = primals, tangents
    r = distance(x, y)
    return r, 10.0 * (x * dx + y * dy) / r


@primitive
def distance_back(x: float, y: float) -> float:
    return float(np.hypot(x, y))


distance_back.defvjp(
    lambda x, y: (r := distance_back(x, y), (x, y, r)),
    lambda kept, ct: (10.0 * ct * kept[0] / kept[2], 10.0 * ct * kept[1] / kept[2]),
)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("f", [distance, distance_back])
def test_a_primitive_has_the_derivative_of_its_rule(f: Any, engine: str) -> None:
    run = ENGINES[engine]
    # 10 x / r, whose derivative, r being the primitive again, is 10 / r - 100 x^2 / r^3
    assert run(f, 3.0, 4.0) == 5.0
    np.testing.assert_allclose(run(grad(f, (0, 1)), 3.0, 4.0), (6.0, 8.0), rtol=1e-14)
    np.testing.assert_allclose(run(derivative(f), 3.0, 4.0), 6.0, rtol=1e-14)
    for second in (grad(grad(f)), derivative(grad(f)), grad(derivative(f)),
                   derivative(derivative(f))):  # fmt: skip
        np.testing.assert_allclose(run(second, 3.0, 4.0), -5.2, rtol=1e-14)

    def walk(x: float, n: int) -> float:
        s = 1.0
        for _ in range(n):
            s = f(s, x) / 8.0
        return s

    def by_hand(x: float, n: int) -> float:
        s, ds = 1.0, 0.0
        for _ in range(n):
            r = np.hypot(s, x)
            s, ds = r / 8.0, 10.0 * (s * ds + x) / r / 8.0
        return ds

    for d in (grad(walk), derivative(walk)):
        np.testing.assert_allclose(run(d, 3.0, 4), by_hand(3.0, 4), rtol=1e-13)


@BOTH
def test_a_primitive_of_arrays(run: Any) -> None:
    @primitive
    def ordered(x: Any) -> Any:
        return np.sort(x)

    @ordered.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents
        order = ranks(x)
        return ordered(x), t[order]

    ranks = opaque(lambda x: np.argsort(x), like=np.zeros(1, int))
    weights = np.array([1.0, 10.0, 100.0])
    g = run(grad(lambda x: np.sum(ordered(x * x) * weights)))
    for _ in range(2):
        np.testing.assert_array_equal(g(np.array([3.0, -1.0, 2.0])), [600.0, -2.0, 40.0])


def test_a_primitive_without_rules_is_opaque() -> None:
    f = primitive(lambda x: x * x)
    assert f(3.0) == 9.0
    for g in (grad(f), jit_grad(f)):
        with pytest.raises(JitadTypeError, match="no derivative rule is known"):
            g(3.0)


# -- functions of libraries -----------------------------------------------------------------------


@BOTH
def test_a_ufunc_without_a_rule_is_an_unknown_function(run: Any) -> None:
    """Here `wright_bessel(0, 1, x)` is exp(x), and `wright_bessel(0, 2, x)` the same."""
    by_size = run(grad(lambda x: x * x if wright_bessel(0, 1, x) > 2.0 else -x))
    assert by_size(0.9) == pytest.approx(1.8) and by_size(0.2) == -1.0

    def weighted(x: Any) -> Any:
        return np.sum(x * stop_gradient(wright_bessel(0, 2, x))) + wright_bessel(0, 1, 0.5) * x[0]

    x = np.array([0.1, 0.4, 0.8])
    expected = np.exp(x) + [np.exp(0.5), 0.0, 0.0]
    for _ in range(2):
        np.testing.assert_allclose(run(grad(weighted))(x), expected, rtol=1e-14)

    def summed(x: float, at: Any) -> Any:
        total = 0.0
        for v in at:
            total += x * wright_bessel(0, 1, v)
        return total

    assert run(grad(summed))(2.0, x) == pytest.approx(np.exp(x).sum())
    with pytest.raises(JitadTypeError, match="no derivative rule is known for wright_bessel"):
        run(grad(lambda x: x * wright_bessel(0, 1, x)))(0.2)
    with unknown_policy("met"), pytest.raises(JitadTypeError, match="by policy"):
        run(grad(lambda x: x * wright_bessel(0, 1, 0.5 * x) if x > 1.0 else x))(2.0)


@BOTH
def test_an_opaque_function_that_is_made_on_the_way(run: Any) -> None:
    def f(x: Any) -> Any:
        falling = opaque(lambda a: np.sort(a)[::-1])
        return np.sum(falling(stop_gradient(x)) * x)

    np.testing.assert_array_equal(run(grad(f))(np.array([1.0, 3.0, 2.0])), [3.0, 2.0, 1.0])
