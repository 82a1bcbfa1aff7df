"""Are the derivatives of the programs in `mixed.py` right, in both engines and both modes?"""

from tests.users import mixed
from tests.users.running import cases, check


@cases(mixed.catalogue, ("eager", "emitted"))
def test_program(name, engine):
    check(mixed.__name__, name, engine)
