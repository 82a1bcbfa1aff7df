"""Does `super()` mean the same wherever it is written?"""

from __future__ import annotations

import pytest

from jitad import grad, jit_grad


class _Base:
    def value(self, x):
        return 2.0 * x

    def is_large(self, x):
        return x > 0.0


class _Derived(_Base):
    def value(self, x):
        return super().value(x) * 3.0 if x > 0.0 else x

    def is_large(self, x):
        return (super().is_large(x) and x < 9.0) or not super().is_large(x - 20.0)


class _Doubling(dict):
    def __getitem__(self, key):
        return super().__getitem__(key) * 2.0 if key in self else 3.0


def test_super_in_what_python_evaluates_only_sometimes():
    """There it stands in a function of its own, which has no first argument."""

    def inside(x):
        class Local(_Base):
            def value(self, x):
                own = lambda: self
                return super().value(x) if x > 0.0 else own() and 5.0 * x

        d = _Doubling(a=x)
        large = 1.0 if _Derived().is_large(x) else 2.0
        return _Derived().value(x) * large + Local().value(x) + d["a"] * d["b"]

    for x, slope in ((0.7, 14.0), (-0.7, 12.0)):
        assert inside(x) == pytest.approx(slope * x)
        assert grad(inside)(x) == slope
        assert jit_grad(inside)(x) == slope
