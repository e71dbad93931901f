import base64
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from deskhand.desktop import results
from deskhand.desktop.errors import EmptyPicture
from deskhand.desktop.geometry import Point, Region, Size

HEADERS = {"deskhand-picture-size": "1280x720", "deskhand-frame-id": "boot-7"}


def test_a_picture_knows_its_size_and_frame() -> None:
    taken = results.picture_of_reply(HEADERS, b"png", "png")
    assert taken == results.Picture(b"png", "png", Size(1280, 720), "boot-7")
    assert not taken.unchanged


def test_an_answer_without_a_picture_is_unchanged() -> None:
    assert results.picture_of_reply(HEADERS, b"", "png").unchanged
    assert results.picture_of_reply({}, b"", "jpeg").size == Size(0, 0)


def test_an_unobserved_action_has_no_picture() -> None:
    done = results.done({"output": "type action performed", "frame_id": "boot-1"})
    assert done == results.Done("type action performed", "boot-1")


@pytest.mark.parametrize("data", [base64.b64encode(b"jpeg").decode(), None])
def test_an_observed_action_has_a_picture_or_is_marked_unchanged(
    data: str | None,
) -> None:
    body = {
        "output": "left_click action performed",
        "frame_id": "boot-2",
        "point": [1, 2],
        "native_point": [2, 3],
        "clamped": True,
        "settled": "quiet",
        "changed_fraction": 0.5,
        "changed_regions": [[0, 0, 4, 5]],
        "screenshot_media_type": "image/jpeg",
        "screenshot_width": 1280,
        "screenshot_height": 720,
    }
    done = results.done(body | ({"screenshot_data": data} if data else {"unchanged": True}))
    assert done.point == Point(1, 2)
    assert done.native_point == Point(2, 3)
    assert done.clamped
    assert done.settled == "quiet"
    assert done.changed_fraction == 0.5
    assert done.changed_regions == (Region(0, 0, 4, 5),)
    assert done.picture is not None
    assert done.picture.format == "jpeg"
    assert done.picture.unchanged == (data is None)
    assert done.picture.data == (b"jpeg" if data else b"")


def test_a_command_that_wrote_much_is_truncated() -> None:
    assert results.ended(
        {"exit_code": 3, "output": "x", "truncated": {"omitted_bytes": 1}}
    ).truncated
    whole = {"exit_code": 0, "output": "x", "truncated": {"omitted_bytes": 0}}
    assert not results.ended(whole).truncated
    assert results.ended({"exit_code": 0, "output": "", "truncated": None}) == results.Ended(
        0, "", False
    )


def test_a_batch_is_read_up_to_what_failed() -> None:
    failed = {"output": "Type action failed. No room.", "error": {"message": "…", "detail": "…"}}
    moved = {"output": "mouse_move action performed", "frame_id": "f-1", "point": [1, 2]}
    body = {"results": [moved, failed, {"skipped": True}], "skipped": 1, "frame_id": "f-2"}
    found = results.batch(body)
    assert [one.point for one in found.done] == [Point(1, 2)]
    assert (found.error, found.skipped) == ("Type action failed. No room.", 1)
    assert found.seen.frame_id == "f-2"
    assert results.batch({**body, "results": [moved], "skipped": 0}).error == ""


def test_a_recording_is_read() -> None:
    body = {
        "id": "a",
        "label": None,
        "status": "stored",
        "duration_s": 4,
        "video_s": 2.5,
        "bytes": 100,
        "end_reason": "completed",
        "complete": True,
    }
    found = results.recording(body)
    assert found == results.Recording("a", "", "stored", 4.0, 2.5, 100, "completed", True)


def test_a_status_keeps_what_it_has_no_name_for() -> None:
    body = {
        "instance_id": "i",
        "display": ":7",
        "size": {"width": 1920, "height": 1080},
        "model_size": {"width": 1280, "height": 720},
        "uptime_s": 1.5,
        "watchers": 2,
        "recording_ids": ["a"],
        "version": "1",
        "mood": "fine",
    }
    found = results.status(body)
    assert found.size == Size(1920, 1080)
    assert found.recording_ids == ("a",)
    assert found.everything["mood"] == "fine"


def test_a_widget_is_read_with_those_in_it() -> None:
    button = {"role": "button", "name": "Go", "ref": "e1", "rectangle": [1, 2, 3, 4]}
    found = results.widget({"role": "frame", "children": [button | {"states": ["focused"]}]})
    assert found.rectangle is None
    assert found.children == (
        results.Widget("button", "Go", "e1", Region(1, 2, 3, 4), ("focused",)),
    )


def test_a_window_has_its_place_in_both_spaces() -> None:
    body = {
        "id": 7,
        "title": "a",
        "class": "XTerm",
        "pid": None,
        "geometry": {"x": 1, "y": 2, "width": 3, "height": 4},
        "native_geometry": {"x": 2, "y": 3, "width": 5, "height": 6},
        "focused": True,
        "maximized": False,
        "minimized": False,
        "dialog": False,
    }
    window = results.window(body)
    assert (window.region, window.native_region) == (Region(1, 2, 4, 6), Region(2, 3, 7, 9))
    assert (window.class_name, window.pid, window.focused) == ("XTerm", None, True)


def test_applications_and_what_was_started_are_read() -> None:
    body = {"name": "terminal", "title": "Terminal", "types": ["text/plain"]}
    assert results.application(body) == results.Application("terminal", "Terminal", ("text/plain",))
    assert results.started({"process_id": "1", "command": "x"}) == results.Started("1", "x")


@pytest.mark.parametrize(
    ("holder", "expected"),
    [
        ({"kind": "person", "name": "Ann"}, ("person", "Ann")),
        ({"kind": "chat", "chat_id": "7"}, ("chat", "7")),
        ({"kind": "nobody"}, ("nobody", "")),
    ],
)
def test_the_lease_names_the_holder_of_control(holder: Any, expected: tuple[str, str]) -> None:
    tenure = results.tenure({"revision": 3, "holder": holder, "private": True, "granted": False})
    assert (tenure.kind, tenure.holder) == expected
    assert (tenure.revision, tenure.private, tenure.granted) == (3, True, False)


def test_an_event_is_read() -> None:
    body = {"id": "b-1", "kind": "window_opened", "at": 5, "data": {"id": 7}}
    assert results.event(body) == results.Event("b-1", "window_opened", 5.0, {"id": 7})


def taken(kind: str) -> results.Picture:
    to = BytesIO()
    Image.new("RGB", (4, 3), "#ff8000").save(to, kind)
    return results.Picture(to.getvalue(), kind, Size(4, 3), "boot-7")


def test_a_picture_is_short_to_print() -> None:
    assert repr(results.Picture(b"png", "png", Size(1280, 720), "boot-7")) == (
        "Picture(png, 1280x720, 3 bytes)"
    )


@pytest.mark.parametrize("kind", ["png", "jpeg", "webp"])
def test_a_notebook_shows_a_picture_of_each_format(kind: str) -> None:
    shown = taken(kind)._repr_png_()
    assert shown is not None
    assert shown.startswith(b"\x89PNG")
    assert taken(kind).to_pil().size == (4, 3)


def test_a_picture_is_saved_in_the_format_of_the_suffix(tmp_path: Path) -> None:
    picture = taken("png")
    assert picture.save(tmp_path / "a.png").read_bytes() == picture.data
    assert picture.save(tmp_path / "a.JPG").read_bytes().startswith(b"\xff\xd8")
    assert picture.save(str(tmp_path / "a.bin")).read_bytes() == picture.data


def test_an_unchanged_picture_has_nothing_to_save(tmp_path: Path) -> None:
    empty = results.Picture(b"", "png", Size(4, 3), "boot-7")
    assert empty._repr_png_() is None
    for use in (empty.to_pil, lambda: empty.save(tmp_path / "a.png")):
        with pytest.raises(EmptyPicture, match="boot-7"):
            use()
    assert not (tmp_path / "a.png").exists()
