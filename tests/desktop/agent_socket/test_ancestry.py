from deskhand.desktop.agent_socket.ancestry import (
    CommandRoot,
    ProcessLink,
    RequestOrigin,
    origin_of,
)
from deskhand.desktop.tool_calls.caller import CallingChat

INIT, SERVICE, SHELL, CHILD = (
    ProcessLink(1, 5),
    ProcessLink(2, 6),
    ProcessLink(100, 50),
    ProcessLink(101, 51),
)
CHAT = CallingChat("a")


def test_a_descendant_of_a_command_belongs_to_its_chat() -> None:
    chain = (CHILD, SHELL, SERVICE, INIT)
    commands = (CommandRoot(ProcessLink(7, 7), CallingChat("b")), CommandRoot(SHELL, CHAT))
    origin = origin_of(chain, commands)
    assert origin == RequestOrigin(CHAT, command=True)
    assert origin.chat_id == "a"
    assert origin_of(chain[1:], commands) == origin


def test_the_nearest_command_counts() -> None:
    commands = (CommandRoot(SHELL, CHAT), CommandRoot(CHILD, CallingChat("b")))
    assert origin_of((CHILD, SHELL, INIT), commands).chat_id == "b"


def test_a_command_without_a_chat_is_a_command() -> None:
    origin = origin_of((SHELL, INIT), (CommandRoot(SHELL, None),))
    assert origin == RequestOrigin(command=True)
    assert origin.chat_id == ""


def test_a_process_outside_of_all_commands_belongs_to_none() -> None:
    assert origin_of((CHILD, INIT), (CommandRoot(SHELL, CHAT),)) == RequestOrigin()
    assert origin_of((), (CommandRoot(SHELL, CHAT),)) == RequestOrigin()


def test_a_reused_pid_is_no_command() -> None:
    later = ProcessLink(SHELL.pid, SHELL.started + 1)
    assert origin_of((later, INIT), (CommandRoot(SHELL, CHAT),)) == RequestOrigin()


def test_a_parent_that_is_younger_than_its_child_is_another_process() -> None:
    young = ProcessLink(200, CHILD.started + 1)
    assert origin_of((CHILD, young, INIT), (CommandRoot(young, CHAT),)) == RequestOrigin()
    same = ProcessLink(200, CHILD.started)
    assert origin_of((CHILD, same), (CommandRoot(same, CHAT),)).command


def test_a_child_of_the_panel_is_a_persons() -> None:
    assert origin_of((CHILD, SERVICE), (), {SERVICE.pid}) == RequestOrigin(panel=True)
