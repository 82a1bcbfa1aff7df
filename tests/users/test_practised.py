"""Are the derivatives of the programs in `practised.py` right, in both engines and both modes?"""

from tests.users import practised
from tests.users.running import cases, check


@cases(practised.catalogue)
def test_program(name, engine):
    check(practised.__name__, name, engine)
