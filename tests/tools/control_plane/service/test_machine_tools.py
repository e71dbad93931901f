"""The tools of chats that work on their computer."""

from pathlib import Path
from typing import cast

import pytest

from deskhand.tools.control_plane.service.machine_tools import machine_tools
from deskhand.tools.control_plane.settings import Settings
from deskhand.tools.store.stored_files import StoredFiles


@pytest.mark.parametrize("offered", [True, False])
def test_the_browser_toolset_is_a_setting(tmp_path: Path, offered: bool) -> None:
    settings = Settings(data_dir=tmp_path, browser_tools=offered)
    # Nothing is stored before a call.
    names = [tool.spec.name for tool in machine_tools(cast(StoredFiles, None), settings)]
    assert ("browser" in names) == offered
    assert "wait_for" in names
