import json

import pytest

from deskhand.tools.commands.models.models import main


def test_the_table_names_each_model_with_its_key(capsys: pytest.CaptureFixture[str]) -> None:
    keys = {"OPENAI_API_KEY": "k"}
    assert main(False, keys) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["MODEL", "PROVIDER", "KEY"]
    rows = {line.split()[0]: line for line in lines[1:] if "  " in line}
    assert rows["gpt-6.2-sol"].split()[1:3] == ["openai", "yes"]
    assert "2 in, 10 out, 0.1 cached (to 272,000)" in rows["gpt-6.2-sol"]
    assert " no " in rows["claude-*"]
    assert "OPENAI_API_KEY is set: OpenAI at api.openai.com" in lines
    assert main(True, keys) == 0
    entries = {one["model"]: one for one in json.loads(capsys.readouterr().out)["models"]}
    assert entries["claude-opus-5-5"]["prices"]["cache_read"] == 0.2
    assert (entries["gpt-*"]["has_key"], entries["claude-*"]["has_key"]) == (True, False)
