"""Do the sweeps agree with the truth on many random tapes?  `python -m tests.sweeps 1000 [seed]`

Reports the mix of features, and for every kind of failure the seed of the shortest tape.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter

from jitad.tape.ir import Tape
from jitad.tape.show import show
from tests.sweeps.checks import Unsuitable, check, pipeline_keeps_meaning
from tests.sweeps.counting import length
from tests.sweeps.random_tapes import Case, make
from tests.sweeps.truth import AtKink

LONGEST = 250  # equations: what is longer only takes time


def of_seed(seed: int) -> Case:
    return make(random.Random(seed).randint)


def main(count: int, first: int = 0) -> int:
    """The number of failures."""
    outcome: Counter[str] = Counter()
    features: Counter[str] = Counter()
    shortest: dict[str, tuple[int, int, str]] = {}
    for seed in range(first, first + count):
        case = of_seed(seed)
        size = length(case.block)
        if size > LONGEST:
            outcome["too long"] += 1
            continue
        features.update(case.features)
        try:
            pipeline_keeps_meaning(case.block, case.args, case.active)
            check(case.block, case.args, case.active, zeros=case.zeros)
            outcome["right"] += 1
        except (AtKink, Unsuitable) as e:
            outcome[type(e).__name__] += 1
        except Exception as e:
            outcome["FAILED"] += 1
            kind = f"{type(e).__name__}: {re.sub(r'[-+0-9.e]+', '#', str(e))[:60]}"
            shortest[kind] = min(shortest.get(kind, (size, seed, str(e))), (size, seed, str(e)))
        if (seed - first) % 100 == 99:
            print(f"{seed - first + 1} tapes: {dict(outcome)}", flush=True)
    print("features:", dict(features.most_common()))
    for size, seed, message in sorted(shortest.values()):
        case = of_seed(seed)
        print(f"\nseed {seed}, {size} equations: {message}\nactive={case.active} args={case.args}")
        if size < 100:
            print(show(Tape("random", case.block)))
    return outcome["FAILED"]


if __name__ == "__main__":
    sys.exit(min(main(*map(int, sys.argv[1:])), 1))
