"""Are the derivatives of the programs in `idioms.py` right, in both engines and both modes?"""

from tests.users import idioms
from tests.users.running import cases, check


@cases(idioms.catalogue)
def test_program(name, engine):
    check(idioms.__name__, name, engine)
