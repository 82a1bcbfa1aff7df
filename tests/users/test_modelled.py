"""Are the derivatives of the programs in `modelled.py` right, in both engines and both modes?"""

from tests.users import modelled
from tests.users.running import cases, check


@cases(modelled.catalogue, ("eager", "emitted"))
def test_program(name, engine):
    check(modelled.__name__, name, engine)
