"""Are the derivatives of the programs in `machinelearning.py` right, both engines, both modes?"""

from tests.users import machinelearning
from tests.users.running import cases, check


@cases(machinelearning.catalogue)
def test_program(name, engine):
    check(machinelearning.__name__, name, engine)
