"""Are the derivatives of the programs in `physics.py` right, in both engines and both modes?"""

from tests.users import physics
from tests.users.running import cases, check


@cases(physics.catalogue)
def test_program(name, engine):
    check(physics.__name__, name, engine)
