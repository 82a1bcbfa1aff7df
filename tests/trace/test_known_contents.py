"""Is what a trace must know of arrays, their ints and their lengths, taken as it is in the call?

Only where the function is refused without: such a kernel serves no other lengths and ints.
"""

import numpy as np
import pytest

from jitad import JitadError, grad, jit, jit_grad

X = np.array([1.0, 2.0, 4.0, 8.0, 3.0, 5.0])


def by_group(x, label):
    means = {}
    for c in np.unique(label):
        means[c] = x[label == c].mean()
    return sum(c * m**2 for c, m in means.items())


def test_groups_of_an_argument():
    slope = jit_grad(by_group)
    for label in ([0, 1, 0, 1, 2, 2], [5, 5, 5, 1, 1, 1], [0, 1, 0, 1, 2, 2]):
        label = np.array(label)
        groups = (label[:, None] == label).astype(float)
        means, sizes = groups @ X / groups.sum(1), groups.sum(1)
        np.testing.assert_allclose(slope(X, label), 2.0 * label * means / sizes, rtol=1e-14)
    assert len(slope.specialisations) == 1  # a key may be new in a dict
    with pytest.raises(IndexError, match="bool"):
        slope(X, np.array([0, 1]))


label = np.array([2, 2, 0, 0, 0, 2])


def by_name(x):
    sums = {f"class {c}": x[label == c].sum() for c in set(label.tolist())}
    return sums["class 2"] ** 2 + sums["class 0"]


def test_groups_that_change_outside():
    slope = jit_grad(by_name)
    for at in (0, 3):
        label[at] = 0
        two = label == 2
        np.testing.assert_allclose(slope(X), np.where(two, 2.0 * X[two].sum(), 1.0))


def count_up(x, at):
    names = {int(at[0]): "first"}
    at[0] += 1
    return x * len(names) * at[0]


def test_what_is_known_is_written_too():
    at = np.array([3, 4])
    assert jit(count_up)(2.0, at) == 8.0 and at.tolist() == [4, 4]
    assert jit_grad(count_up)(2.0, at) == 5.0 and at.tolist() == [4, 4]


def haar(x):
    details, a = [], x
    while len(a) > 1:
        details.append(a[0::2] - a[1::2])
        a = a[0::2] + a[1::2]
    return sum(k * np.sum(d**2) for k, d in enumerate(details[::-1], 1))


@pytest.mark.parametrize("n", [8, 4])
def test_lists_of_arrays_that_get_shorter(n):
    x = np.arange(1.0, n + 1.0) ** 2

    def step(k):  # the function is a square: differences are exact but for rounding
        e = np.eye(n)[k]
        return (haar(x + e) - haar(x - e)) / 2.0

    expected = [step(k) for k in range(n)]
    np.testing.assert_allclose(jit_grad(haar)(x), expected, rtol=1e-9)
    np.testing.assert_allclose(grad(haar)(x), expected, rtol=1e-9)


def rows_of_a_computed_length(x, y):
    rows = []
    while x < 10.0:
        row = np.zeros(len(y) - 1)
        row[:] = x * y[1:]
        rows.append(row)
        x = 2.0 * x
    return sum(np.sum(r) for r in rows)


def test_lists_of_rows_whose_length_the_body_computes():
    slope = jit_grad(rows_of_a_computed_length)
    for n in (4, 6):
        assert slope(1.0, X[:n]) == 15.0 * X[1:n].sum()
        assert slope(6.0, X[:n]) == X[1:n].sum()
    assert slope.specialisations == ["first call"]


def test_what_is_refused_all_the_same():
    def as_text(x, label):
        return float(str(x[0])) * label[0]

    with pytest.raises(JitadError, match="a text that shows a traced value"):
        jit_grad(as_text)(X, np.array([1, 2]))
