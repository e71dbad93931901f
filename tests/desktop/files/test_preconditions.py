import pytest

from deskhand.desktop.files.errors import LostUpdate
from deskhand.desktop.files.preconditions import ALWAYS, condition_of, tag
from deskhand.desktop.files.requests import BadFileRequest

HASH = "ab" * 32


def test_without_headers_everything_is_written() -> None:
    assert condition_of({}) == ALWAYS
    ALWAYS.check("/f", None)
    ALWAYS.check("/f", HASH)


@pytest.mark.parametrize("value", [tag(HASH), HASH, f"W/{tag(HASH)}", f'"x", {HASH.upper()}', "*"])
def test_the_content_that_is_meant_may_be_replaced(value: str) -> None:
    condition_of({"if-match": value}).check("/f", HASH)


def test_other_content_is_a_lost_update_and_so_is_none() -> None:
    with pytest.raises(LostUpdate, match="other content"):
        condition_of({"if-match": "other"}).check("/f", HASH)
    with pytest.raises(LostUpdate, match="does not exist"):
        condition_of({"if-match": "*"}).check("/f", None)


def test_a_file_can_be_made_only_if_there_is_none() -> None:
    condition = condition_of({"if-none-match": "*"})
    condition.check("/f", None)
    with pytest.raises(LostUpdate, match="exists"):
        condition.check("/f", HASH)


@pytest.mark.parametrize("value", ["", "a b", ","])
def test_what_is_no_list_of_hashes_is_refused(value: str) -> None:
    with pytest.raises(BadFileRequest, match="If-Match"):
        condition_of({"if-match": value})
