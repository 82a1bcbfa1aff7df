"""Is the catalogue of users' programs as large as it should be, and how much of it is compiled?"""

from tests.programs import NOT_COMPILED, USERS
from tests.truth import leaves


def test_size():
    assert len(USERS) >= 150
    assert len(NOT_COMPILED) <= 0.05 * len(USERS)
    assert NOT_COMPILED.keys() <= USERS.keys()
    assert all(leaves(p.sample()) for p in USERS.values())
