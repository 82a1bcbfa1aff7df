"""Are the derivatives of the programs in `ventures.py` right, in both engines and both modes?"""

from tests.users import ventures
from tests.users.running import cases, check


@cases(ventures.catalogue)
def test_program(name, engine):
    check(ventures.__name__, name, engine)
