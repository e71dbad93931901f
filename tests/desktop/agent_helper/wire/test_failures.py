import errno
import json
from typing import Any

import pytest

from deskhand.desktop.agent_helper.errors import OperationFailed
from deskhand.desktop.agent_helper.wire.failures import failure_json, failure_of
from deskhand.desktop.files.errors import ChangedMeanwhile, FileError, MissingFile
from deskhand.desktop.files.requests import BadFileRequest
from deskhand.desktop.git.errors import Unreadable


def returned(error: Exception) -> Exception:
    """Return an error as it arrives."""
    return failure_of(json.loads(json.dumps(failure_json(error))))


@pytest.mark.parametrize("error", [MissingFile("/f"), ChangedMeanwhile("/f"), FileError("no")])
def test_an_error_of_the_file_core_keeps_text_and_status(error: FileError) -> None:
    found = returned(error)
    assert isinstance(found, FileError)
    assert (str(found), found.status) == (str(error), error.status)


def test_a_bad_request_keeps_its_fields() -> None:
    found = returned(BadFileRequest("bad", "why", {"pattern": "x"}))
    assert isinstance(found, BadFileRequest)
    assert (str(found), found.detail, found.fields) == ("bad", "why", {"pattern": "x"})


def test_an_unreadable_repository_keeps_its_reason() -> None:
    found = returned(Unreadable("/r", "git add ended with 1"))
    assert isinstance(found, Unreadable)
    assert str(found) == "'/r' cannot be read: git add ended with 1"


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EISDIR, "Is a directory", "/f"),
        OSError(errno.EISDIR, "Is a directory"),
        OSError(errno.EIO, None),
        OSError("/f is not a file"),
    ],
)
def test_an_error_of_the_system_keeps_number_and_text(error: OSError) -> None:
    found = returned(error)
    assert isinstance(found, OSError)
    assert found.errno == error.errno
    assert str(found) == str(error).replace("None", "")


def test_every_other_error_is_a_failed_operation() -> None:
    found = returned(KeyError("path"))
    assert isinstance(found, OperationFailed)
    assert str(found) == "KeyError: 'path'"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"kind": "file", "message": "x", "status": 200},
        {"kind": "file", "message": "x", "status": "400"},
        {"kind": "os", "number": 1},
        {"kind": "request", "message": "x"},
    ],
)
def test_an_error_that_is_not_understood_is_a_failed_operation(body: dict[str, Any]) -> None:
    found = failure_of(body)
    assert isinstance(found, OperationFailed)
    assert "not understood" in str(found)


def test_fields_of_another_type_are_left_out() -> None:
    found = failure_of({"kind": "request", "message": "x", "detail": "", "fields": 1})
    assert isinstance(found, BadFileRequest)
    assert found.fields == {}
