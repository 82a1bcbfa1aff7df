"""Which programs do people write that keep in dicts and lists what they come across?"""

import itertools
import math
from collections import Counter, defaultdict

from tests.catalogue.entry import Catalogue, array, scalar

catalogue = Catalogue()
program = catalogue.add


@program(array(6, 2, low=0.0, high=4.0), scalar(0.9, 1.1), truth="differences")
def spatial_hash_repulsion(p, cell):
    grid = defaultdict(list)
    for i in range(len(p)):
        key = (int(p[i, 0] // cell), int(p[i, 1] // cell))
        grid[key].append(i)
    energy = 0.0
    for i in range(len(p)):
        cx, cy = int(p[i, 0] // cell), int(p[i, 1] // cell)
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                for j in grid.get((cx + dx, cy + dy), []):
                    if j > i:
                        d = p[i] - p[j]
                        energy += math.exp(-(d @ d))
    return energy


@program(array(8, low=0.0, high=4.0), truth="differences")
def counter_of_generator_and_elements(x):
    c = Counter(int(v) for v in x if v > 0.5)
    most = max(c, key=c.get)
    return sum(v for v in x if int(v) == most) ** 2 + c[most] * x[0]


@program(array(6, low=0.1, high=3.9), truth="differences")
def transitions_by_pair(x):
    states = [int(v) for v in x]
    counts = defaultdict(float)
    for a, b, w in zip(states, states[1:], x):
        counts[a, b] += w
    return sum((a + 1) * (b + 2) * w * w for (a, b), w in counts.items())


@program(array(15, low=-1.0, high=1.0), truth="differences")
def zigzag_indicator(prices):
    pivots = [(0, prices[0])]
    direction = 0
    for i in range(1, len(prices)):
        p = prices[i]
        last = pivots[-1][1]
        if direction >= 0 and p > last:
            pivots[-1] = (i, p)
            direction = 1
        elif direction <= 0 and p < last:
            pivots[-1] = (i, p)
            direction = -1
        elif abs(p - last) > 0.3:
            pivots.append((i, p))
            direction = 1 if p > last else -1
    return sum((b - a) ** 2 / (j - i) for (i, a), (j, b) in itertools.pairwise(pivots))


@program(array(8, low=0.0, high=9.0), truth="differences")
def interval_merge(x):
    spans = sorted((a, a + 1.5) for a in x)
    merged = [spans[0]]
    for a, b in spans[1:]:
        if a <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(b, merged[-1][1]))
        else:
            merged.append((a, b))
    return sum((b - a) ** 2 for a, b in merged)
