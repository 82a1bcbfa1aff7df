"""Measurements of jitad: the demo, the benchmark suite and the report. Not part of the package."""
