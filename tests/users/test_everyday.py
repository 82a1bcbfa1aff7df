"""Are the derivatives of the programs in `everyday.py` right, in both engines and both modes?"""

from tests.users import everyday
from tests.users.running import cases, check


@cases(everyday.catalogue, ("eager", "emitted"))
def test_program(name, engine):
    check(everyday.__name__, name, engine)
