import pytest

from deskhand.tools.agents.scripted.script.picture_header import measure
from deskhand.tools.agents.scripted.script.request import Measured
from tests.tools.agents.loop.fakes import encoded, screen


@pytest.mark.parametrize(
    ("form", "media_type"),
    [("png", "image/png"), ("jpeg", "image/jpeg"), ("webp", "image/webp"), ("gif", "image/gif")],
)
def test_pictures_are_measured_by_their_bytes(form: str, media_type: str) -> None:
    data = encoded(screen(size=(40, 30)), form)
    assert measure(data) == Measured(media_type, 40, 30)


@pytest.mark.parametrize("data", [b"", b"no picture", encoded(screen(size=(4, 4)), "bmp")])
def test_what_is_no_picture_for_the_provider_has_no_measure(data: bytes) -> None:
    assert measure(data) is None


@pytest.mark.parametrize(
    ("data", "size"),
    [
        # The three forms of WebP (RFC 9649), each with its own fields of the size.
        (b"RIFF\0\0\0\0WEBPVP8 " + bytes(10) + b"\x28\x40\x1e\x80", (40, 30)),
        (b"RIFF\0\0\0\0WEBPVP8L" + bytes(5) + (39 | 29 << 14).to_bytes(4, "little"), (40, 30)),
        (b"RIFF\0\0\0\0WEBPVP8X" + bytes(8) + b"\x27\0\0\x1d\0\0", (40, 30)),
        # A restart marker has no length, and a marker may follow padding.
        (b"\xff\xd8\xff\xd0\xff\xff\xff\xc2\0\x11\x08\0\x1e\0\x28", (40, 30)),
    ],
)
def test_all_forms_of_the_header_are_read(data: bytes, size: tuple[int, int]) -> None:
    found = measure(data)
    assert found is not None
    assert (found.width, found.height) == size


@pytest.mark.parametrize(
    "data",
    [
        b"RIFF\0\0\0\0WEBPALPH" + bytes(20),
        b"\xff\xd8\xff\xe0\0\x04\0\0" + bytes(20),
        b"\xff\xd8" + b"\xff\xe0\0\x02" * 5,
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(8),
    ],
)
def test_a_header_without_a_size_has_no_measure(data: bytes) -> None:
    assert measure(data) is None


@pytest.mark.parametrize("form", ["png", "jpeg", "webp", "gif"])
def test_a_header_that_is_cut_anywhere_is_no_error(form: str) -> None:
    data = encoded(screen(size=(40, 30)), form)
    for end in range(min(len(data), 700)):
        measure(data[:end])
