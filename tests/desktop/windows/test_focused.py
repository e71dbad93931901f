import pytest

from deskhand.desktop.windows.focused import hint_of, is_chooser


@pytest.mark.parametrize("title", ["Open File", "Open Files", "Select Folder to Upload"])
@pytest.mark.parametrize("browser", ["Chromium", "chromium-browser", "Google-chrome"])
def test_a_chooser_of_chromium_has_the_hint_to_upload_or_to_click(title: str, browser: str) -> None:
    hint = hint_of(title, browser)
    assert "neither Return nor a double click" in hint
    assert "file_upload" in hint
    assert "its button Open" in hint
    assert is_chooser(title)


def test_a_chooser_that_saves_has_its_button() -> None:
    assert hint_of("Save File", "Chromium").endswith("click its button Save.")


@pytest.mark.parametrize(
    ("title", "class_name"),
    [("Open File", "Mousepad"), ("Form - Chromium", "Chromium"), ("", "Chromium")],
)
def test_other_windows_have_no_hint(title: str, class_name: str) -> None:
    assert hint_of(title, class_name) == ""
