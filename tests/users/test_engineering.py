"""Are the derivatives of the programs in `engineering.py` right, in both engines and both modes?"""

from tests.users import engineering
from tests.users.running import cases, check


@cases(engineering.catalogue)
def test_program(name, engine):
    check(engineering.__name__, name, engine)
