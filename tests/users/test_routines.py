"""Are the derivatives of the programs in `routines.py` right, in both engines and both modes?"""

from tests.users import routines
from tests.users.running import cases, check


@cases(routines.catalogue, ("eager", "emitted"))
def test_program(name, engine):
    check(routines.__name__, name, engine)
