"""Does control flow on traced values compute what Python computes?"""

from __future__ import annotations

import math

import pytest
from running import check, traced

from jitad.tape.ir import walk


def early_return(x, y):
    if x > y:
        return x
    if x > 0:
        y = y + 1
        if y > 3:
            return y * 2
    return x - y


def elif_chain(x, y):
    if x < 0:
        z = -x
    elif x < 1:
        z = x * x
    elif x < 2:
        z = 1
    else:
        z = y
    return z + y


def nested_loops(x, y):
    total = 0
    for i in range(6):
        for j in range(i):
            if (i + j) % 2 == 0:
                continue
            total += x * i + y * j
        else:
            total += 1
    return total


def break_and_else(x, y):
    for i in range(30):  # noqa: B007
        x = x * 1.1
        if x > y:
            break
    else:
        x = -x
    return x + i


def while_newton(x, y):
    a = abs(x) + 1.0
    r = a
    n = 0
    while abs(r * r - a) > 1e-12 * a:
        r = 0.5 * (r + a / r)
        n += 1
        if n > 50:
            return -1.0
    return r + n + y


def while_true(x, y):
    n = 0
    while True:
        x = x / 2 + y
        n += 1
        if abs(x - 2 * y) < 0.1 or n >= 40:
            break
    return x, n


def while_else(x, y):
    k = 0
    while k * 1.0 < x:
        k += 1
        if k * y > 10:
            break
    else:
        k = -k
    return k


def return_in_nested_loop(x, y):
    for i in range(10):
        for j in range(10):
            if i * x + j * y > 20:
                return i * 100 + j
        if x > 5:
            break
    return x


def ternary_and_logic(x, y):
    a = x if x > y else y
    b = 1.0 if 0 < x < y or y < -1 else 2.0
    c = (x > 0 and y > 0) or not x > y
    return (a, b, c, x and y, x or y)


def unbound(x, y):
    if x > 0:
        z = y
    if x > y:
        return z
    return x


def last_value(x, y):
    for k in range(12):
        if k * x > y:
            last = k * 2.0
            break
    return last


def try_static(x, y):
    try:
        d = {}["a"]
    except KeyError:
        d = 2.0
    finally:
        x = x + 1
    return d * x * y


def asserting(x, y):
    assert x < 3, "too large"
    if y > 2:
        raise ValueError("bad y")
    elif y > 1:
        y = y * 3
    return x / y


def raise_in_loop(x, y):
    for _ in range(20):
        x = x + y
        if x > 10:
            raise ArithmeticError(f"overflow at {2}")
    return x


def continues(x, y):
    s = 0.0
    k = 0
    while k < 100:
        k += 1
        if k % 3 == 0:
            continue
        if s > 50 * abs(x):
            break
        s += x * k if x > 0 else 1 + y * y
    return s, k


def int_to_float(x, y):
    n = 0
    for i in range(20):
        if x * i > y:
            n = n + 0.5
        else:
            n += 1
    return n


def comprehension(x, y):
    xs = [x * i for i in range(4) if i != 2]
    d = {k: v + y for k, v in enumerate(xs)}
    return sum(v * v for v in xs) + d[1] + sum(i * x for i in range(50)), any(
        v > 3 for v in xs
    ), all(i * x < 40 for i in range(30))


def swap_numbers(x, y):
    a, b = x, y
    for _ in range(11):
        a, b = b, a + 0.5
    return a, b


def deep(x, y):
    if x > 0:
        if y > 0:
            for i in range(12):
                if x > i:
                    while y < 5:
                        y += 1
                        if x > y:
                            if y > 2:
                                return y
                            else:
                                continue
    return x * y


PROGRAMS = [
    early_return, elif_chain, nested_loops, break_and_else, while_newton, while_true, while_else,
    return_in_nested_loop, ternary_and_logic, unbound, last_value, try_static, asserting,
    raise_in_loop, continues, int_to_float, comprehension, swap_numbers, deep,
]  # fmt: skip
POINTS = [(1.5, 2.5), (2.5, 1.5), (-1.0, 0.5), (0.5, -2.0), (7.0, 4.0), (4.5, 1.2), (0.0, 1.1)]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_value_is_pythons(f):
    check(f, *POINTS[0], others=POINTS[1:])


def power(x, n):
    out = 1.0
    for _ in range(n):
        out = out * x
    return out


def strides(a, b, c):
    s = 0
    for i in range(a, b, c):
        s = 10 * s + i
    return s


def sum_pairs(n, m):
    s = 0
    for i in range(n):
        for j in range(i, m):
            s += i * j
        if s > 100:
            break
    return s


def test_traced_bounds():
    check(power, 1.1, 3, ints=True, others=[(1.1, 0), (1.2, -2), (0.9, 7)])
    check(strides, 0, 5, 1, ints=True,
          others=[(5, 0, -2), (0, 5, 2), (3, 3, 1), (1, 9, 3), (9, 1, -3), (0, 5, -1), (0, 1, 0)])
    check(sum_pairs, 5, 5, ints=True, others=[(0, 3), (7, 9), (9, 2)])


def test_tape_does_not_grow_with_trip_count():
    def f(x, n):
        for i in range(n):
            x = x * 1.5 + i
        return x

    sizes = {sum(1 for _ in walk(traced(f, 1.0, n).tape.body)) for n in (20, 500, 5000)}
    assert len(sizes) == 1


def test_temporaries_are_not_carried():
    def f(x, n):
        s = 0.0
        for i in range(n):
            t = x * i
            u = t + 1
            s += u
        return s

    (loop,) = [e for e in walk(traced(f, 1.0, 100).tape.body) if e.op == "for"]
    assert len(loop.outs) == 1


def test_math_functions_and_checks():
    def f(x, y):
        return math.sqrt(x) + math.log(y)

    check(f, 1.0, 2.0, others=[(-1.0, 2.0), (2.0, 0.0)])


def test_long_straight_line_program():
    def f(x, n):
        xs = [x]
        for i in range(n):
            xs.append(xs[-1] * 1.0001 + i)
        while len(xs) > 1:
            x = x + xs.pop()
        return x

    check(f, 0.5, 50)
