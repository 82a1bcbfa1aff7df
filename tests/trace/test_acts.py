"""Do kernels log, warn and read clocks as plain Python does: when they run, in order, once each?"""

import contextlib
import io
import logging
import sys
import time
import warnings

import numpy as np
import pytest

import jitad
from jitad import JitadError

logger = logging.getLogger("jitad.tests.acts")
ENGINES = [jitad.value_and_grad, jitad.jit_value_and_grad]


class Kept(logging.Handler):
    def __init__(self):
        super().__init__()
        self.seen = []

    def emit(self, record):
        self.seen.append((record.levelname, record.getMessage(), record.filename, record.lineno))


@pytest.fixture
def records():
    kept = Kept()
    logger.addHandler(kept)
    logger.setLevel(logging.DEBUG)
    yield kept.seen
    logger.removeHandler(kept)
    logger.setLevel(logging.NOTSET)


def logged(x):
    total = 0.0
    for k in range(len(x)):
        total += x[k] ** 2
        logger.debug("element %d: %.2f", k, total)
        if total > 4.0:
            logger.warning(f"large: {total}")
            break
    logger.log(logging.INFO, "%s %s", x, {"total": total})
    return total


def warned(x):
    if x > 2.0:
        warnings.warn(f"{x} is large", RuntimeWarning)  # noqa: B028  (this line is to be named)
    return x * x


@pytest.mark.parametrize("operator", ENGINES)
def test_log_records_are_those_of_python(operator, records):
    g = operator(logged)
    for x in (np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.5, 0.5])):
        g(x)  # traced the first time, run by a kernel then
        records.clear()
        logged(x)
        expected = list(records)
        records.clear()
        value, slope = g(x)
        assert records == expected
    assert value == 3.5
    np.testing.assert_allclose(slope, 2.0 * x)


@pytest.mark.parametrize("operator", ENGINES)
def test_warnings_are_given_when_they_are_due(operator):
    g = operator(warned)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert g(1.0) == (1.0, 2.0)  # what the trace meets is not what happens
    for x in (3.0, 4.0):
        with pytest.warns(RuntimeWarning, match=f"{x} is large") as found:
            assert g(x) == (x * x, 2.0 * x)
        (one,) = found
        assert one.filename == __file__
        assert one.lineno == warned.__code__.co_firstlineno + 2


@pytest.mark.parametrize("operator", ENGINES)
def test_a_warning_that_is_an_error(operator):
    g = operator(warned)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        g(1.0)
        with pytest.raises(RuntimeWarning, match="is large"):
            g(3.0)


@pytest.mark.parametrize("operator", ENGINES)
def test_filters_of_a_with(operator):
    def quiet(x):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y = warned(x)
        return y * y

    g = operator(quiet)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in (1.0, 3.0, 3.0):
            assert g(x) == pytest.approx((x**4, 4.0 * x**3))


def test_filters_for_good_are_refused():
    def silenced(x):
        warnings.simplefilter("ignore")
        return x * x

    with pytest.raises(JitadError, match="simplefilter acts on the world"):
        jitad.jit_grad(silenced)(1.0)


@pytest.mark.parametrize("operator", ENGINES)
def test_clocks_run(operator):
    def timed(x, verbose):
        start, ticks = time.perf_counter(), time.time_ns()
        total = 0.0
        for v in x:
            total += v * v
        if verbose:
            took = time.perf_counter() - start
            print("took", took > 0.0, time.time_ns() >= ticks, time.time() > 1.6e9)
        return total

    g = operator(timed)
    for verbose in (True, True, False):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            value, slope = g(np.array([1.0, 2.0]), verbose)
        assert said.getvalue() == ("took True True True\n" if verbose else "")
        assert value == 5.0
        np.testing.assert_allclose(slope, [2.0, 4.0])


def test_a_clock_that_nobody_looks_at_is_not_asked():
    def timed(x):
        start = time.perf_counter()
        y = x * x
        time.perf_counter() - start
        return y

    g = jitad.jit_grad(timed)
    assert g(3.0) == 6.0
    assert "ask" not in g.source.partition("\n\n\n")[2]


def test_time_passes_between_iterations():
    def waits(x):
        last, grown = time.perf_counter_ns(), 0
        for _ in range(50):
            x = 1.01 * x
            now = time.perf_counter_ns()
            grown += now > last
            last = now
        return x * float(grown)

    assert jitad.jit_grad(waits)(1.0) > 30.0 * 1.01**50


@pytest.mark.parametrize("operator", ENGINES)
def test_levels_are_asked_for_at_each_call(operator, records):
    def careful(x):
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug("x = %s", x)
        return x * x

    g = operator(careful)
    g(3.0)
    logger.setLevel(logging.WARNING)
    records.clear()
    g(3.0)
    assert records == []
    logger.setLevel(logging.DEBUG)
    g(3.0)
    assert [r[1] for r in records] == ["x = 3.0"]


@pytest.mark.parametrize("operator", ENGINES)
def test_written_to_standard_output(operator, capsys):
    def talks(x):
        sys.stdout.write(f"x is {x:.1f}\n")
        print("and", x, file=sys.stderr)
        return x * x

    g = operator(talks)
    g(2.0)
    capsys.readouterr()
    g(3.0)
    assert capsys.readouterr() == ("x is 3.0\n", "and 3.0\n")


def test_an_adapter_and_a_subclass(records):
    class Named(logging.LoggerAdapter):
        def process(self, msg, kwargs):
            return f"[{self.extra['name']}] {msg}", kwargs

    adapter = Named(logger, {"name": "fit"})

    def f(x):
        adapter.info("x = %g", x)
        return x * x

    g = jitad.jit_grad(f)
    g(1.0)
    records.clear()
    g(2.0)
    assert [r[1] for r in records] == ["[fit] x = 2"]


def test_tracebacks_are_refused():
    def f(x):
        try:
            return 1.0 / x
        except ZeroDivisionError:
            logger.error("no", exc_info=True)
            return 0.0

    with pytest.raises(JitadError, match="Log its text"):
        jitad.jit_grad(f)(1.0)


# -- floating-point errors and warnings that decide something -------------------------------------


def by_errstate(x):
    with np.errstate(divide="raise", invalid="raise"):
        try:
            return np.log(x).sum()
        except FloatingPointError:
            return 7.0 * x.sum()


def by_a_call(x):
    def called(*_):
        raise ValueError("called")

    with np.errstate(divide="call", invalid="call", call=called):
        try:
            return np.log(x).sum()
        except ValueError:
            return 7.0 * x.sum()


def by_warnings(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.log(x).sum()
        except RuntimeWarning:
            return 7.0 * x.sum()


def by_a_record(x):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        r = np.log(x).sum()
    return 7.0 * x.sum() if seen else r


@pytest.mark.filterwarnings("default:.*:RuntimeWarning")
@pytest.mark.parametrize("f", [by_errstate, by_a_call, by_warnings, by_a_record])
def test_what_numpy_raises_and_warns_of_is_not_overlooked(f):
    """What a kernel can't tell is refused, or left to NumPy; and never is the other path taken."""
    given = ([0.5, 1.5], [0.0, 1.5], [-1.0, 2.0])
    for x, slope in zip(map(np.array, given), ([2.0, 2 / 3], [7.0, 7.0], [7.0, 7.0]), strict=True):
        with pytest.raises(JitadError):
            jitad.jit_grad(f)(x)
        with pytest.warns(jitad.FallbackWarning):
            assert jitad.jit(f, fallback=True)(x) == f(x)
        try:
            found = jitad.grad(f)(x)
        except JitadError:
            assert f in (by_warnings, by_a_record)
            continue
        np.testing.assert_allclose(found, slope, rtol=1e-12)


def test_a_trace_leaves_errors_as_they_were():
    """Of two generators that are open at once, the one that is ended last restores the other's."""
    def f(x):
        def one():
            with np.errstate(all="ignore"):
                yield x[0]

        first, second = one(), one()
        r = next(first) * next(second)
        first.close()
        second.close()
        return r

    before = np.geterr()
    assert jitad.jit_grad(f)(np.array([3.0, 2.0])).tolist() == [6.0, 0.0]
    assert np.geterr() == before


def test_errors_that_are_ignored_may_be():
    def f(x):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.where(x > 0.0, np.log(x), 0.0).sum()

    assert jitad.jit_grad(f)(np.array([-1.0, 2.0])).tolist() == [0.0, 0.5]
