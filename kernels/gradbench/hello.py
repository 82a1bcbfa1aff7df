"""The square of a number: does the adapter work at all?"""


def square(x: float) -> float:
    return x * x
