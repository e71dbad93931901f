"""What hostile applications say, on a bus of one's own."""

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from typing import Any

import pytest
from jeepney import (
    DBusAddress,
    HeaderFields,
    Message,
    new_error,
    new_method_call,
    new_method_return,
)
from jeepney.io.blocking import DBusConnection
from jeepney.low_level import Parser

from deskhand.desktop.accessibility.bus import ShortMessages, next_message
from deskhand.desktop.accessibility.message_splitter import LARGEST
from deskhand.desktop.accessibility.reader import DEEPEST, Cut, widgets_on
from deskhand.desktop.accessibility.tree import Node
from deskhand.desktop.errors import NoAccessibility
from deskhand.desktop.geometry import Region

Answer = tuple[str, Any]
Answers = Mapping[str, Answer]

ROOT = "/org/a11y/atspi/accessible/root"
APP = ":1.7"
WELL: Answers = {
    "Get": ("v", (("s", "one"),)),
    "GetRoleName": ("s", ("frame",)),
    "GetState": ("au", ([1, 0],)),
    "GetChildren": ("a(so)", ([],)),
    "GetExtents": ("(iiii)", ((1, 2, 3, 4),)),
}
HELLO: Mapping[str, Answers] = {"/org/freedesktop/DBus": {"Hello": ("s", (":1.9",))}}
ONE = Node("frame", "one", Region(1, 2, 4, 6), 1)
ALL: frozenset[Cut] = frozenset()
UNREADABLE: Answer = ("h", ())
"""A descriptor of a file that does not come along."""


def tree(*children: str, above: Answers = WELL) -> dict[str, Answers]:
    """Return the applications of a bus, by path."""
    listed = ("a(so)", ([(APP, path) for path in children],))
    return {ROOT: {**above, "GetChildren": listed}, **dict.fromkeys(children, WELL)}


def reply(question: Message, answer: Answer | None, serial: int) -> bytes:
    said: bytes
    if answer is None:
        said = new_error(question, "org.example.No").serialise(serial)
    elif answer == UNREADABLE:
        number = new_method_return(question, "u", (0,)).serialise(serial)
        said = number.replace(b"\1u\0", b"\1h\0")
    else:
        said = new_method_return(question, *answer).serialise(serial)
    return said


def serve(end: socket.socket, said: Mapping[str, Answers]) -> None:
    parser, serial = Parser(), 0
    with end, suppress(OSError):
        while data := end.recv(65536):
            for question in parser.feed(data):
                fields = question.header.fields
                answers = said.get(fields[HeaderFields.path], {})
                serial += 1
                end.sendall(reply(question, answers.get(fields[HeaderFields.member]), serial))


@contextmanager
def bus(said: Mapping[str, Answers]) -> Iterator[DBusConnection]:
    ours, theirs = socket.socketpair()
    serving = threading.Thread(target=serve, args=(theirs, {**HELLO, **said}), daemon=True)
    serving.start()
    try:
        with ours, closing(DBusConnection(ours)) as connection:
            connection.parser = ShortMessages(connection.parser)
            yield connection
    finally:
        serving.join()


def test_what_applications_say_is_a_tree() -> None:
    said = tree("/a", "/b") | {"/a": {**WELL, "GetChildren": ("a(so)", ([(APP, "/c")],))}}
    with bus({**said, "/c": WELL}) as connection:
        a = Node(ONE.role, ONE.name, ONE.rectangle, ONE.states, (ONE,))
        assert widgets_on(connection) == ((a, ONE), ALL)


def test_a_role_has_its_newest_name() -> None:
    said = tree("/a") | {"/a": {**WELL, "GetRoleName": ("s", ("push button",))}}
    with bus(said) as connection:
        ((found,), _) = widgets_on(connection)
        assert found.role == "button"


@pytest.mark.parametrize(
    ("question", "answer", "left"),
    [
        ("Get", ("s", ("bare",)), Node("frame", "", ONE.rectangle, 1)),
        ("Get", ("v", (("d", 0.5),)), Node("frame", "", ONE.rectangle, 1)),
        ("GetRoleName", ("u", (7,)), Node("", "one", ONE.rectangle, 1)),
        ("GetState", ("au", ([1, 2, 3],)), Node("frame", "one", ONE.rectangle)),
        ("GetState", ("as", (["a", "b"],)), Node("frame", "one", ONE.rectangle)),
        ("GetExtents", ("(dddd)", ((0.0, 0.0, 1e300, 1e300),)), None),
        ("GetExtents", ("(ssss)", (("a", "b", "c", "d"),)), None),
        ("GetExtents", ("s", ("nowhere",)), None),
        ("GetExtents", ("ai", ([],)), None),
        ("GetChildren", ("as", (["/a", "abc"],)), ONE),
        ("GetChildren", ("a(sos)", ([(APP, "/a", "more")],)), ONE),
        ("GetChildren", ("a(ss)", ([(APP, "no path"), (APP, "/a/"), (APP, "//")],)), ONE),
        ("GetChildren", ("a(ss)", ([("", "/a"), ("7.8", "/a"), (":1", "/a")],)), ONE),
        ("GetChildren", ("a(ss)", ([(f":1.{'7' * 300}", "/a")],)), ONE),
        ("GetChildren", ("a(so)", ([(APP, "/org/freedesktop/DBus/Local")],)), ONE),
        ("GetChildren", ("(ss)", (("a", "b"),)), ONE),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_left_out(question: str, answer: Answer, left: Node | None) -> None:
    nowhere = Node("frame", "one", Region(0, 0, 0, 0), 1)
    with bus(tree("/odd", "/well") | {"/odd": {**WELL, question: answer}}) as connection:
        assert widgets_on(connection) == ((left or nowhere, ONE), ALL)


def test_a_widget_that_names_itself_as_its_child_ends_somewhere() -> None:
    endless = {"/a": {**WELL, "GetChildren": ("a(so)", ([(APP, "/a")],))}}
    with bus(tree("/a") | endless) as connection:
        assert widgets_on(connection)[1] == {Cut.DEPTH}


def test_many_widgets_are_read_in_order() -> None:
    paths = [f"/{number}" for number in range(700)]
    said = tree(*paths) | {path: {**WELL, "Get": ("v", (("s", path),))} for path in paths}
    with bus(said) as connection:
        found, cut = widgets_on(connection)
        assert cut == ALL
        assert [node.name for node in found] == paths


def test_more_widgets_than_the_limit_are_left_out() -> None:
    with bus(tree("/a", "/b", "/c")) as connection:
        # The root and two applications.
        assert widgets_on(connection, most=3) == ((ONE, ONE), frozenset({Cut.WIDGETS}))


def test_a_tree_that_takes_too_long_is_incomplete() -> None:
    with bus(tree("/a")) as connection:
        assert widgets_on(connection, longest=0.0) == ((), frozenset({Cut.TIME}))


def test_a_message_that_has_arrived_before_is_passed_over() -> None:
    with bus({**tree("/a"), "/": WELL}) as connection:
        for question in ("GetRoleName", "GetState"):
            connection.send(new_method_call(DBusAddress("/", APP, "org.example"), question))
        # The second one may be in the buffer of the connection, whole or in part.
        assert next_message(connection, 20) is not None
        assert widgets_on(connection) == ((ONE,), ALL)


def test_what_cannot_be_read_is_passed_over() -> None:
    with bus({"/": {"GetRoleName": UNREADABLE, "GetState": WELL["GetState"]}}) as connection:
        for question in ("GetRoleName", "GetState"):
            connection.send(new_method_call(DBusAddress("/", APP, "org.example"), question))
        assert next_message(connection, 20) is None
        state = next_message(connection, 20)
        assert state is not None
        assert state.body == ([1, 0],)


def test_a_bus_that_hangs_up_is_no_tree() -> None:
    with bus({}) as connection:
        connection.sock.shutdown(socket.SHUT_RDWR)
        with pytest.raises(NoAccessibility):
            widgets_on(connection)


def test_a_tree_of_the_greatest_depth_is_complete() -> None:
    def below(at: int) -> Answers:
        children = [(APP, f"/{at + 1}")] if at < DEEPEST else []
        return {**WELL, "GetChildren": ("a(so)", (children,))}

    with bus(tree("/0") | {f"/{at}": below(at) for at in range(DEEPEST + 1)}) as connection:
        assert widgets_on(connection)[1] == ALL


def test_a_long_name_ends_and_the_tree_is_complete() -> None:
    long = {
        **WELL,
        "Get": ("v", (("s", "n" * 50_000),)),
        "GetRoleName": ("s", ("r" * 50_000,)),
        "GetChildren": ("a(so)", ([(APP, "/" + "c" * 5000)],)),
    }
    with bus({**tree("/app"), "/app": long}) as connection:
        ((found,), cut) = widgets_on(connection)
    assert (len(found.name), len(found.role), found.children) == (300, 300, ())
    assert cut == {Cut.NAMES}


def test_of_a_widget_whose_answer_is_too_long_the_rest_is_read() -> None:
    long = {**WELL, "Get": ("v", (("s", "n" * LARGEST),))}
    with bus({**tree("/app", "/b"), "/app": long}) as connection:
        assert widgets_on(connection) == ((replace(ONE, name=""), ONE), frozenset({Cut.BYTES}))


def test_after_many_bytes_the_rest_is_left_out() -> None:
    paths = [f"/{at}" for at in range(9)]
    with bus(tree(*paths)) as connection:
        found, cut = widgets_on(connection, most_bytes=1)
    assert not any(node.name for node in found)
    assert cut == {Cut.BYTES}


def test_children_of_invisible_widgets_are_limited_and_not_missed() -> None:
    hidden = {**WELL, "GetExtents": ("(iiii)", ((0, 0, 0, 0),))}
    listed = ("a(so)", ([(APP, "/one")] * 9,))
    said = {**tree("/app"), "/app": {**WELL, "GetChildren": ("a(so)", ([(APP, "/hidden")],))}}
    with bus({**said, "/hidden": {**hidden, "GetChildren": listed}}) as connection:
        assert widgets_on(connection, most=3)[1] == ALL
