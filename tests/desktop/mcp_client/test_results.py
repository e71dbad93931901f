"""Tools and results as the routes answer them."""

import io
from base64 import b64encode
from typing import Any

import pytest
from PIL import Image

from deskhand.desktop.mcp_client.results import (
    LARGEST_IMAGE,
    LONGEST_TEXT,
    MOST_BLOCKS,
    MOST_IMAGES,
    result_json,
    tool_json,
)

Json = dict[str, Any]


def picture(width: int, height: int) -> Json:
    written = io.BytesIO()
    Image.new("RGB", (width, height)).save(written, "PNG")
    data = b64encode(written.getvalue()).decode()
    return {"type": "image", "data": data, "mimeType": "image/png"}


def converted(*blocks: Any) -> list[Json]:
    content: list[Json] = result_json({"content": list(blocks)})["content"]
    return content


def texts(*blocks: Any) -> list[str]:
    return [one["text"] for one in converted(*blocks)]


def test_a_tool_has_its_properties_and_what_is_required() -> None:
    schema = {"properties": {"a": {"type": "string"}}, "required": ["a", 7]}
    tool = {"name": "add", "description": "x" * 5_000, "inputSchema": schema}
    assert tool_json("notes", tool) == {
        "server_name": "notes",
        "name": "notes__add",
        "description": "x" * 4_000,
        "schema": {"a": {"type": "string"}},
        "required": ["a"],
    }


def test_a_tool_without_a_schema_has_empty_ones() -> None:
    for schema in (None, {}, {"properties": 1, "required": "a"}):
        described = tool_json("notes", {"name": "add", "inputSchema": schema})
        assert (described["schema"], described["required"]) == ({}, [])
        assert described["description"] == ""


def test_blocks_of_all_types_are_converted() -> None:
    blob = {"uri": "x", "blob": "AAAA", "mimeType": "a/b"}
    blocks = (
        {"type": "text", "text": "hello"},
        picture(2, 3),
        {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "x", "text": "t", "mimeType": "text/plain"}},
        {"type": "resource", "resource": blob},
    )
    result = result_json({"content": list(blocks), "isError": True})
    assert result["is_error"] is True
    assert result["content"] == [
        {"type": "text", "text": "hello", "data": "", "media_type": ""},
        {"type": "image", "text": "", "data": blocks[1]["data"], "media_type": "image/png"},
        {"type": "audio", "text": "", "data": "AAAA", "media_type": "audio/wav"},
        {"type": "resource", "text": "t", "data": "", "media_type": "text/plain"},
        {"type": "resource", "text": "", "data": "AAAA", "media_type": "a/b"},
    ]


def test_a_result_without_content_is_empty() -> None:
    assert result_json({}) == {"content": [], "is_error": False}


def test_links_and_unknown_blocks_become_text() -> None:
    assert texts({"type": "resource_link", "uri": "u", "description": "d"}, 7) == [
        "[resource u] d",
        "[a block of an unknown type was left out]",
    ]


def test_large_and_broken_media_are_left_out() -> None:
    big = b64encode(bytes(LARGEST_IMAGE + 1)).decode()
    assert texts(
        picture(1281, 10),
        picture(10, 721),
        {"type": "image", "data": big},
        {"type": "image", "data": "AAAA"},
        {"type": "audio", "data": "!"},
        {"type": "resource", "resource": {"blob": big}},
        {"type": "resource", "resource": 7},
    ) == [
        "[a picture of 1281x10 was left out: at most 1280x720]",
        "[a picture of 10x721 was left out: at most 1280x720]",
        "[image of 200001 bytes was left out: at most 200 KB]",
        "[a picture was left out: neither PNG, JPEG nor WebP]",
        "[broken audio was left out]",
        "[a resource of 200001 bytes was left out]",
        "",
    ]


def test_pictures_beyond_the_limit_are_left_out() -> None:
    kinds = [one["type"] for one in converted(*[picture(1280, 720)] * (MOST_IMAGES + 1))]
    assert kinds == ["image"] * MOST_IMAGES + ["text"]


@pytest.mark.parametrize("count", [1, 3])
def test_long_text_is_cut_in_its_middle(count: int) -> None:
    long = "a" * LONGEST_TEXT + "z" * LONGEST_TEXT
    found = "".join(texts(*[{"type": "text", "text": long}] * count))
    assert found.startswith("a" * (LONGEST_TEXT * 2 // 3) + "\n[")
    assert "characters were left out]" in found
    assert len(found) < LONGEST_TEXT + 500


def test_blocks_beyond_the_limit_are_counted() -> None:
    found = texts(*[{"type": "text", "text": "x"}] * (MOST_BLOCKS + 2))
    assert (len(found), found[-1]) == (MOST_BLOCKS + 1, "[2 more blocks were left out]")
