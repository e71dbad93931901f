from pathlib import Path

import pytest

from deskhand.tools.agents.scripted.script.library import (
    load_script,
    packaged_scripts,
    parse_script,
)
from deskhand.tools.agents.scripted.script.script import BadScript


def test_the_packaged_scripts_can_all_be_played() -> None:
    names = {script.name for script in packaged_scripts()}
    assert names >= {"demo-parent", "demo-child", "tour"}


def test_a_script_has_the_name_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "greeting.yaml"
    path.write_text("steps: [{say: Grüezi}]", encoding="utf-8")
    script = load_script(path)
    assert (script.name, script.steps[0].say) == ("greeting", "Grüezi")


def test_invalid_yaml_is_refused() -> None:
    with pytest.raises(BadScript, match="mine: the file: is not YAML"):
        parse_script("mine", "steps: [")


def test_each_packaged_script_states_what_it_demonstrates() -> None:
    assert [script.name for script in packaged_scripts() if not script.about] == []
