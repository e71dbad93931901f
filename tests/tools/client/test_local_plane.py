from pathlib import Path

from deskhand.tools.client.local_plane import plane_command


def test_a_control_plane_ends_with_its_starter_and_takes_a_free_port() -> None:
    command = plane_command(None, ["--model", "scripted:tour"])
    assert command[-7:] == [
        *("up", "--json", "--until-input-ends", "--listen", "127.0.0.1:0"),
        *("--model", "scripted:tour"),
    ]
    assert "-P" in command


def test_the_data_directory_and_another_port_can_be_named() -> None:
    command = plane_command(Path("/data"), ["--listen", "127.0.0.1:7000"])
    assert command[-4:] == ["--data-dir", "/data", "--listen", "127.0.0.1:7000"]
