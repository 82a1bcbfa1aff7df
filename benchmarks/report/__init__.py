"""All of jitad's figures from one run: ``python -m benchmarks.report``."""
