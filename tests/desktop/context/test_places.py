from pathlib import Path

import pytest

from deskhand.desktop.context.places import VARIABLES, context_places

HOME, WORKDIR = Path("/home/a"), Path("/srv/b")


def test_places_have_defaults() -> None:
    places = context_places({}, HOME, WORKDIR)
    assert places.instruction_dirs == [HOME / ".deskhand", WORKDIR]
    assert (places.instruction_file, places.skill_file) == ("AGENTS.md", "SKILL.md")
    assert places.skill_dirs == [WORKDIR / ".agents/skills"]
    assert places.mcp_files == [WORKDIR / ".mcp.json"]


@pytest.mark.parametrize("prefix", ["DESKHAND_", "CODER_AGENT_EXP_"])
def test_variables_replace_them(prefix: str) -> None:
    given = {
        f"{prefix}INSTRUCTIONS_DIRS": " ~ , /etc/agents,, ~/x,/srv/b, ~",
        f"{prefix}INSTRUCTIONS_FILE": " NOTES.md ",
        f"{prefix}SKILLS_DIRS": " ",
        f"{prefix}MCP_CONFIG_FILES": "one.json, ~/two.json",
    }
    places = context_places(given, HOME, WORKDIR)
    assert places.instruction_dirs == [HOME, Path("/etc/agents"), HOME / "x", WORKDIR]
    assert places.instruction_file == "NOTES.md"
    assert places.skill_dirs == [WORKDIR / ".agents/skills"]
    assert places.mcp_files == [WORKDIR / "one.json", HOME / "two.json"]
    assert set(given) < set(VARIABLES)


def test_our_own_name_counts_before_its_alias() -> None:
    given = {"DESKHAND_SKILL_META_FILE": "A.md", "CODER_AGENT_EXP_SKILL_META_FILE": "B.md"}
    assert context_places(given, HOME, WORKDIR).skill_file == "A.md"
