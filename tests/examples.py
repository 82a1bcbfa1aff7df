"""How many random examples does a test try?

They are the same each time, so that after the first run they find only what a change breaks: few
will do for that.  More of them: `JITAD_EXAMPLES=10 python -m pytest tests/sweeps/test_random.py`
tries ten times as many.
"""

import os

_TIMES = int(os.environ.get("JITAD_EXAMPLES", "1"))


def examples(few: int) -> int:
    return _TIMES * few
