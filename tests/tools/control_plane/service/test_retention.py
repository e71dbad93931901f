"""Limits on stored files by settings."""

from pathlib import Path

import pytest

from deskhand.tools.control_plane.service.retention import retention_limits
from deskhand.tools.control_plane.settings import RETENTION, BadSetting, load
from deskhand.tools.store.retention import RetentionLimits

DATA = Path("/data")


def test_the_defaults_are_those_of_the_store() -> None:
    assert retention_limits(load({}, {}, "", DATA)) == RetentionLimits()


def test_each_kind_has_a_setting() -> None:
    file = "\n".join(f"{name} = {value}" for value, name in enumerate(RETENTION, 1))
    assert retention_limits(load({}, {}, file, DATA)) == RetentionLimits(
        recording_days=1,
        recording_bytes=2 * 10**9,
        step_bytes=3 * 10**6,
        attachments=4,
        archived_days=5,
    )


@pytest.mark.parametrize("name", RETENTION)
def test_nothing_is_removed_by_a_zero(name: str) -> None:
    with pytest.raises(BadSetting, match=f"{name}: give 1 or more"):
        load({}, {}, f"{name} = 0", DATA)
