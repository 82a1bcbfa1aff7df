"""Which programs do people write who price, discount and rebalance?"""

import bisect
import itertools
import math
from collections import defaultdict, namedtuple
from dataclasses import dataclass, field
from functools import reduce

import numpy as np

from tests.catalogue.entry import Catalogue, array, scalar, several

catalogue = Catalogue()
program = catalogue.add

Option = namedtuple("Option", "spot strike rate sigma maturity")


def norm_cdf(x):
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def black_scholes(o, kind="call"):
    d1 = (math.log(o.spot / o.strike) + (o.rate + 0.5 * o.sigma**2) * o.maturity) / (
        o.sigma * math.sqrt(o.maturity)
    )
    d2 = d1 - o.sigma * math.sqrt(o.maturity)
    if kind == "call":
        return o.spot * norm_cdf(d1) - o.strike * math.exp(-o.rate * o.maturity) * norm_cdf(d2)
    if kind == "put":
        return o.strike * math.exp(-o.rate * o.maturity) * norm_cdf(-d2) - o.spot * norm_cdf(-d1)
    raise ValueError(f"unknown option kind {kind!r}")


@program(
    several(Option, scalar(90.0, 110.0), 100.0, scalar(0.01, 0.05), scalar(0.1, 0.4), 1.5),
    truth="differences",
)
def straddle(option):
    return black_scholes(option) + black_scholes(option, kind="put")


@program(scalar(0.02, 0.06), array(6, low=50.0, high=150.0))
def present_value(rate, flows):
    return sum(cf / (1.0 + rate) ** (t + 1) for t, cf in enumerate(flows))


@program(scalar(95.0, 105.0), array(5, low=2.0, high=6.0), truth="complex")
def internal_rate_of_return(price, coupons):
    """Newton's method until the step is small."""
    rate = 0.05
    for _ in range(50):
        value, slope = -price, 0.0
        for t, c in enumerate(coupons, start=1):
            flow = c + (100.0 if t == len(coupons) else 0.0)
            value += flow / (1.0 + rate) ** t
            slope -= t * flow / (1.0 + rate) ** (t + 1)
        step = value / slope
        rate -= step
        if abs(step) < 1e-13:
            break
    return rate


@dataclass
class Bond:
    face: float
    coupon: float
    years: int
    frequency: int = 2

    @property
    def periods(self):
        return self.years * self.frequency

    def cash_flows(self):
        payment = self.face * self.coupon / self.frequency
        flows = [payment] * self.periods
        flows[-1] += self.face
        return flows

    def price(self, yield_):
        y = yield_ / self.frequency
        return sum(cf / (1 + y) ** (k + 1) for k, cf in enumerate(self.cash_flows()))

    def duration(self, yield_):
        y = yield_ / self.frequency
        weighted = 0.0
        for k, cf in enumerate(self.cash_flows(), 1):
            weighted += k / self.frequency * cf / (1 + y) ** k
        return weighted / self.price(yield_)


@program(several(Bond, 100.0, scalar(0.02, 0.06), 3), scalar(0.02, 0.06))
def bond_duration(bond, yield_):
    return bond.duration(yield_)


CURVE = {0.5: 0.021, 1.0: 0.024, 2.0: 0.027, 5.0: 0.031, 10.0: 0.034}


@program(array(5, low=0.01, high=0.04), tags="dict bisect")
def swap_on_an_interpolated_curve(rates):
    tenors = sorted(CURVE)
    curve = dict(zip(tenors, rates))

    def zero_rate(t):
        k = bisect.bisect_left(tenors, t)
        if k == 0:
            return curve[tenors[0]]
        if k == len(tenors):
            return curve[tenors[-1]]
        left, right = tenors[k - 1], tenors[k]
        w = (t - left) / (right - left)
        return (1.0 - w) * curve[left] + w * curve[right]

    annuity = 0.0
    for t in (1.0, 1.5, 2.0, 3.0, 4.0):
        annuity += math_exp(-zero_rate(t) * t)
    return (1.0 - math_exp(-zero_rate(4.0) * 4.0)) / annuity


def math_exp(x):
    return np.exp(x)


@program(array(4, low=0.1, high=0.5), tags="defaultdict")
def exposure_by_sector(weights):
    holdings = [("tech", 0), ("energy", 1), ("tech", 2), ("banks", 3)]
    by_sector = defaultdict(float)
    for sector, k in holdings:
        by_sector[sector] += weights[k]
    return sum(w**2 for w in by_sector.values())


@program(array(8, low=-0.02, high=0.03), tags="while state")
def drawdown(returns):
    """The largest fall from a peak, softly."""
    wealth, peak, worst = 1.0, 1.0, 0.0
    for r in returns:
        wealth *= 1.0 + r
        if wealth > peak:
            peak = wealth
        fall = 1.0 - wealth / peak
        worst = max(worst, fall)
    return wealth - 2.0 * worst


@program(array(4), array(6, 4, low=-0.1, high=0.1), truth="differences")
def sharpe_ratio(logits, returns):
    w = np.exp(logits - np.max(logits))
    w /= w.sum()
    portfolio = returns @ w
    return portfolio.mean() / portfolio.std(ddof=1)


@program(scalar(0.01, 0.05), scalar(0.1, 0.4))
def binomial_american_put(rate, sigma):
    steps, spot, strike, dt = 12, 100.0, 105.0, 1.0 / 12
    up = math.exp(sigma * math.sqrt(dt))
    down = 1.0 / up
    p = (math.exp(rate * dt) - down) / (up - down)
    disc = math.exp(-rate * dt)
    values = [max(strike - spot * up**k * down ** (steps - k), 0.0) for k in range(steps + 1)]
    for n in range(steps - 1, -1, -1):
        values = [
            max(
                disc * (p * values[k + 1] + (1.0 - p) * values[k]),
                strike - spot * up**k * down ** (n - k),
            )
            for k in range(n + 1)
        ]
    return values[0]


@dataclass
class Account:
    balance: float = 0.0
    history: list = field(default_factory=list)

    def deposit(self, amount):
        self.balance += amount
        self.history.append(amount)
        return self

    def accrue(self, rate):
        interest = self.balance * rate
        return self.deposit(interest)


@program(scalar(50.0, 150.0), scalar(0.01, 0.05))
def account_with_history(amount, rate):
    account = Account()
    for _ in range(6):
        account.deposit(amount)
        account.accrue(rate / 12)
    return account.balance + 0.1 * sum(h**2 for h in account.history) / len(account.history)


@program(scalar(0.5, 1.5), scalar(1e5, 2e5), scalar(0.002, 0.006))
def mortgage_until_half_is_paid(extra, loan, rate):
    payment = loan * rate / (1.0 - (1.0 + rate) ** -120)
    owed, paid, month = loan, 0.0, 0
    while owed > 0.5 * loan:
        interest = owed * rate
        owed -= payment + 100.0 * extra - interest
        paid += interest
        month += 1
    return paid / loan + owed / loan


@program(array(3, low=0.5, high=2.0))
def utility_by_name(wealth):
    utilities = {
        "log": lambda w: np.log(w),
        "power": lambda w, gamma=3.0: w ** (1 - gamma) / (1 - gamma),
        "exponential": lambda w: -np.exp(-0.7 * w),
    }
    total = 0.0
    for (name, u), w in zip(utilities.items(), wealth):
        total += 2.0 * u(w) if name.startswith("p") else u(w)
    return total


@program(array(3, low=90.0, high=110.0), scalar(0.1, 0.3), truth="differences")
def basket_by_reduce(spots, sigma):
    weights = (0.5, 0.3, 0.2)
    level = reduce(lambda acc, ws: acc + ws[0] * ws[1], zip(weights, spots), 0.0)
    option = Option(level, 100.0, 0.02, sigma, 1.0)
    return black_scholes(option._replace(strike=95.0)) - black_scholes(option)


@program(array(5, low=1.0, high=2.0))
def turnover_cost(weights):
    target = np.full(5, 0.2)
    w = weights / np.sum(weights)
    trades = [b - a for a, b in zip(w, target)]
    steps = list(itertools.accumulate(trades))
    return sum(t * t for t in trades) + 0.1 * sum(s**2 for s in steps)


@program(scalar(0.2, 0.6), scalar(0.01, 0.05), array(3, low=0.02, high=0.05))
def vasicek_bond(speed, vol, state):
    r, mean, t = state

    def b(tau):
        return (1.0 - np.exp(-speed * tau)) / speed

    def log_a(tau):
        return (mean - vol**2 / (2 * speed**2)) * (b(tau) - tau) - vol**2 * b(tau) ** 2 / (
            4 * speed
        )

    return sum(np.exp(log_a(m + t) - b(m + t) * r) for m in (1, 2, 5))


@program(array(6, low=0.5, high=1.5), tags="match")
def trades_by_match(sizes):
    orders = [
        {"side": "buy", "at": 0},
        {"side": "sell", "at": 1, "limit": 0.9},
        ("cross", 2, 3),
        ["hold", 4, 5],
    ]
    cash = 1.0
    for order in orders:
        match order:
            case {"side": "buy", "at": k}:
                cash -= sizes[k]
            case {"side": "sell", "at": k, "limit": limit}:
                cash += limit * sizes[k] ** 2
            case ("cross", i, j) if i < j:
                cash += sizes[i] * sizes[j]
            case [_, *ks]:
                for k in ks:
                    cash *= 1.0 + 0.1 * sizes[k]
    return cash
