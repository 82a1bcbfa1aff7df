"""Are the derivatives of the programs in `tutorials.py` right, in both engines and both modes?"""

from tests.users import tutorials
from tests.users.running import cases, check


@cases(tutorials.catalogue)
def test_program(name, engine):
    check(tutorials.__name__, name, engine)
