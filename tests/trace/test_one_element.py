"""Does `is`, and what asks it, tell elements of lists of unknown length from each other?

Elements are copies: it is their places that say which is which.
"""

import pytest

import jitad
from jitad.errors import JitadError
from tests.trace.test_written_elements import P, X, objects

EQUAL = [
    lambda ps: ps[0] == ps[0],
    lambda ps: ps[0] != ps[-1],
    lambda ps: ps[0] in ps,
    lambda ps: ps[0] in [ps[0]],
    lambda ps: (ps[0], 1.0) == (ps[0], 1.0),
    lambda ps: {"p": ps[0]} == {"p": ps[0]},
    lambda ps: ps.index(ps[-1]) > 1,
    lambda ps: [ps[0]].count(ps[-1]) > 0,
    lambda ps: ps[0] is ps[-1],
    lambda ps: ps[-1] is not ps[len(ps) - 1],
    lambda ps: sum(p is q for p in ps for q in ps) == len(ps),
]


@pytest.mark.parametrize("equal", EQUAL)
def test_what_is_equal_to_itself_alone_is_told_by_its_place(equal):
    f = lambda x: x[0] if equal(objects(x)) else x[1]
    assert jitad.jit(f, fallback=False)(X) == f(X)


COMPARED = [
    lambda ps: ps[0] in {ps[0]: 1.0},
    lambda ps: ps == list(ps),
    lambda ps: id(ps[0]) == id(ps[0]),
    lambda ps: {ps[0]: 1.0}.get(ps[0], 0.0) > 0.0,
    lambda ps: {1: 1.0}.get(ps[0], 0.0) > 0.0,
    lambda ps: ps[0] is [*ps, P(1.0, 1.0)][0],
    lambda ps: ps[0] is ps.pop(0),
]


@pytest.mark.parametrize("equal", COMPARED)
def test_what_is_equal_to_itself_alone_is_not_told_from_its_copy(equal):
    """Python compares objects without `__eq__` by where they are; elements are copies."""
    with pytest.raises(JitadError, match="they are copies"):
        jitad.jit(lambda x: x[0] if equal(objects(x)) else x[1], fallback=False)(X)
