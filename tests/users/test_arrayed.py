"""Are the derivatives of the programs in `arrayed.py` right, in both engines and both modes?"""

from tests.users import arrayed
from tests.users.running import cases, check


@cases(arrayed.catalogue)
def test_program(name, engine):
    check(arrayed.__name__, name, engine)
