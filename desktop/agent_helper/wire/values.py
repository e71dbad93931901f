"""Arguments of operations on files, as JSON and back."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from deskhand.desktop.files.editing.edits import Edit
from deskhand.desktop.files.lines import Bounds
from deskhand.desktop.files.preconditions import Condition
from deskhand.desktop.files.requests import FileEdits, LinesQuery
from deskhand.desktop.files.search_query import SearchRequest

Json = dict[str, Any]


def lines_json(query: LinesQuery) -> Json:
    """Return the JSON of a query for lines."""
    return asdict(query)


def lines_of(body: Json) -> LinesQuery:
    """Return the query of a JSON."""
    return LinesQuery(**{**body, "bounds": Bounds(**body["bounds"])})


def search_json(request: SearchRequest) -> Json:
    """Return the JSON of a search."""
    return asdict(request)


def search_of(body: Json) -> SearchRequest:
    """Return the search of a JSON."""
    return SearchRequest(**{**body, "globs": tuple(body["globs"])})


def edits_json(files: Sequence[FileEdits]) -> list[Json]:
    """Return the JSON of the edits of files."""
    return [asdict(file) for file in files]


def edits_of(body: Sequence[Json]) -> tuple[FileEdits, ...]:
    """Return the edits of a JSON."""
    return tuple(
        FileEdits(file["path"], tuple(Edit(**edit) for edit in file["edits"]), file["label"])
        for file in body
    )


def condition_json(condition: Condition) -> Json:
    """Return the JSON of a precondition."""
    only = None if condition.only is None else sorted(condition.only)
    return {"only": only, "never": sorted(condition.never)}


def condition_of(body: Json) -> Condition:
    """Return the precondition of a JSON."""
    only = None if body["only"] is None else frozenset(body["only"])
    return Condition(only, frozenset(body["never"]))
