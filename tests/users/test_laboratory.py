"""Are the derivatives of the programs in `laboratory.py` right, in both engines and both modes?"""

from tests.users import laboratory
from tests.users.running import cases, check


@cases(laboratory.catalogue)
def test_program(name, engine):
    check(laboratory.__name__, name, engine)
