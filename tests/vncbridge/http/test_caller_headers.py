from starlette.datastructures import Headers

from deskhand.vncbridge.http import caller_headers
from deskhand.vncbridge.http.caller_headers import CHAT, CallerHeader

OURS, THEIRS = "deskhand-chat-id", "coder-chat-id"


def test_our_header_goes_before_the_references() -> None:
    both = {THEIRS: "theirs", OURS: "ours"}
    for read in (caller_headers.value, caller_headers.text):
        assert read(both, CHAT) == "ours"
        assert read({THEIRS: "theirs"}, CHAT) == "theirs"
        assert read({}, CHAT) == ""


def test_the_header_that_was_found_is_named() -> None:
    assert caller_headers.find({OURS: "1"}, CHAT) == CallerHeader(OURS, "1")
    assert caller_headers.find({THEIRS: "2"}, CHAT) == CallerHeader(THEIRS, "2")
    assert caller_headers.find({}, CHAT) is None


def test_a_blank_header_counts_as_present_and_not_as_text() -> None:
    blank = {OURS: " ", THEIRS: " theirs "}
    assert caller_headers.value(blank, CHAT) == " "
    assert caller_headers.text(blank, CHAT) == " theirs "
    assert caller_headers.text({OURS: " "}, CHAT) == ""


def test_the_headers_of_a_request_are_found_in_any_case() -> None:
    assert caller_headers.value(Headers({"Deskhand-Chat-Id": "1"}), CHAT) == "1"


def test_the_role_is_read_under_our_name_only() -> None:
    assert caller_headers.role({"deskhand-role": "viewer"}, "admin") == "viewer"
    assert caller_headers.role({"coder-role": "viewer"}, "admin") == "admin"


def test_the_name_of_a_person_is_decoded() -> None:
    assert caller_headers.person({"deskhand-person": "Zo%C3%AB"}) == "Zo\u00eb"
    assert caller_headers.person({}) == ""
