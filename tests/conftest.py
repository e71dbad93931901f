"""What all tests share."""

from hypothesis import HealthCheck, settings

# The same examples everywhere, and no word on how long they take: the next machine is slower.
settings.register_profile(
    "deskhand", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("deskhand")
