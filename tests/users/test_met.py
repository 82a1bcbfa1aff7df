"""Are the derivatives of the programs in `met.py` right, in both engines and both modes?"""

from tests.users import met
from tests.users.running import cases, check


@cases(met.catalogue)
def test_program(name, engine):
    check(met.__name__, name, engine)
