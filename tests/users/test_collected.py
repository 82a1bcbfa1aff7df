"""Are the derivatives of the programs in `collected.py` right, in both engines and both modes?"""

from tests.users import collected
from tests.users.running import cases, check


@cases(collected.catalogue, ("eager", "emitted"))
def test_program(name, engine):
    check(collected.__name__, name, engine)
