"""Are the derivatives of the programs in `sequences.py` right, in both engines and both modes?"""

from tests.users import sequences
from tests.users.running import cases, check


@cases(sequences.catalogue)
def test_program(name, engine):
    check(sequences.__name__, name, engine)
