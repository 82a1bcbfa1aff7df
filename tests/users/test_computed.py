"""Are the derivatives of the programs in `computed.py` right, in both engines and both modes?"""

from tests.users import computed
from tests.users.running import cases, check


@cases(computed.catalogue, ("eager", "emitted"))
def test_program(name, engine):
    check(computed.__name__, name, engine)
