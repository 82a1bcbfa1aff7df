"""Are the derivatives of the programs in `endeavours.py` right, in both engines and both modes?"""

from tests.users import endeavours
from tests.users.running import cases, check


@cases(endeavours.catalogue)
def test_program(name, engine):
    check(endeavours.__name__, name, engine)
