"""Which programs of scalars does the catalogue have: formulas, branches, loops?"""

import math

import numpy as np

from tests.catalogue.entry import Catalogue, scalar

catalogue = Catalogue()
program = catalogue.add


# -- formulas -------------------------------------------------------------------------------------


@program(scalar(0.2, 2.0), scalar(-1.0, 1.0), tags="math")
def damped_oscillation(t, phase):
    return math.exp(-0.3 * t) * math.cos(2.0 * t + phase)


@program(scalar(-2.0, 2.0), tags="math")
def gaussian_bump(x):
    return np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi)


@program(scalar(0.5, 3.0), scalar(0.5, 3.0), tags="math pow")
def cobb_douglas(labour, capital):
    return 1.7 * labour**0.3 * capital ** (1 - 0.3)


@program(scalar(0.5, 2.0), scalar(0.5, 2.0), tags="math pow")
def power_tower(x, y):
    return x**y + y**x


@program(scalar(80.0, 120.0), scalar(90.0, 110.0), scalar(0.01, 0.05), scalar(0.1, 0.4),
         scalar(0.5, 2.0), tags="math erf")  # fmt: skip
def black_scholes_call(spot, strike, rate, sigma, years):
    def cdf(z):
        return 0.5 * math.erfc(-z / math.sqrt(2.0))

    d1 = (math.log(spot / strike) + (rate + sigma * sigma / 2) * years) / (
        sigma * math.sqrt(years)
    )
    d2 = d1 - sigma * math.sqrt(years)
    return spot * cdf(d1) - strike * math.exp(-rate * years) * cdf(d2)


@program(scalar(-0.6, 0.6), scalar(0.2, 1.0), tags="math inverse")
def inverse_functions(x, y):
    return math.asin(x) * math.atan(y) + math.acos(x) - math.atan2(y, x) + math.asinh(y)


@program(scalar(0.3, 1.5), scalar(0.3, 1.5), tags="math hyperbolic")
def hyperbolic_mixture(x, y):
    return math.tanh(x * y) + math.sinh(x) / math.cosh(y) + math.log1p(x) * math.expm1(y)


@program(scalar(-1.0, 1.0), scalar(-1.0, 1.0), tags="math")
def great_circle_distance(lat, lon):
    """The haversine formula, from a fixed place."""
    a = math.sin((lat - 0.4) / 2) ** 2 + math.cos(lat) * math.cos(0.4) * math.sin(lon / 2 + 1) ** 2
    return 6371.0 * 2 * math.asin(math.sqrt(a))


@program(scalar(0.5, 4.0), scalar(0.5, 4.0), tags="math hypot")
def polar_and_back(x, y):
    r = math.hypot(x, y)
    angle = math.atan2(y, x)
    return r * math.cos(angle + 0.1) * math.sqrt(r)


@program(scalar(0.5, 3.0), tags="math integers")
def integers_and_floats_mixed(x):
    n = 7
    half = n // 2
    rest = n % 3
    return x**half + rest * x - (n / 2) * x ** (-rest)


@program(scalar(0.1, 1.0), scalar(0.1, 1.0), tags="math")
def multiple_assignment(a, b):
    c = d = a * b
    c += 1.0
    d *= c
    (e, f), g = (c - d, c + d), a
    return e * f / (1.0 + g)


# -- branches -------------------------------------------------------------------------------------


@program(scalar(1.5, 2.0), scalar(0.2, 0.4), tags="branch elif")
def income_tax(income, rate):
    if income < 0.5:
        tax = 0.0
    elif income < 1.2:
        tax = rate * (income - 0.5)
    elif income < 3.0:
        tax = rate * 0.7 + 1.5 * rate * (income - 1.2) ** 1.5
    else:
        tax = rate * 10
    return income - tax


@program(scalar(1.1, 3.0), tags="branch")
def huber(residual):
    delta = 1.0
    if abs(residual) <= delta:
        return 0.5 * residual**2
    return delta * (abs(residual) - 0.5 * delta)


@program(scalar(-2.0, -0.5), scalar(1.0, 2.0), tags="ternary")
def leaky_relu_composition(x, w):
    y = x * w if x > 0 else 0.1 * x * w
    z = y + 1.0
    return z if z > 0 else 0.1 * z**2


@program(scalar(0.3, 0.7), tags="branch chained bool")
def smooth_step(x):
    if 0.0 <= x < 1.0 and not x == 0.5:
        return 3 * x**2 - 2 * x**3
    elif x < 0 or math.isnan(x):
        return 0.0 * x
    return 1.0 + 0.0 * x


@program(scalar(0.5, 1.5), scalar(2.0, 3.0), scalar(3.5, 4.0), tags="minmax")
def median_of_three(a, b, c):
    return max(min(a, b), min(max(a, b), c)) ** 2


@program(scalar(-2.0, -1.0), scalar(-1.0, 1.0), tags="branch nested")
def quadratic_roots(b, c):
    disc = b * b - 4 * c * 0.2
    if disc > 0:
        root = math.sqrt(disc)
        if b > 0:
            q = -0.5 * (b + root)
        else:
            q = -0.5 * (b - root)
        return q / 0.2 + c / q
    else:
        return math.sqrt(-disc)


@program(scalar(0.5, 2.0), scalar(0.2, 1.0), tags="branch early-return raise")
def checked_log_ratio(a, b):
    if a <= 0:
        raise ValueError("a must be positive")
    assert b > 0, "b must be positive"
    ratio = a / b
    if ratio > 100:
        return math.log(100.0)
    return math.log(ratio)


@program(scalar(0.1, 0.9), tags="branch bool-value")
def truth_values_as_numbers(x):
    positive = x > 0
    small = x < 0.5 or x > 2
    return x * positive + (3.0 if small else 2.0) * x**2


@program(scalar(0.6, 1.4), scalar(0.1, 0.4), tags="where clip")
def scalar_where_and_clip(x, y):
    return np.where(x > y, x * y, x + y) + np.clip(x, 0.0, 2.0) * np.maximum(x, y)


# -- loops ----------------------------------------------------------------------------------------


@program(scalar(-0.9, 0.9), 12, tags="for")
def geometric_series(x, n):
    total = 0.0
    term = 1.0
    for _ in range(n):
        total += term
        term *= x
    return total


@program(scalar(0.5, 3.0), tags="while")
def square_root_by_newton(a):
    x = a
    while abs(x * x - a) > 1e-13:
        x = 0.5 * (x + a / x)
    return x


@program(scalar(0.1, 0.8), tags="while")
def sine_by_taylor(x):
    term = x
    total = x
    k = 1
    while abs(term) > 1e-18:
        term = -term * x * x / ((2 * k) * (2 * k + 1))
        total = total + term
        k += 1
    return total


@program(scalar(-0.6, -0.4), scalar(0.1, 0.2), tags="for break")
def mandelbrot_escape(cr, ci):
    x = y = 0.0
    for n in range(40):
        if x * x + y * y > 4.0:
            break
        x, y = x * x - y * y + cr, 2 * x * y + ci
        if n == 25:
            break
    return x * x + y * y


@program(scalar(0.5, 1.0), 10, tags="for continue modulo")
def sum_with_skips(x, n):
    s = 0.0
    for i in range(n):
        if i % 3 == 0:
            continue
        s += math.sin(i * x) / i
    return s


@program(scalar(0.5, 1.0), 9, tags="for negative-step")
def horner_backwards(x, n):
    p = 0.0
    for k in range(n - 1, -1, -1):
        p = p * x + 1.0 / (k + 1)
    return p


@program(scalar(0.5, 1.0), 20, 3, tags="for step")
def strided_sum(x, n, step):
    s = 0.0
    for k in range(1, n, step):
        s += x**k / k
    return s


@program(scalar(0.2, 0.4), tags="for else break")
def search_with_else(x):
    y = 1.0
    for k in range(30):
        y *= x
        if y < 1e-3:
            result = y * k
            break
    else:
        result = -1.0
    return result + x


@program(scalar(0.3, 0.9), 5, tags="for nested")
def double_sum(x, n):
    s = 0.0
    for i in range(n):
        for j in range(i + 1):
            s += x ** (i + j) / (1 + i * j)
    return s


@program(scalar(0.1, 0.9), tags="while nested break")
def nested_while(x):
    total = 0.0
    outer = 0
    while outer < 4:
        y = x
        while True:
            y = y * y + 0.1
            if y < 0.3:
                break
            y *= 0.5
        total += y * outer
        outer += 1
    return total


@program(scalar(0.2, 0.8), 27, tags="while integers")
def collatz_weighted(x, n):
    total, weight = 0.0, 1.0
    while n != 1:
        weight *= 0.97 + 0.01 * x
        if n % 2 == 0:
            n //= 2
            total += weight * x
        else:
            n = 3 * n + 1
            total -= weight * x * x
    return total


@program(scalar(1.2, 1.9), tags="for early-return")
def first_iterate_past_ten(x):
    y = x
    for _ in range(100):
        y = y * x + 0.1
        if y > 10:
            return y
    return 0.0


@program(scalar(0.5, 1.0), scalar(0.3, 0.9), tags="for swap")
def fibonacci_with_weights(a, b):
    for _ in range(8):
        a, b = b, 0.7 * a + 0.6 * b
    return b


@program(scalar(3.0, 3.5), tags="for")
def logistic_map(r):
    x = 0.3
    for _ in range(15):
        x = r * x * (1 - x)
    return x


@program(scalar(0.5, 2.0), scalar(0.5, 2.0), tags="while")
def arithmetic_geometric_mean(a, b):
    while abs(a - b) > 1e-14 * a:
        a, b = (a + b) / 2, math.sqrt(a * b)
    return a


@program(scalar(1.5, 3.0), tags="while bisection")
def inverse_by_secant(y):
    """Solve t + exp(t) / 4 = y with the secant method."""

    def residual(t):
        return t + math.exp(t) / 4 - y

    t0, t1 = 0.0, 1.0
    f0, f1 = residual(t0), residual(t1)
    steps = 0
    while abs(f1) > 1e-14 and steps < 50:
        t0, t1, f0 = t1, t1 - f1 * (t1 - t0) / (f1 - f0), f1
        f1 = residual(t1)
        steps += 1
    return t1


@program(scalar(2.0, 3.0), scalar(0.2, 0.8), tags="for continued-fraction")
def continued_fraction(a, b):
    value = a
    for k in range(20, 0, -1):
        value = a + k * b / value
    return value


@program(scalar(0.5, 2.0), 10, tags="pow binary")
def power_by_squaring(x, n):
    result = 1.0
    base = x
    while n > 0:
        if n & 1:
            result *= base
        base *= base
        n >>= 1
    return result


@program(scalar(0.1, 0.5), tags="for accumulate-compensated")
def kahan_sum_of_powers(x):
    total = c = 0.0
    value = 1.0
    for k in range(20):
        y = value - c
        t = total + y
        c = (t - total) - y
        total = t
        value = value * x + 1e-3 * k
    return total


@program(scalar(0.5, 1.5), tags="for flag")
def loop_with_flag(x):
    found = False
    y = x
    for _ in range(12):
        if not found and y > 3.0:
            found = True
            y = y / 2
        elif found:
            y = y + 0.1 * x
        else:
            y = y * 1.3
    return y if found else -y


@program(scalar(0.4, 0.6), tags="for last-value")
def loop_variable_after_the_loop(x):
    for i in range(7):
        y = x * i
    return y + i * x


@program(scalar(0.5, 1.5), scalar(0.2, 0.4), tags="for ternary")
def alternating_signs(x, y):
    s = 0.0
    sign = 1
    for k in range(1, 11):
        s += sign * (x if k % 2 else y) ** k / k
        sign = -sign
    return s


@program(scalar(0.5, 2.0), tags="recursion-static")
def factorial_weighted(x, n=5):
    if n == 0:
        return 1.0
    return (x + n) * factorial_weighted(x, n - 1)


@program(scalar(0.4, 0.9), tags="gamma")
def gamma_functions(x):
    return math.lgamma(x + 2.0) * math.gamma(x + 1.0)


@program(scalar(2.2, 2.8), scalar(0.5, 0.9), tags="floor fmod", truth="differences")
def sawtooth(x, y):
    return (x % y) * math.floor(x) + math.fmod(x, y) + x // y * y


@program(scalar(-2.0, -1.0), scalar(1.0, 2.0), tags="sign abs")
def signed_square_root(x, y):
    return math.copysign(math.sqrt(abs(x)), x) * np.sign(y) + math.fabs(x - y)
