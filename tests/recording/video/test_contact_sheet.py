"""Contact sheets of moments of videos."""

import io
from pathlib import Path

import pytest
from PIL import Image

from deskhand.recording.errors import UnreadableVideo
from deskhand.recording.video.contact_sheet import (
    CAPTION,
    CELL,
    GAP,
    Cell,
    contact_sheet,
    fitting,
)
from tests.recording.video.test_clips import write_video


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_video(tmp_path_factory.mktemp("video") / "1.mp4", range(10))


@pytest.mark.parametrize(("count", "columns", "shape"), [(1, 4, (1, 1)), (5, 4, (4, 2))])
def test_a_sheet_has_its_rows_and_columns(
    video: Path, count: int, columns: int, shape: tuple[int, int]
) -> None:
    cells = [Cell(video, number / 10, f"{number}") for number in range(count)]
    with Image.open(io.BytesIO(contact_sheet(cells, columns))) as sheet:
        across, down = shape
        height = CELL * 240 // 320 + CAPTION + GAP
        assert sheet.size == (across * (CELL + GAP) + GAP, down * height + GAP)


def test_a_click_is_drawn_where_it_was(video: Path) -> None:
    plain = Image.open(io.BytesIO(contact_sheet([Cell(video, 0.0, "")], 1)))
    clicked = Image.open(io.BytesIO(contact_sheet([Cell(video, 0.0, "", (160.0, 120.0))], 1)))
    left, top = GAP + 160, GAP + 120
    around = (left - 12, top - 12, left + 12, top + 12)
    assert plain.crop(around).tobytes() != clicked.crop(around).tobytes()
    clicked.paste(plain.crop(around), around)
    assert clicked.tobytes() == plain.tobytes()


def test_a_caption_is_one_line_that_fits() -> None:
    assert fitting("click\nhere", 300) == "click here"
    cut = fitting("word " * 100, 100)
    assert cut.endswith("…")
    assert 5 < len(cut) < 40
    assert fitting("word", 1) == "…"


def test_what_is_no_video_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "none.mp4").write_bytes(b"none")
    with pytest.raises(UnreadableVideo):
        contact_sheet([Cell(tmp_path / "none.mp4", 0.0, "")], 1)
