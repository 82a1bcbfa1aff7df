"""The eager engine: tagged numbers over concrete values."""

from jitad.runtime.operators import derivative, grad, jvp, value_and_grad, vjp

__all__ = ["derivative", "grad", "jvp", "value_and_grad", "vjp"]
