import pytest

from deskhand.desktop.profiles.profile_name import PROFILE_NAME


@pytest.mark.parametrize("name", ["work", "a", "shop-2_eu", "0" * 63])
def test_names_of_directories_are_names(name: str) -> None:
    assert PROFILE_NAME.fullmatch(name)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "-a", "_a", "Work", "a b", "a\n", "0" * 64])
def test_other_texts_are_not(name: str) -> None:
    assert PROFILE_NAME.fullmatch(name) is None
