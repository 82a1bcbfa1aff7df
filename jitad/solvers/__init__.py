"""What stands in for the functions of SciPy that call the user's: `brentq`, `quad`, `solve_ivp`?

Importing this enters them all: the solvers here, and those that are refused.
"""

from jitad.solvers import courses as courses
from jitad.solvers import entered as entered
from jitad.solvers import events as events
from jitad.solvers import integrals as integrals
from jitad.solvers import lowest as lowest
from jitad.solvers import minima as minima
from jitad.solvers import refused as refused
from jitad.solvers import roots as roots
from jitad.solvers import systems as systems
