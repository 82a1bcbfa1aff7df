"""Are the derivatives of the programs in `assembled.py` right, in both engines and both modes?"""

from tests.users import assembled
from tests.users.running import cases, check


@cases(assembled.catalogue)
def test_program(name, engine):
    check(assembled.__name__, name, engine)
