"""What all tests share: nothing is asserted about time, not by Hypothesis either."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("jetproof", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("jetproof")
