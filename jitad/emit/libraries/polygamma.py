"""What is the n-th derivative of digamma, for n >= 1?

Recurrence psi_n(x) = psi_n(x + 1) - (-1)^n n! / x^(n+1) up to where the asymptotic series is exact
to rounding (Abramowitz & Stegun 6.4.6 and 6.4.11).  For x > 0 all terms that matter have one sign,
so nothing cancels.  SciPy offers no function pointer for it; this is compiled into the caller.
"""

from __future__ import annotations

import math

# B_2k / (2k)! for k = 1..10
_C = (
    0.08333333333333333, -0.001388888888888889, 3.306878306878307e-05, -8.267195767195768e-07,
    2.08767569878681e-08, -5.284190138687493e-10, 1.3382536530684679e-11, -3.3896802963225827e-13,
    8.586062056277845e-15, -2.174868698558062e-16,
)  # fmt: skip


def polygamma(n: float, x: float) -> float:
    if not 1.0 <= n <= 170.0 or n != math.floor(n) or x != x:  # 170! is the last finite one
        return math.nan
    sign = 1.0 if n % 2.0 == 1.0 else -1.0
    if x <= 0.0 and x == math.floor(x):
        return sign * math.inf
    if x < -1e5:
        return math.nan  # the recurrence would take too long: as SciPy, no value
    if x == math.inf:
        return 0.0 * sign
    factorial = math.gamma(n)  # (n - 1)!
    total = 0.0
    while x < 12.0 + n:
        total += n * x ** -(n + 1.0)
        x += 1.0
    # (n-1)! [x^-n + n x^-(n+1) / 2 + sum_k C_k (n)(n+1)...(n+2k-1) x^-(n+2k)]
    power = x**-n
    tail = power + 0.5 * n * power / x
    rising = 1.0
    for k in range(10):
        rising *= (n + 2.0 * k) * (n + 2.0 * k + 1.0) if k else n * (n + 1.0)
        power /= x * x
        tail += _C[k] * rising * power
    return sign * factorial * (total + tail)
