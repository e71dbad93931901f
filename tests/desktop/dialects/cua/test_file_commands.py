import base64
from typing import Any

import pytest

from deskhand.desktop.dialects.cua import file_commands as files
from deskhand.desktop.dialects.cua.errors import FailedCommand
from deskhand.desktop.dialects.cua.route_call import RouteCall
from deskhand.desktop.errors import DesktopRefused
from tests.desktop.dialects.cua.scripted_replies import MISSING, REFUSED, driven, reply

READ, WRITE, LIST = "/api/v0/read-file", "/api/v0/write-file", "/api/v0/list-directory"
PATH = {"path": "/a b"}
CONTENT = reply(b"hello")
RAN = [reply({"id": "p"}), reply({"running": False, "exit_code": 0})]


def page(text: str) -> Any:
    return reply({"output": text, "next_cursor": 9, "has_more": False})


def test_files_and_directories_are_found() -> None:
    fields, calls = driven(files.file_exists(PATH), [CONTENT])
    assert fields == {"exists": True}
    assert calls == [RouteCall("GET", READ, params={**PATH, "limit": "1"})]
    fields, calls = driven(files.directory_exists(PATH), [MISSING])
    assert fields == {"exists": False}
    assert calls == [RouteCall("POST", LIST, params=PATH)]
    with pytest.raises(DesktopRefused, match="never"):
        driven(files.file_exists(PATH), [REFUSED])


def test_a_directory_is_listed() -> None:
    names = reply({"contents": [{"name": "a"}, {"name": "b"}]})
    assert driven(files.list_dir(PATH), [names])[0] == {"files": ["a", "b"]}


def test_contents_are_read() -> None:
    assert driven(files.read_text(PATH), [CONTENT])[0] == {"content": "hello"}
    encoded = {"content_b64": base64.b64encode(b"hello").decode()}
    fields, calls = driven(files.read_bytes(PATH), [CONTENT])
    assert fields == encoded
    assert calls == [RouteCall("GET", READ, params={**PATH, "offset": "0"})]
    calls = driven(files.read_bytes({**PATH, "offset": 2, "length": 3}), [CONTENT])[1]
    assert calls[0].params == {**PATH, "offset": "2", "limit": "3"}
    assert driven(files.read_bytes({**PATH, "length": 0}), [])[0] == {"content_b64": ""}
    for wrong in ({"offset": -1}, {"length": -1}):
        with pytest.raises(FailedCommand, match="not be negative"):
            driven(files.read_bytes({**PATH, **wrong}), [])


def test_contents_are_written() -> None:
    text = files.write_text({**PATH, "content": "é"})
    assert driven(text, [])[1] == [
        RouteCall("POST", WRITE, params=PATH, content="é".encode()),
    ]
    data = files.write_bytes({**PATH, "content_b64": "aGk="})
    assert driven(data, [])[1] == [RouteCall("POST", WRITE, params=PATH, content=b"hi")]
    for wrong in ("?", "é"):
        with pytest.raises(FailedCommand, match="must be base64"):
            driven(files.write_bytes({**PATH, "content_b64": wrong}), [])


@pytest.mark.parametrize(("encoded", "given"), [("aGk=", "aGk="), ("", "\n")])
def test_bytes_are_appended(encoded: str, given: str) -> None:
    append = files.write_bytes({**PATH, "content_b64": encoded, "append": True})
    started, ended = RAN
    calls = driven(append, [started, reply({}), ended, page("")])[1]
    assert calls[0].json == {"command": "base64 -d >> '/a b'", "stdin": True}
    assert calls[1].json == {"data": given, "close": True}


def test_programs_do_what_has_no_route() -> None:
    fields, calls = driven(files.file_size(PATH), [*RAN, page("12\n")])
    assert fields == {"size": 12}
    assert calls[0].json == {"command": "stat --format=%s -- '/a b'", "stdin": False}
    fields, calls = driven(files.changed_by("rm -r")(PATH), [*RAN, page("")])
    assert fields == {}
    assert calls[0].json == {"command": "rm -r -- '/a b'", "stdin": False}


def test_an_empty_path_is_refused() -> None:
    with pytest.raises(FailedCommand, match="path must not be empty"):
        driven(files.list_dir({"path": ""}), [])
