"""Are the derivatives of the programs in `looked_up.py` right, in both engines and both modes?"""

from tests.users import looked_up
from tests.users.running import cases, check


@cases(looked_up.catalogue)
def test_program(name, engine):
    check(looked_up.__name__, name, engine)
