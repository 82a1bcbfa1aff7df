"""Are the derivatives of the programs in `gridded.py` right, in both engines and both modes?"""

from tests.users import gridded
from tests.users.running import cases, check


@cases(gridded.catalogue)
def test_program(name, engine):
    check(gridded.__name__, name, engine)
