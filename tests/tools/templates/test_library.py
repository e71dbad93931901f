import asyncio
from pathlib import Path

import pytest

from deskhand.tools.kit.support.spec import ToolOutcome
from deskhand.tools.templates.errors import BadTemplate, UnknownTemplate
from deskhand.tools.templates.library import TemplateLibrary, listed
from deskhand.tools.templates.list_tool import ListTemplatesTool
from deskhand.tools.templates.template import LARGEST_TEMPLATE
from tests.tools.kit.machine import FakeMachine


def library(folder: Path, **files: str) -> TemplateLibrary:
    for name, content in files.items():
        (folder / f"{name.replace('_', '-')}.yaml").write_text(content)
    return TemplateLibrary(folder)


def test_a_template_is_found_by_its_name(tmp_path: Path) -> None:
    found = library(tmp_path, office="size: 1280x720", other="")
    (tmp_path / "Not A Name.yaml").touch()
    assert found.names() == ("office", "other")
    assert found.get("office").size == "1280x720"
    for name in ("nothing", "../office", "Office", "", "Not A Name"):
        with pytest.raises(UnknownTemplate, match="there are office, other"):
            found.get(name)
    with pytest.raises(UnknownTemplate, match="there are none"):
        TemplateLibrary(tmp_path / "missing").get("office")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    found = library(tmp_path, good="", bad="sise: 1", large="# " + "a" * 300_000)
    (tmp_path / "bytes.yaml").write_bytes(b"\xff")
    for name in ("bad", "large", "bytes"):
        with pytest.raises(BadTemplate, match=f"{name}.yaml: "):
            found.get(name)
    assert [template.name for template in found.all()] == ["good"]


def test_three_pages_are_listed_with_the_most_used_first(tmp_path: Path) -> None:
    names = [f"t{number:02}" for number in range(25)]
    tool = ListTemplatesTool(library(tmp_path, **dict.fromkeys(names, "")), uses)
    pages = [call(tool, page=number).value for number in (1, 2, 3)]
    assert [page["count"] for page in pages] == [10, 10, 5]
    assert [page["page"] for page in pages] == [1, 2, 3]
    assert {(page["total_pages"], page["total_count"]) for page in pages} == {(3, 25)}
    read = [one["name"] for page in pages for one in page["templates"]]
    assert read == ["t20", "t07", *(n for n in names if n not in ("t20", "t07"))]
    assert pages[0]["templates"][0] == {"name": "t20", "uses": 5}
    assert call(tool).value == call(tool, page=0).value == pages[0]
    assert call(tool, page=4).value["templates"] == []


def test_templates_are_found_by_a_part_of_their_text(tmp_path: Path) -> None:
    tool = ListTemplatesTool(library(tmp_path, a="description: Word", b=""), uses)
    (found,) = call(tool, query=" wOrD ").value["templates"]
    assert found["name"] == "a"
    assert call(tool, query=3).error == "query must be a text"
    assert "did you mean page" in str(call(tool, pag=1).error)


def test_no_templates_are_one_empty_page() -> None:
    page = listed((), {}, 1)
    assert (page["templates"], page["total_pages"], page["total_count"]) == ([], 1, 0)


async def uses() -> dict[str, int]:
    return {"t20": 5, "t07": 2}


def call(tool: ListTemplatesTool, **arguments: object) -> ToolOutcome:
    return asyncio.run(tool.call(dict(arguments), FakeMachine().context()))


def test_a_template_that_was_put_is_found_and_a_wrong_one_is_not_stored(tmp_path: Path) -> None:
    templates = TemplateLibrary(tmp_path / "templates")
    templates.put("office", "size: 1280x720")
    templates.put("office", "size: 1024x768")
    assert templates.get("office").size == "1024x768"
    for name, content in (
        ("office", "size: large"),
        ("../office", "{}"),
        ("office", "#" * (LARGEST_TEMPLATE + 1)),
    ):
        with pytest.raises(BadTemplate):
            templates.put(name, content)
    assert templates.get("office").size == "1024x768"
    assert templates.names() == ("office",)
