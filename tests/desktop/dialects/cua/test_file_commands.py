import base64

import pytest

from deskhand.desktop.dialects.cua import file_commands as files
from deskhand.desktop.dialects.cua.errors import FailedCommand
from deskhand.desktop.dialects.cua.route_call import RouteCall
from deskhand.desktop.errors import DesktopRefused
from tests.desktop.dialects.cua.scripted_replies import MISSING, REFUSED, driven, reply

READ, WRITE, LIST = "/api/v0/read-file", "/api/v0/write-file", "/api/v0/list-directory"
APPEND, STATUS = "/api/v0/append-file", "/api/v0/file-status"
MAKE, REMOVE = "/api/v0/make-directory", "/api/v0/remove-path"
PATH = {"path": "/a b"}
CONTENT = reply(b"hello")


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


def test_bytes_are_appended() -> None:
    append = files.write_bytes({**PATH, "content_b64": "aGk=", "append": True})
    assert driven(append, [])[1] == [RouteCall("POST", APPEND, params=PATH, content=b"hi")]


def test_the_size_of_a_file_is_read() -> None:
    fields, calls = driven(files.file_size(PATH), [reply({"kind": "file", "bytes": 12})])
    assert fields == {"size": 12}
    assert calls == [RouteCall("GET", STATUS, params=PATH)]


def test_directories_and_files_are_made_and_removed() -> None:
    assert driven(files.create_dir(PATH), [])[1] == [RouteCall("POST", MAKE, params=PATH)]
    removal = RouteCall("POST", REMOVE, params={**PATH, "recursive": "true"})
    assert driven(files.delete_dir(PATH), [])[1] == [removal]
    fields, calls = driven(files.delete_file(PATH), [MISSING])
    assert fields == {}
    assert calls[1] == RouteCall("POST", REMOVE, params=PATH)
    with pytest.raises(FailedCommand, match="is a directory"):
        driven(files.delete_file(PATH), [reply({"contents": []})])


def test_an_empty_path_is_refused() -> None:
    with pytest.raises(FailedCommand, match="path must not be empty"):
        driven(files.list_dir({"path": ""}), [])
