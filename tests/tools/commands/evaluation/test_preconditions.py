"""Checks before an evaluation starts anything."""

from pathlib import Path

import pytest

from deskhand.tools.commands.evaluation.preconditions import (
    check_settings,
    read_given_settings,
    usable_model,
)
from deskhand.tools.control_plane.settings import BadSetting, Settings
from deskhand.tools.conversation.errors import NoModel

SETTINGS = Settings(data_dir=Path("/tmp"))
KEY = {"ANTHROPIC_API_KEY": "sk"}


def test_settings_are_read_and_the_last_of_a_name_counts() -> None:
    given = ["effort=low", "browser-sandbox=off", "effort=high"]
    assert read_given_settings(given) == (("browser_sandbox", "off"), ("effort", "high"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("efort=low", "'efort' is no setting; did you mean 'effort'?"),
        ("effort", "'effort' is not KEY=VALUE"),
        ("model=x", "model is decided by the evaluation"),
    ],
)
def test_a_wrong_setting_is_refused(text: str, problem: str) -> None:
    with pytest.raises(BadSetting, match=problem.replace("?", r"\?")):
        read_given_settings([text])


def test_a_wrong_value_is_refused() -> None:
    with pytest.raises(BadSetting, match="effort: 'loww' is none of"):
        check_settings([("effort", "loww")], {})
    assert check_settings([("effort", "low")], {}).effort == "low"


def test_a_model_needs_its_key() -> None:
    assert usable_model("claude-opus-5-5", SETTINGS, KEY) == "claude-opus-5-5"
    assert usable_model(None, SETTINGS, KEY) == "claude-opus-5-5"
    assert usable_model("scripted:tour", SETTINGS, {}) == "scripted:tour"
    with pytest.raises(NoModel, match="needs a key: set ANTHROPIC_API_KEY"):
        usable_model("claude-opus-5-5", SETTINGS, {})
    with pytest.raises(NoModel, match="no model: set ANTHROPIC_API_KEY"):
        usable_model(None, SETTINGS, {})
    with pytest.raises(NoModel, match="there is no script 'none'"):
        usable_model("scripted:none", SETTINGS, {})
