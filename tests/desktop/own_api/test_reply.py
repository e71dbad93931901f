import pytest

from deskhand.desktop.own_api.reply import Reply

JSON = {"content-type": "application/json; charset=utf-8"}


def test_the_media_type_is_named_without_its_parameters() -> None:
    assert Reply(200, JSON, b"{}").media_type == "application/json"


def test_an_empty_body_has_no_media_type() -> None:
    assert Reply(204, JSON, b"").media_type == ""


def test_a_body_of_json_has_its_value() -> None:
    assert Reply(200, JSON, b'{"a": [1]}').json() == {"a": [1]}


def test_a_refusal_has_the_texts_of_the_body() -> None:
    body = b'{"message": "No.", "detail": "why", "code": "human_in_control"}'
    refusal = Reply(409, JSON, body).refusal()
    assert (refusal.status, refusal.message) == (409, "No.")
    assert (refusal.detail, refusal.code) == ("why", "human_in_control")


def test_a_refusal_has_no_text_where_the_body_has_none() -> None:
    refusal = Reply(400, JSON, b'{"message": null}').refusal()
    assert (refusal.message, refusal.detail, refusal.code) == ("", "", "")


@pytest.mark.parametrize("body", [b"", b"plain", b"[1]"])
def test_a_refusal_without_an_object_names_the_status(body: bytes) -> None:
    assert "502" in Reply(502, {}, body).refusal().message
