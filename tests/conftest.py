"""Hypothesis profiles: `--hypothesis-profile=unshrunk` reports the first failure as it is."""

from hypothesis import Phase, settings

settings.register_profile("unshrunk", phases=[Phase.generate])
