"""Are the derivatives of the programs in `collecting.py` right, in both engines and both modes?"""

from tests.users import collecting
from tests.users.running import cases, check


@cases(collecting.catalogue)
def test_program(name, engine):
    check(collecting.__name__, name, engine)
