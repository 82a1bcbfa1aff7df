"""Are the derivatives of the programs in `researched.py` right, in both engines and both modes?"""

from tests.users import researched
from tests.users.running import cases, check


@cases(researched.catalogue)
def test_program(name, engine):
    check(researched.__name__, name, engine)
