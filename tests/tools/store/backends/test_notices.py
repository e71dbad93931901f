import uuid

import pytest

from deskhand.tools.store.backends.notices import (
    LONGEST_PAYLOAD,
    BadPayload,
    Notice,
    payloads,
    read_payload,
)

STATUS = Notice("status", "a-chat")
STEP = Notice("step", "a-chat", "a-step")


def test_notices_are_read_as_they_were_written_and_each_once() -> None:
    (payload,) = payloads("one", [STATUS, STEP, STATUS])
    assert read_payload(payload) == ("one", (STATUS, STEP))


def test_without_notices_there_is_no_payload() -> None:
    assert payloads("one", []) == ()


def test_many_notices_take_several_payloads() -> None:
    many = [Notice("step", str(uuid.UUID(int=n)), str(uuid.UUID(int=n))) for n in range(300)]
    written = payloads(str(uuid.UUID(int=9)), many)
    assert len(written) > 3
    assert max(len(one.encode()) for one in written) <= LONGEST_PAYLOAD
    assert [notice for one in written for notice in read_payload(one)[1]] == many


@pytest.mark.parametrize("number", range(50, 70))
def test_a_payload_is_filled_to_its_last_byte(number: int) -> None:
    long = Notice("step", "c" * (LONGEST_PAYLOAD - number))
    written = payloads("one", [STATUS, long, STATUS, STEP])
    assert max(len(one) for one in written) <= LONGEST_PAYLOAD
    assert {notice for one in written for notice in read_payload(one)[1]} == {STATUS, long, STEP}


@pytest.mark.parametrize(
    "payload", ["", "{", "{}", "[]", "7", "[7]", '["one", 7]', '["one", ["status"]]', "[[]]"]
)
def test_another_payload_is_refused(payload: str) -> None:
    with pytest.raises(BadPayload):
        read_payload(payload)


@pytest.mark.parametrize("notice", ['["status", 7, ""]', '["a", "b", null]', '[1, "b", ""]'])
def test_another_notice_is_refused(notice: str) -> None:
    with pytest.raises(BadPayload):
        read_payload(f'["one", {notice}]')
