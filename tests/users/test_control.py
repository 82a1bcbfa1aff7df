"""Are the derivatives of the programs in `control.py` right, in both engines and both modes?"""

from tests.users import control
from tests.users.running import cases, check


@cases(control.catalogue, ("eager", "emitted"))
def test_program(name, engine):
    check(control.__name__, name, engine)
