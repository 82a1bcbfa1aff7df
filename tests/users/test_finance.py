"""Are the derivatives of the programs in `finance.py` right, in both engines and both modes?"""

from tests.users import finance
from tests.users.running import cases, check


@cases(finance.catalogue)
def test_program(name, engine):
    check(finance.__name__, name, engine)
