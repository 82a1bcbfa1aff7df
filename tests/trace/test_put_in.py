"""Does a list take in others as Python's does, if only the kernel knows how long they are?"""

from collections import deque

import numpy as np
import pytest

from tests.trace.running import kernel_or_refusal


def longer(x):
    return [v for v in (x, 2 * x, 0.4, 3 * x) if v > 0.5]


def behind_one(x):
    l = [1.0]
    l[1:] = longer(x)
    return len(l) * 10 + sum(l)


def between_two(x):
    l = [1.0, 5.0, 7.0]
    l[1:2] = longer(x)
    return len(l) * 10 + sum((k * v for k, v in enumerate(l)))


def in_place_of_all(x):
    l = [1.0, 5.0, 7.0]
    l[:] = longer(x)
    return len(l) * 10 + sum(l)


def of_a_generator(x):
    l = [1.0, 5.0, 7.0]
    l[1:] = (v for v in longer(x))
    return len(l) * 10 + sum(l)


def of_its_own_elements(x):
    l = [1.0, 5.0, 7.0]
    l[1:] = (v for v in l if v * x > 2.0)
    return len(l) * 10 + sum(l)


def beyond_its_end(x):
    l = [1.0, 5.0, 7.0]
    l[5:] = longer(x)
    l[0:0] = longer(x * 2)
    return len(l) * 10 + sum((k * v for k, v in enumerate(l)))


def before_its_start(x):
    l = [1.0, 5.0, 7.0]
    l[2:1] = longer(x)
    return len(l) * 10 + sum((k * v for k, v in enumerate(l)))


def mapped(x):
    l = [1.0, 5.0, 7.0]
    l[:] = map(lambda v: v * 2, longer(x))
    return len(l) * 10 + sum((k * v for k, v in enumerate(l)))


def by_steps(x):
    l = [1.0, 5.0, 7.0]
    l[::2] = (longer(x) + [9.0, 8.0])[:2]
    return len(l) * 10 + sum((k * v for k, v in enumerate(l)))


def added(x):
    d = {"a": longer(x)}
    l = [0.0]
    l += d["a"]
    l.extend(v for v in longer(x) if v > 1)
    return len(l) + sum(l)


def in_a_list_of_lists(x):
    l = [[1.0], [2.0]]
    l[0][1:] = longer(x)
    return sum(map(len, l)) + sum(map(sum, l))


def backwards(x):
    l = [1.0, 5.0, 7.0]
    l[1:] = reversed(longer(x))
    return len(l) * 10 + sum((k * v for k, v in enumerate(l)))


def under_another_name(x):
    l = [1.0, 5.0, 7.0]
    m = l
    m[1:] = sorted(longer(x))
    return len(l) * 10 + sum((k * v for k, v in enumerate(l)))


def of_arrays(x):
    l = [1.0, 5.0, 7.0]
    a = np.array([x, 2 * x, 3 * x])
    l[1:] = a
    l[0:1] = a[a > 1.0]
    return len(l) * 10 + sum((k * v for k, v in enumerate(l)))


def into_a_deque(x):
    q = deque([1.0])
    q.extend(longer(x))
    q.extendleft(longer(2 * x))
    q += longer(x)
    return len(q) + sum((k * v for k, v in enumerate(q)))


def on_one_path(x):
    l = [1.0, 5.0, 7.0]
    if x > 0.3:
        l[1:] = longer(x)
    return len(l) * 10 + sum((k * v for k, v in enumerate(l)))


FUNCTIONS = [
    behind_one,
    between_two,
    in_place_of_all,
    of_a_generator,
    of_its_own_elements,
    beyond_its_end,
    before_its_start,
    mapped,
    by_steps,
    added,
    in_a_list_of_lists,
    backwards,
    under_another_name,
    of_arrays,
    into_a_deque,
    on_one_path,
]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_it_is_a_kernel(f):
    assert kernel_or_refusal(f, (0.32, 0.8, 0.1), "none is refused")
