"""Are the derivatives of the programs in `machines.py` right, in both engines and both modes?"""

from tests.users import machines
from tests.users.running import cases, check


@cases(machines.catalogue, ("eager", "emitted"))
def test_program(name, engine):
    check(machines.__name__, name, engine)
