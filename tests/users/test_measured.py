"""Are the derivatives of the programs in `measured.py` right, in both engines and both modes?"""

from tests.users import measured
from tests.users.running import cases, check


@cases(measured.catalogue)
def test_program(name, engine):
    check(measured.__name__, name, engine)
