import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.tools.control_plane.untrusted_content import (
    SHOWN,
    content_type,
    media_type,
    passed,
    untrusted,
)


@pytest.mark.parametrize("shown", sorted(SHOWN))
def test_pictures_videos_and_plain_text_are_shown(shown: str) -> None:
    assert untrusted(shown)["Content-Disposition"] == "inline"


@pytest.mark.parametrize(
    "declared",
    ["text/html", "image/svg+xml", "application/json", "application/pdf", "text/xml", "", "png"],
)
def test_everything_else_is_only_saved(declared: str) -> None:
    assert untrusted(declared)["Content-Disposition"] == "attachment"


def test_every_reply_is_fenced_in() -> None:
    assert untrusted("image/png") == {
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Content-Disposition": "inline",
    }


def test_a_wanted_download_is_saved_under_its_name() -> None:
    headers = untrusted("image/png", "shot 1.png", download=True)
    assert headers["Content-Disposition"] == 'attachment; filename="shot 1.png"'


def test_a_name_that_is_not_plain_has_both_forms() -> None:
    headers = untrusted("image/png", 'ä"b/../\r\nc.png')
    assert headers["Content-Disposition"] == (
        "inline; filename=\"__b_.._c.png\"; filename*=UTF-8''%C3%A4%22b_.._c.png"
    )


@given(st.text())
def test_no_name_breaks_out_of_its_header(name: str) -> None:
    value = untrusted("text/html", name)["Content-Disposition"]
    assert value.isascii()
    assert value.isprintable()
    assert "/" not in value
    assert value.count('"') in (0, 2)


def test_json_and_events_of_our_own_api_are_no_downloads() -> None:
    assert passed("application/json", "")["Content-Disposition"] == "inline"
    assert passed("text/event-stream; charset=utf-8", "")["Content-Disposition"] == "inline"
    assert passed("text/html", "inline")["Content-Disposition"] == "attachment"


def test_a_plain_name_from_a_desktop_is_kept() -> None:
    headers = passed("video/mp4", 'attachment; filename="run 1.mp4"')
    assert headers["Content-Disposition"] == 'attachment; filename="run 1.mp4"'
    assert passed("video/mp4", 'attachment; filename="../x"')["Content-Disposition"] == "inline"


def test_a_type_that_cannot_be_read_means_nothing() -> None:
    assert media_type("text/html\r\nX: y") == "application/octet-stream"
    assert media_type(" Image/PNG ; q=1") == "image/png"


def test_text_is_always_utf_8() -> None:
    assert content_type("text/plain; charset=utf-7") == "text/plain; charset=utf-8"
    assert content_type("video/mp4") == "video/mp4"
