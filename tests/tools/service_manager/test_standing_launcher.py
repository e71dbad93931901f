import os
import signal
from pathlib import Path

import pytest

from deskhand.tools.control_plane.process_user import ProcessUser
from deskhand.tools.service_manager.standing_launcher import serve
from tests.tools.fleet.launchers import configuration


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_as_soon_as_the_launcher_is_ready_ends_it_in_order(
    tmp_path: Path, number: int
) -> None:
    path, user = tmp_path / "socket", ProcessUser("me", os.getuid(), os.getgid(), str(tmp_path))
    before = signal.getsignal(number)

    def ready() -> None:
        assert path.is_socket()
        signal.raise_signal(number)

    serve(path, user, configuration(tmp_path), {}, ready)
    assert not path.exists()
    assert signal.getsignal(number) is before
