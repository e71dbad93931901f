from email.parser import BytesParser
from pathlib import Path

from deskhand.vncbridge.http.multipart import CHUNK, MultipartBody, body_part


def test_a_body_is_understood_and_has_the_length_it_says(tmp_path: Path) -> None:
    film, still = tmp_path / "a.mp4", tmp_path / "a.jpg"
    film.write_bytes(bytes(range(256)) * (CHUNK // 128))
    still.write_bytes(b"\r\n--x\r\n")
    body = MultipartBody([body_part("video/mp4", film), body_part("image/jpeg", still)], "b0undary")
    chunks = list(body.chunks())
    assert max(map(len, chunks)) <= CHUNK
    assert len(b"".join(chunks)) == body.length
    head = f"Content-Type: {body.media_type}\r\n\r\n".encode()
    message = BytesParser().parsebytes(head + b"".join(chunks))
    parts = [part for part in message.walk() if not part.is_multipart()]
    assert [part.get_content_type() for part in parts] == ["video/mp4", "image/jpeg"]
    assert parts[0]["content-length"] == str(film.stat().st_size)


def test_a_file_that_grows_meanwhile_is_sent_as_it_was(tmp_path: Path) -> None:
    film = tmp_path / "a.mp4"
    film.write_bytes(b"12345")
    body = MultipartBody([body_part("video/mp4", film)], "b")
    film.write_bytes(b"123456789")
    assert len(b"".join(body.chunks())) == body.length
