"""Are the derivatives of the programs in `objects.py` right, in both engines and both modes?"""

from tests.users import objects
from tests.users.running import cases, check


@cases(objects.catalogue, ("eager", "emitted"))
def test_program(name, engine):
    check(objects.__name__, name, engine)
