"""Are the derivatives of the programs in `courses.py` right, in both engines and both modes?"""

from tests.users import courses
from tests.users.running import cases, check


@cases(courses.catalogue, ("eager", "emitted"))
def test_program(name, engine):
    check(courses.__name__, name, engine)
