"""Are the derivatives of the programs in `statistics.py` right, in both engines and both modes?"""

from tests.users import statistics
from tests.users.running import cases, check


@cases(statistics.catalogue)
def test_program(name, engine):
    check(statistics.__name__, name, engine)
