import sys
from pathlib import Path

from deskhand.desktop.client.command import service_command


def test_the_keeper_starts_the_service_with_its_arguments() -> None:
    command = service_command("--json", "--listen", "unix:/x")
    assert command[:3] == [sys.executable, "-S", "-E"]
    keeper = Path(command[3])
    assert keeper.parts[-2:] == ("launch", "__main__.py")
    assert keeper.is_file()
    service = [sys.executable, "-P", "-m", "deskhand.desktop"]
    assert command[4:] == [*service, "--json", "--listen", "unix:/x"]
