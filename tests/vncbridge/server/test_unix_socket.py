import contextlib
import socket

import pytest

from deskhand.vncbridge.server.unix_socket import bound_path
from tests.vncbridge.fakes import short_folder


def test_only_its_user_may_connect() -> None:
    with short_folder() as folder, bound_path(folder / "socket", 1):
        assert (folder / "socket").stat().st_mode & 0o777 == 0o600


def test_a_socket_that_a_killed_process_has_left_is_replaced() -> None:
    with short_folder() as folder:
        path = folder / "socket"
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(path))
        with bound_path(path, 1), socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))


@pytest.mark.parametrize("kind", ["file", "socket"])
def test_a_path_in_use_is_left_as_it_is(kind: str) -> None:
    with short_folder() as folder, contextlib.ExitStack() as stack:
        path = folder / "socket"
        if kind == "file":
            path.write_text("mine")
        else:
            stack.enter_context(bound_path(path, 1))
        with pytest.raises(OSError, match="in use"):
            bound_path(path, 1)
        assert path.exists()
