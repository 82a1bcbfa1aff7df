"""How likely are observations under a probabilistic program? Two evaluators, differentiated.

The program flips a coin with bias p0: heads gives 0; else a coin with bias p1: heads gives 1, tails
gives 2. It is written once for an evaluator of a probabilistic lambda calculus and once for one of
probabilistic Prolog. Both give a distribution as a list of (result, probability). The likelihood
of the observations 0, 1, 2, 2 is maximised by gradient ascent from (1/2, 1/2).

In closed form: p0 * (1 - p0) p1 * ((1 - p0) (1 - p1))², with its maximum at (1/4, 1/3).

Source: programs and answers of the Stalingrad suite, in tuples, lists, closures and recursion.
"""

from collections.abc import Callable, Iterator
from typing import Any

from kernels.nested.descent import Operator

OBSERVED = (0, 1, 2, 2)
START = [0.5, 0.5]
ANSWER = [0.2500000000000016, 0.33333333349839966]  # after 1000 steps
Distribution = list[tuple[Any, Any]]


def closed_form(p: list[Any]) -> Any:
    return p[0] * ((1.0 - p[0]) * p[1]) * ((1.0 - p[0]) * (1.0 - p[1])) ** 2


# -- a probabilistic lambda calculus --------------------------------------------------------------
#
# An expression is a constant ("const", v), a variable ("var", name), a function ("fun", name,
# body), a call ("call", f, argument), or ("if", test, then, else). An environment is a tuple of
# (name, distribution of values): calls are by name, a distribution is drawn from at every use.


def evaluate(e: tuple[Any, ...], environment: tuple[Any, ...]) -> Distribution:
    """The distribution of an expression's value."""
    match e[0]:
        case "const":
            return [(e[1], 1.0)]
        case "var":
            return lookup(e[1], environment)
        case "fun":
            _, name, body = e
            return [(lambda argument: evaluate(body, ((name, argument), *environment)), 1.0)]
        case "if":
            _, test, then, other = e
            return chained(
                evaluate(test, environment),
                lambda value: evaluate(then if value else other, environment),
            )
    _, function, argument = e
    given = evaluate(argument, environment)
    return chained(evaluate(function, environment), lambda f: f(given))


def lookup(name: str, environment: tuple[Any, ...]) -> Distribution:
    (bound, value), *rest = environment
    return value if bound == name else lookup(name, tuple(rest))


def chained(first: Distribution, then: Callable[[Any], Distribution]) -> Distribution:
    """The distribution of what `then` gives for what is drawn first."""
    return [(value, p * q) for x, p in first for value, q in then(x)]


CHOICE = ("if", ("var", "x0"), ("const", 0), ("if", ("var", "x1"), ("const", 1), ("const", 2)))


def by_lambda_calculus(p: list[Any]) -> Any:
    coins = tuple((f"x{k}", [(True, q), (False, 1.0 - q)]) for k, q in enumerate(p))
    # let x = choice in x, as a call
    program = ("call", ("fun", "x", ("var", "x")), CHOICE)
    likelihood = 1.0
    for seen in OBSERVED:
        likelihood *= sum(q for value, q in evaluate(program, coins) if value == seen)
    return likelihood


# -- probabilistic Prolog -------------------------------------------------------------------------
#
# A term is a constant, a variable ("?", name), or a tuple (functor, *terms). A clause is
# (probability, head, *goals). A proof's probability is the product of those of its clauses.

Bindings = dict[Any, Any]


def resolve(term: Any, bindings: Bindings) -> Any:
    """The term with its variables replaced, as far as they are bound."""
    if isinstance(term, tuple):
        if term[0] == "?":
            return resolve(bindings[term], bindings) if term in bindings else term
        return (term[0], *(resolve(t, bindings) for t in term[1:]))
    return term


def unify(a: Any, b: Any, bindings: Bindings) -> Bindings | None:
    """The bindings under which two terms are equal."""
    a, b = resolve(a, bindings), resolve(b, bindings)
    if a == b:
        return bindings
    for one, other in ((a, b), (b, a)):
        if isinstance(one, tuple) and one[0] == "?":
            return {**bindings, one: other}
    if not (isinstance(a, tuple) and isinstance(b, tuple) and a[0] == b[0] and len(a) == len(b)):
        return None
    found: Bindings | None = bindings
    for x, y in zip(a[1:], b[1:], strict=True):
        if found is None:
            return None
        found = unify(x, y, found)
    return found


def renamed(term: Any, level: int) -> Any:
    """The term of a clause with variables of its own for this use."""
    if isinstance(term, tuple):
        if term[0] == "?":
            return ("?", term[1], level)
        return (term[0], *(renamed(t, level) for t in term[1:]))
    return term


def proofs(
    goals: tuple[Any, ...], clauses: list[Any], bindings: Bindings, level: int
) -> Iterator[tuple[Bindings, Any]]:
    """All ways to prove the goals: bindings and probability."""
    if not goals:
        yield bindings, 1.0
        return
    for probability, head, *body in clauses:
        found = unify(goals[0], renamed(head, level), bindings)
        if found is not None:
            rest = (*(renamed(goal, level) for goal in body), *goals[1:])
            for end, p in proofs(rest, clauses, found, level + 1):
                yield end, probability * p


def by_prolog(p: list[Any]) -> Any:
    def coin(name: str, q: Any) -> list[Any]:
        return [(q, (name, "heads")), (1.0 - q, (name, "tails"))]

    clauses = [
        *coin("first", p[0]),
        *coin("second", p[1]),
        (1.0, ("choice", 0), ("first", "heads")),
        (1.0, ("choice", ("?", "x")), ("first", "tails"), ("otherwise", ("?", "x"))),
        (1.0, ("otherwise", 1), ("second", "heads")),
        (1.0, ("otherwise", 2), ("second", "tails")),
    ]
    likelihood = 1.0
    for seen in OBSERVED:
        likelihood *= sum(q for _, q in proofs((("choice", seen),), clauses, {}, 0))
    return likelihood


LIKELIHOODS = {"closed form": closed_form, "lambda calculus": by_lambda_calculus,
               "prolog": by_prolog}  # fmt: skip


def ascent(likelihood: Callable[[list[Any]], Any], gradient: Operator, steps: int) -> list[Any]:
    """The parameters after so many steps of 0.1 times the gradient."""
    slope = gradient(likelihood)
    p = START
    for _ in range(steps):
        p = [a + 0.1 * b for a, b in zip(p, slope(p), strict=True)]
    return p
