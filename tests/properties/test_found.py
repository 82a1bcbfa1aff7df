"""Do programs that once failed, found by the random search, work now?  Each as small as it got."""

from __future__ import annotations

import pytest

from tests.properties.check import check

_BODIES: dict[str, str] = {
    "a store to an array that a branch made": """
        if x > 3.0:
            z = np.full((4,), x)
            z[0] *= 2.0
        return x + np.sum(a)
    """,
    "an array made in a loop with an exit": """
        for i in range(n):
            for j in range(i + 1):
                if x * j > 0.5:
                    break
                z = np.full((4,), x)
                z[0] *= math.sin(y)
                x = x + 0.1 * z[0]
        return x + np.sum(a)
    """,
    "a branch replaces an array by a slice of unknown length": """
        if x < x + x:
            a[:] = a[3::-1]
        return x + y + np.sum(a * np.arange(1.0, 4.5))
    """,
    "a loop that runs again reads an array that is restored": """
        for u in b:
            for v in a:
                for w in b:
                    if u < a[0] and m[1, (3 + n) % 4] < 1.0:
                        pass
                if v * v > 0.05:
                    b += 0.2 * np.sin(a)
            a[0] = a[0]
        return x + y + np.sum(a * np.arange(1.0, 4.5)) + np.sum(b)
    """,
    "elements that the loop over them changes": """
        for i, e in enumerate(a):
            x *= math.cos(e)
            a[2:-1] = a[0:-3]
        return x + np.sum(a * b)
    """,
    "a scalar is indexed by an empty tuple": """
        z = np.where(x < y, x * 0.5, x)[()]
        return z * y
    """,
    "a branch stores into an array that the loop reads": """
        for e in a:
            if n > 0:
                m[0] += 0.3 * x * a[0]
                if e < x:
                    a[0:1] = a[2:3] * x
        return x + np.sum(a) + np.sum(m)
    """,
    "a literal factor in forward mode": """
        p = np.maximum(np.cos(0.1), 0.2)
        a[0:-1] = np.sin(a[2::-1] * p)
        return x + np.sum(a)
    """,
    "np.where gives a NumPy number of the common kind": """
        z = np.where(x < 2, 2, x * 0.5)[()]
        return z / 3 + x * y
    """,
    "a list that some iterations of a short loop append to": """
        values = [x**k for k in range(1, 6) if k != 3]
        for k in range(6):
            if k % 2:
                values.append(y * k)
        return sum(values)
    """,
    "an array made in an iteration that is written out": """
        if x < a[0]:
            k = 0
            while k < 1:
                k += 1
                z = np.zeros((4,))
                z[0] = x
        return x * y
    """,
    "a branch in a loop restores a slice": """
        for e in a:
            if e < x:
                a[0:1] = a[2:3] * x
        return x + np.sum(a)
    """,
    "a closure made in a branch writes a name of the branch": """
        if x < y:
            t = y
        else:
            t = a[-1]
        if x < 2.0:
            if x < y:
                u = y
            else:
                u = a[-1]
            def inner(p):
                nonlocal u
                u = x
                return p
            t = inner(x)
        return t + x * y
    """,
    "two sums over one array in nested loops": """
        m[max(n, 0 - 1) % 2, 0] = y
        k2 = 0
        while k2 < 4:
            k2 += 1
            for i3, e4 in enumerate(b):
                m[1, (n - i3) % 4] -= 0.3 * math.sin(((e4 + x) * e4))
        k5 = 0
        while k5 < 3 and math.sin(m[0, 0]) < x:
            k5 += 1
        return x + y + np.sum(m)
    """,
    "a number kept in an array, under a name that a loop then carries": """
        y = math.sin(x * y)
        z = np.array([y * y, x, y, y])
        for e in b:
            y = np.tanh(e)
        return y + np.sum(z * np.arange(1.0, 4.5)) + np.sum(a)
    """,
    "a number kept in an array, under a name that a branch then binds": """
        y = math.sin(x * y)
        z = np.array([y * y, x, y, y])
        if x > 0.0:
            y = np.tanh(y * x)
        return y + np.sum(z * np.arange(1.0, 4.5)) + np.sum(b)
    """,
    "loops on both paths read a tangent that may be reached": """
        def helper1(p0, v1):
            for i2 in range(4):
                k4 = 0
                while k4 < 4 and (p0 >= v1[max(i2, i2 - 1) % 4]
                              or math.log(1.5 + v1[((i2 - 3) // 2) % 4] *
                                          v1[((i2 - 3) // 2) % 4]) < abs(p0)):
                    k4 += 1
                    maybe5 = None
                    if (p0 / (2.0 + p0 * p0)) < p0:
                        maybe5 = np.sqrt(1.0 + 2 * 2)
                    p0 = math.tanh((v1[2] ** 3)) if maybe5 is None else maybe5 * 0.5
                    v1[0] += 0.3 * math.sin(max((v1[i2 % 4] + p0), math.sqrt(1.0 + p0 * p0)))
            else:
                pass
            return 0.111 * (p0 ** 3)
        a[0:4] = helper1(y, a)
        w = np.where(0.5 < x, x * 0.5, 0.5)[()]
        y = max(min(y, x) / (2.0 + w * w), y)
        if y <= y:
            t6 = y
            x = y
            t7 = math.sin((t6 + t6))
        elif x > a.max():
            for e9 in reversed(a):
                m[(n - n) % 2, (3 + 1) % 4] = x
                e9 = e9
                x = e9
        else:
            t10 = helper1(math.sin((x - x)), a)
            t11 = x
        t12 = x
        t13 = x
        return x + y + t12 + t13 + np.sum(a * np.arange(1.0, 4.5)) + np.sum(b) + np.sum(m)
    """,
}


def _source(body: str) -> str:
    lines = [line[4:] for line in body.strip("\n").splitlines()]
    text = "\n".join(lines).rstrip()
    return f"import math\n\nimport numpy as np\n\n\ndef program(x, y, a, b, m, n):\n{text}\n"


@pytest.mark.parametrize("name", _BODIES)
def test_program(name: str) -> None:
    source = _source(_BODIES[name])
    ways = ("eager", "emitted", "tape")
    outcomes = [check(source, k, f"found_{k}", ways[: 3 - (k > 1)]) for k in range(8)]
    for outcome in outcomes:
        assert outcome.status in ("ok", "rejected"), f"{outcome.group}\n{outcome.detail}"
    assert sum(o.status == "ok" for o in outcomes) >= 5
