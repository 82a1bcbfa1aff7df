"""Are the derivatives of the programs in `keeping.py` right, in both engines and both modes?"""

from tests.users import keeping
from tests.users.running import cases, check


@cases(keeping.catalogue, ("eager", "emitted"))
def test_program(name, engine):
    check(keeping.__name__, name, engine)
