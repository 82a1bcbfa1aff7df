"""Are the derivatives of the programs in `searched.py` right, in both engines and both modes?"""

from tests.users import searched
from tests.users.running import cases, check


@cases(searched.catalogue)
def test_program(name, engine):
    check(searched.__name__, name, engine)
