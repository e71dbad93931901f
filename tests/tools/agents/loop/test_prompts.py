import pytest

from deskhand.tools.agents.loop.prompts import CHILD, UNTRUSTED, Mode, system_prompt


@pytest.mark.parametrize("mode", ["general", "computer_use", "explore"])
def test_every_prompt_names_untrusted_content(mode: Mode) -> None:
    assert UNTRUSTED in system_prompt(mode, child=False)


def test_only_the_prompt_of_a_child_asks_for_a_report() -> None:
    assert CHILD in system_prompt("computer_use", child=True)
    assert CHILD not in system_prompt("computer_use", child=False)


def test_the_folder_for_files_is_named_if_there_is_one() -> None:
    assert "/tmp/work" in system_prompt("general", child=False, workdir="/tmp/work")
    assert "belong into" not in system_prompt("general", child=False)
