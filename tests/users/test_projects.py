"""Are the derivatives of the programs in `projects.py` right, in both engines and both modes?"""

from tests.users import projects
from tests.users.running import cases, check


@cases(projects.catalogue, ("eager", "emitted"))
def test_program(name, engine):
    check(projects.__name__, name, engine)
