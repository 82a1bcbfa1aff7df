"""Three models fitted to real data with gradients made by jitad: ``python -m benchmarks.demo``."""
