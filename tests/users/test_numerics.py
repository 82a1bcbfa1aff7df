"""Are the derivatives of the programs in `numerics.py` right, in both engines and both modes?"""

from tests.users import numerics
from tests.users.running import cases, check


@cases(numerics.catalogue)
def test_program(name, engine):
    check(numerics.__name__, name, engine)
