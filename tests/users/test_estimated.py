"""Are the derivatives of the programs in `estimated.py` right, in both engines and both modes?"""

from tests.users import estimated
from tests.users.running import cases, check


@cases(estimated.catalogue, ("eager", "emitted"))
def test_program(name, engine):
    check(estimated.__name__, name, engine)
