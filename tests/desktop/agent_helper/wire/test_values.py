import json
from typing import Any

from deskhand.desktop.agent_helper.wire import values
from deskhand.desktop.files.editing.edits import Edit
from deskhand.desktop.files.lines import Bounds
from deskhand.desktop.files.preconditions import ALWAYS, Condition
from deskhand.desktop.files.requests import FileEdits, LinesQuery
from deskhand.desktop.files.search_query import SearchRequest


def sent(body: Any) -> Any:
    return json.loads(json.dumps(body))


def test_a_query_for_lines_arrives() -> None:
    query = LinesQuery("/f\udcff", 3, 0, True, False, 99, Bounds(1, 2, 3))
    assert values.lines_of(sent(values.lines_json(query))) == query


def test_a_search_arrives() -> None:
    request = SearchRequest("/f", "a.b", ("*.py", "!x"), ignore_case=True, offset=4)
    assert values.search_of(sent(values.search_json(request))) == request


def test_edits_arrive() -> None:
    files = (
        FileEdits("/f", (Edit("a", "b", True, "one"), Edit("c", "d")), "files[0]"),
        FileEdits("/g", (), "files[1]"),
    )
    assert values.edits_of(sent(values.edits_json(files))) == files


def test_a_condition_arrives() -> None:
    for condition in (ALWAYS, Condition(frozenset("ab"), frozenset("*"))):
        assert values.condition_of(sent(values.condition_json(condition))) == condition
