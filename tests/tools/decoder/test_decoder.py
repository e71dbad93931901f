import io
import os
import signal
import zlib
from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from deskhand.recording.errors import RecordingError
from deskhand.recording.library.catalog import Catalog
from deskhand.recording.library.metadata import Part, opened_line
from deskhand.tools.decoder.confinement import opened_alone
from deskhand.tools.decoder.decoder import Decoder
from deskhand.tools.decoder.errors import DecoderEnded, NotDecodable
from tests.system.services import until

RECORDING = "11111111-2222-3333-4444-555555555555"


@pytest.fixture(scope="module")
def decoder() -> Iterator[Decoder]:
    with Decoder() as opened:
        yield opened


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("video") / "1.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=10, options={"bf": "0"})
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for shade in range(10):
            pixels = np.full((48, 64, 3), 20 * shade, np.uint8)
            for packet in stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")):
                container.mux_one(packet)
        for packet in stream.encode():
            container.mux_one(packet)
    return path


def frames(path: Path) -> int:
    with av.open(str(path)) as container:
        return sum(1 for _ in container.decode(video=0))


def png(width: int, height: int) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height), (1, 2, 3)).save(out, "PNG")
    return out.getvalue()


def claimed(width: int, height: int) -> bytes:
    """Return a small PNG whose header names a large picture."""
    data = bytearray(png(8, 8))
    data[16:24] = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    data[29:33] = zlib.crc32(data[12:29]).to_bytes(4, "big")
    return bytes(data)


def test_a_still_is_a_jpeg(decoder: Decoder, video: Path) -> None:
    with Image.open(io.BytesIO(decoder.still(video, 0.5))) as picture:
        assert picture.format == "JPEG"
        assert picture.width * 48 == picture.height * 64


def test_a_sprite_has_a_frame_for_each_moment(decoder: Decoder, video: Path) -> None:
    moments = [(video, 0.1), (video, 0.5), (video, 0.9)]
    made = decoder.sprite(moments, columns=2, tile=(32, 18), exact=True)
    with Image.open(io.BytesIO(made)) as picture:
        assert (picture.format, picture.size) == ("JPEG", (64, 36))


def test_a_clip_has_the_frames_of_its_stretches(
    decoder: Decoder, video: Path, tmp_path: Path
) -> None:
    target = tmp_path / "target.mp4"
    decoder.cut([(video, 0.0, 0.5), (video, 0.0, 0.3)], target)
    assert frames(target) == 8
    assert [path.name for path in tmp_path.iterdir()] == ["target.mp4"]
    assert target.stat().st_uid == os.geteuid()


def test_what_is_no_video_cannot_be_read(decoder: Decoder, tmp_path: Path) -> None:
    path = tmp_path / "none.mp4"
    path.write_bytes(b"no video")
    with pytest.raises(RecordingError):
        decoder.still(path, 0.0)
    with pytest.raises(RecordingError):
        decoder.cut([(path, 0.0, 1.0)], tmp_path / "clip.mp4")
    assert list(tmp_path.iterdir()) == [path]


def test_pixels_come_back_as_they_were(decoder: Decoder) -> None:
    assert decoder.pixels(png(3, 2)) == (3, 2, bytes([1, 2, 3] * 6))


@pytest.mark.parametrize("data", [b"", b"no picture", png(8, 8)[:-40], claimed(60_000, 60_000)])
def test_a_picture_that_cannot_be_decoded_is_named(decoder: Decoder, data: bytes) -> None:
    with pytest.raises(NotDecodable):
        decoder.pixels(data)


def test_a_recording_is_finished_in_its_folder(
    decoder: Decoder, video: Path, tmp_path: Path
) -> None:
    folder = tmp_path / RECORDING
    folder.mkdir()
    (folder / "1.mp4").write_bytes(video.read_bytes())
    part = Part(recording_id=RECORDING, index=1, session_number=1, label="", started_at=5.0)
    (folder / "1.journal").write_text(opened_line(part))
    (session,) = decoder.finish(tmp_path, RECORDING)
    assert session.metadata["end_reason"] == "service_lost"
    assert session.videos == (folder / "1.mp4",)
    assert session.thumbnail == folder / "1.jpg"
    assert frames(folder / "1.mp4") == 10
    assert Catalog(tmp_path).latest_session(RECORDING)[0].end_reason == "service_lost"
    # Finishing again changes nothing.
    assert decoder.finish(tmp_path, RECORDING) == (session,)


def test_a_recording_without_a_frame_has_no_session(decoder: Decoder, tmp_path: Path) -> None:
    folder = tmp_path / RECORDING
    folder.mkdir()
    (folder / "1.mp4").write_bytes(b"no video")
    (folder / "1.journal").write_text("")
    assert decoder.finish(tmp_path, RECORDING) == ()
    assert decoder.finish(tmp_path / "none", RECORDING) == ()


def test_a_closed_decoder_refuses(video: Path) -> None:
    closed = Decoder()
    closed.open()
    closed.close()
    closed.close()
    with pytest.raises(DecoderEnded):
        closed.still(video, 0.0)


def workers(decoder: Decoder) -> list[int]:
    """Return the processes of the decoder's workers."""
    pid = decoder.process
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(one) for one in listed]


def test_a_spare_worker_waits_for_the_next_request(decoder: Decoder) -> None:
    picture = png(3, 2)
    decoder.pixels(picture)
    (first,) = until(lambda: len(workers(decoder)) == 1 and workers(decoder), "a spare worker")
    decoder.pixels(picture)
    (second,) = until(
        lambda: len(workers(decoder)) == 1 and first not in workers(decoder) and workers(decoder),
        "another spare worker",
    )
    # Without a spare worker a request gets one of its own.
    os.kill(second, signal.SIGKILL)
    until(lambda: not workers(decoder), "its end")
    assert decoder.pixels(picture) == (3, 2, bytes([1, 2, 3] * 6))


@pytest.mark.root
def test_nothing_above_a_folder_can_be_reached_from_it(tmp_path: Path) -> None:
    (tmp_path / "folder" / "below").mkdir(parents=True)
    (tmp_path / "secret").touch()
    folder = opened_alone(str(tmp_path / "folder"), clone=True)
    try:
        for above in ("..", "../..", "below/../.."):
            found = os.open(above, os.O_RDONLY, dir_fd=folder)
            assert os.listdir(found) == ["below"]  # noqa: PTH208 - a descriptor
            os.close(found)
    finally:
        os.close(folder)


@pytest.mark.parametrize("kind", ["gif", "webp"])
def test_a_clip_may_be_an_animation(decoder: Decoder, video: Path, kind: str) -> None:
    data = decoder.animate([(video, 0.0, 0.5), (video, 0.5, 1.0)], kind, 32, 1_000_000)
    with Image.open(io.BytesIO(data)) as shown:
        assert shown.format == kind.upper()
        assert shown.size == (32, 24)
        assert getattr(shown, "n_frames", 1) == 10


def test_a_contact_sheet_shows_each_moment(decoder: Decoder, video: Path) -> None:
    cells = [
        (video, at / 10, f"{at + 1} click", (10.0, 10.0) if at else None, at == 2)
        for at in range(5)
    ]
    with Image.open(io.BytesIO(decoder.sheet(cells, 2))) as sheet:
        assert sheet.format == "PNG"
        assert sheet.size == (2 * 328 + 8, 3 * (240 + 30) + 8)


def test_pictures_of_what_is_no_video_are_refused(decoder: Decoder, tmp_path: Path) -> None:
    path = tmp_path / "none.mp4"
    path.write_bytes(b"no video")
    with pytest.raises(RecordingError):
        decoder.animate([(path, 0.0, 1.0)], "gif", 32, 1000)
    with pytest.raises(RecordingError):
        decoder.sheet([(path, 0.0, "", None, False)], 1)


def test_crops_are_as_many_as_wanted(decoder: Decoder, video: Path) -> None:
    found = decoder.crops([(video, 0.0, None), (video, 0.5, (3.0, 4.0))])
    assert [Image.open(io.BytesIO(one)).format for one in found] == ["JPEG", "JPEG"]


def test_a_trail_is_as_large_as_the_video(decoder: Decoder, video: Path) -> None:
    with Image.open(io.BytesIO(decoder.trail(video, 0.5, [(3.0, 4.0, "1", False)]))) as found:
        assert (found.format, found.size) == ("PNG", (64, 48))
