"""Are the derivatives of the programs in `pythonic.py` right, in both engines and both modes?"""

from tests.users import pythonic
from tests.users.running import cases, check


@cases(pythonic.catalogue)
def test_program(name, engine):
    check(pythonic.__name__, name, engine)
