"""Are the derivatives of the programs in `trades.py` right, in both engines and both modes?"""

from tests.users import trades
from tests.users.running import cases, check


@cases(trades.catalogue)
def test_program(name, engine):
    check(trades.__name__, name, engine)
