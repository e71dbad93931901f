import socket
import stat
from pathlib import Path

from deskhand.tools.fleet.sockets import SocketFolder


def test_a_socket_listens_where_only_its_owner_reaches_it(tmp_path: Path) -> None:
    folder = tmp_path / "sockets"
    with SocketFolder(folder).bound("0123abcd") as listening, socket.socket(socket.AF_UNIX) as one:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        one.connect(str(folder / "0123abcd.sock"))
        accepted, _ = listening.accept()
        accepted.close()


def test_the_file_stays_until_it_is_removed(tmp_path: Path) -> None:
    sockets = SocketFolder(tmp_path)
    with sockets.bound("0123abcd"):
        pass
    assert (tmp_path / "0123abcd.sock").is_socket()
    with sockets.bound("0123abcd"):
        sockets.remove("0123abcd")
    sockets.remove("0123abcd")
    assert not list(tmp_path.iterdir())
