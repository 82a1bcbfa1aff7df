"""Are things that point at each other what they are in Python, where a condition chose one?

Lists that are linked both ways, trees whose nodes know their parents: what is made anew of such a
thing would have no end, so the things stay what they are.
"""

import pytest

from jitad import jit
from tests.trace.running import check


class Node:
    def __init__(self, x, parent=None):
        self.x, self.parent, self.children = x, parent, []
        self.before = self.after = None
        if parent is not None:
            parent.children.append(self)


class Linked:
    def __init__(self, values):
        self.first = self.last = None
        self.nodes = [self.append(v) for v in values]

    def append(self, x):
        node = Node(x)
        if self.last is None:
            self.first = node
        else:
            node.before, self.last.after = self.last, node
        self.last = node
        return node

    def remove(self, node):
        if node.before is not None:
            node.before.after = node.after
        else:
            self.first = node.after
        if node.after is not None:
            node.after.before = node.before
        else:
            self.last = node.before


def in_a_ring(a, b):
    p, q = Node(a), Node(b)
    p.after, q.after = q, p
    s = p if a < b else q
    s.after.x = 9.0
    s.after.after.children.append(1)
    return p.x, q.x, len(p.children), len(q.children), s.after.after is s


def round_a_ring(a, b):
    p, q = Node(a), Node(b)
    p.after, q.after = q, p
    at = p
    for _ in range(4):
        at.x += 0.5
        if at.x < 1.7:
            at = at.after
    return p.x, q.x, at is p


def up_from_the_best(a, b):
    root = Node(1.0)
    one, two = Node(a, root), Node(b, root)
    Node(a * b, two)
    best = max(root.children, key=lambda k: k.x)
    best.parent.x += best.x
    return root.x, len(best.children), best is one


def taken_out(a, b):
    values = Linked((a, b, 1.5))
    values.remove(min(values.nodes, key=lambda n: n.x))
    return values.first.x, values.last.x, [n.after is None for n in values.nodes]


def written_if_there(a, b):
    p, q, r = values = Linked((a, b, 1.5)).nodes
    least = min(values, key=lambda n: n.x)
    if least.after is not None:
        least.after.x = 5.0
    return q.x, p.x, r.x, least.after is q, least.before is p


def refused_by_python(a, b):
    try:
        if a < b:
            (None if a > 0.0 else Node(a)).x = b
        y = a
        "text".x = b
    except AttributeError:
        y = 3.0 * b
    return y


@pytest.mark.parametrize("f", [
    in_a_ring, round_a_ring, up_from_the_best, taken_out, written_if_there,
], ids=lambda f: f.__name__)  # fmt: skip
def test_linked_things(f):
    check(f, 1.0, 2.0, others=[(2.0, 1.0), (1.7, 1.6), (0.4, 0.3)])


def test_what_python_does_not_write_is_not_taken_back():
    for at in ((1.0, 2.0), (2.0, 1.0)):
        assert jit(refused_by_python)(*at) == refused_by_python(*at)
