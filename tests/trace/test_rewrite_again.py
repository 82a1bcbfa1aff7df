"""A definition that is rewritten is given away: is it whole when it is asked for again?"""

from jitad import jit_grad
from jitad.trace.rewrite import twin_source
from jitad.trace.syntax.nodes import below
from jitad.trace.syntax.source import definition

first, second = lambda x: 2.0 * x, lambda x: x * x + 3.0


def decorated(f):
    return f


@decorated
def outer(x, y=2.0):
    def inner(z):
        return z * x

    return inner(y) + y


def texts_twice(f):
    return twin_source(f), twin_source(f)


def test_what_was_given_away_is_parsed_again():
    for f in (first, second, outer, decorated, first):
        once, again = texts_twice(f)
        assert (once == again and "_jh_" in once) or f is decorated
        node, other = definition(f)[0], definition(f)[0]
        assert not set(map(id, below(node))) & set(map(id, below(other)))


def test_lambdas_of_one_line_are_told_apart_when_one_was_given_away():
    assert "2.0" in twin_source(first)
    assert "3.0" in twin_source(second)
    assert "2.0" in twin_source(first)


def test_a_nested_function_is_found_after_the_one_around_it():
    assert jit_grad(outer)(3.0) == 2.0
    made = outer.__code__.co_consts
    assert any(getattr(c, "co_name", "") == "inner" for c in made)


def test_a_function_is_rewritten_by_the_globals_it_has():
    """`sum` in the globals gives a twin of its own, of the same code."""
    from types import FunctionType

    def total(x):
        return sum((x, 2.0 * x))

    mine = {**globals(), "sum": lambda v: 10.0 * v[0]}
    other = FunctionType(total.__code__, mine, "total")
    assert jit_grad(total)(1.0) == 3.0
    assert jit_grad(other)(1.0) == 10.0
    assert jit_grad(total)(2.0) == 3.0
