import base64
import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from PIL import Image

from deskhand.desktop.x11.connection import connect
from deskhand.desktop.x11.selection import Content, Selection
from tests.system.event_stream import event_stream, next_of
from tests.system.services import Service, until, x_display
from tests.system.typing_targets import text_area

pytestmark = pytest.mark.x11

CLIPBOARD = "/api/v0/desktop/clipboard"
TEXT = "Grüße, мир, 世界, 👩‍👩‍👧 and e\u0301\n"


@contextmanager
def program(desktop: Service) -> Iterator[Selection]:
    """Another program on the display, which copies and pastes."""
    connection = connect(*x_display(desktop))
    try:
        yield Selection(connection)
    finally:
        connection.disconnect()


@contextmanager
def answering(selection: Selection) -> Iterator[None]:
    """Let the other program convert its selection while the body runs."""
    done = threading.Event()

    def serve() -> None:
        while not done.wait(0.005):
            selection.handle_pending()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def output(desktop: Service, command: str) -> str:
    started = desktop.post("/api/v0/processes/start", {"command": command})
    found = desktop.get(f"/api/v0/processes/{started['id']}/output?wait=true")["output"]
    return str(found).strip()


def put(desktop: Service, data: bytes | dict[str, str], status: int = 204) -> None:
    if isinstance(data, bytes):
        headers = {"Content-Type": "application/octet-stream"}
        answer = desktop.http.put(CLIPBOARD, content=data, headers=headers)
    else:
        answer = desktop.http.put(CLIPBOARD, json=data)
    assert answer.status_code == status, answer.text


def png(size: int = 3) -> bytes:
    file = io.BytesIO()
    Image.effect_noise((size, size), 90).save(file, "PNG")
    return file.getvalue()


def test_text_is_copied_and_read_back_exactly(desktop: Service) -> None:
    for data in (TEXT.encode(), {"text": TEXT}):
        put(desktop, data)
        answer = desktop.http.get(CLIPBOARD)
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.content.decode() == TEXT
    assert desktop.http.get(CLIPBOARD, params={"type": "image"}).status_code == 204


@pytest.mark.parametrize("length", [0, 7, 3_000_000])
def test_a_program_pastes_what_was_copied(desktop: Service, length: int) -> None:
    data = (TEXT * (length // len(TEXT) + 1))[:length].encode()
    put(desktop, data)
    with program(desktop) as selection:
        assert selection.read(("text/plain",)) == Content("text/plain", data)


@pytest.mark.parametrize("length", [1, 3_000_000])
def test_what_a_program_copied_is_read(desktop: Service, length: int) -> None:
    data = (TEXT * (length // len(TEXT) + 1))[:length].encode()
    with program(desktop) as selection:
        selection.own(Content("text/plain", data))
        with answering(selection):
            assert desktop.http.get(CLIPBOARD).content == data


def test_what_is_no_text_in_truth_is_read_as_one(desktop: Service) -> None:
    with program(desktop) as another:
        another.own(Content("text/plain", b"gr\xfc\xdfe"))
        with answering(another):
            assert desktop.http.get(CLIPBOARD).content.decode() == "gr\ufffd\ufffde"


def test_pictures_go_both_ways(desktop: Service) -> None:
    for picture in (png(), png(700)):
        put(desktop, picture)
        with program(desktop) as selection:
            assert selection.read(("image/png",)) == Content("image/png", picture)
            assert selection.read(("text/plain",)) is None
        put(desktop, {"image_png": base64.b64encode(picture).decode()})
        answer = desktop.http.get(CLIPBOARD)
        assert answer.headers["content-type"] == "image/png"
        assert answer.content == picture


def test_what_was_there_before_can_be_restored(desktop: Service) -> None:
    with program(desktop) as selection:
        selection.own(Content("text/plain", b"the person's own"))
        with answering(selection):
            put(desktop, b"an agent's")
    assert desktop.http.get(CLIPBOARD).content == b"an agent's"
    assert desktop.http.post(f"{CLIPBOARD}/restore").status_code == 204
    assert desktop.http.get(CLIPBOARD).content == b"the person's own"
    answer = desktop.http.post(f"{CLIPBOARD}/restore")
    assert answer.status_code == 409
    assert answer.json()["message"] == "There is nothing to restore."


def test_what_was_there_before_comes_back_by_itself(desktop: Service) -> None:
    soon = {"restore_after": "0.01"}
    put(desktop, b"the person's own")
    assert desktop.http.put(CLIPBOARD, params=soon, json={"text": "a secret"}).status_code == 204
    until(lambda: desktop.http.get(CLIPBOARD).text == "the person's own", "what was there")
    # With nothing there before, the clipboard is empty afterwards.
    with program(desktop) as selection:
        selection.own(Content("text/plain", b"gone with its program"))
    until(lambda: desktop.http.get(CLIPBOARD).status_code == 204, "an empty clipboard")
    assert desktop.http.put(CLIPBOARD, params=soon, json={"text": "a secret"}).status_code == 204
    until(lambda: desktop.http.get(CLIPBOARD).status_code == 204, "an empty clipboard again")


@pytest.mark.parametrize("after", ["soon", "nan", "-1", "101", ""])
def test_a_time_that_cannot_be_waited_for_is_a_400(desktop: Service, after: str) -> None:
    answer = desktop.http.put(CLIPBOARD, params={"restore_after": after}, json={"text": "x"})
    assert answer.status_code == 400


def test_a_program_that_does_not_convert_its_selection_is_a_504(desktop: Service) -> None:
    with program(desktop) as selection:
        selection.own(Content("text/plain", b"mine"))
        answer = desktop.http.get(CLIPBOARD)
        assert answer.status_code == 504
        assert "does not hand it over" in answer.json()["detail"]
    put(desktop, b"free again")
    assert desktop.http.get(CLIPBOARD).content == b"free again"


def test_an_empty_clipboard_is_a_204(desktop: Service) -> None:
    with program(desktop) as selection:
        selection.own(Content("text/plain", b"gone with its program"))
    until(lambda: desktop.http.get(CLIPBOARD).status_code == 204, "an empty clipboard")


def test_a_terminal_pastes_it(desktop: Service) -> None:
    text = "täst ☃ 世界"
    put(desktop, text.encode())
    with event_stream(desktop) as events:
        # The terminal gets the text some time after the key: the program ends with the last byte.
        program = f"stty -icanon && exec head -c {len(text.encode())} > ~/pasted"
        command = f"xterm -u8 -e '{program}'"
        desktop.post("/api/v0/processes/start", {"command": command, "background": True})
        next_of(events, "window_focused")
        desktop.act(action="key", text="shift+Insert")
        next_of(events, "window_closed")
    assert output(desktop, "cat ~/pasted") == text


def test_the_browser_pastes_and_copies_it(desktop: Service) -> None:
    with text_area(desktop) as area:
        put(desktop, TEXT.encode())
        desktop.act(action="key", text="ctrl+v")
        assert area.held() == TEXT
        desktop.act(action="key", text="ctrl+v")
        desktop.act(action="type", text="copied by the browser")
        desktop.act(action="key", text="ctrl+a ctrl+c")
        copied = f"{TEXT}copied by the browser"
        until(lambda: desktop.http.get(CLIPBOARD).text == copied, "what the browser copied")
        with program(desktop) as selection:
            assert selection.read(("text/plain",)) == Content("text/plain", copied.encode())
        put(desktop, "and back: 🏳️‍🌈 日本".encode())
        desktop.act(action="key", text="ctrl+a ctrl+v")
        assert area.held() == "and back: 🏳️‍🌈 日本"


def test_what_cannot_be_copied_is_a_400(desktop: Service) -> None:
    put(desktop, b"\xff\xfe\xfd", 400)
    bad: list[dict[str, str]] = [{}, {"image_png": "no base64!"}, {"image_png": "aGk="}]
    both, unknown = {"text": "both", "image_png": "aGk="}, {"text": "a", "restore_after": "5"}
    for body in [*bad, both, unknown]:
        put(desktop, body, 400)
    for query in ({"type": "sound"}, {"typ": "image"}):
        assert desktop.http.get(CLIPBOARD, params=query).status_code == 400
