"""Are the derivatives of the programs in `surveyed.py` right, in both engines and both modes?"""

from tests.users import surveyed
from tests.users.running import cases, check


@cases(surveyed.catalogue)
def test_program(name, engine):
    check(surveyed.__name__, name, engine)
