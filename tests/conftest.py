"""What all tests share."""

import signal
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

# A shell starts what it runs in the background with this ignored, and so would all our children.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples everywhere, and no word on how long they take: the next machine is slower.
settings.register_profile(
    "deskhand", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("deskhand")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let a report leave its process even when a test logged what UTF-8 cannot hold."""
    report = yield
    report.sections = [
        (name, text.encode(errors="backslashreplace").decode()) for name, text in report.sections
    ]
    return report
