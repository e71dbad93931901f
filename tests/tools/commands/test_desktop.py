from deskhand.desktop.client.command import service_command
from deskhand.tools.commands.desktop import command


def test_the_command_becomes_the_keeper_of_a_service_with_the_same_arguments() -> None:
    arguments = ["--json", "--size", "800x600"]
    assert command(arguments) == service_command(*arguments)
    assert command(arguments)[-3:] == arguments
