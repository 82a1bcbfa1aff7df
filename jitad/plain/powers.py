"""What is `pow(a, b, modulus)` of integers that only the kernel knows?"""

from __future__ import annotations


def power_modulo(a: int, b: int, modulus: int) -> int:
    """By squares; an inverse is looked for by Euclid's algorithm, as Python does."""
    if modulus == 0:
        raise ValueError("pow() 3rd argument cannot be 0")
    if b < 0:
        r, rest, x, y = modulus, a % modulus, 0, 1
        while rest != 0:
            q = r // rest
            r, rest, x, y = rest, r - q * rest, y, x - q * y
        if abs(r) != 1:
            raise ValueError("base is not invertible for the given modulus")
        a, b = x * r, -b
    out, square = 1 % modulus, a % modulus
    while b > 0:
        if b % 2 == 1:
            out = out * square % modulus
        b //= 2
        if b > 0:
            square = square * square % modulus
    return out
